// A call of something that the knowledge base has an entry for, as far as its result hangs on it: where it stands, what it is
// given, by parameter and as it is written, and which loops it is in.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analyzer/variation/call_argument.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

// A variable of a loop or comprehension, and what that goes through.
struct LoopVariable {
  ValueId variable;
  ValueId sequence;
};

struct LibraryCall {
  uint32_t site = 0;  // symbol of the place
  const knowledge::Entry& entry;
  std::span<const ValueId> by_param;  // none where nothing is passed
  ValueId receiver;                   // none of a function
  std::span<const CallArgument> args;
  std::span<const LoopVariable> around;

  // What is passed for a parameter; none if nothing is, or if there is no such parameter.
  ValueId Passed(NameId param) const {
    const auto index = static_cast<size_t>(std::ranges::find(entry.params, param) - entry.params.begin());
    return index < by_param.size() ? by_param[index] : ValueId::None();
  }
};

// The result of a call of which nothing is known but what goes in. `callee`: what it is called on, or none.
inline ValueId DerivedCall(ValueStore& store, uint32_t symbol, ValueId callee, std::span<const CallArgument> args) {
  std::vector<ValueId> kids;
  if (callee) kids.push_back(callee);
  for (const CallArgument& arg : args) {
    if (arg.value) kids.push_back(arg.value);
  }
  return store.Derived(symbol, kids);
}

}  // namespace allranks::variation
