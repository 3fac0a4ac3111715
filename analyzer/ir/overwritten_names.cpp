#include "analyzer/ir/overwritten_names.h"

#include "analyzer/ir/walk.h"

namespace allranks::ir {
namespace {

// What statements do to the store at hand. Kept: neither of the others.
enum class Fate : uint8_t { Kept, Replaced, Seen };

bool IsTrue(const Module& module, ExprId id) {
  const Expr& expr = module[id];
  return expr.kind == ExprKind::Constant && ConstantKindOf(expr) == ConstantKind::True;
}

// The text under which an item is kept; none of anything else.
NameId KeyOf(const Module& module, const Expr& target) {
  if (target.kind != ExprKind::Subscript) return {};
  const Expr& key = module[IndexOf(target)];
  return key.kind == ExprKind::Constant && ConstantKindOf(key) == ConstantKind::Str ? TextOf(key) : NameId::None();
}

class NameFollower {
 public:
  NameFollower(const Module& module, NameId name, NameId key, const Readers& readers)
      : module_(module), name_(name), key_(key), readers_(readers) {}

  Fate AfterBlock(BlockId block, uint32_t first) {
    const auto statements = module_.statements(block);
    for (uint32_t i = first; i < statements.size(); ++i) {
      if (++steps_ > kMostSteps) return Fate::Seen;
      const Fate fate = After(module_[statements[i]]);
      if (fate != Fate::Kept) return fate;
    }
    return Fate::Kept;
  }

 private:
  Fate After(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::FunctionDef: {
        const Function& function = module_.functions[FunctionOf(stmt)];
        const bool is_seen = std::ranges::any_of(function.decorators, [&](ExprId decorator) { return readers_.runs(decorator); }) ||
                             std::ranges::any_of(function.params, [&](const Param& param) { return param.default_value && RunsIn(param.default_value); });
        return is_seen ? Fate::Seen : Fate::Kept;
      }
      case StmtKind::ClassDef: {
        const Class& definition = module_.classes[ClassOf(stmt)];
        if (!definition.decorators.empty() || !definition.bases.empty()) return Fate::Seen;
        // What its body assigns are names of its own.
        return AfterBlock(definition.body, 0) == Fate::Kept ? Fate::Kept : Fate::Seen;
      }
      case StmtKind::Import:
        for (uint32_t i = 0; i < stmt.c; ++i) {
          if (readers_.imports(ImportId{stmt.a + i})) return Fate::Seen;
        }
        return Fate::Kept;
      case StmtKind::Break:
      case StmtKind::Continue:
        return loops_ > 0 ? Fate::Kept : Fate::Seen;
      case StmtKind::Return:
      case StmtKind::Raise:
      case StmtKind::Opaque:
        return Fate::Seen;
      default:
        break;
    }
    bool is_seen = false;
    ForEachExpr(module_, stmt, [&](ExprId part) { is_seen = is_seen || RunsIn(part); });
    if (is_seen) return Fate::Seen;
    switch (stmt.kind) {
      case StmtKind::Assign:
        for (const ExprId target : TargetsOf(module_, stmt)) {
          if (IsTarget(target)) return Fate::Replaced;
        }
        return Fate::Kept;
      case StmtKind::AnnAssign:
        return AssignedOf(stmt) && IsTarget(ValueOf(stmt)) ? Fate::Replaced : Fate::Kept;
      default:
        return AfterBlocks(stmt);
    }
  }

  Fate AfterBlocks(const Stmt& stmt) {
    if (stmt.kind == StmtKind::If && IsTrue(module_, ValueOf(stmt))) return AfterBlock(BodyOf(stmt), 0);
    const bool is_loop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
    loops_ += is_loop;
    uint32_t blocks = 0;
    uint32_t replacing = 0;
    bool is_seen = false;
    ForEachBlock(module_, stmt, [&](BlockId block) {
      const Fate fate = AfterBlock(block, 0);
      ++blocks;
      replacing += fate == Fate::Replaced;
      is_seen = is_seen || fate == Fate::Seen;
    });
    loops_ -= is_loop;
    if (is_seen) return Fate::Seen;
    const bool runs_all = (stmt.kind == StmtKind::With && blocks == 1) || (stmt.kind == StmtKind::If && blocks == 2);
    return runs_all && replacing == blocks ? Fate::Replaced : Fate::Kept;
  }

  // A store of the whole variable replaces its items too.
  bool IsTarget(ExprId id) const {
    const Expr& expr = module_[id];
    if (expr.kind == ExprKind::Name) return NameOf(expr) == name_;
    const bool is_item = key_ && KeyOf(module_, expr) == key_;
    return is_item && module_[ObjectOf(expr)].kind == ExprKind::Name && NameOf(module_[ObjectOf(expr)]) == name_;
  }

  bool RunsIn(ExprId id) const {
    const Expr& expr = module_[id];
    if (expr.kind == ExprKind::Yield || expr.kind == ExprKind::YieldFrom || expr.kind == ExprKind::Await) return true;
    if (expr.kind == ExprKind::Call && readers_.runs(id)) return true;
    bool runs = false;
    ForEachPart(module_, id, [&](ExprId part) { runs = runs || RunsIn(part); });
    return runs;
  }

  // As in overwritten.cpp: a file of thousands of statements is not gone through for each of them.
  static constexpr int kMostSteps = 300;

  const Module& module_;
  NameId name_;
  NameId key_;
  const Readers& readers_;
  int loops_ = 0;
  int steps_ = 0;
};

}  // namespace

bool IsSurelyReplacedUnread(const Module& module, std::span<const Position> path, ExprId target, const Readers& readers) {
  const Expr& expr = module[target];
  const NameId key = KeyOf(module, expr);
  const Expr& variable = key ? module[ObjectOf(expr)] : expr;
  if (variable.kind != ExprKind::Name) return false;
  NameFollower follower(module, NameOf(variable), key, readers);
  for (size_t i = path.size(); i-- > 0;) {
    const StmtKind inner = module[module.statements(path[i].block)[path[i].index]].kind;
    const bool is_around = i + 1 < path.size();
    if (is_around && inner != StmtKind::If && inner != StmtKind::With && inner != StmtKind::Match) return false;
    const Fate fate = follower.AfterBlock(path[i].block, path[i].index + 1);
    if (fate != Fate::Kept) return fate == Fate::Replaced;
  }
  return false;
}

}  // namespace allranks::ir
