#include "analyzer/objects/share_choices.h"

#include <algorithm>

#include "analyzer/ir/walk.h"

namespace allranks::objects {
namespace {

bool Encloses(const ir::Module& module, ir::ExprId outer, ir::ExprId inner) {
  return module[outer].begin <= module[inner].begin && module[outer].end >= module[inner].end;
}

// `len(results) > 0` compares with no other result.
bool HasConstant(const ir::Module& module, ir::ExprId compare) {
  bool found = false;
  ir::ForEachPart(module, compare, [&](ir::ExprId part) { found = found || module[part].kind == ir::ExprKind::Constant; });
  return found;
}

}  // namespace

ShareChoices::ShareChoices(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                           const ProgramIndex& index)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), writes_(program.funcs.size()) {
  for (const KnownCall& call : index.known_calls()) {
    if (call.entry->Has(knowledge::Role::Write)) writes_[call.function.index] = true;
  }
}

std::vector<ShareChoice> ShareChoices::In(FuncId function, const FlowFrom& flow, uint32_t begin, uint32_t end, ir::ExprId seed) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const Names flags = FlagsIn(function, flow);
  std::vector<ShareChoice> choices;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    const ir::Stmt& stmt = module[id];
    const bool is_call = stmt.kind == ir::StmtKind::Expr || stmt.kind == ir::StmtKind::Assign;
    if ((stmt.kind != ir::StmtKind::If && !is_call) || stmt.begin >= end || index_.FunctionOf(module_id, id) != function) continue;
    const ir::ExprId expr = is_call && stmt.kind == ir::StmtKind::Assign ? ir::AssignedOf(stmt) : ir::ValueOf(stmt);
    // `if evaluate(model) > best:`
    if (stmt.begin < begin && !Encloses(module, expr, seed)) continue;
    if (!is_call) {
      if (Decides(function, expr, flow, flags) && Writes(function, id)) choices.push_back({{function, expr}, expr});
      continue;
    }
    const ir::ExprId handed = HandedToChoice({function, expr}, flow, flags);
    if (handed) choices.push_back({{function, expr}, handed});
  }
  return choices;
}

// `is_best = accuracy > best`, and what is set to True under such a test.
ShareChoices::Names ShareChoices::FlagsIn(FuncId function, const FlowFrom& flow) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  Names flags;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    const bool is_test = stmt.kind == ir::StmtKind::If;
    if ((!is_test && stmt.kind != ir::StmtKind::Assign) || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    const ir::ExprId expr = is_test ? ir::ValueOf(stmt) : ir::AssignedOf(stmt);
    if (!Compares(function, expr, flow)) continue;
    if (is_test) {
      AddFlagsOf(module, ir::BodyOf(stmt), flags);
      continue;
    }
    const auto targets = ir::TargetsOf(module, stmt);
    if (targets.size() == 1 && module[targets[0]].kind == ir::ExprKind::Name) flags.insert(ir::NameOf(module[targets[0]]));
  }
  return flags;
}

void ShareChoices::AddFlagsOf(const ir::Module& module, ir::BlockId branch, Names& flags) {
  for (const ir::StmtId id : module.statements(branch)) {
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    const ir::Expr& value = module[ir::AssignedOf(stmt)];
    if (value.kind != ir::ExprKind::Constant || ir::ConstantKindOf(value) != ir::ConstantKind::True) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind == ir::ExprKind::Name) flags.insert(ir::NameOf(module[target]));
    }
  }
}

// A comparison of the result with another one.
bool ShareChoices::Compares(FuncId function, ir::ExprId expr, const FlowFrom& flow) const {
  const ir::Module& module = program_.module_of(function);
  return ir::AnyPart(module, expr, [&](ir::ExprId part) {
    if (!flow.Holds(part)) return false;
    if (module[part].kind == ir::ExprKind::Compare) return !HasConstant(module, part) && ComparesResult(module, part, flow);
    return module[part].kind == ir::ExprKind::Call && ReturnsComparison({function, part}, flow);
  });
}

// Not `score > kept["best"]` where something else in the container is of the share: an entry alone counts if what it is compared with is of the
// share as well, as the best so far is.
bool ShareChoices::ComparesResult(const ir::Module& module, ir::ExprId compare, const FlowFrom& flow) {
  const ir::ExprId left{module[compare].a}, right = ir::ComparisonAt(module, module[compare], 0).operand;
  const auto is_entry = [&](ir::ExprId side) { return module[side].kind == ir::ExprKind::Subscript; };
  if (flow.Holds(left) && flow.Holds(right)) return true;
  return (flow.Holds(left) && !is_entry(left)) || (flow.Holds(right) && !is_entry(right));
}

// `score > self.best`, and not `found != wanted`: of samples one may be written that is wrong.
bool ShareChoices::ComparesWithKept(const ir::Module& module, ir::ExprId test, const FlowFrom& flow) {
  return ir::AnyPart(module, test, [&](ir::ExprId part) {
    if (module[part].kind != ir::ExprKind::Compare || !flow.Holds(part) || HasConstant(module, part)) return false;
    const ir::CompareOp op = ir::ComparisonAt(module, module[part], 0).op;
    return op >= ir::CompareOp::Less && op <= ir::CompareOp::GreaterEq && ir::AnyPart(module, part, [&](ir::ExprId kept) { return module[kept].kind == ir::ExprKind::Attribute; });
  });
}

// `is_better(accuracy, best)` of the project, which returns `new > old`.
bool ShareChoices::ReturnsComparison(const Site& call, const FlowFrom& flow) const {
  const ir::Module& outer = program_.module_of(call.function);
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (fact == nullptr || !fact->function) return false;
  bool is_handed = false;
  for (uint32_t i = 0; i < ir::ArgCount(outer, outer[call.expr]); ++i) is_handed = is_handed || flow.Holds(ir::ArgAt(outer, outer[call.expr], i).value);
  const ir::ModuleId module_id = program_.funcs[fact->function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; is_handed && i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Return || !ir::ValueOf(stmt) || index_.FunctionOf(module_id, ir::StmtId{i}) != fact->function) continue;
    const ir::Expr& value = module[ir::ValueOf(stmt)];
    if (value.kind == ir::ExprKind::Compare && !HasConstant(module, ir::ValueOf(stmt))) return true;
  }
  return false;
}

bool ShareChoices::Decides(FuncId function, ir::ExprId expr, const FlowFrom& flow, const Names& flags) const {
  const ir::Module& module = program_.module_of(function);
  return Compares(function, expr, flow) || ir::AnyPart(module, expr, [&](ir::ExprId part) {
    return module[part].kind == ir::ExprKind::Name && flags.contains(ir::NameOf(module[part]));
  });
}

// What a call hands to a function that writes or not by it: a flag, or a result that is compared there. None if there is no such.
ir::ExprId ShareChoices::HandedToChoice(const Site& call, const FlowFrom& flow, const Names& flags) const {
  const ir::Module& module = program_.module_of(call.function);
  if (module[call.expr].kind != ir::ExprKind::Call) return {};
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (fact == nullptr || !fact->function) return {};
  const auto& params = program_.function(fact->function).params;
  for (uint32_t i = 0; i < params.size(); ++i) {
    const ir::ExprId passed = index_.PassedFor(call, fact->function, i);
    if (!passed) continue;
    const bool is_flag = Decides(call.function, passed, flow, flags);
    if ((is_flag || flow.Holds(passed)) && ChoosesBy(fact->function, params[i].name, is_flag)) return passed;
  }
  return {};
}

bool ShareChoices::ChoosesBy(FuncId function, base::NameId param, bool is_flag) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(function);
  std::vector<ir::ExprId> reads;
  for (const ir::ExprId id : index_.ExprsBeginningIn(module_id, node.begin, node.end)) {
    if (module[id].kind == ir::ExprKind::Name && ir::NameOf(module[id]) == param && module[id].end <= node.end) reads.push_back(id);
  }
  const FlowFrom flow(program_, index_, function, reads, node.begin);
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (module[id].kind != ir::StmtKind::If || index_.FunctionOf(module_id, id) != function) continue;
    const ir::ExprId test = ir::ValueOf(module[id]);
    if ((is_flag ? flow.Holds(test) : ComparesWithKept(module, test, flow)) && Writes(function, id)) return true;
  }
  return false;
}

// It writes, or calls a function that does, by itself or by another.
bool ShareChoices::Writes(FuncId function, ir::StmtId branch) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsBeginningIn(module_id, module[branch].begin, module[branch].end), [&](ir::ExprId call) {
    if (module[call].kind != ir::ExprKind::Call || !index_.tree(module_id).StatementOf(call)) return false;
    const variation::CallFact* fact = facts_.call(function, call);
    if (fact == nullptr) return false;
    if (fact->kind == variation::CallKind::Known) return knowledge_[fact->entry].Has(knowledge::Role::Write);
    return fact->function && std::ranges::any_of(index_.RunBy({fact->function}), [&](FuncId run) { return writes_[run.index]; });
  });
}

}  // namespace allranks::objects
