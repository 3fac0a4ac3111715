// What tests come out as where functions are called with known arguments: `if noise is None:` of a parameter.
//
// A value whose kind cannot be nothing (a number, a text, an object) is not None. Of all others that is not known.
#pragma once

#include <optional>
#include <span>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// The arguments of one call, for the parameters of the function that it calls.
struct PassedArgs {
  FuncId function;
  std::span<const ValueId> args;
};

class PassedTests {
 public:
  // `calls`: those on the way to the test, the innermost first.
  PassedTests(const variation::ValueStore& store, std::span<const PassedArgs> calls) : store_(store), calls_(calls) {}

  std::optional<bool> Truth(ValueId test) const;

 private:
  ValueId Passed(ValueId id) const;
  std::optional<bool> Compared(ir::CompareOp op, ValueId left, ValueId right) const;
  std::optional<bool> AreEqual(ValueId left, ValueId right) const;
  std::optional<bool> IsIn(ValueId text, ValueId container) const;

  const variation::ValueStore& store_;
  std::span<const PassedArgs> calls_;
};

}  // namespace allranks::objects
