// What a comparison of two known numbers comes out as, and what denies a comparison.
#pragma once

#include <optional>

#include "analyzer/base/operators.h"

namespace allranks::variation {

// `is` compares like `==`. None for what is not asked of two numbers, such as `in`.
template <typename Number>
std::optional<bool> CompareNumbers(base::CompareOp op, Number left, Number right) {
  switch (op) {
    case base::CompareOp::Eq:
    case base::CompareOp::Is:
      return left == right;
    case base::CompareOp::NotEq:
    case base::CompareOp::IsNot:
      return left != right;
    case base::CompareOp::Less:
      return left < right;
    case base::CompareOp::LessEq:
      return left <= right;
    case base::CompareOp::Greater:
      return left > right;
    case base::CompareOp::GreaterEq:
      return left >= right;
    default:
      return std::nullopt;
  }
}

// The comparison that is true where `op` is false. Not sound where one side is NaN, for which both may be false.
constexpr base::CompareOp Negated(base::CompareOp op) {
  switch (op) {
    case base::CompareOp::Eq:
      return base::CompareOp::NotEq;
    case base::CompareOp::NotEq:
      return base::CompareOp::Eq;
    case base::CompareOp::Less:
      return base::CompareOp::GreaterEq;
    case base::CompareOp::LessEq:
      return base::CompareOp::Greater;
    case base::CompareOp::Greater:
      return base::CompareOp::LessEq;
    case base::CompareOp::GreaterEq:
      return base::CompareOp::Less;
    case base::CompareOp::Is:
      return base::CompareOp::IsNot;
    case base::CompareOp::IsNot:
      return base::CompareOp::Is;
    case base::CompareOp::In:
      return base::CompareOp::NotIn;
    case base::CompareOp::NotIn:
      return base::CompareOp::In;
  }
  return op;
}

// `b > a` for `a < b`.
constexpr base::CompareOp Mirrored(base::CompareOp op) {
  switch (op) {
    case base::CompareOp::Less:
      return base::CompareOp::Greater;
    case base::CompareOp::LessEq:
      return base::CompareOp::GreaterEq;
    case base::CompareOp::Greater:
      return base::CompareOp::Less;
    case base::CompareOp::GreaterEq:
      return base::CompareOp::LessEq;
    default:
      return op;
  }
}

}  // namespace allranks::variation
