#include "runtime-verify/coordinator/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime-verify/coordinator/shown_text.h"
#include "witness/json.h"
#include "witness/ranks_text.h"

namespace allranks::verify {
namespace {

using witness::Outcome;
using witness::RanksText;

constexpr std::string_view kRed = "\x1b[1;31m", kGreen = "\x1b[32m", kDim = "\x1b[2m", kBold = "\x1b[1m",
                           kPlain = "\x1b[0m";
// More steps before the place say nothing new.
constexpr size_t kStepsBefore = 2;

std::string Paint(const TextStyle& style, std::string_view ink, std::string_view text) {
  return style.color ? fmt::format("{}{}{}", ink, text, kPlain) : std::string(text);
}

enum class Fate { Done, Stuck, Wrong, Refused };

// Ranks of one class to which the same happened.
struct Lane {
  std::vector<uint32_t> ranks;
  size_t class_index = 0;
  size_t end = 0;  // operations that were completed, up to the one below
  Fate fate = Fate::Done;
  std::vector<uint32_t> waits_for;
  std::string words;
  bool in_fence = false;
};

class LaneBuilder {
 public:
  explicit LaneBuilder(const Verdict& verdict) : w_(verdict.ran), trial_(verdict.trials[0]) {}

  std::vector<Lane> Build() const {
    std::vector<Lane> lanes;
    for (size_t c = 0; c < w_.classes.size(); ++c) {
      for (const uint32_t rank : w_.classes[c].ranks) {
        Lane lane = LaneOf(c, rank);
        const auto same = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& other) {
          return other.class_index == c && other.end == lane.end && other.fate == lane.fate &&
                 other.words == lane.words && WithoutOwn(other) == WithoutOwn(lane);
        });
        if (same == lanes.end()) {
          lanes.push_back(std::move(lane));
        } else {
          same->ranks.push_back(rank);
        }
      }
    }
    return lanes;
  }

 private:
  // Ranks of one class that wait for each other's equals wait for the same.
  std::vector<uint32_t> WithoutOwn(const Lane& lane) const {
    std::vector<uint32_t> others;
    const std::vector<uint32_t>& own = w_.classes[lane.class_index].ranks;
    for (const uint32_t rank : lane.waits_for) {
      if (std::find(own.begin(), own.end(), rank) == own.end()) others.push_back(rank);
    }
    return others;
  }

  Lane LaneOf(size_t c, uint32_t rank) const {
    Lane lane{.ranks = {rank}, .class_index = c, .end = w_.ops[c].size(), .waits_for = {}, .words = ""};
    const Outcome& out = trial_.outcome;
    const auto at = [&](uint32_t op, Fate fate) {
      lane.in_fence = op >= w_.ops[c].size();
      lane.end = std::min<size_t>(op, w_.ops[c].size());
      lane.fate = fate;
    };
    for (auto it = out.wrong.rbegin(); it != out.wrong.rend(); ++it) {
      if (it->rank == rank) at(it->op, Fate::Wrong);
    }
    for (const witness::StuckOp& stuck : out.stuck) {
      if (stuck.rank != rank) continue;
      at(stuck.op, Fate::Stuck);
      lane.waits_for = stuck.waits_for;
    }
    for (const witness::RankOp& refused : out.refused) {
      if (refused.rank != rank) continue;
      at(refused.op, Fate::Refused);
      lane.words =
          trial_.log ? trial_.log->ranks[rank].words : "the rank is not in the group of the operation";
    }
    return lane;
  }

  const witness::Witness& w_;
  const Trial& trial_;
};

std::string OpText(const witness::Witness& w, const witness::Op& op) {
  std::string text = OneLine(op.source.empty() ? op.op : op.source);
  for (const witness::Communicator& comm : w.comms) {
    if (comm.id == op.comm && comm.ranks.size() < w.world) text += " on " + RanksText(comm.ranks, w.world);
  }
  if (op.at.line > 0) text += fmt::format(" {}:{}", OneLine(op.at.uri), op.at.line);
  return text;
}

std::string Ending(const Lane& lane, bool others_hang) {
  const std::string s = lane.ranks.size() == 1 ? "s" : "";
  switch (lane.fate) {
    case Fate::Stuck:
      return lane.waits_for.empty() ? "never end" + s
                                    : fmt::format("wait{} for {}", s, RanksText(lane.waits_for, 0));
    case Fate::Wrong:
      return "get" + s + " wrong data";
    case Fate::Refused:
      return "fail" + s + ": " + OneLine(lane.words);
    case Fate::Done:
      return others_hang ? (s.empty() ? "have finished" : "has finished") : "";
  }
  return "";
}

std::string LaneText(const witness::Witness& w, const Lane& lane, bool others_hang, size_t width,
                     const TextStyle& style) {
  const std::vector<witness::Op>& ops = w.ops[lane.class_index];
  const std::string_view done = style.ascii ? "*" : "●", stop = style.ascii ? "#" : "■",
                         gap = style.ascii ? " - " : " ─ ";
  const std::string name = RanksText(lane.ranks, w.world);
  std::string out = "  " + Paint(style, kBold, name) + std::string(width - name.size(), ' ') + "  ";
  const size_t first = lane.end > kStepsBefore ? lane.end - kStepsBefore : 0;
  if (first > 0) out += Paint(style, kDim, fmt::format("... {} before", first)) + std::string(gap);
  for (size_t i = first; i < lane.end && i < ops.size(); ++i) {
    out += Paint(style, kGreen, done) + " " + OpText(w, ops[i]);
    if (i + 1 < lane.end || lane.fate != Fate::Done) out += gap;
  }
  if (lane.fate != Fate::Done) {
    const std::string text = lane.in_fence ? "the next operation of the group" : OpText(w, ops[lane.end]);
    out += Paint(style, kRed, fmt::format("{} {}", stop, text));
  }
  if (lane.fate == Fate::Done && ops.empty()) return out + Paint(style, kDim, "nothing to do") + "\n";
  if (const std::string ending = Ending(lane, others_hang); !ending.empty()) {
    out += "  " + Paint(style, lane.fate == Fate::Done ? kDim : kRed, ending);
  }
  return out + "\n";
}

std::string Details(const Verdict& verdict) {
  const Trial& trial = verdict.trials[0];
  std::string out;
  if (trial.outcome.cycle.size() > 2) {
    out += "  a circle: ";
    for (const uint32_t rank : trial.outcome.cycle) out += fmt::format("rank {} waits for ", rank);
    out += fmt::format("rank {}\n", trial.outcome.cycle[0]);
  }
  if (trial.log && !trial.log->released_by.empty()) {
    out += fmt::format("  proven: when {} issued what was missing, the waiting ended\n",
                       RanksText(trial.log->released_by, 0));
  }
  for (const witness::RankOp& wrong : trial.outcome.wrong) {
    if (!trial.log || !trial.log->ranks[wrong.rank].ops[wrong.op].wrong) continue;
    const Event& data = *trial.log->ranks[wrong.rank].ops[wrong.op].wrong;
    out += fmt::format("  rank {}: {} elements are wrong, the first at {}: {} instead of {}\n", wrong.rank,
                       data.bad, data.first, data.got, data.expected);
    break;
  }
  if (verdict.trials.size() > 1) {
    for (const Trial& one : verdict.trials) {
      out += fmt::format("  {}: {}\n", one.name, witness::EffectName(one.outcome.effect));
    }
  }
  if (!verdict.expected.rings.empty()) out += fmt::format("  NCCL is expected to show: {}\n", verdict.expected.Text());
  return out;
}

}  // namespace

std::string VerdictLine(const ReportFinding& finding, const Verdict& verdict, const TextStyle& style) {
  const bool is_reproduced = verdict.kind == VerdictKind::Reproduced;
  std::string out = Paint(style, kBold, OneLine(finding.code));
  if (!finding.place.empty()) out += " " + OneLine(finding.place);
  out += "  " + Paint(style, is_reproduced ? kRed : kGreen, HeadlineOf(verdict));
  if (!verdict.reason.empty()) out += ": " + OneLine(verdict.reason);
  const double seconds = static_cast<double>(verdict.duration.count()) / 1000;
  out += fmt::format(" ({}{} ranks, {:.1f} s)", IsSeen(verdict) ? OneLine(verdict.version) + ", " : "",
                     verdict.ran.world, seconds);
  return out + "\n";
}

std::string VerdictText(const ReportFinding& finding, const Verdict& verdict, const TextStyle& style) {
  std::string out = VerdictLine(finding, verdict, style);
  if (!verdict.measured.empty()) out += "  " + OneLine(verdict.measured) + "\n";
  // Where nobody issues anything, there is nothing to draw.
  const bool is_idle = std::ranges::all_of(verdict.ran.ops, [](const auto& ops) { return ops.empty(); });
  if (verdict.trials.empty() || is_idle) return out;
  const std::vector<Lane> lanes = LaneBuilder(verdict).Build();
  size_t width = 0;
  for (const Lane& lane : lanes) width = std::max(width, RanksText(lane.ranks, verdict.ran.world).size());
  const bool hangs = !verdict.trials[0].outcome.stuck.empty();
  for (const Lane& lane : lanes) out += LaneText(verdict.ran, lane, hangs, width, style);
  return out + Details(verdict);
}

}  // namespace allranks::verify
