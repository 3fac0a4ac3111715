#include "analyzer/traces/demands.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/traces/conditions.h"

namespace allranks::traces {
namespace {

using variation::ValueId;
using variation::ValueKind;

// Whether `holds` of what all callers pass for some parameter that a value mentions.
template <class Holds>
bool SomePassed(const variation::Facts& facts, ValueId value, Holds holds, int depth = 0) {
  constexpr int kDeepest = 6;
  if (!value || depth > kDeepest) return false;
  const variation::Value& known = facts.values_store[value];
  if (known.kind == ValueKind::Param) {
    const ValueId passed = facts.param(known.function(), known.param_index());
    return holds(passed);
  }
  return std::ranges::any_of(facts.values_store.Kids(value), [&](ValueId kid) { return SomePassed(facts, kid, holds, depth + 1); });
}

bool EndsByRaise(const ir::Module& module, ir::BlockId block) {
  const auto stmts = module.statements(block);
  return !stmts.empty() && module[stmts.back()].kind == ir::StmtKind::Raise;
}

}  // namespace

bool AsksForSizePassed(const variation::Facts& facts, ValueId condition) {
  const variation::ValueStore& values = facts.values_store;
  if (!condition || !values.axes(condition).empty()) return false;
  // `assert rank < world_size` is asked of each rank.
  const auto is_size = [&](ValueId passed) { return passed && values.axes(passed).empty() && AsksForSize(values, passed); };
  if (SomePassed(facts, condition, [&](ValueId passed) { return !is_size(passed); })) return false;
  return AsksForSize(values, condition) || SomePassed(facts, condition, is_size);
}

bool MakesDemand(const binding::Program& program, const variation::Facts& facts, binding::FuncId func) {
  const ir::ModuleId module_id = program.funcs[func].module;
  const ir::Module& module = program.module_of(func);
  bool demands = false;
  ir::ForEachStmtIn(module, program.function(func).body, [&](const ir::Stmt& stmt) {
    const bool is_assertion = stmt.kind == ir::StmtKind::Assert;
    const bool is_refusal = stmt.kind == ir::StmtKind::If && (EndsByRaise(module, ir::BodyOf(stmt)) || EndsByRaise(module, ir::ElseBlockOf(stmt)));
    demands = demands || ((is_assertion || is_refusal) && AsksForSizePassed(facts, facts.value(module_id, ir::ValueOf(stmt))));
  });
  return demands;
}

uint32_t StartedProcesses(const knowledge::Knowledge& knowledge, const variation::Facts& facts) {
  uint32_t started = 0;
  for (const variation::FunctionFacts& function : facts.functions) {
    for (const auto& [expr, call] : function.calls) {
      if (call.kind != variation::CallKind::Known) continue;
      const knowledge::Entry& entry = knowledge[call.entry];
      for (const knowledge::RoleOf& role : entry.roles) {
        if (role.role == knowledge::Role::StartProcesses) return 0;
        if (role.role != knowledge::Role::ProcessCount) continue;
        const auto place = static_cast<size_t>(std::ranges::find(entry.params, role.param) - entry.params.begin());
        const ValueId number = place < call.arg_count ? facts.args(call)[place] : ValueId::None();
        const uint32_t count = number ? facts.values_store[number].count().value_or(0) : 0;
        if (count == 0 || (started != 0 && started != count)) return 0;
        started = count;
      }
    }
  }
  return started;
}

}  // namespace allranks::traces
