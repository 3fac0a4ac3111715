#include "analyzer/traces/messages.h"

#include <algorithm>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::traces {
namespace {

using variation::ValueKind;

// A message as it was put into a list: `P2POp(dist.isend, tensor, peer)`.
std::optional<TraceId> MessageOf(State& state, SiteId site, ValueId item, Batched batched) {
  if (!item || state.values[item].kind != ValueKind::Object) return std::nullopt;
  const std::vector<ValueId> made(state.values.Kids(item).begin(), state.values.Kids(item).end());
  if (made.size() < 2 || !made[0] || state.values[made[0]].kind != ValueKind::External) return std::nullopt;
  const knowledge::EntryId called = state.knowledge.FindEntry(state.values[made[0]].name());
  if (!called || !state.knowledge[called].operation.peer_param) return std::nullopt;
  return KnownOperation(state, site, called, {}, std::span(made).subspan(1), batched);
}

}  // namespace

std::optional<TraceId> MessagesOf(State& state, SiteId site, ValueId list, int depth) {
  constexpr int kDeepest = 12;
  if (!list || depth > kDeepest) return std::nullopt;
  const std::vector<ValueId> kids(state.values.Kids(list).begin(), state.values.Kids(list).end());
  switch (state.values[list].kind) {
    case ValueKind::Tuple: {
      TraceId all = state.traces.Empty();
      for (size_t i = 0; i < kids.size(); ++i) {
        const std::optional<TraceId> message = MessageOf(state, site, kids[i], i == 0 ? Batched::First : Batched::Later);
        if (!message) return std::nullopt;
        all = state.traces.Seq(all, *message);
      }
      return all;
    }
    case ValueKind::Select: {
      const std::optional<TraceId> then_messages = MessagesOf(state, site, kids[1], depth + 1);
      const std::optional<TraceId> else_messages = MessagesOf(state, site, kids[2], depth + 1);
      if (!then_messages || !else_messages) return std::nullopt;
      return state.traces.Choice(site, kids[0], *then_messages, *else_messages);
    }
    case ValueKind::Derived: {
      // One more than before: `ops.append(...)`. In a loop it is one more in each round.
      constexpr size_t kAddedOnce = 3;
      const base::NameId operation = state.values.OperationOf(state.values[list]);
      if (kids.size() != kAddedOnce || !operation || state.program.text(operation) != variation::kGrown) return std::nullopt;
      const std::optional<TraceId> before = MessagesOf(state, site, kids[0], depth + 1);
      const bool is_first = before && *before == state.traces.Empty();
      const std::optional<TraceId> added = before ? MessageOf(state, site, kids[1], is_first ? Batched::First : Batched::Later) : std::nullopt;
      return added ? std::optional(state.traces.Seq(*before, *added)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

namespace {

// The call that a handle was prepared for; none of any other value.
knowledge::EntryId PreparedCall(const State& state, ValueId handle) {
  if (!handle || state.values[handle].kind != ValueKind::Object) return {};
  const knowledge::EntryId entry = state.knowledge.FindEntry(state.values[handle].name());
  return entry && state.knowledge[entry].has_operation ? entry : knowledge::EntryId::None();
}

}  // namespace

std::optional<TraceId> StartedBy(State& state, SiteId site, ValueId handle, int depth) {
  constexpr int kDeepest = 8;
  if (!handle || depth > kDeepest) return std::nullopt;
  std::vector<ValueId> kids(state.values.Kids(handle).begin(), state.values.Kids(handle).end());
  if (const knowledge::EntryId entry = PreparedCall(state, handle)) {
    const std::vector<base::NameId>& params = state.knowledge[entry].params;
    const auto request = static_cast<size_t>(std::ranges::find(params, state.knowledge[entry].operation.handle_param) - params.begin());
    if (request < params.size()) {
      kids.resize(params.size());
      kids[request] = handle;
    }
    return KnownOperation(state, site, entry, {}, kids);
  }
  const auto started = [&](ValueId kid) { return StartedBy(state, site, kid, depth + 1); };
  if (state.values[handle].kind == ValueKind::Select) {
    const std::optional<TraceId> then_trace = started(kids[1]);
    const std::optional<TraceId> else_trace = started(kids[2]);
    return then_trace && else_trace ? std::optional(state.traces.Choice(site, kids[0], *then_trace, *else_trace)) : std::nullopt;
  }
  if (state.values[handle].kind != ValueKind::Tuple) return std::nullopt;
  TraceId all = state.traces.Empty();
  for (const ValueId kid : kids) {
    const std::optional<TraceId> one = started(kid);
    if (!one) return std::nullopt;
    all = state.traces.Seq(all, *one);
  }
  return all;
}

void NoteStarted(State& state, SiteId site, ValueId handle) {
  ValueId first = handle;
  while (first && state.values[first].kind == ValueKind::Tuple && !state.values.Kids(first).empty()) first = state.values.Kids(first)[0];
  if (const knowledge::EntryId entry = PreparedCall(state, first)) return state.sites.push_back({.site = site, .entry = entry, .unresolved = {}});
  state.sites.push_back({.site = site, .entry = {}, .unresolved = "start"});
}

}  // namespace allranks::traces
