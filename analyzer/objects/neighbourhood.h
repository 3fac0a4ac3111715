// The files that make one program: what a file imports, and who imports it.
#pragma once

#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::objects {

class Neighbourhood {
 public:
  explicit Neighbourhood(const binding::Program& program);

  // The module, and those that import it, directly or through others.
  std::vector<ir::ModuleId> UsersOf(ir::ModuleId module) const;
  // The module, and all that it imports, directly or through others.
  std::vector<ir::ModuleId> UsedBy(ir::ModuleId module) const;
  // Those that it imports itself, and those that import it themselves.
  const std::vector<ir::ModuleId>& ImportsOf(ir::ModuleId module) const { return imports_[module.index]; }
  const std::vector<ir::ModuleId>& ImportersOf(ir::ModuleId module) const { return importers_[module.index]; }
  // The module, those that import it, directly or through others, and all that any of these import.
  std::vector<ir::ModuleId> Of(ir::ModuleId module) const;

 private:
  using Edges = std::vector<std::vector<ir::ModuleId>>;
  static void Follow(const Edges& edges, std::vector<ir::ModuleId>& reached);

  Edges imports_, importers_;
};

}  // namespace allranks::objects
