// Feeds the fuzz target with a few thousand mutations of a dump, a log, stacks and a monitor's report: the same ones every time.
#include <gtest/gtest.h>

#include "tests/fuzz/feed.h"
#include "tests/fuzz/recordings.h"

namespace allranks::tests {
namespace {

TEST(RecordingFuzzTest, MutatedTexts) {
  for (const std::string& original : kRecordings) FeedMutated(original, kRecordingPieces, kRecordingRounds);
}

TEST(RecordingFuzzTest, CutTexts) {
  for (const std::string& text : kRecordings) FeedCut(text);
}

}  // namespace
}  // namespace allranks::tests
