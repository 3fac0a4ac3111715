// The walk over statements: what each does to the variables, and which way goes on behind it.
//
// Both arms of a branch are evaluated, each under its condition; where both go on, what holds behind them is merged (env.h), and where
// one ends, the rest of the block stands under the condition that the other was taken. A handler is a branch of its own under the
// unknown whether it ran, which varies as that what may fail does (failures.h).
//
// Unsound: an error strikes between two statements of a `try` and never in one; what a `with` catches is not known.
#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/failures.h"
#include "analyzer/variation/match_pattern.h"

namespace allranks::variation {

void FunctionEvaluator::EvalBlock(ir::BlockId block) {
  const size_t outside = path_.size();
  places_.push_back({.block = block});
  for (const ir::StmtId stmt : module_.statements(block)) {
    if (env_.reachable) EvalStmt(stmt);
    else ForgetValuesIn(module_[stmt]);
    ++places_.back().index;
  }
  places_.pop_back();
  path_.LeaveTo(outside);
}

// What is not reached has no values, whatever it had in the round before, or before an edit.
void FunctionEvaluator::ForgetValuesIn(const ir::Stmt& stmt) {
  ir::ForEachExpr(module_, stmt, [&](ir::ExprId expr) { ForgetValuesIn(expr); });
  ir::ForEachBlock(module_, stmt, [&](ir::BlockId block) { ForgetValuesIn(block); });
  if (stmt.kind == ir::StmtKind::FunctionDef) {
    const ir::Function& function = module_.functions[ir::FunctionOf(stmt)];
    for (const ir::Param& param : function.params) {
      ForgetValuesIn(param.default_value);
      ForgetValuesIn(param.annotation);
    }
    for (const ir::ExprId decorator : function.decorators) ForgetValuesIn(decorator);
    tables_.facts.functions[tables_.program.func(func_.module, ir::FunctionOf(stmt))].decorators.clear();
  }
  if (stmt.kind == ir::StmtKind::ClassDef) {
    const ir::Class& one = module_.classes[ir::ClassOf(stmt)];
    for (const ir::Arg& base : one.bases) ForgetValuesIn(base.value);
    for (const ir::ExprId decorator : one.decorators) ForgetValuesIn(decorator);
    ForgetValuesIn(one.body);
  }
}

void FunctionEvaluator::ForgetValuesIn(ir::BlockId block) {
  for (const ir::StmtId stmt : module_.statements(block)) ForgetValuesIn(module_[stmt]);
}

void FunctionEvaluator::ForgetValuesIn(ir::ExprId expr) {
  if (!expr) return;
  SetValue(expr, {});
  ir::ForEachPart(module_, expr, [&](ir::ExprId part) { ForgetValuesIn(part); });
}

void FunctionEvaluator::EvalStmt(ir::StmtId id) {
  const ir::Stmt& stmt = module_[id];
  tables_.Step();
  path_.BeginStatement();
  switch (stmt.kind) {
    case ir::StmtKind::Expr:
      Eval(ir::ValueOf(stmt));
      break;
    case ir::StmtKind::Assign: {
      const ValueId value = Eval(ir::AssignedOf(stmt));
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) Assign(target, value);
      break;
    }
    case ir::StmtKind::AugAssign:
      EvalAugAssign(stmt);
      break;
    case ir::StmtKind::AnnAssign:
      if (ir::AssignedOf(stmt)) Assign(ir::ValueOf(stmt), AsDeclared(Eval(ir::AssignedOf(stmt)), ir::ExprId{stmt.c}));
      break;
    case ir::StmtKind::If:
      EvalIf(stmt);
      break;
    case ir::StmtKind::For:
    case ir::StmtKind::While:
      EvalLoop(stmt);
      break;
    case ir::StmtKind::Try:
      EvalTry(stmt);
      break;
    case ir::StmtKind::With:
      EvalWith(stmt);
      break;
    case ir::StmtKind::Match:
      EvalMatch(stmt);
      break;
    case ir::StmtKind::Return: {
      const ValueId value = ir::ValueOf(stmt) ? Eval(ir::ValueOf(stmt)) : store_.NoneValue();
      NoteReturn(value);
      Leave(&function_exit_axes_);
      break;
    }
    case ir::StmtKind::Break:
      NoteBreak();
      Leave(&loop_exit_axes_);
      break;
    case ir::StmtKind::Continue:
      Leave(&round_exit_axes_);
      break;
    case ir::StmtKind::Raise:
      Eval(ir::ValueOf(stmt));
      Eval(ir::AssignedOf(stmt));
      if (ir::ValueOf(stmt)) NoteRaised(ErrorNamed(ir::ValueOf(stmt)));
      env_.reachable = false;
      env_.raises = true;
      break;
    case ir::StmtKind::Assert: {
      const ValueId test = Eval(ir::ValueOf(stmt));
      Eval(ir::AssignedOf(stmt));
      NoteAsserted(test);
      // `assert False, "not supported"` is a raise.
      env_.reachable = test != store_.False();
      env_.raises = !env_.reachable;
      if (env_.reachable) Learn(ir::ValueOf(stmt), true);
      break;
    }
    case ir::StmtKind::Opaque:
      for (const ir::ExprId part : ir::TargetsOf(module_, stmt)) Eval(part);
      break;
    case ir::StmtKind::Import:
      for (uint32_t i = 0; i < stmt.c; ++i) EvalImport(ir::ImportId{stmt.a + i});
      break;
    case ir::StmtKind::FunctionDef:
      EvalFunctionDef(ir::FunctionOf(stmt));
      break;
    case ir::StmtKind::ClassDef:
      EvalClassDef(ir::ClassOf(stmt));
      break;
    case ir::StmtKind::Delete:
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) Forget(target);
      break;
    case ir::StmtKind::Pass:
    case ir::StmtKind::Global:
    case ir::StmtKind::Nonlocal:
      break;
  }
}

// `del name`, `del table[key]`
void FunctionEvaluator::Forget(ir::ExprId target) {
  const ir::Expr& expr = module_[target];
  if (expr.kind == ir::ExprKind::Subscript) {
    Eval(target);
    return TakeOut(ir::ObjectOf(expr), Removal::At, tables_.facts.value(func_.module, ir::IndexOf(expr)));
  }
  if (expr.kind != ir::ExprKind::Name) return;
  const auto slot = scope_.slots.find(ir::NameOf(expr));
  if (slot != scope_.slots.end()) env_.slots[slot->second] = {};
}

void FunctionEvaluator::Leave(Axes* exit_axes) {
  *exit_axes = *exit_axes | path_.axes();
  env_.reachable = false;
}

void FunctionEvaluator::EvalIf(const ir::Stmt& stmt) {
  const ir::ExprId test = ir::ValueOf(stmt);
  ValueId condition = Condition(test);
  if (const std::optional<bool> known = Answer(test)) {
    condition = store_.Bool(*known);
    SetValue(test, condition);
  }
  const Env before = env_;
  path_.Enter(condition);
  EvalBlock(ir::BodyOf(stmt));
  Env then_env = std::move(env_);
  env_ = before;
  path_.EnterOther();
  EvalBlock(ir::ElseBlockOf(stmt));
  path_.Leave();
  const bool then_goes_on = then_env.reachable;
  const bool else_goes_on = env_.reachable;
  if (then_goes_on && else_goes_on) {
    MergeArms(condition, std::move(then_env), std::move(env_));
    return;
  }
  const bool raises = then_goes_on ? env_.raises : then_env.raises && (else_goes_on || env_.raises);
  if (then_goes_on) env_ = std::move(then_env);
  if (then_goes_on == else_goes_on) {
    env_.raises = raises;
    return;
  }
  // What follows in this block runs only where the arm that left was not taken.
  path_.Enter(then_goes_on ? condition : store_.Not(condition));
  if (raises) Learn(test, then_goes_on);
}

void FunctionEvaluator::MergeArms(ValueId condition, Env then_env, Env else_env) {
  const Merging merging = {
      .joined = [&](ValueId test, ValueId then_value, ValueId else_value) { return broadcasts_.Joined(test, then_value, else_value); },
      .as_passed = [&](uint32_t param) { return definitions_.Param(id_, param); }};
  env_ = EitherOf(store_, condition, std::move(then_env), std::move(else_env), merging);
}

// The error that a handler is for struck somewhere in the body: its variables are those before it or any later ones.
void FunctionEvaluator::MergeInterrupted(const Env& other, const ir::Handler& handler) {
  if (!other.reachable) return;
  if (!env_.reachable) {
    env_ = other;
    return;
  }
  const ValueId condition = store_.Symbol(tables_.SiteSymbol(id_, handler.begin, SiteUse::Interrupt), {});
  Env mine = std::move(env_);
  MergeArms(condition, std::move(mine), other);
}

// `Stopped` of `raise Stopped()` and of `except Stopped`; none of another expression.
NameId FunctionEvaluator::ErrorNamed(ir::ExprId error) const {
  const ir::Expr* expr = &module_[error];
  if (expr->kind == ir::ExprKind::Call) expr = &module_[ir::CalleeOf(*expr)];
  return expr->kind == ir::ExprKind::Name ? ir::NameOf(*expr) : NameId::None();
}

// The path at hand leads to an error.
void FunctionEvaluator::NoteRaised(NameId error) {
  raised_here_.push_back({error, trips_.size() == loops_around_try_ ? path_.Condition() : ValueId()});
}

// Of what does not tell ranks apart it is taken that it holds.
void FunctionEvaluator::NoteAsserted(ValueId test) {
  if (Without(store_.axes(test), knowledge::kSoftAxes).empty()) return;
  path_.Enter(store_.Not(test));
  NoteRaised(Intern("AssertionError"));
  path_.Leave();
}

// Under which condition a handler gets an error that its own `try` raises where ranks are told apart: `if rank == 0: raise OSError()` for
// `except OSError`. None where other errors of that kind are raised, as far as the text of the `try` says.
ValueId FunctionEvaluator::RaisedFor(ir::ExprId handler_type, std::span<const RaisedHere> raised) {
  const NameId caught = handler_type ? ErrorNamed(handler_type) : NameId::None();
  const bool catches_all = !handler_type || (caught && (Text(caught) == "Exception" || Text(caught) == "BaseException"));
  std::vector<ValueId> conditions;
  for (const RaisedHere& each : raised) {
    if (!catches_all && (!caught || each.error != caught)) continue;
    if (!each.condition) return {};
    conditions.push_back(each.condition);
  }
  const ValueId condition = conditions.empty() ? ValueId() : store_.Or(conditions);
  const bool is_of_ranks = condition && !Without(store_.axes(condition), knowledge::kSoftAxes).empty();
  return is_of_ranks ? condition : ValueId();
}

void FunctionEvaluator::EvalTry(const ir::Stmt& stmt) {
  const Env before = env_;
  std::vector<RaisedHere> raised = std::exchange(raised_here_, {});
  const std::vector<ValueId> asked_before = asked_for_next_;
  const size_t loops_outside = std::exchange(loops_around_try_, trips_.size());
  const bool outer_touches_data = std::exchange(touches_data_, false);
  const Axes outer_ends_axes = std::exchange(ends_axes_, Axes{});
  const size_t first_return = returns_.size();
  const size_t first_call = facts_.calls.size();
  EvalBlock(ir::TriedOf(stmt));
  std::swap(raised, raised_here_);
  loops_around_try_ = loops_outside;
  // An iterator that holds more on one rank than on another ends there later.
  const Axes ends_axes = ends_axes_;
  ends_axes_ = ends_axes_ | outer_ends_axes;
  // What fails on one rank and not on another is the work on its own data; other errors follow from the program.
  const Axes body_axes = touches_data_ ? Axes::Of(Axis::Data) : Axes{};
  touches_data_ = touches_data_ || outer_touches_data;
  // So is reading a file: which rank it strikes is a matter of what that finds.
  const Axes file_axes = MayFailAlone(tables_, id_, ir::TriedOf(stmt), Calls(facts_.calls).subspan(first_call)) ? Axes::Of(Axis::Files) : Axes{};
  EvalBlock(ir::TryElseOf(stmt));
  Env result = env_;
  const size_t end_of_returns = returns_.size();
  for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) {
    env_ = before;
    Eval(handler.type);
    const Axes axes = StrikesAll(knowledge_, module_, handler.type)   ? ends_axes
                      : StrikesOne(knowledge_, module_, handler.type) ? body_axes | ends_axes | file_axes
                                                 : body_axes | ends_axes;
    env_ = before;
    MergeInterrupted(result, handler);
    const ValueId struck = store_.Symbol(tables_.SiteSymbol(id_, handler.begin, SiteUse::Handler), axes);
    facts_.failures.emplace(handler.begin, struck);
    const ValueId raised_for = RaisedFor(handler.type, raised);
    const ValueId failed = raised_for ? raised_for : struck;
    path_.Enter(failed);
    if (handler.name) {
      AssignName(handler.name, store_.Symbol(tables_.SiteSymbol(id_, handler.begin, SiteUse::Unseen), axes));
    }
    EvalBlock(handler.body);
    path_.Leave();
    // What the body would have returned is not what is returned where it failed, on one rank perhaps.
    if (!axes.empty() && !env_.raises) returns_.Unless(failed, first_return, end_of_returns);
    if (!env_.reachable) continue;
    Env handled = std::move(env_);
    if (result.reachable) {
      MergeArms(failed, std::move(handled), std::move(result));
      result = std::move(env_);
    } else {
      result = std::move(handled);
    }
  }
  env_ = std::move(result);
  const bool reachable = std::exchange(env_.reachable, true);
  EvalBlock(ir::FinallyOf(stmt));
  env_.reachable = env_.reachable && reachable;
  asked_for_next_ = asked_before;
}

void FunctionEvaluator::EvalWith(const ir::Stmt& stmt) {
  for (const ir::WithItem& item : ir::WithItemsOf(module_, stmt)) {
    const ValueId context = Eval(item.context);
    const ValueId object = LookThrough(tables_, context);
    ValueId entered = context;
    const Value kind = store_[object];
    const size_t recorded = facts_.calls.size();
    const bool is_chosen = store_[context].kind == ValueKind::Select && !store_.axes(store_.Kids(context)[0]).empty();
    if (is_chosen) {
      RecordCall(facts_.enters, item.context, CallKind::Deferred, {}).callee = context;
    } else if (kind.kind == ValueKind::Instance) {
      const binding::ClassId class_id = kind.class_id();
      if (const FuncId enter = tables_.program.FindMethod(class_id, Intern("__enter__"))) {
        entered = CallFunction(item.context, definitions_.Function(enter, object), enter, object, {}, CallKind::Function);
        MoveCalls(recorded, facts_.enters);
      }
      if (const FuncId exit = tables_.program.FindMethod(class_id, Intern("__exit__"))) {
        CallFunction(item.context, definitions_.Function(exit, object), exit, object, {}, CallKind::Function);
        MoveCalls(recorded, facts_.leaves);
      }
    } else if (kind.is_generator()) {
      entered = iterations_.Over(item.context, object).element;
      if (!facts_.iterations.empty() && facts_.iterations.back().first == item.context) {
        facts_.enters.push_back(facts_.iterations.back());
        facts_.iterations.pop_back();
      }
    } else if (const knowledge::EntryId enter = members_.Known(object, Intern("__enter__"))) {
      entered = CallKnown(item.context, enter, object, {});
      MoveCalls(recorded, facts_.enters);
    }
    if (item.target) Assign(item.target, entered);
  }
  EvalBlock(ir::BodyOf(stmt));
}

// What was recorded as calls since `from` is run by entering or leaving instead.
void FunctionEvaluator::MoveCalls(size_t from, std::vector<std::pair<ir::ExprId, CallFact>>& to) {
  to.insert(to.end(), facts_.calls.begin() + static_cast<ptrdiff_t>(from), facts_.calls.end());
  facts_.calls.resize(from);
}

// `(0, n)`, `{"rank": n}`: what the names of a pattern are.
void FunctionEvaluator::Capture(ir::ExprId pattern, ValueId subject) {
  const ir::Expr& shape = module_[pattern];
  if (shape.kind == ir::ExprKind::Walrus) return Assign(ir::LeftOf(shape), subject);
  const auto value_of = [&](ir::ExprId expr) { return tables_.facts.value(func_.module, expr); };
  const std::optional<PatternParts> parts = PartsOfPattern(store_, module_, subject, pattern, value_of);
  if (!parts) return;
  for (const PatternPart& part : parts->parts) Capture(part.pattern, part.subject);
}

void FunctionEvaluator::EvalMatch(const ir::Stmt& stmt) {
  const ValueId subject = Eval(ir::ValueOf(stmt));
  const Env before = env_;
  Env result = before;
  bool any = false;
  bool exhaustive = false;
  for (const ir::MatchCase& match_case : ir::CasesOf(module_, stmt)) {
    env_ = before;
    Eval(match_case.pattern);
    // `case n if n > 2`, `case 1 | 2 as n`: the name is the subject itself.
    const auto value_of = [&](ir::ExprId expr) { return tables_.facts.value(func_.module, expr); };
    Capture(match_case.pattern, subject);
    ValueId condition = match_case.irrefutable ? store_.True() : PatternFits(store_, module_, subject, match_case.pattern, value_of);
    if (match_case.guard) {
      const ValueId both[] = {condition, Eval(match_case.guard)};
      condition = store_.And(both);
    }
    path_.Enter(condition);
    EvalBlock(match_case.body);
    path_.Leave();
    exhaustive = exhaustive || (match_case.irrefutable && !match_case.guard);
    if (!env_.reachable) continue;
    if (!any) {
      result = std::move(env_);
      any = true;
      continue;
    }
    MergeArms(condition, std::move(env_), std::move(result));
    result = std::move(env_);
  }
  env_ = std::move(result);
  env_.reachable = any || !exhaustive;
}

void FunctionEvaluator::EvalAugAssign(const ir::Stmt& stmt) {
  const ValueId old_value = Eval(ir::ValueOf(stmt));
  const ValueId operand = Eval(ir::AssignedOf(stmt));
  Assign(ir::ValueOf(stmt), store_.Binary(static_cast<ir::BinaryOp>(stmt.op), old_value, operand));
}

void FunctionEvaluator::EvalImport(ir::ImportId import_id) {
  const ir::Import& import = module_.imports[import_id];
  if (import.star) return;
  const NameId bound = ir::BoundName(import, *tables_.program.names);
  // At the top level the module's table answers, which knows re-exports.
  if (func_.function == ir::kTopLevel) return;
  ValueId value = definitions_.Of(tables_.program.ImportTarget(func_.module, import_id));
  if (!value) value = store_.Symbol(tables_.NameSymbol(bound), {});
  if (const auto slot = scope_.slots.find(bound); slot != scope_.slots.end()) env_.slots[slot->second] = value;
}

// `@register(execute_mode=Execute.ALL)`: with these arguments no rank is kept away.
bool FunctionEvaluator::LetsAllThrough(const CallFact* call, knowledge::EntryId entry_id) {
  if (call == nullptr || call->entry != entry_id) return false;
  const knowledge::Entry& entry = knowledge_[entry_id];
  const auto args = tables_.facts.args(*call);
  const std::vector<ValueId> bound(args.begin(), args.end());
  return FormulaValue(tables_, entry.guard, &entry, bound, {}) == store_.True();
}

// A function is defined inside this one: what it finds in the variables around it is what they hold now, or later.
void FunctionEvaluator::NoteCapture(FuncId inner) {
  if (!scope_.has_nested || func_.function == ir::kTopLevel) return;
  is_captured_.resize(env_.slots.size());
  for (const NameId name : tables_.NamesIn(inner)) {
    const auto slot = scope_.slots.find(name);
    if (slot == scope_.slots.end() || is_captured_[slot->second]) continue;
    is_captured_[slot->second] = true;
    if (const ValueId value = env_.slots[slot->second]) tables_.Record(TableId::Captured, id_.index, name.index, value);
  }
}

void FunctionEvaluator::EvalFunctionDef(ir::FunctionId function_id) {
  const ir::Function& function = module_.functions[function_id];
  const FuncId id = tables_.program.func(func_.module, function_id);
  NoteCapture(id);
  for (uint32_t i = 0; i < function.params.size(); ++i) {
    const ir::Param& param = function.params[i];
    Eval(param.default_value);
    Eval(param.annotation);
    if (param.default_value) tables_.SetDefault(id, i, tables_.facts.value(func_.module, param.default_value));
    if (param.annotation) tables_.SetDeclared(id, i, tables_.AnnotatedValue(id, param.annotation));
  }
  ValueId value = definitions_.Function(id, {});
  std::vector<knowledge::EntryId> known;
  for (auto it = function.decorators.rbegin(); it != function.decorators.rend(); ++it) {
    const size_t first_call = facts_.calls.size();
    const ValueId decorator = LookThrough(tables_, Eval(*it));
    const Value& kind = store_[decorator];
    knowledge::EntryId entry;
    if (kind.kind == ValueKind::External) entry = knowledge_.FindEntry(kind.name());
    if (kind.kind == ValueKind::BoundExternal) entry = kind.entry();
    const Calls calls = Calls(facts_.calls).subspan(first_call);
    const auto found = std::ranges::find(calls, *it, &Calls::value_type::first);
    const CallFact* call = found == calls.end() ? nullptr : &found->second;
    if (!entry && call != nullptr && call->kind == CallKind::Known) entry = call->entry;
    if (entry) {
      if (knowledge_[entry].guard && !LetsAllThrough(call, entry)) known.push_back(entry);
      continue;
    }
    if (kind.kind != ValueKind::Function) continue;
    const CallArgument argument{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = value};
    const ValueId decorated = LookThrough(tables_, Call(*it, decorator, {&argument, 1}));
    if (store_[decorated].kind == ValueKind::Function) value = decorated;
  }
  // As they are written: the last one is the first that was applied.
  std::ranges::reverse(known);
  tables_.SetDecorated(id, tables_.Decorators(std::move(known)), value);
  if (!function.owner) AssignName(function.name, value);
}

void FunctionEvaluator::EvalClassDef(ir::ClassId class_id) {
  const ir::Class& ir_class = module_.classes[class_id];
  const binding::ClassId id = tables_.program.class_of(func_.module, class_id);
  for (const ir::Arg& base : ir_class.bases) Eval(base.value);
  for (const ir::ExprId decorator : ir_class.decorators) Eval(decorator);
  places_.push_back({.block = ir_class.body});
  const size_t extra_size = env_.extra.size();
  for (const ir::StmtId stmt : module_.statements(ir_class.body)) {
    EvalClassStmt(id, stmt);
    ++places_.back().index;
  }
  env_.extra.resize(extra_size);
  places_.pop_back();
  const ValueId value = definitions_.Class(id);
  // What a decorator gives back is another class at most: what it does with this one is what counts.
  for (auto it = ir_class.decorators.rbegin(); it != ir_class.decorators.rend(); ++it) {
    const ValueId decorator = LookThrough(tables_, tables_.facts.value(func_.module, *it));
    if (!decorator || store_[decorator].kind != ValueKind::Function) continue;
    const CallArgument argument{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = value};
    Call(*it, decorator, {&argument, 1});
  }
  if (!ir_class.owner) AssignName(ir_class.name, value);
}

// `trainer: Trainer = hydra.utils.instantiate(cfg.trainer)`: of what cannot be traced the annotation says the class.
ValueId FunctionEvaluator::AsDeclared(ValueId value, ir::ExprId annotation) {
  const ValueKind kind = store_[LookThrough(tables_, value)].kind;
  const bool is_open = (kind == ValueKind::Unknown || kind == ValueKind::Derived) && store_.axes(value).empty();
  if (!is_open) return value;
  Eval(annotation);
  const ValueId declared = tables_.AnnotatedValue(id_, annotation);
  const ValueKind declared_kind = declared ? store_[declared].kind : ValueKind::Unknown;
  return declared_kind == ValueKind::Object || declared_kind == ValueKind::Instance ? declared : value;
}

// What a declared field has where nothing is passed for it: of `field(default_factory=own_rank)` what that returns.
ValueId FunctionEvaluator::DefaultOf(ir::ExprId written) {
  const ValueId value = Eval(written);
  if (!written || module_[written].kind != ir::ExprKind::Call) return value;
  const ir::Expr& call = module_[written];
  const ValueId callee = tables_.facts.value(func_.module, ir::CalleeOf(call));
  if (!callee || store_[callee].kind != ValueKind::External || Text(store_[callee].name()) != "dataclasses.field") return value;
  for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
    const ir::Arg arg = ir::ArgAt(module_, call, i);
    const std::string_view keyword = arg.kind == ir::ArgKind::Keyword ? Text(arg.keyword) : std::string_view();
    const ValueId passed = tables_.facts.value(func_.module, arg.value);
    if (keyword == "default") return passed;
    if (keyword != "default_factory" || !passed) continue;
    if (store_[passed].kind == ValueKind::Function) return Evaluated(store_[passed].function()).returns;
    if (store_[passed].kind == ValueKind::External) return Call(written, passed, {});
  }
  return value;
}

void FunctionEvaluator::EvalClassStmt(binding::ClassId class_id, ir::StmtId stmt_id) {
  const ir::Stmt& stmt = module_[stmt_id];
  switch (stmt.kind) {
    case ir::StmtKind::Assign: {
      const ValueId value = Eval(ir::AssignedOf(stmt));
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
        if (module_[target].kind != ir::ExprKind::Name || IsUnread(target)) continue;
        tables_.Record(TableId::Fields, class_id.index, ir::NameOf(module_[target]).index, value);
        // What stands further down in the body reads it by its bare name: `notes = os.path.join(root, "notes")`.
        env_.extra.emplace_back(ir::NameOf(module_[target]), value);
      }
      break;
    }
    case ir::StmtKind::AnnAssign:
      // A default of a declared field is what a configuration overrides: nothing to rely on. Its type is.
      if (module_[ir::ValueOf(stmt)].kind != ir::ExprKind::Name) {
        Eval(ir::AssignedOf(stmt));
        break;
      }
      tables_.Record(TableId::Usual, class_id.index, ir::NameOf(module_[ir::ValueOf(stmt)]).index, Closed(DefaultOf(ir::AssignedOf(stmt))));
      Eval(ir::ExprId{stmt.c});
      tables_.Record(TableId::Fields, class_id.index, ir::NameOf(module_[ir::ValueOf(stmt)]).index,
                     tables_.AnnotatedValue(id_, ir::ExprId{stmt.c}));
      break;
    case ir::StmtKind::If:
      Eval(ir::ValueOf(stmt));
      for (const ir::StmtId inner : module_.statements(ir::BodyOf(stmt))) EvalClassStmt(class_id, inner);
      for (const ir::StmtId inner : module_.statements(ir::ElseBlockOf(stmt))) EvalClassStmt(class_id, inner);
      break;
    case ir::StmtKind::FunctionDef:
      EvalFunctionDef(ir::FunctionOf(stmt));
      break;
    case ir::StmtKind::ClassDef:
      EvalClassDef(ir::ClassOf(stmt));
      break;
    case ir::StmtKind::Expr:
      Eval(ir::ValueOf(stmt));
      break;
    default:
      break;
  }
}

void FunctionEvaluator::Assign(ir::ExprId target, ValueId value) {
  if (!target) return;
  const ir::Expr& expr = module_[target];
  SetValue(target, value);
  switch (expr.kind) {
    case ir::ExprKind::Name:
      if ((expr.flags & ir::kVariable) != 0) AssignVariable(ir::SymbolOf(expr), value);
      else if ((expr.flags & ir::kResolvedName) == 0) AssignOwn(target, value);
      break;
    case ir::ExprKind::Attribute:
      AssignAttribute(target, value);
      break;
    case ir::ExprKind::Subscript:
      AssignItem(target, value);
      break;
    case ir::ExprKind::Starred:
      Assign(ir::OperandOf(expr), value);
      break;
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List: {
      const ir::ExprList items = ir::Items(module_, expr);
      for (uint32_t i = 0; i < items.size(); ++i) Assign(items[i], Unpacked(value, i, items));
      break;
    }
    default:
      Eval(target);
      break;
  }
}

// A variable of this function, or of the file.
void FunctionEvaluator::AssignOwn(ir::ExprId target, ValueId value) {
  is_unread_ = IsUnread(target);
  AssignName(ir::NameOf(module_[target]), value);
  is_unread_ = false;
}

void FunctionEvaluator::AssignItem(ir::ExprId target, ValueId value) {
  const ir::Expr& expr = module_[target];
  Eval(ir::ObjectOf(expr));
  const ValueId key = Eval(ir::IndexOf(expr));
  if (const ValueId requests = WithRequest(ir::ObjectOf(expr), key, value)) return Assign(ir::ObjectOf(expr), requests);
  // `comms[i] = comm` of a language whose arrays are memory: all of them are such objects.
  if (module_.language != ir::Language::Python && IsObjectLike(store_[value].kind)) return Assign(ir::ObjectOf(expr), value);
  if (module_.language != ir::Language::Python) return Refill(ir::ObjectOf(expr), value);
  is_unread_ = IsUnread(target);
  PutIn(ir::ObjectOf(expr), key, value);
  is_unread_ = false;
}

// `MPI_Send_init(..., &requests[0])`: an array of what is prepared, with another one at that place. None of any other array.
ValueId FunctionEvaluator::WithRequest(ir::ExprId array, ValueId key, ValueId value) {
  constexpr uint32_t kMostRequests = 16;
  const std::optional<uint32_t> place = key && module_.language != ir::Language::Python ? store_[key].count() : std::nullopt;
  const bool is_prepared = value && store_[value].kind == ValueKind::Object && knowledge_.FindEntry(store_[value].name());
  if (!place || *place >= kMostRequests || !is_prepared) return {};
  const ValueId before = tables_.facts.value(func_.module, array);
  std::vector<ValueId> items;
  if (before && store_[before].kind == ValueKind::Tuple) items.assign(store_.Kids(before).begin(), store_.Kids(before).end());
  if (items.size() <= *place) items.resize(*place + 1, store_.NoneValue());
  items[*place] = value;
  return store_.Tuple(items);
}

// What one of the targets of `first, second = values` gets; of `first, *rest, last = values` the starred one gets a list of what
// the others leave.
ValueId FunctionEvaluator::Unpacked(ValueId value, uint32_t index, const ir::ExprList& targets) {
  const ValueId known = LookThrough(tables_, value);
  const auto kids = store_.Kids(known);
  if (store_[known].kind == ValueKind::Select) return store_.OfArms(known, [&](ValueId arm) { return Unpacked(arm, index, targets); });
  const auto count = static_cast<uint32_t>(targets.size());
  uint32_t star = 0;
  while (star < count && module_[targets[star]].kind != ir::ExprKind::Starred) ++star;
  const uint32_t after_star = star == count ? 0 : count - star - 1;
  const bool is_tuple = store_[known].kind == ValueKind::Tuple;
  const bool is_known = is_tuple && (star == count ? kids.size() == count : kids.size() + 1 >= count);
  if (index == star) {
    if (is_known) return store_.Tuple(std::vector<ValueId>(kids.begin() + star, kids.end() - after_star));
    const ValueId bounds[] = {store_.Int(star), after_star == 0 ? store_.NoneValue() : store_.Int(-int64_t{after_star})};
    const ValueId parts[] = {value, store_.Derived(tables_.NameSymbol("[:]"), bounds)};
    return store_.Derived(tables_.NameSymbol("[]"), parts);
  }
  const bool is_from_end = index > star;
  if (is_known) return is_from_end ? kids[kids.size() - (count - index)] : kids[index];
  const ValueId parts[] = {value, store_.Int(is_from_end ? int64_t{index} - count : index)};
  return store_.Derived(tables_.NameSymbol("[]"), parts);
}

void FunctionEvaluator::AssignName(NameId name, ValueId value) {
  if (!value) return;
  if (const auto slot = scope_.slots.find(name); slot != scope_.slots.end()) {
    env_.slots[slot->second] = value;
    if (slot->second < env_.passed.size()) env_.passed[slot->second].is_rebound = true;
    return RecordSlot(name, slot->second, value);
  }
  if (std::ranges::count(scope_.globals, name)) {
    tables_.Record(TableId::Globals, func_.module.index, name.index, Closed(Guarded(value)));
    return Put(definitions_.VariablesOf(func_.module), name, value);
  }
  if (std::ranges::count(scope_.nonlocals, name)) {
    for (FuncId outer = func_.parent; outer; outer = tables_.program.funcs[outer].parent) {
      if (!tables_.ScopeOf(outer).slots.contains(name)) continue;
      tables_.Record(TableId::Captured, outer.index, name.index, value);
      return Put(definitions_.VariablesOf(outer), name, value);
    }
  }
  for (auto& [extra_name, extra_value] : env_.extra) {
    if (extra_name != name) continue;
    extra_value = value;
    return;
  }
  env_.extra.emplace_back(name, value);
}

// What other functions find that read this variable.
void FunctionEvaluator::RecordSlot(NameId name, uint32_t slot, ValueId value) {
  if (func_.function == ir::kTopLevel) {
    if (!is_unread_) tables_.Record(TableId::Globals, func_.module.index, name.index, Closed(Guarded(value)));
  } else if (IsCaptured(slot)) {
    tables_.Record(TableId::Captured, id_.index, name.index, value);
  }
}

// A variable with static storage, of whatever file.
void FunctionEvaluator::AssignVariable(NameId symbol, ValueId value) {
  if (value) tables_.Record(TableId::Globals, kWholeProgram, symbol.index, Closed(Guarded(value)));
}

// What is assigned on some ranks only is nothing elsewhere. But in a loop over the groups of a partition each rank comes
// to its own: `for ranks in partition: group = new_group(ranks); if rank in ranks: self.group = group`.
ValueId FunctionEvaluator::Guarded(ValueId value) {
  const bool is_of_partition = store_[value].kind == ValueKind::Group && !trips_.empty();
  if (path_.axes().empty() || is_of_partition) return value;
  return store_.Select(path_.Condition(), value, store_.NoneValue());
}

void FunctionEvaluator::AssignAttribute(ir::ExprId target, ValueId value) {
  const ir::Expr& expr = module_[target];
  const ValueId object = Eval(ir::ObjectOf(expr));
  const bool is_seen = module_.language != ir::Language::Python || !ir::IsSurelyReplaced(module_, places_, target);
  if (is_seen) StoreAttribute(object, ir::AttrOf(expr), value, IsConstructor() && IsOwnMember(target));
  else KeepOnHeap(object, ir::AttrOf(expr), value);
  const ir::Expr& holder = module_[ir::ObjectOf(expr)];
  if (holder.kind == ir::ExprKind::Name && object && IsKnownByAttributes(object)) NoteContents(ir::NameOf(holder), AsItIsNow(object));
}

void FunctionEvaluator::MakeUniform(ir::ExprId target, const Agreement& agreement) {
  if (!target) return;
  const ir::Expr& expr = module_[target];
  // What was sent is known of a whole variable alone.
  const Agreement of_part{.lost = agreement.lost, .bound = agreement.bound};
  switch (expr.kind) {
    case ir::ExprKind::Name: {
      const NameId name = ir::NameOf(expr);
      if (const auto slot = scope_.slots.find(name); slot != scope_.slots.end()) {
        NoteParamMadeUniform(slot->second);
        if (const ValueId before = env_.slots[slot->second]) {
          const ValueId after = store_.Uniform(before, agreement.lost, Site(target, SiteUse::Reduced), agreement.bound);
          env_.slots[slot->second] = after;
          if (IsCaptured(slot->second)) tables_.Record(TableId::Captured, id_.index, name.index, after);
          const bool is_passed = slot->second < env_.passed.size() && !env_.passed[slot->second].is_rebound;
          if (is_passed && env_.passed[slot->second].content) env_.passed[slot->second].content = after;
          if (agreement.root) broadcasts_.Note(before, after, agreement.root);
        }
      }
      break;
    }
    case ir::ExprKind::Attribute: {
      const ValueId value = tables_.facts.value(func_.module, target);
      if (value) AssignAttribute(target, store_.Uniform(value, agreement.lost, Site(target, SiteUse::Reduced), agreement.bound));
      break;
    }
    case ir::ExprKind::Subscript:
      MakeUniform(ir::ObjectOf(expr), of_part);
      break;
    case ir::ExprKind::Call: {
      // `all_reduce(x.contiguous())` still says that x was meant.
      const ir::Expr& callee = module_[ir::CalleeOf(expr)];
      if (callee.kind == ir::ExprKind::Attribute) MakeUniform(ir::ObjectOf(callee), of_part);
      break;
    }
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
      for (const ir::ExprId item : ir::Items(module_, expr)) {
        // `broadcast_object_list([rank])`: the list gets another number, and the variable keeps its own.
        const ValueId held = tables_.facts.value(func_.module, item);
        if (!held || !IsRankFormula(held)) MakeUniform(item, of_part);
      }
      break;
    default:
      break;
  }
}

void FunctionEvaluator::NoteParamMadeUniform(uint32_t slot) {
  if (slot >= function_.params.size()) return;
  facts_.param_made_uniform.resize(function_.params.size());
  facts_.param_made_uniform[slot] = true;
}

}  // namespace allranks::variation
