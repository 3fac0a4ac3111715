// Logs and stacks of any bytes at all are read in bounded memory, and what was read is explained to an end.
// Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `text_fuzz_test.cpp` runs it on mutated logs and stacks in every build.
#include <cstdint>
#include <string_view>

#include "explain/hang/hang.h"
#include "explain/readers/text_log.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks::explain;
  using allranks::tests::Fault;
  Recording recording;
  AddText({reinterpret_cast<const char*>(data), size}, 0, recording);
  size_t operations = 0;
  for (const auto& [rank, record] : recording.ranks) operations += record.operations.size();
  if (operations + recording.ranks.size() > size + 1) Fault("more operations than bytes");
  const Hang hang = FindHang(recording);
  if (hang.cause != Cause::None && hang.stall.arrived.empty()) Fault("an operation that nobody is in");
  return 0;
}
