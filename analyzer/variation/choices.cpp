// Several things behind one name: which functions it may be, and which of them a call can mean; which fields.
#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

// Of a module or table with more the name says nothing of what is meant.
constexpr size_t kMostPicked = 16;

}  // namespace

// `models.__dict__[args.arch]`: the module whose members are picked from; none for anything else.
ir::ModuleId FunctionEvaluator::ModuleOfMembers(ir::ExprId object) const {
  const ir::Expr& expr = module_[object];
  if (expr.kind != ir::ExprKind::Attribute || Text(ir::AttrOf(expr)) != kFieldTable) return {};
  const ValueId owner = tables_.facts.value(func_.module, ir::ObjectOf(expr));
  return owner && store_[owner].kind == ValueKind::Module ? store_[owner].module() : ir::ModuleId();
}

// `vars(args)`, `args.__dict__`: the object whose fields those are; none of anything else, and of a module or class.
ValueId FunctionEvaluator::OwnerOfTable(ir::ExprId table) {
  const ir::Expr& expr = module_[table];
  if (module_.language != ir::Language::Python) return {};
  ir::ExprId object;
  if (expr.kind == ir::ExprKind::Attribute && Text(ir::AttrOf(expr)) == kFieldTable) object = ir::ObjectOf(expr);
  const ValueId called = expr.kind == ir::ExprKind::Call && ir::ArgCount(module_, expr) == 1 ? Eval(ir::CalleeOf(expr)) : ValueId();
  const bool is_vars = called && store_[called].kind == ValueKind::External && Text(store_[called].name()) == "builtins.vars";
  if (is_vars) object = ir::ArgAt(module_, expr, 0).value;
  const ValueId owner = object ? Eval(object) : ValueId();
  const ValueKind kind = owner ? store_[LookThrough(tables_, owner)].kind : ValueKind::Module;
  return kind == ValueKind::Module || kind == ValueKind::Class ? ValueId() : owner;
}

// `vars(args).update(settings, lr=1)`, as far as the names of the fields are seen.
bool FunctionEvaluator::PutFields(ir::ExprId table, std::span<const CallArgument> args) {
  const ValueId owner = OwnerOfTable(table);
  const auto items = owner ? ItemsGiven(args) : std::nullopt;
  for (size_t i = 0; items && i + 1 < items->size(); i += 2) StoreNamed(owner, (*items)[i], (*items)[i + 1]);
  return items.has_value();
}

// A public function or class of a module, by a name that is known at run time.
ValueId FunctionEvaluator::PickedFrom(ir::ModuleId module, ValueId name) {
  const ir::Module& source = tables_.program.modules[module];
  std::vector<ValueId> members;
  for (uint32_t i = 0; i < source.functions.size(); ++i) {
    const FuncId function = tables_.program.func(module, ir::FunctionId{i});
    const binding::Func& func = tables_.program.funcs[function];
    const std::string_view text = Text(tables_.program.function(function).name);
    if (func.owner || func.parent || ir::FunctionId{i} == ir::kTopLevel || text.starts_with('_') || text.starts_with('<')) continue;
    members.push_back(TargetValue({.kind = binding::TargetKind::Function, .module = module, .function = function}));
  }
  for (uint32_t i = 0; i < source.classes.size(); ++i) {
    const binding::ClassId class_id = tables_.program.class_of(module, ir::ClassId{i});
    if (!Text(source.classes[ir::ClassId{i}].name).starts_with('_')) members.push_back(ClassValue(class_id));
  }
  return OneOf(members, name);
}

// `TRAINERS[args.trainer]`: a function or class of a dictionary that holds nothing else, by a key that is known at run time.
ValueId FunctionEvaluator::PickedFromTable(ValueId dictionary, ValueId key) {
  if (store_[dictionary].kind != ValueKind::Dict || !KnownItems(dictionary)) return {};
  std::vector<ValueId> items;
  const auto kids = store_.Kids(dictionary);
  for (size_t i = 1; i < kids.size(); i += 2) {
    const bool is_callable = store_[kids[i]].kind == ValueKind::Function || store_[kids[i]].kind == ValueKind::Class;
    if (!is_callable) return {};
    if (std::ranges::count(items, kids[i]) == 0) items.push_back(kids[i]);
  }
  return OneOf(items, key);
}

// `(second, first)[int(is_main)]`, `{True: first, False: second}[is_main]`, `names[rank % 2]`: of a display the item that a test or a
// number of each rank chooses; none of anything else.
ValueId FunctionEvaluator::ChosenBy(ValueId container, ValueId key) {
  constexpr size_t kMostChosen = 4;
  const Value& display = store_[container];
  const auto kids = store_.Kids(container);
  const bool is_list = display.kind == ValueKind::Tuple && !display.is_set();
  const bool is_dict = display.is_dict(DictKind::Items);
  if (!key || (!is_list && !is_dict) || kids.empty()) return {};
  std::vector<std::pair<ValueId, ValueId>> items;
  for (size_t i = 0; i < kids.size() && is_list; ++i) items.emplace_back(store_.Int(static_cast<int64_t>(i)), kids[i]);
  for (size_t i = 0; i + 1 < kids.size() && is_dict; i += 2) items.emplace_back(kids[i], kids[i + 1]);
  if (items.size() == 2 && (is_dict || store_.IsTruth(key))) {
    const auto under = [&](bool truth) {
      const auto found = std::ranges::find(items, is_list ? store_.Int(truth ? 1 : 0) : store_.Bool(truth), &std::pair<ValueId, ValueId>::first);
      return found == items.end() ? ValueId() : found->second;
    };
    if (under(true) && under(false)) return store_.Select(store_.AsCondition(key), under(true), under(false));
  }
  const auto is_number = [&](const auto& item) { return store_[item.second].kind == ValueKind::Int; };
  // What numbers come out as is calculated where the rank is known (traces/evaluate.cpp).
  const bool is_known = is_list && std::ranges::all_of(items, is_number);
  if (items.size() > kMostChosen || is_known || store_.axes(key).empty() || !store_.IsWholeNumber(key)) return {};
  if (std::ranges::any_of(items, [&](const auto& item) { return store_[item.first].kind != ValueKind::Int; })) return {};
  ValueId chosen = items.back().second;
  for (size_t i = items.size() - 1; i-- > 0;) {
    chosen = store_.Select(store_.Compare(ir::CompareOp::Eq, key, items[i].first), items[i].second, chosen);
  }
  return chosen;
}

// What a container may hold under a key: the items of a display, what was stored or added later, and what a comprehension makes in
// any of its rounds. Whether that is all; a number of items that differs between ranks says that it is not.
bool FunctionEvaluator::AddItems(ValueId container, ValueId key, std::vector<ValueId>& items, int depth) {
  constexpr int kDeepest = 12;
  const ValueId known = LookThrough(tables_, container);
  if (!known || depth == kDeepest || items.size() > kMostPicked) return false;
  const Value value = store_[known];
  const auto kids = store_.Kids(known);
  const auto is = [&](std::string_view operation) { return value.is_derived(tables_.NameSymbol(operation)); };
  const auto add = [&](ValueId item) {
    if (std::ranges::count(items, item) == 0) items.push_back(item);
  };
  if (value.kind == ValueKind::None) return true;
  if (value.kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(known);
    return AddItems(arms.then_value, key, items, depth + 1) && AddItems(arms.else_value, key, items, depth + 1);
  }
  if (value.kind == ValueKind::Dict) {
    const bool is_named = store_[key].kind == ValueKind::Str && KnownItems(known);
    for (const Item item : store_.ItemsOf(known)) {
      if (!is_named || item.key == key) add(item.value);
    }
    return true;
  }
  if (value.kind == ValueKind::Tuple) std::ranges::for_each(kids, add);
  if (value.kind == ValueKind::Tuple) return true;
  if ((!is(kComprehended) && !is(kGrown)) || !store_.axes(kids.back()).empty()) return false;
  const ValueId pair = store_[key].kind == ValueKind::Str ? PairOf(known) : ValueId::None();
  add(pair ? store_.Kids(pair)[1] : kids[is(kGrown) ? 1 : 0]);
  return is(kComprehended) || AddItems(kids[0], key, items, depth + 1);
}

// An object or function that the program makes, or one of several such. A group of ranks is another one for each item.
bool FunctionEvaluator::IsOneObject(ValueId item) {
  const ValueId known = item ? LookThrough(tables_, item) : ValueId();
  if (!known) return false;
  const ValueKind kind = store_[known].kind;
  if (kind == ValueKind::Select) return IsOneObject(store_.ArmsOf(known).then_value) && IsOneObject(store_.ArmsOf(known).else_value);
  return kind == ValueKind::Object || kind == ValueKind::Instance || kind == ValueKind::Function || kind == ValueKind::Class;
}

// `networks[0]` of a list that networks were added to in a loop, `networks[name]` of such a dictionary: one of those.
ValueId FunctionEvaluator::OneOfItems(ValueId container, ValueId key) {
  const bool is_slice = store_[key].is_derived(tables_.NameSymbol("[:]"));
  // Of a display under a key that is not known it stays said that it is one of its items.
  if (store_[container].kind == ValueKind::Dict || store_[container].kind == ValueKind::Tuple) return {};
  std::vector<ValueId> items;
  if (is_slice || module_.language != ir::Language::Python || !AddItems(container, key, items)) return {};
  if (!std::ranges::all_of(items, [&](ValueId item) { return IsOneObject(item); })) return {};
  const bool is_told_apart = !store_.axes(key).empty() && items.size() == 1;
  return is_told_apart ? ValueId() : OneOf(items, key);
}

// Which one depends on the key. None of too many.
ValueId FunctionEvaluator::OneOf(std::span<const ValueId> callables, ValueId key) {
  if (callables.empty() || callables.size() > kMostPicked) return {};
  ValueId picked = callables.back();
  for (size_t i = callables.size() - 1; i-- > 0;) {
    const ValueId kids[] = {key, store_.Int(static_cast<int64_t>(i))};
    picked = store_.Select(store_.Derived(tables_.NameSymbol("names"), kids), callables[i], picked);
  }
  return picked;
}

// `setattr(args, key, value)`. A loop over keys that are known comes to each of their fields.
void FunctionEvaluator::StoreNamed(ValueId object, ValueId name, ValueId value) {
  const Value key = store_[name];
  if (key.kind == ValueKind::Str) return StoreAttribute(object, key.name(), value);
  if (key.is_derived(tables_.NameSymbol("element"))) {
    for (const ValueId each : store_.Kids(name)) StoreNamed(object, each, value);
    return;
  }
  if (key.kind != ValueKind::Select) return NoteAnyReplaced(object);
  const Arms names = store_.ArmsOf(name);
  if (!IsOfRound(names.condition)) return;
  const bool is_pair = store_[value].kind == ValueKind::Select && store_.ArmsOf(value).condition == names.condition;
  StoreNamed(object, names.then_value, is_pair ? store_.ArmsOf(value).then_value : value);
  StoreNamed(object, names.else_value, is_pair ? store_.ArmsOf(value).else_value : value);
}

// Whether a condition tells the rounds of a loop around apart by the item that they get.
bool FunctionEvaluator::IsOfRound(ValueId condition) {
  if (store_[condition].kind != ValueKind::Unknown) return false;
  return std::ranges::any_of(loops_, [&](const ir::Stmt* loop) {
    if (loop->kind != ir::StmtKind::For) return false;
    for (uint32_t i = 0; i < kMostItemsApart; ++i) {
      if (store_[condition].symbol() == Site(ir::AssignedOf(*loop), SiteUse::Which, i)) return true;
    }
    return false;
  });
}

// Of several functions those that a call with these arguments can mean; none if it can mean none of them.
ValueId FunctionEvaluator::ThoseThatTake(ValueId callee, std::span<const CallArgument> args) {
  const Value value = store_[callee];
  switch (value.kind) {
    case ValueKind::Select: {
      const Arms arms = store_.ArmsOf(callee);
      const ValueId then_value = ThoseThatTake(arms.then_value, args);
      const ValueId else_value = ThoseThatTake(arms.else_value, args);
      if (!then_value || !else_value) return then_value ? then_value : else_value;
      return store_.Select(arms.condition, then_value, else_value);
    }
    case ValueKind::Function:
      return TakesArguments(value.function(), store_.ReceiverOf(callee).has_value(), args) ? callee : ValueId::None();
    case ValueKind::Class: {
      const FuncId init = tables_.program.FindMethod(value.class_id(), Intern("__init__"));
      return !init || TakesArguments(init, true, args) ? callee : ValueId::None();
    }
    default:
      return callee;
  }
}

}  // namespace allranks::variation
