#include "rules/ddp/wrapped_models.h"

namespace allranks::rules {

std::vector<WrappedModel> WrappedModels(const Context& context) {
  std::vector<WrappedModel> models;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) != "torch.nn.parallel.DistributedDataParallel.__init__") continue;
    const std::vector<variation::ValueId> leaves = context.values.Leaves(context.index.Arg(call, "module"));
    if (leaves.size() != 1) continue;
    const variation::Value& model = context.facts.values_store[leaves[0]];
    if (model.kind == variation::ValueKind::Instance) models.push_back({call, model.class_id()});
  }
  return models;
}

}  // namespace allranks::rules
