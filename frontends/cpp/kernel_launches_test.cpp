#include "frontends/cpp/kernel_launches.h"

#include <gtest/gtest.h>

namespace allranks::cpp {
namespace {

TEST(KernelLaunches, ListsBecomeCommaExpressions) {
  EXPECT_EQ(WithPlainLaunches("k<<<grid, {x, y, 1}, 0, stream>>>(a);"), "k<<<grid, (x, y, 1), 0, stream>>>(a);");
  EXPECT_EQ(WithPlainLaunches("k<<<{2, 2},\n  { 32 }>>>(a);"), "k<<<(2, 2),\n  ( 32 )>>>(a);");
  EXPECT_EQ(WithPlainLaunches("k<<<{}, 1>>>();"), "k<<<0 , 1>>>();");
}

TEST(KernelLaunches, OtherBracesStay) {
  for (const char* text : {"k<<<dim3{2, 2}, Size({1})>>>({1, 2});", "int a[] = {1, 2};", "k<<<{1, 2}; // >>>",
                           "k<<<{1, 2}", "f(x << 3, {1}); y >>= 1;"}) {
    EXPECT_EQ(WithPlainLaunches(text), text);
  }
}

TEST(KernelLaunches, EachLaunchOfAFile) {
  EXPECT_EQ(WithPlainLaunches("a<<<1, {2}>>>();\nb<<<{3}, 4>>>({5});"), "a<<<1, (2)>>>();\nb<<<(3), 4>>>({5});");
}

}  // namespace
}  // namespace allranks::cpp
