#pragma once

#include <span>
#include <string>
#include <string_view>

namespace allranks::knowledge {

// "; did you mean `x`?" for the candidate that a misspelt word most likely means, or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace allranks::knowledge
