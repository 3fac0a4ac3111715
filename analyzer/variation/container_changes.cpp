// What the walk does to containers that names stand for: items stored, added and taken out, and what a condition asks of them. What
// the values are then is said by containers.h; here it is decided which variable it is, and how often a rank comes to the place.
#include <algorithm>
#include <string>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/made_with.h"

namespace allranks::variation {
namespace {

// A part of a rank's own batch, an item of such a part, or what `int`, `str`, `item` and `tolist` make of these. Which names a batch or
// the outputs of a model have is a matter of the program.
bool IsReadInBatch(const Tables& tables, ValueId key) {
  constexpr int kDeepest = 8;
  constexpr std::string_view kPartly[] = {"[]", "get"};
  constexpr std::string_view kHandedOn[] = {"element", "item", "tolist", "numpy", "cpu", "builtins.int", "builtins.str", "builtins.enumerate"};
  const ValueStore& store = tables.store;
  bool is_part = false;
  for (int depth = 0; key && depth < kDeepest; ++depth) {
    const Value& value = store[key];
    if (value.axes != Axes::Of(Axis::Data)) return false;
    const auto kids = store.Kids(key);
    if (value.kind == ValueKind::Unknown) return is_part && kids.empty() && (value.flags & kReduced) == 0;
    const NameId operation = value.kind == ValueKind::Derived ? store.DerivedBy(value) : NameId::None();
    const std::string_view name = operation ? tables.program.text(operation) : std::string_view();
    const bool takes_part = std::ranges::count(kPartly, name) > 0;
    const bool is_handed_on = value.is_derived(DerivedKind::Member) || std::ranges::count(kHandedOn, name) > 0;
    if (kids.empty() || (!takes_part && !is_handed_on)) return false;
    is_part = is_part || takes_part;
    key = kids[0];
  }
  return false;
}

}  // namespace

// What decides how often this place is run: conditions on the way here and numbers of rounds that may differ.
ValueId FunctionEvaluator::HowOften() {
  std::vector<ValueId> kids;
  const auto add = [&](ValueId value) {
    if (value && (store_.has_param(value) || !store_.axes(value).empty())) kids.push_back(value);
  };
  std::ranges::for_each(path_.conditions(), add);
  std::ranges::for_each(trips_, add);
  return store_.Counted(tables_.NameSymbol("how often"), kids, loop_exit_axes_ | round_exit_axes_);
}

// An item stored in, or added to, what `target` names: the container varies as the item and as the way here, and
// where ranks come here at different times or not equally often, so do the numbers of items. `is_list`: it takes one item more. `key`: under
// which it is stored; items that a rank files under what it read in its own part of the data may be more or fewer than those of others.
void FunctionEvaluator::Mutate(ir::ExprId target, ValueId item, bool is_list, ValueId key) {
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = containers_.Itself(old_value);
  if (const ValueId contents = ContentsOf(tables_, known)) {
    const ValueId changed = containers_.Grown({contents, item, HowOften()}, RoundsThatAdd());
    return Replace(target, old_value, WithContents(tables_, known, changed));
  }
  if (IsObjectLike(store_[known].kind)) return;
  ValueId how_often = HowOften();
  const bool is_own_key = key && !trips_.empty() && (store_.axes(key).has(Axis::Global) || IsReadInBatch(tables_, key));
  if (is_own_key && FillsOwnTable(known)) {
    const ValueId decided_by[] = {how_often, key};
    how_often = store_.Counted(tables_.NameSymbol("how often"), decided_by);
  }
  ValueId changed;
  const bool is_display = store_[known].kind == ValueKind::Tuple && !store_[known].is_set() && store_[known].kid_count < kMostItemsApart;
  if (is_list && is_display && old_value == known && IsChangedOnce(target) && path_.empty()) {
    std::vector<ValueId> items(store_.Kids(known).begin(), store_.Kids(known).end());
    items.push_back(item);
    changed = store_.Tuple(items);
  } else if (containers_.IsContainer(known) || is_list) {
    const bool is_another = trips_.empty() && store_[item].kind == ValueKind::Object;
    if (!is_another) changed = containers_.ChangedBy(known, kGrown, item, how_often);
    if (!changed) changed = containers_.Grown({old_value, item, how_often}, RoundsThatAdd());
  } else {
    changed = store_.WithAxes(old_value, store_.axes(item) | store_.axes(how_often));
  }
  Replace(target, old_value, changed);
}

// How often the loop around adds an item: in each of its rounds, or in some. None outside of loops.
ValueId FunctionEvaluator::RoundsThatAdd() {
  if (trips_.empty()) return {};
  const bool is_in_each = trips_.size() == 1 && path_.WithinLoop() == store_.True();
  return is_in_each ? trips_.back() : store_.Counted(tables_.NameSymbol("how often"), {&trips_.back(), 1});
}

// A dictionary that was empty before: all that is in it was put in under keys that are not known one by one.
bool FunctionEvaluator::FillsOwnTable(ValueId table) {
  constexpr int kMostChanges = 8;
  for (int i = 0; i < kMostChanges && containers_.IsGrown(table); ++i) table = LookThrough(tables_, containers_.ChangeOf(table).before);
  return store_[table].kind == ValueKind::Dict && containers_.IsEmpty(table);
}

// Whether what `target` names is this function's own and changed here once, on each rank that gets here.
bool FunctionEvaluator::IsChangedOnce(ir::ExprId target) {
  const ir::Expr& expr = module_[target];
  const bool is_own = expr.kind == ir::ExprKind::Name && scope_.slots.contains(ir::NameOf(expr));
  return is_own && trips_.empty() && env_.extra.empty() && !path_.WithinStatement();
}

// An item is taken out of what `target` names. `which`: its key, place or value, or none. `is_sure`: it was there, or else an
// error was raised.
void FunctionEvaluator::TakeOut(ir::ExprId target, Removal removal, ValueId which, bool is_sure) {
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = containers_.Itself(old_value);
  if (IsObjectLike(store_[known].kind)) return;
  if (IsChangedOnce(target)) {
    if (const ValueId rest = containers_.WithoutItem(known, removal, which)) return Replace(target, old_value, rest);
  }
  ValueId how_often = HowOften();
  if (which && !is_sure) {
    const ValueId decided_by[] = {how_often, which};
    how_often = store_.Counted(tables_.NameSymbol("how often"), decided_by);
  }
  // Of what is not known by its items any may be missing.
  const bool is_open = !containers_.IsContainer(known);
  if (is_open && !store_.has_param(how_often) && store_.axes(how_often).empty()) return;
  if (containers_.ChangedBy(known, kShrunk, which, how_often)) return;
  Replace(target, old_value, containers_.Shrunk({old_value, which, how_often}));
}

// What is asked for being true.
ValueId FunctionEvaluator::Condition(ir::ExprId asked) {
  const ValueId value = Eval(asked);
  if (!value) return value;
  ValueId condition = containers_.HasItems(store_.AsCondition(value));
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

// `table[key] = item`: where the key is there already, there are as many items as before.
void FunctionEvaluator::PutIn(ir::ExprId target, ValueId key, ValueId item) {
  if (const ValueId owner = OwnerOfTable(target)) return StoreNamed(owner, key, item);
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  const ValueId known = LookThrough(tables_, old_value);
  const bool is_once = IsChangedOnce(target) || store_.axes(HowOften()).empty();
  if (containers_.PlaceOf(known, key) || (is_once && containers_.TakesKey(known, key))) {
    return Replace(target, old_value, containers_.WithItem(known, {key, store_.WithAxes(item, store_.axes(HowOften()))}));
  }
  if (containers_.IsTableOfSettings(known, key)) {
    const NameId member = ItemName(key);
    tables_.Record(TableId::LooseFields, func_.module.index, member.index, tables_.Kept(Closed(item), Axes::Of(Axis::Data)));
    return Put(old_value, member, item);
  }
  Mutate(target, item, false, key);
}

// `table.setdefault(key, item)` of a dictionary display.
bool FunctionEvaluator::PutDefault(ir::ExprId target, std::span<const CallArgument> args) {
  if (args.size() != 2 || module_[target].kind != ir::ExprKind::Name) return false;
  const ValueId known = LookThrough(tables_, Eval(target));
  if (store_[known].kind != ValueKind::Dict || !containers_.KnownItems(known)) return false;
  if (!containers_.PlaceOf(known, args[0].value)) PutIn(target, args[0].value, args[1].value);
  return true;
}

NameId FunctionEvaluator::ItemName(ValueId key) { return Intern("[" + std::string(Text(store_[key].name())) + "]"); }

void FunctionEvaluator::Replace(ir::ExprId target, ValueId old_value, ValueId changed) {
  if (changed == old_value) return;
  const ir::Expr& expr = module_[target];
  if (expr.kind == ir::ExprKind::Name) ChangeName(ir::NameOf(expr), changed);
  else if (expr.kind == ir::ExprKind::Attribute) AssignAttribute(target, changed);
}

// `values[i] = item` of a language whose arrays are memory, or memory that a function fills: as many items as before.
void FunctionEvaluator::Refill(ir::ExprId target, ValueId item) {
  const ir::Expr& expr = module_[target];
  if (expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return;
  const ValueId old_value = Eval(target);
  if (IsObjectLike(store_[LookThrough(tables_, old_value)].kind)) return;
  const Axes own = store_.axes(old_value) | store_.axes(item) | store_.axes(HowOften());
  if (own == store_.axes(old_value) && !store_.has_param(item)) return;
  Replace(target, old_value, containers_.Refilled(old_value, item, own));
}

// `options.update(more, lr=1)`, where all keys are known before and after.
bool FunctionEvaluator::PutAllIn(ir::ExprId target, std::span<const CallArgument> args) {
  const ir::ExprKind kind = module_[target].kind;
  if ((kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) || module_.language != ir::Language::Python) return false;
  const ValueId old_value = Eval(target);
  ValueId changed = LookThrough(tables_, old_value);
  const auto items = containers_.ItemsGiven(args);
  if (!items) return false;
  const bool is_once = IsChangedOnce(target) || store_.axes(HowOften()).empty();
  for (const Item& item : *items) {
    if (!is_once || !containers_.TakesKey(changed, item.key)) return false;
    changed = containers_.WithItem(changed, item);
  }
  Replace(target, old_value, changed);
  return true;
}

}  // namespace allranks::variation
