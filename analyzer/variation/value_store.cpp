// Hash-consing and constant folding of values.
#include <algorithm>
#include <optional>

#include "analyzer/variation/comparison.h"
#include "analyzer/variation/value.h"
#include "analyzer/variation/whole_job.h"

namespace allranks::variation {
namespace {

// A value nested deeper than this says nothing that a decision on a small world needs.
constexpr uint32_t kDeepestValue = 40;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash ^= word + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

bool Same(const Value& a, const Value& b) {
  return a.IsAlike(b) && a.flags == b.flags && a.axes == b.axes && a.mark == b.mark;
}

// Kinds whose own identity does not vary even if what they hold does: a DDP wrapper of a varying module is one object, and
// so is a record of what varies.
bool HoldsKids(ValueKind kind) {
  return kind == ValueKind::Object || kind == ValueKind::Instance || kind == ValueKind::Group || kind == ValueKind::Function ||
         kind == ValueKind::BoundExternal || kind == ValueKind::Partial || kind == ValueKind::Coordinate;
}

// Whether one of these is true follows from whether its kids are.
bool IsTrueWithItsKids(ValueKind kind) {
  return kind == ValueKind::And || kind == ValueKind::Or || kind == ValueKind::Select || kind == ValueKind::Unary;
}

bool Truth(const Value& value) {
  switch (value.kind) {
    case ValueKind::None:
      return false;
    case ValueKind::Bool:
    case ValueKind::Int:
      return *value.integer() != 0;
    default:
      return true;
  }
}

// `if not evaluate:` where `evaluate` is a function and not an option: never.
bool IsAlwaysTrue(ValueKind kind) {
  return kind == ValueKind::Function || kind == ValueKind::Class || kind == ValueKind::Module;
}

// Items are only taken out of a list by those that have it; a test of a display with items asks whether anybody passed some.
bool HasItems(const Value& value) { return value.kind == ValueKind::Tuple && value.kid_count > 0; }

std::optional<int64_t> FoldBinary(ir::BinaryOp op, int64_t left, int64_t right) {
  // Larger numbers are no ranks; overflow is not worth a thought.
  constexpr int64_t kLarge = int64_t{1} << 31;
  if (std::abs(left) > kLarge || std::abs(right) > kLarge) return std::nullopt;
  switch (op) {
    case ir::BinaryOp::Add:
      return left + right;
    case ir::BinaryOp::Sub:
      return left - right;
    case ir::BinaryOp::Mul:
      return left * right;
    case ir::BinaryOp::FloorDiv:
    case ir::BinaryOp::Mod: {
      if (right == 0) return std::nullopt;
      // Python rounds towards minus infinity.
      int64_t quotient = left / right;
      if (left % right != 0 && (left < 0) != (right < 0)) --quotient;
      return op == ir::BinaryOp::FloorDiv ? quotient : left - quotient * right;
    }
    default:
      return std::nullopt;
  }
}

bool IsNumber(const Value& value) { return value.kind == ValueKind::Int || value.kind == ValueKind::Bool; }

// Things that are certainly not None.
bool IsNeverNone(const Value& value) {
  switch (value.kind) {
    case ValueKind::Bool:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Str:
    case ValueKind::Tuple:
    case ValueKind::Dict:
    case ValueKind::Module:
    case ValueKind::Function:
    case ValueKind::Class:
    case ValueKind::Instance:
    case ValueKind::Object:
    case ValueKind::Coordinate:
    case ValueKind::Binary:
    case ValueKind::Compare:
      return true;
    default:
      return false;
  }
}

// `world_size > 1`, `rank == -1`, `0 <= rank`: decided by the least value that the coordinate has in a job of several processes.
std::optional<bool> CompareInJob(ir::CompareOp op, const Value& left, const Value& right) {
  if (left.kind == ValueKind::Int && right.kind == ValueKind::Coordinate) return CompareInJob(Mirrored(op), right, left);
  if (left.kind != ValueKind::Coordinate || right.kind != ValueKind::Int) return std::nullopt;
  const auto coordinate = left.coordinate();
  const int64_t least = coordinate == knowledge::Coordinate::WorldSize ? 2 : 0;
  const int64_t number = *right.integer();
  switch (op) {
    case ir::CompareOp::Eq:
      return number < least ? std::optional<bool>(false) : std::nullopt;
    case ir::CompareOp::NotEq:
      return number < least ? std::optional<bool>(true) : std::nullopt;
    case ir::CompareOp::Greater:
      return number < least ? std::optional<bool>(true) : std::nullopt;
    case ir::CompareOp::GreaterEq:
      return number <= least ? std::optional<bool>(true) : std::nullopt;
    case ir::CompareOp::Less:
      return number <= least ? std::optional<bool>(false) : std::nullopt;
    case ir::CompareOp::LessEq:
      return number < least ? std::optional<bool>(false) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// A dictionary display without `**other`.
bool HasKnownKeys(const ValueStore& store, ValueId dictionary) {
  const Items items = store.ItemsOf(dictionary);
  for (const Item item : items) {
    if (item.key == store.NoneValue()) return false;
  }
  return !items.empty();
}

// Whether something is asked together with its opposite.
bool HasOpposites(const ValueStore& store, std::span<const ValueId> conditions) {
  std::vector<ValueId> denied;
  for (const ValueId condition : conditions) {
    if (store[condition].is_not()) denied.push_back(store.OperandOf(condition));
  }
  std::ranges::sort(denied);
  return std::ranges::any_of(conditions, [&](ValueId condition) { return std::ranges::binary_search(denied, condition); });
}

}  // namespace

bool IsConstant(const Value& value) {
  return value.kind == ValueKind::None || value.kind == ValueKind::Bool || value.kind == ValueKind::Int ||
         value.kind == ValueKind::Float || value.kind == ValueKind::Str;
}

uint64_t ValueStore::Hash(const Value& value, std::span<const ValueId> kids) {
  uint64_t hash = (uint64_t{static_cast<uint8_t>(value.kind)} << 32) | (uint64_t{value.op_} << 24) |
                  (uint64_t{value.flags} << 16) | value.axes.bits;
  hash = Mix(hash, (uint64_t{value.a_} << 32) | value.b_);
  hash = Mix(hash, value.mark.index);
  for (const ValueId kid : kids) hash = Mix(hash, kid.index);
  return hash;
}

ValueStore::ValueStore() {
  // Assigned differently on the way here.
  SetStructural(kVariesSymbol);
  none_ = Make(Value::None(), {});
  false_ = Make(Value::Bool(false), {});
  true_ = Make(Value::Bool(true), {});
}

ValueId ValueStore::Make(Value value, std::span<const ValueId> kids) {
  constexpr size_t kMostKids = 255;
  if (kids.size() > kMostKids) {
    Axes axes = value.axes;
    for (const ValueId kid : kids) axes = kid ? axes | values_[kid.index].axes : axes;
    return Fresh(axes);
  }
  if (const ValueId length = LengthOfFilledUp(value, kids)) return length;
  uint32_t depth = 0;
  for (const ValueId kid : kids) {
    if (!kid) continue;
    const Value& inner = values_[kid.index];
    const bool is_uniform = value.kind == ValueKind::Derived && (uniform_.contains(value.symbol()) || tensors_.contains(value.symbol()));
    if (!HoldsKids(value.kind) && !is_uniform) {
      const bool is_remote = value.kind == ValueKind::Derived && inner.kind == ValueKind::Derived && !inner.mark;
      const bool is_number = value.is_derived(rounds_);
      const bool is_settled = (is_number && !HasShapeMark(kid)) || IsKeyOfUnseen(value, inner);
      const Axes lost = is_settled ? knowledge::kSoftAxes : is_remote ? LostBy(value.symbol()) : Axes{};
      value.axes = value.axes | Without(inner.axes, lost);
      value.flags |= inner.flags & (kByNameOnly | kOneNode);
      if (value.kind == ValueKind::Derived && IsStructural(value.symbol())) value.flags |= inner.flags & kOfArguments;
    }
    value.flags |= inner.flags & kHasParam;
    depth = std::max(depth, uint32_t{depths_[kid.index]} + 1);
  }
  if (value.kind == ValueKind::Param) value.flags |= kHasParam;
  if (IsTrueWithItsKids(value.kind)) {
    for (const ValueId kid : kids) value.flags |= kid ? values_[kid.index].flags & kOfText : 0;
  }
  if (const ValueId asked = AskedForPresence(value, kids)) value.axes = AxesOfPresence(asked, value.axes);
  if (depth > kDeepestValue) return Shortened(value, kids);
  return Intern(value, kids, static_cast<uint8_t>(depth));
}

ValueId ValueStore::MakeMarked(Value value, MarkId mark, std::span<const ValueId> kids) {
  value.mark = mark;
  return Make(value, kids);
}

// What it is stays known, a loader or a wrapper; what that was made of far below does not.
ValueId ValueStore::Shortened(const Value& value, std::span<const ValueId> kids) {
  std::vector<ValueId> shorter(kids.begin(), kids.end());
  for (ValueId& kid : shorter) {
    if (!kid || depths_[kid.index] < kDeepestValue) continue;
    const Value deep = values_[kid.index];
    Value unknown = Value::Unknown(kTooDeepSymbol, deep.axes, static_cast<uint8_t>(deep.flags & kByNameOnly));
    unknown.mark = deep.mark;
    kid = Make(unknown, {});
  }
  return Make(value, shorter);
}

// `len(items + [None] * (most - len(items)))`, and how often a loop over it runs.
ValueId ValueStore::LengthOfFilledUp(const Value& value, std::span<const ValueId> kids) const {
  const bool is_length = value.kind == ValueKind::Derived && IsLength(value.symbol()) && kids.size() == 1 && kids[0];
  if (!is_length || values_[kids[0].index].kind != ValueKind::Binary) return {};
  const auto [left, right] = OperandsOf(kids[0]);
  return FilledUpTo(left, right);
}

bool ValueStore::IsKeyOfUnseen(const Value& value, const Value& mapping) const {
  if (key_ == 0 || !value.is_derived(key_)) return false;
  return mapping.kind != ValueKind::Derived || std::ranges::find(built_, mapping.symbol()) == built_.end();
}

// What functions of functions make of a rank, a path or a clock is a setting like any (`torch.device(rank).type`): a
// test of the rank is not, nor are the parts of a sequence and their number.
Axes ValueStore::LostBy(uint32_t symbol) const {
  constexpr Axes kAll = {(1u << knowledge::kAxisCount) - 1};
  return IsStructural(symbol) ? knowledge::kSurroundings : Without(kAll, Axes::Of(Axis::Data));
}

// What has to be there, or to have the key: `loss` of `loss is not None`, `outputs` of `"aux" in outputs`. A text that is looked
// for in what no batch went into may be part of a name (`"gpu1" in hostname`).
ValueId ValueStore::AskedForPresence(const Value& value, std::span<const ValueId> kids) const {
  if (value.kind != ValueKind::Compare || !kids[0] || !kids[1]) return ValueId::None();
  const auto op = value.compare_op();
  const bool is_identity = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot;
  if (is_identity && values_[kids[1].index].kind == ValueKind::None) return kids[0];
  const bool is_membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
  const bool is_key = is_membership && values_[kids[0].index].kind == ValueKind::Str && value.axes.has(Axis::Data);
  return is_key ? kids[1] : ValueId::None();
}

// Whether something is there at all is decided by code and settings, whatever the numbers in it: what is computed from a
// rank's batch is there on all ranks. What a function makes of the rank may be there on one only (`open_log(rank)`).
Axes ValueStore::AxesOfPresence(ValueId id, Axes axes) const {
  const Axes of_numbers = knowledge::kSoftAxes;
  if (Without(axes, of_numbers).empty()) return {};
  const bool is_made_of_rank = std::ranges::any_of(Kids(id), [&](ValueId kid) {
    return kid && !values_[kid.index].axes.empty() && (values_[kid.index].axes & of_numbers).empty();
  });
  return axes.has(Axis::Data) && !is_made_of_rank ? Axes{} : axes;
}

ValueId ValueStore::Intern(const Value& value, std::span<const ValueId> kids, uint8_t depth) {
  const auto is_same = [&](uint32_t candidate) {
    return Same(values_[candidate], value) && std::ranges::equal(Kids(ValueId{candidate}), kids);
  };
  if (expected_ && is_same(expected_.index)) return expected_;
  const uint64_t hash = Hash(value, kids);
  if (const uint32_t known = index_.Find(hash, is_same); known != base::HashIndex::kNotFound) return ValueId{known};
  Value stored = value;
  stored.kids_ = kids.empty() ? 0 : kids_.AddRun(kids);
  stored.kid_count = static_cast<uint8_t>(kids.size());
  const uint32_t id = values_.Add(stored);
  depths_.push_back(depth);
  ParamSet params = value.kind == ValueKind::Param ? ParamSet::Of(value.param_index()) : ParamSet();
  for (const ValueId kid : kids) {
    if (kid) params = params | params_[kid.index];
  }
  params_.push_back(params);
  index_.Add(hash, id);
  return ValueId{id};
}

ValueId ValueStore::Int(int64_t value) { return Make(Value::Int(value), {}); }

ValueId ValueStore::Str(NameId text) { return Make(Value::Str(text), {}); }

ValueId ValueStore::OfGroup(knowledge::Coordinate coordinate, ValueId group) {
  const bool is_rank = coordinate == knowledge::Coordinate::GroupRank;
  const Value& value = values_[group.index];
  if (value.is_group(GroupKind::AxisGroup)) {
    return Coordinate(is_rank ? knowledge::Coordinate::AxisRank : knowledge::Coordinate::AxisSize, value.axis());
  }
  if (IsOfAllRanks(*this, group)) {
    return Coordinate(is_rank ? knowledge::Coordinate::Rank : knowledge::Coordinate::WorldSize);
  }
  const Axes axes = is_rank ? Axes::Of(Axis::Global) : Axes{};
  return Make(Value::Coordinate(coordinate, axes), {&group, 1});
}

ValueId ValueStore::Coordinate(knowledge::Coordinate coordinate, Axis axis, ValueId group) {
  if (group) return OfGroup(coordinate, group);
  Axes axes;
  switch (coordinate) {
    case knowledge::Coordinate::Rank:
      axes = Axes::Of(Axis::Global);
      break;
    case knowledge::Coordinate::LocalRank:
      axes = Axes::Of(Axis::Local);
      break;
    case knowledge::Coordinate::NodeRank:
      axes = Axes::Of(Axis::Node);
      break;
    case knowledge::Coordinate::AxisRank:
      axes = Axes::Of(axis);
      break;
    case knowledge::Coordinate::GroupRank:
      axes = Axes::Of(Axis::Global);
      break;
    default:
      break;
  }
  return Make(Value::Coordinate(coordinate, axes, axis), {});
}

ValueId ValueStore::Param(FuncId function, uint32_t index) {
  return Make(Value::Param(function, index), {});
}

ValueId ValueStore::Fresh(Axes axes, uint8_t flags) {
  return Make(Value::Unknown(NewSymbol(), axes, flags), {});
}

ValueId ValueStore::Symbol(uint32_t symbol, Axes axes, uint8_t flags) {
  return Make(Value::Unknown(symbol, axes, flags), {});
}

ValueId ValueStore::Derived(uint32_t symbol, std::span<const ValueId> kids, Axes own_axes) {
  return MakeMarked(Value::Derived(symbol, own_axes), MarkOf(symbol, kids), kids);
}

ValueId ValueStore::UnknownMember(uint32_t symbol, ValueId object) {
  const Value& of = values_[object.index];
  if (of.kind == ValueKind::Select && !of.mark) {
    const Arms arms = ArmsOf(object);
    if (values_[arms.else_value.index].kind == ValueKind::None) return UnknownMember(symbol, arms.then_value);
    if (values_[arms.then_value.index].kind == ValueKind::None) return UnknownMember(symbol, arms.else_value);
    return OfArms(object, [&](ValueId arm) { return UnknownMember(symbol, arm); });
  }
  return MakeMarked(Value::Derived(symbol, {}, 0, DerivedKind::Member), MarkOf(symbol, {&object, 1}), {&object, 1});
}

ValueId ValueStore::Counted(uint32_t symbol, std::span<const ValueId> decided_by, Axes own_axes) {
  return Make(Value::Derived(symbol, own_axes, kCounted), decided_by);
}

// Marks travel with what is made of the marked.
MarkId ValueStore::MarkOf(uint32_t symbol, std::span<const ValueId> kids) const {
  for (const ValueId kid : kids) {
    const MarkId mark = kid ? values_[kid.index].mark : MarkId{};
    if (mark && (mark != shape_mark_ || keeps_shape_.contains(symbol))) return mark;
  }
  return {};
}

// Of which shape a tensor is that may be either is known only if both are alike.
MarkId ValueStore::MarkOfEither(MarkId a, MarkId b) const {
  if (a == b) return a;
  for (const MarkId mark : {a, b}) {
    if (mark && mark != shape_mark_) return mark;
  }
  return {};
}

ValueId ValueStore::Not(ValueId id) {
  if ((values_[id.index].flags & kOfText) != 0) id = AsCondition(id);
  const Value& value = values_[id.index];
  if (IsConstant(value) && value.kind != ValueKind::Str) return Bool(!Truth(value));
  if (IsAlwaysTrue(value.kind) || HasItems(value)) return false_;
  if (value.is_not()) return OperandOf(id);
  return Make(Value::Unary(ir::UnaryOp::Not), {&id, 1});
}

ValueId ValueStore::Unary(ir::UnaryOp op, ValueId id) {
  if (op == ir::UnaryOp::Not) return Not(id);
  const Value& value = values_[id.index];
  if (value.kind == ValueKind::Int && op == ir::UnaryOp::Minus) return Int(-*value.integer());
  if (op == ir::UnaryOp::Plus) return id;
  return Make(Value::Unary(op), {&id, 1});
}

ValueId ValueStore::Binary(ir::BinaryOp op, ValueId left, ValueId right) {
  if (IsText(values_[left.index])) left = NumberOf(left);
  if (IsText(values_[right.index])) right = NumberOf(right);
  const Value& a = values_[left.index];
  const Value& b = values_[right.index];
  if (IsNumber(a) && IsNumber(b)) {
    if (const auto folded = FoldBinary(op, *a.integer(), *b.integer())) return Int(*folded);
  }
  const ValueId kids[] = {left, right};
  return MakeMarked(Value::Binary(op), a.mark ? a.mark : b.mark, kids);
}

// `writer is None` where `writer = Writer() if rank == 0 else None` is a statement about the rank. None for other values.
ValueId ValueStore::CompareChosen(ir::CompareOp op, ValueId left, ValueId right) {
  const bool is_identity = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot || op == ir::CompareOp::Eq ||
                           op == ir::CompareOp::NotEq;
  if (!is_identity || !IsConstant(values_[right.index]) || values_[left.index].kind != ValueKind::Select) return {};
  const Arms arms = ArmsOf(left);
  const ValueId then_value = Under(arms.condition, true, Compare(op, arms.then_value, right));
  const ValueId else_value = Under(arms.condition, false, Compare(op, arms.else_value, right));
  // Where neither arm is None by itself the choice is one of values, not of presence.
  const bool is_presence = values_[right.index].kind == ValueKind::None;
  const auto may_be_there = [&](ValueId answer) {
    const bool is_open = values_[answer.index].kind == ValueKind::Compare && values_[answer.index].axes.empty();
    return is_open || answer == Bool(op == ir::CompareOp::IsNot || op == ir::CompareOp::NotEq);
  };
  if (is_presence && then_value != else_value && may_be_there(then_value) && may_be_there(else_value)) return {};
  return Select(arms.condition, then_value, else_value);
}

ValueId ValueStore::Compare(ir::CompareOp op, ValueId left, ValueId right) {
  if (IsText(values_[left.index])) left = NumberOf(left);
  if (IsText(values_[right.index])) right = NumberOf(right);
  if (const ValueId of_texts = CompareTexts(op, left, right)) return of_texts;
  if (const ValueId chosen = CompareChosen(op, left, right)) return chosen;
  const Value& a = values_[left.index];
  const Value& b = values_[right.index];
  if (IsNumber(a) && IsNumber(b)) {
    if (const auto folded = CompareNumbers(op, *a.integer(), *b.integer())) return Bool(*folded);
  }
  if (a.kind == ValueKind::Str && b.kind == ValueKind::Str &&
      (op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq)) {
    return Bool((a.name() == b.name()) == (op == ir::CompareOp::Eq));
  }
  // A function's name where an option's was meant.
  const bool is_equality = op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq;
  if (is_equality && ((IsAlwaysTrue(a.kind) && IsConstant(b)) || (IsConstant(a) && IsAlwaysTrue(b.kind)))) {
    return Bool(op == ir::CompareOp::NotEq);
  }
  const bool is_identity = op == ir::CompareOp::Is || op == ir::CompareOp::IsNot;
  if (is_identity && b.kind == ValueKind::None) {
    if (a.kind == ValueKind::None) return Bool(op == ir::CompareOp::Is);
    if (IsNeverNone(a) || IsNewTensor(left)) return Bool(op == ir::CompareOp::IsNot);
  }
  const bool is_membership = op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
  if (const auto has_key = is_membership ? HasKey(right, left) : std::nullopt) return Bool(*has_key == (op == ir::CompareOp::In));
  const ValueId kids[] = {left, right};
  return Make(Value::Compare(op), kids);
}

ValueId ValueStore::Connective(ValueKind kind, std::span<const ValueId> kids) {
  const bool is_and = kind == ValueKind::And;
  std::vector<ValueId> kept;
  for (const ValueId kid : kids) {
    const Value& value = values_[kid.index];
    if (IsConstant(value) && value.kind != ValueKind::Str && value.kind != ValueKind::Float) {
      if (Truth(value) == is_and) continue;
      if (kept.empty()) return kid;
      kept.push_back(kid);
      break;
    }
    if (value.kind == kind) {
      const auto inner = Kids(kid);
      kept.insert(kept.end(), inner.begin(), inner.end());
    } else if (kept.empty() || kept.back() != kid) {
      kept.push_back(kid);
    }
  }
  if (HasOpposites(*this, kept)) return Bool(!is_and);
  if (kept.empty()) return kids.empty() ? Bool(is_and) : kids.back();
  if (kept.size() == 1) return kept[0];
  return Make(Value::Logical(kind), kept);
}

ValueId ValueStore::And(std::span<const ValueId> kids) { return Connective(ValueKind::And, kids); }
ValueId ValueStore::Or(std::span<const ValueId> kids) { return Connective(ValueKind::Or, kids); }

// What `condition` is on every rank of a job of several processes, if that alone decides it.
std::optional<bool> ValueStore::InJob(ValueId condition) const {
  const Value& value = values_[condition.index];
  switch (value.kind) {
    case ValueKind::None:
    case ValueKind::Bool:
    case ValueKind::Int:
      return Truth(value);
    case ValueKind::Coordinate:
      if (value.coordinate() == knowledge::Coordinate::Distributed || IsText(value)) return true;
      return std::nullopt;
    case ValueKind::Unary: {
      const std::optional<bool> inner = InJob(OperandOf(condition));
      if (!value.is_not() || !inner) return std::nullopt;
      return !*inner;
    }
    case ValueKind::And:
    case ValueKind::Or: {
      const bool is_and = value.kind == ValueKind::And;
      bool all_known = true;
      for (const ValueId kid : Kids(condition)) {
        const std::optional<bool> inner = InJob(kid);
        if (inner && *inner != is_and) return !is_and;
        all_known = all_known && inner.has_value();
      }
      return all_known ? std::optional<bool>(is_and) : std::nullopt;
    }
    case ValueKind::Compare: {
      const auto [left, right] = OperandsOf(condition);
      return CompareInJob(value.compare_op(), values_[left.index], values_[right.index]);
    }
    default:
      return std::nullopt;
  }
}

std::optional<bool> ValueStore::Decides(ValueId condition, bool holds, ValueId other) const {
  const Value& test = values_[condition.index];
  const Value& asked = values_[other.index];
  if (test.kind != ValueKind::Compare || asked.kind != ValueKind::Compare) return std::nullopt;
  if (condition == other) return holds;
  const bool is_denied = Negated(test.compare_op()) == asked.compare_op();
  if (is_denied && std::ranges::equal(Kids(condition), Kids(other))) return !holds;
  return std::nullopt;
}

ValueId ValueStore::Under(ValueId condition, bool holds, ValueId arm) const {
  if (const auto truth = Decides(condition, holds, arm)) return Bool(*truth);
  if (values_[arm.index].kind != ValueKind::Select) return arm;
  const Arms arms = ArmsOf(arm);
  const auto truth = Decides(condition, holds, arms.condition);
  return !truth ? arm : *truth ? arms.then_value : arms.else_value;
}

ValueId ValueStore::Select(ValueId condition, ValueId then_value, ValueId else_value) {
  then_value = Under(condition, true, then_value);
  else_value = Under(condition, false, else_value);
  if (then_value == else_value) return then_value;
  // What holds in one process alone is nothing that ranks could differ by.
  if (const std::optional<bool> truth = InJob(condition)) return *truth ? then_value : else_value;
  const Value& test = values_[condition.index];
  if (IsConstant(test) && test.kind != ValueKind::Str) return Truth(test) ? then_value : else_value;
  if (IsAlwaysTrue(test.kind) || HasItems(test)) return then_value;
  if (then_value == true_ && else_value == false_) return condition;
  if (then_value == false_ && else_value == true_) return Not(condition);
  if (test.is_not()) return Select(OperandOf(condition), else_value, then_value);
  const ValueId kids[] = {condition, then_value, else_value};
  const MarkId mark = MarkOfEither(values_[then_value.index].mark, values_[else_value.index].mark);
  return MakeMarked(Value::Logical(ValueKind::Select), mark, kids);
}

void ValueStore::SetOperations(const Operations& operations, base::Interner& names) {
  environment_ = operations.environment;
  element_ = operations.element;
  item_ = operations.item;
  get_ = operations.get;
  pop_ = operations.pop;
  which_ = NewSymbol();
  names_ = &names;
}

ValueId ValueStore::Element(ValueId sequence, ValueId round) {
  constexpr size_t kMostAlternatives = 6;
  if (values_[sequence.index].kind == ValueKind::Select) return OfArms(sequence, [&](ValueId arm) { return Element(arm, round); });
  const auto items = Kids(sequence);
  const bool is_known = values_[sequence.index].kind == ValueKind::Tuple && !items.empty() && items.size() <= kMostAlternatives;
  if (!is_known) {
    const ValueId parts[] = {sequence, round};
    return Derived(element_, parts);
  }
  ValueId element = items.back();
  for (size_t i = items.size() - 1; i-- > 0;) {
    const ValueId asked[] = {round, Int(static_cast<int64_t>(i))};
    element = Select(Derived(which_, asked), items[i], element);
  }
  return element;
}

ValueId ValueStore::KnownItem(ValueId container, ValueId index) const {
  const Value& held = values_[container.index];
  const Value& key = values_[index.index];
  const auto kids = Kids(container);
  if (held.kind == ValueKind::Tuple && key.kind == ValueKind::Int) {
    const int64_t position = *key.integer();
    const int32_t count = held.kid_count;
    if (position < count && position >= -count) return kids[(position + count) % count];
  }
  if (held.is_dict(DictKind::Places) && key.kind == ValueKind::Int) {
    const int64_t position = *key.integer();
    const int32_t count = held.kid_count / 2;
    if (position < count && position >= -count) return ItemsOf(container)[(position + count) % count].value;
  }
  if ((held.is_dict(DictKind::Items) || held.is_dict(DictKind::Keywords)) && key.kind == ValueKind::Str) {
    const Items items = ItemsOf(container);
    const size_t place = items.PlaceOf(index);
    if (place < items.size()) return items[place].value;
  }
  if (held.is_derived(DerivedKind::Each) && key.kind == ValueKind::Int) return kids[0];
  return {};
}

ValueId ValueStore::KnownAttribute(ValueId object, NameId name) const {
  const Value& held = values_[object.index];
  if ((!held.is_dict(DictKind::Attributes) && !held.is_dict(DictKind::Places)) || !name) return {};
  return ValueNamed(ItemsOf(object), name);
}

// The value under a key that is a text.
ValueId ValueStore::ValueNamed(const Items& items, NameId name) const {
  for (const Item item : items) {
    if (values_[item.key.index].name() == name) return item.value;
  }
  return {};
}

std::optional<bool> ValueStore::HasKey(ValueId dictionary, ValueId key) const {
  const Value& held = values_[dictionary.index];
  if (held.kind != ValueKind::Dict || values_[key.index].kind != ValueKind::Str) return std::nullopt;
  if (KnownItem(dictionary, key)) return true;
  return held.is_dict(DictKind::Keywords) ? std::optional(false) : std::nullopt;
}

ValueId ValueStore::KnownItemOr(ValueId container, ValueId key, ValueId usual) const {
  const std::optional<bool> has_key = HasKey(container, key);
  if (!has_key) return {};
  if (*has_key) return KnownItem(container, key);
  return usual ? usual : none_;
}

// `roles.get(os.environ["RANK"], "worker")`: of a display the item that the rank chooses; none of anything else.
ValueId ValueStore::ItemOfRank(ValueId dictionary, ValueId key, ValueId usual) {
  constexpr size_t kMostItems = 8;
  const Value& value = values_[dictionary.index];
  const bool is_number = IsWholeNumber(key) || IsText(values_[key.index]);
  if (!value.is_dict(DictKind::Items) || axes(key).empty() || !is_number || !HasKnownKeys(*this, dictionary)) return {};
  const std::vector<ValueId> items(Kids(dictionary).begin(), Kids(dictionary).end());
  if (items.size() > 2 * kMostItems) return {};
  ValueId chosen = usual ? usual : none_;
  for (size_t i = items.size(); i >= 2; i -= 2) chosen = Select(Compare(ir::CompareOp::Eq, key, items[i - 2]), items[i - 1], chosen);
  return chosen;
}

ValueId ValueStore::Tuple(std::span<const ValueId> kids) { return Make(Value::Tuple(), kids); }

std::optional<DerivedKind> ValueStore::AgreedAs(ValueId number, int depth) const {
  constexpr int kDeepestReading = 4;
  if (!number || depth > kDeepestReading || !axes(number).empty()) return std::nullopt;
  const Value& value = values_[number.index];
  if ((value.flags & kReduced) != 0) return value.kind == ValueKind::Unknown ? value.derived_kind() : DerivedKind::Result;
  const auto kids = Kids(number);
  if (value.kind != ValueKind::Derived || kids.empty()) return std::nullopt;
  const std::optional<DerivedKind> inner = AgreedAs(kids[0], depth + 1);
  if (inner != DerivedKind::Result || names_ == nullptr) return inner;
  // `min(counts)`, `counts.max()` of what all ranks got from one another.
  const NameId operation = DerivedBy(value);
  const std::string_view name = operation ? names_->View(operation) : std::string_view();
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last == "min" || last == "amin") return DerivedKind::Least;
  return last == "max" || last == "amax" || last == "sum" ? DerivedKind::Most : inner;
}

bool ValueStore::IsAgreed(ValueId number) const {
  const std::optional<DerivedKind> as = AgreedAs(number);
  return as && as != DerivedKind::Most;
}

// `items + [None] * (most - len(items))`: `most`, if the ranks agreed on it, as it is then the greatest of their lengths.
ValueId ValueStore::FilledUpTo(ValueId items, ValueId filling) const {
  const auto is = [&](ValueId id, ir::BinaryOp op) { return values_[id.index].is_binary(op); };
  if (!is(filling, ir::BinaryOp::Mul)) return {};
  const auto [filler, times] = OperandsOf(filling);
  const bool is_one = values_[filler.index].kind == ValueKind::Tuple && values_[filler.index].kid_count == 1;
  if (!is_one || !is(times, ir::BinaryOp::Sub)) return {};
  const auto [most, length] = OperandsOf(times);
  const bool is_length = values_[length.index].kind == ValueKind::Derived && IsLength(values_[length.index].symbol());
  const std::optional<DerivedKind> as = AgreedAs(most);
  return is_length && Kids(length)[0] == items && as && as != DerivedKind::Least ? most : ValueId();
}

ValueId ValueStore::World() {
  return Make(Value::Group(GroupKind::World), {});
}

ValueId ValueStore::AxisGroup(Axis axis) {
  return Make(Value::AxisGroup(axis), {});
}

ValueId ValueStore::WithAxes(ValueId id, Axes axes) {
  const Value& value = values_[id.index];
  if ((value.axes | axes) == value.axes) return id;
  if (HoldsKids(value.kind) || value.kind == ValueKind::Function || value.kind == ValueKind::Class ||
      value.kind == ValueKind::Module || value.kind == ValueKind::External) {
    return id;
  }
  // A number with more axes is no longer that number on every rank.
  if (IsConstant(value) || value.kind == ValueKind::Param) return Derived(kVariesSymbol, {&id, 1}, axes);
  Value wider = value;
  wider.axes = wider.axes | axes;
  const auto kids = Kids(id);
  return Make(wider, kids);
}

ValueId ValueStore::WithMark(ValueId id, MarkId mark) {
  Value marked = values_[id.index];
  if (marked.mark == mark) return id;
  if (marked.kind == ValueKind::Param || IsConstant(marked)) {
    return MakeMarked(Value::Derived(kVariesSymbol), mark, {&id, 1});
  }
  marked.mark = mark;
  const auto kids = Kids(id);
  return Make(marked, kids);
}

ValueId ValueStore::Uniform(ValueId id, Axes lost, uint32_t symbol, DerivedKind bound) {
  const Value& value = values_[id.index];
  // What the value was is gone: a reduced number is a new one, known only to be equal on the ranks of the group.
  return Make(Value::Unknown(symbol, Without(value.axes, lost), static_cast<uint8_t>(kReduced | (value.flags & kByNameOnly)), bound), {});
}

ValueId ValueStore::NewTensor(uint32_t symbol, ValueId sizes, ValueId type) {
  tensors_.insert(symbol);
  const ValueId kids[] = {sizes, type};
  return Make(Value::Derived(symbol), kids);
}

ValueId ValueStore::OfType(ValueId id, ValueId type) {
  if (!id) return id;
  const Value value = values_[id.index];
  if (IsNewTensor(id)) return NewTensor(value.symbol(), Kids(id)[0], type);
  return value.kind == ValueKind::Select ? OfArms(id, [&](ValueId arm) { return OfType(arm, type); }) : id;
}

ValueId ValueStore::Substitute(ValueId id, FuncId function, std::span<const ValueId> arguments, Memo& memo) {
  const Value value = values_[id.index];
  if ((value.flags & kHasParam) == 0) return id;
  if (value.kind == ValueKind::Param) {
    if (value.function() != function || value.param_index() >= arguments.size()) return id;
    const ValueId argument = arguments[value.param_index()];
    if (!argument) return id;
    return value.mark ? WithMark(argument, value.mark) : argument;
  }
  Substitutions::Results& results = memo.Mentioning(params_[id.index], substitutions_, function, arguments);
  if (const ValueId* known = results.Find(id.index)) return *known;
  const size_t before = substituted_.size();
  for (const ValueId kid : Kids(id)) {
    const ValueId substituted = kid ? Substitute(kid, function, arguments, memo) : kid;
    substituted_.push_back(substituted);
  }
  const ValueId result = Rebuild(value, std::span(substituted_).subspan(before));
  substituted_.resize(before);
  results.Add(id.index, result);
  substitutions_.NoteKept();
  return result;
}

PartialCall ValueStore::PartialOf(ValueId id) const {
  assert(values_[id.index].kind == ValueKind::Partial && !values_[id.index].is_generator());
  const auto bound = Kids(id).subspan(1);
  const bool has_keywords = !bound.empty() && bound.back() && values_[bound.back().index].is_dict(DictKind::Keywords);
  return {FirstOf(id), bound.first(bound.size() - (has_keywords ? 1 : 0)), has_keywords ? bound.back() : ValueId()};
}

void ValueStore::NoteClosed(ValueId closed, ValueId open) {
  if (closed == open) return;
  const auto [known, is_new] = open_.emplace(closed.index, open);
  if (!is_new && known->second != open) known->second = ValueId::None();
}

ValueId ValueStore::Rebuild(Value value, std::span<const ValueId> kids) {
  switch (value.kind) {
    case ValueKind::Unary:
      return Unary(value.unary_op(), kids[0]);
    case ValueKind::Binary:
      return Binary(value.binary_op(), kids[0], kids[1]);
    case ValueKind::Compare:
      return Compare(value.compare_op(), kids[0], kids[1]);
    case ValueKind::And:
      return And(kids);
    case ValueKind::Or:
      return Or(kids);
    case ValueKind::Select:
      return Select(kids[0], kids[1], kids[2]);
    case ValueKind::Coordinate:
      return OfGroup(value.coordinate(), kids[0]);
    case ValueKind::Derived:
      if (value.is_derived(DerivedKind::Field)) return WithAxes(Field(value.symbol(), kids[0], kids[1]), Without(value.axes, axes(kids[1])));
      return RebuildDerived(value, kids);
    case ValueKind::Instance:
      return RebuildInstance(value, kids);
    default:
      value.flags &= static_cast<uint8_t>(~kHasParam);
      return Make(value, kids);
  }
}

ValueId ValueStore::RebuildDerived(Value value, std::span<const ValueId> kids) {
  const uint32_t symbol = value.symbol();
  // None where the operands still say too little.
  const auto evaluated = [&]() -> ValueId {
    if (kids.empty() || !kids[0]) return {};
    if (symbol == environment_ && kids.size() == 1) {
      return value.is_derived(DerivedKind::Number) ? NumberOf(Environment(kids[0])) : Environment(kids[0]);
    }
    const Value& first = values_[kids[0].index];
    if (value.is_derived(DerivedKind::Member) && first.kind == ValueKind::Select) return UnknownMember(symbol, kids[0]);
    if (value.is_derived(DerivedKind::Member)) {
      if (const ValueId kept = KnownAttribute(kids[0], OperationOf(symbol))) return kept;
      if (const ValueId field = KnownField(kids[0], OperationOf(symbol))) return field;
    }
    if (symbol == text_ && kids.size() == 1) {
      if (const ValueId printed = PrintedNumber(kids[0])) return printed;
    }
    if (symbol == item_ && kids.size() == 2 && kids[1] && !value.mark) {
      if (const ValueId item = KnownItem(kids[0], kids[1])) return item;
    }
    if (first.kind == ValueKind::Derived || value.mark) return {};
    if (symbol == element_ && kids.size() == 2) return Element(kids[0], kids[1]);
    if (IsLength(symbol) && kids.size() == 1 && first.kind == ValueKind::Tuple) return Int(first.kid_count);
    if (IsLength(symbol) && kids.size() == 1 && first.kind == ValueKind::Dict && HasKnownKeys(*this, kids[0])) return Int(first.kid_count / 2);
    if ((symbol == get_ || symbol == pop_) && kids.size() > 1 && kids[1]) {
      const ValueId usual = kids.size() > 2 ? kids[2] : ValueId();
      const ValueId item = KnownItemOr(kids[0], kids[1], usual);
      return item ? item : ItemOfRank(kids[0], kids[1], usual);
    }
    return symbol == item_ && kids.size() == 2 && kids[1] ? KnownItem(kids[0], kids[1]) : ValueId::None();
  };
  // What it varied by besides its operands it still does.
  if (const ValueId known = evaluated()) return WithAxes(known, value.axes);
  value.flags &= static_cast<uint8_t>(~kHasParam);
  if (!value.mark) value.mark = MarkOf(symbol, kids);
  return Make(value, kids);
}

ValueId ValueStore::RebuildInstance(Value value, std::span<const ValueId> kids) {
  value.flags &= static_cast<uint8_t>(~kHasParam);
  return value.is_same_object() ? SameObject(value, kids[0]) : WithFields(value, kids);
}

ValueId ValueStore::SomeObject(ValueId object) {
  const Value& value = values_[object.index];
  if (value.kind != ValueKind::Instance || value.kid_count == 0) return object;
  return Make(PlainInstance(value), {});
}

Value ValueStore::PlainInstance(const Value& value) {
  Value plain = Value::Instance(value.class_id(), value.origin()).With(value.axes);
  plain.mark = value.mark;
  return plain;
}

ValueId ValueStore::WithFields(Value instance, std::span<const ValueId> fields) {
  instance.op_ = 0;
  std::vector<ValueId> kept(fields.begin(), fields.end());
  // Lists and trees of objects have no end.
  for (size_t i = 1; i < kept.size(); i += 2) {
    const Value inner = values_[kept[i].index];
    if (inner.kind != ValueKind::Instance || inner.kid_count == 0) continue;
    if (inner.is_same_object()) {
      kept[i] = SomeObject(kept[i]);
      continue;
    }
    std::vector<ValueId> parts(Kids(kept[i]).begin(), Kids(kept[i]).end());
    for (ValueId& part : parts) part = SomeObject(part);
    kept[i] = Make(PlainInstance(inner), parts);
  }
  return Make(instance, kept);
}

ValueId ValueStore::SameObject(Value instance, ValueId meant) {
  const Value& value = values_[meant.index];
  instance = PlainInstance(instance);
  if (value.kind == ValueKind::Instance) {
    if (!value.is_same_object()) return value.kid_count > 0 ? meant : Make(instance, {});
    meant = MeantBy(meant);
  }
  if (!has_param(meant) && values_[meant.index].kind != ValueKind::Select) return Make(instance, {});
  instance.op_ = 1;
  return Make(instance, {&meant, 1});
}

// Each list is what the variable of the loop is (library_groups.cpp).
ValueId ValueStore::ListsOfGroups(ValueId group) const {
  const auto kids = Kids(group);
  return kids.size() > 1 && kids[0] == kids[1] ? kids[2] : ValueId();
}

ValueId ValueStore::KnownField(ValueId object, NameId name) const {
  const Value& held = values_[object.index];
  if (held.kind != ValueKind::Instance || held.is_same_object() || !name) return {};
  return ValueNamed(ItemsOf(object), name);
}

ValueId ValueStore::Field(uint32_t symbol, ValueId object, ValueId usual) {
  if (values_[object.index].is_same_object()) object = MeantBy(object);
  if (const ValueId known = KnownField(object, OperationOf(symbol))) return known;
  if (values_[object.index].kind == ValueKind::Select) return OfArms(object, [&](ValueId arm) { return Field(symbol, arm, usual); });
  const ValueKind kind = values_[object.index].kind;
  if (kind == ValueKind::Instance || !has_param(object)) return usual;
  const ValueId kids[] = {object, usual};
  return MakeMarked(Value::Derived(symbol, {}, 0, DerivedKind::Field), values_[usual.index].mark, kids);
}

// Each value is looked at once, however often it occurs.
bool ValueStore::Mentions(ValueId whole, ValueId part) const {
  std::unordered_set<uint32_t> seen = {whole.index};
  std::vector<ValueId> work = {whole};
  while (!work.empty()) {
    const ValueId at = work.back();
    work.pop_back();
    if (at == part) return true;
    for (const ValueId kid : Kids(at)) {
      if (kid && seen.insert(kid.index).second) work.push_back(kid);
    }
  }
  return false;
}

}  // namespace allranks::variation
