// What a C, C++ or CUDA text defines and which names each definition uses, found without a compiler: enough to say which
// files may matter to one another.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace allranks::cpp {

// A name by its hash. Two that meet in one make a file matter that need not, and never the other way round.
using NameHash = uint32_t;
NameHash HashOf(std::string_view name);
// Of what stands in quotes, which is no name of the program: `getenv("RANK")`.
NameHash HashOfQuoted(std::string_view text);
// Of the part of a name that a macro puts before another: `MPI_##name`.
NameHash HashOfPasted(std::string_view part);

// The body of a function, the text of a macro, or the value of a variable.
struct Definition {
  uint32_t names_begin = 0, names_end = 0;  // into Outline::names: what it may be called
  uint32_t uses_begin = 0, uses_end = 0;    // into Outline::uses
  bool is_void = false;                     // a function that returns nothing
};

struct Outline {
  std::vector<Definition> definitions;
  std::vector<NameHash> names;
  std::vector<NameHash> uses;      // sorted and unique within a definition
  std::vector<NameHash> declares;    // what is declared without a body, sorted, unique
  std::vector<NameHash> introduces;  // what is declared or defined, sorted, unique
};

// Bodies that run on a GPU are left out: they issue nothing that ranks must agree on. A text whose braces do not close is
// one definition of everything in it.
Outline OutlineOf(std::string_view text);

}  // namespace allranks::cpp
