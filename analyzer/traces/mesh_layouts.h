// How programs lay their ranks out along the dimensions of a mesh: `init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("dp", "tp"))`.
#pragma once

#include <span>
#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/traces/world.h"
#include "analyzer/variation/facts.h"

namespace allranks::traces {

class MeshLayouts {
 public:
  MeshLayouts(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts);

  // As what jobs can have it, smallest first, the mesh of the programs with a file that has all of these axes. None: there is no such mesh,
  // there are several that differ, or its sizes are not known.
  std::span<const Mesh> With(knowledge::Axes axes, ir::ModuleId module) const;
  // Along which axes programs with a file have meshes that do not lay out ranks alike, or may not.
  knowledge::Axes Unclear(ir::ModuleId module) const { return unclear_[module.index]; }
  // Whether two programs of the same modules say the same.
  bool Same(const MeshLayouts& other) const { return layouts_ == other.layouts_; }

 private:
  struct Layout {
    ir::ModuleId module;
    knowledge::Axes axes;
    std::vector<Mesh> jobs;
    std::vector<bool> users;   // by ModuleId: of one program with it
    bool operator==(const Layout&) const = default;
  };

  void NoteUnclear();

  std::vector<Layout> layouts_;
  std::vector<knowledge::Axes> unclear_;   // by ModuleId
};

}  // namespace allranks::traces
