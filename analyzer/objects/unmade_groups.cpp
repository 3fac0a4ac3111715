#include "analyzer/objects/unmade_groups.h"

#include <algorithm>

#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// In its file, or in one that imports that.
bool IsNamed(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood, FuncId function) {
  const base::NameId name = program.function(function).name;
  for (const ir::ModuleId module_id : neighbourhood.UsersOf(program.funcs[function].module)) {
    const ir::Module& module = program.modules[module_id];
    const auto is_it = [&](ir::ExprId expr) {
      return (module[expr].kind == ir::ExprKind::Name ? ir::NameOf(module[expr]) : ir::AttrOf(module[expr])) == name;
    };
    for (const ir::ExprKind kind : {ir::ExprKind::Name, ir::ExprKind::Attribute}) {
      if (std::ranges::any_of(index.ExprsOf(module_id, kind), is_it)) return true;
    }
  }
  return false;
}

bool IsLeftOut(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood, FuncId function) {
  return index.IsCalledByNobody(function) && !IsNamed(program, index, neighbourhood, function);
}

}  // namespace

std::vector<bool> FindUnmadeGroups(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood,
                                   std::span<const LaunchSigns> signs) {
  // By ModuleId: files with a function that makes a group, and those with one that makes it and is run.
  std::vector<bool> has_maker(program.modules.size()), makes(program.modules.size());
  for (uint32_t f = 0; f < signs.size(); ++f) {
    if ((signs[f] & kMakesGroup) == 0) continue;
    const FuncId function{f};
    has_maker[program.funcs[function].module.index] = true;
    if (!IsLeftOut(program, index, neighbourhood, function)) makes[program.funcs[function].module.index] = true;
  }
  std::vector<bool> unmade(program.modules.size()), made(program.modules.size());
  for (uint32_t m = 0; m < unmade.size(); ++m) {
    if (!neighbourhood.ImportersOf(ir::ModuleId{m}).empty() || IsTestFile(program, ir::ModuleId{m})) continue;
    const std::vector<ir::ModuleId> used = neighbourhood.UsedBy(ir::ModuleId{m});
    const bool is_unmade = MainOf(program, ir::ModuleId{m}) && std::ranges::any_of(used, [&](ir::ModuleId each) { return has_maker[each.index]; }) &&
                           std::ranges::none_of(used, [&](ir::ModuleId each) { return makes[each.index]; });
    for (const ir::ModuleId each : used) (is_unmade ? unmade : made)[each.index] = true;
  }
  for (size_t m = 0; m < unmade.size(); ++m) unmade[m] = unmade[m] && !made[m];
  return unmade;
}

}  // namespace allranks::objects
