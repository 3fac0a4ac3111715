// Iterations that run code (iterations.h tells of all others): generators, whose body runs round after round, and objects with an
// iteration of their own. What they call is recorded with the loop, not as calls of the statement that it stands in.
//
// Unsound: a generator that is left half way is taken to have run to its end.
#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

// What these make of items is the same in whatever order the items come.
constexpr std::string_view kOrderless[] = {"builtins.any", "builtins.all",    "builtins.sum", "builtins.min",       "builtins.max",
                                           "builtins.len", "builtins.sorted", "builtins.set", "builtins.frozenset", "collections.Counter"};

}  // namespace

std::optional<Iteration> FunctionEvaluator::IterateByRunning(ir::ExprId site, ValueId iterable) {
  const Value& value = store_[iterable];
  if (value.is_generator()) return IterateGenerator(site, iterable);
  if (const knowledge::EntryId entry = members_.Known(iterable, Intern("__iter__"))) return IterateObject(site, iterable, entry);
  const FuncId method = value.kind == ValueKind::Instance ? members_.Method(iterable, Intern("__iter__")) : FuncId::None();
  if (!method || !tables_.program.function(method).is_generator) return std::nullopt;
  const ValueId bound = definitions_.Method(method, iterable, false);
  return IterateGenerator(site, CallFunction(site, bound, method, iterable, {}, CallKind::Function));
}

ValueId FunctionEvaluator::EvalArgument(ValueId callee, ir::ExprId argument) {
  const Value& called = store_[callee];
  const bool is_orderless = called.kind == ValueKind::External && std::ranges::count(kOrderless, Text(called.name())) > 0;
  const bool outer = iterations_.IgnoreOrder(is_orderless);
  const ValueId value = Eval(argument);
  iterations_.IgnoreOrder(outer);
  return value;
}

// How often the loop around comes to the place at hand, which is in each of its rounds; none where a round may leave it out, and of loops
// in one another.
ValueId FunctionEvaluator::RoundsOfOneLoop() {
  if (trips_.size() != 1 || loops_.size() != 1 || loops_.back()->kind != ir::StmtKind::For || path_.WithinLoop() != store_.True()) return {};
  bool is_cut = false;
  ir::ForEachStmtIn(module_, ir::BodyOf(*loops_.back()), [&](const ir::Stmt& stmt) {
    is_cut = is_cut || stmt.kind == ir::StmtKind::Break || stmt.kind == ir::StmtKind::Continue || stmt.kind == ir::StmtKind::Return;
  });
  return is_cut ? ValueId() : trips_.back();
}

// In a part of a statement a `yield` may be come to more than once or not at all.
void FunctionEvaluator::NoteYield(ir::ExprId site, ValueId value, bool is_one) {
  const bool is_in_loop = !trips_.empty();
  if (path_.WithinStatement()) return yields_.Note({.site = site, .item = value, .how_often = is_one && !is_in_loop ? HowOften() : ValueId()});
  const ValueId rounds = is_in_loop ? RoundsOfOneLoop() : store_.Int(1);
  // `yield from items` at the place of one.
  if (!is_one && (is_in_loop || !value)) return yields_.Note({.site = site, .item = value});
  const Iteration inner = is_one ? Iteration{value, rounds} : iterations_.Over(site, value);
  if (!rounds) return yields_.Note({.site = site, .item = inner.element});
  const ValueId count = is_one ? rounds : inner.trip_count;
  const bool differs = !store_.axes(count).empty() || store_.has_param(count);
  yields_.Note({.site = site, .item = inner.element, .condition = path_.Condition(), .count = count, .how_often = is_in_loop || (!is_one && differs) ? count : HowOften()});
}

Iteration FunctionEvaluator::IterateGenerator(ir::ExprId site, ValueId generator) {
  const FuncId function = store_[generator].function();
  const auto [callee, bound] = store_.GeneratorOf(generator);
  CallFact& fact = RecordCall(facts_.iterations, site, CallKind::Function, bound);
  fact.function = function;
  fact.callee = callee;
  if (store_[callee].kind == ValueKind::Function) fact.receiver = store_.ReceiverOf(callee);
  const ValueId yielded = Evaluated(function).returns;
  const ValueId count = Evaluated(function).yields;
  CallSubstitution substitution(tables_, callee, function, bound);
  const ValueId element = yielded ? substitution(yielded) : store_.Symbol(Site(site), {});
  return {element, count ? substitution(count) : store_.Symbol(Site(site), {})};
}

Iteration FunctionEvaluator::IterateObject(ir::ExprId site, ValueId iterable, knowledge::EntryId entry) {
  const size_t recorded = facts_.calls.size();
  const ValueId element = CallKnown(site, entry, iterable, {});
  MoveCalls(recorded, facts_.iterations);
  ValueId trips = store_.Symbol(Site(site), {});
  if (const knowledge::EntryId length = members_.Known(iterable, Intern("__len__"))) {
    const knowledge::Entry& length_entry = knowledge_[length];
    trips = results_.Of(CallOf(site, length_entry, {}, iterable, {}), length_entry.yield);
  }
  return {element, trips};
}

}  // namespace allranks::variation
