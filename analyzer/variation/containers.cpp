#include "analyzer/variation/containers.h"

#include <algorithm>

namespace allranks::variation {

ValueId Containers::Itself(ValueId value) const {
  ValueId known = LookThrough(tables_, value);
  while (Is(known, kRefilled)) known = LookThrough(tables_, store_.Kids(known)[0]);
  return known;
}

bool Containers::IsContainer(ValueId value) const {
  const Value& known = store_[value];
  if (IsRepeated(value)) return true;
  if (known.kind == ValueKind::Select) return IsContainer(store_.ArmsOf(value).then_value) || IsContainer(store_.ArmsOf(value).else_value);
  return known.kind == ValueKind::Tuple || known.kind == ValueKind::Dict || IsGrown(value) || IsShrunk(value);
}

bool Containers::IsRepeated(ValueId value) const {
  if (is_python_ || !store_[value].is_binary(ir::BinaryOp::Mul)) return false;
  const Value& display = store_[store_.OperandsOf(value).left];
  return display.kind == ValueKind::Tuple && display.kid_count == 1;
}

bool Containers::IsEmpty(ValueId value) const {
  const Value& known = store_[value];
  const bool is_display = known.kind == ValueKind::Tuple || known.kind == ValueKind::Dict;
  return known.kind == ValueKind::None || (is_display && known.kid_count == 0);
}

bool Containers::AreConstants(ValueId sequence) const {
  if (store_[sequence].kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(sequence);
    return AreConstants(arms.then_value) && AreConstants(arms.else_value);
  }
  const auto items = store_.Kids(sequence);
  return store_[sequence].kind == ValueKind::Tuple && !items.empty() &&
         std::ranges::all_of(items, [&](ValueId item) { return IsConstant(store_[item]); });
}

bool Containers::IsTableOfSettings(ValueId known, ValueId key) const {
  const bool is_text = key && store_[key].kind == ValueKind::Str && store_[key].name();
  return is_text && is_python_ && !IsContainer(Itself(known)) && !IsObjectLike(store_[known].kind);
}

bool Containers::HoldsRagged(ValueId value, int depth) const {
  constexpr int kDeepest = 6;
  const ValueId known = LookThrough(tables_, value);
  if (!known || depth == kDeepest) return false;
  if (tables_.IsRagged(known)) return true;
  const auto kids = store_.Kids(known);
  if (IsGrown(known)) return HoldsRagged(kids[0], depth + 1) || HoldsRagged(kids[1], depth + 1);
  if (IsShrunk(known) || Is(known, kComprehended)) return HoldsRagged(kids[0], depth + 1);
  const bool holds_items = store_[known].kind == ValueKind::Tuple || store_[known].kind == ValueKind::Select;
  return holds_items && std::ranges::any_of(kids, [&](ValueId kid) { return kid && HoldsRagged(kid, depth + 1); });
}

std::optional<std::vector<Item>> Containers::KnownItems(ValueId dictionary, bool has_all, int depth) const {
  constexpr int kDeepest = 4;
  if (!dictionary || depth == kDeepest) return std::nullopt;
  if (store_[dictionary].kind == ValueKind::Dict) {
    std::vector<Item> items;
    for (const Item item : store_.ItemsOf(dictionary)) {
      if (store_[item.key].kind != ValueKind::Str) return std::nullopt;
      items.push_back(item);
    }
    return items;
  }
  if (store_[dictionary].kind != ValueKind::Select) return std::nullopt;
  const Arms arms = store_.ArmsOf(dictionary);
  const auto first = KnownItems(arms.then_value, has_all, depth + 1);
  const auto second = KnownItems(arms.else_value, has_all, depth + 1);
  if (!first || !second) return std::nullopt;
  const auto under = [](const std::vector<Item>& items, ValueId key) {
    const auto found = std::ranges::find(items, key, &Item::key);
    return found == items.end() ? ValueId::None() : found->value;
  };
  std::vector<Item> items;
  for (const auto* each : {&*first, &*second}) {
    for (const Item& item : *each) {
      if (each == &*second && under(*first, item.key)) continue;
      const ValueId a = under(*first, item.key);
      const ValueId b = under(*second, item.key);
      if (has_all && (!a || !b)) return std::nullopt;
      items.push_back({item.key, store_.Select(arms.condition, a ? a : store_.NoneValue(), b ? b : store_.NoneValue())});
    }
  }
  return items;
}

std::optional<std::vector<Item>> Containers::ItemsGiven(std::span<const CallArgument> args) const {
  std::vector<Item> items;
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Keyword) {
      items.push_back({store_.Str(arg.keyword), arg.value});
      continue;
    }
    const auto known = arg.kind == ir::ArgKind::Star ? std::nullopt : KnownItems(arg.value);
    if (!known) return std::nullopt;
    items.insert(items.end(), known->begin(), known->end());
  }
  return items;
}

ValueId Containers::ItemIn(ValueId container, ValueId key) const {
  if (store_[container].kind != ValueKind::Select) return store_.KnownItem(container, key);
  return store_.OfArms(container, [&](ValueId arm) { return ItemIn(arm, key); });
}

ValueId Containers::HasKey(ValueId container, ValueId key) const {
  if (!key || store_[key].kind != ValueKind::Str || store_[container].kind != ValueKind::Select) return {};
  if (store_.axes(store_.ArmsOf(container).condition).empty()) return {};
  return store_.OfArms(container, [&](ValueId arm) {
    const bool is_display = store_[arm].kind == ValueKind::Dict && KnownItems(arm);
    return is_display ? store_.Bool(PlaceOf(arm, key).has_value()) : HasKey(arm, key);
  });
}

std::optional<size_t> Containers::PlaceOf(ValueId dictionary, ValueId key) const {
  if (store_[dictionary].kind != ValueKind::Dict || !key || !IsConstant(store_[key])) return std::nullopt;
  const Items items = store_.ItemsOf(dictionary);
  const size_t place = items.PlaceOf(key);
  return place < items.size() ? std::optional(place) : std::nullopt;
}

ValueId Containers::WithKey(ValueId container, ValueId key, bool is_there) const {
  if (!container || !key || store_[key].kind != ValueKind::Str) return container;
  if (store_[container].kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(container);
    const ValueId then_value = WithKey(arms.then_value, key, is_there);
    const ValueId else_value = WithKey(arms.else_value, key, is_there);
    const bool is_as_before = then_value == arms.then_value && else_value == arms.else_value;
    return is_as_before ? container : store_.Select(arms.condition, then_value, else_value);
  }
  if (!IsShrunk(container)) return container;
  const Change change = ChangeOf(container);
  const bool is_other = change.item && change.item != key && store_[change.item].kind == ValueKind::Str;
  return is_there || is_other ? WithKey(change.before, key, is_there) : container;
}

// `is_choice`: it is one of several, so that it says something that a display has none.
ValueId Containers::HasItems(ValueId value, bool is_choice, int depth) const {
  constexpr int kDeepest = 6;
  if (depth == kDeepest || !is_python_) return value;
  const Value& asked = store_[value];
  switch (asked.kind) {
    case ValueKind::Tuple:
    case ValueKind::Dict:
      return is_choice && (asked.kid_count == 0 || asked.kind == ValueKind::Tuple || KnownItems(value)) ? store_.Bool(asked.kid_count > 0) : value;
    case ValueKind::Unary:
      return asked.is_not() ? store_.Not(HasItems(store_.OperandOf(value), is_choice, depth + 1)) : value;
    case ValueKind::And:
    case ValueKind::Or: {
      std::vector<ValueId> kids(store_.Kids(value).begin(), store_.Kids(value).end());
      for (ValueId& kid : kids) kid = HasItems(kid, is_choice, depth + 1);
      if (std::ranges::equal(kids, store_.Kids(value))) return value;
      return asked.kind == ValueKind::And ? store_.And(kids) : store_.Or(kids);
    }
    case ValueKind::Select: {
      const Arms arms = store_.ArmsOf(value);
      if (!IsContainer(arms.then_value) && !IsContainer(arms.else_value)) return value;
      return store_.OfArms(value, [&](ValueId arm) { return HasItems(arm, true, depth + 1); });
    }
    case ValueKind::Binary: {
      const auto [left, right] = store_.OperandsOf(value);
      const ValueId length = store_.FilledUpTo(left, right);
      return length ? length : value;
    }
    default:
      break;
  }
  if (!IsGrown(value) && !IsShrunk(value)) return value;
  const Change change = ChangeOf(value);
  const ValueId before = HasItems(change.before, true, depth + 1);
  if (IsGrown(value) && before == store_.True()) return before;
  const ValueId decided_by[] = {change.how_often, before};
  return IsConstant(store_[before]) ? Count({decided_by, 1}) : Count(decided_by);
}

ValueId Containers::Count(std::span<const ValueId> decided_by) const {
  Axes axes;
  for (const ValueId value : decided_by) axes = axes | store_.axes(value);
  return store_.Counted(tables_.NameSymbol("builtins.len"), decided_by, axes);
}

Axes Containers::AxesOfCount(ValueId iterable) const {
  const bool is_ragged = store_[iterable].mark && store_[iterable].mark == tables_.RaggedMark();
  const Axes axes = store_.axes(iterable);
  return is_ragged ? axes : Without(axes, knowledge::kSoftAxes);
}

bool Containers::TakesKey(ValueId dictionary, ValueId key) const {
  const Value& display = store_[dictionary];
  if (display.kind != ValueKind::Dict || display.kid_count > kMostItemKids || !key || store_[key].kind != ValueKind::Str) return false;
  return KnownItems(dictionary).has_value();
}

ValueId Containers::WithItem(ValueId dictionary, Item item) const {
  std::vector<ValueId> kids(store_.Kids(dictionary).begin(), store_.Kids(dictionary).end());
  if (const std::optional<size_t> place = PlaceOf(dictionary, item.key)) kids[2 * *place + 1] = item.value;
  else kids.insert(kids.end(), {item.key, item.value});
  return store_.Make(Value::Dict(), kids);
}

ValueId Containers::WithoutItem(ValueId container, Removal removal, ValueId which) const {
  const Value& display = store_[container];
  if (display.kind == ValueKind::Select) return store_.OfArms(container, [&](ValueId arm) { return WithoutItem(arm, removal, which); });
  const bool is_dict = display.kind == ValueKind::Dict;
  if (display.kind != ValueKind::Tuple && !(is_dict && KnownItems(container))) return {};
  const Value empty = is_dict ? Value::Dict(display.dict_kind()) : Value::Tuple(display.is_set());
  if (removal == Removal::All) return store_.Make(empty, {});
  std::vector<ValueId> kids(store_.Kids(container).begin(), store_.Kids(container).end());
  const std::optional<size_t> place = is_dict ? PlaceOfKey(store_.ItemsOf(container), which, removal) : PlaceOfItem(kids, which, removal);
  if (!place) return {};
  const ptrdiff_t step = is_dict ? 2 : 1;
  const auto first = kids.begin() + step * static_cast<ptrdiff_t>(*place);
  // A key that is not there is not taken out.
  if (first >= kids.end()) return is_dict ? container : ValueId();
  kids.erase(first, first + step);
  return store_.Make(empty, kids);
}

// Where that key of a dictionary is, the end if it is nowhere.
std::optional<size_t> Containers::PlaceOfKey(const Items& items, ValueId key, Removal removal) const {
  if (!key) return removal == Removal::Last && !items.empty() ? std::optional(items.size() - 1) : std::nullopt;
  return store_[key].kind == ValueKind::Str ? std::optional(items.PlaceOf(key)) : std::nullopt;
}

// Where in a list the item is that is named by its place or, all of them being known, by what it is.
std::optional<size_t> Containers::PlaceOfItem(std::span<const ValueId> items, ValueId which, Removal removal) const {
  if (items.empty()) return std::nullopt;
  if (!which) return removal == Removal::Last ? std::optional(items.size() - 1) : std::nullopt;
  if (removal == Removal::Item) {
    const auto is_constant = [&](ValueId item) { return IsConstant(store_[item]); };
    if (!is_constant(which) || !std::ranges::all_of(items, is_constant)) return std::nullopt;
    return static_cast<size_t>(std::ranges::find(items, which) - items.begin());
  }
  const Value& place = store_[which];
  if (place.kind != ValueKind::Int) return std::nullopt;
  const auto at = static_cast<int32_t>(*place.integer());
  const auto count = static_cast<int32_t>(items.size());
  return at < count && at >= -count ? std::optional(static_cast<size_t>((at + count) % count)) : std::nullopt;
}

// In a loop each round adds one: how many there are is not known, only how often ranks get here.
ValueId Containers::Grown(const Change& change, ValueId rounds) const {
  const ValueId kids[] = {change.before, change.item, change.how_often, rounds};
  return store_.Derived(tables_.NameSymbol(kGrown), std::span(kids).first(rounds ? 4 : 3));
}

ValueId Containers::Shrunk(const Change& change) const {
  const ValueId kids[] = {change.before, change.item, change.how_often};
  return store_.Derived(tables_.NameSymbol(kShrunk), kids);
}

// Of an item that hangs on what a caller passes it is kept what it is, of some others that it varies.
ValueId Containers::Refilled(ValueId before, ValueId item, Axes axes) const {
  constexpr size_t kMostItems = 4;
  std::vector<ValueId> kids = {before};
  if (Is(before, kRefilled)) kids.assign(store_.Kids(before).begin(), store_.Kids(before).end());
  const bool is_new = std::ranges::find(kids, item) == kids.end();
  if (is_new && store_.has_param(item) && kids.size() <= kMostItems) kids.push_back(item);
  return store_.Derived(tables_.NameSymbol(kRefilled), kids, axes);
}

ValueId Containers::ChangedBy(ValueId value, std::string_view operation, ValueId item, ValueId how_often) const {
  std::vector<ValueId> seen;
  return ChangedBy(value, operation, item, how_often, seen);
}

ValueId Containers::ChangedBy(ValueId value, std::string_view operation, ValueId item, ValueId how_often, std::vector<ValueId>& seen) const {
  if (store_[value].kind == ValueKind::Select) {
    if (std::ranges::find(seen, value) != seen.end()) return {};
    seen.push_back(value);
    const Arms arms = store_.ArmsOf(value);
    const ValueId changed = ChangedBy(arms.then_value, operation, item, how_often, seen);
    return changed ? changed : ChangedBy(arms.else_value, operation, item, how_often, seen);
  }
  if (!IsGrown(value) && !IsShrunk(value)) return {};
  const Change change = ChangeOf(value);
  const bool is_the_same = Is(value, operation) && change.item == item && change.how_often == how_often;
  return is_the_same ? value : ChangedBy(change.before, operation, item, how_often, seen);
}

Change Containers::ChangeOf(ValueId grown_or_shrunk) const {
  const auto kids = store_.Kids(grown_or_shrunk);
  return {kids[0], kids[1], kids[2]};
}

ValueId Containers::PairOf(ValueId container) const {
  if (!Is(container, kComprehended) || store_[container].kid_count == 0) return {};
  const ValueId pair = store_.Kids(container)[0];
  return store_[pair].kind == ValueKind::Tuple && store_[pair].kid_count == 2 ? pair : ValueId::None();
}

ValueId Containers::ViewedPart(std::string_view view, ValueId dictionary) const {
  const ValueId pair = PairOf(dictionary);
  if (!pair) return {};
  return view == "items" ? pair : store_.Kids(pair)[view == "keys" ? 0 : 1];
}

ValueId Containers::PartsOf(ValueId dictionary, std::string_view view) const {
  if (store_[dictionary].kind != ValueKind::Dict || store_[dictionary].kid_count == 0) return {};
  std::vector<ValueId> parts;
  for (const auto [key, value] : store_.ItemsOf(dictionary)) {
    // `**other`
    if (store_[key].kind == ValueKind::None) return {};
    const ValueId item[] = {key, value};
    parts.push_back(view == "keys" ? key : view == "values" ? value : store_.Tuple(item));
  }
  return store_.Tuple(parts);
}

}  // namespace allranks::variation
