#include "analyzer/objects/filled_places.h"

#include "analyzer/objects/objects_test.h"

namespace allranks::objects {
namespace {

class FilledPlacesTest : public ObjectsTest {
 protected:
  // The lines that fill what the test around `asked(...)` asks for; "none": it asks for nothing of the kind.
  std::string AskedBy(const std::string& text) {
    Read(text);
    const Guards guards(program(), index());
    const FilledPlaces places(program(), facts(), index(), guards);
    const std::vector<Guard> tests = guards.Of(Asked());
    EXPECT_EQ(tests.size(), 1u);
    const std::optional<Filling> filling = places.AskedBy(tests.at(0));
    if (!filling) return "none";
    std::string lines;
    for (const Site& place : filling->places) lines += std::to_string(Line(place)) + " ";
    return lines;
  }
};

TEST_F(FilledPlacesTest, AVariableThatStartsAsNothing) {
  EXPECT_EQ(AskedBy("def f(rank):\n  writer = None\n  if rank == 0:\n    writer = open('x')\n  if writer is not None:\n    asked(1)\n"), "4 ");
  EXPECT_EQ(AskedBy("def f(rank):\n  writer = None\n  if rank == 0:\n    writer = open('x')\n  if writer:\n    asked(1)\n"), "4 ");
}

TEST_F(FilledPlacesTest, NotWhereItIsStillEmpty) {
  EXPECT_EQ(AskedBy("def f(rank):\n  writer = None\n  if rank == 0:\n    writer = open('x')\n  if writer is None:\n    asked(1)\n"), "none");
}

TEST_F(FilledPlacesTest, NotWhatStartsAsSomething) {
  EXPECT_EQ(AskedBy("def f(rank, writer):\n  if rank == 0:\n    writer = open('x')\n  if writer is not None:\n    asked(1)\n"), "none");
}

TEST_F(FilledPlacesTest, AFieldThatTheConstructorFills) {
  EXPECT_EQ(AskedBy("class Saver:\n  def __init__(self, path=None):\n    self.path = path\n  def save(self):\n    if self.path is not None:\n      asked(1)\n"
                    "def f(rank):\n  saver = Saver('x') if rank == 0 else Saver()\n  saver.save()\n"),
            "8 ");
}

}  // namespace
}  // namespace allranks::objects
