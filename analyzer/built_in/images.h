// Written by compile_knowledge when the tool is built.
#pragma once

#include <string_view>

namespace allranks::built_in {

extern const std::string_view kKnowledgeImage;
extern const std::string_view kLaunchImage;

}  // namespace allranks::built_in
