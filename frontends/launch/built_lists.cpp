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
  bool IsSum(ExprId id) const { return module_[id].kind == ExprKind::Binary && static_cast<ir::BinaryOp>(module_[id].op) == ir::BinaryOp::Add; }
  // What a sum begins with: `[...]` of `[...] + rest`, `"%s"` of `"%s" % name`, the text that a method is called of.
  ExprId BeginningOf(ExprId id) const {
    for (int depth = 0; id && depth < kDeepestList; ++depth) {
      const ir::Expr& expr = module_[id];
      const bool is_method = expr.kind == ExprKind::Call && module_[ir::CalleeOf(expr)].kind == ExprKind::Attribute;
      const std::string_view method = is_method ? Text(ir::AttrOf(module_[ir::CalleeOf(expr)])) : std::string_view();
      if (expr.kind == ExprKind::Binary) id = ir::LeftOf(expr);
      else if (method == "format" || method == "join") id = ir::ObjectOf(module_[ir::CalleeOf(expr)]);
      else break;
    }
    return id;
  }
  bool IsText(ExprId id) const {
    const ir::Expr& expr = module_[id];
    return expr.kind == ExprKind::FString || (expr.kind == ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str);
  }

  // What a value may be: one list or text, or those of `a if x else b`.
  void AddWays(ExprId value, const std::vector<std::pair<uint32_t, uint32_t>>& arms, Lists& ways) {
    if (ways.size() >= kMostWays) return;
    const ir::Expr& expr = module_[value];
    if (expr.kind == ExprKind::Conditional) {
      const uint32_t choice = next_choice_++;
      uint32_t arm = 0;
      for (const ExprId either : {ir::ThenOf(module_, expr), ir::ElseOf(module_, expr)}) {
        std::vector<std::pair<uint32_t, uint32_t>> inner = arms;
        inner.emplace_back(choice, arm++);
        AddWays(either, inner, ways);
      }
      return;
    }
    const ExprId beginning = BeginningOf(value);
    const bool is_text = IsText(beginning);
    if (is_text || module_[beginning].kind == ExprKind::List) ways.push_back({.parts = {{.value = value}}, .arms = arms, .is_text = is_text});
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
      case StmtKind::AugAssign: return AugAssign(stmt);
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
      const bool is_sum = IsSum(value) && NameOf(ir::LeftOf(module_[value])) == name && known_.contains(name);
      if (is_sum) {
        Grow(name, {.value = ir::RightOf(module_[value])});
        continue;
      }
      known_.erase(name);
      Lists ways;
      AddWays(value, {}, ways);
      if (!ways.empty()) known_[name] = std::move(ways);
    }
  }

  void AugAssign(const ir::Stmt& stmt) {
    const std::string_view name = NameOf(ir::ValueOf(stmt));
    if (static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add) Grow(name, {.value = ExprId{stmt.b}});
    else known_.erase(name);
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
    if (known_.contains(name) && known_[name].front().is_text) return;
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
    Follow(ir::TriedOf(stmt), depth + 1);
    for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) FollowUncertain(handler.body, depth);
    for (const ir::BlockId block : {ir::TryElseOf(stmt), ir::FinallyOf(stmt)}) {
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

  void NoteName(ExprId id) {
    const auto known = known_.find(NameOf(id));
    if (known != known_.end()) out_[id.index] = known->second;
  }
  void NoteUses(const ir::Stmt& stmt) {
    ir::ForEachExpr(module_, stmt, [&](ExprId id) { NoteUse(id, 0); });
  }
  void NoteUse(ExprId id, int depth) {
    const ir::Expr& expr = module_[id];
    if (depth > kDeepestList) return;
    if (expr.kind == ExprKind::Call) {
      const ExprId callee = ir::CalleeOf(expr);
      if (ir::ArgCount(module_, expr) > 0) NoteName(ir::ArgAt(module_, expr, 0).value);
      if (module_[callee].kind == ExprKind::Attribute) NoteName(ir::ObjectOf(module_[callee]));
    } else if (expr.kind == ExprKind::FString) {
      for (const ExprId item : ir::Items(module_, expr)) NoteName(item);
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
