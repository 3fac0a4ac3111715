#include "analyzer/objects/spread.h"

#include <algorithm>

#include "analyzer/objects/definitions.h"

namespace allranks::objects {
namespace {

constexpr size_t kMostFollowed = 24;

}  // namespace

Spread::Spread(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Site& from)
    : Spread(program, facts, index, from.function, {from.expr}) {}

Spread::Spread(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, FuncId from,
               std::vector<ir::ExprId> from_seeds)
    : program_(program), facts_(facts), index_(index) {
  open_.push_back({from, std::move(from_seeds)});
  for (size_t i = 0; i < open_.size() && i < kMostFollowed; ++i) {
    const auto [function, seeds] = open_[i];
    Follow(function, seeds);
  }
}

bool Spread::Holds(const Site& place) const {
  const auto flows = flows_.find(place.function.index);
  return flows != flows_.end() && std::ranges::any_of(flows->second, [&](const FlowFrom& flow) { return flow.Holds(place.expr); });
}

void Spread::Follow(FuncId function, std::vector<ir::ExprId> seeds) {
  if (seeds.empty()) return;
  const ir::Module& module = program_.module_of(function);
  const ir::ExprId first = *std::ranges::min_element(seeds, {}, [&](ir::ExprId seed) { return module[seed].begin; });
  const ir::StmtId stmt = index_.StatementOf({function, first});
  const uint32_t begin = stmt ? module[stmt].begin : module[first].begin;
  std::vector<FlowFrom>& flows = flows_[function.index];
  flows.emplace_back(program_, index_, function, std::move(seeds), begin, [this, function](ir::ExprId expr) { return Ends(function, expr); });
  const FlowFrom& flow = flows.back();
  FollowReturned(function, flow);
  FollowFields(function, flow);
  FollowArguments(function, flow);
}

// How many there are, or which is which, says nothing of what they are.
bool Spread::Ends(FuncId function, ir::ExprId id) const {
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& expr = module[id];
  if (expr.kind == ir::ExprKind::Compare) return true;
  if (expr.kind != ir::ExprKind::Call) return false;
  const ir::Expr& callee = module[ir::CalleeOf(expr)];
  return callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "len";
}

void Spread::FollowReturned(FuncId function, const FlowFrom& flow) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  bool is_returned = false;
  for (uint32_t i = 0; i < module.stmts.size() && !is_returned; ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    is_returned = stmt.kind == ir::StmtKind::Return && flow.Holds(ir::ValueOf(stmt)) && index_.FunctionOf(module_id, ir::StmtId{i}) == function;
  }
  if (!is_returned) return;
  for (const Site& caller : index_.CallersOf(function)) {
    if (seen_calls_.insert({caller.function.index, caller.expr.index}).second) open_.push_back({caller.function, {caller.expr}});
  }
}

// `self.rows = rows`, `self.rows.extend(rows)`.
void Spread::FollowFields(FuncId function, const FlowFrom& flow) {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner) return;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    const bool is_assigned = stmt.kind == ir::StmtKind::Assign && flow.Holds(ir::AssignedOf(stmt));
    if (!is_assigned || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_list = module[target].kind == ir::ExprKind::Tuple || module[target].kind == ir::ExprKind::List;
      if (!is_list) FollowField(owner, FieldOfSelf(program_, {function, target}));
      for (uint32_t item = 0; is_list && item < ir::Items(module, module[target]).size(); ++item) {
        FollowField(owner, FieldOfSelf(program_, {function, ir::Items(module, module[target])[item]}));
      }
    }
  }
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Attribute)) {
    if (flow.Holds(id)) FollowField(owner, FieldOfSelf(program_, {function, id}));
  }
}

void Spread::FollowField(binding::ClassId owner, base::NameId field) {
  if (!field || !seen_fields_.insert({owner.index, field.index}).second) return;
  for (const binding::ClassId each : program_.classes[owner].mro) {
    for (const auto& [name, method] : program_.classes[each].methods) {
      const ir::ModuleId module_id = program_.funcs[method].module;
      std::vector<ir::ExprId> reads;
      for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Attribute)) {
        const ir::StmtId stmt = FieldOfSelf(program_, {method, id}) == field ? index_.tree(module_id).StatementOf(id) : ir::StmtId::None();
        if (stmt && index_.FunctionOf(module_id, stmt) == method) reads.push_back(id);
      }
      open_.push_back({method, std::move(reads)});
    }
  }
}

void Spread::FollowArguments(FuncId function, const FlowFrom& flow) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const variation::CallFact* fact = facts_.call(function, call);
    if (fact == nullptr || !fact->function || ir::ArgCount(module, module[call]) == 0) continue;
    const auto& params = program_.function(fact->function).params;
    for (uint32_t i = 0; i < params.size(); ++i) {
      if (flow.Holds(index_.PassedFor({function, call}, fact->function, i))) FollowParam(fact->function, params[i].name);
    }
  }
}

void Spread::FollowParam(FuncId function, base::NameId param) {
  if (!seen_params_.insert({function.index, param.index}).second) return;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  std::vector<ir::ExprId> reads;
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Name)) {
    const ir::StmtId stmt = ir::NameOf(module[id]) == param ? index_.tree(module_id).StatementOf(id) : ir::StmtId::None();
    if (stmt && index_.FunctionOf(module_id, stmt) == function) reads.push_back(id);
  }
  open_.push_back({function, std::move(reads)});
}

}  // namespace allranks::objects
