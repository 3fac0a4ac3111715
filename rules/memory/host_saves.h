// Whether what is saved was moved to the host before: `torch.save({k: v.cpu() for k, v in state.items()}, path)`, there, in
// a helper that it goes through, or in the function that hands it over.
//
// Not sound: that one part of it was moved counts for all, and every assignment to a variable does, also those behind.
#pragma once

#include <map>

#include "analyzer/objects/local_flow.h"
#include "rules/rule.h"

namespace allranks::rules {

using variation::FuncId;

class HostSaves {
 public:
  explicit HostSaves(const Context& context) : context_(context) {}

  bool Has(const objects::FileUse& save);

 private:
  bool IsGivenMoved(const objects::Site& call);
  bool IsMoved(FuncId function, ir::ExprId saved, int depth);
  bool IsItemMoved(FuncId function, const objects::FlowInto& flow, int depth);
  bool IsMovedInto(const objects::KnownCall& move, const objects::FlowInto& flow) const;
  bool Returns(FuncId function, int depth);

  const Context& context_;
  std::map<uint32_t, bool> returns_;  // by FuncId: whether it returns what it has moved
};

}  // namespace allranks::rules
