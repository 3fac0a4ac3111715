// Feeds the fuzz target with a few thousand mutations of a dump: the same ones every time.
#include <gtest/gtest.h>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/recordings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Feed(const std::string& original) {
  constexpr int kRounds = 3000;
  allranks::tests::Mutator mutator(static_cast<uint32_t>(original.size()), allranks::tests::kRecordingPieces);
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.Mutate(original);
    SCOPED_TRACE(text);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
}

TEST(PickleFuzzTest, MutatedDumps) { Feed(allranks::tests::kPickle); }

}  // namespace
