#pragma once

#include <tree_sitter/api.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ir/builder.h"

namespace allranks::python {

// Beyond this a file is no Python program, and more problems tell nothing new.
constexpr size_t kMostProblems = 200;

struct SyntaxError {
  ir::Range range;
  std::string text;
};

void AddSyntaxError(SyntaxError error, ir::Builder* builder);

// Adds a problem for each place of the tree that could not be parsed.
void AddSyntaxErrors(TSNode root, std::string_view text, ir::Builder* builder);

// Where the parser stumbled: the first `most` places.
std::vector<uint32_t> ErrorPlaces(TSNode root, size_t most);

// The first error of the tree that takes more than one line, if any: around it the tree is not to be trusted.
std::optional<SyntaxError> SpreadErrorIn(TSNode root, std::string_view text);

}  // namespace allranks::python
