// Answers that are worked out once and kept, whichever thread asks for them first: for questions about what does not change any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace allranks::base {

template <class Answer>
class Memo {
 public:
  // `work()` answers the question of a number, always in the same way. It runs without a lock and may ask others here: two threads
  // that ask at once may both run it, and both get what is kept of the first. The answer stays where it is.
  template <class Work>
  const Answer& Of(uint64_t question, const Work& work) {
    Shard& shard = ShardOf(question);
    {
      const std::lock_guard lock(shard.mutex);
      if (const auto known = shard.answers.find(question); known != shard.answers.end()) return known->second;
    }
    Answer answer = work();
    const std::lock_guard lock(shard.mutex);
    return shard.answers.try_emplace(question, std::move(answer)).first->second;
  }

 private:
  // So many that threads seldom wait for one another.
  static constexpr uint32_t kShardBits = 4;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Answer> answers;
  };

  Shard& ShardOf(uint64_t question) {
    // Numbers of neighbours are neighbours: multiplied they are spread.
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
    return shards_[(question * kSpread) >> (64 - kShardBits)];
  }

  std::array<Shard, size_t{1} << kShardBits> shards_;
};

}  // namespace allranks::base
