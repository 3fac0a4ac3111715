#include "analyzer/ir/overwritten.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"

namespace allranks::ir {
namespace {

// What statements do to the store at hand. Kept: neither of the others.
enum class Fate : uint8_t { Kept, Replaced, Seen };

bool IsTrue(const Module& module, ExprId id) {
  const Expr& expr = module[id];
  return expr.kind == ExprKind::Constant && ConstantKindOf(expr) == ConstantKind::True;
}

// Goes on from a store, of a field or of a variable: what `Store` says is whether an assignment replaces it (`IsTarget`), whether others may see
// it where an expression is evaluated (`IsSeenIn`), and what becomes of it where something is defined or imported (`AtDefinition`).
template <class Store>
class Follower {
 public:
  Follower(const Module& module, const Store& store) : module_(module), store_(store) {}

  bool IsReplacedBehind(std::span<const Position> path) {
    for (size_t i = path.size(); i-- > 0;) {
      const StmtKind inner = module_[module_.statements(path[i].block)[path[i].index]].kind;
      const bool is_around = i + 1 < path.size();
      if (is_around && inner != StmtKind::If && inner != StmtKind::With && inner != StmtKind::Match) return false;
      const Fate fate = AfterBlock(path[i].block, path[i].index + 1);
      if (fate != Fate::Kept) return fate == Fate::Replaced;
    }
    return false;
  }

  Fate AfterBlock(BlockId block, uint32_t first) {
    const auto statements = module_.statements(block);
    for (uint32_t i = first; i < statements.size(); ++i) {
      if (++steps_ > Store::kMostSteps) return Fate::Seen;
      const Fate fate = After(module_[statements[i]]);
      if (fate != Fate::Kept) return fate;
    }
    return Fate::Kept;
  }

 private:
  Fate After(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::Return:
      case StmtKind::Raise:
        return Fate::Seen;
      case StmtKind::Break:
      case StmtKind::Continue:
        return loops_ > 0 ? Fate::Kept : Fate::Seen;
      default:
        break;
    }
    if (const std::optional<Fate> fate = store_.AtDefinition(stmt, *this)) return *fate;
    bool is_seen = false;
    ForEachExpr(module_, stmt, [&](ExprId part) { is_seen = is_seen || store_.IsSeenIn(part); });
    if (is_seen) return Fate::Seen;
    switch (stmt.kind) {
      case StmtKind::Assign:
        for (const ExprId target : TargetsOf(module_, stmt)) {
          if (store_.IsTarget(target)) return Fate::Replaced;
        }
        return Fate::Kept;
      case StmtKind::AnnAssign:
        return AssignedOf(stmt) && store_.IsTarget(ValueOf(stmt)) ? Fate::Replaced : Fate::Kept;
      default:
        return AfterBlocks(stmt);
    }
  }

  Fate AfterBlocks(const Stmt& stmt) {
    if (Store::kSeesSureArms && stmt.kind == StmtKind::If && IsTrue(module_, ValueOf(stmt))) return AfterBlock(BodyOf(stmt), 0);
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

  const Module& module_;
  const Store& store_;
  int loops_ = 0;
  int steps_ = 0;
};

bool Suspends(const Expr& expr) { return expr.kind == ExprKind::Yield || expr.kind == ExprKind::YieldFrom || expr.kind == ExprKind::Await; }

// `self.flag`
class FieldStore {
 public:
  // What is replaced so far below is read before: a file of thousands of statements is not gone through for each of them.
  static constexpr int kMostSteps = 500;
  static constexpr bool kSeesSureArms = false;

  FieldStore(const Module& module, const Expr& target) : module_(module), object_(NameOf(module[ObjectOf(target)])), attr_(AttrOf(target)) {}

  std::optional<Fate> AtDefinition(const Stmt& stmt, Follower<FieldStore>&) const {
    const bool defines = stmt.kind == StmtKind::FunctionDef || stmt.kind == StmtKind::ClassDef;
    return defines ? std::optional(Fate::Seen) : std::nullopt;
  }

  bool IsTarget(ExprId id) const {
    const Expr& expr = module_[id];
    return expr.kind == ExprKind::Attribute && AttrOf(expr) == attr_ && IsObject(ObjectOf(expr));
  }

  // Whether others get at the object: it is handed on, or one of its methods is called.
  bool IsSeenIn(ExprId id) const {
    const Expr& expr = module_[id];
    if (Suspends(expr) || expr.kind == ExprKind::Lambda) return true;
    if (expr.kind == ExprKind::Name) return NameOf(expr) == object_;
    if (expr.kind == ExprKind::Attribute && IsObject(ObjectOf(expr))) return false;
    if (expr.kind == ExprKind::Call && module_[CalleeOf(expr)].kind == ExprKind::Attribute && IsObject(ObjectOf(module_[CalleeOf(expr)]))) return true;
    bool is_seen = false;
    ForEachPart(module_, id, [&](ExprId part) { is_seen = is_seen || IsSeenIn(part); });
    return is_seen;
  }

 private:
  bool IsObject(ExprId id) const { return module_[id].kind == ExprKind::Name && NameOf(module_[id]) == object_; }

  const Module& module_;
  NameId object_;
  NameId attr_;
};

// The text under which an item is kept; none of anything else.
NameId KeyOf(const Module& module, const Expr& target) {
  if (target.kind != ExprKind::Subscript) return {};
  const Expr& key = module[IndexOf(target)];
  return key.kind == ExprKind::Constant && ConstantKindOf(key) == ConstantKind::Str ? TextOf(key) : NameId::None();
}

// `flag`, `flags["main"]`
class VariableStore {
 public:
  static constexpr int kMostSteps = 300;
  static constexpr bool kSeesSureArms = true;

  VariableStore(const Module& module, NameId name, NameId key, const Readers& readers)
      : module_(module), name_(name), key_(key), readers_(readers) {}

  std::optional<Fate> AtDefinition(const Stmt& stmt, Follower<VariableStore>& follower) const {
    switch (stmt.kind) {
      case StmtKind::FunctionDef: {
        const Function& function = module_.functions[FunctionOf(stmt)];
        const bool is_seen = std::ranges::any_of(function.decorators, [&](ExprId decorator) { return readers_.runs(decorator); }) ||
                             std::ranges::any_of(function.params, [&](const Param& param) { return param.default_value && IsSeenIn(param.default_value); });
        return is_seen ? Fate::Seen : Fate::Kept;
      }
      case StmtKind::ClassDef: {
        const Class& definition = module_.classes[ClassOf(stmt)];
        if (!definition.decorators.empty() || !definition.bases.empty()) return Fate::Seen;
        // What its body assigns are names of its own.
        return follower.AfterBlock(definition.body, 0) == Fate::Kept ? Fate::Kept : Fate::Seen;
      }
      case StmtKind::Import:
        for (uint32_t i = 0; i < stmt.c; ++i) {
          if (readers_.imports(ImportId{stmt.a + i})) return Fate::Seen;
        }
        return Fate::Kept;
      case StmtKind::Opaque:
        return Fate::Seen;
      default:
        return std::nullopt;
    }
  }

  // A store of the whole variable replaces its items too.
  bool IsTarget(ExprId id) const {
    const Expr& expr = module_[id];
    if (expr.kind == ExprKind::Name) return NameOf(expr) == name_;
    const bool is_item = key_ && KeyOf(module_, expr) == key_;
    return is_item && module_[ObjectOf(expr)].kind == ExprKind::Name && NameOf(module_[ObjectOf(expr)]) == name_;
  }

  // Whether code runs that may look at it.
  bool IsSeenIn(ExprId id) const {
    const Expr& expr = module_[id];
    if (Suspends(expr) || (expr.kind == ExprKind::Call && readers_.runs(id))) return true;
    bool is_seen = false;
    ForEachPart(module_, id, [&](ExprId part) { is_seen = is_seen || IsSeenIn(part); });
    return is_seen;
  }

 private:
  const Module& module_;
  NameId name_;
  NameId key_;
  const Readers& readers_;
};

}  // namespace

bool IsSurelyReplaced(const Module& module, std::span<const Position> path, ExprId target) {
  const Expr& expr = module[target];
  if (expr.kind != ExprKind::Attribute || module[ObjectOf(expr)].kind != ExprKind::Name) return false;
  const FieldStore store(module, expr);
  return Follower(module, store).IsReplacedBehind(path);
}

bool IsSurelyReplacedUnread(const Module& module, std::span<const Position> path, ExprId target, const Readers& readers) {
  const Expr& expr = module[target];
  const NameId key = KeyOf(module, expr);
  const Expr& variable = key ? module[ObjectOf(expr)] : expr;
  if (variable.kind != ExprKind::Name) return false;
  const VariableStore store(module, NameOf(variable), key, readers);
  return Follower(module, store).IsReplacedBehind(path);
}

}  // namespace allranks::ir
