#include "driver/pipeline/submodules.h"

#include <gmock/gmock.h>

namespace allranks::pipeline {
namespace {

TEST(SubmodulesTest, TheirFolders) {
  EXPECT_THAT(SubmodulesIn("[submodule \"a\"]\n\tpath = libs/a\n\turl = https://example.org/path = x\n[submodule \"b\"]\n  path=\"b/\"\n"),
              testing::ElementsAre("libs/a", "b"));
  EXPECT_THAT(SubmodulesIn("[submodule \"a\"]\n\turl = ../a\n\tpath = ../outside\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace allranks::pipeline
