#include "analyzer/objects/accumulation.h"

#include <gmock/gmock.h>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AccumulationTest : public ObjectsTest {
 protected:
  std::vector<AccumulationWindow> Windows(std::string text) {
    Read(std::move(text));
    const Guards guards(program(), index());
    return Accumulation(program(), knowledge(), facts(), index(), guards).windows();
  }
  std::vector<uint32_t> LinesOf(const std::vector<GradientEvent>& events) const {
    std::vector<uint32_t> lines;
    for (const GradientEvent& event : events) lines.push_back(Line(event.call.site));
    return lines;
  }
};

TEST_F(AccumulationTest, RemainderIsAPeriod) {
  const auto windows = Windows(R"(
def train(net, loader, opt, n):
    for i, x in enumerate(loader):
        opt.zero_grad()
        net(x).backward()
        if (i + 1) % n == 0:
            opt.step()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].period.form, PeriodForm::Remainder);
  EXPECT_THAT(LinesOf(windows[0].adds), ElementsAre(5));
  EXPECT_THAT(LinesOf(windows[0].clears), ElementsAre(4));
}

TEST_F(AccumulationTest, AllButEveryNthIsNoPeriod) {
  EXPECT_THAT(Windows(R"(
def train(net, loader, opt, n):
    for i, x in enumerate(loader):
        net(x).backward()
        if i % n != 0:
            opt.step()
            opt.zero_grad()
)"), IsEmpty());
}

TEST_F(AccumulationTest, CounterIsAPeriodIfItIsSetBack) {
  const std::string_view text = R"(
def train(net, loader, opt, n):
    k = 0
    for x in loader:
        net(x).backward()
        k += 1
        if k == n:
            opt.step()
            opt.zero_grad()
)";
  EXPECT_THAT(Windows(std::string(text)), IsEmpty());
  const auto windows = Windows(std::string(text) + "            k = 0\n");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].period.form, PeriodForm::Counter);
}

TEST_F(AccumulationTest, LastRoundOfALoopOverParts) {
  const auto windows = Windows(R"(
def step(net, parts, opt):
    for i, x in enumerate(parts):
        net(x).backward()
        if i == len(parts) - 1:
            opt.step()
            opt.zero_grad()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].period.form, PeriodForm::LastRound);
}

TEST_F(AccumulationTest, InnerLoopOverMicroBatches) {
  const auto windows = Windows(R"(
def train(net, loader, opt, n):
    for x in loader:
        for part in x.chunk(n):
            opt.zero_grad()
            net(part).backward()
        opt.step()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].period.form, PeriodForm::InnerLoop);
  EXPECT_THAT(LinesOf(windows[0].clears), ElementsAre(5));
}

TEST_F(AccumulationTest, LastRoundByWayOfAVariable) {
  const auto windows = Windows(R"(
def step(net, parts, opt):
    for i, x in enumerate(parts):
        is_last = i + 1 == len(parts)
        net(x).backward()
        if is_last:
            opt.step()
            opt.zero_grad()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].period.form, PeriodForm::LastRound);
}

TEST_F(AccumulationTest, PartsOfABatchInAnyForm) {
  const std::string begin = "def train(net, loader, opt, n):\n    for x, y in loader:\n        xs, ys = x.chunk(n), y.chunk(n)\n";
  const std::string end = "            net(x).backward()\n        opt.step()\n        opt.zero_grad()\n";
  EXPECT_EQ(Windows(begin + "        for i, x in enumerate(x.chunk(n)):\n" + end).size(), 1u);
  EXPECT_EQ(Windows(begin + "        for x, y in zip(x.chunk(n), y.chunk(n)):\n" + end).size(), 1u);
  EXPECT_EQ(Windows(begin + "        for x, y in zip(nets, tasks):\n" + end).size(), 0u);
}

TEST_F(AccumulationTest, LoopOverModelsIsNoWindow) {
  EXPECT_THAT(Windows(R"(
def train(nets, x, opt):
    for i in range(len(nets)):
        nets[i](x).backward()
    opt.step()
    opt.zero_grad()
)"), IsEmpty());
}

TEST_F(AccumulationTest, TestInsideAHelperIsWhatTheCallerPasses) {
  const auto windows = Windows(R"(
class Scaler:
    def __call__(self, loss, opt, update):
        loss.backward()
        if update:
            opt.step()
            opt.zero_grad()

def train(net, loader, opt, n):
    scaler = Scaler()
    for i, x in enumerate(loader):
        scaler(net(x), opt, update=(i + 1) % n == 0)
)");
  ASSERT_FALSE(windows.empty());
  EXPECT_EQ(Line(windows.back().step.call.site), 6u);
}

TEST_F(AccumulationTest, OtherOptimizerLeavesOpenWhoseGradientsTheyAre) {
  const auto windows = Windows(R"(
def train(a, b, a_opt, b_opt, loader, n):
    for i, x in enumerate(loader):
        a_opt.zero_grad()
        a(x).backward()
        a_opt.step()
        if i % n == 0:
            b_opt.step()
            b_opt.zero_grad()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_TRUE(windows[0].has_other_optimizers);
  EXPECT_THAT(windows[0].clears, IsEmpty());
}

TEST_F(AccumulationTest, OptimizersOfAListAreOfTheLoopAround) {
  const auto windows = Windows(R"(
def train(net, loader, optimizers, n):
    for i, x in enumerate(loader):
        for opt in optimizers:
            opt.zero_grad()
        net(x).backward()
        if (i + 1) % n == 0:
            for opt in optimizers:
                opt.step()
)");
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_THAT(LinesOf(windows[0].adds), ElementsAre(6));
  EXPECT_THAT(LinesOf(windows[0].clears), ElementsAre(5));
}

}  // namespace
}  // namespace allranks::objects
