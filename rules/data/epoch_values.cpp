#include "rules/data/epoch_values.h"

#include <algorithm>

#include "analyzer/binding/receiver.h"
#include "analyzer/ir/bindings.h"
#include "analyzer/objects/local_flow.h"

namespace allranks::rules {

using objects::Site;

namespace {

// `days` of `days.calendar.turn_to`; none of a function.
base::NameId RootOf(const ir::Module& module, ir::ExprId callee) {
  if (module[callee].kind != ir::ExprKind::Attribute) return base::NameId::None();
  ir::ExprId at = callee;
  while (module[at].kind == ir::ExprKind::Attribute) at = ir::ObjectOf(module[at]);
  return module[at].kind == ir::ExprKind::Name ? ir::NameOf(module[at]) : base::NameId::None();
}

}  // namespace

ir::ExprId HeadOfLoop(const Context& context, FuncId function, ir::StmtId loop) {
  const ir::Stmt& stmt = context.program.module_of(function)[loop];
  return stmt.kind == ir::StmtKind::For ? ir::AssignedOf(stmt) : ir::ValueOf(stmt);
}

bool EpochValues::AreMadeOfRound(const Site& site, const Site& epochs, int depth) const {
  constexpr int kLongestWay = 4;
  if (site.function == epochs.function) return FlowsIntoFromHead(site, epochs);
  const auto& params = context_.program.function(site.function).params;
  if (depth >= kLongestWay) return false;
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (!GoesInto(site, params[i].name)) continue;
    const bool is_made = std::ranges::any_of(context_.index.CallersOf(site.function), [&](const Site& caller) {
      const ir::ExprId passed = context_.index.PassedFor(caller, site.function, i);
      return passed && AreMadeOfRound({caller.function, passed}, epochs, depth + 1);
    });
    if (is_made) return true;
  }
  return false;
}

// A variable is part of what an expression is made of, or a method of such a part is given it: `days.turn_to(day)`.
bool EpochValues::GoesInto(const Site& site, base::NameId variable) const {
  const ir::ModuleId module_id = context_.program.funcs[site.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const objects::FlowInto flow(context_.program, context_.index, site.function, site.expr);
  std::vector<base::NameId> parts;
  for (const ir::ExprId name : context_.index.ExprsOf(module_id, ir::ExprKind::Name)) {
    if (flow.Holds(name)) parts.push_back(ir::NameOf(module[name]));
  }
  const auto is_part = [&](base::NameId name) { return std::ranges::count(parts, name) > 0; };
  return is_part(variable) || std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId call) {
    if (FunctionAround(context_, module_id, call) != site.function || !is_part(RootOf(module, ir::CalleeOf(module[call])))) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      const ir::Expr& arg = module[ir::ArgAt(module, module[call], i).value];
      if (arg.kind == ir::ExprKind::Name && ir::NameOf(arg) == variable) return true;
    }
    return false;
  });
}

// `for epoch in range(epochs): data = stage_of(epoch)`
bool EpochValues::FlowsIntoFromHead(const Site& site, const Site& epochs) const {
  const ir::ModuleId module_id = context_.program.funcs[site.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
  const auto loop = std::ranges::find_if(loops, [&](ir::StmtId each) { return HeadOfLoop(context_, epochs.function, each) == epochs.expr; });
  if (loop == loops.end()) return false;
  const objects::FlowInto flow(context_.program, context_.index, site.function, site.expr);
  std::vector<base::NameId> counters;
  ir::ForEachBinding(module, module[*loop], [&](const ir::Binding& binding) { counters.push_back(binding.name); });
  return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Name), [&](ir::ExprId name) {
    return flow.Holds(name) && std::ranges::count(counters, ir::NameOf(module[name])) > 0;
  });
}

bool EpochValues::ChangesByRound(const Site& site, int depth) const {
  constexpr int kLongestWay = 4;
  const ir::Module& module = context_.program.module_of(site.function);
  if (module[site.expr].kind != ir::ExprKind::Name) {
    bool changes = false;
    ir::ForEachPart(module, site.expr, [&](ir::ExprId part) { changes = changes || ChangesByRound({site.function, part}, depth); });
    return changes;
  }
  const base::NameId name = ir::NameOf(module[site.expr]);
  for (const ir::StmtId loop : context_.index.LoopsAround(site)) {
    bool is_bound = false;
    const auto look = [&](const ir::Stmt& stmt) {
      ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) { is_bound = is_bound || binding.name == name; });
    };
    look(module[loop]);
    ir::ForEachBlock(module, module[loop], [&](ir::BlockId block) { ir::ForEachStmtIn(module, block, look); });
    if (is_bound) return true;
  }
  if (depth == kLongestWay) return false;
  const auto& params = context_.program.function(site.function).params;
  const auto param = static_cast<uint32_t>(std::ranges::find(params, name, &ir::Param::name) - params.begin());
  return std::ranges::any_of(context_.index.CallersOf(site.function), [&](const Site& caller) {
    const ir::ExprId passed = context_.index.PassedFor(caller, site.function, param);
    return passed && ChangesByRound({caller.function, passed}, depth + 1);
  });
}

}  // namespace allranks::rules
