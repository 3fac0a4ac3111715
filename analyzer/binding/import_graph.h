// Which modules import which, for those who ask what makes one program.
#pragma once

#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::binding {

// By module: others.
using ImportEdges = std::vector<std::vector<ModuleId>>;

// What each module imports.
ImportEdges ImportsOf(const Program& program);
// Who is at the other end.
ImportEdges Reversed(const ImportEdges& edges);
// Adds what is reached from `reached`, directly or through others.
void Follow(const ImportEdges& edges, std::vector<ModuleId>& reached);

}  // namespace allranks::binding
