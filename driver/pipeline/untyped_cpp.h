// C, C++ and CUDA files in which Clang lost something: it is filled in from their text (frontends/cpp/syntax).
#pragma once

#include <string>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/builder.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/source/span.h"

namespace allranks::pipeline {

struct CppFile {
  source::FileId file;
  const std::string* text = nullptr;
  std::vector<ir::Range> skipped;  // by the preprocessor in all units that include it, sorted
  bool has_errors = false;         // a unit with it does
  bool is_read = true;             // by Clang
  std::vector<ir::Module*> modules;  // of it, in whatever unit
};

// What both lists leave out; each is sorted and without overlaps.
std::vector<ir::Range> InBoth(const std::vector<ir::Range>& a, const std::vector<ir::Range>& b);

// Fills the modules. Returns those that were made for files that have none.
std::vector<ir::Module> FillFromText(const std::vector<CppFile>& files, const knowledge::Knowledge& knowledge, base::Interner& names);

}  // namespace allranks::pipeline
