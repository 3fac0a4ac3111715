// TOML out of files that nobody vouches for.
#pragma once

#include <string_view>
#include <toml++/toml.h>

namespace allranks::toml_files {

// toml::parse, for texts that its recursion can bear: anything larger or deeper is a toml::parse_error as well, at its place.
toml::table Parse(std::string_view text, std::string_view name = {});

}  // namespace allranks::toml_files
