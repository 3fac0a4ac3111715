// The conditions of the branches around a place: under all of them together a rank comes there.
//
// The idea: the walk goes into a branch with its condition, and goes on behind an `if` whose arm left with the condition that
// the other one was taken. A part of a statement (`ready and setup()`) and a part of a loop are what came on top since it began.
//
// Invariant: conditions are taken off in the order in which they were put on, and each block leaves as many as it found. A block may hold
// one for each `if ...: return` in it: what the first of them say together is worked out once, and not anew at each place that asks.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/variation/tables.h"

namespace allranks::variation {

class Path {
 public:
  explicit Path(ValueStore& store) : store_(store) {}

  void Enter(ValueId condition) { conditions_.push_back(condition); }
  // The other arm of the branch that was entered last.
  void EnterOther();
  void Leave() { LeaveTo(size() - 1); }
  // Back to where there were so many.
  void LeaveTo(size_t size);
  size_t size() const { return conditions_.size(); }
  bool empty() const { return conditions_.empty(); }
  std::span<const ValueId> conditions() const { return conditions_; }

  ValueId Condition();
  Axes axes();

  void BeginStatement() { statement_ = size(); }
  // Under which condition the expression at hand is evaluated where its statement is. None: always.
  ValueId WithinStatement() const { return size() <= statement_ ? ValueId() : store_.And(std::span(conditions_).subspan(statement_)); }

  // The loop that begins here; returns where the one around it began, which goes on with `EndLoop`.
  size_t BeginLoop() { return std::exchange(loop_, size()); }
  void EndLoop(size_t outer) { loop_ = outer; }
  // Under which condition a round of the loop at hand comes here.
  ValueId WithinLoop() const { return store_.And(std::span(conditions_).subspan(loop_)); }

  // And under which condition the loop is come to.
  ValueId BeforeLoop() const { return store_.And(std::span(conditions_).first(loop_)); }

  // Whether only a process that is alone comes here: `else:` of `if torch.cuda.device_count() > 1:`. `function`: whose path it is.
  bool IsAlone(Tables& tables, FuncId function);

 private:
  ValueStore& store_;
  std::vector<ValueId> conditions_;
  std::vector<ValueId> together_;  // the first one, the first two, and so on, as far as it was asked for
  std::vector<Axes> axes_;         // the same of their axes
  size_t statement_ = 0;  // so many there were where the statement at hand began
  size_t loop_ = 0;       // and the loop
  std::unordered_map<ValueId, bool> of_one_process_;  // of those that were asked of
};

}  // namespace allranks::variation
