// Which argument of a call a parameter gets. What nobody can bind, as after `*args` of unknown length, stays unbound: the
// parameter may be anything.
#include <algorithm>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {
namespace {

bool IsPlain(ir::ParamKind kind) { return kind != ir::ParamKind::Star && kind != ir::ParamKind::DoubleStar; }

}  // namespace

std::vector<ValueId> FunctionEvaluator::BindFunction(FuncId function, ValueId receiver,
                                                     std::span<const CallArgument> args) {
  const ir::Function& definition = tables_.program.function(function);
  std::vector<ValueId> bound(definition.params.size());
  uint32_t next = 0;
  // `*args` of unknown length, `**options` of unknown names: what is not bound may be anything.
  bool open = false;
  // `**vars(options)`
  const CallArgument* fields = nullptr;
  // `**options` as this function got them, whatever they are.
  ValueId handed_on_whole;
  bool is_first = true;
  bool by_name_only = false;
  // Key, value, key, value: keywords that no parameter is named after.
  std::vector<ValueId> further;
  const auto bind_keyword = [&](NameId keyword, ValueId value) {
    bool is_named = false;
    for (uint32_t i = 0; i < bound.size(); ++i) {
      if (definition.params[i].name != keyword) continue;
      bound[i] = value;
      is_named = true;
    }
    if (!is_named) further.insert(further.end(), {store_.Str(keyword), value});
  };
  const auto bind_positional = [&](ValueId value) {
    while (next < bound.size() && definition.params[next].kind == ir::ParamKind::KeywordOnly) ++next;
    if (next >= bound.size()) return;
    const ir::ParamKind kind = definition.params[next].kind;
    if (kind == ir::ParamKind::DoubleStar) return;
    if (kind == ir::ParamKind::Star) {
      std::vector<ValueId> items;
      if (bound[next]) items.assign(store_.Kids(bound[next]).begin(), store_.Kids(bound[next]).end());
      items.push_back(value);
      bound[next] = store_.Tuple(items);
      return;
    }
    bound[next++] = value;
  };
  if (receiver) bind_positional(receiver);
  for (const CallArgument& arg : args) {
    if (arg.kind == ir::ArgKind::Positional && !open) bind_positional(arg.value);
    if (arg.kind == ir::ArgKind::DoubleStar) {
      std::optional<std::vector<Item>> handed_on = containers_.KnownItems(arg.value);
      if (!handed_on) handed_on = HandedOn(arg);
      if (!handed_on && OwnerOfFields(arg.value)) fields = &arg;
      handed_on_whole = is_first && !handed_on && arg.value == OwnKeywords() ? arg.value : ValueId();
      is_first = false;
      open = open || !handed_on;
      for (const Item& item : handed_on.value_or(std::vector<Item>())) bind_keyword(store_[item.key].name(), item.value);
    }
    if (arg.kind == ir::ArgKind::Star) {
      const ValueId known = LookThrough(tables_, arg.value);
      if (store_[known].kind != ValueKind::Tuple) {
        open = true;
        by_name_only = true;
        continue;
      }
      const auto items = store_.Kids(known);
      for (const ValueId item : items) bind_positional(item);
    }
    if (arg.kind == ir::ArgKind::Keyword) bind_keyword(arg.keyword, arg.value);
  }
  if (!definition.params.empty() && definition.params.back().kind == ir::ParamKind::DoubleStar)
    bound.back() = open ? UnknownKeywords() : store_.Make(Value::Dict(DictKind::Keywords), further);
  if (!open) BindDefaults(function, bound);
  if (handed_on_whole && further.empty()) BindHandedOn(function, handed_on_whole, by_name_only, bound);
  if (fields != nullptr) BindFields(function, *fields, bound);
  return bound;
}

// A parameter to which nothing else was bound gets what is handed on under its name, and `**options` are those of this function.
// `by_name_only`: some that are taken by their place may be bound already.
void FunctionEvaluator::BindHandedOn(FuncId function, ValueId keywords, bool by_name_only, std::vector<ValueId>& bound) {
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

// A parameter to which nothing else was bound gets the field of its name.
void FunctionEvaluator::BindFields(FuncId function, const CallArgument& fields, std::vector<ValueId>& bound) {
  const ir::Function& definition = tables_.program.function(function);
  const ValueId owner = OwnerOfFields(fields.value);
  for (uint32_t i = 0; i < bound.size(); ++i) {
    const ir::Param& param = definition.params[i];
    if (!bound[i] && IsPlain(param.kind)) bound[i] = Member(fields.expr, owner, param.name);
  }
}

// `vars(options)`, `options.__dict__`: the object whose fields are meant; none of anything else.
ValueId FunctionEvaluator::OwnerOfFields(ValueId mapping) {
  const Value& value = store_[mapping];
  const bool is_fields = value.is_derived(tables_.NameSymbol(kFieldTable)) && value.kid_count == 1;
  return is_fields ? store_.Kids(mapping)[0] : ValueId();
}

// Whether Python would bind the arguments to the parameters.
bool FunctionEvaluator::TakesArguments(FuncId function, bool has_receiver, std::span<const CallArgument> args) const {
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

void FunctionEvaluator::BindDefaults(FuncId function, std::vector<ValueId>& bound) {
  const ir::Function& definition = tables_.program.function(function);
  for (uint32_t i = 0; i < bound.size(); ++i) {
    const ir::Param& param = definition.params[i];
    if (bound[i] || !param.default_value) continue;
    bound[i] = tables_.DefaultOf(function, i);
  }
}

// `options` of `def train(**options)`; none of other functions.
ValueId FunctionEvaluator::OwnKeywords() {
  if (function_.params.empty() || function_.params.back().kind != ir::ParamKind::DoubleStar) return {};
  return definitions_.Param(id_, static_cast<uint32_t>(function_.params.size() - 1));
}

ValueId FunctionEvaluator::UnknownKeywords() { return store_.Symbol(tables_.NameSymbol("**"), {}); }

// `def resnet50(**options): return ResNet(**options)`: the keywords of the one call of this function, if there is but
// one.
std::optional<std::vector<Item>> FunctionEvaluator::HandedOn(const CallArgument& arg) {
  // Something may have been added.
  if (!OwnKeywords() || arg.value != OwnKeywords()) return std::nullopt;
  const ValueId passed = tables_.ReadParam(id_, static_cast<uint32_t>(function_.params.size() - 1));
  if (!passed || store_[passed].kind != ValueKind::Dict) return std::nullopt;
  std::vector<Item> items;
  for (const Item item : store_.ItemsOf(passed)) items.push_back(item);
  return items;
}

// `options["lr"]` in `def train(**options)`, where there is but one call of this function; none if it does not pass that.
ValueId FunctionEvaluator::KeywordPassed(ir::ExprId options, ValueId value, ValueId key) {
  const auto passed = HandedOn({.kind = ir::ArgKind::DoubleStar, .keyword = {}, .expr = options, .value = value});
  if (!passed) return {};
  const auto item = std::ranges::find(*passed, key, &Item::key);
  return item == passed->end() ? ValueId() : item->value;
}

}  // namespace allranks::variation
