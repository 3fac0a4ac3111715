// What a root sends to the others is theirs afterwards, and that is the same as what the root itself goes on with.
//
// The idea: a broadcast makes a new value, of which no more is known than that it is equal on all ranks. Where ranks take another way
// behind it (`if rank != 0: stop = box[0]`), the one arm holds what was received and the other what was sent. Both are one value,
// if the test tells the root from all others and what was sent is what the box held on the root before.
//
// Invariant: values are joined into the one that was received only if on the root they are the one that was sent.
//
// Unsound: a group is not asked for, so that the root of one group stands for that of another with the same number.
#pragma once

#include <optional>
#include <unordered_map>

#include "analyzer/variation/containers.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

class Broadcasts {
 public:
  Broadcasts(Tables& tables, const Containers& containers) : tables_(tables), store_(tables.store), containers_(containers) {}

  // A variable that held `before` on each rank holds `after`, which is what it held on the root.
  void Note(ValueId before, ValueId after, ValueId root) { sent_[after] = {.before = before, .root = root}; }

  // What a variable holds behind two arms that assign it.
  ValueId Joined(ValueId condition, ValueId then_value, ValueId else_value) const;

 private:
  struct Sent {
    ValueId before;
    ValueId root;
  };
  bool IsReceived(ValueId condition, ValueId received, ValueId sent) const;
  bool IsSentBy(const Sent& broadcast, ValueId received, ValueId sent) const;
  ValueId OnRoot(ValueId value, ValueId root) const;
  ValueId LengthOn(ValueId root, ValueId container) const;
  std::optional<bool> TruthOnRoot(ValueId condition, ValueId root) const;
  std::optional<uint32_t> PlaceTaken(ValueId received) const;

  Tables& tables_;
  ValueStore& store_;
  const Containers& containers_;
  std::unordered_map<ValueId, Sent> sent_;  // by what the variable is afterwards
};

}  // namespace allranks::variation
