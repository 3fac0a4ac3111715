// What holds at one point of a function: its variables, what was stored in attributes since it began, what it does for others.
//
// The idea: abstract states as in any flow analysis, where a variable behind two arms is a choice over their condition (a gated
// SSA form, Ottenstein et al. 1990), so that what ranks do differently stays in the value.
//
// Invariant: a variable without a value is assigned on no way to here; an attribute that is not listed is what it was when the
// function began.
//
// Unsound: behind two arms of which one alone stores in an attribute of which nothing else is known, it is forgotten what was stored; two
// names of one object are two objects.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "analyzer/variation/effects.h"

namespace allranks::variation {

// An attribute assigned on an object: `args.rank = ...`.
struct HeapEntry {
  ValueId object;
  NameId attr;
  ValueId value;

  bool IsOf(ValueId of_object, NameId of_attr) const { return object == of_object && attr == of_attr; }
};
using Heap = std::vector<HeapEntry>;

// What a caller handed in for a parameter, as the caller will find it.
struct Passed {
  ValueId content;          // none: nothing was stored in it
  bool is_rebound = false;  // the parameter's name stands for something else by now
};

struct Env {
  std::vector<ValueId> slots;                     // by Scope slot; none: not assigned on any path to here
  std::vector<std::pair<NameId, ValueId>> extra;  // of comprehensions and walruses
  Heap heap;
  Effects effects;                                // since the function began
  std::vector<Passed> passed;                     // by parameter, of Python
  bool reachable = true;
  bool raises = false;                            // not reachable, as an exception ends every way here
};

const ValueId* FindStored(const Heap& heap, ValueId object, NameId attr);
void StoreOn(Heap& heap, ValueId object, NameId attr, ValueId value);

// How two arms are merged. `joined`: what a variable holds behind both; `as_passed`: what a parameter was when the function began.
struct Merging {
  std::function<ValueId(ValueId condition, ValueId then_value, ValueId else_value)> joined;
  std::function<ValueId(uint32_t param)> as_passed;
};

// What holds behind two arms that both go on.
Env EitherOf(ValueStore& store, ValueId condition, Env then_env, Env else_env, const Merging& merging);

// Attributes that a round of a loop stored in hold in the next round what is not known; true if there are new ones. `before`: what
// held where the round began, and `after` where it ended.
bool ForgetStoredInRound(Heap& before, const Heap& after);

// What holds behind a loop that may have had no round at all: where it `ran` what holds after a round, else what held before.
void MergeLoop(ValueStore& store, Env& after, const Env& before, const Heap& heap_before, ValueId ran);

}  // namespace allranks::variation
