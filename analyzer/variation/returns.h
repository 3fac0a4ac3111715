// The ways on which a function ends, and what it yields and leaves behind on all of them together.
//
// The idea: each `return` is noted with the condition under which it is reached and with what holds there. What the function
// returns is a choice over these conditions, in the order of the text, and so is what its caller finds in the arguments.
//
// Invariant: a condition says no more than that the place is reached; of several that hold the first one counts, which is the one
// that the program comes to first.
//
// Unsound: a `return` in a loop is taken to be reached under its condition in whichever round.
#pragma once

#include <functional>
#include <vector>

#include "analyzer/variation/effects.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

class Returns {
 public:
  explicit Returns(Tables& tables) : tables_(tables), store_(tables.store) {}

  // `held`: by parameter what the caller finds in what it handed in; none: nothing was stored there.
  void Note(ValueId condition, ValueId value, std::vector<ValueId> held, Effects effects);
  bool empty() const { return ways_.empty(); }
  size_t size() const { return ways_.size(); }
  // Where `failed` holds, the ways from `first` on before `end` were not gone to their end.
  void Unless(ValueId failed, size_t first, size_t end);

  // What is returned. `at_end`: behind the body, none where that is not reached. `leaving`: along which axes ranks leave
  // the function at different places.
  ValueId Value(ValueId at_end, Axes leaving) const;
  // What a parameter holds, which was `as_passed`; `at_end` as above.
  ValueId Held(uint32_t param, ValueId as_passed, ValueId at_end, Axes leaving) const;
  // Whether something was stored in what is handed in for a parameter.
  bool IsStoredIn(uint32_t param) const;
  // `at_end`: those of the end of the body; nullptr where it is not reached.
  Effects LeftBehind(const Effects* at_end) const;

 private:
  struct Way {
    ValueId condition;
    ValueId value;
    std::vector<ValueId> held;
    Effects effects;
  };
  ValueId OfAll(const std::function<ValueId(const Way&)>& value_of, ValueId at_end, Axes leaving) const;

  Tables& tables_;
  ValueStore& store_;
  std::vector<Way> ways_;
};

}  // namespace allranks::variation
