#include "analyzer/objects/counters.h"

#include <algorithm>

namespace allranks::objects {

using variation::ValueKind;

namespace {

class Counters {
 public:
  Counters(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index)
      : program_(program), facts_(facts), index_(index) {}

  std::unordered_set<base::NameId> Find() {
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      for (uint32_t i = 0; i < program_.modules[ir::ModuleId{m}].stmts.size(); ++i) Visit(ir::ModuleId{m}, ir::StmtId{i});
    }
    return std::move(found_);
  }

 private:
  void Visit(ir::ModuleId module_id, ir::StmtId id) {
    const ir::Module& module = program_.modules[module_id];
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::AugAssign && stmt.kind != ir::StmtKind::Assign) return;
    const ValueId value = facts_.value(module_id, ir::AssignedOf(stmt));
    // `state.step += 1`
    if (stmt.kind == ir::StmtKind::AugAssign && value && facts_.values_store[value].kind == ValueKind::Int) {
      Note(module, ir::ValueOf(stmt));
    }
    // `self.epoch = epoch` in the loop over epochs.
    if (stmt.kind != ir::StmtKind::Assign || !value || !IsOpen(value) || index_.LoopsAround(module_id, id).empty()) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) Note(module, target);
  }

  // An unknown that has no name stands for the variable of a loop, an item, a result.
  bool IsOpen(ValueId value) const {
    const variation::Value& known = facts_.values_store[value];
    if (known.kind == ValueKind::Unknown) return !facts_.values_store.OperationOf(known);
    return known.kind == ValueKind::Derived && std::ranges::any_of(facts_.values_store.Kids(value), [&](ValueId kid) {
      return kid && facts_.values_store[kid].kind == ValueKind::Unknown && !facts_.values_store.OperationOf(facts_.values_store[kid]);
    });
  }

  void Note(const ir::Module& module, ir::ExprId target) {
    if (module[target].kind == ir::ExprKind::Attribute) found_.insert(ir::AttrOf(module[target]));
  }

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::unordered_set<base::NameId> found_;
};

}  // namespace

std::unordered_set<base::NameId> CountersOf(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index) {
  return Counters(program, facts, index).Find();
}

}  // namespace allranks::objects
