#include "analyzer/variation/recording.h"

#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

bool IsRead(EventKind kind) { return kind < EventKind::Record; }

}  // namespace

void Log::Note(const Event& event) {
  // The same is mostly asked again at once; in between nothing happened that could change the answer.
  constexpr size_t kLookedAt = 8;
  const size_t first = events.size() > kLookedAt ? events.size() - kLookedAt : 0;
  for (size_t i = events.size(); i-- > first && IsRead(event.kind) && IsRead(events[i].kind);) {
    if (events[i] == event) return;
    if (events[i].kind == EventKind::Evaluated) break;
  }
  events.push_back(event);
}

bool Log::NoteRecord(const Event& event) {
  events.push_back(event);
  if (repeated_records == 0) return false;
  --repeated_records;
  return true;
}

void Recording::Begin(Facts& facts) {
  was_evaluated_.assign(was_evaluated_.size(), false);
  std::ranges::fill(outcomes_, 0);
  for (FunctionFacts& function : facts.functions) {
    function.returns = {};
    function.yields = {};
    function.stored.clear();
    function.made.clear();
    function.param_made_uniform.clear();
    function.evaluated = false;
  }
}

uint32_t Recording::NumberOf(const FunctionFacts& facts, const Effects& effects) {
  std::vector<uint32_t> parts = {facts.returns.index, facts.yields.index, static_cast<uint32_t>(facts.stored.size())};
  for (const ValueId value : facts.stored) parts.push_back(value.index);
  parts.push_back(static_cast<uint32_t>(facts.made.size()));
  for (const auto& [field, value] : facts.made) parts.insert(parts.end(), {field.index, value.index});
  for (const bool made_uniform : facts.param_made_uniform) parts.push_back(made_uniform ? 1 : 0);
  for (const Effect& effect : effects) {
    parts.insert(parts.end(), {effect.object.index, effect.attr.index, effect.value.index, effect.when.index});
  }
  return numbers_.try_emplace(std::move(parts), static_cast<uint32_t>(numbers_.size()) + 1).first->second;
}

void Recording::Evaluate(Tables& tables, FuncId function) {
  if (logs_.size() < tables.round) logs_.emplace_back(was_evaluated_.size());
  Log& log = logs_[tables.round - 1][function.index];
  Log* outer = std::exchange(tables.log, nullptr);
  FunctionFacts& facts = tables.facts.functions[function];
  // One that was evaluated in an earlier round has facts of that round.
  if (!was_evaluated_[function.index] && log.is_whole && Repeat(tables, log)) {
    facts.returns = log.returns;
    facts.yields = log.yields;
    facts.stored = log.stored;
    facts.made = log.made;
    facts.param_made_uniform = log.param_made_uniform;
    tables.effects[function.index] = log.effects;
    for (const auto& [closed, open] : log.closed) tables.store.NoteClosed(closed, open);
    facts.evaluated = true;
  } else {
    was_evaluated_[function.index] = true;
    tables.log = &log;
    log.events.clear();
    log.closed.clear();
    log.is_whole = false;
    try {
      FunctionEvaluator(tables, function).Run();
    } catch (const base::Cut&) {
      tables.log = outer;
      throw;
    }
    log.repeated_records = 0;
    log.outcome = NumberOf(facts, tables.effects[function.index]);
    log.returns = facts.returns;
    log.yields = facts.yields;
    log.stored = facts.stored;
    log.made = facts.made;
    log.param_made_uniform = facts.param_made_uniform;
    log.effects = tables.effects[function.index];
    std::ranges::sort(log.closed);
    log.closed.erase(std::ranges::unique(log.closed).begin(), log.closed.end());
    log.closed.shrink_to_fit();
    log.is_whole = true;
    log.events.shrink_to_fit();
  }
  outcomes_[function.index] = log.outcome;
  tables.log = outer;
}

bool Recording::Repeat(Tables& tables, Log& log) const {
  log.repeated_records = 0;
  for (const Event& event : log.events) {
    if (!RepeatOne(tables, event)) return false;
    if (event.kind == EventKind::Record) ++log.repeated_records;
  }
  log.repeated_records = 0;
  return true;
}

// False if what was read is another.
bool Recording::RepeatOne(Tables& tables, const Event& event) const {
  const FuncId function{event.owner};
  switch (event.kind) {
    case EventKind::Read:
      return tables.Read(event.table, event.owner, event.key) == event.value;
    case EventKind::IsJoined:
      return tables.store.Bool(tables.IsJoined(event.table, event.owner, event.key)) == event.value;
    case EventKind::Assumed:
      return tables.AssumedParam(function, event.key) == event.value;
    case EventKind::Declared:
      return tables.DeclaredParam(function, event.key) == event.value;
    case EventKind::Default:
      return tables.DefaultOf(function, event.key) == event.value;
    case EventKind::Decorated:
      return tables.Decorated(function) == event.value;
    case EventKind::Evaluated:
      EvaluateFunction(tables, function);
      return Outcome(function) == event.key;
    case EventKind::Record:
      tables.Record(event.table, event.owner, event.key, event.value);
      return true;
    case EventKind::SetDeclared:
      tables.SetDeclared(function, event.key, event.value);
      return true;
    case EventKind::SetDefault:
      tables.SetDefault(function, event.key, event.value);
      return true;
    case EventKind::SetDecorated:
      tables.SetDecorated(function, DecoratorsId{event.key}, event.value);
      return true;
  }
  return false;
}

}  // namespace allranks::variation
