// How things of C and C++ are called in the IR.
#pragma once

#include <string>

#include "frontends/cpp/clang/clang_headers.h"

namespace allranks::cpp {

// "gloo.AllreduceOptions.setAlgorithm": scopes, without template arguments, inline and unnamed namespaces: the name that
// documentation and the knowledge base use.
std::string QualifiedName(const clang::NamedDecl& decl);

// The one name of a function, class or variable in the whole program: overloads and instances differ, and what only
// one file sees says which file.
std::string SymbolOf(const clang::NamedDecl& decl);

// The last part: "setAlgorithm", "operator()", "~Guard".
std::string ShortName(const clang::NamedDecl& decl);

}  // namespace allranks::cpp
