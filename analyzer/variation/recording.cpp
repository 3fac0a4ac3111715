#include "analyzer/variation/recording.h"

#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

// How far back a read is looked for that was the same.
constexpr size_t kLookedAt = 8;

bool IsRead(EventKind kind) { return kind < EventKind::Record; }

bool IsSameRead(const Event& a, const Event& b) { return a.kind == b.kind && a.table == b.table && a.owner == b.owner && a.key == b.key; }

}  // namespace

void Log::Note(const Event& event) {
  // The same is mostly asked again at once; in between nothing happened that could change the answer.
  const size_t first = events.size() > kLookedAt ? events.size() - kLookedAt : 0;
  for (size_t i = events.size(); i-- > first && IsRead(event.kind) && IsRead(events[i].kind);) {
    if (events[i] == event) return;
    if (events[i].kind == EventKind::Evaluated) break;
  }
  events.push_back(event);
}

bool Log::NoteRecord(const Event& event) {
  const bool is_repeated = events.size() < repeated.size() && repeated[events.size()] == event;
  events.push_back(event);
  return is_repeated;
}

std::optional<ValueId> Log::Repeated(const Event& read) const {
  const size_t size = events.size();
  if (size >= repeated.size() + kLookedAt) return std::nullopt;
  // As in Note.
  const size_t first = size > kLookedAt ? size - kLookedAt : 0;
  for (size_t i = size; i-- > first && IsRead(events[i].kind) && events[i].kind != EventKind::Evaluated;) {
    if (i < repeated.size() && IsSameRead(events[i], read)) return events[i].value;
  }
  if (size < repeated.size() && IsSameRead(repeated[size], read)) return repeated[size].value;
  return std::nullopt;
}

void Recording::Begin(Facts& facts) {
  was_evaluated_.assign(was_evaluated_.size(), false);
  std::ranges::fill(numbers_, 0);
  for (FunctionFacts& function : facts.functions) {
    function.returns = {};
    function.yields = {};
    function.stored.clear();
    function.made.clear();
    function.param_made_uniform.clear();
    function.evaluated = false;
  }
}

void Recording::Evaluate(Tables& tables, FuncId function) {
  if (logs_.size() < tables.round) logs_.emplace_back(was_evaluated_.size());
  LogRef& log = logs_[tables.round - 1][function.index];
  // What its other facts are of: the same round before the edit or, once it was evaluated since then, the round before.
  LogRef before = log;
  if (was_evaluated_[function.index]) before = tables.round > 1 ? logs_[tables.round - 2][function.index] : nullptr;
  Log* outer = std::exchange(tables.log, nullptr);
  const size_t repeated = before ? Repeat(tables, *before) : 0;
  if (before && repeated == before->events.size()) {
    FunctionFacts& facts = tables.facts.functions[function];
    facts.returns = before->outcome.returns;
    facts.yields = before->outcome.yields;
    facts.stored = before->outcome.stored;
    facts.made = before->outcome.made;
    facts.param_made_uniform = before->outcome.param_made_uniform;
    tables.effects[function.index] = before->outcome.effects;
    tables.calls_to_file[function.index] = before->outcome.calls_to_file;
    for (const auto& [closed, open] : before->closed) tables.store.NoteClosed(closed, open);
    facts.evaluated = true;
    log = before;
  } else {
    was_evaluated_[function.index] = true;
    const LogRef same_round = std::exchange(log, nullptr);
    try {
      log = EvaluateAnew(tables, function, same_round ? same_round : before, before ? std::span(before->events).first(repeated) : std::span<const Event>());
    } catch (const base::Cut&) {
      tables.log = outer;
      numbers_[function.index] = 0;
      throw;
    }
  }
  if (!is_kept_ && tables.round > 1) logs_[tables.round - 2][function.index] = nullptr;
  numbers_[function.index] = log->number;
  tables.log = outer;
}

// `before`: an earlier evaluation, with which it may turn out the same.
Recording::LogRef Recording::EvaluateAnew(Tables& tables, FuncId function, const LogRef& before, std::span<const Event> repeated) {
  const auto log = std::make_shared<Log>();
  log->repeated = repeated;
  tables.log = log.get();
  FunctionEvaluator(tables, function).Run();
  log->repeated = {};
  log->events.shrink_to_fit();
  std::ranges::sort(log->closed);
  log->closed.erase(std::ranges::unique(log->closed).begin(), log->closed.end());
  log->closed.shrink_to_fit();
  const FunctionFacts& facts = tables.facts.functions[function];
  log->outcome = {facts.returns, facts.yields, facts.stored, facts.made, facts.param_made_uniform, tables.calls_to_file[function.index], tables.effects[function.index]};
  log->number = before && before->outcome == log->outcome ? before->number : ++last_number_;
  return log;
}

// How many events were the same.
size_t Recording::Repeat(Tables& tables, const Log& log) const {
  const auto other = std::ranges::find_if(log.events, [&](const Event& event) { return !RepeatOne(tables, event); });
  return static_cast<size_t>(other - log.events.begin());
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
      return NumberOf(function) == event.key;
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
