#include "analyzer/base/memo.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace allranks::base {
namespace {

TEST(Memo, WorksOutEachAnswerOnceAndKeepsItInItsPlace) {
  Memo<std::string> memo;
  int worked = 0;
  const auto ask = [&](uint64_t question) -> const std::string& {
    return memo.Of(question, [&] {
      ++worked;
      return std::to_string(question);
    });
  };
  const std::string& first = ask(7);
  for (uint64_t question = 0; question < 1000; ++question) EXPECT_EQ(ask(question), std::to_string(question));
  EXPECT_EQ(&ask(7), &first);
  EXPECT_EQ(worked, 1000);
}

TEST(Memo, AsksItselfForPartsOfAnAnswer) {
  Memo<uint64_t> memo;
  const auto fibonacci = [&](const auto& self, uint64_t n) -> uint64_t {
    return memo.Of(n, [&] { return n < 2 ? n : self(self, n - 1) + self(self, n - 2); });
  };
  EXPECT_EQ(fibonacci(fibonacci, 80), 23416728348467685u);
}

TEST(Memo, GivesAllThreadsTheSameAnswers) {
  Memo<uint64_t> memo;
  std::vector<std::vector<const uint64_t*>> seen(4);
  std::vector<std::thread> threads;
  for (std::vector<const uint64_t*>& mine : seen) {
    threads.emplace_back([&] {
      for (uint64_t question = 0; question < 5000; ++question) mine.push_back(&memo.Of(question, [&] { return question * question; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t question = 0; question < 5000; ++question) {
    EXPECT_EQ(*seen[0][question], question * question);
    for (const auto& each : seen) EXPECT_EQ(each[question], seen[0][question]);
  }
}

}  // namespace
}  // namespace allranks::base
