#pragma once

#include "analyzer/findings/suppression.h"
#include "analyzer/ir/program.h"

namespace allranks::pipeline {

// Where the statements and comments of a module stand.
findings::FileSyntax SyntaxOf(const ir::Module& module);

}  // namespace allranks::pipeline
