#include "driver/reports/line_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace allranks::reports {
namespace {

using testing::ElementsAre;

// The expected values are those of github/codeql-action's own tests.
TEST(LineHashTest, AgreesWithGitHub) {
  EXPECT_THAT(LineHashes(""), ElementsAre("c129715d7a2bc9a3:1"));
  EXPECT_THAT(LineHashes(" a\nb\n  \t\tc\n d"),
              ElementsAre("271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"));
  for (const char* text : {" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", " hello; \t\rworld!!!\r\r\r  \t\tGreetings\r End\r",
                           " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n"}) {
    EXPECT_THAT(LineHashes(text), ElementsAre("e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1",
                                              "e20e36e16fcb0cc8:1", "b3edc88f2938467e:1", "c8e28b0b4002a3a0:1",
                                              "c129715d7a2bc9a3:1"));
  }
}

TEST(LineHashTest, EqualLinesAreCounted) {
  const std::vector<std::string> hashes = LineHashes("alpha\nbeta\nalpha\n");
  EXPECT_THAT(hashes, ElementsAre("8d07ce75f7b3af45:1", "ca140c3f893ffa65:1", "26f09ff008857193:1", "c129715d7a2bc9a3:1"));
  EXPECT_EQ(LineHashes(std::string(300, 'x') + "\n" + std::string(300, 'x') + "\n")[1].back(), '2');
}

}  // namespace
}  // namespace allranks::reports
