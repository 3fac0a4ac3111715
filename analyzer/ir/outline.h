// What other modules can see of one, as a number: imports, classes, the heads of functions, and all text that stands in no
// function's body. As long as it stays, ids and meanings of names stay what they were in the whole program.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// Of a module of Python: what other front ends resolve may depend on any text. `text`: of its file.
uint64_t OutlineOf(const Module& module, std::string_view text);

// Where the first statement of a function's body begins; its end if there is none.
uint32_t BodyBegin(const Module& module, const Function& function);

// Whether nothing but `raise`, `pass` and constants stands in a function's body: it is there to be overridden.
bool IsStub(const Module& module, const Function& function);

}  // namespace allranks::ir
