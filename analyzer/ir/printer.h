#pragma once

#include <string>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/source/source_file.h"

namespace allranks::ir {

struct PrintOptions {
  // Given, each statement ends with `@line`, counted from one.
  const source::SourceFile* file = nullptr;
  // Given, only this function; else the whole module with its problems.
  FunctionId function;
};

// The IR as indented text close to Python, every operation in its own parentheses; `allranks ir` prints it
// and goldens compare it. What could not be read stands as `<opaque>`, with the parts that could.
std::string Print(const Module& module, const base::Interner& interner, const PrintOptions& options = {});

// One expression in the same notation.
std::string PrintExpr(const Module& module, const base::Interner& interner, ExprId id);

}  // namespace allranks::ir
