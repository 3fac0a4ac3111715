// What the variation analysis found out: a value for every expression, what every call reaches, what every
// function returns and does to its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/variation/job_shape.h"
#include "analyzer/variation/value.h"

namespace allranks::variation {

enum class CallKind : uint8_t {
  Unresolved,  // nothing known about the callee
  Function,    // a function or method of the project, `function`
  Known,       // a library call the knowledge base has an entry for, `entry`
  External,    // outside the project, no entry
  Deferred,    // the callee is a value that mentions parameters, `callee`: resolved when they are known
  Construct,   // an object of the project class is made; `function` is its __init__, if the project defines one
};

// One call, or one attribute read / with-item / for-loop / decorator that works like a call.
struct CallFact {
  CallKind kind = CallKind::Unresolved;
  FuncId function;
  knowledge::EntryId entry;
  ValueId callee;        // the callee as a value; a Function value that captures variables says so (value.h)
  ValueId receiver;      // of a method; none otherwise
  uint32_t args = 0;     // start in Facts::values: one for each parameter of the callee (Function: with self; Known:
                         // in order of the entry's `params`; else the positional arguments), none where not passed
  uint32_t arg_count = 0;
};

struct FunctionFacts {
  // Sorted by expression. A call expression has its Call; an attribute read that runs code has one as well.
  std::vector<std::pair<ir::ExprId, CallFact>> calls;
  // What entering (`with`), iterating (`for`, comprehension) runs, by the context or iterable expression.
  std::vector<std::pair<ir::ExprId, CallFact>> enters;
  std::vector<std::pair<ir::ExprId, CallFact>> iterations;
  // How often a loop or clause runs: by the iterable (for) or test (while) expression. Its axes say whether ranks
  // may differ in the count.
  std::vector<std::pair<ir::ExprId, ValueId>> trip_counts;
  // What leaving a `with` runs, by the context expression (`__exit__` of a project class).
  std::vector<std::pair<ir::ExprId, CallFact>> leaves;
  // Known decorators of this function (`@rank_zero_only`): their guards hold for every call of it, outermost first.
  std::vector<knowledge::EntryId> decorators;
  // By where a handler begins: the unknown that is true where it ran. What a handler assigned hangs on it afterwards.
  std::unordered_map<uint32_t, ValueId> failures;
  // Of a constructor: what it leaves in the fields of the object, over Params.
  std::vector<std::pair<NameId, ValueId>> made;
  ValueId yields;                      // of a generator or `__next__`: how many items come out of it, over Params; none if all ranks get as many
  ValueId returns;                     // join of all return values, over Params
  std::vector<ValueId> stored;         // by index: what an `out` parameter holds at the end, over Params; none: untouched
  std::vector<bool> param_made_uniform;  // by index: a collective made the argument equal on all ranks, in place
  bool evaluated = false;
};

// Why a value varies: where each step of the chain stands, from the place asked about back to the source.
struct WhyStep {
  source::Span span;
  std::string text;   // "`rank` is the global rank", "`is_main` is assigned here"
  bool is_named = true;  // the text names what varies, and does not say "this"
  FuncId function;       // where the expression at the place stands
  ir::ExprId expr;
};

struct Facts {
  JobShape job;
  ValueStore values_store;
  std::vector<ValueId> values;                              // argument lists of CallFacts
  std::vector<base::IdVector<ir::ExprId, ValueId>> exprs;   // by module: the value of each evaluated expression
  base::IdVector<FuncId, FunctionFacts> functions;
  // What is known of a parameter from all its call sites, its default and its name: the value to assume where the
  // function is looked at by itself. Index: first_param[FuncId] + parameter.
  std::vector<ValueId> params;
  std::vector<uint32_t> first_param;
  // By parameter: whether some call of the function was seen (then callers answer for it, not its name).
  std::vector<bool> param_has_callers;

  ValueId value(ir::ModuleId module, ir::ExprId expr) const {
    return expr ? exprs[module.index][expr] : ValueId::None();
  }
  ValueId param(FuncId function, uint32_t index) const { return params[first_param[function.index] + index]; }
  const CallFact* call(FuncId function, ir::ExprId expr) const;
  const CallFact* enter(FuncId function, ir::ExprId expr) const;
  const CallFact* leave(FuncId function, ir::ExprId expr) const;
  const CallFact* iteration(FuncId function, ir::ExprId expr) const;
  ValueId trip_count(FuncId function, ir::ExprId expr) const;
  std::span<const ValueId> args(const CallFact& call) const {
    return std::span(values).subspan(call.args, call.arg_count);
  }
};

Facts ComputeVariation(const binding::Program& program, const knowledge::Knowledge& knowledge);

// The chain of reasons for the value of `expr` in `function` varying; at most `limit` steps, source last.
std::vector<WhyStep> ExplainVariation(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                      const Facts& facts, FuncId function, ir::ExprId expr, size_t limit = 6);

}  // namespace allranks::variation
