// Statements and expressions in the order in which they run. Recursion is safe: the IR is at most ir::kMaxDepth deep.
#include "analyzer/traces/build.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/ir/bindings.h"
#include "analyzer/traces/call_graph.h"
#include "analyzer/traces/conditions.h"
#include "analyzer/traces/contexts.h"
#include "analyzer/traces/fallible.h"
#include "analyzer/traces/messages.h"
#include "analyzer/traces/nodes.h"
#include "analyzer/traces/recursion.h"
#include "analyzer/traces/unfollowed.h"
#include "analyzer/variation/match_pattern.h"
#include "analyzer/variation/rounds.h"

namespace allranks::traces {
namespace {

base::NameId CalledName(const ir::Module& module, ir::ExprId site) {
  if (!site || module[site].kind != ir::ExprKind::Call) return base::NameId::None();
  const ir::Expr& callee = module[ir::CalleeOf(module[site])];
  if (callee.kind == ir::ExprKind::Attribute) return ir::AttrOf(callee);
  return callee.kind == ir::ExprKind::Name ? ir::NameOf(callee) : base::NameId::None();
}

using variation::CallFact;
using variation::CallKind;
using variation::ValueKind;

class Builder {
 public:
  Builder(State& state, FuncId func)
      : state_(state), traces_(state.traces), func_(func), module_id_(state.program.funcs[func].module),
        module_(state.program.module_of(func)), function_(state.program.function(func)) {}

  TraceId Build() {
    TraceId body = Block(function_.body);
    if (const ValueId kept = state_.made_once.KeptCall(func_)) body = MakeOnce(traces_.AddSite({func_, {}, DecoratorSpan()}), kept, body);
    // `@rank_zero_only`: other ranks return at once.
    const std::vector<knowledge::EntryId>& decorators = state_.facts.functions[func_].decorators;
    for (auto it = decorators.rbegin(); it != decorators.rend(); ++it) {
      const knowledge::Entry& entry = state_.knowledge[*it];
      const SiteId site = traces_.AddSite({func_, {}, DecoratorSpan()});
      body = traces_.Choice(site, ValueOfFormula(state_, entry.guard), OwnScope(site, body), traces_.Empty());
    }
    const knowledge::EntryId hook = Overridden();
    if (!hook || !state_.knowledge[hook].guard || state_.is_called[func_.index]) return body;
    // `compute_metrics` of MMEngine: the library calls it, and on these ranks alone.
    const SiteId site = traces_.AddSite({func_, {}, {module_.file, function_.name_begin, function_.name_end}});
    return traces_.Choice(site, ValueOfFormula(state_, state_.knowledge[hook].guard), OwnScope(site, body), traces_.Empty());
  }

 private:
  // The entry of the method of a library that this one overrides.
  knowledge::EntryId Overridden() const {
    const binding::ClassId owner = state_.program.funcs[func_].owner;
    if (!owner) return {};
    for (const base::NameId base : state_.program.classes[owner].external_bases) {
      const knowledge::ClassId known = state_.knowledge.FindClass(base);
      if (const knowledge::EntryId entry = known ? state_.knowledge.FindMember(known, function_.name) : knowledge::EntryId::None()) return entry;
    }
    return {};
  }

  // What it runs itself, as if it called itself for that.
  TraceId OwnScope(SiteId site, TraceId body) {
    NoteUse(state_, func_);
    return traces_.Scope(site, func_, body);
  }

  // What runs once only: where it ran before there is nothing to issue.
  TraceId MakeOnce(SiteId site, ValueId made, TraceId body) {
    const TraceId parts[] = {OwnScope(site, body), traces_.Keep(site, made, Filling::Made)};
    return traces_.Choice(site, made, traces_.Empty(), traces_.Seq(parts));
  }

  // `_group = dist.new_group()`: the place is filled from here on.
  TraceId Fill(ir::StmtId stmt, ir::ExprId target, ir::ExprId value) {
    if (!value) return traces_.Empty();
    const Filling filling = state_.made_once.HowFilled(func_, target, value);
    std::vector<TraceId> parts;
    for (const ValueId made : state_.made_once.FilledBy(func_, target)) {
      // That an item is emptied says nothing of the table.
      if (parts.empty() || filling == Filling::Made) parts.push_back(traces_.Keep(At(stmt), made, filling));
    }
    return traces_.Seq(parts);
  }

  source::Span DecoratorSpan() const {
    if (!function_.decorators.empty()) return module_.span(function_.decorators[0]);
    return {module_.file, function_.name_begin, function_.name_end};
  }

  SiteId At(ir::ExprId expr) { return traces_.AddSite({func_, expr, module_.span(expr)}); }
  SiteId At(ir::StmtId stmt) { return traces_.AddSite({func_, {}, module_.span(stmt)}); }
  ValueId Value(ir::ExprId expr) const { return state_.facts.value(module_id_, expr); }

  TraceId Block(ir::BlockId block) {
    std::vector<TraceId> parts;
    for (const ir::StmtId stmt : module_.statements(block)) parts.push_back(Stmt(stmt));
    return traces_.Seq(parts);
  }

  TraceId Exprs(ir::ExprList exprs) {
    std::vector<TraceId> parts;
    for (const ir::ExprId expr : exprs) parts.push_back(Expr(expr));
    return traces_.Seq(parts);
  }

  TraceId Stmt(ir::StmtId id) {
    const ir::Stmt& stmt = module_[id];
    state_.Step();
    switch (stmt.kind) {
      case ir::StmtKind::Expr: {
        const ir::ExprId tensor = state_.made_once.WrittenInto(module_, ir::ValueOf(stmt));
        const std::vector<ir::ExprId> stored = state_.made_once.StoredBy(func_, ir::ValueOf(stmt));
        if (stored.empty()) return tensor ? traces_.Seq(Expr(ir::ValueOf(stmt)), Fill(id, tensor, ir::ValueOf(stmt))) : Expr(ir::ValueOf(stmt));
        std::vector<TraceId> parts = {Expr(ir::ValueOf(stmt))};
        for (const ir::ExprId target : stored) parts.push_back(Fill(id, target, ir::ValueOf(stmt)));
        return traces_.Seq(parts);
      }
      case ir::StmtKind::Assign: {
        std::vector<TraceId> parts = {Expr(ir::AssignedOf(stmt)), Exprs(ir::TargetsOf(module_, stmt))};
        for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) parts.push_back(Fill(id, target, ir::AssignedOf(stmt)));
        return traces_.Seq(parts);
      }
      case ir::StmtKind::AnnAssign: {
        const TraceId parts[] = {Expr(ir::ValueOf(stmt)), Expr(ir::AssignedOf(stmt)), Fill(id, ir::ValueOf(stmt), ir::AssignedOf(stmt))};
        return traces_.Seq(parts);
      }
      case ir::StmtKind::AugAssign:
        return traces_.Seq(Expr(ir::ValueOf(stmt)), Expr(ir::AssignedOf(stmt)));
      case ir::StmtKind::Assert:
        return traces_.Seq(Expr(ir::ValueOf(stmt)), Assertion(id, ir::ValueOf(stmt)));
      case ir::StmtKind::If:
        return If(stmt);
      case ir::StmtKind::For:
      case ir::StmtKind::While:
        return Loop(stmt);
      case ir::StmtKind::Try:
        return Try(id, stmt);
      case ir::StmtKind::With:
        return With(stmt, ir::WithItemsOf(module_, stmt));
      case ir::StmtKind::Match:
        return Match(stmt);
      case ir::StmtKind::Return:
        return traces_.Seq(Expr(ir::ValueOf(stmt)), traces_.Exit(At(id), ReturnKind(stmt), IsJump(stmt)));
      case ir::StmtKind::Break:
        return traces_.Exit(At(id), ExitKind::Break, IsJump(stmt));
      case ir::StmtKind::Continue:
        return traces_.Exit(At(id), ExitKind::Continue, IsJump(stmt));
      case ir::StmtKind::Raise:
        return traces_.Seq(Expr(ir::ValueOf(stmt)), Raise(id, stmt));
      case ir::StmtKind::FunctionDef:
        return Definition(module_.functions[ir::FunctionOf(stmt)]);
      case ir::StmtKind::ClassDef:
        return Block(module_.classes[ir::ClassOf(stmt)].body);
      case ir::StmtKind::Delete:
      case ir::StmtKind::Opaque:
        return Exprs(ir::TargetsOf(module_, stmt));
      default:
        return traces_.Empty();
    }
  }

  static bool IsJump(const ir::Stmt& stmt) { return (stmt.flags & ir::kJump) != 0; }

  // To return from `main` of C and C++ is to call `exit`: with an error code that ends the job.
  ExitKind ReturnKind(const ir::Stmt& stmt) const {
    const ir::Function& function = state_.program.function(func_);
    const bool is_main = module_.language != ir::Language::Python && !function.owner && state_.program.text(function.name) == "main";
    const ir::ExprId code = ir::ValueOf(stmt);
    return is_main && code && ExitOf(code) == ExitKind::Raise ? ExitKind::Raise : ExitKind::Return;
  }

  // `raise SystemExit` ends this process in peace and leaves the others running. `raise StopIteration` of `__next__` ends a loop around.
  TraceId Raise(ir::StmtId id, const ir::Stmt& stmt) {
    const ir::ExprId raised = ir::ValueOf(stmt);
    if (!raised) return traces_.Exit(At(id), ExitKind::Raise);
    const ir::Expr& expr = module_[raised];
    const bool is_call = expr.kind == ir::ExprKind::Call;
    const ir::Expr& type = is_call ? module_[ir::CalleeOf(expr)] : expr;
    const std::string_view name = type.kind == ir::ExprKind::Name ? state_.program.text(ir::NameOf(type)) : std::string_view();
    const bool ends = name == "SystemExit";
    if (name == "StopIteration" && state_.program.text(function_.name) == "__next__") return traces_.Exit(At(id), ExitKind::Return);
    if (!ends) return traces_.Exit(At(id), ExitKind::Raise);
    return traces_.Exit(At(id), ExitOf(FirstArgument(raised)));
  }

  // `assert world_size == 4` says on which jobs the program runs, and `assert rank != 0` which ranks go on to a handler. Of what else is
  // asserted it is taken that it holds.
  TraceId Assertion(ir::StmtId id, ir::ExprId test) {
    const ValueId condition = Value(test);
    if (!IsDemand(state_.facts, condition)) return traces_.Empty();
    return traces_.Choice(At(test), condition, traces_.Empty(), traces_.Exit(At(id), ExitKind::Raise));
  }

  TraceId Definition(const ir::Function& function) {
    std::vector<TraceId> parts;
    for (const ir::ExprId decorator : function.decorators) parts.push_back(Expr(decorator));
    for (const ir::Param& param : function.params) parts.push_back(Expr(param.default_value));
    return traces_.Seq(parts);
  }

  TraceId If(const ir::Stmt& stmt) {
    const ir::ExprId test = ir::ValueOf(stmt);
    const TraceId then_trace = Block(ir::BodyOf(stmt));
    return traces_.Seq(Expr(test), Choice(test, then_trace, Block(ir::ElseBlockOf(stmt))));
  }

  TraceId Choice(ir::ExprId test, TraceId then_trace, TraceId else_trace) {
    ValueId condition = Value(test);
    // Never evaluated: code that nothing reaches.
    if (!condition) return traces_.Empty();
    if (const ValueId made = state_.made_once.Condition(func_, test)) condition = made;
    NoteFollowed();
    return traces_.Choice(At(test), condition, then_trace, else_trace);
  }

  TraceId Loop(const ir::Stmt& stmt) {
    const bool is_for = stmt.kind == ir::StmtKind::For;
    const ir::ExprId head = is_for ? ir::AssignedOf(stmt) : ir::ValueOf(stmt);
    const ValueId trips = state_.facts.trip_count(func_, head);
    const TraceId first = Expr(head);
    TraceId body = Block(ir::BodyOf(stmt));
    const bool is_each_round = is_for && IsAskedEachRound(head);
    const TraceId begun = is_each_round ? traces_.Empty() : Iteration(head);
    if (is_each_round) body = traces_.Seq(Iteration(head), body);
    if (!is_for && HasOneRound(stmt)) {
      const TraceId round = traces_.Loop(At(head), state_.values.Int(1), body, false, LoopKind::Counted);
      return traces_.Seq(first, Choice(head, round, Block(ir::ElseBlockOf(stmt))));
    }
    const TraceId otherwise = Otherwise(stmt, head, trips, body);
    if (const TraceId by_turns = is_for ? ByTurnsOfRanks(stmt, head, trips, body) : TraceId()) {
      const TraceId parts[] = {first, begun, by_turns, otherwise};
      return traces_.Seq(parts);
    }
    if (const TraceId turns = is_for ? InTurnsWith(head, body) : TraceId()) {
      const TraceId parts[] = {first, turns, otherwise};
      return traces_.Seq(parts);
    }
    const bool is_of_call = is_for && module_[head].kind == ir::ExprKind::Call;
    if (const ValueId entered = is_of_call ? EnteredOnce(trips) : ValueId()) {
      const TraceId round = traces_.Loop(At(head), state_.values.Int(1), body, false, LoopKind::Counted);
      const TraceId parts[] = {first, begun, traces_.Choice(At(head), entered, round, traces_.Empty()), otherwise};
      return traces_.Seq(parts);
    }
    const bool is_counted = is_for || (trips != Value(head) && variation::IsNumberOfRounds(state_.values, trips));
    if (!is_for) body = traces_.Seq(first, body);
    const TraceId parts[] = {first, begun, traces_.Loop(At(head), trips, body, false, is_counted ? LoopKind::Counted : LoopKind::While),
                             otherwise};
    return traces_.Seq(parts);
  }

  // The `else` of a loop, which those ranks do not come to that leave it by a `break`.
  TraceId Otherwise(const ir::Stmt& stmt, ir::ExprId head, ValueId trips, TraceId body) {
    const TraceId otherwise = Block(ir::ElseBlockOf(stmt));
    if (otherwise == traces_.Empty() || (traces_[body].flags & kLeavesBreak) == 0) return otherwise;
    const bool is_for = stmt.kind == ir::StmtKind::For;
    const ValueId leaves = is_for ? state_.loop_ends.LeavesFor(traces_, body, Value(head), Value(ir::ValueOf(stmt)), trips)
                                  : state_.loop_ends.LeavesWhile(traces_, body);
    return traces_.Choice(At(head), leaves, traces_.Empty(), otherwise);
  }

  // `for turn in range(world_size): if turn == rank: ...`, and nothing else: each rank does it in one round, whichever that is, and what
  // stands in the `else` in all others. Where both arms issue something, their order differs between ranks.
  TraceId ByTurnsOfRanks(const ir::Stmt& loop, ir::ExprId head, ValueId trips, TraceId body) {
    const Trace& choice = traces_[body];
    if (choice.kind != TraceKind::Choice || (choice.flags & kLeavesMask) != 0 || !AsksForTurnOfRank(loop, trips, choice.value)) return {};
    const bool is_equal = state_.values[choice.value].compare_op() == ir::CompareOp::Eq;
    const TraceId own = traces_.Kids(body)[is_equal ? 0 : 1];
    const TraceId others = traces_.Kids(body)[is_equal ? 1 : 0];
    if (others == traces_.Empty()) return own;
    if (own != traces_.Empty()) return {};
    const ValueId rounds = state_.values.Binary(ir::BinaryOp::Sub, trips, state_.values.Int(1));
    return traces_.Loop(At(head), rounds, others, false, LoopKind::Counted);
  }

  // Whether the number of a round is compared with the rank, and the rounds are those of all ranks.
  bool AsksForTurnOfRank(const ir::Stmt& loop, ValueId trips, ValueId condition) const {
    using knowledge::Coordinate;
    const ir::Expr& head = module_[ir::AssignedOf(loop)];
    const bool is_range = head.kind == ir::ExprKind::Call && ir::ArgCount(module_, head) == 1 && Value(ir::ArgAt(module_, head, 0).value) == trips;
    if (!trips || !is_range || state_.values[condition].kind != ValueKind::Compare) return false;
    const ir::CompareOp op = state_.values[condition].compare_op();
    if (op != ir::CompareOp::Eq && op != ir::CompareOp::NotEq) return false;
    const auto sides = state_.values.Kids(condition);
    const ValueId turn = Value(ir::ValueOf(loop));
    const ValueId rank = sides[0] == turn ? sides[1] : sides[1] == turn ? sides[0] : ValueId();
    if (!turn || !rank) return false;
    const auto is = [&](ValueId value, Coordinate coordinate) { return variation::IsCoordinate(state_.values[Passed(value)], coordinate); };
    const bool is_of_group = is(rank, Coordinate::GroupRank) && is(trips, Coordinate::GroupSize) &&
                             std::ranges::equal(state_.values.Kids(rank), state_.values.Kids(trips));
    return is_of_group || (is(rank, Coordinate::Rank) && is(trips, Coordinate::WorldSize));
  }

  // What all callers pass for a parameter; any other value as it is.
  ValueId Passed(ValueId value) const {
    if (state_.values[value].kind != ValueKind::Param) return value;
    const ValueId passed = state_.facts.param(state_.values[value].function(), state_.values[value].param_index());
    return passed ? passed : value;
  }

  // A loop over a generator of the program that issues something between its items.
  TraceId InTurnsWith(ir::ExprId iterable, TraceId body) {
    const TraceId scope = Iteration(iterable);
    if (traces_[scope].kind != TraceKind::Scope) return {};
    const TraceId both = TakingTurns(traces_, traces_.Kids(scope)[0], body, state_.values.Int(1));
    return both ? traces_.Scope(traces_[scope].site, FuncId{traces_[scope].payload}, both) : TraceId();
  }

  // What is true where a loop over what a call gives has its one round, `range(1 if late else 0)`, `range(int(late))`; none of other loops.
  ValueId EnteredOnce(ValueId trips) const {
    if (!trips || state_.values.axes(trips).empty()) return {};
    if (state_.values[trips].kind == ValueKind::Select) {
      const auto kids = state_.values.Kids(trips);
      const bool is_once = kids[1] == state_.values.Int(1) && kids[2] == state_.values.Int(0);
      return is_once ? kids[0] : ValueId();
    }
    return state_.values.IsTruth(trips) ? trips : ValueId();
  }

  // `while not done: ...; break`: a loop whose round always leaves it is no loop, and its `else` is for who does not enter it.
  bool HasOneRound(const ir::Stmt& loop) const {
    const auto stmts = module_.statements(ir::BodyOf(loop));
    if (stmts.empty()) return false;
    const ir::StmtKind last = module_[stmts.back()].kind;
    bool goes_on = last != ir::StmtKind::Break && last != ir::StmtKind::Return && last != ir::StmtKind::Raise;
    ir::ForEachStmtIn(module_, ir::BodyOf(loop), [&](const ir::Stmt& stmt) { goes_on = goes_on || stmt.kind == ir::StmtKind::Continue; });
    return !goes_on;
  }

  // What iterating over `iterable` runs: the collectives of a loader, the body of a generator.
  TraceId Iteration(ir::ExprId iterable) {
    const CallFact* fact = state_.facts.iteration(func_, iterable);
    return fact == nullptr ? traces_.Empty() : Fact(iterable, *fact);
  }

  // `__next__` of an object, which is called for each item.
  bool IsAskedEachRound(ir::ExprId iterable) const {
    const CallFact* fact = state_.facts.iteration(func_, iterable);
    return fact != nullptr && fact->function && state_.program.text(state_.program.function(fact->function).name) == "__next__";
  }

  // The block whose errors are caught, and what of it can fail.
  TraceId Tried(ir::BlockId block, TryInfo* info) {
    std::vector<TraceId> body;
    for (const ir::StmtId inner : module_.statements(block)) {
      info->fallible = info->fallible || CanFailOnOneRank(state_, calls_, inner);
      body.push_back(Stmt(inner));
      const bool has_op = (traces_[body.back()].flags & kHasOp) != 0;
      info->fallible_before_op = info->fallible_before_op || (info->fallible && has_op);
    }
    return traces_.Seq(body);
  }

  TraceId Try(ir::StmtId id, const ir::Stmt& stmt) {
    TryInfo info;
    const TraceId body = Tried(ir::TriedOf(stmt), &info);
    std::vector<TraceId> parts = {body, Block(ir::TryElseOf(stmt)), Block(ir::FinallyOf(stmt))};
    const auto& failures = state_.facts.functions[func_].failures;
    for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) {
      parts.push_back(Block(handler.body));
      const auto failed = failures.find(handler.begin);
      info.handlers.push_back({{module_.file, handler.begin, handler.end}, HandlerBreadth(state_, module_id_, handler),
                               failed == failures.end() ? ValueId::None() : failed->second});
    }
    if (IsDecided(info, parts)) {
      const TraceId went_on = traces_.Seq(parts[kTryElse], parts[kTryFinally]);
      const TraceId ended = traces_.Seq(parts[kTryHandlers], parts[kTryFinally]);
      return traces_.Seq(parts[kTryBody], traces_.Choice(At(id), info.handlers[0].failed, ended, went_on));
    }
    return traces_.Try(At(id), traces_.AddTry(std::move(info)), parts);
  }

  // `except StopIteration: break` after a `next` of an iterator with items of its own: what the program holds decides which
  // ranks come to the handler, and nothing in the body is issued before.
  bool IsDecided(const TryInfo& info, std::span<const TraceId> parts) const {
    const bool issues = (traces_[parts[kTryBody]].flags & (kHasOp | kLeavesMask)) != 0;
    if (info.handlers.size() != 1 || issues) return false;
    const bool matters = ((traces_[parts[kTryHandlers]].flags | traces_[parts[kTryElse]].flags) & (kHasOp | kLeavesMask)) != 0;
    const HandlerInfo& handler = info.handlers[0];
    return matters && handler.failed && handler.breadth == Breadth::Uniform && !state_.values.axes(handler.failed).empty();
  }

  TraceId With(const ir::Stmt& stmt, std::span<const ir::WithItem> items) {
    if (items.empty()) return Block(ir::BodyOf(stmt));
    const ir::ExprId context = items[0].context;
    if (items.size() == 1 && SwallowsErrors(context)) return traces_.Seq(Context(context), Swallowed(context, ir::BodyOf(stmt)));
    TraceId body = With(stmt, items.subspan(1));
    if (ShadowsMissingRanks(context)) body = SettleImplicitLoops(state_, body);
    const TraceId made = Context(context);
    if (const CallFact* call = state_.facts.call(func_, context); call != nullptr && call->kind == CallKind::Known) {
      const knowledge::Entry& entry = state_.knowledge[call->entry];
      if (entry.has_operation && entry.operation.as_context) return traces_.Seq(made, InTurns(context, *call, body));
      if (entry.Has(knowledge::Role::DefersGradients)) body = WithoutGradients(traces_, state_.knowledge, body);
      if (entry.guard) {
        const ValueId guard = ValueOfFormula(state_, entry.guard);
        return traces_.Seq(made, traces_.Choice(At(context), guard, body, traces_.Empty()));
      }
    }
    const CallFact* enter = state_.facts.enter(func_, context);
    if (enter != nullptr && enter->function && state_.program.function(enter->function).is_generator) {
      return traces_.Seq(made, AroundGenerator(context, *enter, body));
    }
    if (enter != nullptr && enter->kind == CallKind::Deferred) {
      return traces_.Seq(made, AroundChosen(context, enter->callee, body));
    }
    const TraceId entered = enter == nullptr ? traces_.Empty() : Fact(context, *enter);
    const CallFact* leave = state_.facts.leave(func_, context);
    const TraceId left = leave == nullptr ? traces_.Empty() : Fact(context, *leave);
    const TraceId parts[] = {made, entered, Finally(context, body, left)};
    return traces_.Seq(parts);
  }

  // `with contextlib.suppress(RuntimeError):`, and not one that may raise them again.
  bool SwallowsErrors(ir::ExprId context) const {
    const CallFact* call = state_.facts.call(func_, context);
    if (call == nullptr || call->kind != CallKind::Known || module_[context].kind != ir::ExprKind::Call) return false;
    const knowledge::Entry& entry = state_.knowledge[call->entry];
    if (!entry.Has(knowledge::Role::SwallowErrors)) return false;
    // `contextlib.suppress()` names no error, and stops none.
    if (entry.params.empty() && ir::ArgCount(module_, module_[context]) == 0) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[context]); ++i) {
      if (ir::ArgAt(module_, module_[context], i).kind != ir::ArgKind::Positional) return false;
    }
    return true;
  }

  // A handler that does nothing, for the errors that are named, or for all.
  TraceId Swallowed(ir::ExprId context, ir::BlockId block) {
    TryInfo info;
    const TraceId parts[] = {Tried(block, &info), traces_.Empty(), traces_.Empty(), traces_.Empty()};
    const uint32_t count = ir::ArgCount(module_, module_[context]);
    Breadth widest = count == 0 ? Breadth::Broad : Breadth::Uniform;
    for (uint32_t i = 0; i < count; ++i) {
      widest = std::max(widest, BreadthOf(state_, module_id_, ir::ArgAt(module_, module_[context], i).value));
    }
    info.handlers.push_back({{module_.file, module_[context].begin, module_[context].end}, widest, ValueId::None()});
    return traces_.Try(At(context), traces_.AddTry(std::move(info)), parts);
  }

  // Inside a Join that is enabled, ranks that ran out of data take part in what the others still issue for the wrapped modules.
  bool ShadowsMissingRanks(ir::ExprId context) const {
    constexpr std::string_view kJoins[] = {"Join.__init__", ".join", ".join_uneven_inputs"};
    const CallFact* call = state_.facts.call(func_, context);
    if (call == nullptr || call->kind != CallKind::Known) return false;
    const std::string_view name = state_.program.text(state_.knowledge[call->entry].name);
    if (std::ranges::none_of(kJoins, [&](std::string_view join) { return name.ends_with(join); })) return false;
    const base::NameId enable = state_.program.names->Find("enable");
    return !enable || ParamOf(state_.knowledge[call->entry], state_.facts.args(*call), enable) != state_.values.False();
  }

  // The expression of a `with` item, without an operation that entering and leaving issue.
  TraceId Context(ir::ExprId context) {
    const CallFact* call = state_.facts.call(func_, context);
    const bool as_context = call != nullptr && call->kind == CallKind::Known &&
                            state_.knowledge[call->entry].operation.as_context;
    return as_context ? Children(module_[context]) : Expr(context);
  }

  TraceId Finally(ir::ExprId at, TraceId body, TraceId last) {
    if (last == traces_.Empty()) return body;
    const TraceId parts[] = {body, traces_.Empty(), last};
    return traces_.Try(At(at), traces_.AddTry({}), parts);
  }

  // main_process_first: the ranks of the guard run the body, then the barrier lets the others run it.
  TraceId InTurns(ir::ExprId context, const CallFact& call, TraceId body) {
    const TraceId barrier = KnownOperation(state_, At(context), call.entry, call.receiver, state_.facts.args(call));
    state_.sites.push_back({.site = At(context), .entry = call.entry, .unresolved = {}});
    const knowledge::Entry& entry = state_.knowledge[call.entry];
    if (!entry.guard) return traces_.Seq(barrier, body);
    const ValueId first = ValueOfFormula(state_, entry.guard);
    const TraceId wait = traces_.Choice(At(context), first, traces_.Empty(), barrier);
    const TraceId release = traces_.Choice(At(context), first, barrier, traces_.Empty());
    return traces_.Seq(wait, Finally(context, body, release));
  }

  TraceId AroundGenerator(ir::ExprId context, const CallFact& enter, TraceId body) {
    const TraceId call = CallTrace(state_, At(context), enter.function, enter.callee, Args(enter));
    const Trace& scope = traces_[call];
    if (scope.kind != TraceKind::Scope) return traces_.Seq(call, body);
    const SplitTrace split = SplitAtYield(traces_, traces_.Kids(call)[0]);
    const TraceId before = traces_.Scope(At(context), enter.function, split.before);
    const TraceId after = traces_.Scope(At(context), enter.function, split.after);
    return traces_.Seq(before, Finally(context, body, after));
  }

  // `with Fence() if rank else nullcontext():`
  TraceId AroundChosen(ir::ExprId at, ValueId context, TraceId body) {
    const ValueId defers = DefersGradients(state_, context);
    if (!state_.values.axes(defers).empty()) body = traces_.Choice(At(at), defers, WithoutGradients(traces_, state_.knowledge, body), body);
    const SplitTrace around = EnteredAndLeft(state_, At(at), context);
    return traces_.Seq(around.before, Finally(at, body, around.after));
  }

  std::vector<ValueId> Args(const CallFact& call) const {
    const auto args = state_.facts.args(call);
    return {args.begin(), args.end()};
  }

  // Cases are tried in order: each is the other arm of the one before.
  TraceId Match(const ir::Stmt& stmt) {
    const std::span<const ir::MatchCase> cases = ir::CasesOf(module_, stmt);
    const ir::ExprId subject = ir::ValueOf(stmt);
    TraceId rest = traces_.Empty();
    for (size_t i = cases.size(); i-- > 0;) {
      const ir::MatchCase& match_case = cases[i];
      const auto value_of = [&](ir::ExprId expr) { return Value(expr); };
      ValueId condition = match_case.irrefutable
                              ? state_.values.True()
                              : variation::PatternFits(state_.values, module_, Value(subject), match_case.pattern, value_of);
      if (match_case.guard && Value(match_case.guard)) {
        const ValueId both[] = {condition, Value(match_case.guard)};
        condition = state_.values.And(both);
      }
      const ir::ExprId place = match_case.guard ? match_case.guard : match_case.pattern;
      const TraceId body = traces_.Seq(Expr(match_case.guard), Block(match_case.body));
      rest = traces_.Choice(At(place), condition, body, rest);
    }
    return traces_.Seq(Expr(subject), rest);
  }

  TraceId Expr(ir::ExprId id) {
    if (!id) return traces_.Empty();
    const ir::Expr& expr = module_[id];
    state_.Step();
    switch (expr.kind) {
      case ir::ExprKind::Name:
      case ir::ExprKind::Constant:
      case ir::ExprKind::Lambda:
        return traces_.Empty();
      case ir::ExprKind::Bool:
        return Bool(expr);
      case ir::ExprKind::Conditional: {
        const ir::ExprId test = ir::TestOf(expr);
        const TraceId then_trace = Expr(ir::ThenOf(module_, expr));
        return traces_.Seq(Expr(test), Choice(test, then_trace, Expr(ir::ElseOf(module_, expr))));
      }
      case ir::ExprKind::Comprehension:
        return Comprehension(expr);
      case ir::ExprKind::Yield:
        return traces_.Seq(Expr(ir::OperandOf(expr)), traces_.Yield(At(id)));
      default: {
        const TraceId inner = Children(expr);
        const CallFact* fact = state_.facts.call(func_, id);
        return fact == nullptr ? inner : traces_.Seq(inner, Fact(id, *fact));
      }
    }
  }

  TraceId Children(const ir::Expr& expr) {
    switch (expr.kind) {
      case ir::ExprKind::Attribute:
        return Expr(ir::ObjectOf(expr));
      case ir::ExprKind::Subscript:
        return traces_.Seq(Expr(ir::ObjectOf(expr)), Expr(ir::IndexOf(expr)));
      case ir::ExprKind::Call:
        return Arguments(expr);
      case ir::ExprKind::Binary:
      case ir::ExprKind::Walrus: {
        const TraceId left = Expr(ir::LeftOf(expr));
        return traces_.Seq(left, Expr(ir::RightOf(expr)));
      }
      case ir::ExprKind::Compare:
        return Comparison(expr);
      case ir::ExprKind::Dict:
        return Dict(expr);
      case ir::ExprKind::Unary:
      case ir::ExprKind::Await:
      case ir::ExprKind::YieldFrom:
      case ir::ExprKind::Starred:
        return Expr(ir::OperandOf(expr));
      case ir::ExprKind::FString:
      case ir::ExprKind::Tuple:
      case ir::ExprKind::List:
      case ir::ExprKind::Set:
      case ir::ExprKind::Slice:
      case ir::ExprKind::Opaque:
        return Exprs(ir::Items(module_, expr));
      default:
        return traces_.Empty();
    }
  }

  TraceId Arguments(const ir::Expr& call) {
    std::vector<TraceId> parts = {Expr(ir::CalleeOf(call))};
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) parts.push_back(Expr(ir::ArgAt(module_, call, i).value));
    return traces_.Seq(parts);
  }

  TraceId Comparison(const ir::Expr& expr) {
    std::vector<TraceId> parts = {Expr(ir::LeftOf(expr))};
    for (uint32_t i = 0; i < ir::ComparisonCount(module_, expr); ++i) {
      parts.push_back(Expr(ir::ComparisonAt(module_, expr, i).operand));
    }
    return traces_.Seq(parts);
  }

  TraceId Dict(const ir::Expr& expr) {
    std::vector<TraceId> parts;
    for (uint32_t i = 0; i < ir::DictCount(expr); ++i) {
      const ir::DictItem item = ir::DictItemAt(module_, expr, i);
      parts.push_back(Expr(item.key));
      parts.push_back(Expr(item.value));
    }
    return traces_.Seq(parts);
  }

  // `a and f()`: the right side runs where the left one lets it.
  TraceId Bool(const ir::Expr& expr) {
    const ir::ExprList items = ir::Items(module_, expr);
    const bool is_and = static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And;
    TraceId rest = traces_.Empty();
    for (size_t i = items.size(); i-- > 0;) {
      if (rest != traces_.Empty()) {
        rest = is_and ? Choice(items[i], rest, traces_.Empty()) : Choice(items[i], traces_.Empty(), rest);
      }
      rest = traces_.Seq(Expr(items[i]), rest);
    }
    return rest;
  }

  TraceId Comprehension(const ir::Expr& expr) {
    const std::span<const ir::Clause> clauses = ir::ClausesOf(module_, expr);
    TraceId body = Expr(ir::OperandOf(expr));
    for (size_t i = clauses.size(); i-- > 0;) {
      const ir::Clause& clause = clauses[i];
      const ir::ExprList conditions = ir::Exprs(module_, clause.conditions);
      for (size_t c = conditions.size(); c-- > 0;) {
        if (body != traces_.Empty()) body = Choice(conditions[c], body, traces_.Empty());
        body = traces_.Seq(Expr(conditions[c]), body);
      }
      const ValueId trips = state_.facts.trip_count(func_, clause.iter);
      const TraceId parts[] = {Expr(clause.iter), Iteration(clause.iter), traces_.Loop(At(clause.iter), trips, body)};
      body = traces_.Seq(parts);
    }
    return body;
  }

  TraceId Fact(ir::ExprId site, const CallFact& call) {
    std::vector<TraceId> parts = {Called(site, call)};
    for (const ModeChange& change : state_.modes.SetBy(call)) {
      parts.push_back(traces_.Mode(At(site), change.module, change.trains, false));
    }
    return traces_.Seq(parts);
  }

  TraceId Called(ir::ExprId site, const CallFact& call) {
    switch (call.kind) {
      case CallKind::Known:
        return Known(site, call);
      case CallKind::Construct:
        return Construct(site, call);
      case CallKind::Function:
        if (!call.function) return traces_.Empty();
        return CallTrace(state_, At(site), call.function, call.callee, Args(call));
      case CallKind::Deferred:
        NoteChosen(state_, At(site), call.callee);
        return ResolveCall(state_, At(site), call.callee, Args(call));
      case CallKind::Unresolved:
        NoteUnresolved(site, call);
        return OnlyMethod(site, call);
      case CallKind::External:
        NoteHandedOver(site, call);
        NoteReplaced(site);
        return traces_.Empty();
    }
    return traces_.Empty();
  }

  // `manager.save_all()` of an unknown object: it is of the one class that has such a method, or of one that nobody sees.
  TraceId OnlyMethod(ir::ExprId site, const CallFact& call) {
    const FuncId method = state_.only_methods.MeantBy(state_.values, call);
    if (!method) return traces_.Empty();
    state_.asks_for_others = true;
    const binding::ClassId class_id = state_.program.funcs[method].owner;
    const ValueId object = state_.values.Make(variation::Value::Instance(class_id), {});
    const TraceId trace = CallTrace(state_, At(site), method, {}, BoundByName(site, method, object, state_.facts.args(call)));
    return traces_.Choice(At(site), state_.guessed_classes.IsOf(call.receiver, class_id), trace, traces_.Empty());
  }

  // The arguments of a call by the parameters of the method.
  std::vector<ValueId> BoundByName(ir::ExprId site, FuncId method, ValueId object, std::span<const ValueId> args) const {
    const std::vector<ir::Param>& params = state_.program.function(method).params;
    std::vector<ValueId> positional;
    std::vector<std::pair<size_t, ValueId>> named;
    for (uint32_t i = 0; i < args.size() && i < ir::ArgCount(module_, module_[site]); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, module_[site], i);
      const auto param = std::ranges::find(params, arg.keyword, &ir::Param::name);
      if (arg.kind == ir::ArgKind::Positional) positional.push_back(args[i]);
      else if (arg.kind == ir::ArgKind::Keyword && param != params.end()) named.emplace_back(param - params.begin(), args[i]);
      else break;
    }
    std::vector<ValueId> bound = BindPositional(state_, method, object, positional);
    for (const auto& [index, value] : named) bound[index] = value;
    return bound;
  }

  // What was found out about things that are made once depends on these functions as well.
  void NoteFollowed() {
    for (const FuncId followed : state_.made_once.followed()) NoteUse(state_, followed);
  }

  // `Thread(target=dist.barrier)`: who calls it, and when, the library decides.
  void NoteHandedOver(ir::ExprId site, const CallFact& call) {
    for (const ValueId arg : state_.facts.args(call)) {
      if (!arg || state_.values[arg].kind != ValueKind::External) continue;
      const knowledge::EntryId entry = state_.knowledge.FindEntry(state_.values[arg].name());
      const bool communicates = entry && state_.knowledge[entry].has_operation &&
                                state_.knowledge[entry].operation.op_class == knowledge::OpClass::Collective;
      if (!communicates) continue;
      const std::string name(state_.program.text(state_.knowledge[entry].name));
      state_.sites.push_back({.site = At(site), .entry = {}, .unresolved = name});
    }
  }

  TraceId Construct(ir::ExprId site, const CallFact& call) {
    const TraceId trace = call.function ? CallTrace(state_, At(site), call.function, call.callee, Args(call)) : traces_.Empty();
    const bool is_class = call.callee && state_.values[call.callee].kind == ValueKind::Class;
    if (!is_class) return trace;
    const ValueId made = state_.made_once.OneObject(state_.values[call.callee].class_id());
    NoteFollowed();
    if (made && trace != traces_.Empty()) return MakeOnce(At(site), made, trace);
    if (!state_.modes.IsMadeBy(call)) return trace;
    const ValueId module = state_.values.Make(variation::Value::Instance(state_.values[call.callee].class_id()), {});
    // Its constructor may put it into another mode.
    return traces_.Seq(traces_.Mode(At(site), module, state_.values.True(), true), trace);
  }

  TraceId Known(ir::ExprId site, const CallFact& call) {
    const knowledge::Entry& entry = state_.knowledge[call.entry];
    if (SetsUpOwnJob(entry, state_.facts.args(call))) {
      // Who comes here leaves this job.
      state_.sets_up_own_job.insert(func_.index);
      return traces_.Exit(At(site), ExitKind::Raise);
    }
    TraceId trace = DemandedSize(site, entry, state_.facts.args(call));
    if (entry.has_operation && !entry.operation.as_context) {
      trace = traces_.Seq(trace, KnownOperation(state_, At(site), call.entry, call.receiver, state_.facts.args(call)));
      if (entry.operation.op_class == knowledge::OpClass::Start) {
        NoteStarted(state_, At(site), ParamOf(entry, state_.facts.args(call), entry.operation.handle_param));
      } else if (!knowledge::IssuesNothing(entry.operation.op_class)) {
        state_.sites.push_back({.site = At(site), .entry = call.entry, .unresolved = {}});
      }
      trace = traces_.Seq(trace, Joining(site, entry.operation.op_class));
    }
    if (entry.Has(knowledge::Role::RunsUnseen)) NoteUnseen(site, state_.program.text(CalledName(module_, site)));
    // An abort takes the whole group down, like a raise that nobody catches.
    if (entry.aborts || entry.raises) return traces_.Seq(trace, traces_.Exit(At(site), ExitKind::Raise));
    if (entry.exits) return traces_.Seq(trace, traces_.Exit(At(site), ExitOf(FirstArgument(site))));
    return trace;
  }

  // What joins or leaves the job that somebody asks for.
  TraceId Joining(ir::ExprId site, knowledge::OpClass op_class) {
    const ValueId job = state_.made_once.JobOf(op_class);
    if (!job) return traces_.Empty();
    return traces_.Keep(At(site), job, op_class == knowledge::OpClass::Init ? Filling::Made : Filling::Emptied);
  }

  // `init_process_group(world_size=1)`
  bool SetsUpOwnJob(const knowledge::Entry& entry, std::span<const ValueId> args) const {
    return ParamOf(entry, args, entry.size_param) == state_.values.Int(1);
  }

  // `init_process_group(world_size=4)` waits for four processes: the program goes on in jobs of that many.
  TraceId DemandedSize(ir::ExprId site, const knowledge::Entry& entry, std::span<const ValueId> args) {
    const ValueId size = entry.operation.op_class == knowledge::OpClass::Init ? ParamOf(entry, args, entry.size_param) : ValueId::None();
    const std::optional<int64_t> ranks = size ? state_.values[size].integer() : std::nullopt;
    if (!ranks || *ranks > kMostRanks) return traces_.Empty();
    const ValueId is_demanded = state_.values.Compare(ir::CompareOp::Eq, state_.values.Coordinate(knowledge::Coordinate::WorldSize), size);
    return traces_.Choice(At(site), is_demanded, traces_.Empty(), traces_.Exit(At(site), ExitKind::Raise));
  }

  ir::ExprId FirstArgument(ir::ExprId site) const {
    const bool is_call = site && module_[site].kind == ir::ExprKind::Call && ir::ArgCount(module_, module_[site]) > 0;
    return is_call ? ir::ArgAt(module_, module_[site], 0).value : ir::ExprId::None();
  }

  // `f"{x}"`, `"a" + x`, `"%s" % x`, `"{}".format(x)`, `str(x)`.
  bool MakesText(ir::ExprId id) const {
    const ir::Expr& expr = module_[id];
    const ValueId value = Value(id);
    if (expr.kind == ir::ExprKind::FString || (value && state_.values[value].kind == ValueKind::Str)) return true;
    if (expr.kind == ir::ExprKind::Binary) return MakesText(ir::LeftOf(expr));
    if (expr.kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module_[ir::CalleeOf(expr)];
    if (callee.kind == ir::ExprKind::Name) return state_.program.text(ir::NameOf(callee)) == "str";
    return callee.kind == ir::ExprKind::Attribute && state_.program.text(ir::AttrOf(callee)) == "format" && MakesText(ir::ObjectOf(callee));
  }

  // A process that ends with an error ends the job, as an exception does; one that ends well is missed by the others.
  ExitKind ExitOf(ir::ExprId code) const {
    const ValueId value = code ? Value(code) : ValueId::None();
    if (!value) return ExitKind::Process;
    const variation::Value& known = state_.values[value];
    const bool is_error = MakesText(code) || (known.kind == ValueKind::Int && *known.integer() != 0);
    return is_error ? ExitKind::Raise : ExitKind::Process;
  }

  // `dist.barrier()`, where the program put another function there.
  void NoteReplaced(ir::ExprId site) {
    if (!site || module_[site].kind != ir::ExprKind::Call) return;
    const ir::Expr& callee = module_[ir::CalleeOf(module_[site])];
    if (callee.kind != ir::ExprKind::Attribute) return;
    const ValueId object = Value(ir::ObjectOf(callee));
    if (!object || state_.values[object].kind != ValueKind::External) return;
    const std::string_view owner = state_.program.text(state_.values[object].name());
    const base::NameId name = state_.program.names->Find(fmt::format("{}.{}", owner, state_.program.text(ir::AttrOf(callee))));
    const knowledge::EntryId entry = name ? state_.knowledge.FindEntry(name) : knowledge::EntryId::None();
    if (!entry || !state_.knowledge[entry].has_operation) return;
    NoteUnseen(site, state_.program.text(ir::AttrOf(callee)));
  }

  void NoteUnseen(ir::ExprId site, std::string_view name) {
    state_.sites.push_back({.site = At(site), .entry = {}, .unresolved = std::string(name)});
  }

  // A call that does not resolve counts only where it could be an operation.
  void NoteUnresolved(ir::ExprId site, const CallFact& call) {
    std::vector<ValueId> args(state_.facts.args(call).begin(), state_.facts.args(call).end());
    if (call.receiver) args.push_back(call.receiver);
    if (!CouldIssue(state_, At(site), args) && !IsOfUnseenCode(state_, call.callee) && !IsOfLibrary(state_, call.callee)) return;
    const std::string name(state_.program.text(CalledName(module_, site)));
    state_.sites.push_back({.site = At(site), .entry = {}, .unresolved = name});
  }

  State& state_;
  TraceStore& traces_;
  FuncId func_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
  const ir::Function& function_;
  CallPlaces calls_{state_, func_};
};

}  // namespace

bool CouldIssue(const State& state, SiteId site_id, std::span<const ValueId> args) {
  const Site& site = state.traces.site(site_id);
  const base::NameId name = CalledName(state.program.module_of(site.function), site.expr);
  return (name && state.collective_names.contains(name)) || std::ranges::any_of(args, [&](ValueId value) {
           return value && state.values[value].kind == ValueKind::Group;
         });
}

State::State(const binding::Program& program_in, const knowledge::Knowledge& knowledge_in, variation::Facts& facts_in,
             const source::SourceFiles& files_in)
    : program(program_in), knowledge(knowledge_in), facts(facts_in), files(files_in), values(facts_in.values_store),
      traces(knowledge_in, facts_in.values_store), trace_of(program_in.funcs.size()),
      is_relevant(program_in.funcs.size()), is_called(CalledIn(facts_in)), is_used(program_in.funcs.size()), depth_in_cycle(program_in.funcs.size()), made_once(program_in, knowledge_in, facts_in), modes(program_in, knowledge_in, facts_in),
      loop_ends(facts_in.values_store, *program_in.names), job_sizes(program_in, knowledge_in, facts_in), meshes(program_in, knowledge_in, facts_in), only_methods(program_in, knowledge_in), guessed_classes(facts_in.values_store),
      traces_of_file(program_in.modules.size()), steps_of_file(program_in.modules.size()) {
  for (const knowledge::Entry& entry : knowledge.entries()) {
    if (!entry.has_operation || entry.operation.op_class != knowledge::OpClass::Collective) continue;
    const std::string_view name = program.text(entry.name);
    collective_names.insert(program.names->Intern(name.substr(name.rfind('.') + 1)));
  }
}

std::vector<bool> CalledIn(const variation::Facts& facts) {
  std::vector<bool> called(facts.functions.size());
  for (const variation::FunctionFacts& caller : facts.functions) {
    for (const auto& [expr, call] : caller.calls) {
      if (call.function) called[call.function.index] = true;
    }
  }
  return called;
}

void State::BeginTraces(FuncId func) {
  const ir::ModuleId module = program.funcs[func].module;
  const size_t most_of_file = kMostTracesOfFile + kMostTracesOfFileByFunction * program.modules[module].functions.size();
  const size_t left = most_of_file - std::min(most_of_file, traces_of_file[module.index]);
  is_near_bound_of_file = left < kMostTracesOfFunction;
  most_traces = traces.size() + std::min(left, kMostTracesOfFunction);
  at_work = func;
  resolving = 0;
  follows_recursion = false;
  meets_cut_recursion = false;
  not_followed.clear();
}

TraceId BuildTrace(State& state, FuncId func) {
  if (!state.facts.functions[func].evaluated) return state.traces.Empty();
  constexpr size_t kMostNodes = 10'000;
  constexpr uint16_t kHighest = 1'500;
  const size_t before = state.traces.size();
  const TraceId trace = WithDecidingArguments(state, func, Builder(state, func).Build());
  const bool too_many = state.traces.size() - before > kMostNodes;
  if (!too_many && state.traces[trace].height <= kHighest) return trace;
  state.limits.push_back({func, too_many ? "trace of more than 10000 operations" : "calls nested too deep"});
  return state.traces.Empty();
}

}  // namespace allranks::traces
