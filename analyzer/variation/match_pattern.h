// Under which condition a pattern of `match` fits its subject: `case 0 | 1 as n` fits what equals 0 or 1.
//
// Patterns that fit anything are known by themselves (MatchCase::irrefutable). What has parts (`[a, b]`, `Point(x=0)`) is
// compared as one value, of which seldom anything is known.
#pragma once

#include <vector>

#include "analyzer/ir/program.h"
#include "analyzer/variation/value.h"

namespace allranks::variation {

// `value_of`: what an expression of the pattern is, or none.
template <class ValueOf>
ValueId PatternFits(ValueStore& store, const ir::Module& module, ValueId subject, ir::ExprId pattern, const ValueOf& value_of) {
  const ir::Expr& shape = module[pattern];
  if (shape.kind == ir::ExprKind::Walrus) return PatternFits(store, module, subject, ir::RightOf(shape), value_of);
  const bool is_union = shape.kind == ir::ExprKind::Bool && static_cast<ir::BoolOp>(shape.op) == ir::BoolOp::Or;
  if (is_union) {
    std::vector<ValueId> parts;
    for (const ir::ExprId part : ir::Items(module, shape)) parts.push_back(PatternFits(store, module, subject, part, value_of));
    return store.Or(parts);
  }
  const ValueId value = value_of(pattern);
  return value && subject ? store.Compare(ir::CompareOp::Eq, subject, value) : store.True();
}

}  // namespace allranks::variation
