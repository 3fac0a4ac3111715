// Models that go into a DDP wrapper.
#pragma once

#include <vector>

#include "analyzer/objects/module_use.h"
#include "rules/rule.h"

namespace allranks::rules {

struct WrappedModel {
  objects::KnownCall call;          // of the wrapper
  binding::ClassId class_id;        // the model's, of the project
};

// Every wrapping of a model whose class is one of the project, and only one.
std::vector<WrappedModel> WrappedModels(const Context& context);

}  // namespace allranks::rules
