// Recordings of any bytes at all: pickles, JSON, logs and stacks are read in bounded memory, or refused in one line, and
// what was read is explained to an end. Nothing in a pickle is ever called.
// Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `recording_fuzz_test.cpp` runs it on mutated recordings
// in every build.
#include <cstdint>
#include <string_view>

#include "explain/hang/hang.h"
#include "explain/readers/read_input.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks::explain;
  using allranks::tests::Fault;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Recording recording;
  const std::string error = ReadInput("trace_rank_0", bytes, recording);
  if (error.find('\n') != std::string::npos) Fault("an error of two lines");
  IsReport(bytes);
  size_t operations = 0;
  for (const auto& [rank, record] : recording.ranks) operations += record.operations.size();
  if (operations > size) Fault("more operations than bytes");
  const Hang hang = FindHang(recording);
  if (hang.cause != Cause::None && hang.stall.arrived.empty()) Fault("an operation that nobody is in");
  return 0;
}
