// Pickles of any bytes at all: data comes out, or one line on why not; nothing is imported or called, and what is made grows
// with the bytes read. Whatever was read goes on to the reader of dumps.
// Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `pickle_fuzz_test.cpp` runs it on mutated dumps in every build.
#include <cstdint>
#include <string_view>

#include "explain/readers/flight_recorder.h"
#include "explain/readers/pickle.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks::explain;
  using allranks::tests::Fault;
  const ReadDocument read = ReadPickle({reinterpret_cast<const char*>(data), size});
  if (read.error.find('\n') != std::string::npos) Fault("an error of two lines");
  if (read.document.size() > size) Fault("more values than bytes");
  if (!read.error.empty() || !IsFlightRecorder(read.document, read.root)) return 0;
  Recording recording;
  if (!AddFlightRecorder(read.document, read.root, 0, recording).empty()) return 0;
  if (recording.ranks[0].operations.size() > kMostOperations) Fault("more operations than a rank may have");
  return 0;
}
