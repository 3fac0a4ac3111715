// How many rounds a loop has, and what its text says of what its variables come to.
//
// The idea: a few shapes of loops are counted by their text. `while left > 0: ...; left -= 1` has as many rounds as `left`, and
// `n += 2` in each round adds two times as much. Everything else about a loop is found by going round (loops.cpp).
//
// Invariant: a number is given only if each round comes to the one statement that counts.
//
// Unsound: a loop that is left by an exception is taken to have all of its rounds.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

// Variables of a loop, its head included, by slot.
struct LoopSlots {
  std::vector<uint32_t> assigned;  // that a round may assign
  std::vector<uint32_t> carried;   // of these, what a round may hand on to the next: not what is assigned on the way out (`stopped = True; break`)
};
LoopSlots SlotsIn(const ir::Module& module, const Scope& scope, const ir::Stmt& loop);

// Whether a loop has at least one round, and none is cut short: by `continue`, or, for `to_its_end`, by `break` either.
bool HasRounds(const ir::Module& module, const ValueStore& store, const ir::Stmt& loop, ValueId trips, bool to_its_end);

// `while left > 0: ...; left -= 1` where ranks start with different numbers: as many rounds as that. None of any other loop.
// `slots`: what the variables hold before it.
ValueId CountedDown(const ir::Module& module, const Scope& scope, const ValueStore& store, const ir::Stmt& loop, std::span<const ValueId> slots);

// `while i < end: ...; i += step` where numbers are known on each rank: as many rounds as steps cover the way. None of any other loop, nor
// of one that ranks go through as often as one another, unless that is a number. `values`: of the expressions of the module, the body
// included; `slots`: what the variables hold before it.
ValueId CountedTo(const ir::Module& module, const Scope& scope, ValueStore& store, const base::IdVector<ir::ExprId, ValueId>& values,
                  const ir::Stmt& loop, std::span<const ValueId> slots);

// Whether what is known of how often a `while` runs is such a number, and not its condition.
bool IsNumberOfRounds(const ValueStore& store, ValueId trips);

// `n += step` in each round of a loop whose rounds differ: as many steps as rounds. None of anything else. `carried`: what the
// variable holds where a round begins, and `after` where it ends.
ValueId CountedUp(ValueStore& store, ValueId initial, ValueId carried, ValueId after, ValueId rounds);

// How many steps cover a distance.
ValueId RoundedUp(ValueStore& store, ValueId distance, ValueId step);

// The least of several numbers of rounds: one that the ranks agreed on is.
ValueId Least(Tables& tables, std::span<const ValueId> numbers);

// `for i, x in enumerate(items): if i >= least: break` with a number that the ranks agreed on: as many rounds as that, as it is the
// least of their lengths. None of any other loop. `values`: of the expressions of the module; `counts`: whether a value is the number of
// the round.
ValueId AgreedEnd(const ir::Module& module, const ValueStore& store, const base::IdVector<ir::ExprId, ValueId>& values, const ir::Stmt& loop,
                  const std::function<bool(ValueId)>& counts);

// A text, or one of several.
bool IsOneText(Tables& tables, ValueId value);

// `n += len(name)` in each round: the sum is the same in whatever order the rounds come. Texts joined are not.
bool IsSumOfRounds(Tables& tables, ValueId carried, ValueId after);

}  // namespace allranks::variation
