#include "runtime-verify/coordinator/launched_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using witness::Effect;
using witness::LaunchedRanks;
using witness::RanksText;

// Nodes that are named one by one.
constexpr size_t kMostShown = 4;

class Meeting {
 public:
  explicit Meeting(const LaunchedRanks& job) : job_(job), number_of_(job.nodes.size()) {
    std::map<uint32_t, std::vector<size_t>> by_place;
    for (size_t i = 0; i < job.nodes.size(); ++i) by_place[job.places[i]].push_back(i);
    places_ = by_place.size();
    for (const auto& [place, launchers] : by_place) Meet(launchers);
  }

  RanksStarted Result() const {
    if (is_waiting_) {
      return {Effect::Deadlock, Table() + fmt::format("; {} {} awaited in each place, and fewer come", job_.awaited,
                                                      job_.awaited == 1 ? "launcher is" : "launchers are")};
    }
    if (!missing_.empty() && places_ > 1) {
      return {Effect::Deadlock, Table() + fmt::format("; they look for one another in {} places, and in none of them are all {} ranks", places_, World())};
    }
    if (!missing_.empty()) {
      return {Effect::Deadlock, Table() + fmt::format("; {} of {} {} started by nobody, and the others wait for {}", RanksText(RanksOf(missing_), 0), World(),
                                                      RanksOf(missing_).size() == 1 ? "is" : "are", RanksOf(missing_).size() == 1 ? "it" : "them")};
    }
    if (!left_out_.empty()) {
      return {Effect::Error, Table() + fmt::format("; {} too many: {} are awaited", left_out_.size() == 1 ? "one launcher is" : std::to_string(left_out_.size()) + " launchers are",
                                                   job_.awaited)};
    }
    if (most_ > 1) return {Effect::Error, Table() + fmt::format("; each rank is started {} times", most_)};
    if (places_ > 1) return {Effect::Semantic, Table() + fmt::format("; these are {} jobs of {} ranks that know nothing of one another", places_, World())};
    return {Effect::Clean, Table() + fmt::format("; these are all {} ranks", World())};
  }

 private:
  uint32_t World() const { return job_.processes * job_.awaited; }

  void Meet(const std::vector<size_t>& launchers) {
    std::map<uint32_t, uint32_t> taken;
    uint32_t next = 0;
    const bool agree = std::ranges::all_of(launchers, [&](size_t i) { return job_.numbers[i] < 0; });
    if (agree && launchers.size() < job_.awaited) {
      is_waiting_ = true;
      return;
    }
    for (const size_t i : launchers) {
      const uint32_t number = job_.numbers[i] < 0 ? next++ : static_cast<uint32_t>(job_.numbers[i]);
      if (number >= job_.awaited) {
        left_out_.push_back(i);
        continue;
      }
      number_of_[i] = number;
      most_ = std::max(most_, ++taken[number]);
    }
    for (uint32_t number = 0; number < job_.awaited; ++number) {
      if (!taken.contains(number)) missing_.insert(number);
    }
  }

  std::vector<uint32_t> RanksOf(const std::set<uint32_t>& numbers) const {
    std::vector<uint32_t> ranks;
    for (const uint32_t number : numbers) {
      for (uint32_t i = 0; i < job_.processes; ++i) ranks.push_back(number * job_.processes + i);
    }
    return ranks;
  }

  // "node 0 starts ranks 0-7 8 times"
  std::string OnNode(uint32_t node) const {
    std::map<uint32_t, uint32_t> times;
    for (size_t i = 0; i < job_.nodes.size(); ++i) {
      if (job_.nodes[i] == node && number_of_[i]) ++times[*number_of_[i]];
    }
    if (times.empty()) return fmt::format("node {} starts no rank", node);
    std::set<uint32_t> numbers;
    uint32_t most = 0;
    for (const auto& [number, count] : times) {
      numbers.insert(number);
      most = std::max(most, count);
    }
    return fmt::format("node {} starts {}{}", node, RanksText(RanksOf(numbers), 0), most == 1 ? "" : fmt::format(" {} times", most));
  }

  std::string Table() const {
    const std::set<uint32_t> nodes(job_.nodes.begin(), job_.nodes.end());
    std::string text;
    size_t shown = 0;
    for (const uint32_t node : nodes) {
      if (++shown > kMostShown) return text + fmt::format(", and so on up to node {}", *nodes.rbegin());
      text += (text.empty() ? "" : ", ") + OnNode(node);
    }
    return text;
  }

  const LaunchedRanks& job_;
  std::vector<std::optional<uint32_t>> number_of_;  // by launcher: its node among those that meet; none: it has none
  size_t places_ = 0;
  std::set<uint32_t> missing_;      // numbers that nobody has, in some place
  std::vector<size_t> left_out_;    // launchers for which there is no number left
  uint32_t most_ = 0;               // launchers of one place that have the same number
  bool is_waiting_ = false;         // in some place too few come to agree
};

}  // namespace

RanksStarted RanksStartedBy(const LaunchedRanks& job) { return Meeting(job).Result(); }

}  // namespace allranks::verify
