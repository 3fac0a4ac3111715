#include "analyzer/objects/values.h"

#include <algorithm>

#include "analyzer/base/number_set.h"
#include "analyzer/objects/declared_objects.h"

namespace allranks::objects {

using variation::Value;
using variation::ValueKind;

namespace {

constexpr int kDeepestValue = 24;
constexpr size_t kMostLeaves = 24;
constexpr size_t kMostPartsOfValue = 4000;

knowledge::ClassId KnownClass(const binding::Program& program, const knowledge::Knowledge& knowledge, std::string_view known_class) {
  const base::NameId name = program.names->Find(known_class);
  return name ? knowledge.FindClass(name) : knowledge::ClassId{};
}

}  // namespace

traces::World SmallJob(const variation::JobShape& job) { return traces::Reshaped({.nodes = 2, .per_node = 2, .mesh = {}}, job); }

std::vector<ValueId> Values::Leaves(ValueId value) const {
  std::vector<ValueId> leaves;
  AddLeaves(value, 0, leaves);
  return leaves;
}

std::vector<ValueId> Values::LeavesIn(ValueId value, const traces::World& world) const {
  std::vector<ValueId> leaves;
  AddLeaves(value, 0, leaves, &world);
  return leaves;
}

// None where ranks differ, or nothing is known.
std::optional<bool> Values::TruthOnAll(ValueId test, const traces::World& world) const {
  const std::optional<bool> first = TruthOnRank(test, world, 0);
  for (uint32_t rank = 1; rank < world.size(); ++rank) {
    if (TruthOnRank(test, world, rank) != first) return std::nullopt;
  }
  return first;
}

void Values::AddLeaves(ValueId id, int depth, std::vector<ValueId>& leaves, const traces::World* world) const {
  if (!id || depth > kDeepestValue || leaves.size() >= kMostLeaves) return;
  const Value& value = facts_.values_store[id];
  if (value.kind == ValueKind::Select) {
    const auto kids = facts_.values_store.Kids(id);
    const std::optional<bool> truth = world == nullptr ? std::nullopt : TruthOnAll(kids[0], *world);
    if (truth != false) AddLeaves(kids[1], depth + 1, leaves, world);
    if (truth != true) AddLeaves(kids[2], depth + 1, leaves, world);
    return;
  }
  if (value.kind == ValueKind::Or || value.kind == ValueKind::And) {
    for (const ValueId kid : facts_.values_store.Kids(id)) AddLeaves(kid, depth + 1, leaves, world);
    return;
  }
  if (value.is_derived(variation::DerivedKind::Field)) return AddLeaves(facts_.values_store.FieldOf(id).usual, depth + 1, leaves, world);
  if (value.kind == ValueKind::Param) {
    const ValueId assumed = facts_.param(value.function(), value.param_index());
    if (assumed && assumed != id) return AddLeaves(assumed, depth + 1, leaves, world);
  }
  if (std::ranges::find(leaves, id) == leaves.end()) leaves.push_back(id);
}

bool Values::AnyPart(ValueId value, const std::function<bool(ValueId)>& visit) const {
  base::NumberSet seen;
  std::vector<ValueId> work = {value};
  while (!work.empty() && seen.size() < kMostPartsOfValue) {
    const ValueId at = work.back();
    work.pop_back();
    if (!at || !seen.Add(at.index)) continue;
    if (visit(at)) return true;
    const Value& node = facts_.values_store[at];
    if (node.kind == ValueKind::Param) work.push_back(facts_.param(node.function(), node.param_index()));
    for (const ValueId kid : facts_.values_store.Kids(at)) work.push_back(kid);
  }
  return false;
}

bool Values::HasFlag(ValueId value, uint8_t flag) const {
  return AnyPart(value, [&](ValueId part) { return (facts_.values_store[part].flags & flag) != 0; });
}

bool Values::Mentions(ValueId value, knowledge::Coordinate coordinate) const {
  return AnyPart(value, [&](ValueId part) { return variation::IsCoordinate(facts_.values_store[part], coordinate); });
}

bool Values::Is(ValueId value, knowledge::Coordinate coordinate) const {
  const std::vector<ValueId> leaves = Leaves(value);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
    const Value& node = facts_.values_store[leaf];
    return variation::IsCoordinate(node, coordinate) && (node.flags & (variation::kOneNode | variation::kByNameOnly)) == 0;
  });
}

knowledge::ClassId Values::ClassOf(ValueId id) const {
  if (!id) return {};
  const Value& value = facts_.values_store[id];
  if (value.kind == ValueKind::Object) return knowledge_.FindClass(value.name());
  if (value.kind != ValueKind::Instance) return {};
  for (const base::NameId base : program_.classes[value.class_id()].external_bases) {
    if (const knowledge::ClassId known = knowledge_.FindClass(base)) return known;
  }
  return {};
}

bool Values::IsA(ValueId id, std::string_view known_class) const {
  if (!id) return false;
  const Value& value = facts_.values_store[id];
  if (value.kind == ValueKind::Instance) return DerivesFrom(program_, knowledge_, value.class_id(), known_class);
  const knowledge::ClassId own = ClassOf(id), base = KnownClass(program_, knowledge_, known_class);
  return own && base && knowledge_.IsSubclass(own, base);
}

bool DerivesFrom(const binding::Program& program, const knowledge::Knowledge& knowledge, binding::ClassId class_id, std::string_view known_class) {
  const knowledge::ClassId wanted = KnownClass(program, knowledge, known_class);
  return wanted && std::ranges::any_of(program.classes[class_id].external_bases, [&](base::NameId base) {
    const knowledge::ClassId known = knowledge.FindClass(base);
    return known && knowledge.IsSubclass(known, wanted);
  });
}

ValueId Values::MadeWith(ValueId object, std::string_view param) const {
  if (!object || facts_.values_store[object].kind != ValueKind::Object) return ValueId::None();
  const knowledge::ClassId class_id = ClassOf(object);
  const base::NameId init_name = program_.names->Find("__init__");
  if (!class_id || !init_name) return ValueId::None();
  const knowledge::EntryId init = knowledge_.FindMember(class_id, init_name);
  if (!init) return ValueId::None();
  const auto& params = knowledge_[init].params;
  const auto kids = facts_.values_store.Kids(object);
  for (size_t i = 0; i < params.size() && i < kids.size(); ++i) {
    if (program_.text(params[i]) == param) return kids[i];
  }
  return ValueId::None();
}

bool Values::MayBeSame(ValueId a, ValueId b, int depth) const {
  if (a == b) return true;
  if (!a || !b || depth > kDeepestValue) return false;
  const Value& left = facts_.values_store[a];
  const Value& right = facts_.values_store[b];
  if (left.kind == ValueKind::Param && right.kind == ValueKind::Param) return left.function() != right.function();
  // What is computed from a parameter comes to one number with one argument: `sampler is None` to True.
  const auto is_formula = [](const Value& value) {
    const bool is_computed = value.kind == ValueKind::Compare || value.kind == ValueKind::Unary || value.kind == ValueKind::Binary ||
                             value.kind == ValueKind::And || value.kind == ValueKind::Or;
    return is_computed && (value.flags & variation::kHasParam) != 0;
  };
  const auto is_open = [](const Value& value) {
    return value.kind == ValueKind::Param || value.kind == ValueKind::Unknown || value.kind == ValueKind::Select;
  };
  if ((is_formula(left) && variation::IsConstant(right)) || (is_formula(right) && variation::IsConstant(left))) return true;
  if (is_open(left) || is_open(right)) return true;
  if (!left.IsOfSameSort(right)) return false;
  // `sampler: DistributedSampler = None` may be each of them.
  if (IsOnlyDeclared(left) || IsOnlyDeclared(right)) return true;
  // A field that only one of two objects of a class is known by does not tell them apart.
  const bool is_by_fields = left.kind == ValueKind::Instance && !left.is_same_object() && left.kid_count + right.kid_count > 0;
  if (is_by_fields) {
    for (const variation::Item field : facts_.values_store.ItemsOf(a)) {
      for (const variation::Item other : facts_.values_store.ItemsOf(b)) {
        if (other.key == field.key && !MayBeSame(field.value, other.value, depth + 1)) return false;
      }
    }
    return true;
  }
  if (left.kid_count != right.kid_count) return false;
  const bool is_made_apart = left.kind == ValueKind::Object && left.site() != 0 && right.site() != 0 && left.site() != right.site();
  if (is_made_apart) return false;
  const auto left_kids = facts_.values_store.Kids(a);
  const auto right_kids = facts_.values_store.Kids(b);
  for (size_t i = 0; i < left_kids.size(); ++i) {
    if (!MayBeSame(left_kids[i], right_kids[i], depth + 1)) return false;
  }
  return left.kid_count > 0 || left.IsAlike(right);
}

bool Values::IsNone(ValueId value) const { return value && facts_.values_store[value].kind == ValueKind::None; }
bool Values::IsTrue(ValueId value) const { return value && value == facts_.values_store.True(); }
bool Values::IsFalse(ValueId value) const { return value && value == facts_.values_store.False(); }

std::optional<int64_t> Values::Int(ValueId id) const {
  if (!id || facts_.values_store[id].kind != ValueKind::Int) return std::nullopt;
  const Value& value = facts_.values_store[id];
  return *value.integer();
}

std::optional<int64_t> Values::CountGiven(ValueId value) const {
  const bool is_list = value && facts_.values_store[value].kind == ValueKind::Tuple;
  return is_list ? facts_.values_store[value].kid_count : Int(value);
}

std::string_view Values::Str(ValueId id) const {
  if (!id || facts_.values_store[id].kind != ValueKind::Str) return {};
  const base::NameId text = facts_.values_store[id].name();
  return text ? program_.text(text) : std::string_view();
}

std::string_view Values::External(ValueId id) const {
  if (!id || facts_.values_store[id].kind != ValueKind::External) return {};
  return program_.text(facts_.values_store[id].name());
}

std::optional<int64_t> Values::OnRank(ValueId value, const traces::World& world, uint32_t rank) const {
  traces::Assignment assignment;
  AssignKnown(value, world, rank, assignment, 0);
  traces::Evaluator evaluator(facts_.values_store, knowledge_, world, assignment);
  const traces::Outcome outcome = evaluator.Evaluate(value, rank);
  return outcome.kind == traces::OutcomeKind::Number ? std::optional(outcome.number) : std::nullopt;
}

std::optional<bool> Values::TruthOnRank(ValueId value, const traces::World& world, uint32_t rank) const {
  traces::Assignment assignment;
  AssignKnown(value, world, rank, assignment, 0);
  traces::Evaluator evaluator(facts_.values_store, knowledge_, world, assignment);
  const std::optional<bool> truth = evaluator.Truth(value, rank);
  return truth ? truth : TestOnRank(value, world, rank, 0);
}

// Tests of presence and of texts through parameters, which are no numbers.
std::optional<bool> Values::TestOnRank(ValueId id, const traces::World& world, uint32_t rank, int depth) const {
  constexpr int kDeepestTest = 6;
  if (!id || depth > kDeepestTest) return std::nullopt;
  const Value& value = facts_.values_store[id];
  const auto kids = facts_.values_store.Kids(id);
  if (value.is_not()) {
    const std::optional<bool> inner = TestOnRank(kids[0], world, rank, depth + 1);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (value.kind == ValueKind::And) {
    bool all = true;
    for (const ValueId kid : kids) {
      const std::optional<bool> inner = TestOnRank(kid, world, rank, depth + 1);
      if (inner == false) return false;
      all = all && inner.has_value();
    }
    return all ? std::optional(true) : std::nullopt;
  }
  if (value.kind == ValueKind::Param || value.kind == ValueKind::Select) {
    const std::optional<bool> is_none = IsNoneOnRank(id, world, rank);
    return is_none == true ? std::optional(false) : std::nullopt;
  }
  if (value.kind != ValueKind::Compare) return std::nullopt;
  const auto op = value.compare_op();
  const bool asks_same = op == ir::CompareOp::Is || op == ir::CompareOp::Eq;
  if (!asks_same && op != ir::CompareOp::IsNot && op != ir::CompareOp::NotEq) return std::nullopt;
  if (IsNone(kids[1])) {
    const std::optional<bool> is_none = IsNoneOnRank(kids[0], world, rank);
    return is_none ? std::optional(*is_none == asks_same) : std::nullopt;
  }
  const std::vector<ValueId> left = Leaves(kids[0]);
  const std::vector<ValueId> right = Leaves(kids[1]);
  const bool are_texts = left.size() == 1 && right.size() == 1 && !Str(left[0]).empty() && !Str(right[0]).empty();
  return are_texts ? std::optional((Str(left[0]) == Str(right[0])) == asks_same) : std::nullopt;
}

// It comes out in different ways on the first and the last rank.
bool Values::IsRankTest(ValueId test, const traces::World& world) const {
  const std::optional<bool> first = TruthOnRank(test, world, 0);
  const std::optional<bool> last = TruthOnRank(test, world, world.size() - 1);
  return first && last && *first != *last;
}

std::optional<bool> Values::TruthAsRankTest(ValueId test, const traces::World& world, uint32_t rank, int depth) const {
  constexpr int kDeepestTest = 8;
  if (!test || depth > kDeepestTest) return std::nullopt;
  if (const std::optional<bool> truth = TruthOnRank(test, world, rank)) return truth;
  const Value& value = facts_.values_store[test];
  const auto kids = facts_.values_store.Kids(test);
  const auto inner = [&](ValueId kid) { return TruthAsRankTest(kid, world, rank, depth + 1); };
  if (value.is_not()) {
    const std::optional<bool> truth = inner(kids[0]);
    return truth ? std::optional(!*truth) : std::nullopt;
  }
  if (value.kind == ValueKind::And || value.kind == ValueKind::Or) {
    const bool decides = value.kind == ValueKind::Or;
    return std::ranges::any_of(kids, [&](ValueId kid) { return inner(kid) == decides; }) ? std::optional(decides) : std::nullopt;
  }
  if (value.kind != ValueKind::Select && value.kind != ValueKind::Param) return std::nullopt;
  const std::vector<ValueId> leaves = Leaves(test);
  const auto asks = std::ranges::find_if(leaves, [&](ValueId leaf) { return leaf != test && IsRankTest(leaf, world); });
  return asks == leaves.end() ? std::nullopt : TruthOnRank(*asks, world, rank);
}

std::optional<bool> Values::IsNoneOnRank(ValueId id, const traces::World& world, uint32_t rank, int depth) const {
  if (!id || depth > kDeepestValue) return std::nullopt;
  const Value& value = facts_.values_store[id];
  switch (value.kind) {
    case ValueKind::None:
      return true;
    case ValueKind::Param: {
      const ValueId assumed = facts_.param(value.function(), value.param_index());
      return assumed && assumed != id ? IsNoneOnRank(assumed, world, rank, depth + 1) : std::nullopt;
    }
    case ValueKind::Select: {
      const auto kids = facts_.values_store.Kids(id);
      const std::optional<bool> first = IsNoneOnRank(kids[1], world, rank, depth + 1);
      const std::optional<bool> second = IsNoneOnRank(kids[2], world, rank, depth + 1);
      if (first == second) return first;
      const std::optional<bool> test = TruthOnRank(kids[0], world, rank);
      return test ? (*test ? first : second) : std::nullopt;
    }
    case ValueKind::Object:
    case ValueKind::Instance:
    case ValueKind::Function:
    case ValueKind::Str:
    case ValueKind::Int:
    case ValueKind::Tuple:
    case ValueKind::Dict:
      return false;
    default:
      return std::nullopt;
  }
}

// What callers pass for the parameters in `value`, as far as these are numbers on this rank; and that there is a job.
void Values::AssignKnown(ValueId value, const traces::World& world, uint32_t rank, traces::Assignment& assignment,
                          int depth) const {
  constexpr int kLongestChain = 6;
  if (!value || depth > kLongestChain) return;
  base::NumberSet seen;
  std::vector<ValueId> work = {value};
  while (!work.empty() && seen.size() < kMostPartsOfValue) {
    const ValueId at = work.back();
    work.pop_back();
    if (!at || !seen.Add(at.index)) continue;
    const Value& node = facts_.values_store[at];
    for (const ValueId kid : facts_.values_store.Kids(at)) work.push_back(kid);
    if (variation::IsCoordinate(node, knowledge::Coordinate::Distributed)) assignment[at.index] = 1;
    if (node.kind != ValueKind::Param || assignment.contains(at.index)) continue;
    const ValueId assumed = facts_.param(node.function(), node.param_index());
    AssignKnown(assumed, world, rank, assignment, depth + 1);
    traces::Evaluator evaluator(facts_.values_store, knowledge_, world, assignment);
    const traces::Outcome outcome = evaluator.Evaluate(assumed, rank);
    if (outcome.kind == traces::OutcomeKind::Number) assignment[at.index] = outcome.number;
  }
}

}  // namespace allranks::objects
