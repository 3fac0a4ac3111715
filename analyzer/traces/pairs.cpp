// Two ranks of one group must issue the same on the groups they share (the one condition of which membership, roots,
// order and guards all follow). Where they do not, the innermost choice without which they would is to blame.
#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/function_check.h"
#include "analyzer/traces/reach.h"

namespace allranks::traces {
namespace {

using knowledge::Axes;

// Whether `holds` of a node or of one below it; each is asked once, however many ways lead there.
template <class Holds>
bool AnyNode(const TraceStore& traces, TraceId from, Holds holds) {
  std::unordered_set<uint32_t> seen = {from.index};
  std::vector<TraceId> work = {from};
  while (!work.empty()) {
    const TraceId id = work.back();
    work.pop_back();
    if (holds(id)) return true;
    for (const TraceId kid : traces.Kids(id)) {
      if (seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return false;
}

constexpr size_t kMostBlamed = 48;
constexpr size_t kMostScenes = 24;

// Whether two lists that part at the same position part over the same. What only one of the ranks issues there is the same
// whatever stands beside it on the other: a condition taken as agreed may bring something there that meets it as little.
bool SamePlace(const SequenceStore& sequences, const Parting& a, const Parting& b) {
  const auto origin = [&](SeqId id) { return sequences[id].origin; };
  if (origin(a.first) == origin(b.first) && origin(a.second) == origin(b.second)) return true;
  const TraceId first = OpOf(sequences, b.first);
  const TraceId second = OpOf(sequences, b.second);
  const bool is_one_sided = a.position == b.position && static_cast<bool>(first) != static_cast<bool>(second);
  if (!is_one_sided) return false;
  return first ? OpOf(sequences, a.first) == first : OpOf(sequences, a.second) == second;
}

uint32_t SharedGroups(Scene& scene, uint32_t i, uint32_t j) {
  uint32_t groups = 0;
  for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
    if (scene.evaluator().group(g).members[i].has(j)) groups |= 1u << g;
  }
  return groups;
}

bool AsksForOrder(const variation::ValueStore& values, ValueId condition) {
  if (!condition || values.axes(condition).empty()) return false;
  const variation::ValueKind kind = values[condition].kind;
  if (kind == variation::ValueKind::Compare) {
    const auto op = values[condition].compare_op();
    return op >= ir::CompareOp::Less && op <= ir::CompareOp::GreaterEq;
  }
  const bool connects = kind == variation::ValueKind::Unary || kind == variation::ValueKind::And || kind == variation::ValueKind::Or;
  return connects && std::ranges::any_of(values.Kids(condition), [&](ValueId kid) { return AsksForOrder(values, kid); });
}

// What is equal to one constant is equal to no other: of `mode == "a"` and `mode == "b"` the first holds.
void MakeConsistent(const variation::ValueStore& values, const std::vector<ValueId>& parts, Assignment* assignment) {
  std::unordered_map<uint32_t, ValueId> constants;
  for (const ValueId part : parts) {
    int64_t& number = (*assignment)[part.index];
    const std::optional<Equality> equality = EqualityOf(values, part, number != 0);
    if (!equality) continue;
    const auto [known, is_first] = constants.emplace(equality->subject.index, equality->constant);
    if (!is_first && AreUnequal(values, known->second, equality->constant)) number = number != 0 ? 0 : 1;
  }
}

// `(layer + rank) % size`, whatever `layer` is: each rank has a number of its own.
bool IsShiftedRank(const variation::ValueStore& values, ValueId value) {
  const auto is_known = [&](ValueId part) { return IsPredicate(values, part); };
  if (values.axes(value).empty() || values[value].kind != variation::ValueKind::Binary) return false;
  const auto op = values[value].binary_op();
  const std::vector<ValueId> kids(values.Kids(value).begin(), values.Kids(value).end());
  if (op == ir::BinaryOp::Mod) return is_known(kids[1]) && IsShiftedRank(values, kids[0]);
  if (op != ir::BinaryOp::Add && op != ir::BinaryOp::Sub) return false;
  return std::ranges::all_of(kids, [&](ValueId kid) {
    return values.axes(kid).empty() || is_known(kid) || IsShiftedRank(values, kid);
  });
}

// What is tried: of everything that is said of all tries, what they do not agree on.
std::vector<ValueId> SettingsOf(std::span<const Assignment> tries) {
  std::vector<ValueId> settings;
  for (const auto& [setting, first] : tries.front()) {
    const auto is_other = [&, value = first](const Assignment& other) { return other.at(setting) != value; };
    if (std::ranges::any_of(tries, is_other)) settings.push_back(ValueId{setting});
  }
  std::ranges::sort(settings);
  return settings;
}

}  // namespace

void FunctionCheck::CheckPairs() {
  if (nodes_.choices.empty() && !nodes_.ops_vary) return;
  for (const World& world : WorldsFor(nodes_.mentions)) {
    if (full()) return;
    // Other values of the unknowns that lead to the same decisions show the same, unless more is settled by now.
    std::set<std::pair<size_t, std::vector<int64_t>>> seen;
    const std::vector<Assignment> tries = Assignments(world);
    SettingUses uses(traces_, SettingsOf(tries));
    SharedLists shared;
    Scene first(state_, world, tries.front());
    first.SetUses(uses);
    const auto check = [&](Scene& scene) {
      Prepare(scene);
      if (seen.emplace(settled_.size(), scene.Fingerprint()).second) CheckScene(scene, shared);
    };
    check(first);
    for (const Assignment& assignment : std::span(tries).subspan(1)) {
      if (full()) return;
      Scene scene(state_, world, assignment);
      scene.SetUses(uses, &first);
      check(scene);
    }
  }
}

// Uniform unknowns in conditions on the rank: the first of each condition, then the second of each, and so on, so that
// one condition of many parts leaves room for the others.
std::vector<ValueId> FunctionCheck::UnknownParts(const World& world) {
  constexpr size_t kMostParts = (kMostScenes - 2) / 2;
  const Assignment history = History();
  Evaluator evaluator(state_.values, state_.knowledge, world, history);
  std::vector<std::vector<ValueId>> by_choice;
  size_t most = 0;
  for (const TraceId node : nodes_.choices) {
    const ValueId value = traces_[node].value;
    if (Without(state_.values.axes(value), knowledge::kSoftAxes).empty() || IsAssertion(node)) continue;
    evaluator.UnknownParts(value, &by_choice.emplace_back());
    most = std::max(most, by_choice.back().size());
  }
  // A setting may decide on the root or the count of an operation as well.
  for (const TraceId node : nodes_.ops) {
    const Operation& operation = traces_.operation(node);
    for (const ValueId value : {operation.root, operation.count, operation.reduce_op, operation.dtype}) {
      const bool is_shifted = value && value == operation.root && IsShiftedRank(state_.values, value);
      if (!value || (state_.values[value].kind != variation::ValueKind::Select && !is_shifted)) continue;
      evaluator.UnknownParts(value, &by_choice.emplace_back());
      most = std::max(most, by_choice.back().size());
    }
  }
  std::vector<ValueId> parts;
  for (size_t i = 0; i < most; ++i) {
    for (const std::vector<ValueId>& of_choice : by_choice) {
      const bool is_new = i < of_choice.size() && std::ranges::find(parts, of_choice[i]) == parts.end();
      if (!is_new) continue;
      if (parts.size() < kMostParts) parts.push_back(of_choice[i]);
      else has_unread_settings_ = true;
    }
  }
  // `ranks[i]` follows from `i`: values of both that are chosen apart may not go together.
  const std::vector<ValueId> all = parts;
  std::erase_if(parts, [&](ValueId part) {
    return std::ranges::any_of(all, [&](ValueId other) { return other != part && IsMadeOf(state_.values, part, other); });
  });
  return parts;
}

// `assert(sum == expected)`: ranks that get past it are those for which it holds.
bool FunctionCheck::IsAssertion(TraceId node) const {
  if (traces_[node].kind != TraceKind::Choice) return false;
  return std::ranges::any_of(traces_.Kids(node), [&](TraceId arm) {
    const uint16_t flags = traces_[arm].flags;
    return (flags & kLeavesRaise) != 0 && (flags & kHasOp) == 0;
  });
}

// Values for the uniform unknowns in conditions on the rank: all of the first kind, all of the second, one by one.
std::vector<Assignment> FunctionCheck::Assignments(const World& world) {
  const std::vector<ValueId> parts = UnknownParts(world);
  if (parts.empty()) return {History()};
  std::vector<Assignment> assignments;
  for (const int64_t first : {1, 0}) {
    Assignment all = History();
    for (const ValueId part : parts) all.emplace(part.index, first);
    assignments.push_back(all);
    for (size_t i = 0; i < parts.size() && parts.size() > 1 && assignments.size() < kMostScenes; ++i) {
      Assignment flipped = all;
      flipped[parts[i].index] = 1 - first;
      assignments.push_back(std::move(flipped));
    }
  }
  Assignment telling = assignments[0];
  bool has_telling = false;
  for (const ValueId part : parts) {
    const std::optional<int64_t> number = TellingNumber(world, part, assignments[0]);
    has_telling = has_telling || number;
    telling[part.index] = number.value_or(1);
  }
  if (has_telling) assignments.push_back(std::move(telling));
  for (Assignment& assignment : assignments) MakeConsistent(state_.values, parts, &assignment);
  return assignments;
}

// A number with which an order tells ranks apart where zero and one do not: 6 in `step > 5 + rank`. None if there is none.
std::optional<int64_t> FunctionCheck::TellingNumber(const World& world, ValueId part, const Assignment& others) {
  constexpr int64_t kLargest = 16;
  const auto tells = [&](ValueId condition, int64_t number) {
    Assignment assignment = others;
    assignment[part.index] = number;
    Evaluator evaluator(state_.values, state_.knowledge, world, assignment);
    const std::optional<bool> first = evaluator.Truth(condition, 0);
    bool differs = false;
    for (uint32_t rank = 1; rank < world.size() && first; ++rank) {
      const std::optional<bool> truth = evaluator.Truth(condition, rank);
      if (!truth) return false;
      differs = differs || *truth != *first;
    }
    return differs;
  };
  for (const TraceId node : nodes_.choices) {
    const ValueId condition = traces_[node].value;
    const bool is_order = traces_[node].kind == TraceKind::Choice && AsksForOrder(state_.values, condition);
    if (!is_order || !IsMadeOf(state_.values, condition, part) || tells(condition, 0) || tells(condition, 1)) continue;
    for (int64_t number = 2; number <= kLargest; ++number) {
      if (tells(condition, number)) return number;
    }
  }
  return std::nullopt;
}

void FunctionCheck::CheckScene(Scene& scene, SharedLists& shared) {
  while (!full() && CheckOnce(scene, ListsFor(scene, shared))) {}
}

SequenceStore& FunctionCheck::ListsFor(Scene& scene, SharedLists& shared) const {
  constexpr size_t kMostItems = 50'000;
  const bool fits = shared.settled == settled_.size() && shared.groups == scene.groups() && shared.store.size() < kMostItems;
  if (!fits) shared = {.store = {}, .groups = scene.groups(), .settled = settled_.size()};
  return shared.store;
}

// Whether some pair of ranks differs; then the difference is reported and its cause settled.
bool FunctionCheck::CheckOnce(Scene& scene, SequenceStore& sequences) {
  std::map<std::tuple<uint32_t, uint32_t, Issuing>, SeqId> lists;
  const auto list = [&](uint32_t rank, const View& view) {
    const auto [found, is_new] = lists.try_emplace({scene.ClassOf(rank), view.groups, view.issuing});
    if (is_new) found->second = ProjectFor(scene, sequences, rank, view);
    return found->second;
  };
  const uint32_t size = scene.world().size();
  std::optional<Evidence> best;
  std::vector<TraceId> unexplained;
  for (uint32_t i = 0; i < size; ++i) {
    for (uint32_t j = i + 1; j < size && (!best || best->is_roundabout); ++j) {
      View view{.groups = SharedGroups(scene, i, j)};
      if (view.groups == 0 || scene.ClassOf(i) == scene.ClassOf(j)) continue;
      const std::optional<Parting> whole = FirstDifference(sequences, list(i, view), list(j, view));
      if (!whole) continue;
      std::optional<Evidence> evidence;
      for (const Issuing issuing : kSurestFirst) {
        view.issuing = issuing;
        if (!FirstDifference(sequences, list(i, view), list(j, view))) continue;
        view.issuing = ToldWith(issuing);
        const std::optional<Parting> parting = FirstDifference(sequences, list(i, view), list(j, view));
        if (parting) evidence = Explain(scene, sequences, i, j, view, *parting);
        if (!evidence) continue;
        evidence->issuing = issuing;
        break;
      }
      if (!evidence) {
        for (const SeqId side : {whole->first, whole->second}) {
          if (const TraceId op = OpOf(sequences, side)) unexplained.push_back(op);
        }
      }
      if (evidence && (!best || !evidence->is_roundabout)) best = std::move(evidence);
    }
  }
  if (!best) {
    for (const TraceId op : unexplained) result_->unexplained.push_back(traces_[op].site);
    return false;
  }
  const TraceId cause = best->node ? best->node : best->culprit;
  if (best->node && ShowsThrough(*best)) {
    MarkSettled(cause);
    return true;
  }
  // Groups that differ go on differing when their operations are settled: once is enough.
  if (settled_.contains(cause.index)) return false;
  if (best->is_out_of_reach) {
    if (best->node) {
      MarkSettled(cause);
    } else {
      settled_.insert(best->culprit.index);
      settled_.insert(best->victim.index);
    }
    return true;
  }
  Report(scene, sequences, *best, cause);
  if (!best->node && best->victim) {
    if (open_.contains(cause.index)) settled_.insert(best->victim.index);
    else MarkSettled(best->victim);
  }
  if (best->twin) settled_.insert(best->twin.index);
  // What callers look at again they look at as a pair.
  if (best->twin && reported_.contains(cause.index)) reported_.insert(best->twin.index);
  return true;
}

// Of `for a in mine: for b in mine: all_reduce()` both loops keep the same ranks from one operation: the inner one was
// reported with it.
bool FunctionCheck::ShowsThrough(const Evidence& evidence) const {
  return evidence.kind == DifferenceKind::TripCount && reported_culprits_.contains(evidence.culprit.index);
}

TraceId FunctionCheck::Blame(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j, View view,
                             const Parting& parting) {
  size_t tried = 0;
  TraceId puts_it_off;
  const std::unordered_set<uint32_t> of_first = NodesReached(state_, scene, root_, i);
  const std::unordered_set<uint32_t> of_second = NodesReached(state_, scene, root_, j);
  for (const TraceId node : nodes_.choices) {
    // What a rank does not come to separates it from nobody, whatever it would answer behind a choice that was reported.
    if (!of_first.contains(node.index) || !of_second.contains(node.index)) continue;
    if (settled_.contains(node.index) || !PartsRanks(scene, node, i, j) || ++tried > kMostBlamed) continue;
    view.agreed = node;
    const SeqId first = ProjectFor(scene, sequences, i, view);
    const SeqId second = ProjectFor(scene, sequences, j, view);
    const std::optional<Parting> rest = FirstDifference(sequences, first, second);
    if (!rest) return node;
    // Another defect stays, later on. (Taking away one half of a pair of conditions that agree brings one forward.)
    const bool is_later = rest->position >= parting.position && !SamePlace(sequences, *rest, parting);
    if (!puts_it_off && is_later) puts_it_off = node;
  }
  if (puts_it_off || parting.same_operation) return puts_it_off;
  return InnermostAround(scene, sequences, i, j, parting);
}

// Where it takes several choices, one inside the other, to keep a rank from an operation that only the other issues, none
// of them is to blame alone. The innermost one stands next to the operation.
TraceId FunctionCheck::InnermostAround(Scene& scene, const SequenceStore& sequences, uint32_t i, uint32_t j,
                                       const Parting& parting) {
  const TraceId first = OpOf(sequences, parting.first);
  const TraceId second = OpOf(sequences, parting.second);
  if (first && second) return {};
  for (const TraceId node : nodes_.choices) {
    const bool is_around = Contains(traces_, node, first ? first : second);
    if (is_around && !settled_.contains(node.index) && PartsRanks(scene, node, i, j)) return node;
  }
  return {};
}

bool FunctionCheck::PartsRanks(Scene& scene, TraceId node, uint32_t i, uint32_t j) const {
  const Trace& trace = traces_[node];
  if (trace.kind == TraceKind::Loop) return scene.Trips(trace, i) != scene.Trips(trace, j);
  const Decision decision = scene.Decide(trace.value);
  return decision.decided && decision.truth.has(i) != decision.truth.has(j);
}

// Warm-up, steady state and cool-down: a rank that has fewer rounds in one loop has more in another, which issues the same.
bool FunctionCheck::IsMadeUpElsewhere(TraceId loop, TraceId operation) const {
  const Operation& wanted = traces_.operation(operation);
  const auto is_same = [&](TraceId id) {
    if (traces_[id].kind != TraceKind::Op) return false;
    return &traces_.entry(id) == &traces_.entry(operation) && traces_.operation(id).group == wanted.group;
  };
  return AnyNode(traces_, root_, [&](TraceId id) {
    const Trace& other = traces_[id];
    const bool varies = id != loop && other.kind == TraceKind::Loop && other.value && !state_.values.axes(other.value).empty();
    return varies && !Contains(traces_, id, loop) && !Contains(traces_, loop, id) && AnyNode(traces_, id, is_same);
  });
}

// A choice that was told already leads all ranks both ways: a rank that it keeps out does not wait there, and has no root, type or size to compare.
bool FunctionCheck::ComesThere(Scene& scene, uint32_t rank, TraceId operation) const {
  return settled_.empty() || !operation || NodesReached(state_, scene, root_, rank).contains(operation.index);
}

std::optional<Evidence> FunctionCheck::Explain(Scene& scene, SequenceStore& sequences, uint32_t i, uint32_t j,
                                               const View& view, const Parting& parting) {
  Evidence evidence;
  const TraceId first = OpOf(sequences, parting.first);
  const TraceId second = OpOf(sequences, parting.second);
  if (!first && !second) return std::nullopt;
  const SeqId list_of_i = ProjectFor(scene, sequences, i, view);
  const SeqId list_of_j = ProjectFor(scene, sequences, j, view);
  const auto lists = [&](bool i_has_it) { return i_has_it ? Lists{list_of_i, list_of_j} : Lists{list_of_j, list_of_i}; };
  evidence.node = Blame(scene, sequences, i, j, view, parting);
  bool first_has_it = static_cast<bool>(first);
  if (!evidence.node || parting.same_operation) {
    // Nothing decides it but the operations themselves: root, reduce operation, group.
    evidence.kind = DifferenceKind::Mismatch;
    evidence.detail = HowTheyDiffer(sequences, parting);
    evidence.is_out_of_reach = parting.same_operation && !(ComesThere(scene, i, first) && ComesThere(scene, j, second));
    evidence.culprit = first ? first : second;
    evidence.victim = first && second ? second : TraceId::None();
    evidence.reached = RankSet::Of(i);
    evidence.not_reached = RankSet::Of(j);
  } else if (traces_[evidence.node].kind == TraceKind::Loop) {
    evidence.kind = DifferenceKind::TripCount;
    evidence.culprit = first ? first : second;
    // Of two lists of unknown length on two ranks nothing says that they differ.
    const bool may_be_alike = IsOneOfUnknowns(state_.values, traces_[evidence.node].value) || IsMadeUpElsewhere(evidence.node, evidence.culprit);
    if (may_be_alike) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  } else {
    first_has_it = ClassifyPair(scene, i, j, first, second, &evidence);
    const uint32_t has = first_has_it ? i : j;
    const uint32_t lacks = first_has_it ? j : i;
    if (evidence.kind == DifferenceKind::Guard) SetTwin(scene, lacks, Paired(sequences, lists(first_has_it), evidence.culprit), &evidence);
    const bool meet = evidence.kind == DifferenceKind::Mismatch && !evidence.twin && first && second;
    if (meet) evidence.detail = HowTheyDiffer(sequences, parting);
    evidence.admits_all = AdmitsAll(scene.world(), evidence.node);
    evidence.is_out_of_reach = evidence.is_out_of_reach || !ComesThere(scene, has, evidence.culprit);
    if (IsOneOfSettings(state_.values, state_.knowledge, traces_[evidence.node].value)) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  }
  if (!evidence.culprit) return std::nullopt;
  if (!evidence.is_roundabout) SetRanks(scene, sequences, lists(first_has_it), view, parting, &evidence);
  // What one side issues under a condition that nobody knows may be just what the other side issues.
  const auto is_open = [&](SeqId id) { return sequences[id].kind == ItemKind::Choice; };
  const bool both_issue = evidence.kind == DifferenceKind::Mismatch && first && second;
  const bool one_is_open = is_open(parting.first) != is_open(parting.second);
  // Nor that condition, where it precedes what separates the ranks: on one side it was settled by what comes later.
  const SeqId open = is_open(parting.first) ? parting.first : parting.second;
  const bool is_common = one_is_open && !Contains(traces_, evidence.node, sequences[open].origin);
  const bool is_same = is_common && first && second && sequences[sequences.FirstOp(parting.first)].token ==
                                                           sequences[sequences.FirstOp(parting.second)].token;
  // Nor is it known which group they work on where no condition parts them.
  const bool has_no_cause = !evidence.node && !parting.same_operation;
  // Unless the other side reaches the same condition as well: there it decides alike.
  const SeqId closed = open == parting.first ? parting.second : parting.first;
  const bool may_be_same = one_is_open && both_issue && !sequences.Holds(closed, sequences[open].origin);
  const bool may_both_be_same = both_issue && BothOpen(scene, sequences, i, j, parting);
  if (evidence.detail == Detail::Root && HasOtherHalf(evidence)) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  if (has_no_cause) evidence.assumptions.Add(findings::Assumption::GroupUnknown);
  if (MayMeetInLoop(scene, sequences, lists(first_has_it), evidence)) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  // Whether that side leaves is decided by what no world decides.
  if (parting.in_next_round) evidence.assumptions.Add(findings::Assumption::SettingUnknown);
  if (is_same || may_be_same || may_both_be_same) evidence.assumptions.Add(findings::Assumption::OtherSideUnknown);
  return evidence;
}

// `while True: if receive() == "stop": return` on one side, and `send("work")`, `send("stop")` on the other: the loop goes on for as long as
// it is told to, and its operations pair with those of the other side one by one.
bool FunctionCheck::MayMeetInLoop(const Scene& scene, const SequenceStore& sequences, const Lists& lists, const Evidence& evidence) const {
  constexpr size_t kMostOperations = 200;
  std::vector<SeqId> operations;
  sequences.Flatten(lists.without, kMostOperations, &operations);
  const bool goes_on = IsInOpenLoop(scene.world(), evidence.culprit, evidence.node);
  return std::ranges::any_of(operations, [&](SeqId id) {
    const TraceId other = sequences[id].origin;
    return AlikeOps(other, evidence.culprit) && !sequences.Holds(lists.with, other) && (goes_on || IsInOpenLoop(scene.world(), other, evidence.node));
  });
}

// Of a loop that is not around `node` as well, and in which something that nobody knows decides whether it goes on.
bool FunctionCheck::IsInOpenLoop(const World& world, TraceId operation, TraceId node) const {
  const Assignment nothing;
  Evaluator evaluator(state_.values, state_.knowledge, world, nothing);
  const auto leaves_openly = [&](TraceId id) {
    const Trace& choice = traces_[id];
    if (choice.kind != TraceKind::Choice || (choice.flags & (kLeavesReturn | kLeavesBreak)) == 0) return false;
    return !choice.value || evaluator.Evaluate(choice.value, 0).kind == OutcomeKind::Unknown;
  };
  return std::ranges::any_of(PathTo(traces_, root_, operation), [&](TraceId id) {
    return traces_[id].kind == TraceKind::Loop && !(node && Contains(traces_, id, node)) && AnyNode(traces_, id, leaves_openly);
  });
}

// `if owner: broadcast(x, own_rank) else: broadcast(x, rank_of_owner)`: whoever decides by something unknown to name its own rank
// may be the rank that the others name.
bool FunctionCheck::HasOtherHalf(const Evidence& evidence) const {
  if (evidence.node || state_.values.axes(traces_.operation(evidence.culprit).root).empty()) return false;
  const auto issues_it = [&](auto&& self, TraceId id) -> bool {
    if (traces_[id].kind == TraceKind::Op) return traces_.entry(id).operation.kind == traces_.entry(evidence.culprit).operation.kind;
    return (traces_[id].flags & kHasOp) != 0 && std::ranges::any_of(traces_.Kids(id), [&](TraceId kid) { return self(self, kid); });
  };
  return std::ranges::any_of(PathTo(traces_, root_, evidence.culprit), [&](TraceId id) {
    return traces_[id].kind == TraceKind::Choice && std::ranges::any_of(traces_.Kids(id), [&](TraceId arm) {
      return !Contains(traces_, arm, evidence.culprit) && issues_it(issues_it, arm);
    });
  });
}

// Each side comes to the same operation in a way of its own, by a condition or a number of rounds that nobody knows and the
// other side does not ask for: `for part in mine: gather()` here, `for part in theirs: gather()` there.
bool FunctionCheck::BothOpen(Scene& scene, const SequenceStore& sequences, uint32_t i, uint32_t j, const Parting& parting) const {
  const auto is_open = [&](SeqId id, uint32_t rank) {
    const Item& item = sequences[id];
    return item.kind == ItemKind::Choice || (item.kind == ItemKind::Loop && !scene.Trips(traces_[item.origin], rank));
  };
  const TraceId first = sequences[parting.first].origin;
  const TraceId second = sequences[parting.second].origin;
  if (!is_open(parting.first, i) || !is_open(parting.second, j) || first == second) return false;
  const auto token = [&](SeqId id) { return sequences[sequences.FirstOp(id)].token; };
  return token(parting.first) == token(parting.second) && !sequences.Holds(parting.first, second) &&
         !sequences.Holds(parting.second, first);
}

// Which ranks go along with the one that issues the culprit and which with the one that lacks it: as the lists have it,
// whatever the condition to blame says by itself. (Of `if rank == 0: f() elif rank == 1: f()` both reach `f`.)
void FunctionCheck::SetRanks(Scene& scene, SequenceStore& sequences, const Lists& lists, const View& view, const Parting& parting,
                             Evidence* evidence) {
  const auto goes_along = [&](SeqId list, SeqId other) {
    const std::optional<Parting> own = FirstDifference(sequences, list, other);
    return !own || own->position > parting.position;
  };
  const auto is_member = [&](uint32_t rank) {
    for (GroupIndex g = 0; g < scene.evaluator().group_count(); ++g) {
      if ((view.groups >> g & 1u) != 0 && scene.evaluator().group(g).members[rank].empty()) return false;
    }
    return true;
  };
  for (uint32_t rank = 0; rank < scene.world().size(); ++rank) {
    if (!is_member(rank)) continue;
    const SeqId own = ProjectFor(scene, sequences, rank, view);
    const bool reaches = goes_along(own, lists.with);
    if (!reaches && !goes_along(own, lists.without)) continue;
    RankSet& to = reaches ? evidence->reached : evidence->not_reached;
    RankSet& from = reaches ? evidence->not_reached : evidence->reached;
    to = to | RankSet::Of(rank);
    from = from.Without(RankSet::Of(rank));
  }
}

// Whether some value of the unknowns in the condition sends every rank the same way in.
bool FunctionCheck::AdmitsAll(const World& world, TraceId node) const {
  const ValueId value = traces_[node].value;
  if (state_.values[value].kind != variation::ValueKind::Or) return false;
  const Assignment nothing;
  Evaluator evaluator(state_.values, state_.knowledge, world, nothing);
  std::vector<ValueId> parts;
  evaluator.UnknownParts(value, &parts);
  return !parts.empty();
}

Detail FunctionCheck::HowTheyDiffer(const SequenceStore& sequences, const Parting& parting) const {
  if (parting.same_operation) {
    const Item& a = sequences[parting.first];
    const Item& b = sequences[parting.second];
    if (a.root && b.root && *a.root != *b.root) return Detail::Root;
    if (a.reduce_op && b.reduce_op && a.reduce_op != b.reduce_op) return Detail::ReduceOperation;
    return a.dtype && b.dtype && a.dtype != b.dtype ? Detail::Dtype : Detail::ElementCount;
  }
  const SeqId first = sequences.FirstOp(parting.first);
  const SeqId second = sequences.FirstOp(parting.second);
  const auto follows = [&](SeqId list, SeqId op) {
    constexpr size_t kFarAhead = 16;
    std::vector<SeqId> ops;
    sequences.Flatten(list, kFarAhead, &ops);
    return std::ranges::any_of(ops, [&](SeqId other) { return sequences[other].token == sequences[op].token; });
  };
  if (first != kNothing && second != kNothing && follows(parting.first, second) && follows(parting.second, first)) {
    return Detail::Order;
  }
  return DetailOf(OpOf(sequences, parting.first), OpOf(sequences, parting.second));
}

// Returns whether rank i, not j, issues the culprit.
bool FunctionCheck::ClassifyPair(Scene& scene, uint32_t i, uint32_t j, TraceId first, TraceId second,
                                 Evidence* evidence) const {
  const Decision decision = scene.Decide(traces_[evidence->node].value);
  const TraceId arm_i = traces_.Kids(evidence->node)[decision.truth.has(i) ? 0 : 1];
  const TraceId arm_j = traces_.Kids(evidence->node)[decision.truth.has(j) ? 0 : 1];
  const bool first_inside = first && Contains(traces_, arm_i, first);
  const bool second_inside = second && Contains(traces_, arm_j, second);
  bool i_has_it = true;
  evidence->kind = DifferenceKind::Guard;
  if (first_inside && second_inside) {
    evidence->kind = DifferenceKind::Mismatch;
    evidence->detail = DetailOf(first, second);
  } else if (first_inside || second_inside) {
    i_has_it = first_inside;
  } else if (const TraceId exit = LeavingArm(evidence->node, arm_i, arm_j, first, second, &i_has_it)) {
    evidence->kind = DifferenceKind::EarlyExit;
    evidence->exit = exit;
  } else if (first == second && !FirstOpIn(arm_i) && !FirstOpIn(arm_j) && ((traces_[arm_i].flags | traces_[arm_j].flags) & kLeavesRaise) != 0) {
    // Both come to it, unless one of them raises by something of its own: who is which rank keeps neither away.
    evidence->culprit = first;
    evidence->is_out_of_reach = true;
    return true;
  } else if (!FirstOpIn(arm_i) && !FirstOpIn(arm_j) && StandsBeside(first ? first : second, evidence->node)) {
    // One side raises, and what handles that in the same function issues something.
    i_has_it = static_cast<bool>(first);
  } else {
    // The lists part only after what this choice brought in: the operation in its arm is one too many.
    i_has_it = FirstOpIn(arm_i).has_value();
    const std::optional<TraceId> op = FirstOpIn(i_has_it ? arm_i : arm_j);
    evidence->is_roundabout = true;
    if (op) (i_has_it ? first : second) = *op;
  }
  evidence->culprit = i_has_it ? first : second;
  // Behind an exit that a setting guards, both come to the same operation.
  evidence->victim = first == second ? TraceId::None() : i_has_it ? second : first;
  const bool has_truth = decision.truth.has(i_has_it ? i : j);
  evidence->reached = has_truth ? decision.truth : Complement(scene, decision.truth);
  evidence->not_reached = Complement(scene, evidence->reached);
  return i_has_it;
}

bool FunctionCheck::StandsBeside(TraceId op, TraceId node) const {
  return traces_.site(traces_[op].site).function == traces_.site(traces_[node].site).function;
}

// What a rank issues that meets an operation of another place on the rank that has `operation`, and not that one: each is the
// other's half of a pair.
std::unordered_set<uint32_t> FunctionCheck::Paired(const SequenceStore& sequences, const Lists& lists, TraceId operation) {
  constexpr size_t kMost = 512;
  std::vector<SeqId> having, lacking;
  sequences.Flatten(lists.with, kMost, &having);
  sequences.Flatten(lists.without, kMost, &lacking);
  std::unordered_set<uint32_t> paired;
  for (size_t k = 0; k < std::min(having.size(), lacking.size()); ++k) {
    const TraceId one = sequences[having[k]].origin;
    const TraceId other = sequences[lacking[k]].origin;
    if (one == operation) break;
    if (one != other) paired.insert(other.index);
  }
  return paired;
}

// The rank that lacks the operation issues its like under another rank condition, and that is no half of another pair: these
// were meant as one.
void FunctionCheck::SetTwin(Scene& scene, uint32_t lacking, const std::unordered_set<uint32_t>& paired, Evidence* evidence) const {
  if (!evidence->culprit) return;
  const std::unordered_set<uint32_t> reached = NodesReached(state_, scene, root_, lacking);
  for (const TraceId node : nodes_.choices) {
    const Trace& trace = traces_[node];
    if (node == evidence->node || trace.kind != TraceKind::Choice || settled_.contains(node.index)) continue;
    const Decision decision = scene.Decide(trace.value);
    if (!decision.differs(scene.world().size())) continue;
    const TraceId arm = traces_.Kids(node)[decision.truth.has(lacking) ? 0 : 1];
    const std::optional<TraceId> twin = FirstOpIn(arm);
    if (!twin || !AlikeOps(*twin, evidence->culprit) || Contains(traces_, evidence->node, *twin)) continue;
    if (!reached.contains(twin->index) || paired.contains(twin->index)) continue;
    evidence->kind = DifferenceKind::Mismatch;
    evidence->detail = Detail::Count;
    evidence->twin = node;
    if (!evidence->victim) evidence->victim = *twin;
    return;
  }
}

bool FunctionCheck::AlikeOps(TraceId a, TraceId b) const {
  return traces_.entry(a).operation.kind == traces_.entry(b).operation.kind &&
         traces_.operation(a).group == traces_.operation(b).group;
}

}  // namespace allranks::traces
