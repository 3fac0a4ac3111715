#include "analyzer/objects/unlaunched_programs.h"

#include <algorithm>
#include <unordered_set>

#include "analyzer/base/folder.h"
#include "analyzer/objects/main_guard.h"

namespace allranks::objects {
namespace {

// Folders in which a launcher starts a program.
using Folders = std::unordered_set<std::string_view>;

Folders FoldersOf(std::span<const LaunchLine> lines) {
  Folders folders;
  for (const LaunchLine& line : lines) {
    if ((line.starts_ranks || line.is_job_of_one) && !line.path.empty()) folders.insert(base::FolderOf(line.path));
  }
  return folders;
}

// Whether one does so beside a file, or in a folder above.
bool StartsOtherNear(const Folders& folders, std::string_view file) {
  std::string_view folder = base::FolderOf(file);
  while (!folder.empty() && !folders.contains(folder)) folder = base::FolderOf(folder);
  return folders.contains(folder);
}

}  // namespace

std::vector<bool> FindUnlaunchedPrograms(const binding::Program& program, const binding::Neighbourhood& neighbourhood,
                                         std::span<const LaunchLine> lines, const std::function<bool(ir::ModuleId)>& starts_ranks) {
  // Files of programs that are passed over, and of all others.
  std::vector<bool> passed_over(program.modules.size()), others(program.modules.size());
  const StartedFiles started(lines);
  const Folders folders = FoldersOf(lines);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const std::string_view path = program.infos[ir::ModuleId{m}].path;
    const bool is_named = started.MayHold(path);
    if (!is_named && !IsStartedByHand(program, neighbourhood, ir::ModuleId{m})) continue;
    const std::vector<ir::ModuleId> used = neighbourhood.UsedBy(ir::ModuleId{m});
    const bool is_passed_over = !is_named && StartsOtherNear(folders, path) && std::ranges::none_of(used, starts_ranks);
    for (const ir::ModuleId each : used) (is_passed_over ? passed_over : others)[each.index] = true;
  }
  for (size_t m = 0; m < passed_over.size(); ++m) passed_over[m] = passed_over[m] && !others[m];
  return passed_over;
}

}  // namespace allranks::objects
