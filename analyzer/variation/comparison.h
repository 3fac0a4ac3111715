// What a comparison of two known numbers comes out as.
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

}  // namespace allranks::variation
