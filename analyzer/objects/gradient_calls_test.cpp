#include "analyzer/objects/gradient_calls.h"

#include <gmock/gmock.h>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GradientCallsTest : public ObjectsTest {
 protected:
  std::vector<uint32_t> Lines(std::string text, GradientAction action) {
    Read(std::move(text));
    std::vector<uint32_t> lines;
    const GradientCalls calls(program(), knowledge(), facts(), index());
    for (const GradientCall& call : calls.all()) {
      if (call.action == action) lines.push_back(Line(call.site));
    }
    return lines;
  }
};

TEST_F(GradientCallsTest, OptimizerByItsClass) {
  EXPECT_THAT(Lines(R"(
import torch
def train(net):
    thing = torch.optim.SGD(net.parameters(), lr=1)
    thing.step()
)", GradientAction::Step), ElementsAre(5));
}

TEST_F(GradientCallsTest, OptimizerByWhatIsDoneWithIt) {
  EXPECT_THAT(Lines(R"(
class Run:
    def clear(self):
        self.thing.zero_grad()
    def go(self, env):
        self.thing.step()
        env.step()
)", GradientAction::Step), ElementsAre(6));
}

TEST_F(GradientCallsTest, SchedulerIsNone) {
  EXPECT_THAT(Lines(R"(
import torch
def train(opt):
    plan = torch.optim.lr_scheduler.StepLR(opt, 3)
    plan.step()
)", GradientAction::Step), IsEmpty());
}

TEST_F(GradientCallsTest, ScalerStepsItsArgument) {
  EXPECT_THAT(Lines(R"(
def train(thing, helper):
    thing.zero_grad()
    helper.step(thing)
)", GradientAction::Step), ElementsAre(4));
}

TEST_F(GradientCallsTest, MethodOfTheProjectIsLookedInto) {
  EXPECT_THAT(Lines(R"(
class Both:
    def zero_grad(self):
        pass
    def step(self):
        pass
def train():
    both = Both()
    both.zero_grad()
    both.step()
)", GradientAction::Step), IsEmpty());
}

}  // namespace
}  // namespace allranks::objects
