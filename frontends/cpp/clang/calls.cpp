#include "frontends/cpp/clang/lower_function.h"
#include "frontends/cpp/clang/naming.h"
#include "frontends/cpp/standard_names.h"

namespace allranks::cpp {
namespace {

// Members of smart pointers, optionals and references that give what these hold.
constexpr std::string_view kHolding[] = {"get", "value", "data", "c_str", "front", "back", "begin", "str"};

bool Contains(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsStandard(const clang::Decl& decl) { return decl.isInStdNamespace(); }

// Containers that are made with a number of equal items.
constexpr std::string_view kSequences[] = {"vector", "deque", "list", "forward_list"};

// `end()` in `v.erase(std::remove_if(v.begin(), v.end(), test), v.end())`: the call of the algorithm.
const clang::CallExpr* AlgorithmIn(const clang::Expr* expr, std::string_view algorithm) {
  while (true) {
    expr = expr->IgnoreImplicit()->IgnoreParens();
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expr);
    if (made == nullptr || made->getNumArgs() != 1) break;
    expr = made->getArg(0);
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  return callee != nullptr && QualifiedName(*callee) == algorithm ? call : nullptr;
}

// The function that is called. With an argument that Clang did not understand, as its header is missing, it does not choose among
// functions of a name; where there is one of them, it is that whatever the arguments are.
const clang::FunctionDecl* CalledFunction(const clang::CallExpr& expr) {
  if (const clang::FunctionDecl* callee = expr.getDirectCallee()) return callee;
  const auto* name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(expr.getCallee()->IgnoreParenImpCasts());
  if (name == nullptr || name->getNumDecls() != 1) return nullptr;
  return llvm::dyn_cast<clang::FunctionDecl>((*name->decls_begin())->getUnderlyingDecl());
}

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
  const clang::FunctionDecl* callee = CalledFunction(expr);
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
  if (HandsThrough(name) && expr.getNumArgs() > 0) return Expr(expr.getArg(0));
  if (const std::optional<ir::ExprId> filtered = FilteringCall(expr, name)) return *filtered;
  if (const std::string_view word = WordOfStandard(name); !word.empty()) {
    // `strtol(text, nullptr, 10)`: the first argument says it all.
    const bool is_number = word == "builtins.int";
    const unsigned count = is_number ? std::min(expr.getNumArgs(), 1u) : expr.getNumArgs();
    const ir::ExprId function = External(word, At(*expr.getCallee()));
    return builder_.Call(range, function, Args({expr.getArgs(), count}));
  }
  const clang::TemplateArgumentList* types = callee.getTemplateSpecializationArgs();
  if (!MakesObject(name) || types == nullptr || types->size() == 0 || types->get(0).getKind() != clang::TemplateArgument::Type) {
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

// `std::copy_if(a.begin(), a.end(), std::back_inserter(b), test)` and `std::erase_if(a, test)`.
std::optional<ir::ExprId> FunctionLowering::FilteringCall(const clang::CallExpr& expr, std::string_view name) {
  const ir::Range range = At(expr);
  if (name == "std.erase_if" && expr.getNumArgs() == 2) {
    const ir::ExprId kept = Filtered(range, Expr(expr.getArg(0)), expr.getArg(1));
    return builder_.Walrus(range, Expr(expr.getArg(0)), kept);
  }
  if (name != "std.copy_if" || expr.getNumArgs() != 4) return std::nullopt;
  const clang::CallExpr* inserter = AlgorithmIn(expr.getArg(2), "std.back_inserter");
  if (inserter == nullptr || inserter->getNumArgs() != 1) return std::nullopt;
  const ir::Arg kept[] = {{.value = Filtered(range, Expr(expr.getArg(0)), expr.getArg(3))}};
  const ir::ExprId extend = builder_.Attribute(range, Expr(inserter->getArg(0)), unit_.Name("extend"));
  return builder_.Call(range, extend, kept);
}

// The items of a container that pass, or fail, a test: how many that are, the items decide.
ir::ExprId FunctionLowering::Filtered(ir::Range range, ir::ExprId container, const clang::Expr* test) {
  const ir::NameId item = unit_.Name("(item)");
  const ir::Arg tested[] = {{.value = builder_.Name(range, item)}};
  const ir::ExprId condition[] = {builder_.Call(range, Expr(test), tested)};
  const ir::ExprId target = builder_.Name(range, item);
  const ir::Clause clause[] = {{.target = target, .iter = container, .conditions = builder_.Conditions(condition)}};
  return builder_.Comprehension(range, ir::ComprehensionKind::List, builder_.Name(range, item), clause);
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
  if (const std::optional<ir::ExprId> resized = ResizingCall(expr, method, name)) return *resized;
  if (name == "empty" && expr.getNumArgs() == 0) {
    const ir::Arg container[] = {{.value = Expr(object)}};
    const ir::ExprId size = builder_.Call(range, External("builtins.len", At(*expr.getCallee())), container);
    const ir::Comparison none[] = {{ir::CompareOp::Eq, builder_.Int(range, 0)}};
    return builder_.Compare(range, size, none);
  }
  const std::string_view word = WordOfContainer(name);
  if (word.empty()) return std::nullopt;
  if (word == "builtins.len") {
    const ir::Arg container[] = {{.value = Expr(object)}};
    return builder_.Call(range, External(word, At(*expr.getCallee())), container);
  }
  const ir::ExprId callee = builder_.Attribute(At(*expr.getCallee()), Expr(object), unit_.Name(word));
  return builder_.Call(range, callee, Args({expr.getArgs(), expr.getNumArgs()}));
}

// Calls after which the container has another number of items, and a number that is known.
std::optional<ir::ExprId> FunctionLowering::ResizingCall(const clang::CXXMemberCallExpr& expr,
                                                         const clang::CXXMethodDecl& method, std::string_view name) {
  const ir::Range range = At(expr);
  const clang::Expr* object = expr.getImplicitObjectArgument();
  if (!IsCountedContainer(ShortName(*method.getParent()))) return std::nullopt;
  const bool is_number = expr.getNumArgs() > 0 && expr.getArg(0)->getType()->isIntegerType();
  if (name == "clear") return builder_.Walrus(range, Expr(object), builder_.List(range, {}));
  if (is_number && name == "assign") {
    const ir::ExprId item[] = {Expr(expr.getArg(1))};
    const ir::ExprId items = builder_.Binary(range, ir::BinaryOp::Mul, builder_.List(range, item), Expr(expr.getArg(0)));
    return builder_.Walrus(range, Expr(object), items);
  }
  if (is_number && name == "resize") {
    const ir::ExprId item[] = {builder_.Subscript(range, Expr(object), builder_.Int(range, 0))};
    const ir::ExprId items = builder_.Binary(range, ir::BinaryOp::Mul, builder_.List(range, item), Expr(expr.getArg(0)));
    return builder_.Walrus(range, Expr(object), items);
  }
  if (name == "insert" && expr.getNumArgs() == 3 && !expr.getArg(1)->getType()->isIntegerType()) {
    const ir::Arg first[] = {{.value = Expr(expr.getArg(1))}};
    return builder_.Call(range, builder_.Attribute(range, Expr(object), unit_.Name("extend")), first);
  }
  const clang::CallExpr* removal = name == "erase" && expr.getNumArgs() == 2 ? AlgorithmIn(expr.getArg(0), "std.remove_if") : nullptr;
  if (removal == nullptr || removal->getNumArgs() != 3) return std::nullopt;
  return builder_.Walrus(range, Expr(object), Filtered(range, Expr(object), removal->getArg(2)));
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
      return builder_.Subscript(range, object, Expr(operands[1]), NumberFlag(expr.getType()));
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
  if (IsStandard(record) && IsCountedContainer(std::string_view(name))) {
    if (const std::optional<ir::ExprId> items = ContainerItems(expr, name)) return *items;
  }
  return ConstructRecord(record, &constructor, At(expr), {expr.getArgs(), expr.getNumArgs()});
}

// `std::vector<T> v;`, `v(n)`, `v(n, x)`: the items it is made with; none if that is not seen.
std::optional<ir::ExprId> FunctionLowering::ContainerItems(const clang::CXXConstructExpr& expr, llvm::StringRef name) {
  const ir::Range range = At(expr);
  const auto is_given = [&](unsigned i) {
    return expr.getNumArgs() > i && !llvm::isa<clang::CXXDefaultArgExpr>(expr.getArg(i));
  };
  if (!is_given(0)) return builder_.List(range, {});
  if (!Contains(kSequences, std::string_view(name)) || !expr.getArg(0)->getType()->isIntegerType()) return std::nullopt;
  const ir::ExprId count = Expr(expr.getArg(0));
  const bool has_item = is_given(1) && !expr.getArg(1)->getType()->isRecordType();
  const ir::ExprId item[] = {has_item ? Expr(expr.getArg(1)) : builder_.Constant(range, ir::ConstantKind::None)};
  return builder_.Binary(range, ir::BinaryOp::Mul, builder_.List(range, item), count);
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
