#include "frontends/cpp/clang/lower_function.h"
#include "frontends/cpp/clang/naming.h"

namespace allranks::cpp {
namespace {

constexpr uint32_t kDeepest = ir::kMaxLoweredDepth / 4;
constexpr size_t kLongestText = 256;

// What stands around an expression without changing what it means for ranks: conversions, temporaries, parentheses.
const clang::Expr* Inner(const clang::Expr* expr) {
  while (true) {
    const clang::Expr* next = expr->IgnoreImplicit()->IgnoreParens();
    if (const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(next)) next = cast->getSubExpr();
    else if (const auto* param = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(next)) next = param->getReplacement();
    else if (const auto* given = llvm::dyn_cast<clang::CXXDefaultArgExpr>(next)) next = given->getExpr();
    else if (const auto* init = llvm::dyn_cast<clang::CXXDefaultInitExpr>(next)) next = init->getExpr();
    else if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(next)) next = list->getSubExpr();
    else if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(next)) {
      if (opaque->getSourceExpr() == nullptr) return next;
      next = opaque->getSourceExpr();
    } else if (const auto* await = llvm::dyn_cast<clang::CoroutineSuspendExpr>(next)) {
      next = await->getOperand();
    }
    if (next == expr) return expr;
    expr = next;
  }
}

std::optional<ir::BinaryOp> BinaryOpOf(clang::BinaryOperatorKind op, bool is_integer) {
  switch (op) {
    case clang::BO_Add: case clang::BO_AddAssign: return ir::BinaryOp::Add;
    case clang::BO_Sub: case clang::BO_SubAssign: return ir::BinaryOp::Sub;
    case clang::BO_Mul: case clang::BO_MulAssign: return ir::BinaryOp::Mul;
    case clang::BO_Div: case clang::BO_DivAssign: return is_integer ? ir::BinaryOp::FloorDiv : ir::BinaryOp::Div;
    case clang::BO_Rem: case clang::BO_RemAssign: return ir::BinaryOp::Mod;
    case clang::BO_Shl: case clang::BO_ShlAssign: return ir::BinaryOp::LeftShift;
    case clang::BO_Shr: case clang::BO_ShrAssign: return ir::BinaryOp::RightShift;
    case clang::BO_And: case clang::BO_AndAssign: return ir::BinaryOp::BitAnd;
    case clang::BO_Or: case clang::BO_OrAssign: return ir::BinaryOp::BitOr;
    case clang::BO_Xor: case clang::BO_XorAssign: return ir::BinaryOp::BitXor;
    default: return std::nullopt;
  }
}

std::optional<ir::CompareOp> CompareOpOf(clang::BinaryOperatorKind op, bool with_null) {
  switch (op) {
    case clang::BO_EQ: return with_null ? ir::CompareOp::Is : ir::CompareOp::Eq;
    case clang::BO_NE: return with_null ? ir::CompareOp::IsNot : ir::CompareOp::NotEq;
    case clang::BO_LT: return ir::CompareOp::Less;
    case clang::BO_LE: return ir::CompareOp::LessEq;
    case clang::BO_GT: return ir::CompareOp::Greater;
    case clang::BO_GE: return ir::CompareOp::GreaterEq;
    default: return std::nullopt;
  }
}

bool IsNull(const clang::Expr* expr, clang::ASTContext& context) {
  const bool is_pointer = expr->getType()->isPointerType() || expr->getType()->isNullPtrType();
  return is_pointer && expr->isNullPointerConstant(context, clang::Expr::NPC_ValueDependentIsNotNull);
}

}  // namespace

ir::ExprId FunctionLowering::BuiltinName(std::string_view name, ir::Range range) {
  return External("builtins." + std::string(name), range);
}

ir::ExprId FunctionLowering::External(std::string_view qualified, ir::Range range) {
  return builder_.Resolved(range, unit_.Name(qualified), {});
}

ir::ExprId FunctionLowering::Expr(const clang::Expr* expr) {
  const ir::Range range = At(*expr);
  if (depth_ >= kDeepest) {
    builder_.AddProblem(ir::ProblemKind::Limit, range, "nesting deeper than " + std::to_string(kDeepest) + " levels");
    return builder_.Opaque(range, {});
  }
  if (const std::optional<ir::ExprId> named = NamedByMacro(*expr)) return *named;
  ++depth_;
  const ir::ExprId lowered = Plain(*Inner(expr));
  --depth_;
  return lowered;
}

// `MPI_COMM_WORLD`, a macro of a library that stands for a cast of some number: what it is called says what it is.
std::optional<ir::ExprId> FunctionLowering::NamedByMacro(const clang::Expr& expr) {
  const clang::SourceManager& sources = unit_.sources();
  const clang::Expr* bare = expr.IgnoreImplicit()->IgnoreParens();
  if (!llvm::isa<clang::CStyleCastExpr>(bare)) return std::nullopt;
  clang::SourceLocation location = bare->getBeginLoc();
  std::string name;
  while (location.isMacroID()) {
    if (sources.isMacroArgExpansion(location)) {
      location = sources.getImmediateSpellingLoc(location);
      continue;
    }
    const clang::SrcMgr::ExpansionInfo& info = sources.getSLocEntry(sources.getFileID(location)).getExpansion();
    if (!info.isFunctionMacroExpansion() && unit_.IsSystem(sources.getSpellingLoc(location))) {
      name = clang::Lexer::getImmediateMacroName(location, sources, unit_.context().getLangOpts()).str();
    } else if (!name.empty()) {
      break;
    }
    location = info.getExpansionLocStart();
  }
  if (name.empty()) return std::nullopt;
  return name == "NULL" ? builder_.Constant(At(expr), ir::ConstantKind::None) : External(name, At(expr));
}

ir::ExprId FunctionLowering::Plain(const clang::Expr& expr) {
  const ir::Range range = At(expr);
  switch (expr.getStmtClass()) {
    case clang::Stmt::DeclRefExprClass:
      return Reference(llvm::cast<clang::DeclRefExpr>(expr));
    case clang::Stmt::MemberExprClass:
      return Member(llvm::cast<clang::MemberExpr>(expr));
    case clang::Stmt::CXXThisExprClass:
      return builder_.Name(range, unit_.Name("this"));
    case clang::Stmt::UnaryOperatorClass:
      return Unary(llvm::cast<clang::UnaryOperator>(expr));
    case clang::Stmt::BinaryOperatorClass:
    case clang::Stmt::CompoundAssignOperatorClass:
      return Binary(llvm::cast<clang::BinaryOperator>(expr));
    case clang::Stmt::ConditionalOperatorClass: {
      const auto& choice = llvm::cast<clang::ConditionalOperator>(expr);
      return Conditional(range, choice.getCond(), choice.getTrueExpr(), choice.getFalseExpr());
    }
    case clang::Stmt::BinaryConditionalOperatorClass: {
      const auto& choice = llvm::cast<clang::BinaryConditionalOperator>(expr);
      return Conditional(range, choice.getCommon(), choice.getCommon(), choice.getFalseExpr());
    }
    case clang::Stmt::ArraySubscriptExprClass: {
      const auto& item = llvm::cast<clang::ArraySubscriptExpr>(expr);
      const ir::ExprId object = Expr(item.getBase());
      return builder_.Subscript(range, object, Expr(item.getIdx()), NumberFlag(item.getType()));
    }
    case clang::Stmt::CXXOperatorCallExprClass:
      return OperatorCall(llvm::cast<clang::CXXOperatorCallExpr>(expr));
    case clang::Stmt::CXXMemberCallExprClass:
      return MethodCall(llvm::cast<clang::CXXMemberCallExpr>(expr));
    case clang::Stmt::CUDAKernelCallExprClass:
      return Parts(expr);
    case clang::Stmt::CallExprClass:
    case clang::Stmt::UserDefinedLiteralClass:
      return Call(llvm::cast<clang::CallExpr>(expr));
    case clang::Stmt::CXXConstructExprClass:
    case clang::Stmt::CXXTemporaryObjectExprClass:
      return Construct(llvm::cast<clang::CXXConstructExpr>(expr));
    case clang::Stmt::CXXNewExprClass: {
      const auto& made = llvm::cast<clang::CXXNewExpr>(expr);
      return made.getConstructExpr() && !made.isArray() ? Expr(made.getConstructExpr()) : Parts(expr);
    }
    case clang::Stmt::InitListExprClass:
      return Items(llvm::cast<clang::InitListExpr>(expr));
    case clang::Stmt::CompoundLiteralExprClass:
      return Expr(llvm::cast<clang::CompoundLiteralExpr>(expr).getInitializer());
    case clang::Stmt::RecoveryExprClass: {
      // Clang did not understand it: only the calls in it are sure.
      std::vector<ir::ExprId> calls;
      for (const clang::Stmt* child : expr.children()) {
        const auto* part = llvm::dyn_cast_or_null<clang::CallExpr>(child);
        if (part != nullptr) calls.push_back(Expr(part));
      }
      return builder_.Opaque(range, calls);
    }
    case clang::Stmt::LambdaExprClass:
      return Lambda(llvm::cast<clang::LambdaExpr>(expr));
    case clang::Stmt::StmtExprClass: {
      // `({ a; b; c })`: a and b run before, the value is c.
      const clang::CompoundStmt& body = *llvm::cast<clang::StmtExpr>(expr).getSubStmt();
      const auto* last = body.body_empty() ? nullptr : llvm::dyn_cast<clang::Expr>(body.body_back());
      Stmts before;
      for (const clang::Stmt* stmt : body.body()) {
        if (stmt != last) Append(stmt, &before);
      }
      pending_.insert(pending_.end(), before.begin(), before.end());
      return last ? Expr(last) : builder_.Constant(range, ir::ConstantKind::None);
    }
    default:
      return Literal(expr);
  }
}

ir::ExprId FunctionLowering::Literal(const clang::Expr& expr) {
  const ir::Range range = At(expr);
  switch (expr.getStmtClass()) {
    case clang::Stmt::IntegerLiteralClass: {
      const llvm::APInt value = llvm::cast<clang::IntegerLiteral>(expr).getValue();
      return value.getActiveBits() < 64 ? builder_.Int(range, static_cast<int64_t>(value.getZExtValue()))
                                        : builder_.BigInt(range);
    }
    case clang::Stmt::CXXBoolLiteralExprClass: {
      const bool value = llvm::cast<clang::CXXBoolLiteralExpr>(expr).getValue();
      return builder_.Constant(range, value ? ir::ConstantKind::True : ir::ConstantKind::False);
    }
    case clang::Stmt::CharacterLiteralClass:
      return builder_.Int(range, llvm::cast<clang::CharacterLiteral>(expr).getValue());
    case clang::Stmt::FloatingLiteralClass: {
      llvm::SmallString<32> text;
      llvm::cast<clang::FloatingLiteral>(expr).getValue().toString(text);
      return builder_.Text(range, ir::ConstantKind::Float, unit_.Name(text.str()));
    }
    case clang::Stmt::StringLiteralClass: {
      const auto& literal = llvm::cast<clang::StringLiteral>(expr);
      const bool is_short = literal.getCharByteWidth() == 1 && literal.getByteLength() <= kLongestText;
      const ir::NameId text = is_short ? unit_.Name(literal.getString()) : ir::NameId();
      return builder_.Text(range, ir::ConstantKind::Str, text);
    }
    case clang::Stmt::CXXNullPtrLiteralExprClass:
    case clang::Stmt::GNUNullExprClass:
      return builder_.Constant(range, ir::ConstantKind::None);
    case clang::Stmt::ImplicitValueInitExprClass:
    case clang::Stmt::CXXScalarValueInitExprClass:
      return expr.getType()->isIntegralOrEnumerationType() ? builder_.Int(range, 0) : Parts(expr);
    default:
      if (const std::optional<ir::ExprId> constant = Constant(expr)) return *constant;
      return Parts(expr);
  }
}

// `sizeof(x)`, `alignof(T)`, a type trait: a number that the compiler knows.
std::optional<ir::ExprId> FunctionLowering::Constant(const clang::Expr& expr) {
  if (!llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::TypeTraitExpr, clang::SizeOfPackExpr>(expr)) return std::nullopt;
  clang::Expr::EvalResult result;
  if (expr.isValueDependent() || !expr.EvaluateAsInt(result, unit_.context())) return std::nullopt;
  return builder_.Int(At(expr), result.Val.getInt().getExtValue());
}

// An expression of which nothing is said but what it is made of.
ir::ExprId FunctionLowering::Parts(const clang::Stmt& expr) {
  std::vector<ir::ExprId> parts;
  for (const clang::Stmt* child : expr.children()) {
    if (const auto* part = llvm::dyn_cast_or_null<clang::Expr>(child)) parts.push_back(Expr(part));
  }
  return builder_.Opaque(At(expr), parts);
}

ir::ExprId FunctionLowering::Items(const clang::InitListExpr& expr) {
  if (expr.getType()->isRecordType()) {
    const clang::CXXRecordDecl* record = expr.getType()->getAsCXXRecordDecl();
    if (record != nullptr && unit_.IsProject(record->getLocation())) return ConstructRecord(*record, nullptr, At(expr), {});
    return Parts(expr);
  }
  std::vector<ir::ExprId> items;
  for (const clang::Expr* item : expr.inits()) items.push_back(Expr(item));
  if (items.size() == 1 && !expr.getType()->isArrayType()) return items[0];
  return builder_.List(At(expr), items);
}

ir::ExprId FunctionLowering::Reference(const clang::DeclRefExpr& expr) {
  const ir::Range range = At(expr);
  const clang::ValueDecl& decl = *expr.getDecl();
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&decl)) return FunctionName(*function, range);
  if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(&decl)) {
    if (unit_.IsProject(constant->getLocation())) return builder_.Int(range, constant->getInitVal().getExtValue());
    return External(QualifiedName(*constant), range);
  }
  return Variable(decl, range);
}

ir::ExprId FunctionLowering::Variable(const clang::ValueDecl& decl, ir::Range range) {
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(&decl);
  if (variable == nullptr || (variable->isLocalVarDeclOrParm() && !variable->isStaticLocal() && !variable->hasExternalStorage())) {
    return builder_.Name(range, LocalName(decl), variable ? NumberFlag(variable->getType()) : uint16_t{0});
  }
  if (!unit_.IsProject(variable->getLocation())) return External(QualifiedName(*variable), range);
  return builder_.Resolved(range, unit_.Name(QualifiedName(*variable)), unit_.Name(SymbolOf(*variable)), ir::kVariable);
}

ir::ExprId FunctionLowering::Member(const clang::MemberExpr& expr) {
  const ir::Range range = At(expr);
  const clang::ValueDecl& member = *expr.getMemberDecl();
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&member)) return FunctionName(*method, range);
  if (llvm::isa<clang::VarDecl, clang::EnumConstantDecl>(member)) return Variable(member, range);
  // Members of an unnamed struct within a struct are its own.
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(&member);
  if (field != nullptr && field->isAnonymousStructOrUnion()) return Expr(expr.getBase());
  return builder_.Attribute(range, Expr(expr.getBase()), unit_.Name(ShortName(member)));
}

ir::ExprId FunctionLowering::Unary(const clang::UnaryOperator& expr) {
  const ir::Range range = At(expr);
  if (expr.isIncrementDecrementOp()) return Step(expr);
  switch (expr.getOpcode()) {
    case clang::UO_LNot:
      return builder_.Unary(range, ir::UnaryOp::Not, Expr(expr.getSubExpr()));
    case clang::UO_Minus:
      if (const auto* number = llvm::dyn_cast<clang::IntegerLiteral>(Inner(expr.getSubExpr()))) {
        if (number->getValue().getActiveBits() < 63) return builder_.Int(range, -static_cast<int64_t>(number->getValue().getZExtValue()));
      }
      return builder_.Unary(range, ir::UnaryOp::Minus, Expr(expr.getSubExpr()));
    case clang::UO_Not:
      return builder_.Unary(range, ir::UnaryOp::Invert, Expr(expr.getSubExpr()));
    default:
      // A pointer stands for what it points to: `&x` and `*x` are x.
      return expr.getOpcode() == clang::UO_AddrOf ? AddressOf(*expr.getSubExpr()) : Expr(expr.getSubExpr());
  }
}

// Of a number in a variable of the function: who gets it may store another one there.
ir::ExprId FunctionLowering::AddressOf(const clang::Expr& expr) {
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenImpCasts());
  const auto* variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  const bool is_local = variable != nullptr && variable->hasLocalStorage() && !variable->getType().isConstQualified();
  if (!is_local || NumberFlag(variable->getType()) == 0) return Expr(&expr);
  return builder_.Name(At(expr), LocalName(*variable), ir::kNumber | ir::kAddress);
}

// `i++` within an expression.
ir::ExprId FunctionLowering::Step(const clang::UnaryOperator& expr) {
  const ir::Range range = At(expr);
  const ir::BinaryOp op = expr.isIncrementOp() ? ir::BinaryOp::Add : ir::BinaryOp::Sub;
  const ir::ExprId value = builder_.Binary(range, op, Expr(expr.getSubExpr()), builder_.Int(range, 1));
  const ir::ExprId stored = builder_.Walrus(range, Expr(expr.getSubExpr()), value);
  if (expr.isPrefix()) return stored;
  // The value is the one before.
  const ir::BinaryOp back = expr.isIncrementOp() ? ir::BinaryOp::Sub : ir::BinaryOp::Add;
  return builder_.Binary(range, back, stored, builder_.Int(range, 1));
}

ir::ExprId FunctionLowering::Binary(const clang::BinaryOperator& expr) {
  const ir::Range range = At(expr);
  const clang::BinaryOperatorKind op = expr.getOpcode();
  if (op == clang::BO_Assign) {
    const ir::ExprId value = Expr(expr.getRHS());
    return builder_.Walrus(range, Expr(expr.getLHS()), value);
  }
  if (op == clang::BO_Comma) {
    const ir::ExprId parts[] = {Expr(expr.getLHS()), Expr(expr.getRHS())};
    return builder_.Subscript(range, builder_.Tuple(range, parts), builder_.Int(range, 1));
  }
  const ir::ExprId left = Expr(expr.getLHS());
  const ir::ExprId right = Expr(expr.getRHS());
  if (op == clang::BO_LAnd || op == clang::BO_LOr) {
    const ir::ExprId operands[] = {left, right};
    return builder_.Bool(range, op == clang::BO_LAnd ? ir::BoolOp::And : ir::BoolOp::Or, operands);
  }
  const bool with_null = IsNull(expr.getLHS(), unit_.context()) || IsNull(expr.getRHS(), unit_.context());
  if (const std::optional<ir::CompareOp> compare = CompareOpOf(op, with_null)) {
    const ir::Comparison comparison[] = {{*compare, right}};
    return builder_.Compare(range, left, comparison);
  }
  const bool is_address = expr.getLHS()->getType()->isPointerType() && expr.getRHS()->getType()->isIntegerType();
  // `p + i` is the address of `p[i]`.
  if (is_address && op == clang::BO_Add) return builder_.Subscript(range, left, right);
  const std::optional<ir::BinaryOp> arithmetic = BinaryOpOf(op, expr.getType()->isIntegerType());
  const ir::ExprId parts[] = {left, right};
  const ir::ExprId value = arithmetic ? builder_.Binary(range, *arithmetic, left, right) : builder_.Opaque(range, parts);
  return expr.isCompoundAssignmentOp() ? builder_.Walrus(range, Expr(expr.getLHS()), value) : value;
}

ir::ExprId FunctionLowering::Conditional(ir::Range range, const clang::Expr* test, const clang::Expr* then_value,
                                         const clang::Expr* else_value) {
  const ir::ExprId condition = Expr(test);
  const ir::ExprId first = Expr(then_value);
  return builder_.Conditional(range, condition, first, Expr(else_value));
}

}  // namespace allranks::cpp
