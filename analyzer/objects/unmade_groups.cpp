#include "analyzer/objects/unmade_groups.h"

#include <algorithm>

#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// A framework's trainer, processes that are started, a controller.
constexpr LaunchSigns kMakesElse = kMakesJob | kHasController | kStartsRanks | kJoinsJob;

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
    const KnownCall* known = index.KnownCallAt({program.func(module_id, ir::kTopLevel), expr});
    const bool hands_out = known != nullptr && known->entry->Has(knowledge::Role::HandsOut);
    const bool is_unknown = hands_out || call.kind == CallKind::Unresolved || call.kind == CallKind::External || call.kind == CallKind::Deferred;
    return is_statement && is_unknown && ir::ArgCount(module, module[expr]) == 0;
  });
}

// A file that no other one imports, and those that a program which begins there uses.
struct Start {
  ir::ModuleId file;
  std::vector<ir::ModuleId> used;
};

std::vector<Start> StartsOf(const binding::Program& program, const binding::Neighbourhood& neighbourhood) {
  std::vector<Start> starts;
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId file{m};
    if (neighbourhood.ImportersOf(file).empty() && !IsTestFile(program, file)) starts.push_back({file, neighbourhood.UsedBy(file)});
  }
  return starts;
}

// `are`: by ModuleId.
bool Any(const std::vector<ir::ModuleId>& files, const std::vector<bool>& are) {
  return std::ranges::any_of(files, [&](ir::ModuleId each) { return are[each.index]; });
}

}  // namespace

std::vector<bool> FindUnmadeGroups(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                   const binding::Neighbourhood& neighbourhood, const NamedFunctions& named, std::span<const LaunchSigns> signs) {
  std::vector<ir::ModuleId> all;
  for (uint32_t m = 0; m < program.modules.size(); ++m) all.push_back(ir::ModuleId{m});
  const std::vector<bool> is_come_to = named.ReachedIn(all);
  // By ModuleId: files with a function that makes a group, with one that makes it and is run, that make a job in another way, that speak to
  // other ranks, and that a program uses which makes a group.
  const size_t count = program.modules.size();
  std::vector<bool> has_maker(count), makes(count), makes_else(count), speaks(count), shared(count);
  for (uint32_t f = 0; f < signs.size(); ++f) {
    const FuncId function{f};
    const uint32_t module = program.funcs[function].module.index;
    const bool makes_group = (signs[f] & kMakesGroup) != 0;
    has_maker[module] = has_maker[module] || makes_group;
    makes[module] = makes[module] || (makes_group && is_come_to[f]);
    makes_else[module] = makes_else[module] || (signs[f] & kMakesElse) != 0;
    speaks[module] = speaks[module] || (signs[f] & kSpeaksToRanks) != 0;
  }
  const std::vector<Start> starts = StartsOf(program, neighbourhood);
  for (const Start& start : starts) {
    if (!Any(start.used, makes)) continue;
    for (const ir::ModuleId each : start.used) shared[each.index] = true;
  }
  std::vector<bool> unmade(count), made(count);
  for (const auto& [file, used] : starts) {
    const ir::StmtId main = MainOf(program, file);
    const bool is_of_others = Any(used, speaks) && Any(used, shared) && !Any(used, makes_else);
    const bool is_left_out = main && Any(used, has_maker) && !MayFindFunctions(program, facts, index, file, main);
    const bool is_unmade = main && !Any(used, makes) && (is_left_out || (is_of_others && !Any(used, has_maker)));
    for (const ir::ModuleId each : used) (is_unmade ? unmade : made)[each.index] = true;
  }
  for (size_t m = 0; m < unmade.size(); ++m) unmade[m] = unmade[m] && !made[m];
  return unmade;
}

std::vector<bool> FindJoblessFiles(const binding::Program& program, const binding::Neighbourhood& neighbourhood, std::span<const LaunchSigns> signs,
                                   std::span<const std::vector<uint32_t>> lines_for) {
  const size_t count = program.modules.size();
  std::vector<bool> makes(count), jobless(count), in_job(count);
  for (uint32_t f = 0; f < signs.size(); ++f) {
    if ((signs[f] & (kMakesGroup | kMakesElse)) != 0) makes[program.funcs[FuncId{f}].module.index] = true;
  }
  for (const auto& [file, used] : StartsOf(program, neighbourhood)) {
    const bool is_in_job = Any(used, makes);
    const bool is_started = !lines_for[file.index].empty() || IsStartedByHand(program, neighbourhood, file);
    for (const ir::ModuleId each : used) {
      if (is_in_job) in_job[each.index] = true;
      else if (is_started) jobless[each.index] = true;
    }
  }
  for (size_t m = 0; m < count; ++m) jobless[m] = jobless[m] && !in_job[m];
  return jobless;
}

}  // namespace allranks::objects
