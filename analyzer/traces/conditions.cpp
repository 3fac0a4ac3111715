#include "analyzer/traces/conditions.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "analyzer/traces/evaluate.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::traces {
namespace {

using knowledge::Axes;
using knowledge::Axis;
using variation::GroupKind;
using variation::Value;
using variation::ValueKind;

// Whether a rank has one group in mind: not now the whole job and now a part of it, as objects of one class may. Groups
// that were all made for ranks of their own are what each rank calls its group.
bool IsOneGroup(const variation::ValueStore& values, ValueId group) {
  // A communicator that somebody made by hand may have been made by those alone that use it.
  if (group && values[group].kind == ValueKind::Object) return false;
  if (!group || values[group].kind != ValueKind::Select || variation::IsOfAllRanks(values, group)) return true;
  std::vector<ValueId> arms = {group};
  while (!arms.empty()) {
    const ValueId arm = arms.back();
    const Value& value = values[arm];
    arms.pop_back();
    const bool is_made = value.is_group(GroupKind::Created);
    if (value.kind == ValueKind::Select) {
      arms.push_back(values.ArmsOf(arm).then_value);
      arms.push_back(values.ArmsOf(arm).else_value);
    } else if (!is_made && value.kind != ValueKind::None) {
      return false;
    }
  }
  return true;
}

// `group`, where it is one or None.
ValueId GroupItself(const variation::ValueStore& values, ValueId group) {
  while (group && values[group].kind == ValueKind::Select) {
    const auto kids = values.Kids(group);
    const bool else_is_none = values[kids[2]].kind == ValueKind::None;
    if (!else_is_none && values[kids[1]].kind != ValueKind::None) break;
    group = kids[else_is_none ? 1 : 2];
  }
  return group;
}

// The caller's place in `group`, or how many ranks are in it.
bool IsPlaceOrSizeIn(const variation::ValueStore& values, ValueId value, ValueId group) {
  using knowledge::Coordinate;
  const bool is_of_a_group = variation::IsCoordinate(values[value], Coordinate::GroupRank) || variation::IsCoordinate(values[value], Coordinate::GroupSize);
  const auto kids = values.Kids(value);
  return is_of_a_group && !kids.empty() && GroupItself(values, kids[0]) == GroupItself(values, group);
}

// Whether `holds` of a value and of everything it is made of; each is asked once, however often it occurs.
template <class Holds>
bool EveryPart(const variation::ValueStore& values, ValueId whole, Holds holds) {
  std::unordered_set<uint32_t> seen = {whole.index};
  std::vector<ValueId> work = {whole};
  while (!work.empty()) {
    const ValueId part = work.back();
    work.pop_back();
    if (!holds(part)) return false;
    for (const ValueId kid : values.Kids(part)) {
      if (kid && seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return true;
}

// Whether nothing is known of what a value is, whichever object it is of.
bool IsOpen(const variation::ValueStore& values, ValueId id, int depth) {
  constexpr int kDeepest = 12;
  if (depth > kDeepest) return false;
  const auto kids = values.Kids(id);
  switch (values[id].kind) {
    case ValueKind::Select:
      return IsOpen(values, kids[1], depth + 1) && IsOpen(values, kids[2], depth + 1);
    case ValueKind::Compare:
    case ValueKind::Unary:
      return IsOpen(values, kids[0], depth + 1);
    default:
      return IsUniformUnknown(values, id) && values.axes(id).empty();
  }
}

// Whether there are so many because of what they hold, as in `labels[labels > 0]`. What came with that mark, as a batch
// does, or is a part of it, selects nothing.
bool IsSelection(const variation::ValueStore& values, ValueId id) {
  const auto is_marked = [&](ValueId part) { return part && values.HasShapeMark(part); };
  return values[id].kind == ValueKind::Derived && is_marked(id) && std::ranges::none_of(values.Kids(id), is_marked);
}

// What a model makes of its input.
bool IsOutput(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId id) {
  const Value& value = values[id];
  if (value.kind != ValueKind::Derived) return false;
  const base::NameId name = values.OperationOf(value);
  const knowledge::EntryId entry = name ? knowledge.FindEntry(name) : knowledge::EntryId::None();
  if (entry) return knowledge[entry].Has(knowledge::Role::ReadsContents) && knowledge[entry].has_operation;
  const auto kids = values.Kids(id);
  return !name && !kids.empty() && kids[0] &&
         (values[kids[0]].kind == ValueKind::Instance || values[kids[0]].kind == ValueKind::Object);
}

// Whether a value, whatever it is made of, is told by what a rank's data holds.
bool IsOfContents(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId id) {
  const Value& value = values[id];
  if (value.kind != ValueKind::Derived) return false;
  const base::NameId name = values.OperationOf(value);
  const knowledge::EntryId entry = name ? knowledge.FindEntry(name) : knowledge::EntryId::None();
  return entry && knowledge[entry].Has(knowledge::Role::ReadsContents) && !knowledge[entry].has_operation;
}

// `output["loss"] != 0`: a loss is exactly that number where a setting leaves it out, and by chance it is not.
bool AsksForOneNumber(const variation::ValueStore& values, ValueId id) {
  if (!values[id].is_equality()) return false;
  const ValueKind number = values[values.OperandsOf(id).right].kind;
  return number == ValueKind::Int || number == ValueKind::Float;
}

// The parts of a condition that vary with the data: what is asked for its length alone, and what is asked for what it holds.
class ContentSearch {
 public:
  ContentSearch(const variation::ValueStore& values, const knowledge::Knowledge& knowledge)
      : values_(values), knowledge_(knowledge) {}

  // What a value is asked for.
  enum Question : uint8_t { kContents, kOneNumber, kLength };

  bool Finds(ValueId id, Question question) {
    if (!id || !values_.axes(id).has(Axis::Data)) return false;
    if (!seen_[question].insert(id.index).second) return false;
    if (IsSelection(values_, id) || (question != kLength && IsOfContents(values_, knowledge_, id))) return true;
    if (question == kContents && IsOutput(values_, knowledge_, id)) return true;
    const Value& value = values_[id];
    const bool is_counted = (value.flags & variation::kCounted) != 0;
    const bool is_length = value.kind == ValueKind::Derived && values_.IsLength(value.symbol()) && !is_counted;
    const Question asked = is_length ? kLength : question == kContents && AsksForOneNumber(values_, id) ? kOneNumber : question;
    return std::ranges::any_of(values_.Kids(id), [&](ValueId kid) { return Finds(kid, asked); });
  }

 private:
  const variation::ValueStore& values_;
  const knowledge::Knowledge& knowledge_;
  std::array<std::unordered_set<uint32_t>, 3> seen_;  // by question
};

// `if not results`: whether a list that was filled in a loop is empty is a matter of how often, and not of what it holds.
ValueId AskedOf(const variation::ValueStore& values, ValueId condition) {
  const Value& value = values[condition];
  const auto kids = values.Kids(condition);
  if (value.is_not()) return AskedOf(values, kids[0]);
  const bool is_filled = value.kind == ValueKind::Derived && values.IsStructural(value.symbol()) && kids.size() > 1 &&
                         (values[kids.back()].flags & variation::kCounted) != 0;
  return is_filled ? kids.back() : condition;
}

// Whether `whole` was made with what `bound` rests on besides the rank: `x.chunk(rounds * ranks)` of `rank::ranks`. Then somebody
// saw to it that all get as many.
bool IsMadeOfSettingOf(const variation::ValueStore& values, ValueId whole, ValueId bound, int depth = 0) {
  constexpr int kDeepest = 6;
  if (!bound || depth > kDeepest || IsConstant(values[bound])) return false;
  if (values.axes(bound).empty()) return values[bound].kind != ValueKind::None && IsMadeOf(values, whole, bound);
  return std::ranges::any_of(values.Kids(bound), [&](ValueId kid) { return IsMadeOfSettingOf(values, whole, kid, depth + 1); });
}

}  // namespace

bool IsMadeOf(const variation::ValueStore& values, ValueId whole, ValueId part, int depth) {
  constexpr int kDeepest = 8;
  if (whole == part) return true;
  if (depth == kDeepest) return false;
  return std::ranges::any_of(values.Kids(whole),
                             [&](ValueId kid) { return kid && IsMadeOf(values, kid, part, depth + 1); });
}

bool AsksForClass(const variation::ValueStore& values, ValueId condition) {
  if (!condition) return false;
  const Value& value = values[condition];
  if (value.kind == ValueKind::Unary) return AsksForClass(values, values.OperandOf(condition));
  return value.kind == ValueKind::Derived && values.IsUniformOperation(value.symbol());
}

bool IsOfSomeObject(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 8;
  if (!condition || depth == kDeepest) return false;
  if ((values[condition].flags & variation::kOfSomeObject) != 0) return true;
  return std::ranges::any_of(values.Kids(condition), [&](ValueId kid) { return IsOfSomeObject(values, kid, depth + 1); });
}

bool HangsOnObject(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 8;
  if (!condition || depth == kDeepest) return false;
  const auto kids = values.Kids(condition);
  if (kids.empty()) return (values[condition].flags & variation::kOfSomeObject) != 0;
  const bool chooses = values[condition].kind == ValueKind::Select && IsOfSomeObject(values, kids[0], depth + 1);
  // Of arms of which nothing is known the choice says as little as one unknown would: then it is a setting like any.
  if (chooses) return !IsOpen(values, condition, depth);
  return std::ranges::any_of(kids, [&](ValueId kid) { return HangsOnObject(values, kid, depth + 1); });
}

bool HangsOnOneOfStores(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 8;
  if (!condition || depth == kDeepest) return false;
  const auto kids = values.Kids(condition);
  // A test that differs between ranks tells them apart itself, whatever else it holds.
  const bool chooses = values[condition].kind == ValueKind::Select && values.axes(kids[0]).empty() && IsOfSomeObject(values, kids[0]);
  const auto grows = [&](ValueId arm, ValueId other) {
    return (values[arm].flags & variation::kCounted) != 0 || IsMadeOf(values, arm, other);
  };
  // What a signal stores it stores sooner or later in any of them.
  const auto is_of_signal = [&](ValueId arm) { return values.axes(arm) == knowledge::Axes::Of(Axis::Signals); };
  const bool is_one_of_stores = chooses && !is_of_signal(kids[1]) && !is_of_signal(kids[2]);
  if (is_one_of_stores && !grows(kids[1], kids[2]) && !grows(kids[2], kids[1])) return true;
  // What is the same on all ranks does not tell them apart, whichever it is.
  return std::ranges::any_of(kids, [&](ValueId kid) { return kid && !values.axes(kid).empty() && HangsOnOneOfStores(values, kid, depth + 1); });
}

bool IsMadeOfRanks(const variation::ValueStore& values, ValueId id, int depth) {
  constexpr int kDeepest = 12;
  if (!id || values.axes(id).empty()) return true;
  if (depth > kDeepest) return false;
  const Value& value = values[id];
  const bool is_opaque = value.kind == ValueKind::Param ||
                         (value.kind == ValueKind::Unknown && (value.flags & variation::kOfArguments) == 0) ||
                         (value.kind == ValueKind::Derived && !values.IsStructural(value.symbol()));
  if (is_opaque) return false;
  const auto kids = values.Kids(id);
  // Two things of which nothing is known may be alike, whichever of them a rank has.
  const bool parts = value.kind == ValueKind::Select && !values.axes(kids[0]).empty();
  if (parts && IsUniformUnknown(values, kids[1]) && IsUniformUnknown(values, kids[2])) return false;
  return std::ranges::all_of(kids, [&](ValueId kid) {
           return IsMadeOfRanks(values, kid, depth + 1);
         });
}

bool IsOneOfUnknowns(const variation::ValueStore& values, ValueId number) {
  constexpr int kDeepest = 4;
  for (int depth = 0; number && depth < kDeepest; ++depth) {
    const auto kids = values.Kids(number);
    if (values[number].kind == ValueKind::Select) {
      return !values.axes(kids[0]).empty() && IsUniformUnknown(values, kids[1]) && IsUniformUnknown(values, kids[2]);
    }
    if (values[number].kind != ValueKind::Derived || kids.empty()) return false;
    number = kids[0];
  }
  return false;
}

namespace {

// What a library holds and the knowledge base does not know, or a test of it.
bool IsSettingOfLibrary(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId value, int depth = 0) {
  constexpr int kDeepest = 4;
  if (!value || depth > kDeepest || !values.axes(value).empty()) return false;
  const ValueKind kind = values[value].kind;
  if (kind == ValueKind::External) return !knowledge.FindEntry(values[value].name()) && !knowledge.FindClass(values[value].name());
  const bool is_computed = kind == ValueKind::Compare || kind == ValueKind::Unary || kind == ValueKind::And || kind == ValueKind::Or || kind == ValueKind::Derived;
  return is_computed && std::ranges::any_of(values.Kids(value), [&](ValueId kid) { return IsSettingOfLibrary(values, knowledge, kid, depth + 1); });
}

}  // namespace

bool IsOneOfSettings(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId value) {
  constexpr int kDeepest = 6;
  for (int depth = 0; value && depth < kDeepest; ++depth) {
    const ValueKind kind = values[value].kind;
    const auto kids = values.Kids(value);
    if (kind == ValueKind::Select && !values.axes(kids[0]).empty()) {
      return IsSettingOfLibrary(values, knowledge, kids[1]) || IsSettingOfLibrary(values, knowledge, kids[2]);
    }
    if (kind != ValueKind::Select && kind != ValueKind::Derived && kind != ValueKind::Compare && kind != ValueKind::Unary) return false;
    const auto varies = [&](ValueId kid) { return kid && !values.axes(kid).empty(); };
    if (std::ranges::count_if(kids, varies) != 1) return false;
    value = *std::ranges::find_if(kids, varies);
  }
  return false;
}

bool IsShareOfEqualParts(const variation::ValueStore& values, ValueId number) {
  constexpr int kDeepest = 6;
  bool is_share = false;
  for (int depth = 0; number && depth < kDeepest; ++depth) {
    const auto kids = values.Kids(number);
    if (values[number].kind != ValueKind::Derived || kids.empty()) return false;
    // What a part is taken of is the same on every rank: is it told how many ranks there are?
    if (is_share) return std::ranges::any_of(kids.subspan(1), [&](ValueId argument) { return AsksForSize(values, argument); });
    is_share = !values.axes(number).empty() && values.axes(kids[0]).empty();
    number = kids[0];
  }
  return false;
}

bool IsPartTakenByRank(const variation::ValueStore& values, ValueId number) {
  constexpr int kDeepest = 8;
  for (int depth = 0; number && depth < kDeepest; ++depth) {
    const auto kids = values.Kids(number);
    if (values[number].kind != ValueKind::Derived || kids.empty() || !values.IsStructural(values[number].symbol())) return false;
    if (!kids[0]) return false;
    if (values.axes(kids[0]).empty()) {
      const auto is_of_rank = [&](ValueId bound) { return IsMadeOfRanks(values, bound); };
      const auto is_cut_by = [&](ValueId bound) { return IsMadeOfSettingOf(values, kids[0], bound); };
      const auto bounds = kids.subspan(1);
      return !values.axes(number).empty() && std::ranges::all_of(bounds, is_of_rank) && std::ranges::none_of(bounds, is_cut_by);
    }
    number = kids[0];
  }
  return false;
}

bool IsPredicate(const variation::ValueStore& values, ValueId condition) {
  return condition && EveryPart(values, condition, [&](ValueId part) {
    const Value& value = values[part];
    const bool is_atom = value.kind == ValueKind::Coordinate || value.kind == ValueKind::Group || variation::IsConstant(value) ||
                         values.IsOfCommand(part);
    const bool joins = value.kind == ValueKind::Unary || value.kind == ValueKind::Binary || value.kind == ValueKind::And ||
                       value.kind == ValueKind::Or || value.kind == ValueKind::Compare || value.kind == ValueKind::Tuple;
    return is_atom || joins;
  });
}

bool HangsOnSettings(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 12;
  if (!condition || depth > kDeepest) return false;
  const Value& value = values[condition];
  const bool joins = value.kind == ValueKind::And || value.kind == ValueKind::Or || value.kind == ValueKind::Select ||
                     value.kind == ValueKind::Unary;
  if (!joins) return value.axes.empty() && !variation::IsConstant(value);
  return std::ranges::any_of(values.Kids(condition),
                             [&](ValueId kid) { return HangsOnSettings(values, kid, depth + 1); });
}

bool AsksForJob(const variation::ValueStore& values, ValueId condition) {
  return variation::IsCoordinate(values[condition], knowledge::Coordinate::Distributed) && values[condition].variable().index == 0;
}

bool HangsOnJob(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 12;
  if (!condition || depth > kDeepest) return false;
  const Value& value = values[condition];
  const bool joins = value.kind == ValueKind::And || value.kind == ValueKind::Or || value.kind == ValueKind::Select || value.is_not();
  if (!joins) return AsksForJob(values, condition);
  return std::ranges::any_of(values.Kids(condition), [&](ValueId kid) { return HangsOnJob(values, kid, depth + 1); });
}

bool IsPickedInHashOrder(const variation::ValueStore& values, ValueId tensor, bool anywhere, int depth) {
  constexpr int kDeepest = 12;
  const auto is_ordered = [&](ValueId value) { return value && values.axes(value).has(Axis::HashOrder); };
  if (depth > kDeepest || !is_ordered(tensor)) return false;
  const auto kids = values.Kids(tensor);
  if (values[tensor].kind == ValueKind::Select && is_ordered(kids[0])) return true;
  const bool is_made = values[tensor].kind == ValueKind::Derived && !kids.empty();
  if (is_made && !is_ordered(kids[0])) return std::ranges::any_of(kids.subspan(1), is_ordered);
  const auto inner = anywhere ? kids : is_made ? kids.first(1) : std::span<const ValueId>();
  return std::ranges::any_of(inner, [&](ValueId kid) { return IsPickedInHashOrder(values, kid, anywhere, depth + 1); });
}

bool IsReceived(const variation::ValueStore& values, ValueId condition, int depth) {
  constexpr int kDeepest = 12;
  if (!condition || depth > kDeepest) return false;
  if ((values[condition].flags & variation::kReduced) != 0) return true;
  return std::ranges::any_of(values.Kids(condition), [&](ValueId kid) { return IsReceived(values, kid, depth + 1); });
}

bool ReadsContents(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId condition) {
  if (condition) condition = AskedOf(values, condition);
  return condition && ContentSearch(values, knowledge).Finds(condition, ContentSearch::kContents);
}

bool VariesByPresence(const variation::ValueStore& values, ValueId id, int depth) {
  constexpr int kDeepest = 12;
  if (!id || values.axes(id).empty()) return true;
  const Value& value = values[id];
  const auto kids = values.Kids(id);
  if (depth > kDeepest) return false;
  switch (value.kind) {
    case ValueKind::Compare: {
      if (!Without(value.axes, knowledge::kSoftAxes).empty()) return false;
      // Where a condition put None, it is that condition that counts.
      if (values[kids[1]].kind == ValueKind::None) {
        const bool is_choice = values[kids[0]].kind == ValueKind::Select;
        return !is_choice || VariesByPresence(values, values.ArmsOf(kids[0]).condition, depth + 1);
      }
      const auto op = value.compare_op();
      const bool is_key = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
      return is_key && (value.axes & knowledge::kSurroundings).empty();
    }
    case ValueKind::Unary:
    case ValueKind::And:
    case ValueKind::Or:
    case ValueKind::Select:
      return std::ranges::all_of(kids, [&](ValueId kid) { return VariesByPresence(values, kid, depth + 1); });
    default:
      return false;
  }
}

namespace {

// `batch`, `batch["image"]`, `batch.get("image")` and `batch.image`, and parts of such; `taken`: how often a part is to be taken at least.
bool IsPartOfBatch(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId id, int taken) {
  constexpr int kDeepest = 6;
  for (int depth = 0; id && depth < kDeepest; ++depth) {
    const Value& value = values[id];
    const auto kids = values.Kids(id);
    if (value.axes != Axes::Of(Axis::Data)) return false;
    // What a loader hands out is nothing but that: each rank's own.
    if (value.kind == ValueKind::Unknown) return depth >= taken && kids.empty() && (value.flags & variation::kReduced) == 0;
    const base::NameId name = values.DerivedBy(value);
    const std::string_view operation = name ? knowledge.names().View(name) : std::string_view();
    if (operation == "element") return depth >= taken;
    const bool takes_part = operation == "[]" || operation == "get" || value.is_derived(variation::DerivedKind::Member);
    if (!takes_part || kids.empty()) return false;
    id = kids[0];
  }
  return false;
}

}  // namespace

bool AsksForPartOfBatch(const variation::ValueStore& values, const knowledge::Knowledge& knowledge, ValueId condition, int depth) {
  constexpr int kDeepest = 4;
  if (!condition || depth > kDeepest || !values.axes(condition).empty()) return false;
  const Value& value = values[condition];
  const auto kids = values.Kids(condition);
  switch (value.kind) {
    case ValueKind::Compare: {
      const auto op = value.compare_op();
      if (value.is_membership()) return values[kids[0]].kind == ValueKind::Str && IsPartOfBatch(values, knowledge, kids[1], 0);
      const bool is_identity = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot;
      return is_identity && values[kids[1]].kind == ValueKind::None && IsPartOfBatch(values, knowledge, kids[0], 1);
    }
    case ValueKind::Unary:
    case ValueKind::And:
    case ValueKind::Or:
    case ValueKind::Select:
      return std::ranges::any_of(kids, [&](ValueId kid) { return AsksForPartOfBatch(values, knowledge, kid, depth + 1); });
    default:
      return false;
  }
}

bool IsPresenceTest(const variation::ValueStore& values, ValueId condition) {
  const Value& value = values[condition];
  if (value.is_not()) {
    return IsPresenceTest(values, values.OperandOf(condition));
  }
  if (value.kind != ValueKind::Compare) return false;
  return value.is_membership() || values[values.OperandsOf(condition).right].kind == ValueKind::None;
}

bool AsksForMembership(const variation::ValueStore& values, ValueId id, ValueId group, const std::function<bool(ValueId)>& is_known, int depth) {
  constexpr int kDeepest = 12;
  if (!id || depth > kDeepest || values.axes(id).empty()) return false;
  const Value& value = values[id];
  const auto kids = values.Kids(id);
  if (variation::IsCoordinate(value, knowledge::Coordinate::GroupRank)) {
    return !kids.empty() && values[kids[0]].kind != ValueKind::None && GroupItself(values, kids[0]) != GroupItself(values, group);
  }
  if (value.is_membership() && IsUniformUnknown(values, kids[1]) && !is_known(kids[1])) {
    const auto listed = values.Kids(kids[1]);
    const ValueId itself = GroupItself(values, group);
    // The list that the group was made of.
    const bool is_its_own = values[itself].kind == ValueKind::Group && values[itself].kid_count > 0 && values.Kids(itself)[0] == kids[1];
    if (is_its_own) return false;
    return listed.empty() || GroupItself(values, listed[0]) != GroupItself(values, group);
  }
  return std::ranges::any_of(kids, [&](ValueId kid) { return AsksForMembership(values, kid, group, is_known, depth + 1); });
}

std::optional<Equality> EqualityOf(const variation::ValueStore& values, ValueId condition, bool truth) {
  const Value& value = values[condition];
  if (value.kind != ValueKind::Compare) return std::nullopt;
  const auto op = value.compare_op();
  const bool is_equal = op == ir::CompareOp::Eq || op == ir::CompareOp::Is;
  const bool is_other = op == ir::CompareOp::NotEq || op == ir::CompareOp::IsNot;
  const auto kids = values.Kids(condition);
  const bool says_so = (is_equal && truth) || (is_other && !truth);
  if (!says_so || !variation::IsConstant(values[kids[1]]) || variation::IsConstant(values[kids[0]])) return std::nullopt;
  return Equality{kids[0], kids[1]};
}

bool AreUnequal(const variation::ValueStore& values, ValueId a, ValueId b) {
  const auto is_told_apart = [&](ValueId id) {
    const ValueKind kind = values[id].kind;
    return kind == ValueKind::None || kind == ValueKind::Int || kind == ValueKind::Str;
  };
  return a != b && is_told_apart(a) && is_told_apart(b);
}

bool AsksForSize(const variation::ValueStore& values, ValueId condition) {
  return !EveryPart(values, condition, [&](ValueId part) { return !variation::IsCoordinate(values[part], knowledge::Coordinate::WorldSize); });
}

bool IsAskedOfGroup(const variation::ValueStore& values, ValueId rank, ValueId group, int depth) {
  constexpr int kDeepest = 12;
  if (!rank || depth > kDeepest) return false;
  const Value& value = values[rank];
  const auto kids = values.Kids(rank);
  if (value.kind == ValueKind::Int) return depth > 0;
  const bool is_rank_of_job = variation::IsCoordinate(value, knowledge::Coordinate::Rank);
  if (value.kind == ValueKind::Coordinate) return (depth == 0 && is_rank_of_job) || IsPlaceOrSizeIn(values, rank, group);
  if (value.kind != ValueKind::Unary && value.kind != ValueKind::Binary) return false;
  return std::ranges::all_of(kids, [&](ValueId kid) { return IsAskedOfGroup(values, kid, group, depth + 1); });
}

bool AsksGroupOnly(const variation::ValueStore& values, ValueId value, ValueId group) {
  return EveryPart(values, value, [&](ValueId part) {
    const Value& known = values[part];
    return known.kind == ValueKind::Coordinate ? IsPlaceOrSizeIn(values, part, group) : !values.Kids(part).empty() || values.axes(part).empty();
  });
}

bool SinglesOutRank(const variation::ValueStore& values, ValueId condition, ValueId group) {
  if (!condition || values.axes(condition).empty()) return true;
  const Value& value = values[condition];
  const auto kids = values.Kids(condition);
  switch (value.kind) {
    case ValueKind::Unary:
      return value.unary_op() == ir::UnaryOp::Not && SinglesOutRank(values, kids[0], group);
    case ValueKind::And:
    case ValueKind::Or:
    case ValueKind::Select:
      return std::ranges::all_of(kids, [&](ValueId kid) { return SinglesOutRank(values, kid, group); });
    case ValueKind::Coordinate:
      if (variation::IsCoordinate(value, knowledge::Coordinate::GroupRank)) {
        return group && !kids.empty() && GroupItself(values, kids[0]) == GroupItself(values, group);
      }
      return variation::IsCoordinate(value, knowledge::Coordinate::Rank) && IsOneGroup(values, group);
    case ValueKind::Compare: {
      const auto op = value.compare_op();
      const bool is_equality = op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq || op == ir::CompareOp::Is ||
                               op == ir::CompareOp::IsNot;
      return is_equality && std::ranges::all_of(kids, [&](ValueId kid) { return SinglesOutRank(values, kid, group); });
    }
    default:
      return false;
  }
}

}  // namespace allranks::traces
