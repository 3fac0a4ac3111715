#include "analyzer/objects/loading.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/declared_objects.h"
#include "analyzer/objects/gradient_calls.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

// `Prefetcher(loader)`: what an object of the project was made with that goes over it in its `__iter__`.
std::vector<ValueId> GoneOver(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Values& values,
                              ValueId object) {
  const variation::Value& value = facts.values_store[object];
  const base::NameId name = program.names->Find("__iter__");
  if (value.kind != ValueKind::Instance || !name) return {};
  const binding::ClassId owner = value.class_id();
  if (!program.FindMethod(owner, name) || !program.classes[owner].external_bases.empty()) return {};
  std::vector<ValueId> inner;
  for (const ValueId passed : index.MadeWith(owner)) {
    for (const ValueId leaf : values.Leaves(passed)) {
      if (facts.values_store[leaf].kind == ValueKind::Object || facts.values_store[leaf].kind == ValueKind::Instance) inner.push_back(leaf);
    }
  }
  return inner;
}

// Whether a function asks an iterator for its next item, itself or through another method of its object.
bool AsksForNext(const binding::Program& program, const ProgramIndex& index, FuncId function, int depth = 0) {
  constexpr int kDeepest = 2;
  if (!function || depth > kDeepest) return false;
  const ir::ModuleId module_id = program.funcs[function].module;
  const ir::Module& module = program.modules[module_id];
  const auto& params = program.function(function).params;
  return std::ranges::any_of(index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    const ir::StmtId stmt = index.tree(module_id).StatementOf(id);
    if (!stmt || index.FunctionOf(module_id, stmt) != function) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[id])];
    if (callee.kind == ir::ExprKind::Name) return program.text(ir::NameOf(callee)) == "next";
    if (callee.kind != ir::ExprKind::Attribute || !program.funcs[function].owner || params.empty()) return false;
    const ir::Expr& object = module[ir::ObjectOf(callee)];
    const bool is_own = object.kind == ir::ExprKind::Name && ir::NameOf(object) == params[0].name;
    return is_own && AsksForNext(program, index, program.FindMethod(program.funcs[function].owner, ir::AttrOf(callee)), depth + 1);
  });
}

// `class Loader(DataLoader)`: the samplers that its objects are made with, where each of them is made with one. Which object has which of them
// is not known.
std::vector<ValueId> SamplersOfOwn(const variation::Facts& facts, const Values& values, binding::ClassId loader_class) {
  std::vector<ValueId> samplers;
  for (const variation::FunctionFacts& function : facts.functions) {
    for (const auto& [expr, call] : function.calls) {
      const bool is_made = call.kind == variation::CallKind::Construct && call.callee && facts.values_store[call.callee].kind == ValueKind::Class &&
                           facts.values_store[call.callee].class_id() == loader_class;
      if (!is_made) continue;
      const size_t before = samplers.size();
      for (const ValueId arg : facts.args(call)) {
        if (!arg) continue;
        values.AnyPart(arg, [&](ValueId part) {
          if (values.IsA(part, "torch.utils.data.Sampler")) samplers.push_back(part);
          return false;
        });
      }
      if (samplers.size() == before) return {};
    }
  }
  return samplers;
}

// `batches = Prefetcher(loader)`, and a loop that calls `batches.next()`: what the object is made with, and the loop.
std::vector<LoaderLoop> LoopsByMethod(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                      ir::ModuleId module_id) {
  const ir::Module& module = program.modules[module_id];
  const ir::Tree& tree = index.tree(module_id);
  std::vector<LoaderLoop> loops;
  for (const ir::ExprId made : index.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::StmtId stmt = tree.StatementOf(made);
    const bool is_assigned = stmt && module[stmt].kind == ir::StmtKind::Assign && ir::AssignedOf(module[stmt]) == made &&
                             ir::TargetsOf(module, module[stmt]).size() == 1 && ir::ArgCount(module, module[made]) > 0;
    const ValueId object = is_assigned ? facts.value(module_id, made) : ValueId::None();
    if (!object || facts.values_store[object].kind != ValueKind::Instance) continue;
    const ir::ExprId target = ir::TargetsOf(module, module[stmt])[0];
    const FuncId function = index.FunctionOf(module_id, stmt);
    for (const ir::ExprId asked : index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[asked])];
      const bool is_method = callee.kind == ir::ExprKind::Attribute && module[asked].begin >= module[made].end &&
                             IsSameChain(module, ir::ObjectOf(callee), target);
      if (!is_method || !tree.StatementOf(asked) || index.FunctionOf(module_id, tree.StatementOf(asked)) != function) continue;
      const std::vector<ir::StmtId> around = index.LoopsAround({function, asked});
      const bool is_made_inside = !around.empty() && module[around.front()].begin < module[made].begin;
      if (around.empty() || is_made_inside) continue;
      const binding::ClassId owner = facts.values_store[object].class_id();
      if (!AsksForNext(program, index, program.FindMethod(owner, ir::AttrOf(callee)))) continue;
      loops.push_back({.iterable = {function, ir::ArgAt(module, module[made], 0).value}, .loop = around.front(), .loader = {}});
      break;
    }
  }
  return loops;
}

}  // namespace

Loading::Loading(const binding::Program& program, const knowledge::Knowledge& knowledge,
                 const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), values_(program, knowledge, facts), index_(index) {
  FindOwnSamplers();
  for (const KnownCall& call : index.known_calls()) {
    const ValueId made = ValueOf(call);
    if (!made || !program.text(call.entry->name).ends_with(".__init__")) continue;
    if (IsLoader(made)) made_loaders_.push_back(call);
    if (IsDistributedSampler(made)) made_samplers_.push_back(call);
  }
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    AddForLoops(ir::ModuleId{m});
    AddDrawingLoops(ir::ModuleId{m});
    AddYieldingLoops(ir::ModuleId{m});
    AddLoopsByNext(ir::ModuleId{m});
    for (LoaderLoop& loop : LoopsByMethod(program, facts, index, ir::ModuleId{m})) {
      for (const ValueId loader : LoadersIn(facts.value(ir::ModuleId{m}, loop.iterable.expr))) {
        loop.loader = loader;
        loops_.push_back(loop);
      }
    }
  }
}

void Loading::AddForLoops(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (module[id].kind != ir::StmtKind::For) continue;
    const ir::ExprId iterable = ir::AssignedOf(module[id]);
    const ValueId value = facts_.value(module_id, iterable);
    const std::vector<ValueId> loaders = LoadersIn(value);
    const FuncId function = index_.FunctionOf(module_id, id);
    const bool is_choice = loaders.size() > 1 && (std::ranges::any_of(GoneThrough(value), [&](ValueId part) { return OneOfItems(part).size() > 1; }) ||
                                                  AreOfSeveral(function, value, loaders));
    LoaderLoop loop{.iterable = {function, iterable}, .loop = id, .loader = {}, .is_choice = is_choice, .hands_on = YieldsIn(module_id, id)};
    loop.is_endless = value && IsEndless(value);
    AddLoopsByCaller(loop, value);
    const size_t before = loops_.size();
    if (std::ranges::all_of(loaders, [&](ValueId loader) { return IsOnlyDeclared(facts_.values_store[loader]); })) AddLoopsByWay(loop, value);
    if (loops_.size() > before) continue;
    for (const ValueId loader : loaders) {
      // `for part in data[0]`, `range(len(loader))`: over what a loader yields, or as often as it yields something.
      if (TakesApart(module_id, iterable) && std::ranges::count(values_.Leaves(value), loader) == 0) continue;
      loop.loader = loader;
      loops_.push_back(loop);
    }
  }
}

// `training = Batches(loader_a)`, `validation = Batches(loader_b)`: a field of one class, which each object has for itself.
bool Loading::AreOfSeveral(FuncId function, ValueId iterable, std::span<const ValueId> loaders) const {
  const auto makes_several = [&](binding::ClassId class_id) {
    const std::span<const ValueId> given = index_.MadeWith(class_id);
    return std::ranges::count_if(loaders, [&](ValueId loader) { return std::ranges::count(given, loader) > 0; }) > 1;
  };
  const binding::ClassId owner = program_.funcs[function].owner;
  return (owner && makes_several(owner)) || std::ranges::any_of(GoneThrough(iterable), [&](ValueId part) {
    const variation::Value& value = facts_.values_store[part];
    return value.kind == ValueKind::Instance && makes_several(value.class_id());
  });
}

// `def cycle(loader): while True: yield from loader`, called by two programs, each with a loader of its own.
void Loading::AddLoopsByCaller(const LoaderLoop& loop, ValueId param) {
  const FuncId function = loop.iterable.function;
  if (!loop.hands_on || !param || facts_.values_store[param].kind != ValueKind::Param) return;
  const variation::Value value = facts_.values_store[param];
  if (value.function() != function || !LoadersIn(param).empty()) return;
  for (const Site& caller : index_.CallersOf(function)) {
    // A generator runs where somebody asks it for the next item.
    const variation::CallFact* call = facts_.call(caller.function, caller.expr);
    if (call == nullptr || call->function != function) call = facts_.iteration(caller.function, caller.expr);
    if (call == nullptr || call->function != function || value.param_index() >= facts_.args(*call).size()) continue;
    for (const ValueId loader : LoadersIn(facts_.args(*call)[value.param_index()])) {
      LoaderLoop of_caller = loop;
      of_caller.loader = loader;
      of_caller.caller = caller;
      loops_.push_back(of_caller);
    }
  }
}

// `def train_epoch(loader): for batch in loader: ...`, called by two programs, or two functions of one, each with a loader of its own.
void Loading::AddLoopsByWay(const LoaderLoop& loop, ValueId iterable) {
  constexpr size_t kLongestWay = 3;
  const FuncId function = loop.way.empty() ? loop.iterable.function : loop.way.back().function;
  if (loop.hands_on || loop.way.size() == kLongestWay || !iterable) return;
  ValueId param;
  values_.AnyPart(iterable, [&](ValueId part) {
    const variation::Value& value = facts_.values_store[part];
    if (value.kind == ValueKind::Param && value.function() == function) param = part;
    return static_cast<bool>(param);
  });
  if (!param) return;
  for (const Site& caller : index_.CallersOf(function)) {
    const ValueId passed = index_.PassedBy(caller, function, facts_.values_store[param].param_index());
    if (!passed || caller.function == function) continue;
    LoaderLoop of_caller = loop;
    of_caller.way.push_back(caller);
    const std::vector<ValueId> loaders = LoadersIn(passed);
    if (loaders.empty()) AddLoopsByWay(of_caller, passed);
    for (const ValueId loader : loaders) {
      of_caller.loader = loader;
      loops_.push_back(of_caller);
    }
  }
}

std::vector<ValueId> Loading::HandedTo(const Site& iterable) const {
  std::vector<ValueId> loaders;
  for (const LoaderLoop& loop : loops_) {
    if (loop.iterable == iterable && !loop.way.empty() && std::ranges::count(loaders, loop.loader) == 0) loaders.push_back(loop.loader);
  }
  std::ranges::stable_partition(loaders, [&](ValueId loader) { return IsDealtOut(loader); });
  return loaders;
}

bool Loading::TakesApart(ir::ModuleId module_id, ir::ExprId iterable) const {
  const ir::Module& module = program_.modules[module_id];
  while (module[iterable].kind == ir::ExprKind::Call && ir::ArgCount(module, module[iterable]) > 0) {
    const ValueId callee = facts_.value(module_id, ir::CalleeOf(module[iterable]));
    if (values_.External(callee) == "builtins.range") return true;
    iterable = ir::ArgAt(module, module[iterable], 0).value;
  }
  if (IsView(module, iterable)) return true;
  if (module[iterable].kind != ir::ExprKind::Subscript) return false;
  // `loaders["train"]` takes one of several loaders, and no batch apart.
  const ValueId key = facts_.value(module_id, ir::IndexOf(module[iterable]));
  const ValueId container = facts_.value(module_id, ir::LeftOf(module[iterable]));
  const auto is_dictionary = [&](ValueId leaf) { return facts_.values_store[leaf].kind == ValueKind::Dict; };
  if (container && std::ranges::all_of(values_.Leaves(container), is_dictionary)) return false;
  const bool is_named = !values_.Str(key).empty();
  return !is_named || !container || std::ranges::any_of(values_.Leaves(container), [&](ValueId leaf) { return IsLoader(leaf) || IsYielded(leaf); });
}

// `loaders.items()`: the loaders of a dictionary, one by one. No loader has such a method.
bool Loading::IsView(const ir::Module& module, ir::ExprId iterable) const {
  if (module[iterable].kind != ir::ExprKind::Call) return false;
  const ir::Expr& callee = module[ir::CalleeOf(module[iterable])];
  const std::string_view name = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
  return name == "items" || name == "values" || name == "keys";
}

// What going over a loader yields.
bool Loading::IsYielded(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  const auto kids = facts_.values_store.Kids(value);
  const base::NameId name = facts_.values_store.DerivedBy(node);
  const bool is_element = name && (program_.text(name) == "element" || program_.text(name).ends_with(".__iter__"));
  return is_element && std::ranges::any_of(kids, [&](ValueId kid) { return kid && !LoadersIn(kid).empty(); });
}

// `iter(loader)` in a loop that draws from what it is assigned to: each time the loader is used up, an epoch begins.
void Loading::AddDrawingLoops(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::Expr& callee = module[ir::CalleeOf(module[id])];
    const bool is_iter = callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "iter";
    const ir::StmtId stmt = tree.StatementOf(id);
    if (!is_iter || !stmt || ir::ArgCount(module, module[id]) != 1) continue;
    const FuncId function = index_.FunctionOf(module_id, stmt);
    const std::vector<ir::StmtId> loops = index_.LoopsAround({function, id});
    const bool is_assigned = module[stmt].kind == ir::StmtKind::Assign && ir::AssignedOf(module[stmt]) == id;
    if (!function || !is_assigned || ir::TargetsOf(module, module[stmt]).size() != 1) continue;
    const ir::ExprId loader_expr = ir::ArgAt(module, module[id], 0).value;
    if (loops.empty()) {
      if (IsRefilledBy(function, stmt)) AddRefills({function, id}, LoadersIn(facts_.value(module_id, loader_expr)), 0);
      continue;
    }
    if (!IsDrawnFrom(module_id, module[loops.front()].begin, module[loops.front()].end, ir::TargetsOf(module, module[stmt])[0])) continue;
    for (const ValueId loader : LoadersIn(facts_.value(module_id, loader_expr))) {
      loops_.push_back({.iterable = {function, loader_expr}, .loop = loops.front(), .loader = loader, .hands_on = YieldsIn(module_id, loops.front())});
    }
  }
}

// `while True: yield from loader`: each round goes over the loader once.
void Loading::AddYieldingLoops(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::YieldFrom)) {
    const ir::StmtId stmt = tree.StatementOf(id);
    const Site iterable{stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None(), ir::OperandOf(module[id])};
    const std::vector<ir::StmtId> loops = iterable.function ? index_.LoopsAround({iterable.function, id}) : std::vector<ir::StmtId>();
    if (loops.empty()) continue;
    LoaderLoop loop{.iterable = iterable, .loop = loops.front(), .loader = {}, .hands_on = true};
    const ValueId value = facts_.value(module_id, iterable.expr);
    AddLoopsByCaller(loop, value);
    for (const ValueId loader : LoadersIn(value)) {
      loop.loader = loader;
      loops_.push_back(loop);
    }
  }
}

// `for step in range(steps): batch = next(batches)`, where `batches` was made of a loader before, here or elsewhere.
// `next(iter(loader))` is no way through the data: it asks for the first batch each time.
void Loading::AddLoopsByNext(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
    if (!stmt || ir::ArgCount(module, module[id]) == 0) continue;
    if (values_.External(facts_.value(module_id, ir::CalleeOf(module[id]))) != "builtins.next") continue;
    const ir::ExprId asked = ir::ArgAt(module, module[id], 0).value;
    const ValueId iterator = module[asked].kind == ir::ExprKind::Call ? ValueId::None() : facts_.value(module_id, asked);
    const std::vector<ValueId> loaders = iterator ? LoadersIn(iterator) : std::vector<ValueId>();
    if (!loaders.empty()) AddDraws({index_.FunctionOf(module_id, stmt), id}, asked, loaders, IsEndless(iterator));
  }
}

// The loop around a place that asks for a batch, or around the calls that lead there.
void Loading::AddDraws(const Site& draw, ir::ExprId iterator, const std::vector<ValueId>& loaders, bool is_endless, int depth) {
  constexpr int kLongestWay = 2;
  const std::vector<ir::StmtId> loops = index_.LoopsAround(draw);
  const ir::ModuleId module_id = program_.funcs[draw.function].module;
  if (loops.empty()) {
    if (depth == kLongestWay || program_.function(draw.function).is_generator) return;
    for (const Site& caller : index_.CallersOf(draw.function)) {
      if (caller.function != draw.function) AddDraws(caller, {}, loaders, is_endless, depth + 1);
    }
    return;
  }
  const ir::ExprId given = iterator && !is_endless ? GivenToIter(draw.function, facts_.value(module_id, iterator)) : ir::ExprId::None();
  const ir::Module& module = program_.modules[module_id];
  // One that is made in the loop is drawn from there for as long as it lasts.
  const bool is_made_inside = given && module[given].begin >= module[loops.front()].begin && module[given].end <= module[loops.front()].end;
  for (const ValueId loader : loaders) {
    const bool is_known = std::ranges::any_of(loops_, [&](const LoaderLoop& other) {
      return other.loop == loops.front() && other.loader == loader && program_.funcs[other.iterable.function].module == module_id;
    });
    if (is_known || is_made_inside) continue;
    loops_.push_back({.iterable = {draw.function, given ? given : iterator ? iterator : draw.expr}, .loop = loops.front(), .loader = loader,
                      .hands_on = YieldsIn(module_id, loops.front()), .by_next = true, .is_made_elsewhere = !given, .is_endless = is_endless});
  }
}

// What a function hands to `iter` to make this iterator.
ir::ExprId Loading::GivenToIter(FuncId function, ValueId iterator) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const std::vector<ValueId> leaves = values_.Leaves(iterator);
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
    if (!stmt || index_.FunctionOf(module_id, stmt) != function || ir::ArgCount(module, module[id]) != 1) continue;
    if (values_.External(facts_.value(module_id, ir::CalleeOf(module[id]))) != "builtins.iter") continue;
    if (std::ranges::count(leaves, facts_.value(module_id, id)) > 0) return ir::ArgAt(module, module[id], 0).value;
  }
  return {};
}

// `itertools.cycle(loader)`, also behind `iter` and `enumerate`.
bool Loading::IsEndless(ValueId iterator) const {
  constexpr int kDeepest = 4;
  for (int depth = 0; iterator && depth < kDeepest; ++depth) {
    const std::vector<ValueId> leaves = values_.Leaves(iterator);
    const variation::Value& value = facts_.values_store[leaves.front()];
    const base::NameId name = facts_.values_store.DerivedBy(value);
    if (name && program_.text(name) == "itertools.cycle") return true;
    const bool goes_on = name && (program_.text(name) == "builtins.iter" || program_.text(name) == "builtins.enumerate") && value.kid_count > 0;
    iterator = goes_on ? facts_.values_store.Kids(leaves.front())[0] : ValueId::None();
  }
  return false;
}

// `except StopIteration: self.batches = iter(self.loader)`, in a function that asks for one item: made anew in some of its calls, not in all.
bool Loading::IsRefilledBy(FuncId function, ir::StmtId assignment) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const ir::Function& node = program_.function(function);
  if (node.is_generator) return false;
  bool is_in_some = false;
  for (ir::StmtId at = tree.Parent(assignment); at && !is_in_some; at = tree.Parent(at)) {
    is_in_some = module[at].kind == ir::StmtKind::Try || module[at].kind == ir::StmtKind::If;
  }
  return is_in_some && IsDrawnFrom(module_id, node.begin, node.end, ir::TargetsOf(module, module[assignment])[0]) &&
         !IsAssignedIn(function, ir::ArgAt(module, module[ir::AssignedOf(module[assignment])], 0).value);
}

// `self.loader = make_loader(files)`: another loader each time, of other data perhaps.
bool Loading::IsAssignedIn(FuncId function, ir::ExprId loader) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::StmtId id{i};
    if (module[id].kind != ir::StmtKind::Assign || index_.FunctionOf(module_id, id) != function) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, module[id])) {
      if (IsSameChain(module, target, loader)) return true;
    }
  }
  return false;
}

// The loops around the calls of such a function: what it does is part of their rounds.
void Loading::AddRefills(const Site& refill, const std::vector<ValueId>& loaders, int depth) {
  constexpr int kLongestWay = 2;
  if (loaders.empty()) return;
  for (const Site& caller : index_.CallersOf(refill.function)) {
    if (caller.function == refill.function) continue;
    const std::vector<ir::StmtId> loops = index_.LoopsAround(caller);
    if (loops.empty() && depth < kLongestWay && !program_.function(caller.function).is_generator) AddRefills(caller, loaders, depth + 1);
    const ir::ModuleId module_id = program_.funcs[caller.function].module;
    for (const ValueId loader : loops.empty() ? std::vector<ValueId>() : loaders) {
      loops_.push_back({.iterable = caller, .loop = loops.front(), .loader = loader, .hands_on = YieldsIn(module_id, loops.front()),
                        .by_next = true, .begins_anew = true});
    }
  }
}

// Whether a stretch of code asks `next` for an item of an iterator.
bool Loading::IsDrawnFrom(ir::ModuleId module_id, uint32_t begin, uint32_t end, ir::ExprId iterator) const {
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    if (module[id].begin < begin || module[id].end > end) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[id])];
    const bool is_next = callee.kind == ir::ExprKind::Name && program_.text(ir::NameOf(callee)) == "next";
    return is_next && ir::ArgCount(module, module[id]) > 0 && IsSameChain(module, ir::ArgAt(module, module[id], 0).value, iterator);
  });
}

bool Loading::YieldsIn(ir::ModuleId module_id, ir::StmtId loop) const {
  const ir::Module& module = program_.modules[module_id];
  // Of C++ some stand in none.
  const FuncId function = index_.FunctionOf(module_id, loop);
  if (!function || !program_.function(function).is_generator) return false;
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Yield), [&](ir::ExprId id) {
    return module[id].begin >= module[loop].begin && module[id].end <= module[loop].end;
  });
}

ValueId Loading::ValueOf(const KnownCall& call) const {
  return facts_.value(program_.funcs[call.function].module, call.expr);
}

std::vector<Site> Loading::MadeAt(ValueId object) const {
  std::vector<Site> sites;
  for (const auto* list : {&made_loaders_, &made_samplers_}) {
    for (const KnownCall& call : *list) {
      const std::vector<ValueId> leaves = values_.Leaves(ValueOf(call));
      const bool is_made = std::ranges::any_of(leaves, [&](ValueId leaf) { return values_.MayBeSame(leaf, object); });
      if (is_made) sites.push_back({call.function, call.expr});
    }
  }
  return sites;
}

// `loaders[phase]` of a dictionary that is known: what it holds under any key.
std::vector<ValueId> Loading::OneOfItems(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  const base::NameId name = facts_.values_store.OperationOf(node);
  if (!name || program_.text(name) != "[]" || node.kid_count != 2) return {};
  std::vector<ValueId> items;
  for (const ValueId container : values_.Leaves(facts_.values_store.Kids(value)[0])) {
    if (facts_.values_store[container].kind != ValueKind::Dict) continue;
    const auto kids = facts_.values_store.Kids(container);
    for (size_t i = 1; i < kids.size(); i += 2) {
      for (const ValueId leaf : values_.Leaves(kids[i])) items.push_back(leaf);
    }
  }
  return items;
}

// What a value may be, and what it was computed from or made with that it goes on holding: `enumerate(loader)`, `Prefetcher(loader)`.
std::vector<ValueId> Loading::GoneThrough(ValueId value) const {
  constexpr size_t kMost = 16;
  std::vector<ValueId> parts = values_.Leaves(value);
  for (size_t i = 0; i < parts.size() && i < kMost; ++i) {
    const ValueId at = parts[i];
    for (const ValueId inner : GoneOver(program_, facts_, index_, values_, at)) parts.push_back(inner);
    if (facts_.values_store[at].kind != ValueKind::Derived) continue;
    for (const ValueId kid : facts_.values_store.Kids(at)) {
      const ValueKind kind = kid ? facts_.values_store[kid].kind : ValueKind::None;
      if (kind == ValueKind::Dict || kind == ValueKind::Tuple) continue;
      for (const ValueId leaf : values_.Leaves(kid)) parts.push_back(leaf);
    }
    for (const ValueId item : OneOfItems(at)) parts.push_back(item);
  }
  if (parts.size() > kMost) parts.resize(kMost);
  return parts;
}

std::vector<ValueId> Loading::LoadersIn(ValueId value) const {
  std::vector<ValueId> loaders;
  for (const ValueId part : GoneThrough(value)) {
    if (IsLoader(part) && std::ranges::find(loaders, part) == loaders.end()) loaders.push_back(part);
  }
  return loaders;
}

std::vector<ValueId> Loading::SamplersOf(ValueId loader) const {
  if (loader && facts_.values_store[loader].kind == ValueKind::Instance) return SamplersOfOwn(facts_, values_, facts_.values_store[loader].class_id());
  std::vector<ValueId> samplers;
  for (const std::string_view param : {"sampler", "batch_sampler"}) {
    for (const ValueId leaf : values_.Leaves(values_.MadeWith(loader, param))) {
      if (!values_.IsNone(leaf)) samplers.push_back(leaf);
    }
  }
  return samplers;
}

std::vector<ValueId> Loading::DistributedSamplersOf(ValueId loader) const {
  std::vector<ValueId> found;
  for (const ValueId sampler : SamplersOf(loader)) {
    values_.AnyPart(sampler, [&](ValueId part) {
      if (IsDistributedSampler(part) && std::ranges::find(found, part) == found.end()) found.push_back(part);
      return false;
    });
  }
  return found;
}

bool Loading::IsDealtOut(ValueId loader) const {
  return std::ranges::any_of(SamplersOf(loader), [&](ValueId sampler) { return DealsOut(sampler); });
}

// Through what objects of the project are made with, each class once: classes that hold each other would be gone through again and again.
bool Loading::DealsOut(ValueId sampler) const {
  constexpr int kDeepest = 3;
  std::unordered_set<uint32_t> classes;
  std::vector<ValueId> values = {sampler};
  for (int depth = 0; depth <= kDeepest && !values.empty(); ++depth) {
    std::vector<ValueId> made_with;
    const auto deals = [&](ValueId part) {
      const variation::Value& value = facts_.values_store[part];
      if (value.kind == ValueKind::Instance && classes.insert(value.class_id().index).second) {
        std::ranges::copy_if(index_.MadeWith(value.class_id()), std::back_inserter(made_with), [](ValueId arg) { return static_cast<bool>(arg); });
      }
      // `DistributedSampler(data, num_replicas=1, rank=0)`: each rank gets all of it.
      const ValueId ranks = IsDistributedSampler(part) ? values_.MadeWith(part, "num_replicas") : ValueId::None();
      const bool has_all = ranks && values_.Int(ranks) == 1;
      return (IsDistributedSampler(part) && !has_all) || (value.kind == ValueKind::Instance && own_samplers_[value.class_id().index]);
    };
    if (std::ranges::any_of(values, [&](ValueId value) { return values_.AnyPart(value, deals); })) return true;
    std::ranges::sort(made_with, {}, &ValueId::index);
    const auto repeated = std::ranges::unique(made_with);
    made_with.erase(repeated.begin(), repeated.end());
    values = std::move(made_with);
  }
  return false;
}

// Classes with an `__iter__` in which some method, their own or one of a base, cuts by rank.
void Loading::FindOwnSamplers() {
  own_samplers_.resize(program_.classes.size());
  const base::NameId iter = program_.names->Find("__iter__");
  if (!iter) return;
  // By ClassId: in a method of its own.
  std::unordered_map<uint32_t, bool> cuts;
  for (uint32_t c = 0; c < program_.classes.size(); ++c) {
    const binding::ClassId id{c};
    if (!program_.FindMethod(id, iter)) continue;
    own_samplers_[c] = std::ranges::any_of(program_.classes[id].mro, [&](binding::ClassId base) {
      const auto [known, is_new] = cuts.try_emplace(base.index, false);
      if (is_new) known->second = std::ranges::any_of(program_.classes[base].methods, [&](const auto& method) { return CutsByRank(method.second); });
      return known->second;
    });
  }
}

// `order[self.rank :: self.world]`, `range(self.rank, size, self.world)`, `islice(order, self.rank, None, self.world)`.
bool Loading::CutsByRank(FuncId function) const {
  constexpr std::string_view kRanges[] = {"builtins.range", "numpy.arange", "torch.arange", "itertools.islice"};
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(function);
  const auto is_of_rank = [&](ir::ExprId part) {
    const ValueId value = facts_.value(module_id, part);
    return value && (values_.Mentions(value, knowledge::Coordinate::Rank) || values_.Mentions(value, knowledge::Coordinate::LocalRank));
  };
  return std::ranges::any_of(index_.ExprsBeginningIn(module_id, node.begin, node.end), [&](ir::ExprId id) {
    const ir::Expr& expr = module[id];
    if (expr.end > node.end) return false;
    const bool is_range = expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) > 1 &&
                          std::ranges::count(kRanges, values_.External(facts_.value(module_id, ir::CalleeOf(expr)))) > 0;
    if (expr.kind != ir::ExprKind::Slice && !is_range) return false;
    bool is_cut = false;
    ir::ForEachPart(module, id, [&](ir::ExprId part) { is_cut = is_cut || is_of_rank(part); });
    return is_cut;
  });
}

}  // namespace allranks::objects
