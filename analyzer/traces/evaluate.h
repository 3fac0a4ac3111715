// The value of an expression over coordinates on one rank of a world.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/number_map.h"
#include "analyzer/traces/world.h"
#include "analyzer/variation/value.h"

namespace allranks::traces {

// Uniform unknowns that stand beside coordinates in a condition (`rank == args.master`) take one value a try, the
// same on all ranks.
using Assignment = std::unordered_map<uint32_t, int64_t>;

// Real: a number with a fraction, or that may have one.
enum class OutcomeKind : uint8_t { Unknown, None, Number, Real, Thing };
struct Outcome {
  OutcomeKind kind = OutcomeKind::Unknown;
  int64_t number = 0;
  ValueId thing;   // Thing: something that is not None, equal to itself
  bool is_text = false;  // Number: it is the text of one, which is true whatever it says
  double real = 0;       // of a Real, and of a Number as well
  static Outcome Number(int64_t value) { return {OutcomeKind::Number, value, {}, false, static_cast<double>(value)}; }
  static Outcome Real(double value) { return {OutcomeKind::Real, 0, {}, false, value}; }
  bool is_numeric() const { return kind == OutcomeKind::Number || kind == OutcomeKind::Real; }
};

// A group as the ranks of a world know it.
struct GroupInfo {
  ValueId value;
  variation::GroupKind kind = variation::GroupKind::World;
  Axis axis{};
  std::vector<RankSet> members;   // by rank: the instance it belongs to, empty if none
  bool is_guess = false;          // which group it is, is not known
  bool has_known_ranks = false;   // it was made of constant ranks
  bool is_picked = false;         // one of several that ranks pick out of a list, not all of its members the same one
};
using GroupIndex = uint32_t;
constexpr uint32_t kMostGroups = 32;   // of one function; what comes after shares the last place

class Evaluator {
 public:
  Evaluator(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, const World& world,
            const Assignment& assignment)
      : values_(values), knowledge_(knowledge), world_(world), assignment_(assignment) {}

  Outcome Evaluate(ValueId value, uint32_t rank);
  // As a condition; nothing if unknown.
  std::optional<bool> Truth(ValueId value, uint32_t rank);
  // The numbers in a list on a rank: a display, `range(...)`, a comprehension, a slice or a copy of one, two put together; none if one of them is not known, or there are very many.
  std::optional<std::vector<int64_t>> ListOf(ValueId list, uint32_t rank);
  // How many items a container has on a rank, whatever they are; none if that is not known.
  std::optional<int64_t> LengthOf(ValueId container, uint32_t rank);
  // The group that a value names on a rank. `value` none: the default group.
  GroupIndex Group(ValueId value, uint32_t rank);
  // The argument that a tensor was made as large as: `torch.zeros_like(x)`, `torch.tensor(list)`; none of others.
  ValueId SizedLike(ValueId tensor) const;
  const variation::ValueStore& values() const { return values_; }
  // The qualified name of something outside the project.
  std::string_view NameOf(ValueId external) const { return knowledge_.names().View(values_[external].name()); }
  const GroupInfo& group(GroupIndex index) const { return groups_[index]; }
  size_t group_count() const { return groups_.size(); }
  const World& world() const { return world_; }

  // Answers as if the job were that many times as large.
  void ScaleSizes(int64_t factor) {
    of_other_sizes_[size_factor_] = std::move(found_);
    found_ = std::exchange(of_other_sizes_[factor], {});
    size_factor_ = factor;
  }

  // The unknowns that keep `value` from being decided.
  void UnknownParts(ValueId value, std::vector<ValueId>* parts, int depth = 0);

 private:
  Outcome EvaluateNew(ValueId id, uint32_t rank);
  ValueId EqualTo(ValueId id);
  std::optional<bool> TruthOf(const Outcome& outcome) const;
  bool IsSettingOfLibrary(ValueId id) const;
  std::span<const ValueId> AskedForTruth(ValueId id) const;
  void AddPart(ValueId id, std::vector<ValueId>* parts) const;
  Outcome Connective(ValueId id, uint32_t rank);
  Outcome Coordinate(ValueId id, uint32_t rank);
  Outcome Compare(ValueId id, uint32_t rank);
  bool IsReceived(ValueId id, int depth = 0) const;
  ValueId GroupListed(ValueId container) const;
  std::optional<bool> IsInUnknownList(ValueId item, int64_t number) const;
  std::optional<bool> Membership(ValueId item, ValueId container, uint32_t rank);
  Outcome Binary(ValueId id, uint32_t rank);
  std::optional<bool> TruthOfPart(ValueId id, uint32_t rank);
  std::optional<int64_t> RoundsTaken(std::span<const ValueId> parts, uint32_t rank);
  std::optional<std::vector<int64_t>> CombinedOf(ValueId sets, uint32_t rank);
  Outcome Call(ValueId id, uint32_t rank);
  Outcome OfList(std::string_view operation, ValueId list, uint32_t rank);
  std::optional<int64_t> Extreme(std::span<const ValueId> numbers, bool is_least, uint32_t rank);
  std::optional<int64_t> ItemOf(ValueId list, ValueId place, uint32_t rank);
  std::optional<int64_t> PlaceOf(ValueId list, ValueId item, uint32_t rank);
  GroupIndex AddGroup(ValueId value);
  GroupIndex GuessedGroup(ValueId value);
  RankSet CreatedMembers(ValueId group, bool* known);
  std::string_view OperationOf(ValueId derived) const;
  std::optional<std::vector<int64_t>> JoinedOf(ValueId list, uint32_t rank);
  std::optional<std::vector<int64_t>> RangeOf(ValueId range, uint32_t rank);
  std::optional<std::vector<int64_t>> SliceOf(ValueId item, uint32_t rank);
  std::optional<std::vector<int64_t>> RepeatedOf(ValueId item, ValueId count, uint32_t rank);
  std::optional<std::vector<int64_t>> ComprehendedOf(ValueId list, uint32_t rank);
  Evaluator WithItem(ValueId variable, int64_t number, Assignment& assignment) const;
  void SplitMembers(ValueId group, GroupInfo* info);
  // group_families.cpp
  std::optional<GroupIndex> FamilyGroup(ValueId id, uint32_t rank);
  std::optional<GroupIndex> AddPicked(ValueId id, RankSet own);
  ValueId KeptOfFamily(ValueId id, int depth) const;
  bool IsRank(ValueId id) const;
  std::vector<RankSet> GroupsMade(ValueId group);
  struct ListOfGroups {
    ValueId group;      // as each round makes it
    ValueId variable;   // of the loop
    ValueId numbers;    // that it goes through
  };
  std::optional<ListOfGroups> GroupsIn(ValueId list);
  std::vector<RankSet> PickedByRank(ValueId id);
  std::vector<RankSet> EachInOne(std::span<const RankSet> made) const;
  std::optional<RankSet> RanksWith(ValueId list, std::span<const std::pair<ValueId, int64_t>> numbers);

  const variation::ValueStore& values_;
  const knowledge::Knowledge& knowledge_;
  const World& world_;
  const Assignment& assignment_;
  std::vector<GroupInfo> groups_;
  // By value and rank. Values share their parts, so without this `x = x + x` written n times takes 2^n steps.
  struct Found {
    base::NumberMap<Outcome, uint64_t> outcomes;
    std::unordered_map<uint64_t, std::optional<std::vector<int64_t>>> joined;  // of lists that were put together
  };
  Found found_;
  std::map<int64_t, Found> of_other_sizes_;   // by size_factor_
  std::optional<std::unordered_map<uint32_t, ValueId>> equal_to_;   // by value: the constant that it is as `assignment_` has it
  int depth_ = 0;
  int64_t size_factor_ = 1;
};

bool IsUniformUnknown(const variation::ValueStore& values, ValueId value);

}  // namespace allranks::traces
