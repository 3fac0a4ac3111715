// A context manager written as a generator runs what stands before its `yield` on entering and the rest on leaving. A loop over a
// generator runs its body at each `yield`.
#include "analyzer/traces/build.h"

namespace allranks::traces {
namespace {

class Splitter {
 public:
  explicit Splitter(TraceStore& traces) : traces_(traces) {}

  SplitTrace Split(TraceId id) {
    const Trace trace = traces_[id];
    if ((trace.flags & kHasYield) == 0) return {id, traces_.Empty()};
    const std::vector<TraceId> kids(traces_.Kids(id).begin(), traces_.Kids(id).end());
    switch (trace.kind) {
      case TraceKind::Seq:
        return SplitSeq(kids);
      case TraceKind::Choice:
        return SplitChoice(id, trace, kids);
      case TraceKind::Try: {
        const SplitTrace body = Split(kids[kTryBody]);
        const TraceId rest[] = {body.after, kids[kTryElse], kids[kTryFinally]};
        return {body.before, traces_.Seq(rest)};
      }
      default:
        return {traces_.Empty(), traces_.Empty()};
    }
  }

 private:
  SplitTrace SplitSeq(std::span<const TraceId> parts) {
    std::vector<TraceId> before;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Trace& part = traces_[parts[i]];
      if ((part.flags & kHasYield) == 0) {
        before.push_back(parts[i]);
        continue;
      }
      const std::vector<TraceId> rest(parts.begin() + static_cast<ptrdiff_t>(i) + 1, parts.end());
      SplitTrace split;
      if (part.kind == TraceKind::Choice && (part.flags & kLeavesReturn) != 0) {
        split = SplitEarlyReturn(parts[i], traces_.Seq(rest));
      } else {
        split = Split(parts[i]);
        split.after = traces_.Seq(split.after, traces_.Seq(rest));
      }
      before.push_back(split.before);
      return {traces_.Seq(before), split.after};
    }
    return {traces_.Seq(before), traces_.Empty()};
  }

  // `if not distributed: yield; return` before the real yield: the other arm goes on with the rest.
  SplitTrace SplitEarlyReturn(TraceId choice, TraceId rest) {
    const Trace trace = traces_[choice];
    const TraceId then_trace = traces_.Kids(choice)[0];
    const TraceId else_trace = traces_.Kids(choice)[1];
    const bool then_leaves = (traces_[then_trace].flags & kLeavesReturn) != 0;
    const TraceId longer_then = then_leaves ? then_trace : traces_.Seq(then_trace, rest);
    const TraceId longer_else = then_leaves ? traces_.Seq(else_trace, rest) : else_trace;
    const TraceId arms[] = {longer_then, longer_else};
    return SplitChoice(choice, trace, arms);
  }

  SplitTrace SplitChoice(TraceId id, const Trace& trace, std::span<const TraceId> arms) {
    const SplitTrace then_split = Split(arms[0]);
    const SplitTrace else_split = Split(arms[1]);
    const TraceId before[] = {then_split.before, else_split.before};
    const TraceId after[] = {then_split.after, else_split.after};
    return {traces_.Rebuild(id, trace.value, before, false), traces_.Rebuild(id, trace.value, after, false)};
  }

  TraceStore& traces_;
};

// Puts the body of a loop where the generator that it goes over hands something over.
class Interleaver {
 public:
  // A round ends where the body does, or at a `continue`.
  Interleaver(TraceStore& traces, TraceId body, ValueId one_round) : traces_(traces), body_(body), one_round_(one_round) {}

  // None: the generator goes over another one, whose `yield` is no place of its own.
  TraceId Run(TraceId id) {
    const Trace trace = traces_[id];
    if ((trace.flags & kHasYield) == 0) return id;
    if (trace.kind == TraceKind::Yield) return traces_.Loop(trace.site, one_round_, body_, false, LoopKind::Counted);
    if (trace.kind != TraceKind::Seq && trace.kind != TraceKind::Choice && trace.kind != TraceKind::Loop && trace.kind != TraceKind::Try) return {};
    std::vector<TraceId> kids(traces_.Kids(id).begin(), traces_.Kids(id).end());
    for (TraceId& kid : kids) {
      kid = Run(kid);
      if (!kid) return {};
    }
    return traces_.Rebuild(id, trace.value, kids, (trace.flags & kSettled) != 0);
  }

 private:
  TraceStore& traces_;
  TraceId body_;
  ValueId one_round_;
};

// Who leaves the loop closes the generator, which returns from where it stands.
TraceId BreaksAsReturns(TraceStore& traces, TraceId id) {
  const Trace trace = traces[id];
  if ((trace.flags & kLeavesBreak) == 0) return id;
  if (trace.kind == TraceKind::Exit) return traces.Exit(trace.site, ExitKind::Return, trace.op != 0);
  std::vector<TraceId> kids(traces.Kids(id).begin(), traces.Kids(id).end());
  for (TraceId& kid : kids) kid = BreaksAsReturns(traces, kid);
  return traces.Rebuild(id, trace.value, kids, (trace.flags & kSettled) != 0);
}

}  // namespace

SplitTrace SplitAtYield(TraceStore& traces, TraceId trace) { return Splitter(traces).Split(trace); }

TraceId TakingTurns(TraceStore& traces, TraceId generator, TraceId body, ValueId one_round) {
  const uint16_t flags = traces[generator].flags;
  const bool issues = (flags & kIssues) != 0 && (flags & kHasYield) != 0;
  if (!issues || (traces[body].flags & (kLeavesReturn | kHasYield)) != 0) return {};
  return Interleaver(traces, BreaksAsReturns(traces, body), one_round).Run(generator);
}

}  // namespace allranks::traces
