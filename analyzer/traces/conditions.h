// What a condition asks, told from its shape: how much a decision by it is worth.
#pragma once

#include <functional>
#include <optional>

#include "analyzer/variation/value.h"

namespace allranks::traces {

using variation::ValueId;

// Whether `part` is somewhere in `whole`.
bool IsMadeOf(const variation::ValueStore& values, ValueId whole, ValueId part, int depth = 0);

// Whether `condition` asks what an object is: `not isinstance(x, int)`.
bool AsksForClass(const variation::ValueStore& values, ValueId condition);

// Whether `condition` asks for what some objects of a class keep in a field and others do not.
bool IsOfSomeObject(const variation::ValueStore& values, ValueId condition, int depth = 0);

// The same, of a condition on the way to an operation: objects that keep something known there and decide otherwise.
bool HangsOnObject(const variation::ValueStore& values, ValueId condition, int depth = 0);

// Whether it asks for a field in which several places store different things, and not one thing that grows.
bool HangsOnOneOfStores(const variation::ValueStore& values, ValueId condition, int depth = 0);

// Whether all that varies in a value are ranks themselves, parts of sequences taken by rank, and their numbers.
bool IsMadeOfRanks(const variation::ValueStore& values, ValueId value, int depth = 0);

// Whether it is one of two unknown numbers on each rank, such as the lengths of two lists: nothing says that they differ.
bool IsOneOfUnknowns(const variation::ValueStore& values, ValueId number);

// Whether it is computed from one of two settings, of which a library keeps one (`args = wandb.config` on rank 0): as a rule it is a copy.
bool IsOneOfSettings(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId value);

// Whether what a loop goes over are shares of something that was cut with the number of ranks in mind:
// `x.chunk(rounds * world_size)[rank::world_size]`.
bool IsShareOfEqualParts(const variation::ValueStore& values, ValueId number);

// Whether what a loop goes over, or what is sent, is the part of a sequence that each rank takes by its number, and nothing
// was done to it since that may change how much it is: `items[rank::world_size]`.
bool IsPartTakenByRank(const variation::ValueStore& values, ValueId number);

// Whether a condition is a formula over coordinates and constants alone, which says more than its source does.
bool IsPredicate(const variation::ValueStore& values, ValueId condition);

// Whether a condition asks for settings that are not known besides what varies: `args.save and rank == 0`.
bool HangsOnSettings(const variation::ValueStore& values, ValueId condition, int depth = 0);

// Whether a condition is `is_initialized()`. That a launcher started the process is known before.
bool AsksForJob(const variation::ValueStore& values, ValueId condition);
// Whether a condition asks that, beside other things: `is_initialized() and rank == 0`.
bool HangsOnJob(const variation::ValueStore& values, ValueId condition, int depth = 0);

// Whether what varies in a condition are only tests of what is there: `key in batch`, `mask is not None`.
bool VariesByPresence(const variation::ValueStore& values, ValueId condition, int depth = 0);

// Whether a condition hangs on what a rank's data holds, as a tensor's numbers or what a model made of it say, and not
// only on how many there are, of which size, or whether there are any: `isnan(loss)` and `len(labels[labels > 0])`, but not
// `len(batch) < 8`.
bool ReadsContents(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId condition);

// Whether a condition that is taken to be the same on all ranks asks whether the batch of a rank has some part: `batch["image"] is not None`,
// `"image" in batch`. What is computed from a batch is there on all ranks; a part of it need not be.
bool AsksForPartOfBatch(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId condition, int depth = 0);

// `key in groups`, `group is None`: whether something was made or given before, whatever key a rank asks for.
bool IsPresenceTest(const variation::ValueStore& values, ValueId condition);

// Whether `condition` asks for a rank's place in another group than `group`, or in a list of ranks that is not known (`is_known` of a
// list: which ranks are in it).
bool AsksForMembership(const variation::ValueStore& values, ValueId condition, ValueId group, const std::function<bool(ValueId)>& is_known,
                       int depth = 0);

// Whether which one a tensor is hangs on the order of a set of texts: `grads[name]` in a loop over `{"a", "b"}`. `anywhere`: or which ones
// it was made of.
bool IsPickedInHashOrder(const variation::ValueStore& values, ValueId tensor, bool anywhere, int depth = 0);

// Whether a condition asks for what an operation brought: `signal.item() == 0` behind a broadcast of `signal`.
bool IsReceived(const variation::ValueStore& values, ValueId condition, int depth = 0);

// `subject == constant`, of a condition that says so where it is `truth`; none of other conditions.
struct Equality {
  ValueId subject;
  ValueId constant;
};
std::optional<Equality> EqualityOf(const variation::ValueStore& values, ValueId condition, bool truth);

// Whether two constants, not the same one, are certainly not equal.
bool AreUnequal(const variation::ValueStore& values, ValueId a, ValueId b);

// Whether the number of ranks is somewhere in a condition. ConditionMemo finds it once for each condition.
bool AsksForSize(const variation::ValueStore& values, ValueId condition);

// Whether a rank that an operation on `group` names is told by the caller's place in that very group, or is the caller.
bool IsAskedOfGroup(const variation::ValueStore& values, ValueId rank, ValueId group, int depth = 0);

// Whether all that varies in a value, and all numbers of ranks in it, are places in `group` and its size.
bool AsksGroupOnly(const variation::ValueStore& values, ValueId value, ValueId group);

// Whether `condition` tells one rank from all others, or one rank of `group` from its other members.
bool SinglesOutRank(const variation::ValueStore& values, ValueId condition, ValueId group);

}  // namespace allranks::traces
