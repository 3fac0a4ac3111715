// Which C, C++ and CUDA files are worth reading with Clang, which costs a thousand times more than looking at their text: those
// with a function that reaches an operation, what tells ranks apart or the choice of a device, by itself or by what it calls.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/pipeline/cpp_names.h"
#include "driver/pipeline/enumerate.h"

namespace allranks::pipeline {

struct ScannedFile;

struct CppSelection {
  std::vector<uint32_t> files;  // as indices of ProjectFiles::all, sorted
  std::vector<uint32_t> idle;   // requested files of which nothing is read, sorted
};

// `files`: by index of ProjectFiles::all; those with an outline are looked at. Of files that were not requested those are
// chosen that define what requested ones call.
CppSelection SelectCpp(const ProjectFiles& project, const std::vector<ScannedFile>& files, const CppNames& names);

}  // namespace allranks::pipeline
