#include "analyzer/variation/argument_binding.h"

#include <algorithm>

namespace allranks::variation {

// The parameters of one function while they get their values.
class ArgumentBinding::Filling {
 public:
  Filling(ValueStore& store, const ir::Function& definition) : values(definition.params.size()), store_(store), params_(definition.params) {}

  void Keyword(NameId keyword, ValueId value) {
    bool is_named = false;
    for (uint32_t i = 0; i < values.size(); ++i) {
      if (params_[i].name != keyword) continue;
      values[i] = value;
      is_named = true;
    }
    if (!is_named) further_.insert(further_.end(), {store_.Str(keyword), value});
  }

  void Positional(ValueId value) {
    while (next_ < values.size() && params_[next_].kind == ir::ParamKind::KeywordOnly) ++next_;
    if (next_ >= values.size() || params_[next_].kind == ir::ParamKind::DoubleStar) return;
    if (params_[next_].kind != ir::ParamKind::Star) {
      values[next_++] = value;
      return;
    }
    std::vector<ValueId> items;
    if (values[next_]) items.assign(store_.Kids(values[next_]).begin(), store_.Kids(values[next_]).end());
    items.push_back(value);
    values[next_] = store_.Tuple(items);
  }

  // Keywords that no parameter is named after.
  bool has_further() const { return !further_.empty(); }
  ValueId Further() const { return store_.Make(Value::Dict(DictKind::Keywords), further_); }

  std::vector<ValueId> values;

 private:
  ValueStore& store_;
  const std::vector<ir::Param>& params_;
  uint32_t next_ = 0;
  std::vector<ValueId> further_;  // key, value, key, value
};

ir::ExprId ArgumentExpr(const ir::Function& definition, uint32_t index, bool has_receiver, std::span<const CallArgument> args) {
  uint32_t position = has_receiver ? 1 : 0;
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Positional && position++ == index) return arg.expr;
    if (arg.kind == ir::ArgKind::Keyword && definition.params[index].name == arg.keyword) return arg.expr;
  }
  return ir::ExprId::None();
}

ArgumentBinding::Bound ArgumentBinding::ToFunction(FuncId function, ValueId receiver, std::span<const CallArgument> args) const {
  const ir::Function& definition = tables_.program.function(function);
  Filling filling(store_, definition);
  Bound bound;
  // `*args` of unknown length, `**options` of unknown names: what is not bound may be anything.
  bool open = false;
  // `**options` as the caller got them, whatever they are.
  ValueId handed_on_whole;
  bool is_first = true;
  bool by_name_only = false;
  if (receiver) filling.Positional(receiver);
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Positional && !open) filling.Positional(arg.value);
    if (arg.kind == ir::ArgKind::Keyword) filling.Keyword(arg.keyword, arg.value);
    if (arg.kind == ir::ArgKind::DoubleStar) {
      std::optional<std::vector<Item>> handed_on = containers_.KnownItems(arg.value);
      if (!handed_on) handed_on = HandedOn(arg);
      if (!handed_on && OwnerOfFields(arg.value)) bound.fields = &arg;
      handed_on_whole = is_first && !handed_on && arg.value == OwnKeywords() ? arg.value : ValueId();
      is_first = false;
      open = open || !handed_on;
      for (const Item& item : handed_on.value_or(std::vector<Item>())) filling.Keyword(store_[item.key].name(), item.value);
    }
    if (arg.kind == ir::ArgKind::Star) {
      const ValueId known = LookThrough(tables_, arg.value);
      const bool is_known = store_[known].kind == ValueKind::Tuple;
      if (is_known) std::ranges::for_each(store_.Kids(known), [&](ValueId item) { filling.Positional(item); });
      open = open || !is_known;
      by_name_only = by_name_only || !is_known;
    }
  }
  bound.values = filling.values;
  const bool takes_keywords = !definition.params.empty() && definition.params.back().kind == ir::ParamKind::DoubleStar;
  if (takes_keywords) bound.values.back() = open ? store_.Symbol(tables_.NameSymbol("**"), {}) : filling.Further();
  if (!open) FillDefaults(function, bound.values);
  if (handed_on_whole && !filling.has_further()) FillHandedOn(function, handed_on_whole, by_name_only, bound.values);
  return bound;
}

// A parameter to which nothing else was bound gets what is handed on under its name, and `**options` are those of the caller.
// `by_name_only`: some that are taken by their place may be bound already.
void ArgumentBinding::FillHandedOn(FuncId function, ValueId keywords, bool by_name_only, std::vector<ValueId>& bound) const {
  const ir::Function& definition = tables_.program.function(function);
  for (uint32_t i = 0; i < bound.size(); ++i) {
    const ir::Param& param = definition.params[i];
    if (param.kind == ir::ParamKind::DoubleStar) bound[i] = keywords;
    const bool is_open = by_name_only && param.kind != ir::ParamKind::KeywordOnly;
    if (bound[i] || is_open || !IsPlain(param.kind) || !param.default_value) continue;
    const ValueId parts[] = {keywords, store_.Str(param.name), tables_.DefaultOf(function, i)};
    if (parts[2]) bound[i] = store_.Derived(tables_.NameSymbol("get"), parts);
  }
}

void ArgumentBinding::FillDefaults(FuncId function, std::vector<ValueId>& bound) const {
  const ir::Function& definition = tables_.program.function(function);
  for (uint32_t i = 0; i < bound.size(); ++i) {
    if (!bound[i] && definition.params[i].default_value) bound[i] = tables_.DefaultOf(function, i);
  }
}

std::vector<ValueId> ArgumentBinding::ToEntry(const knowledge::Entry& entry, std::span<const CallArgument> args) const {
  std::vector<ValueId> bound(entry.params.size());
  uint32_t next = 0;
  // Behind `*` stands what is passed by name alone.
  const auto by_place = static_cast<size_t>(std::ranges::find_if(entry.params, [&](base::NameId param) { return tables_.program.text(param) == "*"; }) - entry.params.begin());
  // `torch.save(*args)`: what is written where is asked, while an operation has the arguments that are seen.
  const bool takes_items = !entry.roles.empty() && !entry.has_operation;
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::DoubleStar) FillItems(entry, arg, bound);
    if (arg.kind == ir::ArgKind::Positional && next < by_place) bound[next++] = arg.value;
    if (arg.kind == ir::ArgKind::Star && takes_items) {
      for (int64_t item = 0; next < by_place; ++item) {
        const ValueId parts[] = {arg.value, store_.Int(item)};
        bound[next++] = store_.Derived(tables_.NameSymbol("[]"), parts);
      }
    }
    if (arg.kind != ir::ArgKind::Keyword) continue;
    const auto param = std::ranges::find(entry.params, arg.keyword);
    if (param != entry.params.end()) bound[param - entry.params.begin()] = arg.value;
  }
  return bound;
}

// `**options`, where the items of the dictionary are known.
void ArgumentBinding::FillItems(const knowledge::Entry& entry, const CallArgument& options, std::vector<ValueId>& bound) const {
  std::optional<std::vector<Item>> known = containers_.KnownItems(options.value, false);
  if (!known) known = HandedOn(options);
  // `**{**more, "async_op": True}`: what is said is said, whatever else there is.
  if (!known && options.value && store_[options.value].kind == ValueKind::Dict) {
    known.emplace();
    for (const Item item : store_.ItemsOf(options.value)) known->push_back(item);
  }
  for (const Item& item : known.value_or(std::vector<Item>())) {
    if (!item.key || store_[item.key].kind != ValueKind::Str) continue;
    const auto param = std::ranges::find(entry.params, store_[item.key].name());
    if (param != entry.params.end()) bound[param - entry.params.begin()] = item.value;
  }
}

ValueId ArgumentBinding::ThoseThatTake(ValueId callee, std::span<const CallArgument> args) const {
  const Value& value = store_[callee];
  switch (value.kind) {
    case ValueKind::Select: {
      const Arms arms = store_.ArmsOf(callee);
      const ValueId then_value = ThoseThatTake(arms.then_value, args);
      const ValueId else_value = ThoseThatTake(arms.else_value, args);
      if (!then_value || !else_value) return then_value ? then_value : else_value;
      return store_.Select(arms.condition, then_value, else_value);
    }
    case ValueKind::Function:
      return Takes(value.function(), store_.ReceiverOf(callee).has_value(), args) ? callee : ValueId::None();
    case ValueKind::Class: {
      const FuncId init = tables_.program.FindMethod(value.class_id(), tables_.program.names->Intern("__init__"));
      return !init || Takes(init, true, args) ? callee : ValueId::None();
    }
    default:
      return callee;
  }
}

// Whether Python would bind the arguments to the parameters.
bool ArgumentBinding::Takes(FuncId function, bool has_receiver, std::span<const CallArgument> args) const {
  const ir::Function& definition = tables_.program.function(function);
  const auto has = [&](ir::ParamKind kind) {
    return std::ranges::any_of(definition.params, [&](const ir::Param& param) { return param.kind == kind; });
  };
  size_t positional = has_receiver ? 1 : 0;
  std::vector<bool> is_given(definition.params.size());
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Star || arg.kind == ir::ArgKind::DoubleStar) return true;
    if (arg.kind == ir::ArgKind::Positional) {
      ++positional;
      continue;
    }
    const auto param = std::ranges::find_if(definition.params, [&](const ir::Param& each) {
      return IsPlain(each.kind) && each.name == arg.keyword;
    });
    if (param != definition.params.end()) is_given[param - definition.params.begin()] = true;
    else if (!has(ir::ParamKind::DoubleStar)) return false;
  }
  for (size_t i = 0; i < definition.params.size(); ++i) {
    const ir::Param& param = definition.params[i];
    if (!IsPlain(param.kind)) continue;
    const bool by_position = param.kind != ir::ParamKind::KeywordOnly && positional > 0;
    if (by_position) --positional;
    if (!by_position && !is_given[i] && !param.default_value) return false;
  }
  return positional == 0 || has(ir::ParamKind::Star);
}

// `options` of `def train(**options)`; none of other functions.
ValueId ArgumentBinding::OwnKeywords() const {
  const std::vector<ir::Param>& params = tables_.program.function(caller_).params;
  if (params.empty() || params.back().kind != ir::ParamKind::DoubleStar) return {};
  return definitions_.Param(caller_, static_cast<uint32_t>(params.size() - 1));
}

// `def resnet50(**options): return ResNet(**options)`: the keywords of the one call of the caller, if there is but one.
std::optional<std::vector<Item>> ArgumentBinding::HandedOn(const CallArgument& arg) const {
  // Something may have been added.
  if (!OwnKeywords() || arg.value != OwnKeywords()) return std::nullopt;
  const ValueId passed = tables_.ReadParam(caller_, static_cast<uint32_t>(tables_.program.function(caller_).params.size() - 1));
  if (!passed || store_[passed].kind != ValueKind::Dict) return std::nullopt;
  std::vector<Item> items;
  for (const Item item : store_.ItemsOf(passed)) items.push_back(item);
  return items;
}

ValueId ArgumentBinding::KeywordPassed(const CallArgument& options, ValueId key) const {
  const auto passed = HandedOn(options);
  if (!passed) return {};
  const auto item = std::ranges::find(*passed, key, &Item::key);
  return item == passed->end() ? ValueId() : item->value;
}

ValueId ArgumentBinding::OwnerOfFields(ValueId mapping) const {
  const Value& value = store_[mapping];
  const bool is_fields = value.is_derived(tables_.NameSymbol(kFieldTable)) && value.kid_count == 1;
  return is_fields ? store_.Kids(mapping)[0] : ValueId();
}

}  // namespace allranks::variation
