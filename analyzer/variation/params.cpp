// What is assumed of a parameter where a function is looked at by itself, and of the methods behind a name.
#include <algorithm>
#include <unordered_set>

#include "analyzer/ir/outline.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {
namespace {

bool IsListType(std::string_view name) {
  return name == "list" || name == "List" || name == "Sequence" || name == "Iterable" || name == "set" || name == "Set";
}

bool IsTableType(std::string_view name) {
  return name == "dict" || name == "Dict" || name == "Mapping" || name == "MutableMapping" || name == "OrderedDict" || name == "defaultdict";
}

bool IsObject(ValueKind kind) {
  return kind == ValueKind::Object || kind == ValueKind::Instance || kind == ValueKind::Group;
}

}  // namespace

bool Tables::IsModuleClass(binding::ClassId class_id) const {
  for (const knowledge::ClassId base : known_bases[class_id.index]) {
    if (knowledge[base].is_module) return true;
  }
  // Bases that could not be followed (a model library's own): `forward` with nobody else to call it.
  return std::ranges::any_of(program.classes[class_id].external_bases, [&](NameId name) {
    return program.text(name).ends_with("Module") || program.text(name).ends_with("Model");
  });
}

bool Tables::IsAbstract(FuncId method) const {
  return MustBeOverridden(method) || ir::IsStub(program.module_of(method), program.function(method));
}

bool Tables::IsInterface(binding::ClassId class_id) const {
  const bool is_one = std::ranges::any_of(known_bases[class_id.index], [&](knowledge::ClassId base) { return knowledge[base].is_interface; });
  return is_one && std::ranges::all_of(program.classes[class_id].methods, [&](const auto& method) { return IsAbstract(method.second); });
}

bool Tables::MustBeOverridden(FuncId method) const {
  const ir::Module& module = program.module_of(method);
  const ir::Function& function = program.function(method);
  const bool is_marked = std::ranges::any_of(function.decorators, [&](ir::ExprId decorator) {
    return binding::DecoratorName(program, program.funcs[method].module, decorator) == "abstractmethod";
  });
  const auto raises = [&](ir::StmtId id) { return module[id].kind == ir::StmtKind::Raise; };
  return is_marked || (ir::IsStub(module, function) && std::ranges::any_of(module.statements(function.body), raises));
}

std::vector<Override> Tables::Overrides(binding::ClassId class_id, NameId name) const {
  std::vector<Override> overrides;
  for (const binding::ClassId subclass : program.classes[class_id].subclasses) {
    for (const auto& [own_name, own_method] : program.classes[subclass].methods) {
      if (own_name == name && !IsAbstract(own_method)) overrides.push_back({subclass, own_method});
    }
  }
  return overrides;
}

FuncId Tables::MostSpecific(binding::ClassId class_id, FuncId method, NameId name) const {
  if (method && !IsAbstract(method)) return method;
  const std::vector<Override> overrides = Overrides(class_id, name);
  return overrides.size() == 1 ? overrides[0].method : method;
}

ValueId Tables::HintValue(const knowledge::Hint& hint) {
  ValueId value;
  if (hint.value) value = FormulaValue(*this, hint.value, nullptr, {}, {});
  else if (hint.type) value = store.Make(Value::Object(hint.type), {});
  if (!value) return value;
  Value by_name = store[value];
  by_name.flags |= kByNameOnly;
  const auto kids = store.Kids(value);
  return store.Make(by_name, kids);
}

// A type written as text, which may be defined further down: `"Trainer"`, `"hooks.Hook"`.
ValueId Tables::TypeNamed(ir::ModuleId module, NameId text) {
  if (!text) return {};
  std::string_view rest = program.text(text);
  binding::Target target{.kind = binding::TargetKind::Module, .module = module};
  while (!rest.empty() && target.kind == binding::TargetKind::Module) {
    const size_t dot = rest.find('.');
    const NameId part = program.names->Find(rest.substr(0, dot));
    if (!part) return {};
    target = program.Lookup(target.module, part);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  if (target.kind == binding::TargetKind::Class && rest.empty()) {
    const knowledge::ClassId known = known_classes[target.class_id.index];
    if (!known) return store.Make(Value::Class(target.class_id), {});
    return store.Make(Value::External(knowledge[known].name), {});
  }
  if (target.kind != binding::TargetKind::External) return {};
  const std::string qualified = std::string(program.text(target.name)) + (rest.empty() ? "" : "." + std::string(rest));
  return store.Make(Value::External(program.names->Intern(qualified)), {});
}

// Some objects of a class, how many is not known.
ValueId Tables::ListOf(ValueId item) {
  if (!item) return {};
  const ValueId kids[] = {item, store.Symbol(NameSymbol("how many"), {})};
  return store.Derived(NameSymbol(kComprehended), kids);
}

// `str, Hook` of `dict[str, Hook]`: pairs of some key and such an object, how many is not known.
ValueId Tables::TableOf(FuncId function, ir::ExprId types) {
  const ir::Module& module = program.module_of(function);
  if (module[types].kind != ir::ExprKind::Tuple || ir::Items(module, module[types]).size() != 2) return {};
  const ValueId item = AnnotatedValue(function, ir::Items(module, module[types])[1]);
  if (!item) return {};
  const ValueId pair[] = {store.Symbol(NameSymbol("some key"), {}), item};
  return ListOf(store.Tuple(pair));
}

// `group: dist.ProcessGroup`, `trainer: "Trainer"`, `accelerator: Accelerator | None`, `hooks: list[Hook]`.
ValueId Tables::AnnotatedValue(FuncId function, ir::ExprId annotation) {
  const ir::Module& module = program.module_of(function);
  const ir::Expr& expr = module[annotation];
  if (expr.kind == ir::ExprKind::Subscript) {
    const ir::Expr& outer = module[ir::ObjectOf(expr)];
    const NameId name = outer.kind == ir::ExprKind::Name        ? ir::NameOf(outer)
                        : outer.kind == ir::ExprKind::Attribute ? ir::AttrOf(outer)
                                                                : NameId::None();
    if (program.text(name) == "Optional") return AnnotatedValue(function, ir::IndexOf(expr));
    if (IsTableType(program.text(name))) return TableOf(function, ir::IndexOf(expr));
    return IsListType(program.text(name)) ? ListOf(AnnotatedValue(function, ir::IndexOf(expr))) : ValueId::None();
  }
  if (expr.kind == ir::ExprKind::Binary) {
    const ValueId left = AnnotatedValue(function, ir::LeftOf(expr));
    return left ? left : AnnotatedValue(function, ir::RightOf(expr));
  }
  const bool is_text = expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str;
  if (!is_text && expr.kind != ir::ExprKind::Name && expr.kind != ir::ExprKind::Attribute) return ValueId::None();
  const ir::ModuleId module_id = program.funcs[function].module;
  const ValueId type = is_text ? TypeNamed(module_id, ir::TextOf(expr)) : facts.value(module_id, annotation);
  if (!type) return ValueId::None();
  const Value& value = store[type];
  if (value.kind == ValueKind::Class) return IsInterface(value.class_id()) ? ValueId::None() : store.Make(Value::Instance(value.class_id()), {});
  if (value.kind != ValueKind::External) return ValueId::None();
  const knowledge::ClassId known = knowledge.FindClass(value.name());
  if (!known) return ValueId::None();
  const knowledge::Class& known_class = knowledge[known];
  if (known_class.is_tensor || known_class.is_plain) return ValueId::None();
  if (known_class.is_group) {
    const Value group = Value::Group(GroupKind::Unknown, SiteSymbol(function, module[annotation].begin, SiteUse::Value));
    return store.Make(group.AsCommunicator(known_class.name), {});
  }
  return store.Make(Value::Object(known_class.name), {});
}

// What a framework passes to the hook of it that `function` overrides.
ValueId Tables::HookParam(FuncId function, uint32_t index) {
  const binding::ClassId owner = program.funcs[function].owner;
  if (!owner) return ValueId::None();
  const ir::Function& definition = program.function(function);
  for (const knowledge::ClassId base : known_bases[owner.index]) {
    const knowledge::EntryId hook = knowledge.FindMember(base, definition.name);
    if (!hook) continue;
    for (const auto& [name, yield] : knowledge[hook].param_types) {
      if (name != definition.params[index].name) continue;
      const uint32_t symbol = SiteSymbol(function, definition.params[index].begin, SiteUse::Value);
      switch (yield.kind) {
        case knowledge::YieldKind::Object:
          return store.Make(Value::Object(yield.type), {});
        case knowledge::YieldKind::Varies:
        case knowledge::YieldKind::Uniform:
          return yield.mark ? store.WithMark(store.Symbol(symbol, yield.axes), yield.mark)
                            : store.Symbol(symbol, yield.axes);
        default:
          return ValueId::None();
      }
    }
  }
  return ValueId::None();
}

ValueId Tables::Assume(FuncId function, uint32_t index) {
  Assumption& known = assumed_[ParamIndex(function, index)];
  if (known.round == round) return known.value;
  // A parameter that is handed round a circle of calls meets itself: there it is not known.
  known = {.value = {}, .round = round};
  const ir::Param& param = program.function(function).params[index];
  ValueId value = HookParam(function, index);
  if (!value) value = ReadParam(function, index);
  const bool is_known = value && IsObject(store[LookThrough(*this, value)].kind);
  if (!is_known) {
    if (const ValueId declared = DeclaredParam(function, index)) value = declared;
  }
  // What a number is by default is what it says, whatever its name: `def reduce(tensor, rank=0)`.
  const ValueId usual = DefaultOf(function, index);
  const bool is_number = usual && store[usual].count();
  if (!value && !is_number) {
    if (const knowledge::Hint* hint = knowledge.FindHint(param.name)) value = HintValue(*hint);
  }
  // Not yet: while callers are still being seen, nothing is final.
  known = {.value = value, .round = round > 1 ? round : 0};
  return value;
}

ValueId Tables::Close(ValueId value, FuncId function) {
  for (FuncId at = function; at && value && store.has_param(value); at = program.funcs[at].parent) {
    std::vector<ValueId> assumed(program.function(at).params.size());
    for (uint32_t i = 0; i < assumed.size(); ++i) {
      assumed[i] = AssumedParam(at, i);
      if (!assumed[i] || store.has_param(assumed[i])) {
        assumed[i] = store.Symbol(SiteSymbol(at, program.function(at).params[i].begin, SiteUse::Value), {});
      }
    }
    ValueStore::Memo memo;
    const ValueId open = value;
    value = store.Substitute(open, at, assumed, memo);
    NoteConditions(open, [&](ValueId condition) { return store.Substitute(condition, at, assumed, memo); });
  }
  // A flag that a signal sets is set for others to read.
  return value ? Kept(value, Without(knowledge::kSurroundings, Axes::Of(Axis::Signals))) : value;
}

// Of the choices in a value: `FSDP(net) if world_size > 1 else net`. What ranks decide, each by its number, is no matter of callers.
void Tables::NoteConditions(ValueId open, const std::function<ValueId(ValueId)>& close) {
  constexpr size_t kMost = 200;
  std::unordered_set<uint32_t> seen;
  std::vector<ValueId> work = {open};
  while (!work.empty() && seen.size() < kMost) {
    const ValueId at = work.back();
    work.pop_back();
    if (!at || !store.has_param(at) || !seen.insert(at.index).second) continue;
    const auto kids = store.Kids(at);
    work.insert(work.end(), kids.begin(), kids.end());
    if (store[at].kind != ValueKind::Select || !store.has_param(kids[0])) continue;
    const ValueId closed = close(kids[0]);
    const bool is_setting = !store.has_param(closed) && store.axes(closed).empty() && !IsConstant(store[closed]);
    if (!is_setting) continue;
    store.NoteClosed(closed, kids[0]);
    if (log != nullptr) log->closed.emplace_back(closed, kids[0]);
  }
}

bool Tables::IsNoRank(ValueId usual) const {
  constexpr uint32_t kLeast = 2;
  return usual && store[usual].count() >= kLeast;
}

bool Tables::IsRagged(ValueId value) {
  if (store[value].mark && store[value].mark == ragged_mark) return true;
  if (store[value].kind == ValueKind::Select) return IsRagged(store.ArmsOf(value).then_value) || IsRagged(store.ArmsOf(value).else_value);
  const bool is_changed = store[value].is_derived(NameSymbol(kGrown)) || store[value].is_derived(NameSymbol(kShrunk));
  if (!is_changed) return false;
  return !store.axes(store.Kids(value)[2]).empty() || IsRagged(store.Kids(value)[0]);
}

ValueId Tables::Kept(ValueId value, Axes lost) {
  if (!value || (store.axes(value) & lost).empty()) return value;
  // A list that grew differently on each rank stays so wherever it is kept.
  if (IsRagged(value)) return value;
  if (const ValueId filled = KeptFilledUp(value, lost)) return filled;
  const auto [it, added] = settings_.emplace(value, ValueId::None());
  if (added) it->second = store.Symbol(store.NewSymbol(), Without(store.axes(value), lost));
  return it->second;
}

// A list that is filled up to the length of the longest stays as long on all ranks, whatever is in it.
ValueId Tables::KeptFilledUp(ValueId value, Axes lost) {
  if (store[value].kind != ValueKind::Binary) return {};
  const Operands sum = store.OperandsOf(value);
  if (!store.FilledUpTo(sum.left, sum.right)) return {};
  const ValueId items = Kept(sum.left, lost);
  const auto [filler, times] = store.OperandsOf(sum.right);
  const auto [most, length_before] = store.OperandsOf(times);
  const ValueId length = store.Make(Value::Derived(store[length_before].symbol()), {&items, 1});
  const ValueId still_missing = store.Binary(ir::BinaryOp::Sub, most, length);
  return store.Binary(ir::BinaryOp::Add, items, store.Binary(ir::BinaryOp::Mul, filler, still_missing));
}

ValueId LookThrough(Tables& tables, ValueId value) {
  constexpr int kLongest = 8;
  for (int step = 0; step < kLongest && value; ++step) {
    const Value& seen = tables.store[value];
    if (seen.kind == ValueKind::Param) {
      const ValueId assumed = tables.AssumedParam(seen.function(), seen.param_index());
      if (!assumed || tables.store.has_param(assumed)) return value;
      value = assumed;
      continue;
    }
    if (seen.is_derived(DerivedKind::Field)) {
      value = tables.store.FieldOf(value).usual;
      continue;
    }
    if (seen.kind != ValueKind::Select) return value;
    const Arms arms = tables.store.ArmsOf(value);
    const ValueId then_value = LookThrough(tables, arms.then_value);
    const ValueId else_value = LookThrough(tables, arms.else_value);
    if (then_value == else_value) return then_value;
    const ValueId either = tables.store.SomeObject(then_value);
    if (either == tables.store.SomeObject(else_value)) return either;
    if (tables.store[else_value].kind == ValueKind::None) return then_value;
    if (tables.store[then_value].kind == ValueKind::None) return else_value;
    const auto is_unknown = [&](ValueId id) {
      return tables.store[id].kind == ValueKind::Unknown || tables.store[id].kind == ValueKind::Derived;
    };
    const auto is_object = [&](ValueId id) { return IsObject(tables.store[id].kind); };
    // One object of one class, wrapped or not (`model = DDP(model)` under a condition): the wrapper says more.
    const auto is_bare = [&](ValueId id) { return tables.store[id].kind == ValueKind::Instance; };
    if (is_object(then_value) && (is_unknown(else_value) || (is_bare(else_value) && !is_bare(then_value)))) {
      return then_value;
    }
    if (is_object(else_value) && is_unknown(then_value)) return else_value;
    return value;
  }
  return value;
}

}  // namespace allranks::variation
