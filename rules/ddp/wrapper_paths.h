// Whether an object at a place is a DDP wrapper on some way there, though perhaps not on all: `if distributed: model = DDP(model)`.
//
// A variable of a function holds at each place what was assigned before; a field holds what any method stored in it, and is followed
// only where each of these is a wrapper. Parameters are followed to what callers pass. A test on the way that speaks of what decides
// about the wrapping (`if not distributed`) keeps the wrapper away, unless it is the same test and comes out the same.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

class WrapperPaths {
 public:
  explicit WrapperPaths(const Context& context);

  // Whether the program wraps a model at all.
  bool AreAny() const { return !all_.empty(); }

  // The wrappers that the object may be; empty if there are none.
  std::vector<variation::ValueId> WrappersAt(const objects::Site& object) const;

 private:
  struct Wrapping {
    variation::ValueId made;
    std::vector<objects::Guard> guards;
  };
  using Wrappings = std::vector<const Wrapping*>;
  bool IsWrapper(variation::ValueId value) const;
  bool Comes(const objects::Site& object, const Wrappings& wrappings, int depth) const;
  void AddArms(variation::ValueId value, const Wrappings& wrappings, std::vector<variation::ValueId>& arms) const;
  bool AsksForKind(variation::ValueId part) const;
  bool IsOneQuestion(variation::ValueId a, variation::ValueId b) const;
  base::NameId OperationOf(variation::ValueId value) const;
  bool ComesFromCallers(binding::FuncId function, uint32_t param, const Wrappings& wrappings, int depth) const;
  bool IsKeptAway(const objects::Site& site, const Wrappings& wrappings) const;
  bool SpeaksOfOne(const objects::Guard& guard, const objects::Guard& other) const;
  bool IsOfOtherKind(const objects::Guard& guard) const;
  bool IsVariableOf(binding::FuncId function, ir::ExprId expr) const;
  bool IsUnwrapped(binding::FuncId function, base::NameId variable) const;
  bool TakesInner(ir::ModuleId module, ir::ExprId expr) const;
  std::vector<base::NameId> Words(ir::ModuleId module, ir::ExprId test) const;
  variation::ValueId ValueOf(const objects::Guard& guard) const;

  const Context& context_;
  std::vector<Wrapping> all_;
};

}  // namespace allranks::rules
