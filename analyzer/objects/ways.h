// The ways of calls on which a place is reached, as far as the arguments on them allow it.
//
// A way is left out where a test that stands before the place, or before a call on the way, comes out otherwise with what is
// passed. What is done for callers that leave an argument out (`if noise is None: noise = randn_like(x)`) is done only on ways
// that are seen to leave it out. The call of a wrapped model runs the `forward` of the model inside.
//
// Not sound: calls of functions that cannot be followed, and more than some hundred ways to one place.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/objects/passed_tests.h"
#include "analyzer/objects/guards.h"

namespace allranks::objects {

class Ways {
 public:
  Ways(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
       const Guards& guards);

  // A way, from the outermost call that is looked at to the place.
  using Visit = std::function<bool(std::span<const Site>)>;
  // Visits the ways to a place, the place alone first and each way before those that are longer by one call, until `visit` says
  // true.
  bool Any(const Site& site, const Visit& visit) const;

 private:
  struct Search;
  // What must come out so on the way.
  struct Test {
    ValueId value;
    bool holds = true;
    bool is_for_left_out = false;
  };

  void NoteForwards();
  bool Follow(Search& search, const Site& site) const;
  bool FollowCallers(Search& search, FuncId function) const;
  bool Extend(Search& search, const Site& caller, std::span<const ValueId> args, FuncId function) const;
  void AddTests(const Site& site, std::vector<Test>& tests) const;
  void AddTest(FuncId function, ValueId value, bool holds, std::vector<Test>& tests) const;
  std::vector<ValueId> PassedToForward(const Site& call, FuncId forward) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  Values values_;
  std::vector<std::vector<Site>> wrapped_calls_;  // by FuncId, of a `forward`: calls of the wrapper
};

}  // namespace allranks::objects
