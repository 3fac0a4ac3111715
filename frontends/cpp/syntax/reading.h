// A second reading of C, C++ and CUDA, from the text alone, of what Clang did not understand. Headers are missing, macros are known to the
// build alone, and nobody uses a template. Function by function it takes the place of what Clang lost, and where Clang understood a
// function, that stands.
//
// What is read so is marked (ir::kWithoutTypes), and whatever follows from it rests on an assumption.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {

// What the knowledge base says of names.
struct LibraryNames {
  std::function<bool(std::string_view)> has;           // of a function or class by its qualified name
  std::function<bool(std::string_view)> communicates;  // of the last part of a name
};

class Reading {
 public:
  // `skipped`: what the preprocessor left out, sorted; with `is_preprocessed` it has decided all conditionals, else nobody has.
  Reading(std::string text, std::span<const ir::Range> skipped, bool is_preprocessed);

  // Notes which functions are lost to Clang, whose modules of this file these are: a call that communicates, or a test around one, is not
  // in them. Without any module all functions are; in a file without errors only those of templates that nobody uses can be.
  void FindLost(std::span<const ir::Module* const> modules, bool has_errors, const LibraryNames& libraries);
  bool HasLost() const { return !lost_.empty(); }
  // Adds what is lost to what calls may mean.
  void Declare(base::Interner& names, Definitions* definitions) const;
  // A module of the file with nothing in it, for one of which Clang has made none.
  ir::Module Begin(source::FileId file, base::Interner& names) const;
  // Fills bodies that `module` has heads of, and adds what is lost and stands in no module of the file. Other modules of it get theirs with
  // `may_add` false.
  void Lower(ir::Module* module, bool may_add, const Definitions& definitions, base::Interner& names) const;

 private:
  struct Lost {
    size_t function = 0;  // of the outline
    bool is_new = false;  // no module has a head of it
  };

  std::string text_;
  Tree tree_;
  Outline outline_;
  std::vector<Lost> lost_;
};

// Adds the functions and classes of a module that Clang read.
void AddDefinitions(const ir::Module& module, const base::Interner& names, Definitions* definitions);

}  // namespace allranks::cpp::syntax
