#include <clang/AST/StmtOpenMP.h>

#include "frontends/cpp/clang/lower_function.h"
#include "frontends/cpp/clang/naming.h"

namespace allranks::cpp {
namespace {

// A level of C++ makes at most three of the IR: the statement, its expression, a call in it.
constexpr uint32_t kDeepestStatement = ir::kMaxLoweredDepth / 4;

const clang::VarDecl* SingleVariable(const clang::Stmt* stmt) {
  const auto* declaration = llvm::dyn_cast_or_null<clang::DeclStmt>(stmt);
  if (declaration == nullptr || !declaration->isSingleDecl()) return nullptr;
  return llvm::dyn_cast<clang::VarDecl>(declaration->getSingleDecl());
}

const clang::VarDecl* VariableOf(const clang::Expr* expr) {
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts());
  return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
}

// The variable that a condition tests for failure: `r != ncclSuccess && r != ncclInProgress`, `r`.
const clang::VarDecl* StatusIn(const clang::Expr* tested) {
  tested = tested->IgnoreParenImpCasts();
  const auto* compared = llvm::dyn_cast<clang::BinaryOperator>(tested);
  if (compared != nullptr && compared->getOpcode() == clang::BO_LAnd) {
    const clang::VarDecl* status = StatusIn(compared->getLHS());
    return status == StatusIn(compared->getRHS()) ? status : nullptr;
  }
  if (compared != nullptr && compared->getOpcode() == clang::BO_NE) tested = compared->getLHS();
  return VariableOf(tested);
}

// `if (r != ncclSuccess) { ...; return r; }` with the status that a call gave, or `goto fail`: how C hands a failure on, what a
// throw is in other words. Null: something else. A whole number is a status only where a macro tests it, `CHECK(f())`.
const clang::Stmt* FailureExit(const clang::IfStmt& stmt, const std::unordered_set<const clang::VarDecl*>& statuses) {
  const clang::Stmt* last = stmt.getThen();
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(last)) last = block->body_empty() ? nullptr : block->body_back();
  if (last == nullptr || stmt.getElse() != nullptr) return nullptr;
  const clang::VarDecl* status = StatusIn(stmt.getCond());
  if (status == nullptr || !status->isLocalVarDecl()) return nullptr;
  const clang::QualType type = status->getType();
  if (!type->isEnumeralType() && !(type->isIntegerType() && stmt.getIfLoc().isMacroID())) return nullptr;
  if (llvm::isa<clang::GotoStmt>(last)) return statuses.contains(status) ? last : nullptr;
  const auto* result = llvm::dyn_cast<clang::ReturnStmt>(last);
  if (result == nullptr || result->getRetValue() == nullptr || VariableOf(result->getRetValue()) != status) return nullptr;
  const bool is_made = status->getInit() != nullptr && llvm::isa<clang::CallExpr>(status->getInit()->IgnoreParenImpCasts());
  return is_made ? result : nullptr;
}

}  // namespace

bool Leaves(const clang::Stmt* stmt, bool breaks, bool continues) {
  if (stmt == nullptr || llvm::isa<clang::Expr>(stmt)) return false;
  if (llvm::isa<clang::BreakStmt>(stmt)) return breaks;
  if (llvm::isa<clang::ContinueStmt>(stmt)) return continues;
  const bool is_loop = llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(stmt);
  if (is_loop) return false;
  if (llvm::isa<clang::SwitchStmt>(stmt)) breaks = false;
  return llvm::any_of(stmt->children(), [&](const clang::Stmt* child) { return Leaves(child, breaks, continues); });
}

ir::BlockId FunctionLowering::Block(const clang::Stmt* stmt) {
  Stmts stmts;
  Append(stmt, &stmts);
  if (stmts.empty()) stmts.push_back(builder_.Pass(stmt ? At(*stmt) : around_));
  return builder_.Block(stmts);
}

// What follows a variable with a destructor of the project runs before that destructor, whatever way it is left.
void FunctionLowering::Sequence(std::span<const clang::Stmt* const> stmts, Stmts* out) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    if (const size_t behind = Section(stmts, i, out); behind > i) {
      i = behind - 1;
      continue;
    }
    Append(stmts[i], out);
    const clang::VarDecl* variable = SingleVariable(stmts[i]);
    const ir::ExprId destructor = variable ? DestructorCall(*variable) : ir::ExprId();
    if (!destructor) continue;
    const ir::Range range = At(*stmts[i]);
    Stmts rest;
    ++depth_;
    ++guarded_;
    Sequence(stmts.subspan(i + 1), &rest);
    --guarded_;
    --depth_;
    if (rest.empty()) rest.push_back(builder_.Pass(range));
    const ir::StmtId last[] = {builder_.ExprStmt(range, destructor)};
    const ir::BlockId body = builder_.Block(rest);
    out->push_back(builder_.Try(range, false, body, {}, {}, builder_.Block(last)));
    return;
  }
}

ir::ExprId FunctionLowering::DestructorCall(const clang::VarDecl& variable) {
  if (!variable.hasLocalStorage() || variable.getType()->isReferenceType()) return {};
  const clang::CXXRecordDecl* record = variable.getType()->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition()) return {};
  const clang::CXXDestructorDecl* destructor = record->getDestructor();
  if (destructor == nullptr || !destructor->isUserProvided() || !unit_.IsProject(destructor->getLocation())) return {};
  const ir::Range range = At(variable.getSourceRange());
  const ir::Arg object[] = {{.value = builder_.Name(range, LocalName(variable))}};
  return builder_.Call(range, FunctionName(*destructor, range), object, ir::kMethodCall);
}

void FunctionLowering::Flush(Stmts* out) {
  out->insert(out->end(), pending_.begin(), pending_.end());
  pending_.clear();
}

void FunctionLowering::Append(const clang::Stmt* stmt, Stmts* out) {
  if (stmt == nullptr) return;
  if (depth_ >= kDeepestStatement) {
    const ir::Range range = At(*stmt);
    builder_.AddProblem(ir::ProblemKind::Limit, range, "nesting deeper than " + std::to_string(kDeepestStatement) + " levels");
    out->push_back(builder_.OpaqueStmt(range, {}));
    return;
  }
  ++depth_;
  Dispatch(*stmt, out);
  --depth_;
}

void FunctionLowering::Dispatch(const clang::Stmt& stmt, Stmts* out) {
  const ir::Range range = At(stmt);
  switch (stmt.getStmtClass()) {
    case clang::Stmt::CompoundStmtClass: {
      const auto& compound = llvm::cast<clang::CompoundStmt>(stmt);
      return Sequence({compound.body_begin(), compound.size()}, out);
    }
    case clang::Stmt::DeclStmtClass:
      for (const clang::Decl* decl : llvm::cast<clang::DeclStmt>(stmt).decls()) {
        if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl)) Declare(*variable, out);
      }
      return;
    case clang::Stmt::IfStmtClass:
      return If(llvm::cast<clang::IfStmt>(stmt), out);
    case clang::Stmt::WhileStmtClass:
    case clang::Stmt::DoStmtClass:
    case clang::Stmt::ForStmtClass:
    case clang::Stmt::CXXForRangeStmtClass:
    case clang::Stmt::SwitchStmtClass:
      return Loop(stmt, out);
    case clang::Stmt::CXXTryStmtClass:
      return Try(llvm::cast<clang::CXXTryStmt>(stmt), out);
    case clang::Stmt::ReturnStmtClass: {
      const clang::Expr* value = llvm::cast<clang::ReturnStmt>(stmt).getRetValue();
      const ir::ExprId lowered = value ? Expr(value) : ir::ExprId();
      Flush(out);
      out->push_back(&stmt == failure_ ? builder_.Raise(range, lowered, {}) : builder_.Return(range, lowered));
      return;
    }
    case clang::Stmt::BreakStmtClass:
      out->push_back(builder_.Break(range));
      return;
    case clang::Stmt::ContinueStmtClass:
      if (loop_.step != nullptr) Append(loop_.step, out);
      out->push_back(builder_.Continue(range));
      return;
    case clang::Stmt::GotoStmtClass:
      return Goto(stmt, llvm::cast<clang::GotoStmt>(stmt).getLabel(), out);
    case clang::Stmt::IndirectGotoStmtClass:
      return Goto(stmt, nullptr, out);
    case clang::Stmt::GCCAsmStmtClass:
      out->push_back(builder_.OpaqueStmt(range, {}));
      return;
    case clang::Stmt::LabelStmtClass:
      return Append(llvm::cast<clang::LabelStmt>(stmt).getSubStmt(), out);
    case clang::Stmt::AttributedStmtClass:
      return Append(llvm::cast<clang::AttributedStmt>(stmt).getSubStmt(), out);
    case clang::Stmt::NullStmtClass:
      return;
    default:
      break;
  }
  if (const auto* expr = llvm::dyn_cast<clang::Expr>(&stmt)) return ExprStmt(*expr, out);
  if (const auto* directive = llvm::dyn_cast<clang::OMPExecutableDirective>(&stmt)) return Directive(*directive, out);
  // Of what else there may be, what is below it runs.
  for (const clang::Stmt* child : stmt.children()) Append(child, out);
}

void FunctionLowering::Loop(const clang::Stmt& stmt, Stmts* out) {
  const size_t at = out->size();
  Jumps outer = std::exchange(leaving_, {});
  // `do { ... } while (0)` and a `switch` without `break` within its arms become none.
  bool is_loop = true;
  ++loops_;
  if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(&stmt)) While(*loop, out);
  if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(&stmt)) is_loop = Do(*loop, out);
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(&stmt)) For(*loop, out);
  if (const auto* loop = llvm::dyn_cast<clang::CXXForRangeStmt>(&stmt)) RangeFor(*loop, out);
  if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(&stmt)) is_loop = Switch(*choice, out);
  --loops_;
  if (is_loop) return JumpOn(at, std::move(outer), out);
  for (const auto& jump : outer) Note(jump);
}

void FunctionLowering::If(const clang::IfStmt& stmt, Stmts* out) {
  Append(stmt.getInit(), out);
  Append(stmt.getConditionVariableDeclStmt(), out);
  if (stmt.isConstexpr()) {
    // Of an instance only one arm is left.
    const std::optional<const clang::Stmt*> taken = stmt.getNondiscardedCase(unit_.context());
    if (taken) return Append(*taken, out);
  }
  const ir::ExprId test = Expr(stmt.getCond());
  Flush(out);
  if (const clang::Stmt* failure = FailureExit(stmt, statuses_)) failure_ = failure;
  const ir::BlockId then_block = Block(stmt.getThen());
  const ir::BlockId else_block = stmt.getElse() ? Block(stmt.getElse()) : ir::BlockId();
  out->push_back(builder_.If(At(stmt), test, then_block, else_block));
}

void FunctionLowering::While(const clang::WhileStmt& stmt, Stmts* out) {
  Append(stmt.getConditionVariableDeclStmt(), out);
  const Around outer_loop = std::exchange(loop_, {});
  const ir::ExprId test = Expr(stmt.getCond());
  Flush(out);
  const ir::BlockId body = Block(stmt.getBody());
  loop_ = outer_loop;
  out->push_back(builder_.While(At(stmt), test, body, {}));
}

// False: what it does once stands in its place.
bool FunctionLowering::Do(const clang::DoStmt& stmt, Stmts* out) {
  clang::Expr::EvalResult result;
  const bool is_constant = !stmt.getCond()->isValueDependent() &&
                           stmt.getCond()->EvaluateAsInt(result, unit_.context());
  const bool runs_once = is_constant && result.Val.getInt() == 0;
  // `do { ... } while (0)` of a macro.
  if (runs_once && !Leaves(stmt.getBody(), true, true)) {
    --loops_;
    Append(stmt.getBody(), out);
    ++loops_;
    return false;
  }
  const ir::Range range = At(stmt);
  const Around outer_loop = std::exchange(loop_, {});
  Stmts body;
  Append(stmt.getBody(), &body);
  if (runs_once) {
    body.push_back(builder_.Break(range));
  } else {
    const ir::ExprId again = Expr(stmt.getCond());
    Flush(&body);
    const ir::StmtId leave[] = {builder_.Break(range)};
    const ir::ExprId ends = builder_.Unary(At(*stmt.getCond()), ir::UnaryOp::Not, again);
    body.push_back(builder_.If(range, ends, builder_.Block(leave), {}));
  }
  loop_ = outer_loop;
  out->push_back(builder_.While(range, builder_.Constant(range, ir::ConstantKind::True), builder_.Block(body), {}));
  return true;
}

void FunctionLowering::For(const clang::ForStmt& stmt, Stmts* out) {
  if (CountingFor(stmt, out)) return;
  Append(stmt.getInit(), out);
  Append(stmt.getConditionVariableDeclStmt(), out);
  const ir::Range range = At(stmt);
  const ir::ExprId test =
      stmt.getCond() ? Expr(stmt.getCond()) : builder_.Constant(range, ir::ConstantKind::True);
  Flush(out);
  const Around outer_loop = std::exchange(loop_, {.step = stmt.getInc()});
  Stmts body;
  Append(stmt.getBody(), &body);
  loop_ = outer_loop;
  Append(stmt.getInc(), &body);
  if (body.empty()) body.push_back(builder_.Pass(range));
  out->push_back(builder_.While(range, test, builder_.Block(body), {}));
}

// `for (int i = a; i < b; i += s)`: a loop over range(a, b, s).
bool FunctionLowering::CountingFor(const clang::ForStmt& stmt, Stmts* out) {
  const auto* test = llvm::dyn_cast_or_null<clang::BinaryOperator>(stmt.getCond());
  if (test == nullptr || stmt.getInc() == nullptr) return false;
  const clang::Expr* start = nullptr;
  const clang::VarDecl* index = SingleVariable(stmt.getInit());
  if (index != nullptr) start = index->getInit();
  if (const auto* assign = llvm::dyn_cast_or_null<clang::BinaryOperator>(stmt.getInit())) {
    if (assign->getOpcode() == clang::BO_Assign) {
      index = VariableOf(assign->getLHS());
      start = assign->getRHS();
    }
  }
  const bool is_local = index != nullptr && index->hasLocalStorage() && index->getType()->isIntegerType();
  if (!is_local || start == nullptr || VariableOf(test->getLHS()) != index) return false;
  const bool inclusive = test->getOpcode() == clang::BO_LE;
  if (!inclusive && test->getOpcode() != clang::BO_LT && test->getOpcode() != clang::BO_NE) return false;
  const clang::Expr* step = nullptr;
  if (const auto* plus = llvm::dyn_cast<clang::UnaryOperator>(stmt.getInc()->IgnoreParenImpCasts())) {
    if (!plus->isIncrementOp() || VariableOf(plus->getSubExpr()) != index) return false;
  } else if (const auto* add = llvm::dyn_cast<clang::CompoundAssignOperator>(stmt.getInc())) {
    if (add->getOpcode() != clang::BO_AddAssign || VariableOf(add->getLHS()) != index) return false;
    step = add->getRHS();
  } else {
    return false;
  }
  const ir::Range range = At(stmt);
  const ir::Range head = At(*test);
  std::vector<ir::Arg> args = {{.value = Expr(start)}, {.value = Expr(test->getRHS())}};
  if (inclusive) args[1].value = builder_.Binary(head, ir::BinaryOp::Add, args[1].value, builder_.Int(head, 1));
  if (step != nullptr) args.push_back({.value = Expr(step)});
  const ir::ExprId iterable = builder_.Call(head, BuiltinName("range", head), args);
  Flush(out);
  const ir::ExprId target = builder_.Name(head, LocalName(*index));
  const Around outer_loop = std::exchange(loop_, {});
  const ir::BlockId body = Block(stmt.getBody());
  loop_ = outer_loop;
  out->push_back(builder_.For(range, false, target, iterable, body, {}));
  return true;
}

void FunctionLowering::RangeFor(const clang::CXXForRangeStmt& stmt, Stmts* out) {
  Append(stmt.getInit(), out);
  const ir::ExprId iterable = Expr(stmt.getRangeInit());
  Flush(out);
  const clang::VarDecl* variable = stmt.getLoopVariable();
  const ir::Range range = At(variable->getSourceRange());
  ir::ExprId target = builder_.Name(range, LocalName(*variable));
  if (const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(variable)) {
    std::vector<ir::ExprId> items;
    for (const clang::BindingDecl* part : parts->bindings()) items.push_back(builder_.Name(range, LocalName(*part)));
    target = builder_.Tuple(range, items);
  }
  const Around outer_loop = std::exchange(loop_, {});
  const ir::BlockId body = Block(stmt.getBody());
  loop_ = outer_loop;
  out->push_back(builder_.For(At(stmt), false, target, iterable, body, {}));
}

void FunctionLowering::Try(const clang::CXXTryStmt& stmt, Stmts* out) {
  ++guarded_;
  const ir::BlockId body = Block(stmt.getTryBlock());
  --guarded_;
  std::vector<ir::Handler> handlers;
  for (unsigned i = 0; i < stmt.getNumHandlers(); ++i) {
    const clang::CXXCatchStmt& handler = *stmt.getHandler(i);
    const ir::Range range = At(handler);
    const clang::VarDecl* variable = handler.getExceptionDecl();
    ir::Handler lowered{.begin = range.begin, .end = range.end};
    if (variable != nullptr) {
      lowered.type = TypeName(variable->getType(), range);
      if (!variable->getName().empty()) lowered.name = LocalName(*variable);
    }
    lowered.body = Block(handler.getHandlerBlock());
    handlers.push_back(lowered);
  }
  out->push_back(builder_.Try(At(stmt), false, body, handlers, {}, {}));
}

// `static MPI_Comm side = Duplicate();`: who comes here first makes it.
void FunctionLowering::DeclareOnce(const clang::VarDecl& variable, Stmts* out) {
  const clang::Expr* init = variable.getInit();
  if (init == nullptr || init->isValueDependent() || init->containsErrors() || init->isConstantInitializer(unit_.context(), false)) return;
  const ir::Range range = At(variable.getSourceRange());
  const ir::Comparison absent[] = {{ir::CompareOp::Is, builder_.Constant(range, ir::ConstantKind::None)}};
  const ir::ExprId is_absent = builder_.Compare(range, Variable(variable, range), absent);
  const ir::ExprId value = Expr(init);
  Stmts made;
  Flush(&made);
  const ir::ExprId targets[] = {Variable(variable, range)};
  made.push_back(builder_.Assign(range, targets, value));
  out->push_back(builder_.If(range, is_absent, builder_.Block(made), {}));
}

void FunctionLowering::Declare(const clang::VarDecl& variable, Stmts* out) {
  const ir::Range range = At(variable.getSourceRange());
  if (variable.isStaticLocal()) return DeclareOnce(variable, out);
  if (!variable.isLocalVarDeclOrParm() || AliasOf(variable) != nullptr) return;
  const auto* parts = llvm::dyn_cast<clang::DecompositionDecl>(&variable);
  const clang::Expr* init = variable.getInit();
  const auto* items = init ? llvm::dyn_cast<clang::InitListExpr>(init->IgnoreImplicit()) : nullptr;
  ir::ExprId target = builder_.Name(range, LocalName(variable), NumberFlag(variable.getType()));
  if (parts != nullptr) {
    std::vector<ir::ExprId> names;
    for (const clang::BindingDecl* part : parts->bindings()) names.push_back(builder_.Name(range, LocalName(*part)));
    target = builder_.Tuple(range, names);
  }
  const bool is_record = variable.getType()->isRecordType();
  if (init == nullptr || init->containsErrors()) {
    // An object of a class with members of plain types begins to exist here, with nothing in it.
    const bool is_class = variable.getType()->getAsCXXRecordDecl() != nullptr;
    const ir::ExprId type = is_class ? TypeName(variable.getType(), range) : ir::ExprId();
    if (type && init == nullptr) {
      const ir::ExprId targets[] = {target};
      out->push_back(builder_.Assign(range, targets, builder_.Call(range, type, {})));
      return;
    }
    const ir::ExprId parts_of_init = init ? Expr(init) : ir::ExprId();
    Flush(out);
    out->push_back(builder_.AnnAssign(range, target, BuiltinName("object", range), parts_of_init));
    return;
  }
  const ir::ExprId value = Expr(init);
  Flush(out);
  const ir::ExprId targets[] = {target};
  out->push_back(builder_.Assign(range, targets, value));
  if (items != nullptr && is_record && parts == nullptr) InitialiseFields(variable, *items, out);
}

// `Job job = {rank, size};`
void FunctionLowering::InitialiseFields(const clang::VarDecl& variable, const clang::InitListExpr& items, Stmts* out) {
  const clang::RecordDecl* record = variable.getType()->getAsRecordDecl();
  unsigned next = 0;
  if (const auto* with_bases = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(record)) {
    if (with_bases->getNumBases() > 0) return;
  }
  for (const clang::FieldDecl* field : record->fields()) {
    if (next >= items.getNumInits()) return;
    const clang::Expr* item = items.getInit(next++);
    if (llvm::isa<clang::ImplicitValueInitExpr>(item)) continue;
    const ir::Range range = At(*item);
    const ir::ExprId object = builder_.Name(range, LocalName(variable));
    const ir::ExprId targets[] = {builder_.Attribute(range, object, unit_.Name(ShortName(*field)))};
    const ir::ExprId value = Expr(item);
    Flush(out);
    out->push_back(builder_.Assign(range, targets, value));
  }
}

void FunctionLowering::ExprStmt(const clang::Expr& expr, Stmts* out) {
  const clang::Expr* plain = expr.IgnoreImplicit()->IgnoreParens();
  if (const auto* thrown = llvm::dyn_cast<clang::CXXThrowExpr>(plain)) {
    const ir::ExprId value = thrown->getSubExpr() ? Expr(thrown->getSubExpr()) : ir::ExprId();
    Flush(out);
    out->push_back(builder_.Raise(At(expr), value, {}));
    return;
  }
  if (Assignment(*plain, out)) return;
  const ir::ExprId value = Expr(&expr);
  Flush(out);
  out->push_back(builder_.ExprStmt(At(expr), value));
}

bool FunctionLowering::Assignment(const clang::Expr& expr, Stmts* out) {
  const ir::Range range = At(expr);
  const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&expr);
  const bool is_assign_call = call != nullptr && call->getOperator() == clang::OO_Equal && call->getNumArgs() == 2;
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(&expr);
  if (is_assign_call || (binary != nullptr && binary->getOpcode() == clang::BO_Assign)) {
    const ir::ExprId value = Expr(binary ? binary->getRHS() : call->getArg(1));
    const ir::ExprId targets[] = {Expr(binary ? binary->getLHS() : call->getArg(0))};
    Flush(out);
    out->push_back(builder_.Assign(range, targets, value));
    return true;
  }
  const auto* step = llvm::dyn_cast<clang::UnaryOperator>(&expr);
  if (step != nullptr && step->isIncrementDecrementOp()) {
    const ir::BinaryOp op = step->isIncrementOp() ? ir::BinaryOp::Add : ir::BinaryOp::Sub;
    const ir::ExprId target = Expr(step->getSubExpr());
    Flush(out);
    out->push_back(builder_.AugAssign(range, op, target, builder_.Int(range, 1)));
    return true;
  }
  return false;
}

}  // namespace allranks::cpp
