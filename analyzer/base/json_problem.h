#pragma once

#include <string>
#include <string_view>

namespace allranks::base {

// What nlohmann/json says of a text it cannot read, for people: without the number of its error, and without what it
// quotes of the text where that is long (a picture in a notebook is one string of a megabyte).
std::string JsonProblem(std::string_view what);

}  // namespace allranks::base
