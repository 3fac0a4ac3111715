#include "analyzer/objects/unmade_groups.h"

#include <algorithm>
#include <map>

#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// Functions that no program comes to: each place that names them, in their file or in one that imports it, stands in another such function.
class LeftOut {
 public:
  LeftOut(const binding::Program& program, const ProgramIndex& index, const binding::Neighbourhood& neighbourhood)
      : program_(program), index_(index), neighbourhood_(neighbourhood) {}

  bool Has(FuncId function) {
    // Those that name only each other are left out together.
    const auto [known, is_new] = known_.try_emplace(function.index, true);
    if (!is_new) return known->second;
    const bool is_left_out = index_.IsPlainFunction(function) && !IsNamedByOthers(function) && CallersAreLeftOut(function);
    return known_[function.index] = is_left_out;
  }

 private:
  bool CallersAreLeftOut(FuncId function) {
    const auto callers = index_.CallersOf(function);
    return std::ranges::all_of(callers, [&](const Site& caller) { return Has(caller.function); });
  }

  bool IsNamedByOthers(FuncId function) {
    const base::NameId name = program_.function(function).name;
    for (const ir::ModuleId module_id : neighbourhood_.UsersOf(program_.funcs[function].module)) {
      const ir::Module& module = program_.modules[module_id];
      const auto is_it = [&](ir::ExprId expr) {
        const base::NameId said = module[expr].kind == ir::ExprKind::Name ? ir::NameOf(module[expr]) : ir::AttrOf(module[expr]);
        if (said != name) return false;
        // None: a decorator, or the default of a parameter.
        const ir::StmtId stmt = index_.tree(module_id).StatementOf(expr);
        const FuncId around = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
        return !around || !Has(around);
      };
      for (const ir::ExprKind kind : {ir::ExprKind::Name, ir::ExprKind::Attribute}) {
        if (std::ranges::any_of(index_.ExprsOf(module_id, kind), is_it)) return true;
      }
    }
    return false;
  }

  const binding::Program& program_;
  const ProgramIndex& index_;
  const binding::Neighbourhood& neighbourhood_;
  std::map<uint32_t, bool> known_;  // by FuncId
};

// `fire.Fire()`, `app()`: a call of something that is not known, with nothing handed over, where the file is started.
bool MayFindFunctions(const binding::Program& program, const variation::Facts& facts, ir::ModuleId module_id, ir::StmtId main) {
  const ir::Module& module = program.modules[module_id];
  const FuncId top = program.func(module_id, ir::kTopLevel);
  return std::ranges::any_of(facts.functions[top].calls, [&](const auto& each) {
    const auto& [expr, call] = each;
    const bool is_here = module[main].begin <= module[expr].begin && module[expr].end <= module[main].end;
    const bool is_unknown = call.kind == variation::CallKind::Unresolved || call.kind == variation::CallKind::External || call.kind == variation::CallKind::Deferred;
    return is_here && is_unknown && module[expr].kind == ir::ExprKind::Call && ir::ArgCount(module, module[expr]) == 0;
  });
}

}  // namespace

std::vector<bool> FindUnmadeGroups(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                   const binding::Neighbourhood& neighbourhood, std::span<const LaunchSigns> signs) {
  LeftOut left_out(program, index, neighbourhood);
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
    const bool is_unmade = main && !MayFindFunctions(program, facts, ir::ModuleId{m}, main) && std::ranges::any_of(used, [&](ir::ModuleId each) { return has_maker[each.index]; }) &&
                           std::ranges::none_of(used, [&](ir::ModuleId each) { return makes[each.index]; });
    for (const ir::ModuleId each : used) (is_unmade ? unmade : made)[each.index] = true;
  }
  for (size_t m = 0; m < unmade.size(); ++m) unmade[m] = unmade[m] && !made[m];
  return unmade;
}

}  // namespace allranks::objects
