// The files that make up one program: what a file imports, and which files import it.
#pragma once

#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::binding {

class Neighbourhood {
 public:
  explicit Neighbourhood(const Program& program);

  // The module, and those that import it, directly or through others.
  std::vector<ModuleId> UsersOf(ModuleId module) const;
  // The module, and all that it imports, directly or through others.
  std::vector<ModuleId> UsedBy(ModuleId module) const;
  // Those that it imports itself, and those that import it themselves.
  const std::vector<ModuleId>& ImportsOf(ModuleId module) const { return imports_[module.index]; }
  const std::vector<ModuleId>& ImportersOf(ModuleId module) const { return importers_[module.index]; }
  // The module, those that import it, directly or through others, and all that any of these import.
  std::vector<ModuleId> Of(ModuleId module) const;

 private:
  using Edges = std::vector<std::vector<ModuleId>>;  // by module: others
  // Adds what is reached from `reached`, directly or through others.
  static void Follow(const Edges& edges, std::vector<ModuleId>& reached);

  Edges imports_, importers_;
};

}  // namespace allranks::binding
