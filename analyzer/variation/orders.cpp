// Sequences in another order, or of which some items are taken, by a function of the program: `sorted(peers, key=...)`, `items.reverse()`,
// `filter(is_mine, items)`. What the function answers for an item, one that stands for all, says by what the order or the number of items
// differs between ranks.
#include <algorithm>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/library_call.h"

namespace allranks::variation {

// What a call of a function of the program with such an item gives; none of anything else. It is no call that stands in the text.
ValueId FunctionEvaluator::Answered(ir::ExprId site, ValueId function, ValueId item) {
  const ValueId known = function ? LookThrough(tables_, function) : function;
  if (!known || !item || store_[known].kind != ValueKind::Function) return {};
  const CallArgument argument{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = item};
  const size_t recorded = facts_.calls.size();
  const ValueId answer = Call(site, known, {&argument, 1});
  facts_.calls.resize(recorded);
  return answer;
}

// What `key=` makes of an item, if ranks that hold the same items get different keys of them.
ValueId FunctionEvaluator::KeyOfEach(ir::ExprId site, std::span<const CallArgument> args) {
  const auto key = std::ranges::find_if(args, [&](const CallArgument& arg) { return arg.kind == ir::ArgKind::Keyword && Text(arg.keyword) == "key"; });
  if (key == args.end() || args[0].kind != ir::ArgKind::Positional || !args[0].expr) return {};
  const ValueId item = iterations_.Over(args[0].expr, args[0].value).element;
  const ValueId answer = Answered(site, key->value, item);
  if (!answer) return {};
  return Without(store_.axes(answer), store_.axes(item) | knowledge::kSoftAxes).empty() ? ValueId() : answer;
}

// `[0, 1]`, `range(2)`: the items of a list of a few; none of any other.
std::vector<ValueId> FunctionEvaluator::FewItems(ValueId list) {
  constexpr size_t kFew = 4;
  const ValueId known = LookThrough(tables_, list);
  const auto kids = store_.Kids(known);
  if (store_[known].kind == ValueKind::Tuple && !store_[known].is_set() && kids.size() <= kFew) return {kids.begin(), kids.end()};
  const bool is_range = store_[known].is_derived(tables_.NameSymbol("builtins.range")) && kids.size() == 1;
  const std::optional<uint32_t> count = is_range ? store_[kids[0]].count() : std::nullopt;
  std::vector<ValueId> items;
  for (uint32_t i = 0; i < count.value_or(0) && *count <= kFew; ++i) items.push_back(store_.Int(i));
  return items;
}

// Which of a few items comes first by its key on each rank; both orders of two. None of more than two that are sorted, or of which a key
// is not known.
ValueId FunctionEvaluator::FirstOfFew(ir::ExprId site, std::string_view builtin, std::span<const CallArgument> args) {
  const std::vector<ValueId> items = FewItems(args[0].value);
  if (args.size() != 2 || items.size() < 2 || (builtin == "sorted" && items.size() > 2)) return {};
  std::vector<ValueId> keys;
  for (const ValueId item : items) {
    const ValueId key = Answered(site, args[1].value, item);
    if (!key) return {};
    keys.push_back(store_.IsTruth(key) ? store_.Select(key, store_.Int(1), store_.Int(0)) : key);
  }
  if (builtin == "sorted") {
    const ValueId turned[] = {items[1], items[0]};
    return store_.Select(store_.Compare(ir::CompareOp::Less, keys[1], keys[0]), store_.Tuple(turned), store_.Tuple(items));
  }
  ValueId first = items[0];
  ValueId key_of_first = keys[0];
  for (size_t i = 1; i < items.size(); ++i) {
    const ValueId is_before = store_.Compare(builtin == "max" ? ir::CompareOp::Greater : ir::CompareOp::Less, keys[i], key_of_first);
    first = store_.Select(is_before, items[i], first);
    key_of_first = store_.Select(is_before, keys[i], key_of_first);
  }
  return first;
}

// `sorted`, `min` and `max` by a key that ranks have different ones of, and the least of numbers that ranks agreed on one of.
std::optional<ValueId> FunctionEvaluator::Ordered(ir::ExprId site, std::string_view builtin, NameId name, std::span<const CallArgument> args) {
  if (builtin != "sorted" && builtin != "min" && builtin != "max") return std::nullopt;
  if (args.size() < 2 || !args[0].value) return std::nullopt;
  if (const ValueId key = KeyOfEach(site, args)) {
    if (const ValueId known = FirstOfFew(site, builtin, args)) return known;
    const ValueId parts[] = {args[0].value, key};
    return store_.Derived(tables_.NameSymbol(name), parts, store_.axes(key));
  }
  const bool are_numbers = std::ranges::all_of(args, [](const CallArgument& arg) { return arg.kind == ir::ArgKind::Positional && arg.value; });
  if (builtin != "min" || !are_numbers) return std::nullopt;
  const auto least = std::ranges::find_if(args, [&](const CallArgument& arg) { return store_.IsAgreed(arg.value); });
  const bool differs = std::ranges::any_of(args, [&](const CallArgument& arg) { return !store_.axes(arg.value).empty(); });
  return differs && least != args.end() ? std::optional(least->value) : std::nullopt;
}

// `items.sort(key=...)`, `items.reverse()`
void FunctionEvaluator::Reorder(const ir::Expr& callee, std::span<const CallArgument> args) {
  if (callee.kind != ir::ExprKind::Attribute || module_.language != ir::Language::Python) return;
  const std::string_view method = Text(ir::AttrOf(callee));
  const ir::ExprId list = ir::ObjectOf(callee);
  if ((method != "sort" && method != "reverse") || module_[list].kind != ir::ExprKind::Name) return;
  const ValueId before = tables_.facts.value(func_.module, list);
  const ValueId known = before ? LookThrough(tables_, before) : before;
  if (!known || store_[known].kind != ValueKind::Tuple || store_[known].is_set()) return;
  std::vector<ValueId> items(store_.Kids(known).begin(), store_.Kids(known).end());
  if (method == "reverse") {
    std::ranges::reverse(items);
    return Replace(list, before, store_.Tuple(items));
  }
  std::vector<CallArgument> all = {{.kind = ir::ArgKind::Positional, .keyword = {}, .expr = list, .value = before}};
  all.insert(all.end(), args.begin(), args.end());
  if (const ValueId key = KeyOfEach(list, all)) {
    if (const ValueId sorted = FirstOfFew(list, "sorted", all)) return Replace(list, before, sorted);
    const ValueId parts[] = {before, key};
    Replace(list, before, store_.Derived(tables_.NameSymbol("builtins.sorted"), parts, store_.axes(key)));
  }
}

// Lazy sequences: those of which the number of items is not known by what they are made of are told by another name than the call, so
// that nobody counts them (iterations.cpp).
std::optional<ValueId> FunctionEvaluator::Taken(ir::ExprId site, std::string_view name, NameId symbol, std::span<const CallArgument> args) {
  const bool is_plain = std::ranges::all_of(args, [](const CallArgument& arg) { return arg.kind == ir::ArgKind::Positional && arg.value; });
  if (name == "collections.deque" && is_plain && args.size() == 1) return DerivedCall(store_, tables_.NameSymbol("builtins.list"), {}, args);
  if ((name == "itertools.chain" || name == "itertools.product") && !is_plain) {
    return DerivedCall(store_, tables_.NameSymbol(std::string(name) + "(*)"), {}, args);
  }
  const bool is_filter = name == "builtins.filter";
  if ((!is_filter && name != "itertools.takewhile" && name != "itertools.dropwhile") || !is_plain || args.size() != 2 || !args[1].expr) return std::nullopt;
  const Iteration whole = iterations_.Over(args[1].expr, args[1].value);
  const ValueId answer = Answered(site, args[0].value, whole.element);
  if (!answer) return std::nullopt;
  const ValueId decided_by[] = {whole.trip_count, answer};
  const ValueId count = containers_.Count(decided_by);
  if (!is_filter) {
    const ValueId parts[] = {args[1].value, count};
    return store_.Derived(tables_.NameSymbol(symbol), parts);
  }
  std::vector<ValueId> kids = {whole.element};
  const bool is_of_items = store_[whole.element].kind == ValueKind::Unknown && store_.Mentions(answer, whole.element);
  if (is_of_items && store_.axes(args[1].value).empty()) kids.insert(kids.end(), {args[1].value, whole.element, answer});
  kids.push_back(count);
  const ValueId filtered = store_.Derived(tables_.NameSymbol(kComprehended), kids);
  return store_.axes(answer).has(Axis::Data) ? store_.WithMark(filtered, tables_.RaggedMark()) : filtered;
}

}  // namespace allranks::variation
