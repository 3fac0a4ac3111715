// A context manager written as a generator runs what stands before its `yield` on entering and the rest on leaving.
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

}  // namespace

SplitTrace SplitAtYield(TraceStore& traces, TraceId trace) { return Splitter(traces).Split(trace); }

}  // namespace allranks::traces
