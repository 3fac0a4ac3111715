// allranks-verify: `allranks verify` on a machine that has neither parser nor sources.
#include <string_view>
#include <vector>

#include "runtime-verify/program/verify.h"

int main(int argc, char** argv) {
  using namespace allranks::verify;
  if (argc > 1 && argv[1] == kWorkerCommand) return RunNcclWorker();
  // As in `allranks verify ...`, which may be written here as well.
  const int skipped = argc > 1 && std::string_view(argv[1]) == "verify" ? 1 : 0;
  return RunVerify(argc - skipped, argv + skipped, ALLRANKS_VERSION);
}
