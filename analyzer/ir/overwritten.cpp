#include "analyzer/ir/overwritten.h"

#include "analyzer/ir/walk.h"

namespace allranks::ir {
namespace {

// What statements do to the store at hand. Kept: neither of the others.
enum class Effect : uint8_t { Kept, Replaced, Seen };

class Follower {
 public:
  Follower(const Module& module, const Expr& target)
      : module_(module), object_(NameOf(module[ObjectOf(target)])), attr_(AttrOf(target)) {}

  Effect AfterBlock(BlockId block, uint32_t first) {
    const auto statements = module_.statements(block);
    for (uint32_t i = first; i < statements.size(); ++i) {
      if (++steps_ > kMostSteps) return Effect::Seen;
      const Effect effect = After(module_[statements[i]]);
      if (effect != Effect::Kept) return effect;
    }
    return Effect::Kept;
  }

 private:
  Effect After(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::Return:
      case StmtKind::Raise:
      case StmtKind::FunctionDef:
      case StmtKind::ClassDef:
        return Effect::Seen;
      case StmtKind::Break:
      case StmtKind::Continue:
        return loops_ > 0 ? Effect::Kept : Effect::Seen;
      default:
        break;
    }
    bool is_seen = false;
    ForEachExpr(module_, stmt, [&](ExprId part) { is_seen = is_seen || IsSeenIn(part); });
    if (is_seen) return Effect::Seen;
    switch (stmt.kind) {
      case StmtKind::Assign:
        for (const ExprId target : TargetsOf(module_, stmt)) {
          if (IsTarget(target)) return Effect::Replaced;
        }
        return Effect::Kept;
      case StmtKind::AnnAssign:
        return AssignedOf(stmt) && IsTarget(ValueOf(stmt)) ? Effect::Replaced : Effect::Kept;
      default:
        return AfterBlocks(stmt);
    }
  }

  Effect AfterBlocks(const Stmt& stmt) {
    const bool is_loop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
    loops_ += is_loop;
    uint32_t blocks = 0;
    uint32_t replacing = 0;
    bool is_seen = false;
    ForEachBlock(module_, stmt, [&](BlockId block) {
      const Effect effect = AfterBlock(block, 0);
      ++blocks;
      replacing += effect == Effect::Replaced;
      is_seen = is_seen || effect == Effect::Seen;
    });
    loops_ -= is_loop;
    if (is_seen) return Effect::Seen;
    const bool runs_all = (stmt.kind == StmtKind::With && blocks == 1) || (stmt.kind == StmtKind::If && blocks == 2);
    return runs_all && replacing == blocks ? Effect::Replaced : Effect::Kept;
  }

  bool IsTarget(ExprId id) const {
    const Expr& expr = module_[id];
    return expr.kind == ExprKind::Attribute && AttrOf(expr) == attr_ && IsObject(ObjectOf(expr));
  }
  bool IsObject(ExprId id) const { return module_[id].kind == ExprKind::Name && NameOf(module_[id]) == object_; }

  // Whether others get at the object: it is handed on, or one of its methods is called.
  bool IsSeenIn(ExprId id) const {
    const Expr& expr = module_[id];
    if (expr.kind == ExprKind::Yield || expr.kind == ExprKind::YieldFrom || expr.kind == ExprKind::Await || expr.kind == ExprKind::Lambda) return true;
    if (expr.kind == ExprKind::Name) return NameOf(expr) == object_;
    if (expr.kind == ExprKind::Attribute && IsObject(ObjectOf(expr))) return false;
    if (expr.kind == ExprKind::Call && module_[CalleeOf(expr)].kind == ExprKind::Attribute && IsObject(ObjectOf(module_[CalleeOf(expr)]))) return true;
    bool is_seen = false;
    ForEachPart(module_, id, [&](ExprId part) { is_seen = is_seen || IsSeenIn(part); });
    return is_seen;
  }

  // What is replaced so far below is read before: a file of thousands of statements is not gone through for each of them.
  static constexpr int kMostSteps = 500;

  const Module& module_;
  NameId object_;
  NameId attr_;
  int loops_ = 0;
  int steps_ = 0;
};

}  // namespace

bool IsSurelyReplaced(const Module& module, std::span<const Position> path, ExprId target) {
  const Expr& expr = module[target];
  if (expr.kind != ExprKind::Attribute || module[ObjectOf(expr)].kind != ExprKind::Name) return false;
  Follower follower(module, expr);
  for (size_t i = path.size(); i-- > 0;) {
    const StmtKind inner = module[module.statements(path[i].block)[path[i].index]].kind;
    const bool is_around = i + 1 < path.size();
    if (is_around && inner != StmtKind::If && inner != StmtKind::With && inner != StmtKind::Match) return false;
    const Effect effect = follower.AfterBlock(path[i].block, path[i].index + 1);
    if (effect != Effect::Kept) return effect == Effect::Replaced;
  }
  return false;
}

}  // namespace allranks::ir
