// Feeds the fuzz target with a few thousand mutations of a dump, a log, stacks and a monitor's report: the same ones every time.
#include <gtest/gtest.h>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/recordings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(RecordingFuzzTest, MutatedTexts) {
  constexpr int kRounds = 3000;
  for (const std::string& original : allranks::tests::kRecordings) {
    allranks::tests::Mutator mutator(static_cast<uint32_t>(original.size()), allranks::tests::kRecordingPieces);
    for (int round = 0; round < kRounds; ++round) {
      const std::string text = mutator.Mutate(original);
      SCOPED_TRACE(text);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    }
  }
}

TEST(RecordingFuzzTest, CutTexts) {
  for (const std::string& text : allranks::tests::kRecordings) {
    for (size_t length = 0; length <= text.size(); ++length) LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), length);
  }
}

}  // namespace
