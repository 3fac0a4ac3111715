#include "analyzer/objects/named_functions.h"

namespace allranks::objects {

NamedFunctions::NamedFunctions(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood)
    : program_(program), index_(index), names_(program.funcs.size()), always_(program.modules.size()) {
  std::unordered_map<base::NameId, std::vector<FuncId>> by_name;
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    if (index.IsPlainFunction(FuncId{f})) by_name[program.function(FuncId{f}).name].push_back(FuncId{f});
    else always_[program.funcs[FuncId{f}].module.index].push_back(FuncId{f});
    for (const Site& caller : index.CallersOf(FuncId{f})) names_[caller.function.index].push_back(FuncId{f});
  }
  for (uint32_t m = 0; m < program.modules.size(); ++m) AddNames(neighbourhood, ir::ModuleId{m}, by_name);
}

void NamedFunctions::AddNames(const binding::Neighbourhood& neighbourhood, ir::ModuleId module_id,
                              const std::unordered_map<base::NameId, std::vector<FuncId>>& by_name) {
  const ir::Module& module = program_.modules[module_id];
  std::vector<bool> is_used(program_.modules.size());
  for (const ir::ModuleId used : neighbourhood.UsedBy(module_id)) is_used[used.index] = true;
  for (const ir::ExprKind kind : {ir::ExprKind::Name, ir::ExprKind::Attribute}) {
    for (const ir::ExprId expr : index_.ExprsOf(module_id, kind)) {
      const auto found = by_name.find(kind == ir::ExprKind::Name ? ir::NameOf(module[expr]) : ir::AttrOf(module[expr]));
      if (found == by_name.end()) continue;
      // A decorator, and the default of a parameter, stand in no function.
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(expr);
      const FuncId around = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
      std::vector<FuncId>& names = around ? names_[around.index] : always_[module_id.index];
      for (const FuncId named : found->second) {
        if (is_used[program_.funcs[named].module.index]) names.push_back(named);
      }
    }
  }
}

std::vector<bool> NamedFunctions::ReachedIn(std::span<const ir::ModuleId> files) const {
  std::vector<bool> reached(program_.funcs.size());
  std::vector<FuncId> work;
  const auto reach = [&](const std::vector<FuncId>& functions) {
    for (const FuncId function : functions) {
      if (reached[function.index]) continue;
      reached[function.index] = true;
      work.push_back(function);
    }
  };
  for (const ir::ModuleId file : files) reach(always_[file.index]);
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    reach(names_[function.index]);
  }
  return reached;
}

}  // namespace allranks::objects
