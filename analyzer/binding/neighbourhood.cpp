#include "analyzer/binding/neighbourhood.h"

#include <algorithm>

namespace allranks::binding {

Neighbourhood::Neighbourhood(const Program& program) : imports_(program.modules.size()), importers_(program.modules.size()) {
  for (uint32_t m = 0; m < imports_.size(); ++m) {
    const auto add = [&](ModuleId target) {
      if (!target || target.index == m || std::ranges::count(imports_[m], target) > 0) return;
      imports_[m].push_back(target);
      importers_[target.index].push_back(ModuleId{m});
    };
    for (uint32_t i = 0; i < program.import_targets[m].size(); ++i) {
      add(program.import_targets[m][i].module);
      // `from package import part`: the package, and the file that the name leads to.
      const Target target = program.ImportTarget(ModuleId{m}, ir::ImportId{i});
      add(target.module);
      if (target.function) add(program.funcs[target.function].module);
      if (target.class_id) add(program.classes[target.class_id].module);
    }
    for (const ModuleId star : program.stars[m]) add(star);
  }
}

std::vector<ModuleId> Neighbourhood::UsersOf(ModuleId module) const {
  std::vector<ModuleId> reached = {module};
  Follow(importers_, reached);
  return reached;
}

std::vector<ModuleId> Neighbourhood::UsedBy(ModuleId module) const {
  std::vector<ModuleId> reached = {module};
  Follow(imports_, reached);
  return reached;
}

std::vector<ModuleId> Neighbourhood::Of(ModuleId module) const {
  std::vector<ModuleId> reached = UsersOf(module);
  Follow(imports_, reached);
  return reached;
}

void Neighbourhood::Follow(const Edges& edges, std::vector<ModuleId>& reached) {
  std::vector<bool> seen(edges.size());
  for (const ModuleId module : reached) seen[module.index] = true;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const ModuleId next : edges[reached[i].index]) {
      if (seen[next.index]) continue;
      seen[next.index] = true;
      reached.push_back(next);
    }
  }
}

}  // namespace allranks::binding
