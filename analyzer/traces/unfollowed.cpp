#include "analyzer/traces/unfollowed.h"

#include <algorithm>

#include <fmt/format.h>

namespace allranks::traces {

using variation::ValueKind;

bool IsOfUnseenCode(const State& state, ValueId callee) {
  const auto kids = callee ? state.values.Kids(callee) : std::span<const ValueId>();
  if (kids.size() != 1 || state.values[callee].kind != ValueKind::Derived) return false;
  const base::NameId operation = state.values.OperationOf(state.values[kids[0]]);
  const knowledge::EntryId entry = operation ? state.knowledge.FindEntry(operation) : knowledge::EntryId::None();
  return entry && state.knowledge[entry].Has(knowledge::Role::LoadsUnseen);
}

bool IsOfLibrary(const State& state, ValueId callee) {
  if (!callee || state.values[callee].kind != ValueKind::Derived || state.values[callee].kid_count == 0) return false;
  const base::NameId operation = state.values.DerivedBy(callee);
  const ValueId object = state.values.Kids(callee)[0];
  const bool is_member = operation && state.program.text(operation) == "builtins.getattr" && object;
  if (!is_member || state.values[object].kind != ValueKind::External) return false;
  const std::string prefix = fmt::format("{}.", state.program.text(state.values[object].name()));
  return std::ranges::any_of(state.knowledge.entries(), [&](const knowledge::Entry& entry) {
    return entry.has_operation && state.program.text(entry.name).starts_with(prefix);
  });
}

void NoteChosen(State& state, SiteId site, ValueId callee) {
  const variation::Value& value = state.values[callee];
  if (value.kind == ValueKind::Select) {
    const variation::Arms arms = state.values.ArmsOf(callee);
    NoteChosen(state, site, arms.then_value);
    return NoteChosen(state, site, arms.else_value);
  }
  const bool is_named = value.kind == ValueKind::External;
  if (!is_named && value.kind != ValueKind::BoundExternal) return;
  const knowledge::EntryId entry = is_named ? state.knowledge.FindEntry(value.name()) : value.entry();
  if (!entry || !state.knowledge[entry].has_operation || knowledge::IssuesNothing(state.knowledge[entry].operation.op_class)) return;
  state.sites.push_back({.site = site, .entry = entry, .unresolved = {}});
}

}  // namespace allranks::traces
