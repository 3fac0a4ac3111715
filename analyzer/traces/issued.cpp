#include "analyzer/traces/issued.h"

#include "analyzer/knowledge/words.h"
#include "analyzer/traces/project.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::traces {

using knowledge::OpClass;

std::optional<Issued> IssuedSearch::In(FuncId func) {
  const TraceId root = state_.trace_of[func.index];
  if (!root || (state_.traces[root].flags & kHasOp) == 0) return std::nullopt;
  const Below found = LookBelow(root);
  if (!found.first || found.starts_group) return std::nullopt;
  Issued issued;
  const knowledge::Entry& entry = state_.traces.entry(found.first);
  issued.name = knowledge::WordsOfCall(state_.program.text(entry.name), state_.program.text(entry.operation.kind), entry.operation.op_class);
  issued.is_implied = IssuingOf(state_.traces.entry(found.first).operation) != Issuing::Always;
  for (TraceId at = root; at != found.first;) {
    if (state_.traces[at].kind == TraceKind::Scope) {
      issued.path.push_back(state_.traces.site(state_.traces[at].site).span);
    }
    for (const TraceId kid : state_.traces.Kids(at)) {
      if (LookBelow(kid).first != found.first) continue;
      at = kid;
      break;
    }
  }
  issued.path.push_back(state_.traces.site(state_.traces[found.first].site).span);
  return issued;
}

const IssuedSearch::Below& IssuedSearch::LookBelow(TraceId id) {
  if (below_[id.index].known) return below_[id.index];
  Below result{.first = {}, .starts_group = false, .known = true};
  const Trace& trace = state_.traces[id];
  if (trace.kind == TraceKind::Op) {
    result.starts_group = state_.traces.entry(id).operation.op_class == OpClass::Init;
    if (IsPlain(id)) result.first = id;
  } else if ((trace.flags & kHasOp) != 0) {
    for (const TraceId kid : state_.traces.Kids(id)) {
      const Below inner = LookBelow(kid);
      if (!result.first) result.first = inner.first;
      result.starts_group = result.starts_group || inner.starts_group;
    }
  }
  return below_[id.index] = result;
}

// What communicates whatever the strategy. A group of its own is how a function is made to run beside the others, and
// messages between two ranks find each other by peer and tag, whatever else is issued meanwhile.
bool IssuedSearch::IsPlain(TraceId op) const {
  const knowledge::Operation& operation = state_.traces.entry(op).operation;
  const bool communicates = operation.op_class == OpClass::Collective || operation.op_class == OpClass::Implicit;
  if (!communicates || !operation.strategies.empty() || operation.only_if_param) return false;
  return variation::IsOfAllRanks(state_.values, state_.traces.operation(op).group);
}

}  // namespace allranks::traces
