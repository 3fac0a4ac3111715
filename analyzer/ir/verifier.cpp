#include "analyzer/ir/verifier.h"

namespace allranks::ir {
namespace {

// More faults than this say nothing new.
constexpr size_t kMostFaults = 20;

// Walks the tree from the top level. Every array is checked before it is read, and every node is visited
// once, so that the walk ends on any module.
class Verifier {
 public:
  Verifier(const Module& module, size_t source_bytes) : module_(module), source_bytes_(source_bytes) {
    seen_exprs_.resize(module.exprs.size());
    seen_stmts_.resize(module.stmts.size());
    seen_blocks_.resize(module.blocks.size());
    seen_functions_.resize(module.functions.size());
    seen_classes_.resize(module.classes.size());
  }

  std::vector<std::string> Run() {
    if (module_.functions.empty()) {
      Fault("the module has no top level");
      return std::move(faults_);
    }
    if (module_.functions[kTopLevel].parent) Fault("the top level has a parent");
    FunctionAt(kTopLevel, 1);
    // The analysis looks at every definition there is, whether a statement leads to it or not.
    for (uint32_t i = 0; i < module_.functions.size(); ++i) {
      if (!seen_functions_[i]) FunctionAt(FunctionId{i}, 1);
    }
    for (uint32_t i = 0; i < module_.classes.size(); ++i) {
      if (!seen_classes_[i]) ClassAt(ClassId{i}, 1);
    }
    for (const Problem& problem : module_.problems) SpanAt(problem.begin, problem.end, "problem");
    for (const Comment& comment : module_.comments) SpanAt(comment.begin, comment.end, "comment");
    return std::move(faults_);
  }

 private:
  void Fault(std::string text) {
    if (faults_.size() < kMostFaults) faults_.push_back(std::move(text));
  }

  void SpanAt(uint32_t begin, uint32_t end, const char* what) {
    if (begin <= end && end <= source_bytes_) return;
    Fault(std::string(what) + " spans [" + std::to_string(begin) + ", " + std::to_string(end) + ") of " +
          std::to_string(source_bytes_) + " bytes");
  }

  // True if the node exists, was not met before and is not too deep.
  template <class IdType>
  bool Enter(IdType id, size_t count, std::vector<bool>* seen, const char* what, uint32_t depth) {
    const std::string name = std::string(what) + " " + std::to_string(id.index);
    if (id.index >= count) {
      Fault(name + " of " + std::to_string(count));
      return false;
    }
    if ((*seen)[id.index]) {
      Fault(name + " stands in two places");
      return false;
    }
    (*seen)[id.index] = true;
    if (depth <= kMaxDepth) return true;
    Fault(name + " lies deeper than " + std::to_string(kMaxDepth) + " levels");
    return false;
  }

  bool HasWords(uint32_t start, uint64_t count) {
    if (start <= module_.words.size() && count <= module_.words.size() - start) return true;
    Fault("list [" + std::to_string(start) + ", +" + std::to_string(count) + ") lies outside the words");
    return false;
  }

  // A list of `count` elements, named by two words, in an array of `size` elements.
  bool HasElements(uint32_t words, size_t size) {
    if (!HasWords(words, 2)) return false;
    const uint32_t start = module_.words[words];
    const uint32_t count = module_.words[words + 1];
    if (start <= size && count <= size - start) return true;
    Fault("elements [" + std::to_string(start) + ", +" + std::to_string(count) + ") of " +
          std::to_string(size));
    return false;
  }

  // ---- Expressions

  void OptionalExpr(ExprId id, uint32_t depth) {
    if (id) ExprAt(id, depth);
  }

  void ExprsOf(List list, uint32_t depth, bool may_be_none = false) {
    if (!HasWords(list.start, list.count)) return;
    for (const ExprId id : Exprs(module_, list)) {
      if (may_be_none && !id) continue;
      ExprAt(id, depth);
    }
  }

  void NameAt(NameId name, const char* what) {
    if (!name) Fault(std::string(what) + " without a name");
  }

  void ExprAt(ExprId id, uint32_t depth) {
    if (!Enter(id, module_.exprs.size(), &seen_exprs_, "expression", depth)) return;
    const Expr& expr = module_[id];
    SpanAt(expr.begin, expr.end, "expression");
    const uint32_t below = depth + 1;
    switch (expr.kind) {
      case ExprKind::Name:
        return NameAt(NameOf(expr), "Name");
      case ExprKind::Constant:
        if (expr.op > static_cast<uint8_t>(ConstantKind::Ellipsis)) Fault("unknown constant kind");
        return;
      case ExprKind::Slice:
        if (expr.b != 3) Fault("slice without three parts");
        return ExprsOf({expr.a, expr.b}, below, true);
      case ExprKind::FString:
      case ExprKind::Tuple:
      case ExprKind::List:
      case ExprKind::Set:
      case ExprKind::Bool:
      case ExprKind::Opaque:
        return ExprsOf({expr.a, expr.b}, below);
      case ExprKind::Attribute:
        NameAt(AttrOf(expr), "Attribute");
        return ExprAt(ObjectOf(expr), below);
      case ExprKind::Subscript:
      case ExprKind::Binary:
      case ExprKind::Walrus:
        ExprAt(ExprId{expr.a}, below);
        return ExprAt(ExprId{expr.b}, below);
      case ExprKind::Call:
        ExprAt(CalleeOf(expr), below);
        return ArgsOf(expr, below);
      case ExprKind::Unary:
      case ExprKind::Await:
      case ExprKind::YieldFrom:
      case ExprKind::Starred:
        return ExprAt(OperandOf(expr), below);
      case ExprKind::Yield:
        return OptionalExpr(OperandOf(expr), below);
      case ExprKind::Compare:
        return CompareAt(expr, below);
      case ExprKind::Conditional:
        ExprAt(TestOf(expr), below);
        return ExprsOf({expr.b, 2}, below);
      case ExprKind::Dict:
        return DictAt(expr, below);
      case ExprKind::Lambda:
        return FunctionAt(LambdaOf(expr), below);
      case ExprKind::Comprehension:
        ExprAt(ExprId{expr.a}, below);
        return ClausesAt(expr, below);
    }
    Fault("unknown expression kind");
  }

  void ArgAt(const Arg& arg, uint32_t depth) {
    if (arg.kind > ArgKind::DoubleStar) Fault("unknown argument kind");
    if (arg.kind == ArgKind::Keyword) NameAt(arg.keyword, "keyword argument");
    ExprAt(arg.value, depth);
  }

  void ArgsOf(const Expr& call, uint32_t depth) {
    if (!HasWords(call.b, 1) || !HasWords(call.b, 1 + 3 * uint64_t{ArgCount(module_, call)})) return;
    for (uint32_t i = 0; i < ArgCount(module_, call); ++i) ArgAt(ir::ArgAt(module_, call, i), depth);
  }

  void CompareAt(const Expr& expr, uint32_t depth) {
    ExprAt(LeftOf(expr), depth);
    if (!HasWords(expr.b, 1) || !HasWords(expr.b, 1 + 2 * uint64_t{ComparisonCount(module_, expr)})) return;
    for (uint32_t i = 0; i < ComparisonCount(module_, expr); ++i) {
      const Comparison comparison = ComparisonAt(module_, expr, i);
      if (comparison.op > CompareOp::NotIn) Fault("unknown comparison");
      ExprAt(comparison.operand, depth);
    }
  }

  void DictAt(const Expr& expr, uint32_t depth) {
    if (!HasWords(expr.a, 2 * uint64_t{DictCount(expr)})) return;
    for (uint32_t i = 0; i < DictCount(expr); ++i) {
      const DictItem item = DictItemAt(module_, expr, i);
      OptionalExpr(item.key, depth);
      ExprAt(item.value, depth);
    }
  }

  void ClausesAt(const Expr& expr, uint32_t depth) {
    if (!HasElements(expr.b, module_.clauses.size())) return;
    for (const Clause& clause : ClausesOf(module_, expr)) {
      ExprAt(clause.target, depth);
      ExprAt(clause.iter, depth);
      ExprsOf(clause.conditions, depth);
    }
  }

  // ---- Statements

  void BlockAt(BlockId id, uint32_t depth) {
    if (!id || !Enter(id, module_.blocks.size(), &seen_blocks_, "block", 0)) return;
    const Block& block = module_.blocks[id];
    const size_t size = module_.block_stmts.size();
    if (block.start > size || block.count > size - block.start) return Fault("block outside the statements");
    for (const StmtId stmt : module_.statements(id)) StmtAt(stmt, depth);
  }

  void StmtAt(StmtId id, uint32_t depth) {
    if (!Enter(id, module_.stmts.size(), &seen_stmts_, "statement", depth)) return;
    const Stmt& stmt = module_[id];
    SpanAt(stmt.begin, stmt.end, "statement");
    const uint32_t below = depth + 1;
    switch (stmt.kind) {
      case StmtKind::Expr:
        return ExprAt(ValueOf(stmt), below);
      case StmtKind::Assign:
        ExprsOf({stmt.a, stmt.c}, below);
        return ExprAt(AssignedOf(stmt), below);
      case StmtKind::AugAssign:
        ExprAt(ExprId{stmt.a}, below);
        return ExprAt(AssignedOf(stmt), below);
      case StmtKind::AnnAssign:
        ExprAt(ExprId{stmt.a}, below);
        OptionalExpr(AssignedOf(stmt), below);
        return ExprAt(ExprId{stmt.c}, below);
      case StmtKind::If:
        ExprAt(ValueOf(stmt), below);
        BlockAt(BlockId{stmt.b}, below);
        return BlockAt(BlockId{stmt.c}, below);
      case StmtKind::For:
        ExprAt(ExprId{stmt.a}, below);
        ExprAt(ExprId{stmt.b}, below);
        BlockAt(BlockId{stmt.c}, below);
        return BlockAt(BlockId{stmt.d}, below);
      case StmtKind::While:
        ExprAt(ValueOf(stmt), below);
        BlockAt(BlockId{stmt.c}, below);
        return BlockAt(BlockId{stmt.d}, below);
      case StmtKind::Try:
        return TryAt(stmt, below);
      case StmtKind::With:
        return WithAt(stmt, below);
      case StmtKind::Match:
        return MatchAt(stmt, below);
      case StmtKind::Return:
        return OptionalExpr(ValueOf(stmt), below);
      case StmtKind::Raise:
        OptionalExpr(ValueOf(stmt), below);
        return OptionalExpr(ExprId{stmt.b}, below);
      case StmtKind::Assert:
        ExprAt(ValueOf(stmt), below);
        return OptionalExpr(ExprId{stmt.b}, below);
      case StmtKind::Delete:
      case StmtKind::Opaque:
        return ExprsOf({stmt.a, stmt.c}, below);
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Pass:
        return;
      case StmtKind::Global:
      case StmtKind::Nonlocal:
        HasWords(stmt.a, stmt.c);
        return;
      case StmtKind::Import:
        return ImportsAt(stmt);
      case StmtKind::FunctionDef:
        return FunctionAt(FunctionOf(stmt), below);
      case StmtKind::ClassDef:
        return ClassAt(ClassOf(stmt), below);
    }
    Fault("unknown statement kind");
  }

  void TryAt(const Stmt& stmt, uint32_t depth) {
    BlockAt(TriedOf(stmt), depth);
    BlockAt(TryElseOf(stmt), depth);
    BlockAt(FinallyOf(stmt), depth);
    if (!HasElements(stmt.b, module_.handlers.size())) return;
    for (const Handler& handler : HandlersOf(module_, stmt)) {
      SpanAt(handler.begin, handler.end, "handler");
      OptionalExpr(handler.type, depth);
      BlockAt(handler.body, depth);
    }
  }

  void WithAt(const Stmt& stmt, uint32_t depth) {
    BlockAt(BlockId{stmt.b}, depth);
    if (!HasElements(stmt.a, module_.with_items.size())) return;
    for (const WithItem& item : WithItemsOf(module_, stmt)) {
      ExprAt(item.context, depth);
      OptionalExpr(item.target, depth);
    }
  }

  void MatchAt(const Stmt& stmt, uint32_t depth) {
    ExprAt(ValueOf(stmt), depth);
    if (!HasElements(stmt.b, module_.cases.size())) return;
    for (const MatchCase& match_case : CasesOf(module_, stmt)) {
      ExprAt(match_case.pattern, depth);
      OptionalExpr(match_case.guard, depth);
      BlockAt(match_case.body, depth);
    }
  }

  void ImportsAt(const Stmt& stmt) {
    const size_t size = module_.imports.size();
    if (stmt.a > size || stmt.c > size - stmt.a) return Fault("import outside the imports");
    for (uint32_t i = 0; i < stmt.c; ++i) {
      const Import& import = module_.imports[ImportId{stmt.a + i}];
      SpanAt(import.begin, import.end, "import");
      NameAt(import.module, "import");
    }
  }

  // ---- Definitions

  void FunctionAt(FunctionId id, uint32_t depth) {
    if (!Enter(id, module_.functions.size(), &seen_functions_, "function", depth)) return;
    const Function& function = module_.functions[id];
    SpanAt(function.begin, function.end, "function");
    SpanAt(function.name_begin, function.name_end, "function name");
    if (id != kTopLevel && !(function.parent < id)) Fault("function whose parent does not come before it");
    if (function.owner && function.owner.index >= module_.classes.size())
      Fault("function of an unknown class");
    for (const ExprId decorator : function.decorators) ExprAt(decorator, depth);
    for (const Param& param : function.params) {
      SpanAt(param.begin, param.end, "parameter");
      NameAt(param.name, "parameter");
      OptionalExpr(param.default_value, depth);
      OptionalExpr(param.annotation, depth);
    }
    OptionalExpr(function.returns_annotation, depth);
    if (!function.body) Fault("function without a body");
    BlockAt(function.body, depth);
  }

  void ClassAt(ClassId id, uint32_t depth) {
    if (!Enter(id, module_.classes.size(), &seen_classes_, "class", depth)) return;
    const Class& defined = module_.classes[id];
    SpanAt(defined.begin, defined.end, "class");
    SpanAt(defined.name_begin, defined.name_end, "class name");
    if (!(defined.parent.index < module_.functions.size())) Fault("class in an unknown function");
    if (defined.owner && !(defined.owner < id)) Fault("class whose owner does not come before it");
    NameAt(defined.name, "class");
    for (const ExprId decorator : defined.decorators) ExprAt(decorator, depth);
    for (const Arg& base : defined.bases) ArgAt(base, depth);
    if (!defined.body) Fault("class without a body");
    BlockAt(defined.body, depth);
  }

  const Module& module_;
  const size_t source_bytes_;
  std::vector<bool> seen_exprs_;
  std::vector<bool> seen_stmts_;
  std::vector<bool> seen_blocks_;
  std::vector<bool> seen_functions_;
  std::vector<bool> seen_classes_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> Verify(const Module& module, size_t source_bytes) {
  return Verifier(module, source_bytes).Run();
}

}  // namespace allranks::ir
