// Questions about values that rules ask: what may it be, what went into it, what is it on a rank.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/traces/evaluate.h"
#include "analyzer/variation/facts.h"

namespace allranks::objects {

using variation::ValueId;

class Values {
 public:
  Values(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts)
      : program_(program), knowledge_(knowledge), facts_(facts) {}

  const variation::Value& operator[](ValueId id) const { return facts_.values_store[id]; }

  // What a value may be: both arms of a choice, what callers pass for a parameter. Never empty for a value.
  std::vector<ValueId> Leaves(ValueId value) const;
  // The same in a job, where tests that are decided alike on all of its ranks leave one arm (`Sampler(data) if world_size > 1 else None`).
  std::vector<ValueId> LeavesIn(ValueId value, const traces::World& world) const;
  // Visits a value and all that it was made of, parameters replaced by what callers pass, until `visit` says true.
  bool AnyPart(ValueId value, const std::function<bool(ValueId)>& visit) const;
  bool HasFlag(ValueId value, uint8_t flag) const;
  // Whether a coordinate occurs in it.
  bool Mentions(ValueId value, knowledge::Coordinate coordinate) const;
  // Whether it is this number whichever way it comes about, as a launcher or the machine says it: not by its name alone, nor in a job that
  // the program starts itself.
  bool Is(ValueId value, knowledge::Coordinate coordinate) const;

  // The class of an object of a library, or the first known base of an object of a project class; none otherwise.
  knowledge::ClassId ClassOf(ValueId value) const;
  bool IsA(ValueId value, std::string_view known_class) const;
  // The argument that an object of a library was made with; none if not passed or not known.
  ValueId MadeWith(ValueId object, std::string_view param) const;

  // Whether two values may be the same object seen from different functions: what a caller's parameters stand for in
  // one of them may be an unknown in the other.
  bool MayBeSame(ValueId a, ValueId b) const { return MayBeSame(a, b, 0); }

  bool IsNone(ValueId value) const;
  bool IsTrue(ValueId value) const;
  bool IsFalse(ValueId value) const;
  std::optional<int64_t> Int(ValueId value) const;
  // `devices=1`, `devices=[0]`: a number, or how many are listed.
  std::optional<int64_t> CountGiven(ValueId value) const;
  std::string_view Str(ValueId value) const;
  std::string_view External(ValueId value) const;

  // The number that a value is on a rank of a world; none if that is not known.
  std::optional<int64_t> OnRank(ValueId value, const traces::World& world, uint32_t rank) const;
  std::optional<bool> TruthOnRank(ValueId value, const traces::World& world, uint32_t rank) const;
  // The same where a part of the test may have one of several values: the one that is a test of the rank counts.
  std::optional<bool> TruthAsRankTest(ValueId test, const traces::World& world, uint32_t rank, int depth = 0) const;
  // Whether it is None there: `writer = Writer() if rank == 0 else None`, handed to a helper.
  std::optional<bool> IsNoneOnRank(ValueId value, const traces::World& world, uint32_t rank, int depth = 0) const;

 private:
  bool MayBeSame(ValueId a, ValueId b, int depth) const;
  bool IsRankTest(ValueId test, const traces::World& world) const;
  std::optional<bool> TestOnRank(ValueId value, const traces::World& world, uint32_t rank, int depth) const;
  void AddLeaves(ValueId value, int depth, std::vector<ValueId>& leaves, const traces::World* world = nullptr) const;
  std::optional<bool> TruthOnAll(ValueId test, const traces::World& world) const;
  void AssignKnown(ValueId value, const traces::World& world, uint32_t rank, traces::Assignment& assignment,
                   int depth) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
};

// Whether a class of the project derives from a class of a library, or from one that does.
bool DerivesFrom(const binding::Program& program, const knowledge::Knowledge& knowledge, binding::ClassId class_id, std::string_view known_class);

// Two nodes of two processes, which tells the global rank from the local one; as many ranks on one node, or one a
// node, where the user says that jobs are like that.
traces::World SmallJob(const variation::JobShape& job);

}  // namespace allranks::objects
