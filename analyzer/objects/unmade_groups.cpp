#include "analyzer/objects/unmade_groups.h"

#include <algorithm>
#include <unordered_map>

#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// Plain functions that no program comes to: each place that names one, in its file or in one that imports it, stands in another such function.
class LeftOut {
 public:
  LeftOut(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood)
      : index_(index), reached_(program.funcs.size()), names_(program.funcs.size()) {
    std::unordered_map<base::NameId, std::vector<FuncId>> by_name;
    for (uint32_t f = 0; f < program.funcs.size(); ++f) {
      if (index.IsPlainFunction(FuncId{f})) by_name[program.function(FuncId{f}).name].push_back(FuncId{f});
      else Reach(FuncId{f});
      for (const Site& caller : index.CallersOf(FuncId{f})) names_[caller.function.index].push_back(FuncId{f});
    }
    for (uint32_t m = 0; m < program.modules.size(); ++m) AddNames(program, neighbourhood, ir::ModuleId{m}, by_name);
    while (!work_.empty()) {
      const FuncId function = work_.back();
      work_.pop_back();
      for (const FuncId named : names_[function.index]) Reach(named);
    }
  }

  bool Has(FuncId function) const { return !reached_[function.index]; }

 private:
  void Reach(FuncId function) {
    if (reached_[function.index]) return;
    reached_[function.index] = true;
    work_.push_back(function);
  }

  void AddNames(const binding::Program& program, const binding::Neighbourhood& neighbourhood, ir::ModuleId module_id,
                const std::unordered_map<base::NameId, std::vector<FuncId>>& by_name) {
    const ir::Module& module = program.modules[module_id];
    std::vector<bool> is_used(program.modules.size());
    for (const ir::ModuleId used : neighbourhood.UsedBy(module_id)) is_used[used.index] = true;
    for (const ir::ExprKind kind : {ir::ExprKind::Name, ir::ExprKind::Attribute}) {
      for (const ir::ExprId expr : index_.ExprsOf(module_id, kind)) {
        const auto found = by_name.find(kind == ir::ExprKind::Name ? ir::NameOf(module[expr]) : ir::AttrOf(module[expr]));
        if (found == by_name.end()) continue;
        // A decorator, and the default of a parameter, stand in no function.
        const ir::StmtId stmt = index_.tree(module_id).StatementOf(expr);
        const FuncId around = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
        for (const FuncId named : found->second) {
          if (!is_used[program.funcs[named].module.index]) continue;
          if (around) names_[around.index].push_back(named);
          else Reach(named);
        }
      }
    }
  }

  const ProgramIndex& index_;
  std::vector<bool> reached_;               // by FuncId
  std::vector<std::vector<FuncId>> names_;  // by FuncId: those that it names or calls
  std::vector<FuncId> work_;
};

// `fire.Fire()`, `app()`: a statement that calls something unknown, and hands nothing over, where the file is started.
bool MayFindFunctions(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, ir::ModuleId module_id, ir::StmtId main) {
  using variation::CallKind;
  const ir::Module& module = program.modules[module_id];
  return std::ranges::any_of(facts.functions[program.func(module_id, ir::kTopLevel)].calls, [&](const auto& each) {
    const auto& [expr, call] = each;
    if (module[expr].kind != ir::ExprKind::Call || module[expr].begin < module[main].begin || module[main].end < module[expr].end) return false;
    const ir::StmtId stmt = index.tree(module_id).StatementOf(expr);
    const bool is_statement = stmt && module[stmt].kind == ir::StmtKind::Expr && module[stmt].begin == module[expr].begin &&
                              module[stmt].end == module[expr].end;
    const bool is_unknown = call.kind == CallKind::Unresolved || call.kind == CallKind::External || call.kind == CallKind::Deferred;
    return is_statement && is_unknown && ir::ArgCount(module, module[expr]) == 0;
  });
}

}  // namespace

std::vector<bool> FindUnmadeGroups(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                   const binding::Neighbourhood& neighbourhood, std::span<const LaunchSigns> signs) {
  if (std::ranges::none_of(signs, [](LaunchSigns each) { return (each & kMakesGroup) != 0; })) return std::vector<bool>(program.modules.size());
  const LeftOut left_out(program, index, neighbourhood);
  // By ModuleId: files with a function that makes a group, and those with one that makes it and is run.
  std::vector<bool> has_maker(program.modules.size()), makes(program.modules.size());
  for (uint32_t f = 0; f < signs.size(); ++f) {
    if ((signs[f] & kMakesGroup) == 0) continue;
    const FuncId function{f};
    has_maker[program.funcs[function].module.index] = true;
    if (!left_out.Has(function)) makes[program.funcs[function].module.index] = true;
  }
  std::vector<bool> unmade(program.modules.size()), made(program.modules.size());
  for (uint32_t m = 0; m < unmade.size(); ++m) {
    if (!neighbourhood.ImportersOf(ir::ModuleId{m}).empty() || IsTestFile(program, ir::ModuleId{m})) continue;
    const std::vector<ir::ModuleId> used = neighbourhood.UsedBy(ir::ModuleId{m});
    const ir::StmtId main = MainOf(program, ir::ModuleId{m});
    const bool is_unmade = main && !MayFindFunctions(program, facts, index, ir::ModuleId{m}, main) &&
                           std::ranges::any_of(used, [&](ir::ModuleId each) { return has_maker[each.index]; }) &&
                           std::ranges::none_of(used, [&](ir::ModuleId each) { return makes[each.index]; });
    for (const ir::ModuleId each : used) (is_unmade ? unmade : made)[each.index] = true;
  }
  for (size_t m = 0; m < unmade.size(); ++m) unmade[m] = unmade[m] && !made[m];
  return unmade;
}

}  // namespace allranks::objects
