// Feeds the fuzz target with a few thousand mutations of a log and of stacks: the same ones every time.
#include <gtest/gtest.h>

#include "tests/fuzz/feed.h"
#include "tests/fuzz/recordings.h"

namespace allranks::tests {
namespace {

TEST(TextFuzzTest, MutatedLogs) { FeedMutated(kLog, kRecordingPieces, kRecordingRounds); }

TEST(TextFuzzTest, MutatedStacks) { FeedMutated(kStacks, kRecordingPieces, kRecordingRounds); }

}  // namespace
}  // namespace allranks::tests
