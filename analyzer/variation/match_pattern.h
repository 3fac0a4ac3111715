// Under which condition a pattern of `match` fits its subject: `case 0 | 1 as n` fits what equals 0 or 1.
//
// Patterns that fit anything are known by themselves (MatchCase::irrefutable). `(0, n)` and `{"rank": 0}` are compared part by part where
// the subject is known by its parts; what else has parts (`Point(x=0)`) as one value, of which seldom anything is known.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/ir/program.h"
#include "analyzer/variation/value.h"

namespace allranks::variation {

// `_`, and what stands for anything in `(0, n)`.
inline bool FitsAnything(const ir::Module& module, ir::ExprId pattern) {
  const ir::Expr& shape = module[pattern];
  if (shape.kind == ir::ExprKind::Walrus) return module[ir::RightOf(shape)].kind == ir::ExprKind::Opaque;
  return shape.kind == ir::ExprKind::Opaque && shape.end - shape.begin == 1;
}

// The parts of a pattern, each with the part of the subject that it is held against; `fits`: not if there are no such parts. None: that
// is not known.
struct PatternPart {
  ir::ExprId pattern;
  ValueId subject;
};
struct PatternParts {
  std::vector<PatternPart> parts;
  bool fits = true;
};
template <class ValueOf>
std::optional<PatternParts> PartsOfPattern(const ValueStore& store, const ir::Module& module, ValueId subject, ir::ExprId pattern, const ValueOf& value_of) {
  const ir::Expr& shape = module[pattern];
  PatternParts result;
  if (!subject) return std::nullopt;
  const Value& known = store[subject];
  const bool is_sequence = shape.kind == ir::ExprKind::Tuple || shape.kind == ir::ExprKind::List;
  if (is_sequence && known.kind == ValueKind::Tuple && !known.is_set()) {
    const auto kids = store.Kids(subject);
    const ir::ExprList items = ir::Items(module, shape);
    result.fits = items.size() == kids.size();
    size_t place = 0;
    for (const ir::ExprId item : items) {
      if (module[item].kind == ir::ExprKind::Starred) return std::nullopt;
      if (result.fits) result.parts.push_back({item, kids[place++]});
    }
    return result;
  }
  if (shape.kind != ir::ExprKind::Dict || !known.is_dict(DictKind::Items)) return std::nullopt;
  for (uint32_t i = 0; i < ir::DictCount(shape); ++i) {
    const ir::DictItem item = ir::DictItemAt(module, shape, i);
    const ValueId key = item.key ? value_of(item.key) : ValueId::None();
    const std::optional<bool> has_key = key ? store.HasKey(subject, key) : std::nullopt;
    if (!has_key) return std::nullopt;
    result.fits = result.fits && *has_key;
    if (*has_key) result.parts.push_back({item.value, store.KnownItem(subject, key)});
  }
  return result;
}

// `value_of`: what an expression of the pattern is, or none.
template <class ValueOf>
ValueId PatternFits(ValueStore& store, const ir::Module& module, ValueId subject, ir::ExprId pattern, const ValueOf& value_of) {
  const ir::Expr& shape = module[pattern];
  if (FitsAnything(module, pattern)) return store.True();
  if (shape.kind == ir::ExprKind::Walrus) return PatternFits(store, module, subject, ir::RightOf(shape), value_of);
  const bool is_union = shape.kind == ir::ExprKind::Bool && static_cast<ir::BoolOp>(shape.op) == ir::BoolOp::Or;
  if (is_union) {
    std::vector<ValueId> parts;
    for (const ir::ExprId part : ir::Items(module, shape)) parts.push_back(PatternFits(store, module, subject, part, value_of));
    return store.Or(parts);
  }
  if (const std::optional<PatternParts> parts = PartsOfPattern(store, module, subject, pattern, value_of)) {
    std::vector<ValueId> fit;
    for (const PatternPart& part : parts->parts) fit.push_back(PatternFits(store, module, part.subject, part.pattern, value_of));
    return parts->fits ? store.And(fit) : store.False();
  }
  const ValueId value = value_of(pattern);
  return value && subject ? store.Compare(ir::CompareOp::Eq, subject, value) : store.True();
}

}  // namespace allranks::variation
