// Which functions can issue an operation at all, and in which order to look at them: callees first.
#pragma once

#include <vector>

#include "analyzer/traces/module_mode.h"
#include "analyzer/variation/facts.h"

namespace allranks::traces {

struct CallGraph {
  std::vector<bool> relevant;                  // by FuncId: may reach an operation or end the process
  std::vector<variation::FuncId> order;        // the relevant functions, callees before callers
  std::vector<uint32_t> cycle;                 // by FuncId: functions of one number reach one another by calls; 0: it reaches itself by none
  ModuleModes modes;                           // that decide whether an operation runs
};

CallGraph MakeCallGraph(const binding::Program& program, const knowledge::Knowledge& knowledge,
                        const variation::Facts& facts);

// What calling an object, or a class, runs: an operation of the knowledge base, or a method of the project. Both none if nothing is known.
struct ObjectCall {
  knowledge::EntryId entry;
  variation::FuncId function;
};
ObjectCall CallOf(const binding::Program& program, const knowledge::Knowledge& knowledge,
                  const variation::ValueStore& values, variation::ValueId object);

// The function behind a function value, a bound method or a partial; none for anything else.
variation::FuncId FunctionBehind(const variation::ValueStore& values, variation::ValueId value);

}  // namespace allranks::traces
