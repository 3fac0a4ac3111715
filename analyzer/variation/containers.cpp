// Lists and dictionaries, and what is stored in them.
//
// A dictionary display whose keys are all known texts takes what is stored under one more key, wherever each rank comes
// to that place equally often; so a table of options or of loaders stays one whose items are known by name. What grows in
// any other way is the old container with an item, and how often that was added: ranks that come there a different number
// of times have containers of different lengths. The same holds for what is taken out, unless a variable of the function is
// known by its items and comes there once: then it is the display without that item.
//
// Unsound: two names of one container are two containers.
#include "analyzer/variation/evaluator.h"

#include <algorithm>
#include <string>

namespace allranks::variation {

// What decides how often this place is run: conditions on the way here and numbers of rounds that may differ.
ValueId FunctionEvaluator::HowOften() {
  std::vector<ValueId> kids;
  const auto add = [&](ValueId value) {
    if (value && (store_.has_param(value) || !store_.axes(value).empty())) kids.push_back(value);
  };
  std::ranges::for_each(path_, add);
  std::ranges::for_each(trips_, add);
  return store_.Counted(tables_.NameSymbol("how often"), kids, loop_exit_axes_ | round_exit_axes_);
}

// An item stored in, or added to, what `target` names: the container varies as the item and as the way here, and
// where ranks come here at different times or not equally often, so do the numbers of items. `is_list`: it takes one item more.
void FunctionEvaluator::Mutate(ir::ExprId target, ValueId item, bool is_list) {
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = Container(old_value);
  if (IsObjectLike(store_[known].kind)) return;
  const ValueId how_often = HowOften();
  ValueId changed;
  const bool is_display = store_[known].kind == ValueKind::Tuple && !store_[known].is_set() && store_[known].kid_count < kMostItemsApart;
  if (is_list && is_display && old_value == known && IsChangedOnce(target) && path_.empty()) {
    std::vector<ValueId> items(store_.Kids(known).begin(), store_.Kids(known).end());
    items.push_back(item);
    changed = store_.Tuple(items);
  } else if (IsContainer(known) || is_list) {
    // In a loop each round adds one: how many there are is not known, only how often ranks get here.
    const bool is_once = trips_.empty();
    const ValueId kids[] = {old_value, item, how_often, is_once ? ValueId::None() : trips_.back()};
    const bool is_another = is_once && store_[item].kind == ValueKind::Object;
    if (!is_another) changed = ChangedBy(known, kGrown, item, how_often);
    if (!changed) changed = store_.Derived(tables_.NameSymbol(kGrown), std::span(kids).first(is_once ? 3 : 4));
  } else {
    changed = store_.WithAxes(old_value, store_.axes(item) | store_.axes(how_often));
  }
  Replace(target, old_value, changed);
}

// Whether what `target` names is this function's own and changed here once, on each rank that gets here.
bool FunctionEvaluator::IsChangedOnce(ir::ExprId target) {
  const ir::Expr& expr = module_[target];
  const bool is_own = expr.kind == ir::ExprKind::Name && scope_.slots.contains(ir::NameOf(expr));
  return is_own && trips_.empty() && env_.extra.empty() && !WithinStatement();
}

// An item is taken out of what `target` names. `which`: its key, place or value, or none. `is_sure`: it was there, or else an
// error was raised.
void FunctionEvaluator::TakeOut(ir::ExprId target, Removal removal, ValueId which, bool is_sure) {
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = Container(old_value);
  if (IsObjectLike(store_[known].kind)) return;
  if (IsChangedOnce(target)) {
    if (const ValueId rest = WithoutItem(known, removal, which)) return Replace(target, old_value, rest);
  }
  ValueId how_often = HowOften();
  if (which && !is_sure) {
    const ValueId decided_by[] = {how_often, which};
    how_often = store_.Counted(tables_.NameSymbol("how often"), decided_by);
  }
  // Of what is not known by its items any may be missing.
  const bool is_open = !IsContainer(known);
  if (is_open && !store_.has_param(how_often) && store_.axes(how_often).empty()) return;
  if (ChangedBy(known, kShrunk, which, how_often)) return;
  const ValueId kids[] = {old_value, which, how_often};
  Replace(target, old_value, store_.Derived(tables_.NameSymbol(kShrunk), kids));
}

// A display, or one of several, without that item; none if that is not known.
ValueId FunctionEvaluator::WithoutItem(ValueId container, Removal removal, ValueId which) {
  const Value display = store_[container];
  if (display.kind == ValueKind::Select) return store_.OfArms(container, [&](ValueId arm) { return WithoutItem(arm, removal, which); });
  const bool is_dict = display.kind == ValueKind::Dict;
  if (display.kind != ValueKind::Tuple && !(is_dict && KnownItems(container))) return {};
  const Value empty = is_dict ? Value::Dict(display.dict_kind()) : Value::Tuple(display.is_set());
  if (removal == Removal::All) return store_.Make(empty, {});
  std::vector<ValueId> kids(store_.Kids(container).begin(), store_.Kids(container).end());
  const size_t step = is_dict ? 2 : 1;
  const std::optional<size_t> place = is_dict ? PlaceOfKey(kids, which, removal) : PlaceOfItem(kids, which, removal);
  if (!place) return {};
  // A key that is not there is not taken out.
  if (*place >= kids.size()) return is_dict ? container : ValueId();
  kids.erase(kids.begin() + static_cast<ptrdiff_t>(*place), kids.begin() + static_cast<ptrdiff_t>(*place + step));
  return store_.Make(empty, kids);
}

// Where that key of a dictionary is, the end if it is nowhere.
std::optional<size_t> FunctionEvaluator::PlaceOfKey(std::span<const ValueId> kids, ValueId key, Removal removal) const {
  if (!key) return removal == Removal::Last && !kids.empty() ? std::optional(kids.size() - 2) : std::nullopt;
  if (store_[key].kind != ValueKind::Str) return std::nullopt;
  size_t place = 0;
  while (place < kids.size() && kids[place] != key) place += 2;
  return place;
}

// Where in a list the item is that is named by its place or, all of them being known, by what it is.
std::optional<size_t> FunctionEvaluator::PlaceOfItem(std::span<const ValueId> items, ValueId which, Removal removal) const {
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

// What a dictionary was before other keys than this one were taken out, which says as much of this one. `is_there`: the item
// itself is asked for, which only those do that have it.
ValueId FunctionEvaluator::WithKey(ValueId container, ValueId key, bool is_there) {
  if (!container || !key || store_[key].kind != ValueKind::Str) return container;
  if (store_[container].kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(container);
    const ValueId then_value = WithKey(arms.then_value, key, is_there);
    const ValueId else_value = WithKey(arms.else_value, key, is_there);
    const bool is_as_before = then_value == arms.then_value && else_value == arms.else_value;
    return is_as_before ? container : store_.Select(arms.condition, then_value, else_value);
  }
  if (!store_[container].is_derived(tables_.NameSymbol(kShrunk))) return container;
  const auto kids = store_.Kids(container);
  const bool is_other = kids[1] && kids[1] != key && store_[kids[1]].kind == ValueKind::Str;
  return is_there || is_other ? WithKey(kids[0], key, is_there) : container;
}

// What is under a key of a display, or of one of several that all have it; none if that is not known.
ValueId FunctionEvaluator::ItemIn(ValueId container, ValueId key) {
  if (store_[container].kind != ValueKind::Select) return store_.KnownItem(container, key);
  return store_.OfArms(container, [&](ValueId arm) { return ItemIn(arm, key); });
}

// What is asked for being true.
ValueId FunctionEvaluator::Condition(ir::ExprId asked) {
  const ValueId value = Eval(asked);
  if (!value) return value;
  ValueId condition = HasItems(store_.AsCondition(value));
  // Which keys a model or a loss gives is a matter of the program, and so whether it gives any.
  if (condition == value && store_.axes(value).has(Axis::Data) && IsUsedAsMapping(asked)) {
    condition = store_.Compare(ir::CompareOp::IsNot, value, store_.NoneValue());
  }
  if (condition != value) SetValue(asked, condition);
  return condition;
}

// `outputs.items()` somewhere in the function, of a variable.
bool FunctionEvaluator::IsUsedAsMapping(ir::ExprId variable) {
  if (module_[variable].kind != ir::ExprKind::Name) return false;
  return std::ranges::any_of(tables_.AttributeUsesOf(func_.module).mappings, [&](const auto& use) {
    const auto& [name, at] = use;
    return name == ir::NameOf(module_[variable]) && function_.begin <= at && at < function_.end;
  });
}

// A container is true if it has items, whatever they are. `is_choice`: it is one of several, so that it says something that a
// display has none.
ValueId FunctionEvaluator::HasItems(ValueId value, bool is_choice, int depth) {
  constexpr int kDeepest = 6;
  if (depth == kDeepest || module_.language != ir::Language::Python) return value;
  const Value asked = store_[value];
  std::vector<ValueId> kids(store_.Kids(value).begin(), store_.Kids(value).end());
  const auto is = [&](std::string_view operation) { return asked.is_derived(tables_.NameSymbol(operation)); };
  switch (asked.kind) {
    case ValueKind::Tuple:
    case ValueKind::Dict:
      return is_choice && (kids.empty() || asked.kind == ValueKind::Tuple || KnownItems(value)) ? store_.Bool(!kids.empty()) : value;
    case ValueKind::Unary:
      return asked.is_not() ? store_.Not(HasItems(kids[0], is_choice, depth + 1)) : value;
    case ValueKind::And:
    case ValueKind::Or:
      for (ValueId& kid : kids) kid = HasItems(kid, is_choice, depth + 1);
      if (std::ranges::equal(kids, store_.Kids(value))) return value;
      return asked.kind == ValueKind::And ? store_.And(kids) : store_.Or(kids);
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
  if (!is(kGrown) && !is(kShrunk)) return value;
  const ValueId before = HasItems(kids[0], true, depth + 1);
  if (is(kGrown) && before == store_.True()) return before;
  const ValueId decided_by[] = {kids[2], before};
  return IsConstant(store_[before]) ? Count({decided_by, 1}) : Count(decided_by);
}

// `table[key] = item`: where the key is there already, there are as many items as before.
void FunctionEvaluator::PutIn(ir::ExprId target, ValueId key, ValueId item) {
  if (const ValueId owner = OwnerOfTable(target)) return StoreNamed(owner, key, item);
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = LookThrough(tables_, old_value);
  const bool is_once = IsChangedOnce(target) || store_.axes(HowOften()).empty();
  if (PlaceOf(known, key) || TakesKey(known, key, is_once)) {
    return Replace(target, old_value, WithItem(known, key, store_.WithAxes(item, store_.axes(HowOften()))));
  }
  if (IsTableOfSettings(known, key)) {
    const NameId member = ItemName(key);
    tables_.Record(TableId::LooseFields, func_.module.index, member.index, tables_.Kept(Closed(item), Axes::Of(Axis::Data)));
    return Put(old_value, member, item);
  }
  Mutate(target, item);
}

// `table.setdefault(key, item)` of a dictionary display.
bool FunctionEvaluator::PutDefault(ir::ExprId target, std::span<const CallArgument> args) {
  if (args.size() != 2 || module_[target].kind != ir::ExprKind::Name) return false;
  const ValueId known = LookThrough(tables_, Eval(target));
  if (store_[known].kind != ValueKind::Dict || !KnownItems(known)) return false;
  if (!PlaceOf(known, args[0].value)) PutIn(target, args[0].value, args[1].value);
  return true;
}

// Whether one of several dictionaries has a key, where ranks may have different ones and all keys of each are known; none
// of anything else.
ValueId FunctionEvaluator::HasKey(ValueId container, ValueId key) {
  const Value known = store_[container];
  if (!key || store_[key].kind != ValueKind::Str || known.kind != ValueKind::Select) return {};
  if (store_.axes(store_.ArmsOf(container).condition).empty()) return {};
  const auto in_arm = [&](ValueId arm) {
    const bool is_display = store_[arm].kind == ValueKind::Dict && KnownItems(arm);
    return is_display ? store_.Bool(PlaceOf(arm, key).has_value()) : HasKey(arm, key);
  };
  return store_.OfArms(container, in_arm);
}

// Whether a dictionary display, all of whose keys are known, has this one as well from here on, on each rank that gets here.
bool FunctionEvaluator::TakesKey(ValueId dictionary, ValueId key, bool is_once) {
  const Value& display = store_[dictionary];
  if (display.kind != ValueKind::Dict || display.kid_count > kMostItemKids || !key || store_[key].kind != ValueKind::Str) return false;
  return is_once && KnownItems(dictionary).has_value();
}

// With what is stored under a key, whether it is there already or not.
ValueId FunctionEvaluator::WithItem(ValueId dictionary, ValueId key, ValueId item) {
  std::vector<ValueId> kids(store_.Kids(dictionary).begin(), store_.Kids(dictionary).end());
  if (const std::optional<uint32_t> place = PlaceOf(dictionary, key)) {
    kids[*place] = item;
  } else {
    kids.push_back(key);
    kids.push_back(item);
  }
  return store_.Make(Value::Dict(), kids);
}

// The keys and values of a dictionary whose keys are known texts, one after the other; of one of two such, those of both, where
// None stands for a value that only one has. `has_all`: nothing of two that have different keys.
std::optional<std::vector<ValueId>> FunctionEvaluator::KnownItems(ValueId dictionary, bool has_all, int depth) {
  constexpr int kDeepest = 4;
  if (!dictionary || depth == kDeepest) return std::nullopt;
  if (store_[dictionary].kind == ValueKind::Dict) {
    for (const Item item : store_.ItemsOf(dictionary)) {
      if (store_[item.key].kind != ValueKind::Str) return std::nullopt;
    }
    const auto kids = store_.Kids(dictionary);
    return std::vector<ValueId>(kids.begin(), kids.end());
  }
  if (store_[dictionary].kind != ValueKind::Select) return std::nullopt;
  const Arms arms = store_.ArmsOf(dictionary);
  const auto first = KnownItems(arms.then_value, has_all, depth + 1);
  const auto second = KnownItems(arms.else_value, has_all, depth + 1);
  if (!first || !second) return std::nullopt;
  const auto under = [](const std::vector<ValueId>& items, ValueId key) {
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i] == key) return items[i + 1];
    }
    return ValueId::None();
  };
  std::vector<ValueId> items;
  for (const auto* each : {&*first, &*second}) {
    for (size_t i = 0; i + 1 < each->size(); i += 2) {
      const ValueId key = (*each)[i];
      if (each == &*second && under(*first, key)) continue;
      const ValueId a = under(*first, key);
      const ValueId b = under(*second, key);
      if (has_all && (!a || !b)) return std::nullopt;
      items.push_back(key);
      items.push_back(store_.Select(arms.condition, a ? a : store_.NoneValue(), b ? b : store_.NoneValue()));
    }
  }
  return items;
}

// `config["rank"]` of a dictionary that was made elsewhere: what one key holds says nothing of the others, as with attributes.
bool FunctionEvaluator::IsTableOfSettings(ValueId known, ValueId key) {
  const bool is_text = key && store_[key].kind == ValueKind::Str && store_[key].name().index != 0;
  return is_text && module_.language == ir::Language::Python && !IsContainer(Container(known)) && !IsObjectLike(store_[known].kind);
}

NameId FunctionEvaluator::ItemName(ValueId key) { return Intern("[" + std::string(Text(store_[key].name())) + "]"); }

// Which kid of a dictionary display is the value under a constant key.
std::optional<uint32_t> FunctionEvaluator::PlaceOf(ValueId dictionary, ValueId key) const {
  if (store_[dictionary].kind != ValueKind::Dict || !key || !IsConstant(store_[key])) return std::nullopt;
  const auto kids = store_.Kids(dictionary);
  for (uint32_t i = 0; i + 1 < kids.size(); i += 2) {
    if (kids[i] == key) return i + 1;
  }
  return std::nullopt;
}

void FunctionEvaluator::Replace(ir::ExprId target, ValueId old_value, ValueId changed) {
  if (changed == old_value) return;
  const ir::Expr& expr = module_[target];
  if (expr.kind == ir::ExprKind::Name) ChangeName(ir::NameOf(expr), changed);
  else if (expr.kind == ir::ExprKind::Attribute) AssignAttribute(target, changed);
}

// `values[i] = item` of a language whose arrays are memory, or memory that a function fills: as many items as before.
void FunctionEvaluator::Refill(ir::ExprId target, ValueId item) {
  constexpr size_t kMostItems = 4;
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  if (IsObjectLike(store_[LookThrough(tables_, old_value)].kind)) return;
  const Axes own = store_.axes(old_value) | store_.axes(item) | store_.axes(HowOften());
  if (own == store_.axes(old_value) && !store_.has_param(item)) return;
  std::vector<ValueId> kids = {old_value};
  const Value& before = store_[old_value];
  if (before.is_derived(tables_.NameSymbol(kRefilled))) {
    kids.assign(store_.Kids(old_value).begin(), store_.Kids(old_value).end());
  }
  const bool is_new = std::ranges::find(kids, item) == kids.end();
  if (is_new && store_.has_param(item) && kids.size() <= kMostItems) kids.push_back(item);
  Replace(target, old_value, store_.Derived(tables_.NameSymbol(kRefilled), kids, own));
}

// The container whose places an item may have been put in since.
ValueId FunctionEvaluator::Container(ValueId value) {
  ValueId known = LookThrough(tables_, value);
  while (store_[known].is_derived(tables_.NameSymbol(kRefilled))) {
    known = LookThrough(tables_, store_.Kids(known)[0]);
  }
  return known;
}

// A list or dictionary display, one that had items added or taken out, or one of these.
bool FunctionEvaluator::IsContainer(ValueId value) {
  const Value& known = store_[value];
  if (IsRepeated(value)) return true;
  if (known.kind == ValueKind::Select) return IsContainer(store_.ArmsOf(value).then_value) || IsContainer(store_.ArmsOf(value).else_value);
  const bool is_changed = known.is_derived(tables_.NameSymbol(kGrown)) || known.is_derived(tables_.NameSymbol(kShrunk));
  return known.kind == ValueKind::Tuple || known.kind == ValueKind::Dict || is_changed;
}

// A list that ranks have more or fewer items of, or an item of which is larger on some ranks than on others.
bool FunctionEvaluator::HoldsRagged(ValueId value, int depth) {
  constexpr int kDeepest = 6;
  const ValueId known = LookThrough(tables_, value);
  if (!known || depth == kDeepest) return false;
  if (tables_.IsRagged(known)) return true;
  const auto kids = store_.Kids(known);
  const Value& list = store_[known];
  const auto is = [&](std::string_view operation) { return list.is_derived(tables_.NameSymbol(operation)); };
  if (is(kGrown)) return HoldsRagged(kids[0], depth + 1) || HoldsRagged(kids[1], depth + 1);
  if (is(kShrunk)) return HoldsRagged(kids[0], depth + 1);
  if (is(kComprehended)) return HoldsRagged(kids[0], depth + 1);
  const bool holds_items = list.kind == ValueKind::Tuple || list.kind == ValueKind::Select;
  return holds_items && std::ranges::any_of(kids, [&](ValueId kid) { return kid && HoldsRagged(kid, depth + 1); });
}

// `std::vector<T> values(n)`: one item n times.
bool FunctionEvaluator::IsRepeated(ValueId value) const {
  const Value& known = store_[value];
  if (!known.is_binary(ir::BinaryOp::Mul)) return false;
  const Value& display = store_[store_.OperandsOf(value).left];
  return display.kind == ValueKind::Tuple && display.kid_count == 1 && module_.language != ir::Language::Python;
}

// What `value` holds that grew or shrank by this item before, as it did in the round before; none if it did not.
ValueId FunctionEvaluator::ChangedBy(ValueId value, std::string_view operation, ValueId item, ValueId how_often) {
  if (store_[value].kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(value);
    const ValueId changed = ChangedBy(arms.then_value, operation, item, how_often);
    return changed ? changed : ChangedBy(arms.else_value, operation, item, how_often);
  }
  const auto is = [&](std::string_view name) { return store_[value].is_derived(tables_.NameSymbol(name)); };
  if (!is(kGrown) && !is(kShrunk)) return {};
  const auto kids = store_.Kids(value);
  return is(operation) && kids[1] == item && kids[2] == how_often ? value : ChangedBy(kids[0], operation, item, how_often);
}

// What `dict(options, lr=1)` and `options.update(more, lr=1)` are given, one key and its value after the other.
std::optional<std::vector<ValueId>> FunctionEvaluator::ItemsGiven(std::span<const CallArgument> args) {
  std::vector<ValueId> items;
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Keyword) {
      items.push_back(store_.Str(arg.keyword));
      items.push_back(arg.value);
      continue;
    }
    const auto known = arg.kind == ir::ArgKind::Star ? std::nullopt : KnownItems(arg.value);
    if (!known) return std::nullopt;
    items.insert(items.end(), known->begin(), known->end());
  }
  return items;
}

// `options.update(more, lr=1)`, where all keys are known before and after.
bool FunctionEvaluator::PutAllIn(ir::ExprId target, std::span<const CallArgument> args) {
  const ir::ExprKind kind = module_[target].kind;
  if ((kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) || module_.language != ir::Language::Python) return false;
  const ValueId old_value = Eval(target);
  ValueId changed = LookThrough(tables_, old_value);
  const auto items = ItemsGiven(args);
  if (!items) return false;
  const bool is_once = IsChangedOnce(target) || store_.axes(HowOften()).empty();
  for (size_t i = 0; i + 1 < items->size(); i += 2) {
    if (!TakesKey(changed, (*items)[i], is_once)) return false;
    changed = WithItem(changed, (*items)[i], (*items)[i + 1]);
  }
  Replace(target, old_value, changed);
  return true;
}

}  // namespace allranks::variation
