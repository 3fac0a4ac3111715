// What functions of the language and of libraries make of items that are all seen: `any` and `sum` of a display, objects that are known by
// their attributes, tensors of one element, groups that lists of ranks make.
#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

// What a function makes of a display all of whose items are seen: `any([a, b])` is `a or b`. None: it is not known here.
std::optional<ValueId> FunctionEvaluator::OfDisplay(std::string_view builtin, ValueId items) {
  if (builtin == "str") {
    const ValueId printed = store_.PrintedNumber(items);
    return printed ? std::optional(printed) : std::nullopt;
  }
  const ValueId known = LookThrough(tables_, items);
  const bool is_range = store_[known].is_derived(tables_.NameSymbol("builtins.range")) && store_[known].kid_count == 1;
  if (is_range && store_.IsWholeNumber(store_.Kids(known)[0])) {
    if (builtin == "max") return store_.Binary(ir::BinaryOp::Sub, store_.Kids(known)[0], store_.Int(1));
    if (builtin == "min") return store_.Int(0);
  }
  const bool is_display = store_[known].kind == ValueKind::Tuple && !store_[known].is_set();
  if (!is_display || module_.language != ir::Language::Python) return std::nullopt;
  std::vector<ValueId> kids(store_.Kids(known).begin(), store_.Kids(known).end());
  if (builtin == "any" || builtin == "all") {
    for (ValueId& kid : kids) kid = store_.AsCondition(kid);
    return builtin == "any" ? store_.Or(kids) : store_.And(kids);
  }
  const auto is_number = [&](ValueId kid) { return store_.IsWholeNumber(kid) || store_.IsTruth(kid); };
  if (builtin == "sum" && std::ranges::all_of(kids, is_number)) {
    ValueId sum = store_.Int(0);
    for (const ValueId kid : kids) sum = store_.Binary(ir::BinaryOp::Add, sum, kid);
    return sum;
  }
  const bool is_constant = std::ranges::all_of(kids, [&](ValueId kid) { return store_[kid].kind == ValueKind::Int; });
  if (builtin != "sorted" || !is_constant) return std::nullopt;
  std::ranges::sort(kids, {}, [&](ValueId kid) { return *store_[kid].integer(); });
  return store_.Tuple(kids);
}

// `SimpleNamespace(rank=rank)`, `Point(x, y)` of `Point = namedtuple("Point", ["x", "y"])`; none of anything else.
std::optional<ValueId> FunctionEvaluator::MadeObject(ir::ExprId site, std::string_view name, std::span<const CallArgument> args) {
  const bool is_named = std::ranges::all_of(args, [](const CallArgument& arg) { return arg.kind == ir::ArgKind::Keyword && arg.value; });
  if ((name != "types.SimpleNamespace" && name != "argparse.Namespace") || !is_named || args.size() > kMostItemKids) return std::nullopt;
  std::vector<ValueId> kids;
  for (const CallArgument& arg : args) kids.insert(kids.end(), {store_.Str(arg.keyword), arg.value});
  const ValueId made = store_.Make(Value::Dict(DictKind::Attributes, Site(site)), kids);
  std::erase_if(env_.heap, [&](const HeapEntry& entry) { return IsKnownByAttributes(entry.object) && store_[entry.object].symbol() == store_[made].symbol(); });
  return made;
}

// `namedtuple("Point", ["x", "y"])`, `namedtuple("Point", "x y")`: the class, by the names of its fields; none if these are not known.
std::optional<ValueId> FunctionEvaluator::NamedTuple(ValueId fields) {
  const ValueId known = LookThrough(tables_, fields);
  std::vector<ValueId> names(store_.Kids(known).begin(), store_.Kids(known).end());
  if (store_[known].kind == ValueKind::Str && store_[known].name()) {
    names.clear();
    std::string_view text = Text(store_[known].name());
    while (!text.empty()) {
      const size_t end = std::min(text.find_first_of(", "), text.size());
      if (end > 0) names.push_back(store_.Str(Intern(text.substr(0, end))));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else if (store_[known].kind != ValueKind::Tuple) {
    return std::nullopt;
  }
  if (names.empty() || !std::ranges::all_of(names, [&](ValueId name) { return store_[name].kind == ValueKind::Str; })) return std::nullopt;
  return store_.Derived(tables_.NameSymbol("collections.namedtuple"), names);
}

// `Point(x, y)`, `Point(x=x, y=y)` of such a class; none if not all fields are given.
ValueId FunctionEvaluator::MakeNamedTuple(ir::ExprId site, ValueId of_class, std::span<const CallArgument> args) {
  const auto names = store_.Kids(of_class);
  if (args.size() != names.size() || names.size() > kMostItemKids) return {};
  std::vector<ValueId> kids;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto named = std::ranges::find_if(args, [&](const CallArgument& arg) {
      return arg.kind == ir::ArgKind::Keyword && store_.Str(arg.keyword) == names[i];
    });
    const bool is_placed = args[i].kind == ir::ArgKind::Positional;
    const ValueId value = is_placed ? args[i].value : named != args.end() ? named->value : ValueId();
    if (!value) return {};
    kids.insert(kids.end(), {names[i], value});
  }
  return store_.Make(Value::Dict(DictKind::Places, Site(site)), kids);
}

// `all(batch.get(k) is not None for k in keys)` asks each rank's data what it asks of one of the items, or says what holds
// of none. Of the ranks themselves it is another question for each item.
std::optional<ValueId> FunctionEvaluator::Quantified(ir::ExprId site, ValueId items, bool of_all) {
  const ValueId known = LookThrough(tables_, items);
  const bool is_listed = store_[known].is_derived(tables_.NameSymbol(kComprehended));
  if (!is_listed) return std::nullopt;
  const ValueId element = store_.Kids(known)[0];
  const Axes axes = store_.axes(element);
  const bool is_of_data = !axes.empty() && Without(axes, knowledge::kSoftAxes).empty();
  if (!is_of_data || !store_.axes(store_.Kids(known).back()).empty()) return std::nullopt;
  return store_.Select(store_.Symbol(Site(site), {}), element, of_all ? store_.True() : store_.False());
}

// `rand(1)`, `rand(())`, `randint(0, 10, (1,))`: whether the sizes that are passed make a tensor of one element. With a generator it
// is drawn from a stream of which something is said elsewhere, and on a device for what is computed there.
bool FunctionEvaluator::HasOneElement(std::span<const CallArgument> args) {
  std::vector<ValueId> sizes;
  bool is_said = false;
  for (const CallArgument& arg : args) {
    const bool is_size = arg.kind == ir::ArgKind::Keyword && Text(arg.keyword) == "size";
    const bool is_placed = arg.kind == ir::ArgKind::Keyword && (Text(arg.keyword) == "generator" || Text(arg.keyword) == "device");
    if (is_placed) return false;
    if (arg.kind != ir::ArgKind::Positional && !is_size) continue;
    const ValueId known = arg.value ? LookThrough(tables_, arg.value) : ValueId();
    if (!known) return false;
    if (store_[known].kind == ValueKind::Tuple) {
      sizes.assign(store_.Kids(known).begin(), store_.Kids(known).end());
      is_said = true;
    } else if (!is_said) {
      sizes.push_back(known);
    }
  }
  return (is_said || !sizes.empty()) && std::ranges::all_of(sizes, [&](ValueId size) { return size == store_.Int(1); });
}

// Of groups that lists of their ranks make (`new_subgroups_by_enumeration([[0, 1], [2, 3]])`) the one that each rank is in; none if
// these are not such lists.
ValueId FunctionEvaluator::GroupListing(ir::ExprId site, ValueId lists, ValueId parent) {
  const auto kids = store_.Kids(lists);
  const ValueId rank = store_.Coordinate(knowledge::Coordinate::GroupRank, {}, parent);
  const Value group = Value::Group(GroupKind::Created, Site(site));
  const bool is_made = store_[lists].is_derived(tables_.NameSymbol(kComprehended));
  if (is_made && kids.size() == kKnownParts && kids[3] == store_.True()) {
    const ValueId parts[] = {kids[0], kids[2], kids[1]};
    return store_.Select(store_.Compare(ir::CompareOp::In, rank, kids[0]), store_.Make(group, parts), store_.NoneValue());
  }
  if (store_[lists].kind != ValueKind::Tuple || kids.empty()) return {};
  ValueId color = store_.Int(-1);
  for (size_t i = kids.size(); i-- > 0;) {
    if (!store_.axes(kids[i]).empty()) return {};
    color = store_.Select(store_.Compare(ir::CompareOp::In, rank, kids[i]), store_.Int(static_cast<int64_t>(i)), color);
  }
  const ValueId parts[] = {parent, color};
  return store_.Make(Value::Group(GroupKind::Split, Site(site)), parts);
}

}  // namespace allranks::variation
