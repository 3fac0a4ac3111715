#include "analyzer/objects/model_origins.h"

#include <algorithm>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ModelOriginsTest : public ObjectsTest {
 protected:
  // Of what is handed to `asked(...)`: the lines on which the models are made, each with a letter for its shell; "?" if not known.
  std::string Of(std::string text) {
    Read("from torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n" + std::move(text));
    const Guards guards(program(), index());
    const ModelOrigins origins(program(), knowledge(), facts(), index(), guards);
    const Site place = Asked();
    if (!place.expr) return "asked() is not called";
    std::vector<std::string> lines;
    for (const ModelAt& at : origins.Of(place)) {
      constexpr uint32_t kImports = 2;
      const char shell = at.shell == Shell::Bare ? 'b' : at.shell == Shell::Wrapped ? 'w' : 't';
      lines.push_back((at.made.expr ? std::to_string(Line(at.made) - kImports) : "param " + std::to_string(at.param)) + shell);
    }
    std::ranges::sort(lines);
    std::string joined;
    for (const std::string& line : lines) joined += (joined.empty() ? "" : " ") + line;
    return joined.empty() ? "?" : joined;
  }
};

TEST_F(ModelOriginsTest, LastAssignmentBefore) {
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nb = DDP(a)\nasked(a)\n"), "1b");
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\na = DDP(a)\nasked(a)\n"), "1w");
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nb = DDP(a.cuda())\nasked(b.module)\n"), "1t");
}

TEST_F(ModelOriginsTest, EachWay) {
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nif many:\n    a = DDP(a)\nasked(a)\n"), "1b 1w");
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nb = DDP(a) if many else a\nasked(b)\n"), "1b 1w");
  EXPECT_EQ(Of("a = unseen(DDP(nn.Linear(1, 1)))\nasked(a)\n"), "?");
}

TEST_F(ModelOriginsTest, TakenOutWhereThereIsAWrapper) {
  const std::string inner = "b = a.module if hasattr(a, 'module') else a\nasked(b)\n";
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\na = DDP(a)\n" + inner), "1t");
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\n" + inner), "1b");
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nif many:\n    a = DDP(a)\n" + inner), "1b 1t");
}

TEST_F(ModelOriginsTest, TwoOfOneClass) {
  EXPECT_EQ(Of("a = nn.Linear(1, 1)\nb = nn.Linear(1, 1)\nc = DDP(a)\nasked(b)\n"), "2b");
  EXPECT_EQ(Of("def make():\n    return nn.Linear(1, 1)\na = make()\nb = make()\nasked(b)\n"), "4b");
}

TEST_F(ModelOriginsTest, Parameters) {
  EXPECT_EQ(Of("def f(model):\n    asked(model)\na = nn.Linear(1, 1)\nf(a)\nf(DDP(a))\n"), "3b 3w");
  EXPECT_EQ(Of("def f(x, model):\n    asked(model)\n"), "param 1b");
}

TEST_F(ModelOriginsTest, Fields) {
  EXPECT_EQ(Of("class T:\n    def __init__(self, m):\n        self.m = m\n        self.ddp = DDP(self.m)\n    def f(self):\n"
               "        asked(self.ddp)\nT(nn.Linear(1, 1))\n"), "7w");
}

TEST_F(ModelOriginsTest, CopiesAndHelpers) {
  EXPECT_EQ(Of("import copy\na = nn.Linear(1, 1)\nb = copy.deepcopy(DDP(a))\nasked(b)\n"), "3w");
  EXPECT_EQ(Of("import copy\na = nn.Linear(1, 1)\nb = copy.deepcopy(DDP(a).module)\nasked(b)\n"), "3b");
  EXPECT_EQ(Of("def wrap(m):\n    return DDP(m)\na = nn.Linear(1, 1)\nasked(wrap(a))\n"), "3w");
}

TEST_F(ModelOriginsTest, PreparedTogether) {
  EXPECT_EQ(Of("from accelerate import Accelerator\nacc = Accelerator()\na = nn.Linear(1, 1)\nb, c = acc.prepare(a, unseen())\nasked(b)\n"), "3w");
  EXPECT_EQ(Of("from accelerate import Accelerator\nacc = Accelerator()\na = nn.Linear(1, 1)\nb = acc.prepare(a)\n"
               "asked(acc.unwrap_model(b))\n"), "3t");
}

}  // namespace
}  // namespace allranks::objects
