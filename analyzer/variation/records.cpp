#include "analyzer/variation/records.h"

#include <algorithm>
#include <ranges>
#include <string_view>

namespace allranks::variation {
namespace {

// `dataclass`, `dataclasses.dataclass`, `dataclass(frozen=True)`.
bool IsDataclass(const binding::Program& program, const ir::Module& module, ir::ExprId decorator) {
  if (module[decorator].kind == ir::ExprKind::Call) decorator = ir::CalleeOf(module[decorator]);
  const ir::Expr& expr = module[decorator];
  const NameId name = expr.kind == ir::ExprKind::Name        ? ir::NameOf(expr)
                      : expr.kind == ir::ExprKind::Attribute ? ir::AttrOf(expr)
                                                             : NameId::None();
  return name && program.text(name) == "dataclass";
}

bool IsRecord(const binding::Program& program, binding::ClassId class_id) {
  const binding::ClassInfo& info = program.classes[class_id];
  const ir::Module& module = program.modules[info.module];
  const auto is_named_tuple = [&](NameId base) { return program.text(base) == "typing.NamedTuple"; };
  const bool is_record = std::ranges::any_of(info.external_bases, is_named_tuple) ||
                         std::ranges::any_of(program.ir_class(class_id).decorators, [&](ir::ExprId decorator) { return IsDataclass(program, module, decorator); });
  return is_record;
}

}  // namespace

std::vector<NameId> RecordFields(const binding::Program& program, binding::ClassId class_id) {
  std::vector<NameId> fields;
  if (!IsRecord(program, class_id)) return fields;
  // Those of a base come first; one that is declared anew keeps its place.
  for (const binding::ClassId base : std::views::reverse(program.classes[class_id].mro)) {
    const ir::Module& module = program.modules[program.classes[base].module];
    for (const ir::StmtId id : module.statements(program.ir_class(base).body)) {
      const bool is_declared = module[id].kind == ir::StmtKind::AnnAssign && module[ir::ExprId{module[id].a}].kind == ir::ExprKind::Name;
      if (!is_declared) continue;
      const NameId name = ir::NameOf(module[ir::ExprId{module[id].a}]);
      if (std::ranges::find(fields, name) == fields.end()) fields.push_back(name);
    }
  }
  return fields;
}

binding::ClassId DeclaringClass(const binding::Program& program, binding::ClassId class_id, NameId field) {
  for (const binding::ClassId base : program.classes[class_id].mro) {
    const ir::Module& module = program.modules[program.classes[base].module];
    for (const ir::StmtId id : module.statements(program.ir_class(base).body)) {
      if (module[id].kind != ir::StmtKind::AnnAssign) continue;
      const ir::Expr& target = module[ir::ValueOf(module[id])];
      if (target.kind == ir::ExprKind::Name && ir::NameOf(target) == field) return base;
    }
  }
  return {};
}

}  // namespace allranks::variation
