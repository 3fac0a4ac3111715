#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace allranks::python {

// The value of an integer literal as Python (2 or 3) writes it; none if it does not fit.
std::optional<int64_t> IntegerValue(std::string_view literal);

// `2j`; the grammar counts some of them among integers.
bool IsComplexLiteral(std::string_view literal);

}  // namespace allranks::python
