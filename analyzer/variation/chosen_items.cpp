#include "analyzer/variation/chosen_items.h"

#include <algorithm>
#include <utility>

namespace allranks::variation {
namespace {

// Of a module or table with more the name says nothing of what is meant.
constexpr size_t kMostPicked = 32;

bool IsCallable(const Value& value) {
  return value.kind == ValueKind::Function || value.kind == ValueKind::Class || value.kind == ValueKind::External;
}

// A function of a library that communicates.
bool IsOperation(const knowledge::Knowledge& knowledge, const Value& value) {
  const knowledge::EntryId entry = value.kind == ValueKind::External ? knowledge.FindEntry(value.name()) : knowledge::EntryId::None();
  return entry && knowledge[entry].has_operation;
}

}  // namespace

ValueId ChosenItems::ChosenBy(ValueId container, ValueId key) const {
  constexpr size_t kMostChosen = 4;
  const Value& display = store_[container];
  const bool is_list = display.kind == ValueKind::Tuple && !display.is_set();
  const bool is_dict = display.is_dict(DictKind::Items);
  if (!key || (!is_list && !is_dict) || display.kid_count == 0) return {};
  if (store_[key].kind == ValueKind::Select) {
    const ValueId chosen = store_.OfArms(key, [&](ValueId arm) {
      const ValueId item = store_.KnownItem(container, arm);
      return item ? item : ChosenBy(container, arm);
    });
    // Two groups that one expression makes are one value, and not one group.
    const bool is_group = chosen && store_[chosen].kind == ValueKind::Group;
    return !chosen || is_group ? ValueId() : store_.WithAxes(chosen, store_.axes(key));
  }
  std::vector<Item> items;
  if (is_list) {
    for (const ValueId item : store_.Kids(container)) items.push_back({store_.Int(static_cast<int64_t>(items.size())), item});
  } else {
    for (const Item item : store_.ItemsOf(container)) items.push_back(item);
  }
  if (items.size() == 2 && (is_dict || store_.IsTruth(key))) {
    const auto under = [&](bool truth) {
      const auto found = std::ranges::find(items, is_list ? store_.Int(truth ? 1 : 0) : store_.Bool(truth), &Item::key);
      return found == items.end() ? ValueId() : found->value;
    };
    if (under(true) && under(false)) return store_.Select(store_.AsCondition(key), under(true), under(false));
  }
  const auto is_number = [&](const Item& item) { return store_[item.value].kind == ValueKind::Int; };
  // What numbers come out as is calculated where the rank is known (traces/evaluate.cpp).
  const bool is_known = is_list && std::ranges::all_of(items, is_number);
  // Which of several functions is called is a choice, by whatever number of the rank.
  const bool is_call = std::ranges::all_of(items, [&](const Item& item) { return IsCallable(store_[item.value]); });
  const bool is_of_rank = is_call && !Without(store_.axes(key), knowledge::kSoftAxes).empty();
  if (items.size() > kMostChosen || is_known || store_.axes(key).empty() || !(store_.IsWholeNumber(key) || is_of_rank)) return {};
  if (std::ranges::any_of(items, [&](const Item& item) { return store_[item.key].kind != ValueKind::Int; })) return {};
  ValueId chosen = items.back().value;
  for (size_t i = items.size() - 1; i-- > 0;) {
    chosen = store_.Select(store_.Compare(ir::CompareOp::Eq, key, items[i].key), items[i].value, chosen);
  }
  return chosen;
}

ValueId ChosenItems::OneOfTable(ValueId dictionary, ValueId key) const {
  if (store_[dictionary].kind != ValueKind::Dict || !containers_.KnownItems(dictionary)) return {};
  std::vector<ValueId> callables;
  // Functions of libraries only where one of them is an operation: of tables of others nothing is lost.
  const Items all = store_.ItemsOf(dictionary);
  bool has_operation = false;
  for (const Item item : all) has_operation = has_operation || IsOperation(tables_.knowledge, store_[item.value]);
  for (const Item item : all) {
    const ValueKind kind = store_[item.value].kind;
    const bool is_callable = kind == ValueKind::Function || kind == ValueKind::Class || (has_operation && kind == ValueKind::External);
    if (!is_callable) return {};
    if (std::ranges::count(callables, item.value) == 0) callables.push_back(item.value);
  }
  return OneOf(callables, key);
}

ValueId ChosenItems::OneOfAdded(ValueId container, ValueId key) const {
  const bool is_slice = store_[key].is_derived(tables_.NameSymbol("[:]"));
  // Of a display under a key that is not known it stays said that it is one of its items.
  if (is_slice || store_[container].kind == ValueKind::Dict || store_[container].kind == ValueKind::Tuple) return {};
  std::vector<ValueId> items;
  if (!AddItems(container, key, items, 0)) return {};
  if (!std::ranges::all_of(items, [&](ValueId item) { return IsOneObject(item); })) return {};
  const bool is_told_apart = !store_.axes(key).empty() && items.size() == 1;
  return is_told_apart ? ValueId() : OneOf(items, key);
}

ValueId ChosenItems::OneOf(std::span<const ValueId> callables, ValueId key) const {
  if (callables.empty() || callables.size() > kMostPicked) return {};
  ValueId picked = callables.back();
  for (size_t i = callables.size() - 1; i-- > 0;) {
    const ValueId asked[] = {key, store_.Int(static_cast<int64_t>(i))};
    picked = store_.Select(store_.Derived(tables_.NameSymbol("names"), asked), callables[i], picked);
  }
  return picked;
}

// What a container may hold under a key: the items of a display, what was stored or added later, and what a comprehension makes in
// any of its rounds. Whether that is all; a number of items that differs between ranks says that it is not.
bool ChosenItems::AddItems(ValueId container, ValueId key, std::vector<ValueId>& items, int depth) const {
  constexpr int kDeepest = 12;
  const ValueId known = LookThrough(tables_, container);
  if (!known || depth == kDeepest || items.size() > kMostPicked) return false;
  const Value& value = store_[known];
  const auto add = [&](ValueId item) {
    if (std::ranges::count(items, item) == 0) items.push_back(item);
  };
  switch (value.kind) {
    case ValueKind::None:
      return true;
    case ValueKind::Select: {
      const Arms arms = store_.ArmsOf(known);
      return AddItems(arms.then_value, key, items, depth + 1) && AddItems(arms.else_value, key, items, depth + 1);
    }
    case ValueKind::Dict: {
      const bool is_named = store_[key].kind == ValueKind::Str && containers_.KnownItems(known);
      for (const Item item : store_.ItemsOf(known)) {
        if (!is_named || item.key == key) add(item.value);
      }
      return true;
    }
    case ValueKind::Tuple:
      std::ranges::for_each(store_.Kids(known), add);
      return true;
    default:
      break;
  }
  const auto kids = store_.Kids(known);
  const bool is_comprehended = value.is_derived(tables_.NameSymbol(kComprehended));
  const bool is_grown = containers_.IsGrown(known);
  if ((!is_comprehended && !is_grown) || !store_.axes(kids.back()).empty()) return false;
  const ValueId pair = store_[key].kind == ValueKind::Str ? containers_.PairOf(known) : ValueId::None();
  add(pair ? store_.Kids(pair)[1] : kids[is_grown ? 1 : 0]);
  return is_comprehended || AddItems(kids[0], key, items, depth + 1);
}

// An object or function that the program makes, or one of several such. A group of ranks is another one for each item.
bool ChosenItems::IsOneObject(ValueId item) const {
  const ValueId known = item ? LookThrough(tables_, item) : ValueId();
  if (!known) return false;
  const ValueKind kind = store_[known].kind;
  if (kind == ValueKind::Select) return IsOneObject(store_.ArmsOf(known).then_value) && IsOneObject(store_.ArmsOf(known).else_value);
  return kind == ValueKind::Object || kind == ValueKind::Instance || kind == ValueKind::Function || kind == ValueKind::Class;
}

}  // namespace allranks::variation
