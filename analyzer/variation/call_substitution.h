// Values of a callee in terms of the caller: its parameters, and those of the functions around it, replaced by what is passed.
#pragma once

#include <span>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

// Much is the same in what one call yields and leaves behind, conditions above all: it is replaced once a call.
class CallSubstitution {
 public:
  // `bound` must live as long.
  CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::span<const ValueId> bound);
  CallSubstitution(Tables& tables, ValueId callee, FuncId function, std::vector<ValueId>&& bound) = delete;
  ValueId operator()(ValueId value);

 private:
  ValueStore& store_;
  // A function around, and what its parameters are.
  struct Around {
    FuncId function;
    std::vector<ValueId> captured;
    ValueStore::Memo memo;
  };
  FuncId function_;
  std::span<const ValueId> bound_;
  std::vector<Around> around_;
  ValueStore::Memo memo_;
};

}  // namespace allranks::variation
