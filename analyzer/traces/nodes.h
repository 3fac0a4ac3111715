// The nodes of a trace at which ranks may part.
#pragma once

#include <unordered_set>
#include <vector>

#include "analyzer/traces/build.h"
#include "analyzer/traces/mentions.h"

namespace allranks::traces {

struct VaryingNodes {
  std::vector<TraceId> choices;   // and loops; the innermost first
  std::vector<TraceId> ops;       // all operations
  std::vector<TraceId> deciding;  // all choices and loops that are not settled, those alike on all ranks as well
  std::unordered_set<uint64_t> recurring;  // Question::key of what choices ask at more than one place
  bool ops_vary = false;          // a root or group that differs between ranks
  bool has_handlers = false;
  bool has_guesses = false;       // methods that are told by their names alone
  bool has_presence_tests = false;  // choices that are alike on all ranks, unless a batch of one has a part that a batch of another lacks
  std::vector<ValueId> made;      // things made once, of which it is not known whether they are
  Mentions mentions;
};
VaryingNodes CollectVarying(const State& state, TraceId root);

// What a trace issues, wherever.
struct OperationsIn {
  OperationsIn(const TraceStore& traces, TraceId root);
  std::unordered_set<uint32_t> sites;   // SiteIds
  bool joins_job = false;
  bool has_unfollowed = false;   // calls that may issue something and are not followed
};

// Along which axes the condition of a choice or loop varies.
knowledge::Axes NodeAxes(const State& state, TraceId node);

// `trace` without the reductions of gradients in it.
TraceId WithoutGradients(TraceStore& traces, const knowledge::Knowledge& knowledge, TraceId trace);

// `trace` with those of its loops settled that issue only what frameworks do by themselves: however often each rank runs them, they agree.
TraceId SettleImplicitLoops(State& state, TraceId trace);

// `trace` with the nodes of `reported` settled, and, if `agreed`, whatever does not depend on a caller.
TraceId Settle(State& state, TraceId trace, const std::unordered_set<uint32_t>& reported, bool agreed);

}  // namespace allranks::traces
