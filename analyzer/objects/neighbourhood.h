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
  // The module, those that import it, directly or through others, and all that any of these import.
  std::vector<ir::ModuleId> Of(ir::ModuleId module) const;

 private:
  using Edges = std::vector<std::vector<ir::ModuleId>>;
  static void Follow(const Edges& edges, std::vector<ir::ModuleId>& reached);

  Edges imports_, importers_;
};

}  // namespace allranks::objects
