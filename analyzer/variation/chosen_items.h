// Which item of a container is meant by a key that is known at run time only.
//
// The idea: a key that is a test or a small number of each rank chooses like a condition, so the item is a choice over that. Where
// no more is known of the key than that it picks one of a few functions, classes or objects, the item is one of those, and which
// one is an unknown that hangs on the key.
//
// Invariant: what is given holds all that the key may pick, or nothing is given.
//
// Unsound: of a list that items were added to elsewhere only those are known that this function sees.
#pragma once

#include <span>
#include <vector>

#include "analyzer/variation/containers.h"

namespace allranks::variation {

class ChosenItems {
 public:
  ChosenItems(Tables& tables, const Containers& containers) : tables_(tables), store_(tables.store), containers_(containers) {}

  // `(second, first)[int(is_main)]`, `{True: first, False: second}[is_main]`, `names[rank % 2]`: of a display the item that a test
  // or a number of each rank chooses; none of anything else.
  ValueId ChosenBy(ValueId container, ValueId key) const;
  // `TRAINERS[args.trainer]`: a function or class of a dictionary that holds nothing else.
  ValueId OneOfTable(ValueId dictionary, ValueId key) const;
  // `networks[0]` of a list that networks were added to in a loop, `networks[name]` of such a dictionary.
  ValueId OneOfAdded(ValueId container, ValueId key) const;
  // Which one depends on the key; none of too many.
  ValueId OneOf(std::span<const ValueId> callables, ValueId key) const;

 private:
  bool AddItems(ValueId container, ValueId key, std::vector<ValueId>& items, int depth) const;
  bool IsOneObject(ValueId item) const;

  Tables& tables_;
  ValueStore& store_;
  const Containers& containers_;
};

}  // namespace allranks::variation
