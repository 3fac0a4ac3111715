#include "runtime-verify/coordinator/launched_ranks.h"

#include <gtest/gtest.h>

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::LaunchedRanks;

std::string TextOf(const LaunchedRanks& job) { return RanksStartedBy(job).text; }
Effect EffectOf(const LaunchedRanks& job) { return RanksStartedBy(job).effect; }

TEST(LaunchedRanksTest, NodesThatMeetStartAllRanks) {
  const LaunchedRanks agreed{.processes = 8, .awaited = 2, .nodes = {0, 1}, .places = {0, 0}, .numbers = {-1, -1}};
  EXPECT_EQ(EffectOf(agreed), Effect::Clean);
  EXPECT_EQ(TextOf(agreed), "node 0 starts ranks 0-7, node 1 starts ranks 8-15; these are all 16 ranks");
  const LaunchedRanks told{.processes = 1, .awaited = 2, .nodes = {0, 1}, .places = {0, 0}, .numbers = {1, 0}};
  EXPECT_EQ(TextOf(told), "node 0 starts rank 1, node 1 starts rank 0; these are all 2 ranks");
}

TEST(LaunchedRanksTest, NodesThatAllAreTheFirstOneLeaveRanksOut) {
  const LaunchedRanks job{.processes = 8, .awaited = 2, .nodes = {0, 1}, .places = {0, 0}, .numbers = {0, 0}};
  EXPECT_EQ(EffectOf(job), Effect::Deadlock);
  EXPECT_EQ(TextOf(job), "node 0 starts ranks 0-7, node 1 starts ranks 0-7; ranks 8-15 of 16 are started by nobody, and the others wait for them");
}

TEST(LaunchedRanksTest, NodesThatLookForOneAnotherInPlacesOfTheirOwn) {
  const LaunchedRanks agreed{.processes = 4, .awaited = 2, .nodes = {0, 1}, .places = {0, 1}, .numbers = {-1, -1}};
  EXPECT_EQ(EffectOf(agreed), Effect::Deadlock);
  EXPECT_EQ(TextOf(agreed), "node 0 starts no rank, node 1 starts no rank; 2 launchers are awaited in each place, and fewer come");
  const LaunchedRanks told{.processes = 4, .awaited = 2, .nodes = {0, 1}, .places = {0, 1}, .numbers = {0, 1}};
  EXPECT_EQ(EffectOf(told), Effect::Deadlock);
  EXPECT_EQ(TextOf(told),
            "node 0 starts ranks 0-3, node 1 starts ranks 4-7; they look for one another in 2 places, and in none of them are all 8 ranks");
}

TEST(LaunchedRanksTest, JobsThatKnowNothingOfOneAnother) {
  const LaunchedRanks job{.processes = 2, .awaited = 1, .nodes = {0, 1, 2, 3, 4, 5}, .places = {0, 1, 2, 3, 4, 5}, .numbers = {-1, -1, -1, -1, -1, -1}};
  EXPECT_EQ(EffectOf(job), Effect::Semantic);
  EXPECT_EQ(TextOf(job),
            "node 0 starts ranks 0, 1, node 1 starts ranks 0, 1, node 2 starts ranks 0, 1, node 3 starts ranks 0, 1, and so on up to node 5; these are 6 jobs of 2 "
            "ranks that know nothing of one another");
}

TEST(LaunchedRanksTest, LaunchersThatAreTooMany) {
  const LaunchedRanks tasks{.processes = 2, .awaited = 1, .nodes = {0, 0}, .places = {0, 0}, .numbers = {0, 0}};
  EXPECT_EQ(EffectOf(tasks), Effect::Error);
  EXPECT_EQ(TextOf(tasks), "node 0 starts ranks 0, 1 2 times; each rank is started 2 times");
  const LaunchedRanks nodes{.processes = 2, .awaited = 1, .nodes = {0, 1}, .places = {0, 0}, .numbers = {-1, -1}};
  EXPECT_EQ(EffectOf(nodes), Effect::Error);
  EXPECT_EQ(TextOf(nodes), "node 0 starts ranks 0, 1, node 1 starts no rank; one launcher is too many: 1 are awaited");
}

}  // namespace
}  // namespace allranks::verify
