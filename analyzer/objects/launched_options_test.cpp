#include "analyzer/objects/launched_options.h"

#include "analyzer/objects/accumulation.h"
#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class LaunchedOptionsTest : public ObjectsTest {
 protected:
  // Whether the length of the only accumulation window is always 1, where these lines start the program.
  bool IsAlwaysOne(const std::string& declaration, const LaunchLines& lines) {
    Read(R"(
import argparse
def train(args, net, loader, opt):
    for i, x in enumerate(loader):
        net(x).backward()
        if (i + 1) % args.accum_iter == 0:
            opt.step()
            opt.zero_grad()
def main(net, loader, opt):
    parser = argparse.ArgumentParser()
)" + declaration + "    train(parser.parse_args(), net, loader, opt)\n");
    const Guards guards(program(), index());
    const Accumulation accumulation(program(), knowledge(), facts(), index(), guards);
    EXPECT_EQ(accumulation.windows().size(), 1u);
    const LaunchedOptions options(program(), knowledge(), facts(), index(), lines);
    return options.IsAlways(ir::ModuleId{0}, accumulation.windows().at(0).period.length, 1);
  }

  static LaunchLine Gives(std::string path, std::string option, std::optional<std::string> value) {
    return {.path = std::move(path), .starts_ranks = true, .options = {{std::move(option), std::move(value)}}};
  }
  static constexpr const char* kOne = "    parser.add_argument(\"--accum-iter\", default=1)\n";
};

TEST_F(LaunchedOptionsTest, TheDefaultHoldsWhereNoLineGivesAnotherValue) {
  EXPECT_TRUE(IsAlwaysOne(kOne, {}));
  EXPECT_TRUE(IsAlwaysOne(kOne, {Gives("train.py", "--accum_iter", "1"), Gives("train.py", "--lr", "4")}));
}

TEST_F(LaunchedOptionsTest, ALineRaisesIt) {
  EXPECT_FALSE(IsAlwaysOne(kOne, {Gives("train.py", "--accum-iter", "4")}));
  EXPECT_FALSE(IsAlwaysOne(kOne, {Gives("train.py", "--accum-iter", std::nullopt)}));
}

TEST_F(LaunchedOptionsTest, LinesOfOtherProgramsSayNothing) { EXPECT_TRUE(IsAlwaysOne(kOne, {Gives("other.py", "--accum-iter", "4")})); }

TEST_F(LaunchedOptionsTest, ALineOfAnUnknownFileMayMeanThisOne) {
  LaunchLine line = Gives("", "--accum-iter", "4");
  line.unknown_below = "";
  EXPECT_FALSE(IsAlwaysOne(kOne, {line}));
  line.unknown_below = "elsewhere";
  EXPECT_TRUE(IsAlwaysOne(kOne, {line}));
  line.unknown_below = "";
  line.unknown_name = "pretrain.py";
  EXPECT_TRUE(IsAlwaysOne(kOne, {line}));
}

TEST_F(LaunchedOptionsTest, WithoutADefaultNothingIsKnown) {
  EXPECT_FALSE(IsAlwaysOne("    parser.add_argument(\"--accum-iter\", type=int)\n", {}));
  EXPECT_FALSE(IsAlwaysOne("    parser.add_argument(\"--accum-iter\", default=8)\n", {}));
}

// Two callers, one of which asks the option.
TEST_F(LaunchedOptionsTest, AParameterIsWhatAllCallersPass) {
  const auto length = [&](const std::string& other) {
    Read(R"(
import argparse
def train(net, loader, opt, every=1):
    for i, x in enumerate(loader):
        net(x).backward()
        if (i + 1) % every == 0:
            opt.step()
            opt.zero_grad()
def main(net, loader, opt):
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum-iter", default=1)
    train(net, loader, opt, parser.parse_args().accum_iter)
)" + std::string("    train(net, loader, opt") + other + ")\n");
    const Guards guards(program(), index());
    const Accumulation accumulation(program(), knowledge(), facts(), index(), guards);
    const LaunchedOptions options(program(), knowledge(), facts(), index(), {});
    return options.IsAlways(ir::ModuleId{0}, accumulation.windows().at(0).period.length, 1);
  };
  EXPECT_TRUE(length(""));
  EXPECT_TRUE(length(", 1"));
  EXPECT_FALSE(length(", 4"));
}

}  // namespace
}  // namespace allranks::objects
