// Metrics that a program watches by the name under which it logs them, as callbacks and schedulers of Lightning do:
//
//   ModelCheckpoint(monitor="val_loss")
//   return {"optimizer": optimizer, "lr_scheduler": plateau, "monitor": "val_loss"}
#pragma once

#include <optional>
#include <vector>

#include "rules/program_calls.h"

namespace allranks::rules {

class MonitoredMetrics {
 public:
  explicit MonitoredMetrics(const Context& context);

  // Where the program of a call that logs watches what it logs under this name, or under the keys of this dictionary; none: nothing.
  std::optional<source::Span> OfNames(ir::ModuleId module, variation::ValueId names);

 private:
  struct Place {
    ir::ModuleId module;
    ir::ExprId name;
    base::NameId text;
  };

  void Add(ir::ModuleId module, ir::ExprId name);
  bool IsNamed(variation::ValueId names, base::NameId text) const;

  const Context& context_;
  ProgramCalls calls_;
  std::vector<Place> places_;
};

}  // namespace allranks::rules
