#include "analyzer/binding/import_graph.h"

#include <algorithm>

namespace allranks::binding {

ImportEdges ImportsOf(const Program& program) {
  ImportEdges imports(program.modules.size());
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const auto add = [&](ModuleId target) {
      if (!target || target.index == m || std::ranges::count(imports[m], target) > 0) return;
      imports[m].push_back(target);
    };
    for (const Target& target : program.import_targets[m]) {
      add(target.module);
      if (target.function) add(program.funcs[target.function].module);
      if (target.class_id) add(program.classes[target.class_id].module);
    }
    for (const ModuleId star : program.stars[m]) add(star);
  }
  return imports;
}

ImportEdges Reversed(const ImportEdges& edges) {
  ImportEdges reversed(edges.size());
  for (uint32_t from = 0; from < edges.size(); ++from) {
    for (const ModuleId to : edges[from]) reversed[to.index].push_back(ModuleId{from});
  }
  return reversed;
}

void Follow(const ImportEdges& edges, std::vector<ModuleId>& reached) {
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
