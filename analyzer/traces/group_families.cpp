// Groups that are made one after the other, of which each rank keeps the one that it is in:
//   for i in range(world // 4):
//     ranks = list(range(4 * i, 4 * i + 4)); group = new_group(ranks)
//     if rank in ranks: mine = group
// or picks it from a list of all (`groups[rank // 4]`). The ranks of such a group mention the variable of the loop, which the
// group keeps with what it goes through, so each rank's group is found by going through that.
//
// Invariant: a family is known only if every list of ranks is, and every rank of the world is in one and in no more. Worlds that it
// does not divide are left to guesses. Not known: groups that a dictionary holds.
#include <algorithm>
#include <utility>

#include "analyzer/traces/evaluate.h"
#include "analyzer/variation/tables.h"

namespace allranks::traces {

using variation::GroupKind;
using variation::Value;
using variation::ValueKind;

namespace {

constexpr size_t kMostLoops = 2;
constexpr size_t kMostGroupsMade = 64;
// Of a list with one item more: what it was, the item, what decides how often it is added, and the rounds of the loop.
constexpr size_t kAddedInLoop = 4;

// `for ranks in [[0, 1], [2, 3]]: new_group(ranks)`: each list as it is written; none if one holds anything but ranks of the job.
std::vector<RankSet> GroupsListed(const variation::ValueStore& values, ValueId lists, uint32_t size) {
  std::vector<RankSet> made;
  if (values[lists].kind != ValueKind::Tuple) return {};
  for (const ValueId list : values.Kids(lists)) {
    if (!list || values[list].kind != ValueKind::Tuple) return {};
    RankSet& ranks = made.emplace_back();
    for (const ValueId item : values.Kids(list)) {
      const std::optional<uint32_t> rank = item ? values[item].count() : std::nullopt;
      const bool is_rank = rank && *rank < size;
      if (!is_rank) return {};
      ranks = ranks | RankSet::Of(*rank);
    }
  }
  return made;
}

bool ListsItsRanks(const variation::ValueStore& values, ValueId id) {
  const Value& value = values[id];
  return value.is_group(GroupKind::Created) && value.kid_count > 0 &&
         values.Kids(id)[0] && values[values.Kids(id)[0]].kind != ValueKind::Unary;
}

}  // namespace

// The ranks in `list` where the variables are these numbers.
std::optional<RankSet> Evaluator::RanksWith(ValueId list, std::span<const std::pair<ValueId, int64_t>> numbers) {
  Assignment assignment = assignment_;
  for (const auto& [variable, number] : numbers) assignment[variable.index] = number;
  Evaluator inner(values_, knowledge_, world_, assignment);
  inner.depth_ = depth_ + 1;
  const std::optional<std::vector<int64_t>> ranks = inner.ListOf(list, 0);
  if (!ranks) return std::nullopt;
  RankSet set;
  for (const int64_t rank : *ranks) {
    if (rank < 0 || rank >= world_.size()) return std::nullopt;
    set = set | RankSet::Of(static_cast<uint32_t>(rank));
  }
  return set;
}

// All groups that `group` stands for in a loop; none if they are not known.
std::vector<RankSet> Evaluator::GroupsMade(ValueId group) {
  const std::vector<ValueId> kids(values_.Kids(group).begin(), values_.Kids(group).end());
  const size_t loops = kids.size() / 2;
  if (loops == 0 || loops > kMostLoops) return {};
  const ValueId lists = values_.ListsOfGroups(group);
  if (lists && loops == 1) return GroupsListed(values_, lists, world_.size());
  const std::optional<std::vector<int64_t>> outer = ListOf(kids[2], 0);
  const std::optional<std::vector<int64_t>> inner = loops == 1 ? std::vector<int64_t>{0} : ListOf(kids[4], 0);
  if (!outer || !inner || outer->size() * inner->size() > kMostGroupsMade) return {};
  std::vector<RankSet> made;
  for (const int64_t first : *outer) {
    for (const int64_t second : *inner) {
      std::vector<std::pair<ValueId, int64_t>> numbers = {{kids[1], first}};
      if (loops > 1) numbers.emplace_back(kids[3], second);
      const std::optional<RankSet> ranks = RanksWith(kids[0], numbers);
      if (!ranks) return {};
      made.push_back(*ranks);
    }
  }
  return made;
}

// The group of a family that the rank is in, as a value that chose it by just that: `mine = group if rank in ranks else mine`. None of
// any other value.
ValueId Evaluator::KeptOfFamily(ValueId id, int depth) const {
  constexpr int kDeepest = 8;
  if (!id || depth > kDeepest || values_[id].kind != ValueKind::Select) return {};
  const std::span<const ValueId> kids = values_.Kids(id);
  const Value& condition = values_[kids[0]];
  if (condition.kind == ValueKind::Compare) {
    const auto op = condition.compare_op();
    const bool is_in = op == ir::CompareOp::In;
    const ValueId arm = kids[is_in ? 1 : 2];
    const auto asked = values_.Kids(kids[0]);
    const bool asks_rank = (is_in || op == ir::CompareOp::NotIn) && IsRank(asked[0]);
    return asks_rank && ListsItsRanks(values_, arm) && values_.Kids(arm)[0] == asked[1] ? arm : ValueId();
  }
  // Whether the loop ran at all.
  const bool is_open = condition.kind == ValueKind::Unknown && condition.axes.empty();
  return is_open && values_[kids[2]].kind == ValueKind::None ? KeptOfFamily(kids[1], depth + 1) : ValueId();
}

bool Evaluator::IsRank(ValueId id) const {
  return variation::IsCoordinate(values_[id], knowledge::Coordinate::Rank);
}

// The groups in a list that a comprehension makes, or that each round of a loop adds one to; none in any other list.
std::optional<Evaluator::ListOfGroups> Evaluator::GroupsIn(ValueId list) {
  const std::vector<ValueId> kids(values_.Kids(list).begin(), values_.Kids(list).end());
  if (values_[list].kind != ValueKind::Derived || std::ranges::any_of(kids, [](ValueId kid) { return !kid; })) return std::nullopt;
  ListOfGroups groups;
  if (OperationOf(list) == variation::kComprehended && kids.size() == variation::kKnownParts) {
    groups = {.group = kids[0], .variable = kids[2], .numbers = kids[1]};
    if (kids[3] != values_.True()) return std::nullopt;
  } else if (OperationOf(list) == variation::kGrown && kids.size() == kAddedInLoop) {
    const bool begins_empty = values_[kids[0]].kind == ValueKind::Tuple && values_[kids[0]].kid_count == 0;
    const auto made_of = values_.Kids(kids[1]);
    if (!begins_empty || made_of.size() != 3) return std::nullopt;
    groups = {.group = kids[1], .variable = made_of[1], .numbers = made_of[2]};
    const std::optional<std::vector<int64_t>> numbers = ListOf(groups.numbers, 0);
    const Outcome added = Evaluate(kids[3], 0);
    if (!numbers || added.kind != OutcomeKind::Number || added.number != static_cast<int64_t>(numbers->size())) return std::nullopt;
  }
  return groups.group && ListsItsRanks(values_, groups.group) ? std::optional(groups) : std::nullopt;
}

// By rank: the group of the list that it picks. None if `id` is not `groups[...]` of such a list, or what it picks is not known.
std::vector<RankSet> Evaluator::PickedByRank(ValueId id) {
  const Value& value = values_[id];
  if (value.kind != ValueKind::Derived || value.kid_count != 2 || OperationOf(id) != "[]") return {};
  const std::vector<ValueId> kids(values_.Kids(id).begin(), values_.Kids(id).end());
  const std::optional<ListOfGroups> groups = kids[0] && kids[1] ? GroupsIn(kids[0]) : std::nullopt;
  if (!groups) return {};
  const std::optional<std::vector<int64_t>> numbers = ListOf(groups->numbers, 0);
  if (!numbers) return {};
  std::vector<RankSet> picked;
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const Outcome at = Evaluate(kids[1], rank);
    if (at.kind != OutcomeKind::Number || at.number < 0 || at.number >= static_cast<int64_t>(numbers->size())) return {};
    const std::pair<ValueId, int64_t> number[] = {{groups->variable, (*numbers)[static_cast<size_t>(at.number)]}};
    const std::optional<RankSet> ranks = RanksWith(values_.Kids(groups->group)[0], number);
    if (!ranks) return {};
    picked.push_back(ranks->has(rank) ? *ranks : RankSet{});
  }
  return picked;
}

// By rank: the one of `made` that it is in; none if some rank is in no group or in several.
std::vector<RankSet> Evaluator::EachInOne(std::span<const RankSet> made) const {
  std::vector<RankSet> members;
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    const auto holds = [&](const RankSet& group) { return group.has(rank); };
    if (std::ranges::count_if(made, holds) != 1) return {};
    members.push_back(*std::ranges::find_if(made, holds));
  }
  return members;
}

// `groups[rank]` of groups that overlap: rank 0 is a member of the one that rank 3 picks and picks another one. Each is a group of its own.
std::optional<GroupIndex> Evaluator::AddPicked(ValueId id, RankSet own) {
  for (GroupIndex i = 0; i < groups_.size(); ++i) {
    const bool is_same = groups_[i].value == id && groups_[i].is_picked;
    if (is_same && std::ranges::any_of(groups_[i].members, [&](const RankSet& members) { return members == own; })) return i;
  }
  if (groups_.size() == kMostGroups) return std::nullopt;
  std::vector<RankSet> members(world_.size());
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    if (own.has(rank)) members[rank] = own;
  }
  groups_.push_back({.value = id, .kind = GroupKind::Created, .axis = {}, .members = std::move(members), .is_guess = false, .has_known_ranks = true, .is_picked = true});
  return static_cast<GroupIndex>(groups_.size() - 1);
}

std::optional<GroupIndex> Evaluator::FamilyGroup(ValueId id, uint32_t rank) {
  for (GroupIndex i = 0; i < groups_.size(); ++i) {
    if (groups_[i].value == id && !groups_[i].is_guess && !groups_[i].is_picked) return i;
  }
  const ValueId kept = KeptOfFamily(id, 0);
  ++depth_;
  std::vector<RankSet> members = kept ? EachInOne(GroupsMade(kept)) : PickedByRank(id);
  --depth_;
  if (members.empty() || groups_.size() == kMostGroups) return std::nullopt;
  for (uint32_t member = 0; member < world_.size(); ++member) {
    for (uint32_t other = 0; other < world_.size(); ++other) {
      const bool is_torn = members[member].has(other) && members[other] != members[member];
      if (is_torn) return members[rank].empty() ? std::nullopt : AddPicked(id, members[rank]);
    }
  }
  groups_.push_back({.value = id, .kind = GroupKind::Created, .axis = {}, .members = std::move(members), .is_guess = false, .has_known_ranks = true});
  return static_cast<GroupIndex>(groups_.size() - 1);
}

}  // namespace allranks::traces
