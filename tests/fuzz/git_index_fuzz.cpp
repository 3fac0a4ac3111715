// The index of git that a checkout brings: read, or refused in words, and never more of it than a checkout has. Built for
// libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `git_index_fuzz_test.cpp` runs it on mutated files in every build.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "driver/pipeline/git_index.h"
#include "tests/fuzz/fault.h"

namespace {

using namespace allranks;

constexpr size_t kMostOfNames = size_t{64} << 20;

void CheckNames(const std::vector<std::string>& names) {
  size_t size = 0;
  for (const std::string& name : names) size += name.size();
  if (size > kMostOfNames) tests::Fault("names without a bound");
  // They are searched by halves.
  if (!std::ranges::is_sorted(names)) tests::Fault("names out of order");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const base::Result<pipeline::GitIndex> index = pipeline::ReadGitIndex({reinterpret_cast<const char*>(data), size});
  if (!index && index.error().message.empty()) tests::Fault("refused without a word");
  if (!index) return 0;
  CheckNames(index->files);
  CheckNames(index->submodules);
  for (const std::string& file : index->files) {
    if (!index->Tracks(file)) tests::Fault("a file that is tracked is not found");
  }
  return 0;
}
