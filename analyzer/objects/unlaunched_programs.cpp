#include "analyzer/objects/unlaunched_programs.h"

#include <algorithm>

#include "analyzer/base/folder.h"
#include "analyzer/objects/main_guard.h"

namespace allranks::objects {
namespace {

// Whether a launcher starts a program beside a file, or in a folder above.
bool StartsOtherNear(const LaunchLine& line, std::string_view file) {
  const std::string folder(base::FolderOf(line.path));
  return (line.starts_ranks || line.is_job_of_one) && !line.path.empty() && (folder.empty() || file.starts_with(folder + "/"));
}

}  // namespace

std::vector<bool> FindUnlaunchedPrograms(const binding::Program& program, const binding::Neighbourhood& neighbourhood,
                                         std::span<const LaunchLine> lines, const std::function<bool(ir::ModuleId)>& starts_ranks) {
  // Files of programs that are passed over, and of all others.
  std::vector<bool> passed_over(program.modules.size()), others(program.modules.size());
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const std::string_view path = program.infos[ir::ModuleId{m}].path;
    const bool is_named = std::ranges::any_of(lines, [&](const LaunchLine& line) { return line.MayBeOf(path); });
    if (!is_named && !IsStartedByHand(program, neighbourhood, ir::ModuleId{m})) continue;
    const std::vector<ir::ModuleId> used = neighbourhood.UsedBy(ir::ModuleId{m});
    const bool is_passed_over = !is_named && std::ranges::any_of(lines, [&](const LaunchLine& line) { return StartsOtherNear(line, path); }) &&
                                std::ranges::none_of(used, starts_ranks);
    for (const ir::ModuleId each : used) (is_passed_over ? passed_over : others)[each.index] = true;
  }
  for (size_t m = 0; m < passed_over.size(); ++m) passed_over[m] = passed_over[m] && !others[m];
  return passed_over;
}

}  // namespace allranks::objects
