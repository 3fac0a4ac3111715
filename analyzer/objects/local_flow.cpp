#include "analyzer/objects/local_flow.h"

#include <algorithm>
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

  bool Holds(ir::ExprId wanted, ir::ExprId from) {
    std::vector<ir::ExprId> work = {from};
    while (!work.empty()) {
      const ir::ExprId at = work.back();
      work.pop_back();
      if (at == wanted) return true;
      const bool is_name = module_[at].kind == ir::ExprKind::Name;
      if (is_name && !IsSeen(ir::NameOf(module_[at]))) {
        for (const ir::ExprId value : assigned_[ir::NameOf(module_[at]).index]) work.push_back(value);
      }
      if (!IsDetached(at)) ir::ForEachPart(module_, at, [&](ir::ExprId part) { work.push_back(part); });
    }
    return false;
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

  bool IsSeen(base::NameId name) {
    if (std::ranges::count(seen_, name) > 0) return true;
    seen_.push_back(name);
    return false;
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
  std::vector<base::NameId> seen_;
};

}  // namespace

bool FlowsInto(const binding::Program& program, const ProgramIndex& index, FuncId function, ir::ExprId from, ir::ExprId into) {
  return Slice(program, index, function).Holds(from, into);
}

}  // namespace allranks::objects
