#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace allranks::knowledge {

// The candidate that a misspelt word most likely means; empty: none does.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);
// One letter too many, missing or wrong, or two of them swapped, in words of no fewer letters than `shortest`.
bool IsSlip(std::string_view word, std::string_view name, size_t shortest = 8);
// "; did you mean `x`?" for the candidate that a misspelt word most likely means, or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace allranks::knowledge
