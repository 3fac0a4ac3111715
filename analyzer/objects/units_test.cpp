#include "analyzer/objects/units.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class UnitsTest : public ObjectsTest {
 protected:
  // Of what is handed to `asked(...)`: "samples batch ranks micro-steps", as exponents; "?" if not known.
  std::string Of(std::string_view asked) {
    Read(R"(
import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
def main(args, data, optimizer, model):
    ds = TensorDataset(data)
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, batch_size=args.batch_size, sampler=sampler)
    plain = DataLoader(ds, batch_size=args.batch_size, shuffle=True)
    epochs = 10
    accum = args.accum
    steps = len(ds) // args.batch_size
    for i, x in enumerate(loader):
        (model(x).mean() / accum).backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()
    asked()" + std::string(asked) + ")\n");
    const Values values(program(), knowledge(), facts());
    const Guards guards(program(), index());
    const Loading loading(program(), knowledge(), facts(), index());
    const Accumulation accumulation(program(), knowledge(), facts(), index(), guards);
    const Units units(program(), facts(), index(), values, loading, accumulation);
    const Site place = Asked();
    if (!place.expr) return "asked() is not called";
    const std::optional<Unit> unit = units.Of(place);
    if (!unit) return "?";
    return std::to_string(unit->samples) + " " + std::to_string(unit->batch) + " " + std::to_string(unit->ranks) + " " +
           std::to_string(unit->micro_steps);
  }
};

TEST_F(UnitsTest, LengthsOfDataSetsSamplersAndLoaders) {
  EXPECT_EQ(Of("len(ds)"), "1 0 0 0");
  EXPECT_EQ(Of("len(sampler)"), "1 0 -1 0");
  EXPECT_EQ(Of("len(loader)"), "1 -1 -1 0");
  EXPECT_EQ(Of("len(plain)"), "1 -1 0 0");
}

TEST_F(UnitsTest, ProductsAndQuotients) {
  EXPECT_EQ(Of("steps * epochs"), "1 -1 0 0");
  EXPECT_EQ(Of("len(loader) // accum * epochs"), "1 -1 -1 -1");
  EXPECT_EQ(Of("len(ds) // (args.batch_size * dist.get_world_size())"), "1 -1 -1 0");
  EXPECT_EQ(Of("0.1 * args.batch_size / 256"), "0 1 0 0");
}

TEST_F(UnitsTest, Sums) {
  EXPECT_EQ(Of("max(1, len(loader) - 1)"), "1 -1 -1 0");
  EXPECT_EQ(Of("len(loader) + len(ds)"), "?");
  EXPECT_EQ(Of("unseen()"), "?");
  EXPECT_EQ(Of("args.steps"), "0 0 0 0");
}

}  // namespace
}  // namespace allranks::objects
