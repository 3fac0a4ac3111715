#include "rules/optimisation/counted_fields.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace allranks::rules {
namespace {

using objects::FuncId;
using variation::ValueId;

// The step whose results a hook puts together; empty: it is no such hook.
std::string_view StepBefore(std::string_view hook) {
  if (hook == "on_validation_epoch_end") return "validation_step";
  return hook == "on_test_epoch_end" ? "test_step" : std::string_view();
}

class Steps {
 public:
  Steps(const Context& context, FuncId step) : context_(context), step_(step), module_(context.program.module_of(step)) {}

  // By name: `self.total += loss`, `self.losses.append(loss)`, of what differs with the batches.
  std::set<base::NameId> CountedFields() const {
    std::set<base::NameId> fields;
    const ir::ModuleId module_id = context_.program.funcs[step_].module;
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (context_.index.FunctionOf(module_id, id) != step_) continue;
      if (const base::NameId field = FieldCountedBy(module_[id])) fields.insert(field);
    }
    return fields;
  }

 private:
  base::NameId FieldCountedBy(const ir::Stmt& stmt) const {
    if (stmt.kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Add) {
      return IsOfBatch(ir::AssignedOf(stmt)) ? FieldOf(ir::ExprId{stmt.a}) : base::NameId();
    }
    if (stmt.kind != ir::StmtKind::Expr || module_[ir::ValueOf(stmt)].kind != ir::ExprKind::Call) return {};
    const ir::Expr& call = module_[ir::ValueOf(stmt)];
    const ir::Expr& callee = module_[ir::CalleeOf(call)];
    const bool appends = callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "append";
    if (!appends || ir::ArgCount(module_, call) != 1 || !IsOfBatch(ir::ArgAt(module_, call, 0).value)) return {};
    return FieldOf(ir::ObjectOf(callee));
  }

  bool IsOfBatch(ir::ExprId expr) const {
    const ValueId value = context_.facts.value(context_.program.funcs[step_].module, expr);
    const auto differs = [&](ValueId part) { return context_.facts.values_store.axes(part).has(knowledge::Axis::Data); };
    return value && (differs(value) || context_.values.AnyPart(value, differs));
  }

  base::NameId FieldOf(ir::ExprId expr) const {
    if (module_[expr].kind != ir::ExprKind::Attribute) return {};
    const ir::Expr& object = module_[ir::ObjectOf(module_[expr])];
    const auto& params = context_.program.function(step_).params;
    const bool is_own = object.kind == ir::ExprKind::Name && !params.empty() && ir::NameOf(object) == params[0].name;
    return is_own ? ir::AttrOf(module_[expr]) : base::NameId();
  }

  const Context& context_;
  const FuncId step_;
  const ir::Module& module_;
};

}  // namespace

std::vector<ir::ExprId> ReadsOfCountedFields(const Context& context, FuncId hook) {
  const binding::ClassId owner = context.program.funcs[hook].owner;
  const std::string_view step = StepBefore(context.program.text(context.program.function(hook).name));
  const base::NameId name = step.empty() || !owner ? base::NameId() : context.program.names->Find(step);
  const FuncId method = name ? context.program.FindMethod(owner, name) : FuncId();
  if (!method) return {};
  const std::set<base::NameId> fields = Steps(context, method).CountedFields();
  const ir::ModuleId module_id = context.program.funcs[hook].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Function& node = context.program.function(hook);
  std::vector<ir::ExprId> reads;
  for (const ir::ExprId id : context.index.ExprsOf(module_id, ir::ExprKind::Attribute)) {
    if (module[id].begin < node.begin || module[id].end > node.end || !fields.contains(ir::AttrOf(module[id]))) continue;
    const ir::Expr& object = module[ir::ObjectOf(module[id])];
    const bool is_own = object.kind == ir::ExprKind::Name && !node.params.empty() && ir::NameOf(object) == node.params[0].name;
    if (is_own) reads.push_back(id);
  }
  return reads;
}

}  // namespace allranks::rules
