#include "rules/counted_loops.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/bindings.h"

namespace allranks::rules {
namespace {

// `step += 1`, the same on all ranks.
base::NameId CountedBy(const Context& context, ir::ModuleId module_id, const ir::Stmt& stmt) {
  const ir::Module& module = context.program.modules[module_id];
  if (stmt.kind != ir::StmtKind::AugAssign || static_cast<ir::BinaryOp>(stmt.op) != ir::BinaryOp::Add) return {};
  if (module[ir::ValueOf(stmt)].kind != ir::ExprKind::Name) return {};
  const variation::ValueId added = context.facts.value(module_id, ir::AssignedOf(stmt));
  const bool is_alike = added && context.facts.values_store.axes(added).empty() && context.values[added].kind != variation::ValueKind::Unknown;
  return is_alike ? ir::NameOf(module[ir::ValueOf(stmt)]) : base::NameId::None();
}

// What a branch that leaves the loop asks, and what it binds: `if step >= total: done = True; break`.
struct Exit {
  ir::ExprId test;
  std::vector<base::NameId> binds;
};

std::optional<Exit> ExitOf(const ir::Module& module, const ir::Stmt& stmt) {
  if (stmt.kind != ir::StmtKind::If) return std::nullopt;
  Exit exit{.test = ir::ValueOf(stmt), .binds = {}};
  bool leaves = false;
  for (const ir::StmtId inner : module.statements(ir::BodyOf(stmt))) {
    leaves = leaves || module[inner].kind == ir::StmtKind::Break;
    ir::ForEachBinding(module, module[inner], [&](const ir::Binding& binding) { exit.binds.push_back(binding.name); });
  }
  return leaves ? std::optional(exit) : std::nullopt;
}

}  // namespace

bool EndsByCount(const Context& context, ir::ModuleId module_id, ir::StmtId loop) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId outer = context.index.tree(module_id).Parent(loop);
  if (module[loop].kind != ir::StmtKind::For || !outer || module[outer].kind != ir::StmtKind::While) return false;
  for (const ir::StmtId beside : module.statements(ir::BodyOf(module[outer]))) {
    if (beside != loop && context.training.Communicates(module_id, beside)) return false;
  }
  std::vector<base::NameId> counted;
  std::vector<Exit> exits;
  for (const ir::StmtId id : module.statements(ir::BodyOf(module[loop]))) {
    if (const base::NameId name = CountedBy(context, module_id, module[id])) counted.push_back(name);
    if (std::optional<Exit> exit = ExitOf(module, module[id])) exits.push_back(std::move(*exit));
  }
  const ir::ExprId goes_on = ir::ValueOf(module[outer]);
  return std::ranges::any_of(exits, [&](const Exit& exit) {
    const bool is_by_count = std::ranges::any_of(counted, [&](base::NameId name) { return ir::Mentions(module, exit.test, name); });
    if (!is_by_count) return false;
    const auto ends_outer = [&](base::NameId name) { return name && ir::Mentions(module, goes_on, name); };
    return std::ranges::any_of(counted, ends_outer) || std::ranges::any_of(exit.binds, ends_outer);
  });
}

}  // namespace allranks::rules
