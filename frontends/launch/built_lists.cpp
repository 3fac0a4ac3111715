#include "frontends/launch/built_lists.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "analyzer/ir/walk.h"

namespace allranks::launch_files {
namespace {

using ir::ExprId;
using ir::ExprKind;
using ir::StmtKind;
using Lists = std::vector<BuiltList>;
using Known = std::map<std::string_view, Lists>;

// More ways than these are not told apart.
constexpr size_t kMostWays = 8;
constexpr size_t kMostParts = 400;
constexpr int kDeepestList = 60;

bool SameParts(const BuiltList& a, const BuiltList& b) {
  return std::ranges::equal(a.parts, b.parts, [](const BuiltPart& x, const BuiltPart& y) { return x.value == y.value; });
}

class Follower {
 public:
  Follower(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {}

  std::map<uint32_t, Lists> Run() {
    for (uint32_t f = 0; f < module_.functions.size(); ++f) {
      known_.clear();
      const ir::BlockId body = module_.functions[ir::FunctionId{f}].body;
      if (body) Follow(body, 0);
    }
    return std::move(out_);
  }

 private:
  std::string_view Text(base::NameId name) const { return name ? names_.View(name) : std::string_view(); }
  std::string_view NameOf(ExprId id) const {
    return id && module_[id].kind == ExprKind::Name ? Text(ir::NameOf(module_[id])) : std::string_view();
  }
  // `[...]`, `[...] + rest`
  bool IsList(ExprId id) const {
    while (id && module_[id].kind == ExprKind::Binary) id = ir::LeftOf(module_[id]);
    return id && module_[id].kind == ExprKind::List;
  }

  // False: what stands behind the block is not reached from its end.
  bool Follow(ir::BlockId block, int depth) {
    if (depth > kDeepestList) return true;
    bool goes_on = true;
    for (const ir::StmtId id : module_.statements(block)) {
      const ir::Stmt& stmt = module_[id];
      NoteUses(stmt);
      Apply(stmt, depth);
      const bool leaves = stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Raise;
      goes_on = goes_on && !leaves;
    }
    return goes_on;
  }

  void Apply(const ir::Stmt& stmt, int depth) {
    switch (stmt.kind) {
      case StmtKind::Assign: return Assign(stmt);
      case StmtKind::AugAssign: return Grow(NameOf(ir::ValueOf(stmt)), {.value = ExprId{stmt.b}});
      case StmtKind::Expr: return Call(ir::ValueOf(stmt));
      case StmtKind::If: return FollowArms(stmt, depth);
      case StmtKind::With: {
        Follow(ir::BodyOf(stmt), depth + 1);
        return;
      }
      case StmtKind::Try: return FollowTry(stmt, depth);
      default: ir::ForEachBlock(module_, stmt, [&](ir::BlockId block) { FollowUncertain(block, depth); });
    }
  }

  void Assign(const ir::Stmt& stmt) {
    for (const ExprId target : ir::TargetsOf(module_, stmt)) {
      const std::string_view name = NameOf(target);
      if (name.empty()) continue;
      const ExprId value = ir::AssignedOf(stmt);
      const bool is_sum = module_[value].kind == ExprKind::Binary && NameOf(ir::LeftOf(module_[value])) == name && known_.contains(name);
      if (is_sum) {
        Grow(name, {.value = ir::RightOf(module_[value])});
        continue;
      }
      known_.erase(name);
      if (IsList(value)) known_[name] = {{.parts = {{.value = value}}, .arms = {}}};
    }
  }

  void Grow(std::string_view name, BuiltPart part) {
    const auto known = known_.find(name);
    if (name.empty() || known == known_.end()) return;
    for (BuiltList& list : known->second) {
      if (list.parts.size() < kMostParts) list.parts.push_back(part);
    }
  }

  // `cmd.append(x)`, `cmd.extend([...])`; every other change of the list is not known.
  void Call(ExprId id) {
    const std::string_view name = ChangedBy(id);
    if (name.empty()) return;
    const ir::Expr& call = module_[id];
    const std::string_view method = Text(ir::AttrOf(module_[ir::CalleeOf(call)]));
    const bool is_plain = ir::ArgCount(module_, call) == 1 && ir::ArgAt(module_, call, 0).kind == ir::ArgKind::Positional;
    if (method == "append" && is_plain) Grow(name, {.value = ir::ArgAt(module_, call, 0).value, .is_element = true});
    else if (method == "extend" && is_plain) Grow(name, {.value = ir::ArgAt(module_, call, 0).value});
    else known_.erase(name);
  }

  void FollowArms(const ir::Stmt& stmt, int depth) {
    const uint32_t choice = next_choice_++;
    const Known before = known_;
    const bool then_goes_on = Follow(ir::BodyOf(stmt), depth + 1);
    Known then = std::exchange(known_, before);
    const bool else_goes_on = !ir::ElseBlockOf(stmt) || Follow(ir::ElseBlockOf(stmt), depth + 1);
    if (!then_goes_on) return;
    if (!else_goes_on) known_ = std::move(then);
    else Join(choice, before, std::move(then));
  }
  void Join(uint32_t choice, const Known& before, Known then) {
    Known otherwise = std::exchange(known_, {});
    for (const auto& [name, lists] : before) {
      if (!then.contains(name) || !otherwise.contains(name)) continue;
      Lists& a = then[name];
      Lists& b = otherwise[name];
      const bool is_same = std::ranges::equal(a, b, SameParts);
      if (!is_same) {
        for (BuiltList& list : a) list.arms.emplace_back(choice, 0);
        for (BuiltList& list : b) list.arms.emplace_back(choice, 1);
        a.insert(a.end(), b.begin(), b.end());
      }
      if (a.size() > kMostWays) continue;
      known_[name] = std::move(a);
    }
  }

  void FollowTry(const ir::Stmt& stmt, int depth) {
    Follow(ir::BlockId{stmt.a}, depth + 1);
    for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) FollowUncertain(handler.body, depth);
    for (const ir::BlockId block : {ir::BlockId{stmt.c}, ir::BlockId{stmt.d}}) {
      if (block) Follow(block, depth + 1);
    }
  }

  // Of a loop or a handler: what it changes may have been changed any number of times.
  void FollowUncertain(ir::BlockId block, int depth) {
    std::set<std::string_view> changed;
    NoteChanged(block, changed, depth);
    Known before = known_;
    for (const std::string_view name : changed) {
      Grow(name, {});
      if (const auto known = known_.find(name); known != known_.end()) before[name] = known->second;
    }
    Follow(block, depth + 1);
    known_ = std::move(before);
  }
  void NoteChanged(ir::BlockId block, std::set<std::string_view>& changed, int depth) const {
    if (depth > kDeepestList) return;
    for (const ir::StmtId id : module_.statements(block)) {
      const ir::Stmt& stmt = module_[id];
      if (stmt.kind == StmtKind::AugAssign) changed.insert(NameOf(ir::ValueOf(stmt)));
      if (stmt.kind == StmtKind::Expr) changed.insert(ChangedBy(ir::ValueOf(stmt)));
      if (stmt.kind == StmtKind::Assign) {
        for (const ExprId target : ir::TargetsOf(module_, stmt)) changed.insert(NameOf(target));
      }
      ir::ForEachBlock(module_, stmt, [&](ir::BlockId inner) { NoteChanged(inner, changed, depth + 1); });
    }
  }
  // `cmd.append(x)`: the variable whose method is called.
  std::string_view ChangedBy(ExprId id) const {
    const ir::Expr& call = module_[id];
    if (call.kind != ExprKind::Call || module_[ir::CalleeOf(call)].kind != ExprKind::Attribute) return {};
    return NameOf(ir::ObjectOf(module_[ir::CalleeOf(call)]));
  }

  void NoteUses(const ir::Stmt& stmt) {
    ir::ForEachExpr(module_, stmt, [&](ExprId id) { NoteUse(id, 0); });
  }
  void NoteUse(ExprId id, int depth) {
    const ir::Expr& expr = module_[id];
    if (depth > kDeepestList) return;
    if (expr.kind == ExprKind::Call && ir::ArgCount(module_, expr) > 0) {
      const ExprId first = ir::ArgAt(module_, expr, 0).value;
      const auto known = known_.find(NameOf(first));
      if (known != known_.end()) out_[first.index] = known->second;
    }
    ir::ForEachPart(module_, id, [&](ExprId part) { NoteUse(part, depth + 1); });
  }

  const ir::Module& module_;
  const base::Interner& names_;
  Known known_;
  std::map<uint32_t, Lists> out_;
  uint32_t next_choice_ = 0;
};

}  // namespace

std::map<uint32_t, std::vector<BuiltList>> BuiltLists(const ir::Module& module, const base::Interner& names) {
  return Follower(module, names).Run();
}

}  // namespace allranks::launch_files
