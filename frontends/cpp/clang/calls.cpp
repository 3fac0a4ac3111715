#include "frontends/cpp/clang/lower_function.h"
#include "frontends/cpp/clang/naming.h"

namespace allranks::cpp {
namespace {

struct Spelling {
  std::string_view cpp;
  std::string_view ir;
};

// Functions of the standard libraries that the IR has a word for.
constexpr Spelling kStandard[] = {
    {"atoi", "builtins.int"},          {"atol", "builtins.int"},           {"atoll", "builtins.int"},
    {"strtol", "builtins.int"},        {"strtoul", "builtins.int"},        {"strtoll", "builtins.int"},
    {"std.atoi", "builtins.int"},      {"std.atol", "builtins.int"},       {"std.strtol", "builtins.int"},
    {"std.stoi", "builtins.int"},      {"std.stol", "builtins.int"},       {"std.stoull", "builtins.int"},
    {"getenv", "os.getenv"},           {"std.getenv", "os.getenv"},        {"secure_getenv", "os.getenv"},
    {"std.min", "builtins.min"},       {"std.max", "builtins.max"},        {"abs", "builtins.abs"},
    {"printf", "builtins.print"},      {"fprintf", "builtins.print"},      {"puts", "builtins.print"},
};

// Functions that hand their first argument through.
constexpr std::string_view kTransparent[] = {"std.move", "std.forward", "std.ref", "std.cref", "std.addressof",
                                             "std.launder", "std.as_const", "__builtin_expect", "std.string"};

constexpr Spelling kContainer[] = {
    {"push_back", "append"}, {"emplace_back", "append"}, {"insert", "add"},     {"emplace", "add"},
    {"push", "append"},      {"size", "builtins.len"},   {"length", "builtins.len"},
};

// Members of smart pointers, optionals and references that give what these hold.
constexpr std::string_view kHolding[] = {"get", "value", "data", "c_str", "front", "back", "begin", "str"};

std::string_view Find(std::span<const Spelling> list, std::string_view name) {
  for (const Spelling& spelling : list) {
    if (spelling.cpp == name) return spelling.ir;
  }
  return {};
}

bool Contains(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsStandard(const clang::Decl& decl) { return decl.isInStdNamespace(); }

}  // namespace

std::vector<ir::Arg> FunctionLowering::Args(std::span<const clang::Expr* const> args) {
  std::vector<ir::Arg> lowered;
  for (const clang::Expr* arg : args) lowered.push_back({.value = Expr(arg)});
  return lowered;
}

ir::ExprId FunctionLowering::FunctionName(const clang::FunctionDecl& function, ir::Range range) {
  return builder_.Resolved(range, unit_.Name(QualifiedName(function)), unit_.Name(SymbolOf(function)));
}

ir::ExprId FunctionLowering::Call(const clang::CallExpr& expr) {
  const ir::Range range = At(expr);
  const clang::FunctionDecl* callee = expr.getDirectCallee();
  if (callee == nullptr) {
    const ir::ExprId function = Expr(expr.getCallee());
    return builder_.Call(range, function, Args({expr.getArgs(), expr.getNumArgs()}));
  }
  if (const std::optional<ir::ExprId> standard = StandardCall(expr, *callee)) return *standard;
  const ir::ExprId name = FunctionName(*callee, At(*expr.getCallee()));
  return builder_.Call(range, name, Args({expr.getArgs(), expr.getNumArgs()}));
}

std::optional<ir::ExprId> FunctionLowering::StandardCall(const clang::CallExpr& expr,
                                                         const clang::FunctionDecl& callee) {
  if (unit_.IsProject(callee.getLocation())) return std::nullopt;
  const ir::Range range = At(expr);
  const std::string name = QualifiedName(callee);
  if (Contains(kTransparent, name) && expr.getNumArgs() > 0) return Expr(expr.getArg(0));
  if (const std::string_view word = Find(kStandard, name); !word.empty()) {
    // `strtol(text, nullptr, 10)`: the first argument says it all.
    const bool is_number = word == "builtins.int";
    const unsigned count = is_number ? std::min(expr.getNumArgs(), 1u) : expr.getNumArgs();
    const ir::ExprId function = External(word, At(*expr.getCallee()));
    return builder_.Call(range, function, Args({expr.getArgs(), count}));
  }
  const bool makes = name.starts_with("std.make_shared") || name.starts_with("std.make_unique") ||
                     name.starts_with("c10.make_intrusive");
  const clang::TemplateArgumentList* types = callee.getTemplateSpecializationArgs();
  if (!makes || types == nullptr || types->size() == 0 || types->get(0).getKind() != clang::TemplateArgument::Type) {
    return std::nullopt;
  }
  const clang::CXXRecordDecl* record = types->get(0).getAsType()->getAsCXXRecordDecl();
  if (record == nullptr) return std::nullopt;
  // Which constructor it is, the library's own code decides: the one with so many parameters.
  const clang::CXXConstructorDecl* constructor = nullptr;
  if (record->hasDefinition()) {
    for (const clang::CXXConstructorDecl* each : record->ctors()) {
      const bool fits = expr.getNumArgs() >= each->getMinRequiredArguments() && expr.getNumArgs() <= each->getNumParams();
      if (fits && !each->isCopyOrMoveConstructor()) constructor = each;
    }
  }
  return ConstructRecord(*record, constructor, range, {expr.getArgs(), expr.getNumArgs()});
}

ir::ExprId FunctionLowering::MethodCall(const clang::CXXMemberCallExpr& expr) {
  const ir::Range range = At(expr);
  const clang::CXXMethodDecl* method = expr.getMethodDecl();
  if (method == nullptr) return Parts(expr);
  const clang::Expr* object = expr.getImplicitObjectArgument();
  // A conversion that a library defines, `c10::optional` to bool, says nothing of its own.
  if (llvm::isa<clang::CXXConversionDecl>(method) && !unit_.IsProject(method->getLocation())) return Expr(object);
  if (const std::optional<ir::ExprId> known = ContainerCall(expr, *method)) return *known;
  std::vector<ir::Arg> args = {{.value = Expr(object)}};
  for (const ir::Arg& arg : Args({expr.getArgs(), expr.getNumArgs()})) args.push_back(arg);
  return builder_.Call(range, FunctionName(*method, At(*expr.getCallee())), args, ir::kMethodCall);
}

std::optional<ir::ExprId> FunctionLowering::ContainerCall(const clang::CXXMemberCallExpr& expr,
                                                          const clang::CXXMethodDecl& method) {
  if (!IsStandard(*method.getParent())) return std::nullopt;
  const ir::Range range = At(expr);
  const std::string name = ShortName(method);
  const clang::Expr* object = expr.getImplicitObjectArgument();
  if (Contains(kHolding, name) && expr.getNumArgs() == 0) return Expr(object);
  if (name == "at" && expr.getNumArgs() == 1) {
    const ir::ExprId container = Expr(object);
    return builder_.Subscript(range, container, Expr(expr.getArg(0)));
  }
  const std::string_view word = Find(kContainer, name);
  if (word.empty()) return std::nullopt;
  if (word == "builtins.len") {
    const ir::Arg container[] = {{.value = Expr(object)}};
    return builder_.Call(range, External(word, At(*expr.getCallee())), container);
  }
  const ir::ExprId callee = builder_.Attribute(At(*expr.getCallee()), Expr(object), unit_.Name(word));
  return builder_.Call(range, callee, Args({expr.getArgs(), expr.getNumArgs()}));
}

ir::ExprId FunctionLowering::OperatorCall(const clang::CXXOperatorCallExpr& expr) {
  const ir::Range range = At(expr);
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(expr.getDirectCallee());
  const std::span<const clang::Expr* const> operands{expr.getArgs(), expr.getNumArgs()};
  const bool is_lambda = method != nullptr && method->getParent()->isLambda();
  const bool is_own = expr.getDirectCallee() != nullptr && unit_.IsProject(expr.getDirectCallee()->getLocation());
  if (expr.getOperator() == clang::OO_Call && (is_lambda || !is_own) && !operands.empty()) {
    const ir::ExprId function = Expr(operands[0]);
    return builder_.Call(range, function, Args(operands.subspan(1)));
  }
  if (expr.getOperator() == clang::OO_Equal && operands.size() == 2 && (!is_own || !method || method->isDefaulted())) {
    const ir::ExprId value = Expr(operands[1]);
    return builder_.Walrus(range, Expr(operands[0]), value);
  }
  if (is_own) {
    const ir::ExprId name = FunctionName(*expr.getDirectCallee(), range);
    return builder_.Call(range, name, Args(operands), method && method->isInstance() ? ir::kMethodCall : uint16_t{0});
  }
  switch (expr.getOperator()) {
    case clang::OO_Subscript: {
      const ir::ExprId object = Expr(operands[0]);
      return builder_.Subscript(range, object, Expr(operands[1]));
    }
    case clang::OO_Star:
    case clang::OO_Arrow:
    case clang::OO_Amp:
      if (operands.size() == 1) return Expr(operands[0]);
      break;
    case clang::OO_Exclaim:
      return builder_.Unary(range, ir::UnaryOp::Not, Expr(operands[0]));
    case clang::OO_EqualEqual:
    case clang::OO_ExclaimEqual:
      if (operands.size() == 2) {
        const ir::CompareOp op =
            expr.getOperator() == clang::OO_EqualEqual ? ir::CompareOp::Eq : ir::CompareOp::NotEq;
        const ir::ExprId left = Expr(operands[0]);
        const ir::Comparison comparison[] = {{op, Expr(operands[1])}};
        return builder_.Compare(range, left, comparison);
      }
      break;
    default:
      break;
  }
  return Parts(expr);
}

ir::ExprId FunctionLowering::Construct(const clang::CXXConstructExpr& expr) {
  const clang::CXXConstructorDecl& constructor = *expr.getConstructor();
  const bool is_copy = constructor.isCopyOrMoveConstructor() && expr.getNumArgs() >= 1;
  if (is_copy) return Expr(expr.getArg(0));
  const clang::CXXRecordDecl& record = *constructor.getParent();
  const bool is_own = unit_.IsProject(record.getLocation());
  // `std::function<void()> f = g`, `std::string s = "x"`: what is wrapped says more than the wrapper.
  const bool wraps = !is_own && IsStandard(record) && expr.getNumArgs() >= 1 &&
                     (expr.getNumArgs() == 1 || llvm::isa<clang::CXXDefaultArgExpr>(expr.getArg(1)));
  const llvm::StringRef name = record.getName();
  if (wraps && name != "vector" && name != "thread" && name != "array") return Expr(expr.getArg(0));
  if (wraps && llvm::isa<clang::CXXStdInitializerListExpr>(expr.getArg(0)->IgnoreImplicit())) return Expr(expr.getArg(0));
  return ConstructRecord(record, &constructor, At(expr), {expr.getArgs(), expr.getNumArgs()});
}

ir::ExprId FunctionLowering::ConstructRecord(const clang::CXXRecordDecl& record,
                                             const clang::CXXConstructorDecl* constructor, ir::Range range,
                                             std::span<const clang::Expr* const> args) {
  if (unit_.IsProject(record.getLocation())) unit_.ClassIn(module_, &record);
  // A constructor that nobody wrote runs nothing: the class says all.
  const bool is_written = constructor != nullptr && constructor->isUserProvided();
  const std::string symbol = is_written ? SymbolOf(*constructor) : SymbolOf(record);
  const ir::ExprId name = builder_.Resolved(range, unit_.Name(QualifiedName(record)), unit_.Name(symbol), ir::kConstructor);
  return builder_.Call(range, name, Args(args));
}

}  // namespace allranks::cpp
