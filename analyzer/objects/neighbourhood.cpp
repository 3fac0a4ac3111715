#include "analyzer/objects/neighbourhood.h"

#include <algorithm>

namespace allranks::objects {

Neighbourhood::Neighbourhood(const binding::Program& program) {
  imports_.resize(program.modules.size());
  importers_.resize(program.modules.size());
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const auto add = [&](ir::ModuleId target) {
      if (!target || target.index == m || std::ranges::count(imports_[m], target) > 0) return;
      imports_[m].push_back(target);
      importers_[target.index].push_back(ir::ModuleId{m});
    };
    for (const binding::Target& target : program.import_targets[m]) {
      add(target.module);
      if (target.function) add(program.funcs[target.function].module);
      if (target.class_id) add(program.classes[target.class_id].module);
    }
    for (const ir::ModuleId star : program.stars[m]) add(star);
  }
}

std::vector<ir::ModuleId> Neighbourhood::UsersOf(ir::ModuleId module) const {
  std::vector<ir::ModuleId> reached = {module};
  Follow(importers_, reached);
  return reached;
}

std::vector<ir::ModuleId> Neighbourhood::Of(ir::ModuleId module) const {
  std::vector<ir::ModuleId> reached = {module};
  Follow(importers_, reached);
  Follow(imports_, reached);
  return reached;
}

void Neighbourhood::Follow(const Edges& edges, std::vector<ir::ModuleId>& reached) {
  std::vector<bool> seen(edges.size());
  for (const ir::ModuleId module : reached) seen[module.index] = true;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const ir::ModuleId next : edges[reached[i].index]) {
      if (seen[next.index]) continue;
      seen[next.index] = true;
      reached.push_back(next);
    }
  }
}

}  // namespace allranks::objects
