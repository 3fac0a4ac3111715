#include "rules/launch/debug_in_program.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/launch/job.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/main_guard.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::Site;
using variation::ValueId;

class Settings {
 public:
  Settings(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), code_(code), sink_(sink),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading) {}

  void Visit(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const FuncId function = module[id].kind == ir::StmtKind::Assign ? context_.index.FunctionOf(module_id, id) : FuncId();
      if (!function) continue;
      const ValueId value = context_.facts.value(module_id, ir::AssignedOf(module[id]));
      for (const ir::ExprId target : ir::TargetsOf(module, module[id])) {
        const std::string_view name = VariableOf(module_id, target);
        const launch::VariableEntry* variable = name.empty() ? nullptr : context_.launches.tables.FindVariable(name);
        if (variable == nullptr || !value || std::ranges::count(variable->debug_values, context_.values.Str(value)) == 0) continue;
        const Site site{function, ir::AssignedOf(module[id])};
        if (IsSetByRanks(site) && Costs(module_id, *variable)) Report(module_id, id, *variable, context_.values.Str(value));
      }
    }
  }

 private:
  // The name in `os.environ["NAME"]`.
  std::string_view VariableOf(ir::ModuleId module_id, ir::ExprId target) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (module[target].kind != ir::ExprKind::Subscript) return {};
    const ValueId object = context_.facts.value(module_id, ir::LeftOf(module[target]));
    const ValueId key = context_.facts.value(module_id, ir::IndexOf(module[target]));
    return object && key && context_.values.External(object) == "os.environ" ? context_.values.Str(key) : std::string_view();
  }

  bool IsSetByRanks(const Site& site) const {
    const std::vector<Site> way = {site};
    const objects::RunBy run_by = context_.launch.Of(site);
    if (run_by == objects::RunBy::OneProcess || run_by == objects::RunBy::Tests) return false;
    if (IsAsked(site) || (!IsOfScript(site) && !runs_.IsRunByRanks(way))) return false;
    const bool is_launched = !context_.launch.LinesFor(context_.program.funcs[site.function].module).empty();
    return is_launched || (runs_.IsSharedWork(way) && runs_.IsStartedOnRanks(site));
  }

  // What stands at the top of a file that is started.
  bool IsOfScript(const Site& site) const {
    const ir::ModuleId module = context_.program.funcs[site.function].module;
    const bool is_started = objects::MainOf(context_.program, module) || !context_.launch.LinesFor(module).empty();
    return context_.program.funcs[site.function].function == ir::kTopLevel && is_started;
  }

  bool IsAsked(const Site& site) const {
    const ir::Module& module = context_.program.module_of(site.function);
    return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
      return !objects::AsksForMain(*context_.program.names, module, guard.test);
    });
  }

  bool Costs(ir::ModuleId module, const launch::VariableEntry& variable) const {
    if (variable.only_if == "several processes") return context_.launch.RanksFor(module) != 1;
    return variable.only_if.empty();
  }

  // What several files of a project set alike is one finding.
  void Report(ir::ModuleId module_id, ir::StmtId stmt, const launch::VariableEntry& variable, std::string_view value) {
    const ir::Module& module = context_.program.modules[module_id];
    const std::string assignment = variable.name + "=" + std::string(value);
    const auto [told, is_new] = told_.try_emplace(assignment, sink_.size());
    if (!is_new) return AddLabel(sink_[told->second], module.span(stmt), LabelRole::Note, {"and here", {}});
    Finding finding = FindingAt(context_, code_, Severity::Warning, Confidence::Likely, context_.index.FunctionOf(module_id, stmt), stmt,
                                {"`{}` is set for this job: {}", {assignment, variable.why}});
    AddLabel(finding, module.span(stmt), LabelRole::Primary, {"on every rank, in every run", {}});
    finding.help = {"set it on the command line while debugging, not in the program", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  std::map<std::string, size_t> told_;  // by assignment: its finding
};

}  // namespace

void FindDebugInProgram(const Context& context, std::string_view code, FindingSink& sink) {
  Settings settings(context, code, sink);
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const bool is_notebook = context.program.infos[module_id].path.ends_with(".ipynb");
    if (context.program.modules[module_id].language == ir::Language::Python && !is_notebook) settings.Visit(module_id);
  }
}

}  // namespace allranks::rules
