#pragma once

#include <tree_sitter/api.h>

#include <string_view>

#include "analyzer/ir/builder.h"

namespace allranks::python {

// Beyond this a file is no Python program, and more problems tell nothing new.
constexpr size_t kMostProblems = 200;

// Adds a problem for each place of the tree that could not be parsed.
void AddSyntaxErrors(TSNode root, std::string_view text, ir::Builder* builder);

}  // namespace allranks::python
