// What a program makes once and keeps: a group in a variable of a module, in an attribute of a class, a function or an
// object, under a key of one of these, in the cache of `functools.cache`, in the metaclass of a singleton.
//
//   if not hasattr(world, "_group"):        a test whether it is made yet
//       world._group = dist.new_group()     which fills the very place that it tests
//
// So is the job itself: `if not dist.is_initialized(): dist.init_process_group()`. Whoever else asks for it is told that
// there is one, for there must be.
//
// Invariant: such a test, and no other, is asked of a value of its own (`Made`), one for each place, so that a walk in
// running order (history.h) knows what is made by then. A plain setting (`if VERBOSE:`) is no such test: nothing that its
// branch does fills the place.
//
// Unsound: objects of one class are taken for one object, and what code outside the program fills is not seen. Both can
// hide a difference and cannot invent one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/variation/facts.h"

namespace allranks::traces {

using variation::FuncId;
using variation::ValueId;

enum class PlaceKind : uint8_t {
  Variable,     // owner: a module, or none for variables that all modules share
  OfModule,
  OfFunction,
  OfClass,
  OfInstance,   // owner: the class
  Call,         // owner: a function whose results are kept
  Singleton,    // owner: a class of which there is one object
  Job,          // of several processes, which this one has joined
};

// Where something is kept. `key`: the item of it that is meant, if it is a table.
struct Place {
  PlaceKind kind{};
  uint32_t owner = 0;
  base::NameId name;
  ValueId key;
};

// Whether it is the `Made` of a place (variation::DerivedKind::Made): true where that is filled.
bool IsMade(const variation::ValueStore& values, ValueId value);

// How a statement leaves a place.
enum class Filling : uint8_t { Made, Emptied, Unknown };

class MadeOnce {
 public:
  MadeOnce(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts)
      : program_(program), knowledge_(knowledge), facts_(facts) {}

  // Looks for places of the program that are tested and filled in one go.
  void Find();

  // `test` with each question whether something is made replaced by its `Made`; none if it asks nothing of the kind.
  ValueId Condition(FuncId func, ir::ExprId test);
  // The functions that the last `Condition` or `OneObject` looked into.
  const std::vector<FuncId>& followed() const { return followed_; }
  // The `Made` of what an assignment to `target` fills, of an item also that of its table; none if it fills no such place.
  std::vector<ValueId> FilledBy(FuncId func, ir::ExprId target);
  // The `Made` of the job, if the operation is one that joins or leaves it and somebody asks for it before.
  ValueId JobOf(knowledge::OpClass op_class);
  Filling HowFilled(FuncId func, ir::ExprId target, ir::ExprId value);
  // The tensor that a call writes into, which fills it as an assignment does: `self.done` of `self.done.data.fill_(1)`. None of other calls.
  ir::ExprId WrittenInto(const ir::Module& module, ir::ExprId call) const;
  // The variables that a call of a library stores what it makes in: `side` of `MPI_Comm_dup(comm, &side)`.
  std::vector<ir::ExprId> StoredBy(FuncId func, ir::ExprId call) const;
  // The `Made` of calls of a function whose results are kept; none of others.
  ValueId KeptCall(FuncId func);
  // The `Made` of the one object of a class; none of other classes.
  ValueId OneObject(binding::ClassId class_id);

  // Whether the places of two programs are the same.
  bool Same(const MadeOnce& other) const { return once_ == other.once_ && joins_job_ == other.joins_job_; }

 private:
  using Base = std::tuple<PlaceKind, uint32_t, uint32_t>;
  using Bases = std::set<Base>;

  ValueId Condition(FuncId func, ir::ExprId test, int depth);
  ValueId OfCall(FuncId func, ir::ExprId call, int depth);
  std::optional<Place> PlaceOf(FuncId func, ir::ExprId expr);
  std::optional<Place> AttributeOf(FuncId func, ir::ExprId object, base::NameId name);
  std::optional<Place> ItemOf(FuncId func, ir::ExprId table, ir::ExprId key);
  std::optional<Place> Variable(FuncId func, const ir::Expr& name);
  // What an expression asks for, and whether its truth means that it is made.
  std::optional<std::pair<Place, bool>> Asked(FuncId func, ir::ExprId test);
  std::optional<std::pair<Place, bool>> AskedByCall(FuncId func, ir::ExprId call);
  std::optional<std::pair<Place, bool>> AskedByComparison(FuncId func, const ir::Expr& comparison);
  // The places that are not filled yet where `test` is `truth`.
  Bases Missing(FuncId func, ir::ExprId test, bool truth, int depth);
  void Search(FuncId func, ir::BlockId block);
  Bases FilledIn(FuncId func, std::span<const ir::StmtId> statements, int depth);
  void AddFilled(FuncId func, const ir::Stmt& stmt, int depth, Bases* filled);
  void AddFilledByCall(FuncId func, ir::ExprId call, int depth, Bases* filled);
  bool IsLocal(FuncId func, base::NameId name);
  bool IsNobody(FuncId func, ir::ExprId expr) const;
  bool Leaves(const ir::Module& module, ir::BlockId block) const;
  ir::ExprId OnlyResult(FuncId func) const;
  ValueId Made(const Place& place);
  bool IsOnce(const Place& place) const { return once_.contains(BaseOf(place)); }
  static Base BaseOf(const Place& place) { return {place.kind, place.owner, place.name.index}; }
  static constexpr Place kJob{.kind = PlaceKind::Job, .owner = 0, .name = {}, .key = {}};

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  variation::Facts& facts_;
  Bases once_;
  std::vector<FuncId> followed_;
  std::set<FuncId> joins_job_;    // where a process joins the job if it has not
  bool asks_for_job_ = false;     // the test at hand stands in one of these
  std::map<Base, uint32_t> symbols_;
  std::unordered_map<FuncId, std::unordered_set<base::NameId>> locals_;
};

}  // namespace allranks::traces
