// What a parameter says by its name. One that every call which is seen leaves at its default is that, whatever it is called.
#pragma once

#include "analyzer/variation/facts.h"

namespace allranks::objects {

// None: not a parameter, or one that is left at its default.
inline base::NameId NameOfOpenParam(const binding::Program& program, const variation::Facts& facts, variation::ValueId id) {
  const variation::Value& value = facts.values_store[id];
  if (value.kind != variation::ValueKind::Param) return {};
  const binding::FuncId function = value.function();
  const ir::Param& param = program.function(function).params[value.param_index()];
  const variation::ValueId usual = facts.value(program.funcs[function].module, param.default_value);
  const bool is_called = facts.param_has_callers[facts.first_param[function.index] + value.param_index()];
  const bool is_constant = usual && variation::IsConstant(facts.values_store[usual]);
  return is_called && is_constant && facts.param(function, value.param_index()) == usual ? base::NameId::None() : param.name;
}

}  // namespace allranks::objects
