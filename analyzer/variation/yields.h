// What a generator yields, and how many items come out of it.
//
// The idea: each `yield` is a place. What comes out is one of what the places yield; how many items come out is the number
// of places that are come to, a sum of conditions, as long as each of them is come to at most once.
//
// Invariant: a number is given only where ranks may get different ones, and none if all get as many; what a rank's own
// data says of the number is, as of any number of items, taken to be the same on all (soft axes).
//
// Unsound: in a loop, as where each rank yields its share, which places it gets to says little of how many items come out of all
// rounds; a place there does not count.
#pragma once

#include <vector>

#include "analyzer/variation/containers.h"

namespace allranks::variation {

class Yields {
 public:
  explicit Yields(Tables& tables) : tables_(tables), store_(tables.store) {}

  // A `yield`. `condition`: under which it is come to, and then once; none of one that may be come to several times or yields
  // several items. `how_often`: what makes ranks come there or not; none in a loop.
  void Note(ValueId item, ValueId condition, ValueId how_often);

  // What an iteration over the generator gets.
  ValueId ItemValue() const;
  // `leaving`: along which axes ranks leave the function at different places.
  ValueId Count(const Containers& containers, Axes leaving) const;

 private:
  Tables& tables_;
  ValueStore& store_;
  std::vector<ValueId> items_;
  std::vector<ValueId> counts_;      // by place: how often it is come to, 0 or 1
  bool are_all_counted_ = true;
  bool hangs_on_arguments_ = false;  // what is passed decides whether a place is come to
  std::vector<ValueId> as_often_;    // by place that ranks may get to a different number of times: what decides how often
};

}  // namespace allranks::variation
