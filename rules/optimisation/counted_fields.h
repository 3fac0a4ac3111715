// Fields in which the steps of an evaluation by Lightning count what a rank saw, for a hook behind them to divide:
//
//   def validation_step(self, batch, index): self.right += hits(batch)
//   def on_validation_epoch_end(self): self.log("accuracy", self.right / self.seen)
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// The places where a hook at the end of an epoch reads such fields of its object: those of the validation or those of the test.
std::vector<ir::ExprId> ReadsOfCountedFields(const Context& context, objects::FuncId hook);

}  // namespace allranks::rules
