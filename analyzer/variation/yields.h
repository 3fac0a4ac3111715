// What a generator yields, and how many items come out of it.
//
// The idea: each `yield` is a place. What comes out is one of what the places yield; how many items come out is the number
// of places that are come to, a sum of conditions, as long as each of them is come to at most once, or once in each round of one loop.
//
// Invariant: a number is given only where ranks may get different ones, and none if all get as many; what a rank's own
// data says of the number is, as of any number of items, taken to be the same on all (soft axes).
//
// Unsound: in a loop that is left on the way, or in one inside another, which places a rank gets to says little of how many items come out
// of all rounds; such a place does not count.
#pragma once

#include <unordered_map>
#include <vector>

#include "analyzer/variation/containers.h"

namespace allranks::variation {

// A `yield` that is come to. `condition`: under which, and then `count` times; none of one that may be come to several times or yields
// several items. `how_often`: what makes ranks come there or not; none where that is not known.
struct Yielded {
  ir::ExprId site;
  ValueId item;
  ValueId condition = {};
  ValueId count = {};
  ValueId how_often = {};
};

class Yields {
 public:
  explicit Yields(Tables& tables) : tables_(tables), store_(tables.store) {}

  // What is known of a place by now: a loop is gone through several times.
  void Note(const Yielded& yielded);

  // What an iteration over the generator gets.
  ValueId ItemValue() const;
  // `leaving`: along which axes ranks leave the function at different places.
  ValueId Count(const Containers& containers, Axes leaving) const;

 private:
  Tables& tables_;
  ValueStore& store_;
  std::vector<Yielded> places_;
  std::unordered_map<uint32_t, size_t> place_of_;  // by ExprId
};

}  // namespace allranks::variation
