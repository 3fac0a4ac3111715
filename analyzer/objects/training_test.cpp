#include "analyzer/objects/training.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class TrainingTest : public ObjectsTest {
 protected:
  // Of the function of `asked(...)`: "trains", "steps" for its first statement, "reduces", "for training".
  std::string Of(const std::string& text) {
    Read("import torch\nfrom torch.nn.parallel import DistributedDataParallel\n" + text);
    const Training training(program(), knowledge(), facts(), index());
    const FuncId function = Asked().function;
    const ir::StmtId stmt = index().StatementOf(Asked());
    std::string answer;
    if (training.Trains(function)) answer += "trains ";
    if (training.Steps(program().funcs[function].module, stmt)) answer += "steps ";
    if (training.Reduces(function)) answer += "reduces ";
    if (training.IsForTraining(function)) answer += "for training ";
    return answer;
  }
};

TEST_F(TrainingTest, WhatMakesGradientsTrains) {
  EXPECT_EQ(Of("def f(net, x):\n  asked(x)\n  net(x).sum().backward()\n"), "trains for training ");
  EXPECT_EQ(Of("def f(net, x):\n  asked(x)\n  return net(x).sum()\n"), "");
}

TEST_F(TrainingTest, SoDoesWhatCallsIt) {
  EXPECT_EQ(Of("def step(net, x):\n  net(x).sum().backward()\ndef f(net, x):\n  asked(x)\n  step(net, x)\n"), "trains for training ");
}

TEST_F(TrainingTest, WhatItCallsIsForTraining) {
  EXPECT_EQ(Of("def f(x):\n  asked(x)\n  return x + 1\ndef train(net, x):\n  net(f(x)).sum().backward()\n"), "for training ");
}

TEST_F(TrainingTest, StepsOfAnOptimizer) {
  EXPECT_EQ(Of("def f(net, x):\n  optimizer = torch.optim.SGD(net.parameters(), 0.1)\n  for i in asked(x):\n    optimizer.step()\n"), "steps ");
}

TEST_F(TrainingTest, GradientsOfAWrapperAreReduced) {
  EXPECT_EQ(Of("def f(net, x):\n  asked(x)\n  net = DistributedDataParallel(net)\n  net(x).sum().backward()\n"), "trains reduces for training ");
}

}  // namespace
}  // namespace allranks::objects
