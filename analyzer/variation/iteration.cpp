// Iterations that run code (iterations.h tells of all others): generators, whose body runs round after round, and objects with an
// iteration of their own. What they call is recorded with the loop, not as calls of the statement that it stands in.
//
// Unsound: a generator that is left half way is taken to have run to its end.
#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/made_with.h"

namespace allranks::variation {
namespace {

// What these make of items is the same in whatever order the items come.
constexpr std::string_view kOrderless[] = {"builtins.any", "builtins.all",    "builtins.sum", "builtins.min",       "builtins.max",
                                           "builtins.len", "builtins.sorted", "builtins.set", "builtins.frozenset", "collections.Counter"};

bool HoldsRagged(const Tables& tables, ValueId made) {
  const Value& value = tables.store[made];
  if (value.mark && value.mark == tables.RaggedMark()) return true;
  const bool holds = value.kind == ValueKind::Tuple || value.kind == ValueKind::Dict;
  return holds && std::ranges::any_of(tables.store.Kids(made), [&](ValueId kid) { return kid && HoldsRagged(tables, kid); });
}

// A batch of which the parts have the shapes of what was put together: as many columns as its longest sample.
ValueId WithShapesOf(Tables& tables, ValueId batch, ValueId made) {
  ValueStore& store = tables.store;
  if (!HoldsRagged(tables, made)) return batch;
  const Value of = store[made];
  if (of.kind != ValueKind::Tuple && of.kind != ValueKind::Dict) return store.WithMark(batch, tables.RaggedMark());
  const bool is_dict = of.kind == ValueKind::Dict;
  std::vector<ValueId> kids(store.Kids(made).begin(), store.Kids(made).end());
  for (size_t i = is_dict ? 1 : 0; i < kids.size(); i += is_dict ? 2 : 1) {
    const ValueId parts[] = {batch, is_dict ? kids[i - 1] : store.Int(static_cast<int64_t>(i))};
    kids[i] = WithShapesOf(tables, store.Derived(tables.NameSymbol("[]"), parts), kids[i]);
  }
  return store.Make(is_dict ? Value::Dict() : Value::Tuple(), kids);
}

}  // namespace

std::optional<Iteration> FunctionEvaluator::IterateByRunning(ir::ExprId site, ValueId iterable) {
  const Value& value = store_[iterable];
  if (value.is_generator()) return IterateGenerator(site, iterable);
  if (const knowledge::EntryId entry = members_.Known(iterable, Intern("__iter__"))) return IterateObject(site, iterable, entry);
  if (value.kind != ValueKind::Instance) return std::nullopt;
  const FuncId method = members_.Method(iterable, Intern("__iter__"));
  if (!method) return IterateByNext(site, iterable);
  const ValueId bound = definitions_.Method(method, iterable, false);
  const size_t recorded = facts_.calls.size();
  const ValueId iterator = CallFunction(site, bound, method, iterable, {}, CallKind::Function);
  if (tables_.program.function(method).is_generator) return IterateGenerator(site, iterator);
  // That call stands nowhere in the text.
  facts_.calls.resize(recorded);
  const ValueId known = iterator ? LookThrough(tables_, iterator) : ValueId();
  const binding::ClassId own = store_[iterable].class_id();
  const bool is_itself = known && store_[known].kind == ValueKind::Instance && store_[known].class_id() == own;
  // `iter(self.inner)`, where `inner` may be another of its class, and so on without end.
  if (!known || is_itself || std::ranges::count(iterated_, own) > 0) return IterateByNext(site, iterable);
  iterated_.push_back(own);
  const Iteration iteration = iterations_.Over(site, known);
  iterated_.pop_back();
  return iteration;
}

// An object whose `__next__` gives the items. It is called in each round.
std::optional<Iteration> FunctionEvaluator::IterateByNext(ir::ExprId site, ValueId iterable) {
  const FuncId next = members_.Method(iterable, Intern("__next__"));
  if (!next) return std::nullopt;
  const ValueId bound = definitions_.Method(next, iterable, false);
  const size_t recorded = facts_.calls.size();
  const ValueId element = CallFunction(site, bound, next, iterable, {}, CallKind::Function);
  MoveCalls(recorded, facts_.iterations);
  const ValueId count = Evaluated(next).yields;
  const std::vector<ValueId> given = BindFunction(next, iterable, {});
  CallSubstitution substitution(tables_, bound, next, given);
  return Iteration{element, count ? substitution(count) : store_.Symbol(Site(site, SiteUse::Value, 1), {})};
}

// `next(feed)`: what `__next__` of an object runs is called there.
ValueId FunctionEvaluator::NextOf(ir::ExprId site, ir::ExprId iterator, ValueId value) {
  const size_t recorded = facts_.iterations.size();
  const Iteration iteration = iterations_.Over(iterator, value);
  ends_axes_ = ends_axes_ | Without(store_.axes(iteration.trip_count), knowledge::kSoftAxes);
  if (std::ranges::count(asked_for_next_, iteration.trip_count) == 0) asked_for_next_.push_back(iteration.trip_count);
  const auto is_next = [&](const CallFact& fact) { return fact.function && Text(tables_.program.function(fact.function).name) == "__next__"; };
  if (facts_.iterations.size() == recorded || !is_next(facts_.iterations.back().second)) return iteration.element;
  facts_.calls.emplace_back(site, facts_.iterations.back().second);
  facts_.iterations.resize(recorded);
  return iteration.element;
}

// What decides how many items `__next__` gives before it raises StopIteration.
ValueId FunctionEvaluator::ItemsUntilStop() {
  if (Text(function_.name) != "__next__") return {};
  std::vector<ValueId> decided_by;
  for (const RaisedHere& raised : raised_here_) {
    const bool is_stop = raised.error && Text(raised.error) == "StopIteration";
    if (is_stop && raised.condition) decided_by.push_back(LengthCountedTo(raised.condition));
  }
  decided_by.insert(decided_by.end(), asked_for_next_.begin(), asked_for_next_.end());
  if (decided_by.empty()) return {};
  const bool is_count = decided_by.size() == 1 && !store_.IsTruth(decided_by[0]);
  return is_count ? decided_by[0] : containers_.Count(decided_by);
}

// `self.at >= len(self.items)`: there are as many as that, where it is the length that ranks differ in; the condition itself where it is not.
ValueId FunctionEvaluator::LengthCountedTo(ValueId condition) const {
  if (!store_[condition].is_compare(ir::CompareOp::GreaterEq) && !store_[condition].is_compare(ir::CompareOp::Eq)) return condition;
  const ValueId length = store_.OperandsOf(condition).right;
  const bool is_length = store_[length].kind == ValueKind::Derived && store_.IsLength(store_[length].symbol());
  return is_length && !Without(store_.axes(length), knowledge::kSoftAxes).empty() ? length : condition;
}

ValueId FunctionEvaluator::EvalArgument(ValueId callee, ir::ExprId argument) {
  const Value& called = store_[callee];
  const bool is_orderless = called.kind == ValueKind::External && std::ranges::count(kOrderless, Text(called.name())) > 0;
  const bool outer = iterations_.IgnoreOrder(is_orderless);
  const ValueId value = Eval(argument);
  iterations_.IgnoreOrder(outer);
  return value;
}

// How often the loop around comes to the place at hand: in each of its rounds, or in those that pass the tests on the way, of which there
// are as many as items in a list that is made with them. None of loops in one another, and of a loop that is left.
ValueId FunctionEvaluator::RoundsOfOneLoop(ir::ExprId site, ValueId item) {
  if (trips_.size() != 1 || loops_.size() != 1 || loops_.back()->kind != ir::StmtKind::For || going_through_.empty()) return {};
  const ValueId passed = path_.WithinLoop();
  bool is_cut = false;
  ir::ForEachStmtIn(module_, ir::BodyOf(*loops_.back()), [&](const ir::Stmt& stmt) {
    const bool is_unseen = stmt.kind == ir::StmtKind::Continue && passed == store_.True();
    is_cut = is_cut || is_unseen || stmt.kind == ir::StmtKind::Break || stmt.kind == ir::StmtKind::Return;
  });
  if (is_cut || passed == store_.True()) return is_cut ? ValueId() : trips_.back();
  const ValueId count[] = {trips_.back(), passed};
  const ValueId list = Comprehended(item, going_through_.back(), passed, count);
  return iterations_.Over(site, list).trip_count;
}

// In a part of a statement a `yield` may be come to more than once or not at all.
void FunctionEvaluator::NoteYield(ir::ExprId site, ValueId value, bool is_one) {
  const bool is_in_loop = !trips_.empty();
  if (path_.WithinStatement()) return yields_.Note({.site = site, .item = value, .how_often = is_one && !is_in_loop ? HowOften() : ValueId()});
  const ValueId rounds = is_in_loop ? RoundsOfOneLoop(site, value) : store_.Int(1);
  // `yield from items` at the place of one.
  if (!is_one && (is_in_loop || !value)) return yields_.Note({.site = site, .item = value});
  const Iteration inner = is_one ? Iteration{value, rounds} : iterations_.Over(site, value);
  if (!rounds) return yields_.Note({.site = site, .item = inner.element});
  const ValueId count = is_one ? rounds : inner.trip_count;
  const bool differs = !store_.axes(count).empty() || store_.has_param(count);
  yields_.Note({.site = site, .item = inner.element, .condition = is_in_loop ? path_.BeforeLoop() : path_.Condition(), .count = count, .how_often = is_in_loop || (!is_one && differs) ? count : HowOften()});
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

// `DataLoader(data, collate_fn=pad)`: what puts the samples of a batch together runs in other processes, and leaves nothing behind here.
ValueId FunctionEvaluator::Collated(ir::ExprId site, ValueId collate, ValueId batch) {
  const ValueKind kind = store_[LookThrough(tables_, collate)].kind;
  if (kind != ValueKind::Function && kind != ValueKind::Instance && kind != ValueKind::Partial) return batch;
  const size_t recorded = facts_.calls.size();
  const Env before = env_;
  const CallArgument samples{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = batch};
  const ValueId made = Call(site, collate, {&samples, 1});
  env_ = before;
  facts_.calls.resize(recorded);
  return made ? WithShapesOf(tables_, batch, made) : batch;
}

Iteration FunctionEvaluator::IterateObject(ir::ExprId site, ValueId iterable, knowledge::EntryId entry) {
  const size_t recorded = facts_.calls.size();
  ValueId element = CallKnown(site, entry, iterable, {});
  MoveCalls(recorded, facts_.iterations);
  const ValueId collate = element ? MadeWith(tables_, iterable, Intern("collate_fn")) : ValueId();
  if (collate && store_.axes(element).has(Axis::Data)) element = Collated(site, collate, element);
  ValueId trips = store_.Symbol(Site(site), {});
  if (const knowledge::EntryId length = members_.Known(iterable, Intern("__len__"))) {
    const knowledge::Entry& length_entry = knowledge_[length];
    trips = results_.Of(CallOf(site, length_entry, {}, iterable, {}), length_entry.yield);
  }
  return {element, trips};
}

}  // namespace allranks::variation
