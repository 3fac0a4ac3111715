// Feeds the fuzz target with a few thousand mutations of a dump: the same ones every time.
#include <gtest/gtest.h>

#include "tests/fuzz/feed.h"
#include "tests/fuzz/recordings.h"

namespace allranks::tests {
namespace {

TEST(PickleFuzzTest, MutatedDumps) { FeedMutated(kPickle, kRecordingPieces, kRecordingRounds); }

}  // namespace
}  // namespace allranks::tests
