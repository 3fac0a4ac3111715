// Which files of C, C++ and CUDA can concern ranks: those that name something of the knowledge base, and those with a function
// that calls, through any number of functions, one whose body does. The others are not given to Clang: in a project with an
// extension beside its training code that is most of them.
//
// Calls are found by name (frontends/cpp/function_names.h). A source sees only what it includes; a header is read with sources
// that may include more. A function that a source declares, itself or through a header, may be defined out of its sight. That
// makes no source matter, as a name alone says little; but the few that define it and matter are read with a source that does.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

// By index of `files`; nothing for Python files.
struct CppReach {
  std::vector<bool> matters;
  std::vector<std::vector<uint32_t>> calls;  // the files that define what it calls, by what leads to a mention; not itself
};

CppReach FindCppReach(const std::vector<ScannedFile>& files);

}  // namespace allranks::pipeline
