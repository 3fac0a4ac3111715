#pragma once

#include <string>
#include <string_view>

#include "analyzer/source/source_file.h"

// For tests: what a text is lowered to, as `allranks ir` prints it.
namespace allranks::python {

// Without line numbers, and with what the verifier finds wrong at the end.
std::string LoweredText(std::string_view source);
std::string LoweredText(const source::SourceFile& file);

// With `@line` behind statements.
std::string LoweredLines(std::string_view source);

}  // namespace allranks::python
