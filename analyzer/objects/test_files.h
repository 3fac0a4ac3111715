// Which files are tests: they run on the one machine that tests, with data of no consequence.
#pragma once

#include <string_view>

#include "analyzer/binding/program.h"

namespace allranks::objects {

// Whether it lies where pytest and unittest look for tests, or imports one of them.
bool IsTestFile(const binding::Program& program, ir::ModuleId module);

}  // namespace allranks::objects
