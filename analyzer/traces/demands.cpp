#include "analyzer/traces/demands.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"
#include "analyzer/traces/build.h"
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

// How many rounds the one loop of a function has that a call stands in; 0: there is none or are several, or that is not known.
uint32_t RoundsAround(const binding::Program& program, const variation::Facts& facts, binding::FuncId func, ir::ExprId call) {
  const ir::Module& module = program.module_of(func);
  uint32_t loops = 0;
  ValueId rounds;
  ir::ForEachStmtIn(module, program.function(func).body, [&](const ir::Stmt& stmt) {
    const bool is_loop = stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While;
    if (!is_loop || module[call].begin < stmt.begin || stmt.end < module[call].end) return;
    ++loops;
    rounds = stmt.kind == ir::StmtKind::For ? facts.trip_count(func, ir::AssignedOf(stmt)) : ValueId::None();
  });
  const int64_t known = loops == 1 && rounds ? facts.values_store[rounds].count().value_or(0) : 0;
  return known > 0 && known <= kMostRanks ? static_cast<uint32_t>(known) : 0;
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

bool IsDemand(const variation::Facts& facts, ValueId condition) {
  // `len(counts) == len(items)` of what ranks have their own of is meant to hold on each of them.
  const auto is_of_rank = [&](ValueId value) {
    return value && !facts.values_store.axes(value).empty() && IsPredicate(facts.values_store, value);
  };
  return is_of_rank(condition) || SomePassed(facts, condition, is_of_rank) || AsksForSizePassed(facts, condition);
}

bool MakesDemand(const binding::Program& program, const variation::Facts& facts, binding::FuncId func) {
  const ir::ModuleId module_id = program.funcs[func].module;
  const ir::Module& module = program.module_of(func);
  bool demands = false;
  ir::ForEachStmtIn(module, program.function(func).body, [&](const ir::Stmt& stmt) {
    const bool is_assertion = stmt.kind == ir::StmtKind::Assert;
    const bool is_refusal = stmt.kind == ir::StmtKind::If && (EndsByRaise(module, ir::BodyOf(stmt)) || EndsByRaise(module, ir::ElseBlockOf(stmt)));
    demands = demands || ((is_assertion || is_refusal) && IsDemand(facts, facts.value(module_id, ir::ValueOf(stmt))));
  });
  return demands;
}

JobSizes::JobSizes(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts) {
  for (uint32_t i = 0; i < facts.functions.size(); ++i) {
    const binding::FuncId func{i};
    for (const auto& [expr, call] : facts.functions[func].calls) {
      if (call.kind != variation::CallKind::Known) continue;
      Note(program.funcs[func].module, knowledge, facts, call);
      // `for rank in range(4): Process(target=worker)`; `mp.spawn` in a loop starts one job after the other.
      if (knowledge[call.entry].Has(knowledge::Role::StartProcesses)) starts_.back().count = RoundsAround(program, facts, func, expr);
    }
  }
  any_by_local_rank_ = std::ranges::any_of(inits_, &Init::is_by_local_rank);
  if (!starts_.empty() || any_by_local_rank_) neighbourhood_.emplace(program);
}

void JobSizes::Note(ir::ModuleId module, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const variation::CallFact& call) {
  const knowledge::Entry& entry = knowledge[call.entry];
  for (const knowledge::RoleOf& role : entry.roles) {
    if (role.role == knowledge::Role::StartProcesses) starts_.push_back({module});
    if (role.role != knowledge::Role::ProcessCount) continue;
    const ValueId number = ParamOf(entry, facts.args(call), role.param);
    starts_.push_back({module, number ? facts.values_store[number].count().value_or(0) : 0});
  }
  if (!entry.has_operation || entry.operation.op_class != knowledge::OpClass::Init) return;
  ValueId rank = ParamOf(entry, facts.args(call), knowledge.names().Find("rank"));
  if (rank && facts.values_store[rank].kind == ValueKind::Param) {
    const variation::Value& param = facts.values_store[rank];
    if (const ValueId passed = facts.param(param.function(), param.param_index())) rank = passed;
  }
  const auto is = [&](knowledge::Coordinate coordinate) { return rank && variation::IsCoordinate(facts.values_store[rank], coordinate); };
  // The number of a process that the program started itself is its rank on this node.
  const bool is_started_here = is(knowledge::Coordinate::Rank) && (facts.values_store[rank].flags & variation::kOneNode) != 0;
  inits_.push_back({module, is(knowledge::Coordinate::LocalRank) || is_started_here});
}

uint32_t JobSizes::StartedWith(ir::ModuleId module) const {
  if (starts_.empty()) return 0;
  const std::vector<ir::ModuleId> program = neighbourhood_->Of(module);
  uint32_t started = 0;
  for (const Start& start : starts_) {
    if (std::ranges::count(program, start.module) == 0) continue;
    if (start.count == 0 || (started != 0 && started != start.count)) return 0;
    started = start.count;
  }
  return started;
}

bool JobSizes::IsOnOneNode(ir::ModuleId module) const {
  if (!any_by_local_rank_) return false;
  const std::vector<ir::ModuleId> program = neighbourhood_->Of(module);
  const auto is_of_program = [&](const Init& init) { return std::ranges::count(program, init.module) > 0; };
  const auto is_other = [&](const Init& init) { return !init.is_by_local_rank && is_of_program(init); };
  return std::ranges::any_of(inits_, is_of_program) && std::ranges::none_of(inits_, is_other);
}

}  // namespace allranks::traces
