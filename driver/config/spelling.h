#pragma once

#include <span>
#include <string>
#include <string_view>

namespace allranks::config {

// The candidate that a misspelt word most likely means; empty if none is near enough.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean `x`?", or nothing.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace allranks::config
