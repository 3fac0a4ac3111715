#include "analyzer/objects/model_origins.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/gradient_calls.h"

namespace allranks::objects {

using knowledge::YieldKind;
using variation::CallKind;
using variation::ValueKind;

namespace {

constexpr int kLongestWay = 12;
constexpr size_t kMostOrigins = 8;
constexpr size_t kMostCallers = 12;
constexpr int kMostSteps = 500;

// An entry whose result is a wrapper around what it is given. One that changes the model in place (`replicate`) leaves none bare.
bool PutsIntoWrapper(const knowledge::Entry& entry, std::string_view name, std::string_view operation) {
  if (!entry.has_operation || operation != "module_broadcast" || !entry.stores.empty()) return false;
  if (name == "torch.nn.parallel.DistributedDataParallel.__init__") return true;
  return entry.yield.kind == YieldKind::Object || entry.yield.kind == YieldKind::Arguments;
}

}  // namespace

struct ModelOrigins::Search {
  std::vector<ModelAt> found;
  std::vector<Site> on_way;  // places that are being asked about
  int* steps = nullptr;      // that the question took so far: callers of callers are many
};

ModelOrigins::ModelOrigins(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                           const ProgramIndex& index, const Guards& guards)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), guards_(guards), values_(program, knowledge, facts),
      definitions_(program, index) {
  for (const KnownCall& call : index.known_calls()) {
    const ir::Module& module = program.module_of(call.function);
    if (module[call.expr].kind != ir::ExprKind::Call) continue;
    if (!PutsIntoWrapper(*call.entry, program.text(call.entry->name), program.text(call.entry->operation.kind))) continue;
    if (call.entry->yield.kind != YieldKind::Arguments) {
      const ir::ExprId named = index.ArgExpr(call, "module");
      const ir::ExprId model = named ? named : index.ArgExpr(call, "model");
      if (model) wrappings_.push_back({{call.function, call.expr}, model});
      continue;
    }
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
      if (arg.kind == ir::ArgKind::Positional) wrappings_.push_back({{call.function, call.expr}, arg.value});
    }
  }
}

std::vector<ModelAt> ModelOrigins::Of(const Site& place, Way way) const {
  int steps = 0;
  Search search{.found = {}, .on_way = {}, .steps = &steps};
  if (!place.expr || !Add(place, way, search) || search.found.size() > kMostOrigins) return {};
  return search.found;
}

bool ModelOrigins::Add(const Site& place, Way way, Search& search) const {
  if (!place.expr || search.on_way.size() > kLongestWay || ++*search.steps > kMostSteps) return false;
  // Asked about already: what it may be is being put together.
  if (std::ranges::count(search.on_way, place) > 0) return true;
  search.on_way.push_back(place);
  const ir::Module& module = program_.module_of(place.function);
  const ir::Expr& expr = module[place.expr];
  bool is_known = false;
  switch (expr.kind) {
    case ir::ExprKind::Name:
      is_known = AddVariable(place, way, search);
      break;
    case ir::ExprKind::Attribute:
      if (program_.text(ir::AttrOf(expr)) == "module" && !definitions_.IsSelf({place.function, ir::ObjectOf(expr)})) {
        is_known = AddTakenOut({place.function, ir::ObjectOf(expr)}, way, search);
      } else {
        is_known = AddField(place, way, search);
      }
      break;
    case ir::ExprKind::Call:
      is_known = AddCall(place, way, search);
      break;
    case ir::ExprKind::Conditional:
      is_known = TakesOutIfWrapped(place)
                     ? AddBare({place.function, ir::ElseOf(module, expr)}, way, search)
                     : Add({place.function, ir::ThenOf(module, expr)}, way, search) && Add({place.function, ir::ElseOf(module, expr)}, way, search);
      break;
    default:
      break;
  }
  search.on_way.pop_back();
  return is_known;
}

// The origins of a place, with another shell.
bool ModelOrigins::AddWrapped(const Site& model, Shell shell, Way way, Search& search) const {
  Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
  if (!Add(model, way, inner)) return false;
  for (ModelAt at : inner.found) {
    at.shell = shell;
    if (std::ranges::count(search.found, at) == 0) search.found.push_back(at);
  }
  return true;
}

// Only a wrapper has it; a model that has a part of this name is not followed.
bool ModelOrigins::AddTakenOut(const Site& wrapper, Way way, Search& search) const {
  Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
  if (!Add(wrapper, way, inner)) return false;
  bool is_wrapper = false;
  for (ModelAt at : inner.found) {
    if (at.shell != Shell::Wrapped) continue;
    is_wrapper = true;
    at.shell = Shell::TakenOut;
    if (std::ranges::count(search.found, at) == 0) search.found.push_back(at);
  }
  return is_wrapper;
}

// `model.module if hasattr(model, "module") else model`
bool ModelOrigins::TakesOutIfWrapped(const Site& conditional) const {
  const ir::Module& module = program_.module_of(conditional.function);
  const ir::Expr& expr = module[conditional.expr];
  const ir::Expr& inner = module[ir::ThenOf(module, expr)];
  const ir::Expr& test = module[ir::TestOf(expr)];
  if (inner.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(inner)) != "module") return false;
  if (test.kind != ir::ExprKind::Call || ir::ArgCount(module, test) != 2) return false;
  const ValueId called = facts_.value(program_.funcs[conditional.function].module, ir::CalleeOf(test));
  return values_.External(called) == "builtins.hasattr" && IsSameChain(module, ir::ArgAt(module, test, 0).value, ir::ObjectOf(inner)) &&
         IsSameChain(module, ir::ElseOf(module, expr), ir::ObjectOf(inner));
}

// The model itself: taken out of the wrapper where there is one.
bool ModelOrigins::AddBare(const Site& model, Way way, Search& search) const {
  Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
  if (!Add(model, way, inner)) return false;
  for (ModelAt at : inner.found) {
    if (at.shell == Shell::Wrapped) at.shell = Shell::TakenOut;
    if (std::ranges::count(search.found, at) == 0) search.found.push_back(at);
  }
  return true;
}

bool ModelOrigins::AddCopy(const Site& call, const Site& copied, Way way, Search& search) const {
  Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
  if (!Add(copied, way, inner)) return false;
  for (const ModelAt& at : inner.found) {
    const ModelAt copy = {.made = call, .shell = at.shell == Shell::Wrapped ? Shell::Wrapped : Shell::Bare};
    if (std::ranges::count(search.found, copy) == 0) search.found.push_back(copy);
  }
  return true;
}

void ModelOrigins::AddMade(const Site& call, Search& search) const {
  const ModelAt made = {.made = call};
  if (std::ranges::count(search.found, made) == 0) search.found.push_back(made);
}

bool ModelOrigins::AddVariable(const Site& place, Way way, Search& search) const {
  const ir::Module& module = program_.module_of(place.function);
  const base::NameId name = ir::NameOf(module[place.expr]);
  for (FuncId scope = place.function; scope;) {
    const ir::Function& function = program_.function(scope);
    bool is_global = false;
    ir::ForEachStmtIn(module, function.body, [&](const ir::Stmt& stmt) {
      if (stmt.kind != ir::StmtKind::Global && stmt.kind != ir::StmtKind::Nonlocal) return;
      is_global = is_global || std::ranges::count(ir::NamesOf(module, stmt), name.index) > 0;
    });
    const auto param = std::ranges::find(function.params, name, &ir::Param::name);
    std::vector<Definition> assigned = is_global ? std::vector<Definition>() : definitions_.To(scope, place.expr);
    if (!assigned.empty() || param != function.params.end()) {
      bool is_set_before = scope != place.function;
      if (scope == place.function) assigned = definitions_.Reaching(place, std::move(assigned), is_set_before);
      if (param != function.params.end() && !is_set_before) {
        if (!AddParam(scope, static_cast<uint32_t>(param - function.params.begin()), way, search)) return false;
      }
      return !search.found.empty() || !assigned.empty()
                 ? std::ranges::all_of(assigned, [&](const Definition& each) { return AddAssigned(scope, each, way, search); })
                 : false;
    }
    if (function.name && scope == program_.func(program_.funcs[scope].module, ir::kTopLevel)) break;
    const FuncId parent = program_.funcs[scope].parent;
    scope = parent ? parent : program_.func(program_.funcs[scope].module, ir::kTopLevel);
    way = {};
  }
  return false;
}

bool ModelOrigins::AddAssigned(FuncId function, const Definition& assigned, Way way, Search& search) const {
  if (!assigned.value) return false;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& value = module[assigned.value];
  if (assigned.item == Definition::kWhole) return Add({function, assigned.value}, way, search);
  if (value.kind == ir::ExprKind::Tuple) {
    const ir::ExprList items = ir::Items(module, value);
    return assigned.item < items.size() && Add({function, items[assigned.item]}, way, search);
  }
  // `model, optimizer = accelerator.prepare(model, optimizer)`
  const variation::CallFact* fact = value.kind == ir::ExprKind::Call ? facts_.call(function, assigned.value) : nullptr;
  if (fact == nullptr || fact->kind != CallKind::Known || knowledge_[fact->entry].yield.kind != YieldKind::Arguments) return false;
  if (assigned.item >= ir::ArgCount(module, value)) return false;
  const ir::Arg arg = ir::ArgAt(module, value, assigned.item);
  return arg.kind == ir::ArgKind::Positional && AddWrapped({function, arg.value}, Shell::Wrapped, way, search);
}

bool ModelOrigins::AddParam(FuncId function, uint32_t param, Way way, Search& search) const {
  if (!way.empty()) {
    const ir::ExprId passed = index_.PassedFor(way.back(), function, param);
    return passed && Add({way.back().function, passed}, way.first(way.size() - 1), search);
  }
  const std::span<const Site> callers = index_.CallersOf(function);
  if (callers.empty() && !program_.funcs[function].owner) {
    search.found.push_back({.made = {function, ir::ExprId::None()}, .param = param});
    return true;
  }
  if (callers.empty()) {
    // An object that is made nowhere: what its constructor is given is one thing.
    const bool is_constructor = program_.text(program_.function(function).name) == "__init__";
    if (is_constructor) search.found.push_back({.made = {function, ir::ExprId::None()}, .param = param});
    return is_constructor;
  }
  return callers.size() <= kMostCallers && std::ranges::all_of(callers, [&](const Site& caller) {
    const ir::ExprId passed = index_.PassedFor(caller, function, param);
    return passed && Add({caller.function, passed}, {}, search);
  });
}

bool ModelOrigins::AddField(const Site& place, Way way, Search& search) const {
  const ir::Module& module = program_.module_of(place.function);
  if (!definitions_.IsSelf({place.function, ir::ObjectOf(module[place.expr])})) return false;
  bool is_set_before = false;
  std::vector<Definition> here = definitions_.Reaching(place, definitions_.To(place.function, place.expr), is_set_before);
  if (is_set_before) return std::ranges::all_of(here, [&](const Definition& each) { return AddAssigned(place.function, each, way, search); });
  const binding::ClassId owner = program_.funcs[place.function].owner;
  bool is_any = false;
  for (uint32_t f = 0; f < program_.funcs.size(); ++f) {
    const binding::ClassId other = program_.funcs[FuncId{f}].owner;
    if (!other || (std::ranges::count(program_.classes[owner].mro, other) == 0 && std::ranges::count(program_.classes[other].mro, owner) == 0)) {
      continue;
    }
    for (const Definition& each : definitions_.To(FuncId{f}, place.expr, place.function)) {
      is_any = true;
      if (!AddAssigned(FuncId{f}, each, {}, search)) return false;
    }
  }
  return is_any;
}

bool ModelOrigins::AddCall(const Site& call, Way way, Search& search) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  const ValueId value = facts_.value(program_.funcs[call.function].module, call.expr);
  // A class of a library of whose constructor nothing is said.
  if (fact == nullptr) return value && facts_.values_store[value].kind == ValueKind::Object && AddIfMade(call, way, search);
  switch (fact->kind) {
    case CallKind::Known:
      return AddKnown(call, knowledge_[fact->entry], way, search);
    case CallKind::Function:
      return AddReturned(call, fact->function, way, search);
    case CallKind::Construct:
      // A wrapper class of the project is none that is known here.
      if (values_.IsA(value, "torch.nn.parallel.DistributedDataParallel")) return false;
      AddMade(call, search);
      return true;
    default:
      break;
  }
  return fact->kind == CallKind::External && AddIfMade(call, way, search);
}

// What a library makes: a model of its own, if none is handed to it that it may have put a wrapper around.
bool ModelOrigins::AddIfMade(const Site& call, Way way, Search& search) const {
  const ValueId value = facts_.value(program_.funcs[call.function].module, call.expr);
  const std::vector<ValueId> leaves = value ? values_.Leaves(value) : std::vector<ValueId>();
  const bool is_wrapper = std::ranges::any_of(leaves, [&](ValueId leaf) { return values_.IsA(leaf, "torch.nn.parallel.DistributedDataParallel"); });
  const ir::Module& module = program_.module_of(call.function);
  bool is_given_model = false;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
    const bool is_known = Add({call.function, ir::ArgAt(module, module[call.expr], i).value}, way, inner);
    is_given_model = is_given_model || (is_known && !inner.found.empty());
  }
  if (is_wrapper || is_given_model) return false;
  AddMade(call, search);
  return true;
}

bool ModelOrigins::AddKnown(const Site& call, const knowledge::Entry& entry, Way way, Search& search) const {
  const ir::Module& module = program_.module_of(call.function);
  const auto wraps = std::ranges::find(wrappings_, call, &Wrapping::call);
  if (wraps != wrappings_.end()) {
    // Several go in and come out: taken apart where they are assigned.
    const bool is_one = entry.yield.kind != YieldKind::Arguments || ir::ArgCount(module, module[call.expr]) == 1;
    return is_one && AddWrapped({call.function, wraps->model}, Shell::Wrapped, way, search);
  }
  const auto argument = [&](base::NameId param) -> ir::ExprId {
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
      if (arg.kind == ir::ArgKind::Keyword ? arg.keyword == param : i < entry.params.size() && entry.params[i] == param) return arg.value;
    }
    return {};
  };
  if (entry.Has(knowledge::Role::TakesOut)) {
    const base::NameId param = entry.params.empty() ? base::NameId::None() : entry.params[0];
    const ir::ExprId wrapper = argument(param);
    return wrapper && AddTakenOut({call.function, wrapper}, way, search);
  }
  if (entry.yield.kind == YieldKind::Copy) {
    const ir::ExprId copied = argument(entry.yield.argument);
    return copied && AddCopy(call, {call.function, copied}, way, search);
  }
  if (entry.yield.kind == YieldKind::Argument) {
    const bool is_self = program_.text(entry.yield.argument) == "self";
    const ir::Expr& callee = module[ir::CalleeOf(module[call.expr])];
    const ir::ExprId handed = !is_self ? argument(entry.yield.argument)
                              : callee.kind == ir::ExprKind::Attribute ? ir::ObjectOf(callee)
                                                                        : ir::ExprId::None();
    return handed && Add({call.function, handed}, way, search);
  }
  return entry.yield.kind != YieldKind::Arguments && entry.tuple.empty() && AddIfMade(call, way, search);
}

// What a helper makes itself is told by the call of the helper: two calls make two.
bool ModelOrigins::AddReturned(const Site& call, FuncId function, Way way, Search& search) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (program_.function(function).is_generator) return false;
  std::vector<Site> inner_way(way.begin(), way.end());
  inner_way.push_back(call);
  Search inner{.found = {}, .on_way = search.on_way, .steps = search.steps};
  bool is_any = false;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Return || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    is_any = true;
    if (!Add({function, ir::ValueOf(stmt)}, inner_way, inner)) return false;
  }
  for (ModelAt at : inner.found) {
    if (at.made.function == function && at.made.expr) at.made = call;
    if (std::ranges::count(search.found, at) == 0) search.found.push_back(at);
  }
  return is_any;
}

bool ModelOrigins::IsWrappedBefore(const ModelAt& model, const Site& place, Way way) const {
  return std::ranges::any_of(wrappings_, [&](const Wrapping& wrapping) {
    if (!WrapsFirst(wrapping, place, way)) return false;
    const std::vector<ModelAt> wrapped = Of({wrapping.call.function, wrapping.model});
    return std::ranges::any_of(wrapped, [&](const ModelAt& each) { return each.shell == Shell::Bare && each.IsSameModel(model); }) &&
           std::ranges::all_of(wrapped, [&](const ModelAt& each) { return each.shell == Shell::Bare; });
  });
}

// The wrapping, or the call that leads to it, stands before the place, or the call that leads to that, in one function.
bool ModelOrigins::WrapsFirst(const Wrapping& wrapping, const Site& place, Way way) const {
  std::vector<Site> then = {place};
  for (size_t i = way.size(); i > 0; --i) then.push_back(way[i - 1]);
  while (then.size() < kLongestWay && index_.CallersOf(then.back().function).size() == 1) then.push_back(index_.CallersOf(then.back().function)[0]);
  std::vector<Site> first = {wrapping.call};
  while (first.size() < kLongestWay) {
    const FuncId function = first.back().function;
    const auto common = std::ranges::find(then, function, &Site::function);
    if (common != then.end()) return IsFirstCall(first.back(), *common) && AreGuardsMet(first, then);
    // What the constructor does comes before all other methods.
    const binding::ClassId owner = program_.funcs[function].owner;
    const bool is_constructor = owner && program_.text(program_.function(function).name) == "__init__";
    const bool is_of_object = is_constructor && std::ranges::any_of(then, [&](const Site& site) {
      const binding::ClassId other = program_.funcs[site.function].owner;
      return other && std::ranges::count(program_.classes[other].mro, owner) > 0;
    });
    if (is_of_object) return AreGuardsMet(first, then);
    if (index_.CallersOf(function).size() != 1) return false;
    first.push_back(index_.CallersOf(function)[0]);
  }
  return false;
}

bool ModelOrigins::IsFirstCall(const Site& first, const Site& then) const {
  const ir::Module& module = program_.module_of(first.function);
  return first.expr != then.expr && module[first.expr].begin < module[then.expr].begin && module[first.expr].end <= module[then.expr].end;
}

// Each test that lets the first one be reached comes out in the same way where the other is reached.
bool ModelOrigins::AreGuardsMet(const std::vector<Site>& first, const std::vector<Site>& then) const {
  std::vector<Guard> met;
  for (const Site& site : then) {
    for (const Guard& guard : guards_.Of(site)) met.push_back(guard);
  }
  const auto value = [&](const Guard& guard) { return facts_.value(program_.funcs[guard.function].module, guard.test); };
  return std::ranges::all_of(first, [&](const Site& site) {
    return std::ranges::all_of(guards_.Of(site), [&](const Guard& guard) {
      return std::ranges::any_of(met, [&](const Guard& other) {
        const bool is_same = (guard.function == other.function && guard.test == other.test) || (value(guard) && value(guard) == value(other));
        return is_same && guard.holds == other.holds;
      });
    });
  });
}

}  // namespace allranks::objects
