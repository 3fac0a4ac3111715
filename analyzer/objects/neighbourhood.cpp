#include "analyzer/objects/neighbourhood.h"

#include "analyzer/binding/import_graph.h"

namespace allranks::objects {

Neighbourhood::Neighbourhood(const binding::Program& program)
    : imports_(binding::ImportsOf(program)), importers_(binding::Reversed(imports_)) {}

std::vector<ir::ModuleId> Neighbourhood::UsersOf(ir::ModuleId module) const {
  std::vector<ir::ModuleId> reached = {module};
  Follow(importers_, reached);
  return reached;
}

std::vector<ir::ModuleId> Neighbourhood::UsedBy(ir::ModuleId module) const {
  std::vector<ir::ModuleId> reached = {module};
  Follow(imports_, reached);
  return reached;
}

std::vector<ir::ModuleId> Neighbourhood::Of(ir::ModuleId module) const {
  std::vector<ir::ModuleId> reached = {module};
  Follow(importers_, reached);
  Follow(imports_, reached);
  return reached;
}

void Neighbourhood::Follow(const Edges& edges, std::vector<ir::ModuleId>& reached) { binding::Follow(edges, reached); }

}  // namespace allranks::objects
