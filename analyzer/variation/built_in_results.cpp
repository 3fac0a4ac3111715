#include "analyzer/variation/built_in_results.h"

#include <algorithm>
#include <string>

#include "analyzer/variation/containers.h"

namespace allranks::variation {

std::optional<ValueId> BuiltInResults::OfDisplay(std::string_view builtin, ValueId items) const {
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
  if (!is_display || !is_python_) return std::nullopt;
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

std::optional<ValueId> BuiltInResults::Quantified(uint32_t site, ValueId items, bool of_all) const {
  const ValueId known = LookThrough(tables_, items);
  if (!store_[known].is_derived(tables_.NameSymbol(kComprehended))) return std::nullopt;
  const ValueId element = store_.Kids(known)[0];
  const Axes axes = store_.axes(element);
  const bool is_of_data = !axes.empty() && Without(axes, knowledge::kSoftAxes).empty();
  if (!is_of_data || !store_.axes(store_.Kids(known).back()).empty()) return std::nullopt;
  return store_.Select(store_.Symbol(site, {}), element, of_all ? store_.True() : store_.False());
}

std::optional<ValueId> BuiltInResults::NamedTupleClass(ValueId fields) const {
  const ValueId known = LookThrough(tables_, fields);
  std::vector<ValueId> names;
  if (store_[known].kind == ValueKind::Str && store_[known].name()) {
    std::string_view text = Text(known);
    while (!text.empty()) {
      const size_t end = std::min(text.find_first_of(", "), text.size());
      if (end > 0) names.push_back(store_.Str(tables_.program.names->Intern(text.substr(0, end))));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else if (store_[known].kind == ValueKind::Tuple) {
    names.assign(store_.Kids(known).begin(), store_.Kids(known).end());
  }
  const bool are_texts = std::ranges::all_of(names, [&](ValueId name) { return store_[name].kind == ValueKind::Str; });
  if (names.empty() || !are_texts) return std::nullopt;
  return store_.Derived(tables_.NameSymbol("collections.namedtuple"), names);
}

ValueId BuiltInResults::NamedTuple(uint32_t site, ValueId of_class, std::span<const CallArgument> args) const {
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
  return store_.Make(Value::Dict(DictKind::Places, site), kids);
}

ValueId BuiltInResults::StartsWith(ValueId text, ValueId prefix) const {
  if (store_[text].kind == ValueKind::Select) return store_.OfArms(text, [&](ValueId arm) { return StartsWith(arm, prefix); });
  const bool has_parts = store_[text].is_binary(ir::BinaryOp::Add) || store_[text].is_derived(tables_.NameSymbol("f-string"));
  const ValueId first = has_parts && store_[text].kid_count > 0 ? store_.Kids(text)[0] : text;
  if (store_[first].kind == ValueKind::Str && prefix && store_[prefix].kind == ValueKind::Str) {
    const std::string_view begin = Text(first);
    const std::string_view wanted = Text(prefix);
    if (first == text || begin.size() >= wanted.size()) return store_.Bool(begin.starts_with(wanted));
    if (!wanted.starts_with(begin)) return store_.False();
  }
  const ValueId parts[] = {text, prefix};
  return store_.Derived(tables_.NameSymbol("startswith"), std::span(parts).first(prefix ? 2 : 1));
}

ValueId BuiltInResults::SpelledOut(ValueId text) const {
  const ValueId known = LookThrough(tables_, text);
  if (store_[known].is_binary(ir::BinaryOp::Add)) {
    const auto [left, right] = store_.OperandsOf(known);
    const ValueId first = SpelledOut(left);
    const ValueId second = SpelledOut(right);
    const bool are_texts = store_[first].kind == ValueKind::Str && store_[second].kind == ValueKind::Str;
    return are_texts ? store_.Str(tables_.program.names->Intern(std::string(Text(first)) + std::string(Text(second)))) : known;
  }
  if (!store_[known].is_derived(tables_.NameSymbol("f-string"))) return known;
  std::string spelled;
  for (const ValueId part : store_.Kids(known)) {
    const ValueId inner = LookThrough(tables_, part);
    if (store_[inner].kind != ValueKind::Str || !store_[inner].name()) return known;
    spelled += Text(inner);
  }
  return store_.Str(tables_.program.names->Intern(spelled));
}

ValueId BuiltInResults::TypeTest(ValueId object, ValueId type) const {
  const ValueId known = LookThrough(tables_, object);
  if (store_[known].kind == ValueKind::Object && type && store_[type].kind == ValueKind::External) {
    const knowledge::ClassId own = tables_.knowledge.FindClass(store_[known].name());
    const knowledge::ClassId asked = tables_.knowledge.FindClass(store_[type].name());
    if (own && asked && tables_.knowledge.IsSubclass(own, asked)) return store_.True();
  }
  const ValueId kids[] = {known, type};
  return store_.Derived(tables_.NameSymbol("isinstance"), kids);
}

bool BuiltInResults::IsShape(ValueId value) const {
  const Value& known = store_[value];
  if (known.kind == ValueKind::Select) return IsShape(store_.ArmsOf(value).then_value) && IsShape(store_.ArmsOf(value).else_value);
  const bool is_shape = known.is_derived(tables_.NameSymbol("shape")) || known.is_derived(tables_.NameSymbol("size"));
  return is_shape && known.kid_count == 1;
}

}  // namespace allranks::variation
