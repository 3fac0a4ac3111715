#include "analyzer/platform/platform.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

namespace allranks::platform {
namespace {

TEST(Platform, KnowsTheProgram) {
  const std::string path = ProgramPath();
  ASSERT_TRUE(path.starts_with('/'));
  EXPECT_EQ(access(path.c_str(), X_OK), 0);
  EXPECT_FALSE(BuildId().empty());
  EXPECT_EQ(BuildId(), BuildId());
}

TEST(Platform, CountsMemoryInBytes) {
  // No program is smaller than one MiB, and no test larger than 64 GiB.
  EXPECT_GT(PeakMemory(), uint64_t{1} << 20);
  EXPECT_LT(PeakMemory(), uint64_t{1} << 36);
}

TEST(Platform, PipesCarryBytes) {
  int ends[2];
  ASSERT_TRUE(OpenPipe(ends));
  char byte = 'x';
  EXPECT_EQ(write(ends[1], &byte, 1), 1);
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(Platform, SendingToAClosedEndIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_TRUE(OpenStream(ends));
  const char byte = 'x';
  EXPECT_EQ(Send(ends[0], &byte, 1), 1);
  close(ends[1]);
  EXPECT_EQ(Send(ends[0], &byte, 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[0]);
}

}  // namespace
}  // namespace allranks::platform
