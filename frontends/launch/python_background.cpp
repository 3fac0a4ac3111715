#include "frontends/launch/python_background.h"

#include <algorithm>
#include <array>

namespace allranks::launch_files {
namespace {

using ir::ExprId;
using ir::ExprKind;

constexpr std::array<std::string_view, 4> kWaits = {"wait", "communicate", "waitpid", "kill"};

}  // namespace

PythonBackground::PythonBackground(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const ir::Function& function = module.functions[ir::FunctionId{f}];
    if (ir::FunctionId{f} != ir::kTopLevel) borders_.insert(borders_.end(), {function.begin, function.end});
    if (!function.body) continue;
    for (const ir::StmtId id : module.statements(function.body)) {
      const ir::Stmt& stmt = module[id];
      if (stmt.kind == ir::StmtKind::Assign) NotePlain(ir::AssignedOf(stmt));
      if (stmt.kind == ir::StmtKind::Expr) NotePlain(ir::ValueOf(stmt));
    }
  }
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::Expr& expr = module[ExprId{i}];
    if (expr.kind == ExprKind::Call && std::ranges::count(kWaits, MethodOf(ExprId{i})) > 0) borders_.push_back(expr.begin);
  }
  std::ranges::sort(borders_);
}

void PythonBackground::NotePlain(ExprId value) {
  if (!value || module_[value].kind != ExprKind::Call) return;
  plain_.insert(value.index);
  // `processes.append(Popen(...))`
  const bool is_append = MethodOf(value) == "append" && ir::ArgCount(module_, module_[value]) == 1;
  if (is_append) plain_.insert(ir::ArgAt(module_, module_[value], 0).value.index);
}

std::string_view PythonBackground::MethodOf(ExprId call) const {
  const ir::Expr& callee = module_[ir::CalleeOf(module_[call])];
  return callee.kind == ExprKind::Attribute ? names_.View(ir::AttrOf(callee)) : std::string_view();
}

uint32_t PythonBackground::SectionOf(ExprId call) const {
  const auto behind = std::ranges::upper_bound(borders_, module_[call].begin);
  return static_cast<uint32_t>(behind - borders_.begin());
}

}  // namespace allranks::launch_files
