#include "frontends/cpp/clang/lower_function.h"
#include "frontends/cpp/clang/naming.h"

namespace allranks::cpp {
namespace {

// Pointers that are assigned, stepped, or whose own address is taken.
void CollectReseated(const clang::Stmt* stmt, std::unordered_set<const clang::VarDecl*>* reseated) {
  if (stmt == nullptr) return;
  const clang::Expr* changed = nullptr;
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(stmt)) {
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) changed = unary->getSubExpr();
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(stmt); binary && binary->isAssignmentOp()) {
    changed = binary->getLHS();
  }
  if (changed != nullptr) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(changed->IgnoreParenImpCasts());
    if (name != nullptr) reseated->insert(llvm::dyn_cast<clang::VarDecl>(name->getDecl()));
  }
  for (const clang::Stmt* child : stmt->children()) CollectReseated(child, reseated);
}

// Variables that are given what a call returns.
void CollectStatuses(const clang::Stmt* stmt, std::unordered_set<const clang::VarDecl*>* statuses) {
  if (stmt == nullptr) return;
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(stmt);
  if (binary != nullptr && binary->getOpcode() == clang::BO_Assign && llvm::isa<clang::CallExpr>(binary->getRHS()->IgnoreParenImpCasts())) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(binary->getLHS()->IgnoreParenImpCasts());
    if (name != nullptr) statuses->insert(llvm::dyn_cast<clang::VarDecl>(name->getDecl()));
  }
  if (const auto* declaration = llvm::dyn_cast<clang::DeclStmt>(stmt)) {
    for (const clang::Decl* decl : declaration->decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
      const clang::Expr* init = variable ? variable->getInit() : nullptr;
      if (init != nullptr && llvm::isa<clang::CallExpr>(init->IgnoreParenImpCasts())) statuses->insert(variable);
    }
  }
  for (const clang::Stmt* child : stmt->children()) CollectStatuses(child, statuses);
}

bool IsFieldOfThis(const clang::Expr* expr, const clang::FieldDecl* field) {
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr->IgnoreParenImpCasts());
  const bool is_own = member != nullptr && llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts());
  return is_own && member->getMemberDecl() == field;
}

bool IsWrittenThrough(clang::QualType type);

// Whether a constructor gives a field another value before it does anything else than that with other fields:
// `T() { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }`. What the field is declared with is never seen then.
bool IsOverwritten(const clang::FieldDecl* field, const clang::Stmt* body) {
  const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(body);
  if (block == nullptr) return false;
  for (const clang::Stmt* stmt : block->body()) {
    const auto* expr = llvm::dyn_cast<clang::Expr>(stmt);
    if (expr == nullptr) return false;
    expr = expr->IgnoreImplicit()->IgnoreParens();
    if (const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(expr)) {
      if (assign->getOpcode() != clang::BO_Assign) return false;
      if (IsFieldOfThis(assign->getLHS(), field)) return true;
      continue;
    }
    const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
    const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
    if (callee == nullptr || llvm::isa<clang::CXXMethodDecl>(callee)) return false;
    for (unsigned i = 0; i < std::min(call->getNumArgs(), callee->getNumParams()); ++i) {
      const clang::Expr* arg = call->getArg(i)->IgnoreParenImpCasts();
      const auto* address = llvm::dyn_cast<clang::UnaryOperator>(arg);
      if (address == nullptr || address->getOpcode() != clang::UO_AddrOf) continue;
      if (IsFieldOfThis(address->getSubExpr(), field) && IsWrittenThrough(callee->getParamDecl(i)->getType())) return true;
    }
  }
  return false;
}

bool IsWrittenThrough(clang::QualType type) {
  const clang::QualType pointee = type->isReferenceType() || type->isPointerType() ? type->getPointeeType() : clang::QualType();
  return !pointee.isNull() && !pointee.isConstQualified() && !pointee->isFunctionType() && !type->isRValueReferenceType();
}

}  // namespace

void LowerFunction(Unit& unit, const clang::FunctionDecl& function) {
  FileModule* module = unit.ModuleOf(function.getLocation());
  if (module != nullptr) FunctionLowering(unit, *module).Function(function);
}

void LowerGlobal(Unit& unit, const clang::VarDecl& variable) {
  FileModule* module = unit.ModuleOf(variable.getLocation());
  const bool is_fixed = variable.getType().isConstQualified() || variable.isConstexpr();
  // What a variable starts with says nothing once something else was assigned.
  if (module == nullptr || !variable.hasInit() || variable.isTemplated() || !is_fixed) return;
  if (variable.getInit()->isValueDependent()) return;
  FunctionLowering(unit, *module).Global(variable);
}

void FunctionLowering::Function(const clang::FunctionDecl& function) {
  around_ = unit_.RangeIn(module_, function.getSourceRange()).value_or(ir::Range{});
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  const bool has_object = method != nullptr && method->isInstance();
  ir::Function head{.name = unit_.Name(ShortName(function)),
                    .symbol = unit_.Name(SymbolOf(function)),
                    .qualified = unit_.Name(QualifiedName(function)),
                    .parent = ir::kTopLevel,
                    .begin = around_.begin,
                    .end = around_.end};
  if (method != nullptr) head.owner = unit_.ClassIn(module_, method->getParent());
  if (method != nullptr && method->isVirtual()) head.flags |= ir::kVirtual;
  const ir::Range name = At(function.getNameInfo().getSourceRange());
  head.name_begin = name.begin;
  head.name_end = name.end;
  current_ = builder_.StartFunction(std::move(head));
  std::vector<ir::Param> params;
  if (has_object) params.push_back({.name = unit_.Name("this"), .begin = name.begin, .end = name.end});
  for (ir::Param& param : Params(function)) params.push_back(param);
  const ir::BlockId body = FunctionBody(function);
  ir::Function& lowered = builder_.EditFunction(current_);
  lowered.params = std::move(params);
  lowered.body = body;
  module_.body.push_back(builder_.FunctionDef(around_, current_));
}

void FunctionLowering::Global(const clang::VarDecl& variable) {
  around_ = At(variable.getSourceRange());
  current_ = ir::kTopLevel;
  const ir::ExprId targets[] = {Variable(variable, around_)};
  const ir::ExprId value = Expr(variable.getInit());
  module_.body.push_back(builder_.Assign(around_, targets, value));
}

ir::Range FunctionLowering::At(clang::SourceRange range) const {
  return unit_.RangeIn(module_, range).value_or(around_);
}

std::vector<ir::Param> FunctionLowering::Params(const clang::FunctionDecl& function) {
  std::vector<ir::Param> params;
  for (const clang::ParmVarDecl* param : function.parameters()) {
    const ir::Range range = At(param->getSourceRange());
    params.push_back({.name = LocalName(*param),
                      .annotation = TypeName(param->getType(), range),
                      .is_out = IsWrittenThrough(param->getType()),
                      .begin = range.begin,
                      .end = range.end});
  }
  return params;
}

// The class that a value of this type is an object of, through pointers, references and smart pointers; none of others.
ir::ExprId FunctionLowering::TypeName(clang::QualType type, ir::Range range) {
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (const auto* instance = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record)) {
    const llvm::StringRef name = instance->getName();
    const bool is_pointer = name == "shared_ptr" || name == "unique_ptr" || name == "intrusive_ptr";
    if (is_pointer && instance->getTemplateArgs().size() > 0) {
      return TypeName(instance->getTemplateArgs()[0].getAsType(), range);
    }
  }
  if (record == nullptr) {
    const clang::RecordType* c_record = type->getAs<clang::RecordType>();
    const auto* alias = type->getAs<clang::TypedefType>();
    if (c_record == nullptr && alias == nullptr) return {};
    const clang::NamedDecl& named = alias ? static_cast<const clang::NamedDecl&>(*alias->getDecl()) : *c_record->getDecl();
    return builder_.Resolved(range, unit_.Name(QualifiedName(named)), {});
  }
  return builder_.Resolved(range, unit_.Name(QualifiedName(*record)), unit_.Name(SymbolOf(*record)));
}

ir::BlockId FunctionLowering::FunctionBody(const clang::FunctionDecl& function) {
  CollectReseated(function.getBody(), &reseated_);
  CollectStatuses(function.getBody(), &statuses_);
  Stmts stmts;
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function)) {
    MemberInitialisers(*constructor, &stmts);
  }
  const clang::Stmt* body = function.getBody();
  if (const auto* compound = llvm::dyn_cast_or_null<clang::CompoundStmt>(body)) {
    top_level_ = {compound->body_begin(), compound->size()};
    Sequence(top_level_, &stmts);
  } else {
    Append(body, &stmts);
  }
  // `= 0`: classes below have it.
  if (body == nullptr && function.isPureVirtual()) stmts.push_back(builder_.Raise(around_, {}, {}));
  if (stmts.empty()) stmts.push_back(builder_.Pass(around_));
  return builder_.Block(stmts);
}

// `Job(int r) : Base(r), rank_(r)`.
void FunctionLowering::MemberInitialisers(const clang::CXXConstructorDecl& constructor, Stmts* out) {
  for (const clang::CXXCtorInitializer* item : constructor.inits()) {
    if (!item->getInit()) continue;
    const bool is_default = llvm::isa<clang::CXXDefaultInitExpr>(item->getInit());
    if (is_default && item->getAnyMember() && IsOverwritten(item->getAnyMember(), constructor.getBody())) continue;
    const ir::Range range = item->isWritten() ? At(item->getSourceRange()) : around_;
    const ir::ExprId object = builder_.Name(range, unit_.Name("this"));
    if (const clang::FieldDecl* field = item->getAnyMember()) {
      const ir::ExprId value = Expr(item->getInit());
      const ir::ExprId targets[] = {builder_.Attribute(range, object, unit_.Name(ShortName(*field)))};
      Flush(out);
      out->push_back(builder_.Assign(range, targets, value));
      continue;
    }
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(item->getInit()->IgnoreImplicit());
    if (made == nullptr || !unit_.IsProject(made->getConstructor()->getLocation())) continue;
    std::vector<ir::Arg> args = {{.value = object}};
    for (const ir::Arg& arg : Args({made->getArgs(), made->getNumArgs()})) args.push_back(arg);
    const ir::ExprId callee = FunctionName(*made->getConstructor(), range);
    Flush(out);
    out->push_back(builder_.ExprStmt(range, builder_.Call(range, callee, args, ir::kMethodCall)));
  }
}

ir::ExprId FunctionLowering::Lambda(const clang::LambdaExpr& lambda) {
  const ir::Range range = At(lambda);
  const clang::CXXMethodDecl* call = lambda.getCallOperator();
  if (call == nullptr || call->isDependentContext()) return Parts(lambda);
  const ir::FunctionId outer = current_;
  const ir::FunctionId id = builder_.StartFunction({.parent = outer, .begin = range.begin, .end = range.end,
                                                    .name_begin = range.begin, .name_end = range.begin});
  current_ = id;
  std::vector<ir::Param> params = Params(*call);
  Stmts stmts;
  Stmts outer_pending = std::exchange(pending_, {});
  std::vector<ir::NameId> shared;
  for (const clang::LambdaCapture& capture : lambda.captures()) {
    if (capture.capturesVariable() && capture.getCaptureKind() == clang::LCK_ByRef) {
      shared.push_back(LocalName(*capture.getCapturedVar()));
    }
  }
  if (!shared.empty()) stmts.push_back(builder_.Nonlocal(range, shared));
  const Around outer_loop = std::exchange(loop_, {});
  const auto outer_statements = std::exchange(top_level_, {});
  const auto outer_labels = std::exchange(open_, {});
  Jumps outer_jumps = std::exchange(leaving_, {});
  Append(lambda.getBody(), &stmts);
  loop_ = outer_loop;
  top_level_ = outer_statements;
  open_ = outer_labels;
  leaving_ = std::move(outer_jumps);
  pending_ = std::move(outer_pending);
  if (stmts.empty()) stmts.push_back(builder_.Pass(range));
  const ir::BlockId body = builder_.Block(stmts);
  current_ = outer;
  ir::Function& lowered = builder_.EditFunction(id);
  lowered.params = std::move(params);
  lowered.body = body;
  return builder_.Lambda(range, id);
}

// The variable that a reference, or a pointer that never points elsewhere, is another name of; null: none.
const clang::VarDecl* FunctionLowering::AliasOf(const clang::VarDecl& variable) const {
  const clang::Expr* init = variable.isLocalVarDecl() && !variable.isStaticLocal() ? variable.getInit() : nullptr;
  if (init == nullptr) return nullptr;
  init = init->IgnoreParenImpCasts();
  if (variable.getType()->isPointerType() && !reseated_.contains(&variable)) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(init);
    if (address == nullptr || address->getOpcode() != clang::UO_AddrOf) return nullptr;
    init = address->getSubExpr()->IgnoreParenImpCasts();
  } else if (!variable.getType()->isReferenceType()) {
    return nullptr;
  }
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(init);
  const auto* target = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  return target != nullptr && target->isLocalVarDeclOrParm() && !target->isStaticLocal() ? target : nullptr;
}

// Variables of inner blocks that bear an outer one's name get a number: the IR knows one scope a function.
ir::NameId FunctionLowering::LocalName(const clang::ValueDecl& variable) {
  const auto* canonical = llvm::cast<clang::ValueDecl>(variable.getCanonicalDecl());
  const auto* declared = llvm::dyn_cast<clang::VarDecl>(canonical);
  if (const clang::VarDecl* target = declared ? AliasOf(*declared) : nullptr) return LocalName(*target);
  const auto [known, is_new] = locals_.try_emplace(canonical);
  if (!is_new) return known->second;
  std::string name = variable.getNameAsString();
  if (name.empty()) name = "_";
  const int number = ++used_names_[name];
  if (number > 1) name += "#" + std::to_string(number);
  return known->second = unit_.Name(name);
}

}  // namespace allranks::cpp
