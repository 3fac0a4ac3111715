#include "analyzer/objects/jobs.h"

#include <algorithm>

namespace allranks::objects {

Jobs::Jobs(const binding::Program& program, const ProgramIndex& index)
    : distributed_(program.modules.size()), run_(program.funcs.size()) {
  std::vector<bool> communicates(program.modules.size());
  for (const KnownCall& call : index.known_calls()) {
    if (call.entry->has_operation) communicates[program.funcs[call.function].module.index] = true;
  }
  const Neighbourhood neighbourhood(program);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const std::vector<ir::ModuleId> users = neighbourhood.UsersOf(ir::ModuleId{m});
    distributed_[m] = std::ranges::any_of(users, [&](ir::ModuleId user) { return communicates[user.index]; });
  }
  FollowCalls(program, index);
}

// From callers to callees, until nothing is added.
void Jobs::FollowCalls(const binding::Program& program, const ProgramIndex& index) {
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    run_[f] = program.funcs[FuncId{f}].function == ir::kTopLevel;
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t f = 0; f < program.funcs.size(); ++f) {
      if (run_[f]) continue;
      const auto callers = index.CallersOf(FuncId{f});
      run_[f] = std::ranges::any_of(callers, [&](const Site& caller) { return run_[caller.function.index]; });
      grew = grew || run_[f];
    }
  }
}

}  // namespace allranks::objects
