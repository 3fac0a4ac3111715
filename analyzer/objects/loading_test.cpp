#include "analyzer/objects/loading.h"

#include <algorithm>

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class LoadingTest : public ObjectsTest {
 protected:
  std::vector<LoaderLoop> Loops(std::string text) {
    Read("from torch.utils.data import DataLoader\n" + std::move(text));
    return Loading(program(), knowledge(), facts(), index()).loops();
  }
};

TEST_F(LoadingTest, IteratorOfTheFunction) {
  const auto loops = Loops(R"(
def train(data):
    loader = DataLoader(data)
    batches = iter(loader)
    for step in range(100):
        use(next(batches))
)");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(Line(loops[0].iterable), 5u);
  EXPECT_TRUE(loops[0].by_next);
  EXPECT_FALSE(loops[0].is_made_elsewhere);
  EXPECT_FALSE(loops[0].is_endless);
}

TEST_F(LoadingTest, IteratorOfAField) {
  const auto loops = Loops(R"(
class Trainer:
    def __init__(self, data):
        self.batches = iter(DataLoader(data))
    def run(self):
        for step in range(100):
            use(next(self.batches))
Trainer(data()).run()
)");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(Line(loops[0].iterable), 8u);
  EXPECT_TRUE(loops[0].is_made_elsewhere);
}

TEST_F(LoadingTest, BegunAnewInAMethod) {
  const auto loops = Loops(R"(
class Stream:
    def __init__(self, loader):
        self.loader = loader
        self.batches = iter(loader)
    def next(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return next(self.batches)
def train(data):
    stream = Stream(DataLoader(data))
    for step in range(100):
        use(stream.next())
)");
  const auto loop = std::ranges::find_if(loops, &LoaderLoop::begins_anew);
  ASSERT_NE(loop, loops.end());
  EXPECT_EQ(Line(loop->iterable), 16u);
  EXPECT_TRUE(loop->by_next);
}

TEST_F(LoadingTest, AnotherLoaderEachTimeIsNotTheSameBegunAnew) {
  const auto loops = Loops(R"(
class Stream:
    def __init__(self, data):
        self.loader = DataLoader(data)
        self.batches = iter(self.loader)
    def next(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.loader = DataLoader(more())
            self.batches = iter(self.loader)
            return next(self.batches)
def train(data):
    stream = Stream(data)
    for step in range(100):
        use(stream.next())
)");
  for (const LoaderLoop& loop : loops) EXPECT_FALSE(loop.begins_anew);
}

TEST_F(LoadingTest, AskedByAHelper) {
  const auto loops = Loops(R"(
def draw(batches):
    return next(batches)
def train(data):
    batches = iter(DataLoader(data))
    for step in range(100):
        use(draw(batches))
)");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(Line(loops[0].iterable), 8u);
}

TEST_F(LoadingTest, CycleBeginsAnew) {
  const auto loops = Loops(R"(
import itertools
def train(data):
    batches = itertools.cycle(DataLoader(data))
    for step in range(100):
        use(next(batches))
    for batch in itertools.cycle(DataLoader(data)):
        use(batch)
)");
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_TRUE(loops[0].is_endless);
  EXPECT_TRUE(loops[1].is_endless);
}

TEST_F(LoadingTest, FirstBatchOnly) {
  EXPECT_TRUE(Loops(R"(
def train(data):
    loader = DataLoader(data)
    for step in range(100):
        use(next(iter(loader)))
)").empty());
}

}  // namespace
}  // namespace allranks::objects
