// Lists and texts that Python code builds up before it hands them to a call: `cmd = ["torchrun"]`, `cmd += [...]`, `cmd.append(...)`,
// `cmd = "torchrun"`, `cmd += " train.py"`.
//
// Statements of one function are followed in order. The arms of an `if`, and of `a if x else b`, make lists of their own; what a loop or a handler
// adds is not known in number. A list that is handed elsewhere may grow there and is taken as it is.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::launch_files {

struct BuiltPart {
  ir::ExprId value;          // none: any number of words
  bool is_element = false;   // of `append`; otherwise a list whose elements count
};

struct BuiltList {
  std::vector<BuiltPart> parts;
  std::vector<std::pair<uint32_t, uint32_t>> arms;  // in which it is built so: choice, arm
  bool is_text = false;
};

// By the use of a variable as the first argument of a call, as what a method is called of, or in an f-string: what it may hold there.
// Variables that no list or text is assigned to have none.
std::map<uint32_t, std::vector<BuiltList>> BuiltLists(const ir::Module& module, const base::Interner& names);

}  // namespace allranks::launch_files
