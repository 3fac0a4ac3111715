// What a loop over a value yields, and how often it runs.
//
// The idea: one element stands for all of them. Which one it is in a round is an unknown that is the same on all ranks, and how many there are
// is a value of its own, which decides whether ranks leave the loop together. Sequences are told by the operation that made them
// (`range`, `zip`, `d.items()`, a list that grew).
//
// Invariant: the number of rounds differs between ranks only where something made it differ: a rank's own data is as much as that of
// the others (soft axes), unless it is marked as ragged.
//
// Unsound: an iterator that was gone through before yields all of its items again.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "analyzer/variation/class_members.h"
#include "analyzer/variation/containers.h"

namespace allranks::variation {

struct Iteration {
  ValueId element;     // none: it has no items
  ValueId trip_count;
};

class Iterations {
 public:
  // What comes out of a generator or of an object with an iteration of its own, whose code is run by going through it; none of others.
  using OfRunning = std::function<std::optional<Iteration>(ir::ExprId site, ValueId iterable)>;

  // `function`: in which the loops stand.
  Iterations(Tables& tables, const Containers& containers, const ClassMembers& members, FuncId function, OfRunning of_running)
      : tables_(tables),
        store_(tables.store),
        containers_(containers),
        members_(members),
        function_(function),
        module_(tables.program.module_of(function)),
        of_running_(std::move(of_running)) {}

  // `site`: the expression that is gone through.
  Iteration Over(ir::ExprId site, ValueId iterable) const;
  // Over the items of a display. `order`: along which axes their order differs.
  Iteration OverItems(ir::ExprId site, ValueId tuple, Axes order = {}) const;
  // Whether the items go into a sum, a set, a test of all, so that their order is no matter; returns what held before.
  bool IgnoreOrder(bool ignores) { return std::exchange(ignores_order_, ignores); }

 private:
  Iteration OfOperation(ir::ExprId site, ValueId iterable) const;
  Iteration OfGrown(ir::ExprId site, ValueId container) const;
  Iteration OfSlice(ir::ExprId site, ValueId slice) const;
  Iteration OfSeveral(ir::ExprId site, ValueId sequence, bool is_chain) const;
  Iteration OfChoice(ir::ExprId site, ValueId iterable) const;
  Iteration OfUnknown(ir::ExprId site, ValueId iterable) const;
  Axes OrderOf(ValueId items, ValueId item = {}) const;
  ValueId InOrder(ValueId value) const;
  ValueId Viewed(ir::ExprId site, ValueId container) const;
  ValueId Bound(ir::ExprId site, ValueId number) const;
  uint32_t Site(ir::ExprId expr, SiteUse use = SiteUse::Value, uint32_t index = 0) const {
    return tables_.SiteSymbol(function_, module_[expr].begin, use, index);
  }
  ValueId Unseen(ir::ExprId expr, uint32_t index = 0) const { return store_.Symbol(Site(expr, SiteUse::Unseen, index), {}); }

  Tables& tables_;
  ValueStore& store_;
  const Containers& containers_;
  const ClassMembers& members_;
  FuncId function_;
  const ir::Module& module_;
  OfRunning of_running_;
  bool ignores_order_ = false;
};

}  // namespace allranks::variation
