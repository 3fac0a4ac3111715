// The walk over calls: what is called, what it yields and what holds afterwards.
//
// A function of the program is evaluated once, over its parameters, and a call puts its arguments in (call_substitution.h): into what it
// returns, what it stores in its arguments and what it leaves behind (effects.h). A call of a library is told by knowledge
// (library_results.h). Of one of several functions each is called, and what holds then is merged.
//
// Invariant: a call that may run code of the program is recorded, so that its trace is built later (traces/build.cpp).
//
// Unsound: a callee that nobody knows changes nothing but what is handed to it.
#include <algorithm>

#include "analyzer/base/lowered.h"
#include "analyzer/base/option_attribute.h"
#include "analyzer/variation/equal_shares.h"
#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/process_start.h"

namespace allranks::variation {
namespace {

// The one method that all that a choice may be are, `loss.backward` of `loss` or `loss / steps`; none if they differ.
knowledge::EntryId CommonMethod(const ValueStore& store, ValueId callee) {
  const Value& value = store[callee];
  if (value.kind == ValueKind::BoundExternal) return value.entry();
  if (value.kind != ValueKind::Select) return {};
  const Arms arms = store.ArmsOf(callee);
  const knowledge::EntryId entry = CommonMethod(store, arms.then_value);
  return entry && entry == CommonMethod(store, arms.else_value) ? entry : knowledge::EntryId::None();
}

// What such a method is called on.
ValueId CommonReceiver(ValueStore& store, ValueId callee) {
  if (store[callee].kind != ValueKind::Select) return store.ReceiverOf(callee);
  return store.OfArms(callee, [&](ValueId arm) { return CommonReceiver(store, arm); });
}

// Python methods that change the container they are called on.
constexpr std::string_view kMutators[] = {"append", "extend", "insert", "add", "update", "setdefault"};

struct Remover {
  std::string_view method;
  Removal by_argument;
  Removal by_itself;
};

// Python methods that take items out of it.
constexpr Remover kRemovers[] = {
    {"pop", Removal::At, Removal::Last},     {"popitem", Removal::Last, Removal::Last}, {"popleft", Removal::Last, Removal::Last}, {"remove", Removal::Item, Removal::Item},
    {"discard", Removal::Item, Removal::Item}, {"clear", Removal::All, Removal::All},
};

}  // namespace

// `items.pop(0)`, `table.pop(key, None)`
void FunctionEvaluator::EvalRemoval(const ir::Expr& callee, std::span<const CallArgument> args) {
  if (callee.kind != ir::ExprKind::Attribute || module_.language != ir::Language::Python) return;
  const auto* const remover = std::ranges::find(kRemovers, Text(ir::AttrOf(callee)), &Remover::method);
  if (remover == std::end(kRemovers)) return;
  const bool needs_argument = remover->by_itself == Removal::Item;
  if (needs_argument && args.empty()) return;
  const bool is_sure = args.size() < 2 && remover->method != "discard";
  if (args.empty()) TakeOut(ir::ObjectOf(callee), remover->by_itself, {});
  else TakeOut(ir::ObjectOf(callee), remover->by_argument, args[0].value, is_sure);
}

ValueId FunctionEvaluator::EvalCall(ir::ExprId id, const ir::Expr& expr) {
  const ir::ExprId callee_expr = ir::CalleeOf(expr);
  const ValueId callee = Eval(callee_expr);
  std::vector<CallArgument> args;
  const uint32_t count = ir::ArgCount(module_, expr);
  args.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const ir::Arg arg = ir::ArgAt(module_, expr, i);
    args.push_back({.kind = arg.kind, .keyword = arg.keyword, .expr = arg.value, .value = EvalArgument(callee, arg.value)});
  }
  const ir::Expr& callee_node = module_[callee_expr];
  if (callee_node.kind == ir::ExprKind::Attribute && !args.empty() &&
      std::ranges::count(kMutators, Text(ir::AttrOf(callee_node))) > 0) {
    // C++'s ways to add several items: as many as the other container has.
    const bool adds_all = Text(ir::AttrOf(callee_node)) == "extend" && module_.language != ir::Language::Python;
    if (adds_all) trips_.push_back(iterations_.Over(args.back().expr, args.back().value).trip_count);
    const bool is_list = Text(ir::AttrOf(callee_node)) == "append" && module_.language == ir::Language::Python;
    const ir::ExprId table = ir::ObjectOf(callee_node);
    const bool is_update = Text(ir::AttrOf(callee_node)) == "update" && (PutFields(table, args) || PutAllIn(table, args));
    const bool is_default = Text(ir::AttrOf(callee_node)) == "setdefault" && PutDefault(ir::ObjectOf(callee_node), args);
    NoteTableChanged(ir::ObjectOf(callee_node));
    if (!is_update && !is_default) Mutate(ir::ObjectOf(callee_node), args.back().value, is_list);
    if (adds_all) trips_.pop_back();
  }
  EvalRemoval(callee_node, args);
  Reorder(callee_node, args);
  NoteOption(callee_node, args);
  if ((expr.flags & ir::kMethodCall) != 0) return CallMethod(id, callee_expr, callee, args);
  if ((callee_node.flags & ir::kConstructor) != 0 && store_[callee].kind == ValueKind::Class) {
    const binding::ClassId class_id = store_[callee].class_id();
    const FuncId constructor = tables_.program.FindFunction(func_.module, ir::SymbolOf(callee_node));
    if (!constructor) return Construct(id, callee, class_id, args);
    const ValueId object = definitions_.Instance(class_id);
    CallFunction(id, callee, constructor, object, args, CallKind::Construct);
    return object;
  }
  return Call(id, callee, args);
}

// A method that the front end resolved, its object being the first argument: the library's, an override, or the method
// itself.
ValueId FunctionEvaluator::CallMethod(ir::ExprId site, ir::ExprId name, ValueId callee,
                                      std::span<const CallArgument> args) {
  const NameId qualified = ir::NameOf(module_[name]);
  const ValueId object = LookThrough(tables_, args[0].value);
  const std::string_view text = Text(qualified);
  const size_t dot = text.rfind('.');
  const NameId member = Intern(text.substr(dot == std::string_view::npos ? 0 : dot + 1));
  knowledge::EntryId entry = knowledge_.FindEntry(qualified);
  if (!entry) {
    const knowledge::ClassId known = knowledge_.FindClass(Intern(text.substr(0, std::min(dot, text.size()))));
    if (known) entry = knowledge_.FindMember(known, member);
  }
  if (entry) return CallKnown(site, entry, object ? object : args[0].value, args.subspan(1));
  const bool is_defined = store_[callee].kind == ValueKind::Function;
  const bool is_virtual = !is_defined || (tables_.program.function(store_[callee].function()).flags & ir::kVirtual) != 0;
  const bool is_instance = object && store_[object].kind == ValueKind::Instance;
  binding::ClassId class_id = is_instance ? store_[object].class_id() : binding::ClassId();
  // What is kept in a container, or by a pointer that nothing here sets, is of the class that it is declared with, or below it.
  if (!is_instance && is_defined && is_virtual) class_id = tables_.program.funcs[store_[callee].function()].owner;
  if (is_virtual && class_id) {
    FuncId method = tables_.program.FindMethod(class_id, member);
    const std::vector<Override> overrides = tables_.Overrides(class_id, member);
    if (!method && !overrides.empty()) method = overrides[0].method;
    if (method) return Call(site, VirtualMethod(class_id, method, member, name), args.subspan(1));
  }
  return Call(site, callee, args);
}

// What a function stores through its parameters, assigned to the arguments.
void FunctionEvaluator::StoreInArguments(FuncId function, CallSubstitution& substitution, bool has_receiver,
                                         std::span<const CallArgument> args) {
  const std::vector<ValueId> stored = tables_.facts.functions[function].stored;
  const ir::Function& definition = tables_.program.function(function);
  for (uint32_t i = 0; i < stored.size(); ++i) {
    const ir::ExprId arg = stored[i] ? ArgumentExpr(definition, i, has_receiver, args) : ir::ExprId();
    if (arg) Store(arg, substitution(stored[i]));
  }
}

// Only what names a place can be stored in.
void FunctionEvaluator::Store(ir::ExprId target, ValueId value) {
  const ir::ExprKind kind = module_[target].kind;
  const bool is_place = kind == ir::ExprKind::Name || kind == ir::ExprKind::Attribute || kind == ir::ExprKind::Subscript;
  if (!is_place || !value) return;
  // The argument itself keeps what was passed: it is asked for that.
  const ValueId passed = tables_.facts.value(func_.module, target);
  if (kind == ir::ExprKind::Name && module_.language == ir::Language::Python) Replace(target, passed, value);
  else Assign(target, value);
  SetValue(target, passed);
}

// `parser.add_argument("--rank", default=4)`: what `args.rank` usually is. `type=int` makes a number of a text.
void FunctionEvaluator::NoteOption(const ir::Expr& callee, std::span<const CallArgument> args) {
  if (callee.kind != ir::ExprKind::Attribute || args.empty() || Text(ir::AttrOf(callee)) != "add_argument") return;
  const auto keyword = [&](std::string_view name) {
    return std::ranges::find_if(args, [&](const CallArgument& arg) { return arg.kind == ir::ArgKind::Keyword && Text(arg.keyword) == name; });
  };
  const auto usual = keyword("default");
  if (usual == args.end() || store_[args[0].value].kind != ValueKind::Str) return;
  const std::string name = base::OptionAttribute(Text(store_[args[0].value].name()));
  const ValueId value = keyword("type") == args.end() ? usual->value : store_.NumberOf(usual->value);
  tables_.Record(TableId::LooseFields, func_.module.index, Intern(name).index, value);
}

ValueId FunctionEvaluator::Call(ir::ExprId site, ValueId callee, std::span<const CallArgument> args) {
  const ValueId known = own_fields_.ObjectMeant(callee, LookThrough(tables_, callee));
  const Value value = store_[known];
  switch (value.kind) {
    case ValueKind::Function:
      return CallFunction(site, known, value.function(), store_.ReceiverOf(known), args, CallKind::Function);
    case ValueKind::External:
      return CallExternal(site, known, value.name(), args);
    case ValueKind::Class:
      return Construct(site, known, value.class_id(), args);
    case ValueKind::BoundExternal:
      return CallKnown(site, value.entry(), store_.ReceiverOf(known), args);
    case ValueKind::Instance:
    case ValueKind::Object:
      return CallObject(site, known, args);
    case ValueKind::Partial: {
      if (value.is_generator()) break;
      std::vector<CallArgument> all;
      const PartialCall partial = store_.PartialOf(known);
      for (const ValueId value_bound : partial.arguments) {
        all.push_back({.kind = ir::ArgKind::Positional, .keyword = {}, .expr = {}, .value = value_bound});
      }
      if (partial.keywords) {
        for (const Item item : store_.ItemsOf(partial.keywords)) {
          all.push_back({.kind = ir::ArgKind::Keyword, .keyword = store_[item.key].name(), .expr = {}, .value = item.value});
        }
      }
      all.insert(all.end(), args.begin(), args.end());
      return Call(site, partial.callee, all);
    }
    case ValueKind::Select: {
      if (const knowledge::EntryId method = CommonMethod(store_, known); method && store_[callee].kind != ValueKind::Param) {
        return CallKnown(site, method, CommonReceiver(store_, known), args);
      }
      const ValueId meant = module_.language == ir::Language::Python ? arguments_.ThoseThatTake(known, args) : known;
      if (meant && meant != known) return Call(site, meant, args);
      const size_t recorded = facts_.calls.size();
      const ValueId result = CallOneOf(site, known, args);
      facts_.calls.resize(recorded);
      // A parameter is what each caller hands in, whatever others do.
      Unresolved(site, store_[callee].kind == ValueKind::Param ? callee : known, args);
      return result;
    }
    case ValueKind::Derived:
      if (value.symbol() == tables_.NameSymbol("collections.namedtuple")) {
        if (const ValueId made = built_ins_.NamedTuple(Site(site), known, args)) return made;
      }
      break;
    default:
      break;
  }
  return Unresolved(site, callee, args);
}

// One of several functions is called: an overridden method, a callback out of a list. What the call yields is what
// the one that is called yields.
ValueId FunctionEvaluator::CallOneOf(ir::ExprId site, ValueId callee, std::span<const CallArgument> args) {
  const Value value = store_[callee];
  if (value.kind == ValueKind::Select) {
    const Arms arms = store_.ArmsOf(callee);
    const Env before = env_;
    const ValueId then_value = CallOneOf(site, arms.then_value, args);
    Env then_env = std::exchange(env_, before);
    const ValueId else_value = CallOneOf(site, arms.else_value, args);
    if (then_env.reachable && env_.reachable) MergeArms(arms.condition, std::move(then_env), std::move(env_));
    else if (then_env.reachable) env_ = std::move(then_env);
    return store_.Select(arms.condition, then_value, else_value);
  }
  const bool resolves = value.kind == ValueKind::Function || value.kind == ValueKind::BoundExternal ||
                        value.kind == ValueKind::External || value.kind == ValueKind::Class ||
                        value.kind == ValueKind::Object || (value.kind == ValueKind::Partial && !value.is_generator());
  if (resolves) return Call(site, callee, args);
  return UnknownCall(callee, args);
}

CallFact& FunctionEvaluator::RecordCall(std::vector<std::pair<ir::ExprId, CallFact>>& list, ir::ExprId site,
                                        CallKind kind, std::span<const ValueId> args) {
  std::vector<ValueId>& values = tables_.facts.values;
  CallFact fact{.kind = kind, .function = {}, .entry = {}, .callee = {}, .receiver = {},
                .args = static_cast<uint32_t>(values.size()), .arg_count = static_cast<uint32_t>(args.size())};
  values.insert(values.end(), args.begin(), args.end());
  list.emplace_back(site, fact);
  return list.back().second;
}

std::vector<ValueId> FunctionEvaluator::BindFunction(FuncId function, ValueId receiver, std::span<const CallArgument> args) {
  ArgumentBinding::Bound bound = arguments_.ToFunction(function, receiver, args);
  if (bound.fields != nullptr) BindFields(function, *bound.fields, bound.values);
  return std::move(bound.values);
}

// A parameter to which nothing else was bound gets the field of its name.
void FunctionEvaluator::BindFields(FuncId function, const CallArgument& fields, std::vector<ValueId>& bound) {
  const ir::Function& definition = tables_.program.function(function);
  const ValueId owner = arguments_.OwnerOfFields(fields.value);
  for (uint32_t i = 0; i < bound.size(); ++i) {
    const ir::Param& param = definition.params[i];
    if (!bound[i] && ArgumentBinding::IsPlain(param.kind)) bound[i] = Member(fields.expr, owner, param.name);
  }
}

ValueId FunctionEvaluator::CallFunction(ir::ExprId site, ValueId callee, FuncId function, ValueId receiver,
                                        std::span<const CallArgument> args, CallKind kind) {
  const ir::Function& definition = tables_.program.function(function);
  std::vector<ValueId> bound = BindFunction(function, receiver, args);
  for (ValueId& arg : bound) arg = AsItIsNow(arg);
  const bool hands_over = std::ranges::any_of(bound, [](ValueId arg) { return arg.has_value(); });
  const TableId table = hands_over && path_.IsAlone(tables_, id_) ? TableId::AloneParams : TableId::Params;
  for (uint32_t i = 0; i < bound.size(); ++i) {
    if (bound[i]) tables_.Record(table, function.index, i, Closed(bound[i]));
  }
  NoteDeclaredTypes(function, receiver.has_value(), args);
  if (definition.is_generator) {
    // Calling a generator runs nothing; iterating or entering it does.
    std::vector<ValueId> kids = {callee};
    kids.insert(kids.end(), bound.begin(), bound.end());
    return store_.Make(Value::Generator(function), kids);
  }
  CallFact& fact = RecordCall(facts_.calls, site, kind, bound);
  fact.function = function;
  fact.callee = callee;
  fact.receiver = receiver;
  const FunctionFacts& callee_facts = Evaluated(function);
  ForgetHeap(args, receiver);
  for (uint32_t i = 0; i < callee_facts.param_made_uniform.size(); ++i) {
    if (!callee_facts.param_made_uniform[i]) continue;
    if (const ir::ExprId arg = ArgumentExpr(definition, i, receiver.has_value(), args)) MakeUniform(arg, {.lost = kAllAxes});
  }
  CallSubstitution substitution(tables_, callee, function, bound);
  StoreInArguments(function, substitution, receiver.has_value(), args);
  TakeOver(function, substitution, path_.WithinStatement());
  TakeOverFields(site, callee, function, bound);
  if (kind == CallKind::Construct) return ValueId::None();
  if (!callee_facts.returns) return store_.Symbol(Site(site), {});
  return substitution(callee_facts.returns);
}

// A variable of unknown kind that is passed for `trainer: Trainer` is one from here on.
void FunctionEvaluator::NoteDeclaredTypes(FuncId function, bool has_receiver, std::span<const CallArgument> args) {
  const ir::Function& definition = tables_.program.function(function);
  for (uint32_t i = 0; i < definition.params.size(); ++i) {
    if (!definition.params[i].annotation) continue;
    const ir::ExprId arg = ArgumentExpr(definition, i, has_receiver, args);
    if (!arg || module_[arg].kind != ir::ExprKind::Name) continue;
    const auto slot = scope_.slots.find(ir::NameOf(module_[arg]));
    if (slot == scope_.slots.end() || !env_.slots[slot->second]) continue;
    const ValueKind kind = store_[LookThrough(tables_, env_.slots[slot->second])].kind;
    if (kind != ValueKind::Unknown && kind != ValueKind::Derived) continue;
    const ValueId declared = tables_.DeclaredParam(function, i);
    if (declared) env_.slots[slot->second] = declared;
  }
}

// A method may have assigned any attribute of its object, and any function those of its arguments. Of an object that is known by its
// attributes it is told what they were assigned.
void FunctionEvaluator::ForgetHeap(std::span<const CallArgument> args, ValueId receiver) {
  std::erase_if(env_.heap, [&](const HeapEntry& entry) {
    if (IsKnownByAttributes(entry.object) || IsOwnField(entry)) return false;
    return entry.object == receiver || std::ranges::any_of(args, [&](const CallArgument& arg) {
             return arg.value == entry.object;
           });
  });
}

ValueId FunctionEvaluator::CallObject(ir::ExprId site, ValueId object, std::span<const CallArgument> args) {
  const Value value = store_[object];
  if (value.kind == ValueKind::Instance) {
    const binding::ClassId class_id = value.class_id();
    for (const std::string_view name : {"__call__", "forward"}) {
      const FuncId method = members_.Method(object, Intern(name));
      if (!method || (name == "forward" && !tables_.IsModuleClass(class_id))) continue;
      const ValueId own = definitions_.Method(method, object, false);
      const ValueId called = members_.OrReplaced(object, Intern(name), own);
      if (called != own) return Call(site, called, args);
      return CallFunction(site, own, method, object, args, CallKind::Function);
    }
  }
  if (const knowledge::EntryId entry = members_.Known(object, Intern("__call__"))) {
    return CallKnown(site, entry, object, args);
  }
  return Unresolved(site, object, args);
}

ValueId FunctionEvaluator::Unresolved(ir::ExprId site, ValueId callee, std::span<const CallArgument> args) {
  std::vector<ValueId> values;
  for (const CallArgument& arg : args) values.push_back(arg.value);
  const ValueKind kind = callee ? store_[callee].kind : ValueKind::Unknown;
  const bool deferred = kind == ValueKind::Param || kind == ValueKind::Select;
  CallFact& fact = RecordCall(facts_.calls, site, deferred ? CallKind::Deferred : CallKind::Unresolved, values);
  fact.callee = callee;
  if (callee && kind == ValueKind::Derived && store_[callee].kid_count == 1) fact.receiver = store_.Kids(callee)[0];
  MayCall(site, args);
  StoreThroughAddresses(args, values);
  return UnknownCall(callee, args);
}

// `ask(&count)` of a function that nobody sees: the number is another one afterwards, which hangs on all that it was given.
void FunctionEvaluator::StoreThroughAddresses(std::span<const CallArgument> args, std::span<const ValueId> values) {
  for (const CallArgument& arg : args) {
    if (!arg.expr || (module_[arg.expr].flags & ir::kAddress) == 0) continue;
    AssignName(ir::NameOf(module_[arg.expr]), store_.Derived(Site(arg.expr, SiteUse::Unseen), values));
  }
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

// A method of an object is one function of it, not two.
ValueId FunctionEvaluator::UnknownCall(ValueId callee, std::span<const CallArgument> args) {
  const bool is_method = callee && store_[callee].kind == ValueKind::Derived && store_[callee].kid_count == 1;
  if (!is_method) return DerivedCall(store_, tables_.NameSymbol("()"), callee, args);
  const ValueId object = store_.Kids(callee)[0];
  const std::string_view method = Text(store_.DerivedBy(callee));
  if (method == "startswith" && args.size() == 1) return built_ins_.StartsWith(object, args[0].value);
  // `os.environ["RANK"].strip()`
  if (method == "strip" && args.empty() && variation::IsText(store_[object])) return object;
  if (method != "get" || args.empty()) return DerivedCall(store_, store_[callee].symbol(), object, args);
  if (const ValueId item = store_[args[0].value].kind == ValueKind::Str ? containers_.ItemIn(object, args[0].value) : ValueId()) return item;
  if (args.size() == 1) {
    if (const ValueId chosen = chosen_.ChosenBy(LookThrough(tables_, object), args[0].value)) return chosen;
  }
  return DerivedCall(store_, store_[callee].symbol(), containers_.WithKey(object, args[0].value, false), args);
}

// Some expressions that a member is read for stand nowhere in the text.
LibraryCall FunctionEvaluator::CallOf(ir::ExprId site, const knowledge::Entry& entry, std::span<const ValueId> by_param, ValueId receiver,
                                      std::span<const CallArgument> args) {
  const uint32_t symbol = site ? Site(site) : tables_.NameSymbol(entry.name);
  return {.site = symbol, .entry = entry, .by_param = by_param, .receiver = receiver, .args = args, .around = going_through_};
}

ValueId FunctionEvaluator::CallKnown(ir::ExprId site, knowledge::EntryId entry_id, ValueId receiver,
                                     std::span<const CallArgument> args) {
  const knowledge::Entry& entry = knowledge_[entry_id];
  std::vector<ValueId> bound = arguments_.ToEntry(entry, args);
  const ValueId handle = NewHandle(site, entry, bound);
  if (!entry.is_attribute || entry.has_operation) {
    CallFact& fact = RecordCall(facts_.calls, site, CallKind::Known, bound);
    fact.entry = entry_id;
    fact.receiver = receiver;
  }
  HandToWrapped(entry, receiver, args);
  const LibraryCall call = CallOf(site, entry, bound, receiver, args);
  for (const ProcessStart& start : ProcessStarts(tables_, call)) {
    for (uint32_t i = 0; i < start.values.size(); ++i) {
      if (start.values[i]) tables_.Record(TableId::Params, start.function.index, i, Closed(start.values[i]));
    }
  }
  NoteSignalHandlers(call);
  ValueId result;
  if (!entry.tuple.empty()) {
    std::vector<ValueId> parts;
    for (const knowledge::Yield& yield : entry.tuple) {
      parts.push_back(results_.Of(call, yield));
    }
    result = store_.Tuple(parts);
  } else {
    result = results_.Of(call, entry.yield);
  }
  ApplyUniform(site, call, result);
  for (const auto& [name, yield] : entry.stores) {
    const auto param = static_cast<size_t>(std::ranges::find(entry.params, name) - entry.params.begin());
    const auto keyword = std::ranges::find_if(args, [&](const CallArgument& arg) {
      return arg.kind == ir::ArgKind::Keyword && arg.keyword == name;
    });
    const bool is_positional = param < args.size() && args[param].kind == ir::ArgKind::Positional;
    if (!is_positional && keyword == args.end()) continue;
    const CallArgument& target = is_positional ? args[param] : *keyword;
    if (!target.expr) continue;
    const ValueId stored = results_.Of(call, yield);
    // The library gets the memory of a container, not the container.
    if (target.value && containers_.IsContainer(containers_.Itself(target.value))) Refill(target.expr, stored);
    else Store(target.expr, stored);
  }
  if (handle) StoreHandle(entry, handle, args);
  if (entry.exits || entry.raises) env_.reachable = false;
  return result;
}

// `signal.signal(SIGTERM, handler)`: it may run from here on, on each rank at another time.
void FunctionEvaluator::NoteSignalHandlers(const LibraryCall& call) {
  for (const knowledge::RoleOf& role : call.entry.roles) {
    const ValueId handler = role.role == knowledge::Role::HandlesSignals ? call.Passed(role.param) : ValueId();
    const ValueId known = handler ? LookThrough(tables_, handler) : ValueId();
    if (!known || store_[known].kind != ValueKind::Function) continue;
    const FuncId function = store_[known].function();
    const ValueId comes = store_.Symbol(tables_.SiteSymbol(function, tables_.program.function(function).begin, SiteUse::Called), Axes::Of(Axis::Signals));
    tables_.Record(TableId::Handlers, function.index, 0, comes);
    Evaluated(function);
    std::vector<ValueId> args(tables_.program.function(function).params.size());
    if (const ValueId receiver = store_.ReceiverOf(known); receiver && !args.empty()) args[0] = receiver;
    CallSubstitution substitution(tables_, known, function, args);
    TakeOver(function, substitution, comes);
  }
}

// `model(x)` of a wrapper: the `forward` of the module in it gets these arguments.
void FunctionEvaluator::HandToWrapped(const knowledge::Entry& entry, ValueId receiver, std::span<const CallArgument> args) {
  const bool is_object = receiver && store_[receiver].kind == ValueKind::Object && !store_.Kids(receiver).empty();
  const knowledge::ClassId class_id = is_object && entry.yield.mark ? knowledge_.FindClass(store_[receiver].name()) : knowledge::ClassId();
  if (!class_id || !knowledge_[class_id].is_module) return;
  const ValueId inner = LookThrough(tables_, store_.Kids(receiver)[0]);
  const bool is_own = inner && store_[inner].kind == ValueKind::Instance && tables_.IsModuleClass(store_[inner].class_id());
  const FuncId forward = is_own ? members_.Method(inner, Intern("forward")) : FuncId::None();
  if (!forward) return;
  const std::vector<ValueId> bound = BindFunction(forward, inner, args);
  for (uint32_t i = 1; i < bound.size(); ++i) {
    if (bound[i]) tables_.Record(TableId::Params, forward.index, i, Closed(bound[i]));
  }
}

// What is begun here is waited for by its handle: that of this call, where an argument says where it is stored.
ValueId FunctionEvaluator::NewHandle(ir::ExprId site, const knowledge::Entry& entry, std::vector<ValueId>& bound) {
  const knowledge::Operation& operation = entry.operation;
  const bool asks_for_one = operation.op_class == knowledge::OpClass::Wait || operation.op_class == knowledge::OpClass::Start ||
                            operation.op_class == knowledge::OpClass::Cancel;
  if (!entry.has_operation || !operation.handle_param || asks_for_one) return {};
  const auto param = std::ranges::find(entry.params, operation.handle_param);
  const auto index = static_cast<size_t>(param - entry.params.begin());
  if (index >= bound.size()) return {};
  return bound[index] = store_.Make(Value::Object(operation.kind, Site(site)), {});
}

void FunctionEvaluator::StoreHandle(const knowledge::Entry& entry, ValueId handle, std::span<const CallArgument> args) {
  const auto param = static_cast<size_t>(std::ranges::find(entry.params, entry.operation.handle_param) - entry.params.begin());
  if (param < args.size() && args[param].kind == ir::ArgKind::Positional && args[param].expr) Store(args[param].expr, handle);
}

void FunctionEvaluator::ApplyUniform(ir::ExprId site, const LibraryCall& call, ValueId& result) {
  const knowledge::Entry& entry = call.entry;
  if (entry.makes_uniform.empty()) return;
  if (entry.uniform_on_root_only) return ReplaceOnRoot(site, call);
  const Axes lost = SpannedBy(store_, GroupOf(tables_, call));
  const Agreement agreement{.lost = lost, .root = call.Passed(entry.operation.root_param), .bound = BoundOf(call)};
  for (const NameId name : entry.makes_uniform) {
    if (Text(name) == "return") {
      result = UniformResult(site, result, agreement);
      continue;
    }
    const auto param = std::ranges::find(entry.params, name);
    if (param == entry.params.end()) continue;
    const auto index = static_cast<uint32_t>(param - entry.params.begin());
    uint32_t position = 0;
    for (const CallArgument& arg : call.args) {
      const bool positional = arg.kind == ir::ArgKind::Positional && position++ == index;
      if (positional || (arg.kind == ir::ArgKind::Keyword && arg.keyword == name)) MakeUniform(arg.expr, agreement);
    }
  }
}

// Off the root of a reduce or gather a value is what it was, and on the root it is something else.
void FunctionEvaluator::ReplaceOnRoot(ir::ExprId site, const LibraryCall& call) {
  const ValueId root = call.Passed(call.entry.operation.root_param);
  for (const CallArgument& arg : call.args) {
    const bool is_named = arg.expr && module_[arg.expr].kind == ir::ExprKind::Name && arg.value;
    const bool is_replaced = is_named && std::ranges::any_of(call.entry.makes_uniform, [&](NameId name) { return call.Passed(name) == arg.value; });
    if (!root || !is_replaced) continue;
    const Axes axes = store_.axes(arg.value);
    // What differs by a rank's data is another value on each anyway.
    if (Without(axes, knowledge::kSoftAxes).empty() || !(axes & knowledge::kSoftAxes).empty()) continue;
    const ValueId is_root = store_.Compare(ir::CompareOp::Eq, store_.Coordinate(knowledge::Coordinate::Rank), root);
    Assign(arg.expr, store_.Select(is_root, store_.Symbol(Site(site, SiteUse::Reduced), {}), arg.value));
  }
}

// A reduced object or tuple keeps its shape.
ValueId FunctionEvaluator::UniformResult(ir::ExprId site, ValueId value, const Agreement& agreement) {
  if (store_[value].kind == ValueKind::Object || store_[value].kind == ValueKind::Group) return value;
  return store_.Uniform(value, agreement.lost, Site(site, SiteUse::Reduced), agreement.bound);
}

// `all_reduce(count, op=ReduceOp.MIN)`, `MPI_Allreduce(..., MPI_MIN, ...)`. A reduction of which nothing is said adds up.
DerivedKind FunctionEvaluator::BoundOf(const LibraryCall& call) const {
  const NameId param = call.entry.operation.reduce_op_param;
  if (!param) return DerivedKind::Result;
  const ValueId passed = call.Passed(param);
  const ValueId reduction = passed ? LookThrough(tables_, passed) : passed;
  if (!reduction) return DerivedKind::Most;
  const NameId name = store_[reduction].name();
  if (!name) return DerivedKind::Result;
  return base::Lowered(Text(name)).ends_with("min") ? DerivedKind::Least : DerivedKind::Most;
}

ValueId FunctionEvaluator::CallExternal(ir::ExprId site, ValueId callee, NameId name,
                                        std::span<const CallArgument> args) {
  if (const std::optional<ValueId> builtin = CallBuiltin(site, name, args)) return *builtin;
  if (const knowledge::EntryId entry = knowledge_.FindEntry(name)) return CallKnown(site, entry, {}, args);
  if (const knowledge::ClassId class_id = knowledge_.FindClass(name)) {
    const NameId canonical = knowledge_[class_id].name;
    const knowledge::EntryId init = knowledge_.FindMember(class_id, Intern("__init__"));
    if (!init) return results_.Object(canonical, {}, args);
    const ValueId made = CallKnown(site, init, {}, args);
    if (store_[made].kind == ValueKind::Object || store_[made].kind == ValueKind::Group) return made;
    const ValueId object = results_.Object(canonical, arguments_.ToEntry(knowledge_[init], args), args);
    return IsToldLater(class_id) ? results_.MadeHere(object, Site(site)) : object;
  }
  std::vector<ValueId> values;
  for (const CallArgument& arg : args) values.push_back(arg.value);
  RecordCall(facts_.calls, site, CallKind::External, values).callee = callee;
  MayCall(site, args);
  StoreThroughAddresses(args, values);
  return DerivedCall(store_, tables_.NameSymbol(name), {}, args);
}

// A sampler that is told the epoch is another one than one that is made alike.
bool FunctionEvaluator::IsToldLater(knowledge::ClassId class_id) const {
  const knowledge::EntryId tells = knowledge_.FindMember(class_id, tables_.program.names->Intern("set_epoch"));
  return tells && knowledge_[tells].Has(knowledge::Role::SetEpoch);
}

std::optional<ValueId> FunctionEvaluator::CallBuiltin(ir::ExprId site, NameId name,
                                                      std::span<const CallArgument> args) {
  const std::string_view text = Text(name);
  const ValueId first = args.empty() ? ValueId::None() : args[0].value;
  if (text == "builtins.dict") {
    const auto items = containers_.ItemsGiven(args);
    if (!items || 2 * items->size() > kMostItemKids) return std::nullopt;
    ValueId made = store_.Make(Value::Dict(), {});
    for (const Item& item : *items) made = containers_.WithItem(made, item);
    return made;
  }
  if (text == "os.environ.get" || text == "os.getenv") {
    if (!first) return std::nullopt;
    return store_.Environment(first);
  }
  if (const std::optional<ValueId> made = MadeObject(site, text, args)) return made;
  if (text == "dataclasses.replace" || text == "copy.replace") {
    if (const ValueId replaced = first ? WithOthers(first, args) : ValueId()) return replaced;
  }
  if (text == "collections.namedtuple" && args.size() >= 2) return built_ins_.NamedTupleClass(args[1].value);
  if (text == "functools.partial") {
    if (!first) return std::nullopt;
    std::vector<ValueId> kids, keywords;
    for (const CallArgument& arg : args) {
      if (arg.kind == ir::ArgKind::Positional) kids.push_back(arg.value);
      if (arg.kind == ir::ArgKind::Keyword) keywords.insert(keywords.end(), {store_.Str(arg.keyword), arg.value});
    }
    if (!keywords.empty()) kids.push_back(store_.Make(Value::Dict(DictKind::Keywords), keywords));
    return store_.Make(Value::Partial(), kids);
  }
  if (const std::optional<ValueId> taken = Taken(site, text, name, args)) return taken;
  constexpr std::string_view kBuiltins = "builtins.";
  if (!text.starts_with(kBuiltins)) return std::nullopt;
  const std::string_view builtin = text.substr(kBuiltins.size());
  if (builtin == "super") return SuperValue(site);
  if (!first) return std::nullopt;
  // Conversions keep the number; `bool(x)` as a condition is x.
  if (args.size() == 1 && (builtin == "int" || builtin == "float")) return store_.NumberOf(first);
  if (args.size() == 1 && builtin == "bool") {
    const ValueId asked = store_.AsCondition(first);
    return store_.IsWholeNumber(asked) ? store_.Compare(ir::CompareOp::NotEq, asked, store_.Int(0)) : asked;
  }
  if (builtin == "isinstance" && args.size() == 2) return built_ins_.TypeTest(first, args[1].value);
  // Ranks hold objects of the same classes. What an object has may have changed by the next time it is asked.
  if (builtin == "hasattr" || builtin == "callable") return HasAttribute(site, args);
  if (builtin == "vars") return Member(site, first, Intern(kFieldTable));
  if (builtin == "type") return store_.Symbol(Site(site), {});
  if (const ValueId own = builtin == "len" ? OwnLength(site, first) : ValueId()) return own;
  if (builtin == "len" && built_ins_.IsShape(first)) return store_.Symbol(Site(site), {});
  if (builtin == "len" && containers_.IsContainer(containers_.Itself(first))) return iterations_.Over(args[0].expr, containers_.Itself(first)).trip_count;
  const Axes of_ranks = Without(store_.axes(first), knowledge::kSoftAxes);
  if (builtin == "len" && !of_ranks.empty() && EqualShares(tables_).IsAsLong(first)) {
    return store_.Symbol(Site(site), store_.axes(first) & knowledge::kSoftAxes);
  }
  if (args.size() == 1) {
    if (const std::optional<ValueId> known = built_ins_.OfDisplay(builtin, first)) return known;
  }
  if (const std::optional<ValueId> ordered = Ordered(site, builtin, name, args)) return *ordered;
  if (builtin == "all" || builtin == "any") return built_ins_.Quantified(Site(site), first, builtin == "all");
  if (builtin == "divmod" && args.size() == 2) {
    const ValueId parts[] = {store_.Binary(ir::BinaryOp::FloorDiv, first, args[1].value), store_.Binary(ir::BinaryOp::Mod, first, args[1].value)};
    return store_.Tuple(parts);
  }
  if (builtin == "next") return NextOf(site, args[0].expr, first);
  if (builtin == "getattr" && args.size() >= 2) {
    if (const ValueId member = MemberNamed(site, first, args[1].value)) return member;
  }
  if (builtin == "getattr" && args.size() == 2 && store_[first].kind == ValueKind::Module) {
    if (const ValueId picked = PickedFrom(store_[first].module(), args[1].value)) return picked;
  }
  if (builtin == "setattr" && args.size() == 3) StoreNamed(first, args[1].value, args[2].value);
  if (builtin == "print" || builtin == "setattr") return store_.NoneValue();
  return std::nullopt;
}

// `len(shard)` of an object whose class counts by the rank; none of any other.
ValueId FunctionEvaluator::OwnLength(ir::ExprId site, ValueId object) {
  const ValueId known = own_fields_.ObjectMeant(object, LookThrough(tables_, object));
  if (store_[known].kind != ValueKind::Instance) return {};
  const FuncId method = members_.Method(known, Intern("__len__"));
  if (!method || tables_.program.function(method).is_generator) return {};
  const size_t recorded = facts_.calls.size();
  const ValueId length = CallFunction(site, definitions_.Method(method, known, false), method, known, {}, CallKind::Function);
  facts_.calls.resize(recorded);
  return length && !Without(store_.axes(length), knowledge::kSoftAxes).empty() ? length : ValueId();
}

// `getattr(module, name)` where the name is known, or one of a few; none if it is not.
ValueId FunctionEvaluator::MemberNamed(ir::ExprId site, ValueId object, ValueId given) {
  if (!given) return {};
  const ValueId name = built_ins_.SpelledOut(given);
  const Value value = store_[name];
  if (value.kind == ValueKind::Str) return Member(site, object, value.name());
  return value.kind == ValueKind::Select ? store_.OfArms(name, [&](ValueId arm) { return MemberNamed(site, object, arm); }) : ValueId();
}

ValueId FunctionEvaluator::SuperValue(ir::ExprId site) {
  for (FuncId function = id_; function; function = tables_.program.funcs[function].parent) {
    if (const binding::ClassId owner = tables_.program.funcs[function].owner) {
      return store_.Make(Value::Instance(owner, InstanceOrigin::Super), {});
    }
  }
  return Unseen(site);
}

}  // namespace allranks::variation
