#include "analyzer/objects/module_buffers.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class ModuleBuffersTest : public ObjectsTest {
 protected:
  // Of what is handed to `asked(...)`.
  HasBuffers Of(std::string text) {
    Read(std::move(text));
    const ModuleBuffers buffers(program(), knowledge(), facts());
    if (const Site place = Asked(); place.expr) return buffers.Of(facts().value(ir::ModuleId{0}, place.expr));
    ADD_FAILURE() << "asked() is not called";
    return HasBuffers::Unknown;
  }
};

TEST_F(ModuleBuffersTest, BatchNormDeepInside) {
  EXPECT_EQ(Of(R"(
from torch import nn
class Part(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm(4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.make()
    def make(self):
        self.part = Part(nn.BatchNorm2d)
asked(Net())
)"), HasBuffers::Yes);
}

TEST_F(ModuleBuffersTest, ListedLayersHaveNone) {
  EXPECT_EQ(Of(R"(
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4))
asked(Net())
)"), HasBuffers::No);
}

TEST_F(ModuleBuffersTest, RegisteredByABase) {
  EXPECT_EQ(Of(R"(
import torch
class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(1))
class Net(Base):
    pass
asked(Net())
)"), HasBuffers::Yes);
}

TEST_F(ModuleBuffersTest, PartsOfUnknownLibrariesMayHaveSome) {
  EXPECT_EQ(Of(R"(
import torch
import elsewhere
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = elsewhere.Part()
asked(Net())
)"), HasBuffers::Unknown);
}

TEST_F(ModuleBuffersTest, OneOfSeveralModels) {
  EXPECT_EQ(Of(R"(
from torch import nn
def build(big):
    return nn.BatchNorm1d(4) if big else nn.Linear(4, 4)
asked(build(unknown()))
)"), HasBuffers::Yes);
}

TEST_F(ModuleBuffersTest, LayersOfALiteral) {
  EXPECT_EQ(Of("from torch import nn\nasked(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).cuda())\n"), HasBuffers::Yes);
  EXPECT_EQ(Of("from torch import nn\nasked(nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))))\n"), HasBuffers::Yes);
  EXPECT_EQ(Of("from torch import nn\nasked(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)))\n"), HasBuffers::No);
}

TEST_F(ModuleBuffersTest, LayersOfLists) {
  EXPECT_EQ(Of("from torch import nn\nasked(nn.ModuleList([nn.Linear(4, 4), nn.BatchNorm1d(4)]))\n"), HasBuffers::Yes);
  EXPECT_EQ(Of("from torch import nn\nasked(nn.ModuleDict({'norm': nn.BatchNorm1d(4)}))\n"), HasBuffers::Yes);
  EXPECT_EQ(Of("from torch import nn\nasked(nn.Sequential(*[nn.BatchNorm1d(4) for _ in range(3)]))\n"), HasBuffers::Yes);
  EXPECT_EQ(Of("from torch import nn\nasked(nn.Sequential(*[nn.Linear(4, 4) for _ in range(3)]))\n"), HasBuffers::No);
}

}  // namespace
}  // namespace allranks::objects
