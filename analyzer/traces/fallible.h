// What can go wrong on one rank and not on others, and which handlers catch it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "analyzer/traces/build.h"

namespace allranks::traces {

Breadth HandlerBreadth(const State& state, ir::ModuleId module, const ir::Handler& handler);

// The same of what an expression names: an exception, or several in a tuple.
Breadth BreadthOf(const State& state, ir::ModuleId module, ir::ExprId type);

// The calls of a function by where they stand, for whoever asks for those of many statements.
class CallPlaces {
 public:
  using Call = std::pair<ir::ExprId, variation::CallFact>;
  CallPlaces(const State& state, FuncId func) : state_(state), function_(func) {}

  FuncId function() const { return function_; }
  // Those that begin there.
  std::span<const Call* const> BeginningIn(uint32_t begin, uint32_t end);

 private:
  const State& state_;
  FuncId function_;
  std::vector<const Call*> calls_;  // in the order of the text, from the first question on
};

// Whether the statement itself, one of the function whose calls these are, does work that fails on single ranks: a forward pass, reading data or files, parsing.
bool CanFailOnOneRank(const State& state, CallPlaces& calls, ir::StmtId stmt);

}  // namespace allranks::traces
