#include "driver/explain/match.h"

#include <algorithm>

#include "driver/explain/local_files.h"
#include "explain/hang/places.h"

namespace allranks::explain {
namespace {

constexpr int kSite = 4;
constexpr int kInnerSite = 2;  // the innermost frame rather than a caller
constexpr int kKind = 2;
constexpr int kChain = 1;
constexpr int kMostChain = 3;
constexpr int kOtherSite = 2;
constexpr int kLeast = 5;

// One side of the hang: what a rank is seen in, as frames of the user's files.
struct Side {
  std::vector<Frame> frames;  // outermost first
  std::string kind;
};

class Scorer {
 public:
  Scorer(const Recording& recording, const Hang& hang) : recording_(recording) {
    for (const Arrival& arrival : hang.stall.arrived) Add(waiting_, arrival.stack, arrival.kind);
    for (const Stall& stall : hang.circle) {
      for (const Arrival& arrival : stall.arrived) Add(waiting_, arrival.stack, arrival.kind);
    }
    for (const Whereabouts& absent : hang.absent) {
      const StackIndex stack = absent.ending && absent.ending->stack != kNoStack ? absent.ending->stack : absent.stack;
      if (stack != kNoStack) Add(elsewhere_, stack, "");
    }
    // Where a rank that is missing waits in another operation.
    for (const Stall& stall : hang.following) {
      for (const Arrival& arrival : stall.arrived) {
        if (std::ranges::find(hang.stall.absent, arrival.rank) != hang.stall.absent.end()) Add(elsewhere_, arrival.stack, arrival.kind);
      }
    }
    for (const Arrival& arrival : hang.first_different) Add(parted_, arrival.stack, arrival.kind);
  }

  Match Score(const Foretold& finding) const {
    Match match;
    if (!finding.witness) return match;
    std::vector<std::string> reasons;
    const witness::Witness& w = *finding.witness;
    int waiting = 0;
    for (const witness::Stuck& stuck : w.stuck) {
      const witness::Op* op = OpOf(w, stuck);
      if (op != nullptr) waiting = std::max(waiting, BestOf(waiting_, *op));
    }
    if (waiting < kSite) return match;
    reasons.emplace_back("the line where ranks wait");
    if (waiting >= kSite + kInnerSite + kKind || waiting == kSite + kKind) reasons.emplace_back("the kind of the operation");
    int other = 0;
    for (const auto& ops : w.ops) {
      for (const witness::Op& op : ops) {
        if (!elsewhere_.empty() && BestOf(elsewhere_, op) >= kSite) other = kOtherSite;
        if (!parted_.empty() && BestOf(parted_, op) >= kSite + kInnerSite) other = kOtherSite;
      }
    }
    if (other > 0) reasons.emplace_back("where the others are");
    const int chain = ChainOf(finding);
    if (chain > 0) reasons.push_back(std::to_string(chain) + (chain == 1 ? " place" : " places") + " of the way there");
    match.score = waiting + other + std::min(chain, kMostChain) * kChain;
    for (size_t i = 0; i < reasons.size(); ++i) match.because += (i == 0 ? "" : i + 1 == reasons.size() ? " and " : ", ") + reasons[i];
    return match;
  }

 private:
  void Add(std::vector<Side>& sides, StackIndex stack, const std::string& kind) {
    if (stack == kNoStack || sides.size() >= 64) return;
    Side side{UserFrames(recording_, stack), kind};
    const bool known = std::ranges::any_of(sides, [&](const Side& s) { return s.frames == side.frames && s.kind == kind; });
    if (!side.frames.empty() && !known) sides.push_back(std::move(side));
  }

  static const witness::Op* OpOf(const witness::Witness& w, const witness::Stuck& stuck) {
    for (const auto& ops : w.ops) {
      const auto op = std::ranges::find(ops, stuck.op, &witness::Op::id);
      if (op != ops.end()) return &*op;
    }
    return nullptr;
  }

  bool IsAt(const Frame& frame, const std::string& path, uint32_t line) const {
    return frame.line == line && LocalFiles::SameFile(recording_.names[frame.file], path);
  }

  int BestOf(const std::vector<Side>& sides, const witness::Op& op) const {
    int best = 0;
    for (const Side& side : sides) {
      for (size_t i = 0; i < side.frames.size(); ++i) {
        if (!IsAt(side.frames[i], op.at.uri, op.at.line)) continue;
        const bool inner = i + 1 == side.frames.size();
        // Some operations are made of others: a kind that is not known, or not the same, costs what it would have earned.
        best = std::max(best, kSite + (inner ? kInnerSite : 0) + (side.kind == op.op ? kKind : 0));
      }
    }
    return best;
  }

  // How many of the finding's places the waiting ranks have come through.
  int ChainOf(const Foretold& finding) const {
    std::vector<const Spot*> spots = {&finding.place};
    for (const Spot& spot : finding.others) spots.push_back(&spot);
    return static_cast<int>(std::ranges::count_if(spots, [&](const Spot* spot) {
      return std::ranges::any_of(waiting_, [&](const Side& side) {
        return std::ranges::any_of(side.frames, [&](const Frame& frame) { return IsAt(frame, spot->path, spot->line); });
      });
    }));
  }

  const Recording& recording_;
  std::vector<Side> waiting_;
  std::vector<Side> elsewhere_;
  std::vector<Side> parted_;
};

// Whether some waiting rank is in the function of the finding.
bool IsBeside(const Foretold& finding, const Recording& recording, const Stall& stall) {
  const std::string_view function = std::string_view(finding.function).substr(finding.function.rfind('.') + 1);
  return std::ranges::any_of(stall.arrived, [&](const Arrival& arrival) {
    if (arrival.stack == kNoStack) return false;
    return std::ranges::any_of(UserFrames(recording, arrival.stack), [&](const Frame& frame) {
      std::string_view ran = recording.names[frame.function];
      ran.remove_prefix(ran.rfind('.') + 1);
      return ran == function && LocalFiles::SameFile(recording.names[frame.file], finding.place.path);
    });
  });
}

}  // namespace

std::optional<Match> BestMatch(const std::vector<Foretold>& findings, const Recording& recording, const Hang& hang) {
  const Scorer scorer(recording, hang);
  std::optional<Match> best;
  for (size_t i = 0; i < findings.size(); ++i) {
    Match match = scorer.Score(findings[i]);
    match.finding = i;
    if (match.score >= kLeast && (!best || match.score > best->score)) best = std::move(match);
  }
  return best;
}

std::optional<size_t> MatchBeside(const std::vector<Foretold>& findings, const Recording& recording, const Hang& hang) {
  if (hang.cause != Cause::Absent) return std::nullopt;
  const auto is_missing = [&](const witness::Stuck& stuck) {
    return std::ranges::find(hang.stall.absent, stuck.rank) != hang.stall.absent.end() ||
           std::ranges::find(hang.stall.unheard, stuck.rank) != hang.stall.unheard.end();
  };
  for (size_t i = 0; i < findings.size(); ++i) {
    const Foretold& finding = findings[i];
    const bool fits = finding.condition && finding.witness && !finding.witness->stuck.empty() && std::ranges::all_of(finding.witness->stuck, is_missing);
    if (fits && IsBeside(finding, recording, hang.stall)) return i;
  }
  return std::nullopt;
}

}  // namespace allranks::explain
