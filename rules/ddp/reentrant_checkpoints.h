// Checkpoints of activations that are reentrant, in the model that a DDP wrapper gets: their parameters have no graph until backward.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/objects/module_use.h"
#include "rules/rule.h"

namespace allranks::rules {

class ReentrantCheckpoints {
 public:
  explicit ReentrantCheckpoints(const Context& context);

  // `torch.utils.checkpoint.checkpoint(...)` that is not told otherwise, in the model. Other models of the project are no
  // business of this wrapper.
  std::optional<objects::Site> In(const objects::KnownCall& wrap) const;

 private:
  // The classes of the model that is wrapped and of all that is in it; none if it is not known.
  std::vector<binding::ClassId> ClassesOfModel(const objects::KnownCall& wrap) const;
  // Where a model of unknown class may be written: the files that wrap it and ask for that, and all that these import.
  std::vector<ir::ModuleId> FilesAround(const objects::KnownCall& wrap) const;
  // The class whose method comes to a place, or a method that calls it, directly or through helpers.
  std::vector<binding::ClassId> ClassesAt(const objects::Site& site) const;
  bool IsOn(const objects::Site& site) const;

  const Context& context_;
  objects::ModuleUses uses_;
};

}  // namespace allranks::rules
