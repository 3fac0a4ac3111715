#include "analyzer/objects/local_flow.h"

#include <unordered_map>
#include <vector>

#include "analyzer/ir/walk.h"

namespace allranks::objects {
namespace {

class Slice {
 public:
  Slice(const binding::Program& program, const ProgramIndex& index, FuncId function)
      : program_(program), module_(program.module_of(function)) {
    const ir::ModuleId module_id = program.funcs[function].module;
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const ir::StmtKind kind = module_[id].kind;
      const bool assigns = kind == ir::StmtKind::Assign || kind == ir::StmtKind::AugAssign || kind == ir::StmtKind::AnnAssign;
      if (assigns && index.FunctionOf(module_id, id) == function) AddAssignment(module_[id]);
    }
  }

  std::unordered_set<uint32_t> PartsOf(ir::ExprId into) const {
    std::unordered_set<uint32_t> found;
    std::vector<ir::ExprId> work = {into};
    while (!work.empty()) {
      const ir::ExprId at = work.back();
      work.pop_back();
      if (!at || !found.insert(at.index).second) continue;
      if (module_[at].kind == ir::ExprKind::Name) {
        const auto values = assigned_.find(ir::NameOf(module_[at]).index);
        if (values != assigned_.end()) work.insert(work.end(), values->second.begin(), values->second.end());
      }
      if (!IsDetached(at)) ir::ForEachPart(module_, at, [&](ir::ExprId part) { work.push_back(part); });
    }
    return found;
  }

 private:
  void AddAssignment(const ir::Stmt& stmt) {
    const bool is_plain = stmt.kind == ir::StmtKind::Assign;
    const ir::ExprId value = ir::AssignedOf(stmt);
    if (!value) return;
    if (!is_plain) return AddTarget(ir::ExprId{stmt.a}, value);
    for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) AddTarget(target, value);
  }

  void AddTarget(ir::ExprId target, ir::ExprId value) {
    if (module_[target].kind == ir::ExprKind::Name) assigned_[ir::NameOf(module_[target]).index].push_back(value);
    if (module_[target].kind != ir::ExprKind::Tuple) return;
    for (const ir::ExprId item : ir::Items(module_, module_[target])) AddTarget(item, value);
  }

  // `loss.detach()`, `loss.item()`.
  bool IsDetached(ir::ExprId expr) const {
    if (module_[expr].kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module_[ir::CalleeOf(module_[expr])];
    if (callee.kind != ir::ExprKind::Attribute) return false;
    const std::string_view method = program_.text(ir::AttrOf(callee));
    return method == "detach" || method == "item";
  }

  const binding::Program& program_;
  const ir::Module& module_;
  std::unordered_map<uint32_t, std::vector<ir::ExprId>> assigned_;  // by NameId
};

}  // namespace

FlowInto::FlowInto(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId into)
    : found_(Slice(program, index, function).PartsOf(into)) {}

}  // namespace allranks::objects
