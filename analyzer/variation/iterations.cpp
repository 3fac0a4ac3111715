#include "analyzer/variation/iterations.h"

#include <algorithm>

#include "analyzer/variation/equal_shares.h"
#include "analyzer/variation/made_with.h"
#include "analyzer/variation/rounds.h"

namespace allranks::variation {

Iteration Iterations::Over(ir::ExprId site, ValueId iterable) const {
  if (!iterable) return {Unseen(site), Unseen(site, 1)};
  const ValueId known = LookThrough(tables_, iterable);
  if (const ValueId contents = ContentsOf(tables_, known)) return Over(site, contents);
  const Value value = store_[known];
  // What each caller lists: `for key in keys: os.environ.get(key)`.
  if (store_[iterable].kind == ValueKind::Param && containers_.AreConstants(known)) {
    const ValueId element = store_.Element(iterable, store_.Symbol(Site(site, SiteUse::Which), {}));
    return {element, store_.Derived(tables_.NameSymbol(kRounds), {&iterable, 1})};
  }
  if (value.kind == ValueKind::Tuple && value.kid_count > 0) {
    return OverItems(site, known, value.is_set() ? OrderOf(known) : Axes());
  }
  if (const ValueId keys = containers_.PartsOf(known, "keys")) return OverItems(site, keys);
  if (containers_.IsRepeated(known)) return {store_.Kids(store_.OperandsOf(known).left)[0], store_.OperandsOf(known).right};
  if (value.kind == ValueKind::Derived) return OfOperation(site, known);
  if (value.kind == ValueKind::Select) return OfChoice(site, known);
  if (const std::optional<Iteration> ran = of_running_(site, known)) return *ran;
  return OfUnknown(site, iterable);
}

Iteration Iterations::OverItems(ir::ExprId site, ValueId tuple, Axes order) const {
  const auto items = store_.Kids(tuple);
  // Nested too deeply for the store: what it holds was dropped.
  if (items.empty()) return OfUnknown(site, tuple);
  ValueId element = items.back();
  for (size_t i = items.size() - 1; i-- > 0 && items.size() <= kMostItemsApart;) {
    if (items[i] == element) continue;
    const ValueId which = store_.Symbol(Site(site, SiteUse::Which, static_cast<uint32_t>(i)), order);
    element = store_.Select(which, items[i], element);
  }
  if (items.size() > kMostItemsApart) element = store_.Derived(tables_.NameSymbol("element"), items, order);
  return {element, store_.Int(static_cast<int64_t>(items.size()))};
}

// `enumerate(x)`, `zip(a, b)`, `range(n)`, `x.items()` and the like are known by the symbol they were derived with.
Iteration Iterations::OfOperation(ir::ExprId site, ValueId iterable) const {
  const uint32_t symbol = store_[iterable].symbol();
  const auto kids = store_.Kids(iterable);
  const auto is = [&](std::string_view name) { return symbol == tables_.NameSymbol(name); };
  if (is("builtins.range") && !kids.empty()) {
    const ValueId first = Bound(site, kids[0]);
    ValueId count = kids.size() == 1 ? first : store_.Binary(ir::BinaryOp::Sub, Bound(site, kids[1]), first);
    const bool goes_down = kids.size() == 3 && store_[kids[2]].kind == ValueKind::Int && *store_[kids[2]].integer() < 0;
    if (goes_down) count = store_.Binary(ir::BinaryOp::Sub, first, Bound(site, kids[1]));
    // A step that ranks share divides what differs already; one that differs makes it differ.
    const bool has_own_step = kids.size() == 3 && (!store_.axes(kids[2]).empty() || store_.has_param(kids[2]));
    const bool has_step = kids.size() == 3 && store_[kids[2]].count() > 1u;
    if (has_own_step || has_step) count = RoundedUp(store_, count, kids[2]);
    if (!store_.axes(count).empty() && EqualShares(tables_).IsAsLong(iterable)) count = store_.Symbol(Site(site, SiteUse::Value, 1), {});
    Axes axes;
    for (const ValueId kid : kids) axes = axes | store_.axes(kid);
    return {store_.Symbol(Site(site), axes), count};
  }
  if (is("builtins.enumerate") && !kids.empty()) {
    const Iteration inner = Over(site, kids[0]);
    const ValueId parts[] = {store_.Symbol(Site(site), {}), inner.element};
    return {store_.Tuple(parts), inner.trip_count};
  }
  if (is("builtins.zip") && !kids.empty()) {
    std::vector<ValueId> parts;
    std::vector<ValueId> trips;
    for (const ValueId kid : kids) {
      const Iteration inner = Over(site, kid);
      parts.push_back(inner.element);
      trips.push_back(inner.trip_count);
    }
    return {store_.Tuple(parts), Least(tables_, trips)};
  }
  if (is(kGrown)) return OfGrown(site, iterable);
  if (is(kShrunk)) {
    const Change change = containers_.ChangeOf(iterable);
    const Iteration whole = Over(site, change.before);
    const ValueId counts[] = {whole.trip_count, change.how_often};
    return {change.item ? store_.WithAxes(whole.element, store_.axes(change.item)) : whole.element, containers_.Count(counts)};
  }
  if (is(kRefilled)) {
    const ValueId item = store_.Derived(tables_.NameSymbol("element"), {&iterable, 1});
    return {item, Over(site, kids[0]).trip_count};
  }
  // How many items a condition on the rank takes of a list that is known is counted where the rank is known.
  const Axes taken = is(kComprehended) && kids.size() == kKnownParts ? store_.axes(kids[3]) : Axes{};
  const bool is_of_rank = !taken.empty() && (taken & knowledge::kSoftAxes).empty();
  if (is_of_rank) return {kids[0], store_.Derived(tables_.NameSymbol("builtins.len"), {&iterable, 1})};
  if (is(kComprehended)) return {kids[0], containers_.Count({&kids.back(), 1})};
  for (const std::string_view view : {"keys", "values", "items"}) {
    if (!is(view) || kids.size() != 1) continue;
    const ValueId held = LookThrough(tables_, kids[0]);
    const ValueId contents = ContentsOf(tables_, held);
    const ValueId known = contents ? contents : held;
    if (const ValueId parts = containers_.PartsOf(known, view)) return OverItems(site, parts);
    if (const ValueId part = containers_.ViewedPart(view, known)) return {part, Over(site, known).trip_count};
  }
  if (is("items") && kids.size() == 1) {
    const Iteration inner = Over(site, Viewed(site, kids[0]));
    const ValueId parts[] = {store_.Derived(tables_.NameSymbol("key"), kids), inner.element};
    return {store_.Tuple(parts), inner.trip_count};
  }
  if (is("keys") && kids.size() == 1) return {store_.Derived(tables_.NameSymbol("key"), kids), Over(site, Viewed(site, kids[0])).trip_count};
  if ((is("keys") || is("values")) && !kids.empty()) return Over(site, Viewed(site, kids[0]));
  if (is("builtins.sorted") && kids.size() == 2 && !store_.axes(kids[1]).empty()) {
    // By a key that ranks have different ones of: the same items, in an order of their own.
    return {store_.Derived(tables_.NameSymbol("element"), {&iterable, 1}), Over(site, kids[0]).trip_count};
  }
  for (const std::string_view transparent : {"builtins.iter", "builtins.list", "builtins.tuple", "builtins.reversed",
                                             "builtins.sorted", "itertools.cycle"}) {
    if (is(transparent) && !kids.empty()) return Over(site, is("builtins.sorted") ? InOrder(kids[0]) : kids[0]);
  }
  if ((is("builtins.set") || is("builtins.frozenset")) && kids.size() == 1) {
    const ValueId listed = LookThrough(tables_, kids[0]);
    const ValueId count = OfUnknown(site, iterable).trip_count;
    if (store_[listed].kind == ValueKind::Tuple && store_[listed].kid_count > 0) return {OverItems(site, listed, OrderOf(listed)).element, count};
    const ValueId item = Over(site, kids[0]).element;
    const bool is_unknown = item == OfUnknown(site, kids[0]).element;
    // Of items that are not known it stays said that a set holds them.
    return {is_unknown ? OfUnknown(site, iterable).element : store_.WithAxes(item, OrderOf(kids[0], item)), count};
  }
  if (is("itertools.islice") && !kids.empty()) return OfSlice(site, iterable);
  if ((is("itertools.chain") || is("itertools.product")) && !kids.empty()) return OfSeveral(site, iterable, is("itertools.chain"));
  if ((is("itertools.takewhile") || is("itertools.dropwhile")) && kids.size() == 2) return {Over(site, kids[0]).element, kids[1]};
  return OfUnknown(site, iterable);
}

// `islice(items, stop)`, `islice(items, start, stop, step)`
Iteration Iterations::OfSlice(ir::ExprId site, ValueId slice) const {
  const std::vector<ValueId> kids(store_.Kids(slice).begin(), store_.Kids(slice).end());
  const Iteration whole = Over(site, kids[0]);
  const auto is_given = [&](size_t i) { return kids.size() > i && kids[i] && store_[kids[i]].kind != ValueKind::None; };
  const size_t end_at = kids.size() == 2 ? 1 : 2;
  const ValueId bounds[] = {whole.trip_count, is_given(end_at) ? Bound(site, kids[end_at]) : whole.trip_count};
  ValueId count = Least(tables_, bounds);
  if (end_at == 2 && is_given(1)) count = store_.Binary(ir::BinaryOp::Sub, count, kids[1]);
  if (is_given(3) && kids[3] != store_.Int(1)) count = RoundedUp(store_, count, kids[3]);
  if (!store_.axes(count).empty() && EqualShares(tables_).IsAsLong(slice)) count = store_.Symbol(Site(site, SiteUse::Value, 1), {});
  return {whole.element, count};
}

// `chain(first, second)` has the items of all one after the other, `product(first, second)` each with each.
Iteration Iterations::OfSeveral(ir::ExprId site, ValueId sequence, bool is_chain) const {
  const std::vector<ValueId> kids(store_.Kids(sequence).begin(), store_.Kids(sequence).end());
  std::vector<ValueId> parts;
  ValueId count;
  for (const ValueId kid : kids) {
    if (!kid) return OfUnknown(site, sequence);
    const Iteration inner = containers_.IsEmpty(kid) ? Iteration{ValueId::None(), store_.Int(0)} : Over(site, kid);
    count = !count ? inner.trip_count : store_.Binary(is_chain ? ir::BinaryOp::Add : ir::BinaryOp::Mul, count, inner.trip_count);
    if (inner.element) parts.push_back(inner.element);
  }
  if (!is_chain) return {parts.size() == kids.size() ? store_.Tuple(parts) : Unseen(site), count};
  ValueId element = parts.empty() ? Unseen(site) : parts.back();
  for (size_t i = parts.empty() ? 0 : parts.size() - 1; i-- > 0;) {
    element = store_.Select(store_.Symbol(Site(site, SiteUse::Which, static_cast<uint32_t>(i)), {}), parts[i], element);
  }
  return {element, count};
}

// A list that started with known items, mostly none, and had others added.
Iteration Iterations::OfGrown(ir::ExprId site, ValueId container) const {
  const auto [before, added, how_often] = containers_.ChangeOf(container);
  if (containers_.IsEmpty(LookThrough(tables_, before))) return {added, containers_.Count({&how_often, 1})};
  const Iteration first = Over(site, before);
  const ValueId counts[] = {first.trip_count, how_often};
  return {store_.Select(store_.Symbol(Site(site), {}), added, first.element), containers_.Count(counts)};
}

// One of two, decided before the loop: an empty list yields nothing to look at.
Iteration Iterations::OfChoice(ir::ExprId site, ValueId iterable) const {
  const Arms arms = store_.ArmsOf(iterable);
  const auto of_arm = [&](ValueId arm) {
    return containers_.IsEmpty(arm) ? Iteration{ValueId::None(), store_.Int(0)} : Over(site, arm);
  };
  const Iteration then_part = of_arm(arms.then_value);
  const Iteration else_part = of_arm(arms.else_value);
  const ValueId count = store_.Select(arms.condition, then_part.trip_count, else_part.trip_count);
  if (!then_part.element) return {else_part.element ? else_part.element : Unseen(site), count};
  if (!else_part.element) return {then_part.element, count};
  return {store_.Select(arms.condition, then_part.element, else_part.element), count};
}

// The items of a rank's own data are its own; how many there are is the same on all ranks unless something made it
// differ: a slice by the rank, a filter, a list that grew on some ranks.
Iteration Iterations::OfUnknown(ir::ExprId site, ValueId iterable) const {
  const ValueId kids[] = {iterable};
  const ValueId element = store_.Derived(tables_.NameSymbol("element"), kids);
  const Axes own = containers_.AxesOfCount(iterable);
  if (!own.empty() && EqualShares(tables_).IsAsLong(iterable)) return {element, store_.Symbol(Site(site, SiteUse::Value, 1), {})};
  if (own == store_.axes(iterable)) return {element, store_.Derived(tables_.NameSymbol(kRounds), kids)};
  const auto flags = static_cast<uint8_t>(store_[iterable].flags & kOfArguments);
  return {element, store_.Make(Value::Unknown(Site(site), own, flags), {})};
}

// Texts come out of a set in another order in each process. `item`: one that stands for all of them, if they are not known one by one.
Axes Iterations::OrderOf(ValueId items, ValueId item) const {
  const auto kids = item ? std::span<const ValueId>(&item, 1) : store_.Kids(items);
  const bool has_texts = std::ranges::any_of(kids, [&](ValueId kid) { return kid && IsOneText(tables_, kid); });
  return has_texts && (item || kids.size() > 1) && !ignores_order_ ? Axes::Of(Axis::HashOrder) : Axes{};
}

// What a set was made of: in an order that the program says.
ValueId Iterations::InOrder(ValueId value) const {
  const ValueId known = LookThrough(tables_, value);
  const Value set = store_[known];
  const auto kids = store_.Kids(known);
  if (set.is_set()) return store_.Tuple(kids);
  const bool is_call = set.is_derived(tables_.NameSymbol("builtins.set")) || set.is_derived(tables_.NameSymbol("builtins.frozenset"));
  return is_call && kids.size() == 1 ? InOrder(kids[0]) : value;
}

// What `x.keys()` goes over. What has an iteration of its own, as loaders do, is no dictionary: then `x` is something else here.
ValueId Iterations::Viewed(ir::ExprId site, ValueId container) const {
  const ValueId known = LookThrough(tables_, container);
  if (store_[known].kind == ValueKind::Select) return store_.OfArms(known, [&](ValueId arm) { return Viewed(site, arm); });
  if (const ValueId contents = ContentsOf(tables_, known)) return contents;
  return members_.Known(known, tables_.program.names->Intern("__iter__")) ? Unseen(site) : container;
}

// A bound of `range`: to go over `range(len(items))` is to go over the items.
ValueId Iterations::Bound(ir::ExprId site, ValueId number) const {
  const Value& value = store_[number];
  const bool is_length = value.kind == ValueKind::Derived && store_.IsLength(value.symbol()) && value.kid_count == 1;
  if (!is_length) return number;
  const ValueId counted = store_.Kids(number)[0];
  const Axes own = containers_.AxesOfCount(counted);
  if (store_.has_param(counted)) return store_.Derived(tables_.NameSymbol(kRounds), {&counted, 1});
  return own == value.axes ? number : store_.Symbol(Site(site, SiteUse::Value, 1), own);
}

}  // namespace allranks::variation
