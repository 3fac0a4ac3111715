// Where a thing is filled in that starts as nothing: `if best is not None` asks whether the run came by such a place.
//
// A variable of a function does so: `writer = None`, and `writer = Writer()` where `rank == 0`. So does a field that only the constructor
// fills, out of a parameter that may be left out: `Saver(path)` on one rank and `Saver()` on the others.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/objects/guards.h"

namespace allranks::objects {

// By function and name; of a field, by its constructor.
using FilledThing = std::pair<uint32_t, base::NameId>;

struct Filling {
  FilledThing thing;
  bool is_field = false;
  std::vector<Site> places;
};

class FilledPlaces {
 public:
  FilledPlaces(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards);

  // The places that fill the thing which a test asks for, and by one of which a run must have come where the test comes out as it says.
  // None of other tests, of things that do not start as nothing, and of those that are set under a test of themselves.
  std::optional<Filling> AskedBy(const Guard& guard) const;

 private:
  void NoteFunction(FuncId function);
  std::optional<Filling> OfField(FuncId function, ir::ExprId tested) const;
  std::optional<Filling> OfVariable(const Guard& guard, base::NameId name) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  std::map<FilledThing, std::vector<ir::ExprId>> set_;  // what a variable is set to; not found: it is bound in other ways
};

}  // namespace allranks::objects
