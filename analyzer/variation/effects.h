// What a call leaves behind outside of the variables of the function that is called, so that whoever calls it goes on with
// what holds then and not with what held before.
//
// The idea is that of side effect summaries (Banning 1979, Cooper and Kennedy 1988), with values: a place is an attribute
// of an object, a variable of a module is one of that module, and a variable of a function around is one of that function.
// An effect says what a place holds at the end, over the parameters of the function, and on which way it was put there.
// Callers put their arguments in and take the effects over, as their own effects too.
//
// Invariant: a place that is not listed holds what it held before, as far as the calls are known that the function makes.
// Unsound where a function is called that nobody sees (from another thread, by a library that kept it), and where two
// values are one object under two names. Objects of a project's class are told apart by what they were made with (own_fields.cpp) and not by
// where, so what is stored in their attributes later is told by the tables (variation/tables.h) and not here.
#pragma once

#include <vector>

#include "analyzer/variation/value.h"

namespace allranks::variation {

struct Effect {
  ValueId object;
  NameId attr;
  ValueId value;
  ValueId when;  // none: on every way to the end
  bool operator==(const Effect&) const = default;
};

using Effects = std::vector<Effect>;

// The effect on that place; none if there is no such.
Effect* FindEffect(Effects& effects, ValueId object, NameId attr);

// `effect` after `effects`.
void AddEffect(ValueStore& store, Effects& effects, const Effect& effect);

// Those of one of two ways, that of `then_effects` where `condition` holds.
Effects EitherOf(ValueStore& store, ValueId condition, const Effects& then_effects, const Effects& else_effects);

// Both conditions, of which none stands for one that always holds.
ValueId Both(ValueStore& store, ValueId first, ValueId second);

}  // namespace allranks::variation
