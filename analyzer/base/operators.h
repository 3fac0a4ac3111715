#pragma once

#include <cstdint>

namespace allranks::base {

// Operators as both languages have them.
enum class UnaryOp : uint8_t { Not, Minus, Plus, Invert };
enum class BinaryOp : uint8_t {
  Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, LeftShift, RightShift, BitAnd, BitOr, BitXor
};
enum class BoolOp : uint8_t { And, Or };
enum class CompareOp : uint8_t { Eq, NotEq, Less, LessEq, Greater, GreaterEq, Is, IsNot, In, NotIn };

}  // namespace allranks::base
