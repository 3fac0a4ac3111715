// Reachability, forward. Projection goes backward, from what follows to what comes before, so whatever it notes on its way
// may lie behind an exit that the rank has taken long before. Everything noted there is judged only if this walk gets there.
//
// The walk over-approximates: after a loop, a call or a `try` it goes on wherever that is possible at all.
#include "analyzer/traces/reach.h"

namespace allranks::traces {
namespace {

class Reach {
 public:
  Reach(const State& state, Scene& scene, uint32_t rank, std::unordered_set<uint32_t>* reached)
      : traces_(state.traces), scene_(scene), rank_(rank), reached_(reached) {}

  // Whether the rank gets to what follows.
  bool Visit(TraceId id) {
    const auto [known, is_new] = passes_.try_emplace(id.index, true);
    if (!is_new) return known->second;
    reached_->insert(id.index);
    const bool passes = VisitNew(id);
    return passes_[id.index] = passes;
  }

 private:
  bool VisitNew(TraceId id) {
    const Trace& trace = traces_[id];
    switch (trace.kind) {
      case TraceKind::Exit:
        return false;
      case TraceKind::Seq:
        for (const TraceId kid : traces_.Kids(id)) {
          if (!Visit(kid)) return false;
        }
        return true;
      case TraceKind::Choice:
        return VisitChoice(id, trace);
      case TraceKind::Loop: {
        const std::optional<int64_t> trips = scene_.Trips(trace, rank_);
        if (!trips || *trips > 0) Visit(traces_.Kids(id)[0]);
        return true;
      }
      case TraceKind::Scope: {
        const TraceId body = traces_.Kids(id)[0];
        return Visit(body) || (traces_[body].flags & kLeavesReturn) != 0;
      }
      case TraceKind::Try: {
        bool passes = false;
        for (const TraceId kid : traces_.Kids(id)) passes = Visit(kid) || passes;
        return passes;
      }
      default:
        return true;
    }
  }

  bool VisitChoice(TraceId id, const Trace& trace) {
    const auto arms = traces_.Kids(id);
    // Decided on this rank, whatever it is on others: `result is not None` where only rank 0 may have one.
    const std::optional<bool> truth = scene_.evaluator().Truth(trace.value, rank_);
    if (truth) return Visit(arms[*truth ? 0 : 1]);
    const bool then_passes = Visit(arms[0]);
    return Visit(arms[1]) || then_passes;
  }

  const TraceStore& traces_;
  Scene& scene_;
  uint32_t rank_;
  std::unordered_set<uint32_t>* reached_;
  std::unordered_map<uint32_t, bool> passes_;
};

}  // namespace

std::unordered_set<uint32_t> NodesReached(const State& state, Scene& scene, TraceId root, uint32_t rank) {
  std::unordered_set<uint32_t> reached;
  Reach(state, scene, rank, &reached).Visit(root);
  return reached;
}

}  // namespace allranks::traces
