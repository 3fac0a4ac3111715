#include "driver/reports/lanes.h"

#include <algorithm>
#include <variant>

#include "driver/reports/file_place.h"
#include "witness/ranks_text.h"

namespace allranks::reports {
namespace {

using witness::RanksText;

// Equal steps before the ranks part are shown up to this many; more say nothing new.
constexpr size_t kStepsBefore = 2;
constexpr size_t kStepsAtMost = 12;

bool SameOp(const witness::Op& a, const witness::Op& b) {
  return a.op == b.op && a.comm == b.comm && a.root == b.root && a.peer == b.peer && a.redop == b.redop && a.dtype == b.dtype &&
         a.count == b.count;
}

// How many first steps are the same in all classes.
size_t CommonSteps(const witness::Witness& w) {
  if (w.ops.size() < 2) return 0;
  size_t common = 0;
  for (;; ++common) {
    for (const std::vector<witness::Op>& ops : w.ops) {
      if (common >= ops.size() || !SameOp(ops[common], w.ops[0][common])) return common;
    }
  }
}

std::string_view LastName(std::string_view dotted) {
  // There is room for "backward" of "backward of a wrapped model".
  if (dotted.find(' ') != std::string_view::npos) return dotted.substr(0, dotted.find(" of a "));
  const size_t dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

// The batches of a rank.
uint32_t BatchesOf(const witness::UnevenBatches& uneven, size_t rank) {
  const uint32_t batch = std::max(1u, uneven.batch[rank]);
  return (uneven.samples[rank] + (uneven.drop_last ? 0 : batch - 1)) / batch;
}

// The schedule of ranks whose batches differ in number is one step, which all make: the step behind it has those that have one more batch,
// and they wait in it.
witness::Witness StepsOfUnevenBatches(const witness::Witness& w) {
  const auto* uneven = std::get_if<witness::UnevenBatches>(&w.scenario);
  const bool has_step = w.ops.size() == 1 && !w.ops[0].empty();
  if (uneven == nullptr || uneven->join || !has_step || uneven->samples.size() != w.world || uneven->batch.size() != w.world) return w;
  uint32_t fewest = UINT32_MAX;
  for (uint32_t rank = 0; rank < w.world; ++rank) fewest = std::min(fewest, BatchesOf(*uneven, rank));
  witness::Witness shown = w;
  witness::RankClass more = {"more", {}, {}}, fewer = {"fewer", {}, {}};
  for (uint32_t rank = 0; rank < w.world; ++rank) (BatchesOf(*uneven, rank) > fewest ? more : fewer).ranks.push_back(rank);
  if (more.ranks.empty()) return w;
  std::vector<witness::Op> next = w.ops[0];
  for (witness::Op& op : next) op.id += ".next";
  for (const uint32_t rank : more.ranks) shown.stuck.push_back({rank, next.front().id});
  std::vector<witness::Op> both = w.ops[0];
  both.insert(both.end(), next.begin(), next.end());
  shown.classes = {std::move(more), std::move(fewer)};
  shown.ops = {std::move(both), w.ops[0]};
  return shown;
}

class LaneBuilder {
 public:
  LaneBuilder(const witness::Witness& w, std::string_view path, const source::SourceFiles& files)
      : w_(w), path_(path), files_(files), common_(CommonSteps(w)) {
    first_ = common_ > kStepsBefore ? common_ - kStepsBefore : 0;
    // In a circle ranks may wait in what all of them issue alike.
    for (size_t c = 0; c < w.ops.size() && c < w.classes.size(); ++c) {
      const std::string* stuck_in = StuckIn(c);
      const auto step = std::find_if(w.ops[c].begin(), w.ops[c].end(), [&](const witness::Op& op) { return stuck_in != nullptr && op.id == *stuck_in; });
      if (step != w.ops[c].end()) first_ = std::min(first_, static_cast<size_t>(step - w.ops[c].begin()));
    }
  }

  size_t hidden() const { return first_; }

  std::vector<Lane> All() const {
    std::vector<Lane> lanes;
    for (size_t c = 0; c < w_.classes.size() && c < w_.ops.size(); ++c) lanes.push_back(LaneOf(c));
    return lanes;
  }

 private:
  Lane LaneOf(size_t c) const {
    Lane lane;
    lane.name = RanksText(w_.classes[c].ranks, w_.world);
    const std::vector<witness::Op>& ops = w_.ops[c];
    const std::string* stuck_in = StuckIn(c);
    size_t end = ops.size();
    for (size_t i = first_; i < end && lane.steps.size() < kStepsAtMost; ++i) {
      Step step{.text = OpText(ops[i])};
      step.waits = stuck_in != nullptr && ops[i].id == *stuck_in;
      lane.waits = lane.waits || step.waits;
      lane.steps.push_back(std::move(step));
      // What would come after the operation it waits in never happens.
      if (lane.waits) end = i + 1;
    }
    if (end - std::min(first_, end) > kStepsAtMost) lane.steps.push_back({.text = "..."});
    lane.ending = Ending(c, lane);
    return lane;
  }

  const std::string* StuckIn(size_t c) const {
    for (const witness::Stuck& stuck : w_.stuck) {
      const std::vector<uint32_t>& ranks = w_.classes[c].ranks;
      if (std::find(ranks.begin(), ranks.end(), stuck.rank) != ranks.end()) return &stuck.op;
    }
    return nullptr;
  }

  std::string OpText(const witness::Op& op) const {
    std::string text = OneLine(op.source.empty() ? op.op : LastName(op.source));
    const std::vector<uint32_t>& members = Members(op);
    const bool gives = op.op == "broadcast" || op.op == "recv";
    const int32_t partner = op.root >= 0 ? op.root : op.peer;
    if (partner >= 0) text += (gives ? " from rank " : " to rank ") + Member(members, partner);
    if (members.size() < w_.world) text += " on " + RanksText(members, w_.world);
    if (op.at.line == 0) return text;
    return text + (op.at.uri == path_ ? " :" : " " + OneLine(op.at.uri) + ":") + LineName(files_, op.at.uri, op.at.line);
  }

  // The ranks of the operation's group, by their rank in it.
  const std::vector<uint32_t>& Members(const witness::Op& op) const {
    static const std::vector<uint32_t> kNone;
    const auto comm = std::find_if(w_.comms.begin(), w_.comms.end(),
                                   [&](const witness::Communicator& c) { return c.id == op.comm; });
    return comm == w_.comms.end() ? kNone : comm->ranks;
  }
  // A rank of a group as the rank of the job.
  static std::string Member(const std::vector<uint32_t>& members, int32_t rank) {
    const auto index = static_cast<size_t>(rank);
    return std::to_string(index < members.size() ? members[index] : static_cast<uint32_t>(rank));
  }

  std::string Ending(size_t c, const Lane& lane) const {
    const std::string s = w_.classes[c].ranks.size() == 1 ? "s" : "";
    if (lane.waits) return "wait" + s + " for " + OtherRanks(c);
    switch (w_.effect) {
      case witness::Effect::Deadlock:
        if (lane.steps.empty()) return "take" + s + " no part";
        return s.empty() ? "go on" : "goes on";
      case witness::Effect::Corruption: return "get" + s + " wrong data";
      case witness::Effect::Error:
        if (!OthersFail(c)) return "fail" + s;
        // Of ranks outside of the group that issue nothing there nothing is said.
        if (w_.ops[c].empty() || !IsInAll(c)) return "";
        return s.empty() ? "go on" : "goes on";
      case witness::Effect::Semantic:
      case witness::Effect::Clean: return "";
    }
    return "";
  }

  // Whether these ranks are in each group that any rank of the schedule uses.
  bool IsInAll(size_t c) const {
    const std::vector<uint32_t>& own = w_.classes[c].ranks;
    return std::all_of(w_.ops.begin(), w_.ops.end(), [&](const std::vector<witness::Op>& ops) {
      return std::all_of(ops.begin(), ops.end(), [&](const witness::Op& op) {
        const std::vector<uint32_t>& members = Members(op);
        return std::all_of(own.begin(), own.end(), [&](uint32_t rank) { return std::find(members.begin(), members.end(), rank) != members.end(); });
      });
    });
  }

  // Whether a call on a group that others are not in fails there, and none fails in this class.
  bool OthersFail(size_t c) const {
    const auto fails = [&](size_t each) {
      const std::vector<uint32_t>& ranks = w_.classes[each].ranks;
      return std::any_of(w_.ops[each].begin(), w_.ops[each].end(), [&](const witness::Op& op) {
        const std::vector<uint32_t>& members = Members(op);
        return std::any_of(ranks.begin(), ranks.end(), [&](uint32_t rank) { return std::find(members.begin(), members.end(), rank) == members.end(); });
      });
    };
    bool others_fail = false;
    for (size_t other = 0; other < w_.classes.size() && other < w_.ops.size(); ++other) others_fail = others_fail || (other != c && fails(other));
    return others_fail && !fails(c);
  }

  // The ranks that share the group of the operation but are not of this class.
  std::string OtherRanks(size_t c) const {
    const std::vector<uint32_t>& own = w_.classes[c].ranks;
    const std::string* stuck_in = StuckIn(c);
    std::vector<uint32_t> others;
    for (const witness::Op& op : w_.ops[c]) {
      if (op.id == *stuck_in) others = Members(op);
    }
    std::erase_if(others, [&](uint32_t r) { return std::find(own.begin(), own.end(), r) != own.end(); });
    std::sort(others.begin(), others.end());
    return others.empty() ? "the others" : RanksText(others, 0);
  }

  const witness::Witness& w_;
  std::string_view path_;
  const source::SourceFiles& files_;
  size_t common_ = 0;
  size_t first_ = 0;
};

}  // namespace

bool ShowsDifference(const witness::Witness& witness) {
  if (!witness.stuck.empty()) return true;
  // All ranks do the same and come through, if to another result.
  if (witness.ops.size() < 2 && witness.effect == witness::Effect::Semantic) return false;
  const size_t common = CommonSteps(witness);
  return std::any_of(witness.ops.begin(), witness.ops.end(), [&](const auto& ops) { return ops.size() > common; });
}

Lanes LanesOf(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files) {
  const witness::Witness steps = StepsOfUnevenBatches(witness);
  const LaneBuilder builder(steps, path, files);
  return {.lanes = builder.All(), .hidden = builder.hidden()};
}

}  // namespace allranks::reports
