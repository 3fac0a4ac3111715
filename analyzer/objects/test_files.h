// Which files are tests: they run on the one machine that tests, with data of no consequence.
#pragma once

#include <string_view>

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Whether a path is one where pytest and unittest look for tests.
bool IsPlaceOfTests(std::string_view path);
// Whether it lies at such a place, or imports one of them and uses what it imports.
bool IsTestFile(const binding::Program& program, ir::ModuleId module);

}  // namespace allranks::objects
