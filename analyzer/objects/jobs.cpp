#include "analyzer/objects/jobs.h"

#include <algorithm>

namespace allranks::objects {

Jobs::Jobs(const binding::Program& program, const ProgramIndex& index)
    : distributed_(program.modules.size()), run_(program.funcs.size()), of_job_(program.funcs.size()) {
  std::vector<bool> communicates(program.modules.size());
  std::vector<bool> sets_up(program.modules.size());
  for (const KnownCall& call : index.known_calls()) {
    const uint32_t module = program.funcs[call.function].module.index;
    if (!call.entry->has_operation) continue;
    communicates[module] = true;
    const bool wraps = program.text(call.entry->operation.kind) == "module_broadcast";
    if (!wraps && call.entry->operation.op_class != knowledge::OpClass::Init) continue;
    sets_up[module] = true;
    // Whoever calls it: what makes the job, or wraps the model, is there to be run by the ranks.
    if (index.CallersOf(call.function).empty()) run_[call.function.index] = true;
  }
  for (const uint32_t module : FilesThatSetUp(program, index)) communicates[module] = sets_up[module] = true;
  const binding::Neighbourhood neighbourhood(program);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const std::vector<ir::ModuleId> users = neighbourhood.UsersOf(ir::ModuleId{m});
    distributed_[m] = std::ranges::any_of(users, [&](ir::ModuleId user) { return communicates[user.index]; });
  }
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    // The cells of a notebook are run by one process, whatever it starts.
    const bool is_notebook = program.infos[program.funcs[FuncId{f}].module].path.ends_with(".ipynb");
    run_[f] = !is_notebook && (run_[f] || program.funcs[FuncId{f}].function == ir::kTopLevel);
    of_job_[f] = sets_up[program.funcs[FuncId{f}].module.index];
  }
  FollowCalls(index, run_);
  FollowCalls(index, of_job_);
}

// The files of functions that set up a process group, and of those that call these, directly or through others: the
// script that calls `init_distributed()` of a helper runs a job as much as the helper.
std::vector<uint32_t> Jobs::FilesThatSetUp(const binding::Program& program, const ProgramIndex& index) {
  std::vector<bool> seen(program.funcs.size());
  std::vector<FuncId> work;
  const auto add = [&](FuncId function) {
    if (seen[function.index]) return;
    seen[function.index] = true;
    work.push_back(function);
  };
  for (const KnownCall& call : index.known_calls()) {
    const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
    if (is_init) add(call.function);
  }
  std::vector<uint32_t> files;
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    files.push_back(program.funcs[function].module.index);
    for (const Site& caller : index.CallersOf(function)) add(caller.function);
  }
  return files;
}

// From callers to callees, until nothing is added.
void Jobs::FollowCalls(const ProgramIndex& index, std::vector<bool>& functions) {
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t f = 0; f < functions.size(); ++f) {
      if (functions[f]) continue;
      const auto callers = index.CallersOf(FuncId{f});
      functions[f] = std::ranges::any_of(callers, [&](const Site& caller) { return functions[caller.function.index]; });
      grew = grew || functions[f];
    }
  }
}

}  // namespace allranks::objects
