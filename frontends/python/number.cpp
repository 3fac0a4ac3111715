#include "frontends/python/number.h"

#include <limits>

namespace allranks::python {
namespace {

uint32_t BaseOf(std::string_view literal) {
  if (literal.size() < 2 || literal[0] != '0') return 10;
  switch (literal[1]) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      return 10;
  }
}

uint32_t DigitValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  // No digit: an underscore, or the `L` of Python 2.
  return std::numeric_limits<uint32_t>::max();
}

}  // namespace

std::optional<int64_t> IntegerValue(std::string_view literal) {
  constexpr uint64_t kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint32_t base = BaseOf(literal);
  if (base != 10) literal.remove_prefix(2);
  uint64_t value = 0;
  for (const char c : literal) {
    const uint64_t digit = DigitValue(c);
    if (digit >= base) continue;
    if (value > (kMost - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  return static_cast<int64_t>(value);
}

bool IsComplexLiteral(std::string_view literal) { return literal.ends_with('j') || literal.ends_with('J'); }

}  // namespace allranks::python
