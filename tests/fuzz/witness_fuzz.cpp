// Witnesses and reports of any bytes at all: they are refused in one line, or run in the simulator to an end.
// Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `witness_fuzz_test.cpp` runs it on mutated witnesses
// in every build.
#include <cstdint>
#include <string>

#include "runtime-verify/coordinator/verdict_json.h"
#include "runtime-verify/coordinator/verdict_text.h"
#include "runtime-verify/coordinator/verifier.h"
#include "tests/fuzz/fault.h"
#include "witness/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks;
  using tests::Fault;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const witness::ReadResult read = witness::ReadJson(text);
  if (read.witness.has_value() != read.error.empty()) Fault("a witness and an error, or neither");
  if (read.error.find('\n') != std::string::npos && read.error.find("JSON") == std::string::npos)
    Fault("an error of two lines");
  if (read.witness) {
    const witness::ReadResult again = witness::ReadJson(witness::WriteJson(*read.witness));
    if (!again.witness || !(*again.witness == *read.witness)) Fault("it does not come back as it was");
  }
  std::string error;
  const std::optional<verify::ReportFile> file = verify::ReportFile::FromText(text, &error);
  if (!file) return 0;
  verify::InterruptGuard interrupt;
  verify::Verifier verifier({}, nullptr, interrupt);
  std::vector<std::optional<verify::Verdict>> verdicts;
  for (const verify::ReportFinding& finding : file->findings()) {
    verdicts.emplace_back();
    if (!finding.witness) continue;
    verdicts.back() = verifier.Verify(*finding.witness);
    verify::VerdictText(finding, *verdicts.back(), {});
    verify::VerdictJson(*verdicts.back());
  }
  file->WithVerdicts(verdicts);
  return 0;
}
