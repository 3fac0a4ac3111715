#include "analyzer/objects/share_results.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/binding/receiver.h"
#include "analyzer/ir/bindings.h"
#include "analyzer/ir/walk.h"
#include "analyzer/objects/definition_names.h"
#include "analyzer/objects/evaluation_loops.h"
#include "analyzer/objects/every_way.h"
#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/held_objects.h"
#include "analyzer/objects/other_ways.h"
#include "analyzer/objects/rank_words.h"

namespace allranks::objects {
namespace {

// What frameworks put together by themselves.
constexpr std::string_view kFrameworks[] = {"metric_sync", "report", "predict", "evaluate", "eval_batch", "forward_backward"};

bool PutsTogether(const knowledge::Operation& operation, std::string_view kind) {
  if (operation.op_class == knowledge::OpClass::Send) return true;
  if (operation.op_class == knowledge::OpClass::Implicit) return std::ranges::count(kFrameworks, kind) > 0;
  return operation.op_class == knowledge::OpClass::Collective && kind.find("barrier") == std::string_view::npos;
}

bool IsWithin(const ir::Module& module, ir::ExprId inner, ir::ExprId outer) {
  return module[outer].begin <= module[inner].begin && module[outer].end >= module[inner].end;
}

// `dist.all_reduce(total / world)`: what is put together is a number that nobody has a name for.
bool IsThrownAway(const binding::Program& program, const ProgramIndex& index, const KnownCall& call) {
  const ir::Module& module = program.module_of(call.function);
  const ir::StmtId stmt = index.StatementOf({call.function, call.expr});
  if (!call.entry->operation.tensor_param || !stmt || module[stmt].kind != ir::StmtKind::Expr || ir::ValueOf(module[stmt]) != call.expr) return false;
  const ir::ExprId tensor = index.ArgExpr(call, program.text(call.entry->operation.tensor_param));
  return tensor && (module[tensor].kind == ir::ExprKind::Binary || module[tensor].kind == ir::ExprKind::Unary);
}

// The number of a rank, by its value or as a field says it (`job.rank`), or a text that has it in a hole.
bool IsRankOrText(const variation::Facts& facts, const binding::Program& program, const Values& values, ValueId value) {
  const auto is_rank = [&](ValueId part) {
    return part && std::ranges::any_of(values.Leaves(part), [&](ValueId leaf) {
      const base::NameId name = facts.values_store.DerivedBy(facts.values_store[leaf]);
      const std::string_view field = name ? program.text(name) : std::string_view();
      return facts.values_store[leaf].kind == variation::ValueKind::Coordinate || field == "rank" || field.ends_with("_rank");
    });
  };
  const base::NameId made_by = facts.values_store.DerivedBy(facts.values_store[value]);
  const bool is_text = made_by && program.text(made_by) == "f-string";
  return is_rank(value) || (is_text && std::ranges::any_of(facts.values_store.Kids(value), is_rank));
}

// `evaluate(model, whole)` beside `evaluate(model, shared)`: the loop goes over a loader that a caller, so many calls up, hands it.
bool HandsWhole(const Loading& loading, const ShareLoop& loop, const Site& caller, size_t depth) {
  bool is_handed = false;
  for (const LoaderLoop& drawn : loading.loops()) {
    if (drawn.iterable != loop.iterable || drawn.way.size() <= depth || drawn.way[depth] != caller) continue;
    if (loading.IsDealtOut(drawn.loader)) return false;
    is_handed = true;
  }
  return is_handed && !loop.is_prepared;
}

}  // namespace

const ShareResults& SharesOnDemand::Get() const {
  const std::scoped_lock lock(mutex_);
  if (!results_) results_.emplace(program_, knowledge_, facts_, index_, loading_, training_, launch_);
  return *results_;
}

ShareResults::ShareResults(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                           const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), loading_(loading), training_(training),
      values_(program, knowledge, facts), displays_(program, knowledge, facts, index),
      runs_(program, knowledge, facts, index, launch, loading), choices_(program, knowledge, facts, index), neighbourhood_(program) {
  const auto starts = [&](const Site& caller) { return program.funcs[caller.function].function == ir::kTopLevel; };
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    for (const Site& caller : index.CallersOf(FuncId{f})) {
      if (starts(caller)) started_.insert(program.funcs[caller.function].module);
    }
  }
  FindCombiners();
  const EvaluationLoops loops(program, knowledge, facts, index, loading, training, launch);
  for (const EvaluationLoop& loop : loops.loops()) AddEvaluation(loops, loop);
  for (const EvaluationLoop& loop : loops.training_loops()) AddTraining(loop);
  for (size_t i = 0; i < loops_.size(); ++i) {
    const FuncId function = loops_[i].iterable.function;
    const ir::Stmt& loop = program.module_of(function)[loops_[i].loop];
    Follow(i, {function, ir::ExprId{loop.a}}, loop.begin, loop.end, {.handed = loops_[i].handed});
  }
}

void ShareResults::FindCombiners() {
  std::vector<Site> all, gathering;
  for (const KnownCall& call : index_.known_calls()) {
    if (!call.entry->has_operation) continue;
    const knowledge::Operation& operation = call.entry->operation;
    if (!PutsTogether(operation, program_.text(operation.kind)) || IsThrownAway(program_, index_, call)) continue;
    all.push_back({call.function, call.expr});
    if (!Gathers(call)) continue;
    gathering.push_back({call.function, call.expr});
    exchanges_.emplace(call.function.index, call.expr.index);
  }
  for (const Site& write : WritesForOthers()) {
    all.push_back(write);
    gathering.push_back(write);
  }
  std::vector<std::vector<Site>> applied(program_.funcs.size());
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
      const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
      const FuncId forward = function ? AppliedIn(function, call) : FuncId::None();
      if (forward) applied[forward.index].push_back({function, call});
    }
  }
  places_ = WithCallers(all, applied);
  gathers_ = WithCallers(gathering, applied);
}

// The places, and the calls of the functions that hold some.
ShareResults::Places ShareResults::WithCallers(const std::vector<Site>& sites, const std::vector<std::vector<Site>>& applied) const {
  Places places(program_.funcs.size());
  std::vector<FuncId> work;
  const auto add = [&](const Site& site) {
    std::vector<ir::ExprId>& here = places[site.function.index];
    if (here.empty()) work.push_back(site.function);
    here.push_back(site.expr);
  };
  for (const Site& site : sites) add(site);
  constexpr int kMostRounds = 4;
  std::set<base::NameId> done;
  for (int round = 0; round < kMostRounds && !work.empty(); ++round) {
    while (!work.empty()) {
      const FuncId function = work.back();
      work.pop_back();
      for (const Site& caller : index_.CallersOf(function)) add(caller);
      for (const Site& caller : applied[function.index]) add(caller);
    }
    std::vector<base::NameId> names = MethodsAllOf(places);
    std::erase_if(names, [&](base::NameId name) { return !done.insert(name).second; });
    for (const Site& call : CallsOfSome(names)) add(call);
  }
  return places;
}

// Names of methods: all that the project has of a name hold some of the places.
std::vector<base::NameId> ShareResults::MethodsAllOf(const Places& places) const {
  struct NameUse {
    bool some = false;
    bool all = true;
  };
  std::map<base::NameId, NameUse> names;
  for (const auto& each : program_.classes) {
    for (const auto& [name, method] : each.methods) {
      NameUse& use = names[name];
      const bool holds = !places[method.index].empty();
      use.some = use.some || holds;
      // `def synchronize(self): for meter in self.meters: meter.synchronize()`
      use.all = use.all && (holds || Calls(method, name));
    }
  }
  std::vector<base::NameId> all;
  for (const auto& [name, use] : names) {
    if (use.some && use.all) all.push_back(name);
  }
  return all;
}

bool ShareResults::Calls(FuncId function, base::NameId method) const {
  const ir::Function& node = program_.function(function);
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsBeginningIn(module_id, node.begin, node.end), [&](ir::ExprId call) {
    if (module[call].kind != ir::ExprKind::Call || module[call].end > node.end) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Attribute || ir::AttrOf(callee) != method) return false;
    // An object that it goes over, and no field of its own such as a model.
    const ir::Expr& object = module[ir::ObjectOf(callee)];
    return object.kind == ir::ExprKind::Name && (node.params.empty() || ir::NameOf(object) != node.params[0].name);
  });
}

// `for meter in meters.values(): meter.synchronize()`: calls of methods of these names, in order, on objects that are not known.
std::vector<Site> ShareResults::CallsOfSome(std::span<const base::NameId> methods) const {
  std::vector<Site> calls;
  if (methods.empty()) return calls;
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program_.modules[module_id];
    for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call])];
      if (callee.kind != ir::ExprKind::Attribute || !std::ranges::binary_search(methods, ir::AttrOf(callee))) continue;
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
      const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
      const variation::CallFact* fact = function ? facts_.call(function, call) : nullptr;
      const bool is_known = fact != nullptr && (fact->function || fact->kind == variation::CallKind::Known);
      if (function && !is_known) calls.push_back({function, call});
    }
  }
  return calls;
}

// One rank's value that all get is no sum of theirs, and ranks that hold parts of one model have the same data.
bool ShareResults::Gathers(const KnownCall& call) const {
  const knowledge::Operation& operation = call.entry->operation;
  const std::string_view kind = program_.text(operation.kind);
  if (kind.find("broadcast") != std::string_view::npos || kind.find("scatter") != std::string_view::npos) return false;
  const auto is_of_model = [](knowledge::Axis axis) {
    return axis == knowledge::Axis::TensorParallel || axis == knowledge::Axis::PipelineParallel || axis == knowledge::Axis::ExpertParallel;
  };
  if (operation.has_fixed_axis) return !is_of_model(operation.axis);
  const ValueId group = operation.group_param ? index_.Arg(call, program_.text(operation.group_param)) : ValueId::None();
  return !group || std::ranges::none_of(values_.Leaves(group), [&](ValueId leaf) {
    const variation::Value& node = facts_.values_store[leaf];
    const bool is_axis = node.is_group(variation::GroupKind::AxisGroup);
    return is_axis && is_of_model(node.axis());
  });
}

bool ShareResults::IsOfAll(FuncId function, ir::ExprId expr) const {
  const std::vector<ir::ExprId>& places = places_[function.index];
  return !places.empty() && FlowFrom(program_, index_, function, places, program_.function(function).begin).Holds(expr);
}

bool ShareResults::IsCalled(const Site& site) const {
  const ir::ModuleId module_id = program_.funcs[site.function].module;
  // Of a file that no program uses nobody can tell.
  if (std::ranges::none_of(neighbourhood_.UsersOf(module_id), [&](ir::ModuleId user) { return started_.contains(user); })) return true;
  return !IsOnEveryWay(index_, module_id, program_.modules[module_id][site.expr].begin, [&](FuncId function, ir::StmtId) {
    while (program_.funcs[function].parent && program_.funcs[program_.funcs[function].parent].function != ir::kTopLevel) function = program_.funcs[function].parent;
    return IsCalledByNobody(function);
  });
}

// `@torch.no_grad()` enters a function into no table.
bool ShareResults::IsCalledByNobody(FuncId function) const {
  const binding::Func& func = program_.funcs[function];
  if (func.function == ir::kTopLevel || func.owner || !index_.CallersOf(function).empty()) return false;
  if (runs_.IsHandedOver(function) || IsNamed(program_, index_, function)) return false;
  return std::ranges::all_of(program_.function(function).decorators, [&](ir::ExprId decorator) {
    return SwitchesGradientsOff(program_, values_, facts_, func.module, decorator);
  });
}

// What goes into a file of the rank, in a function that waits for the others and reads files afterwards: the parts are put
// together there. Helpers that write, wait or read are looked into once.
std::vector<Site> ShareResults::WritesForOthers() const {
  const auto is_write = [](const KnownCall& call) { return call.entry->Has(knowledge::Role::Write) || call.entry->Has(knowledge::Role::OpenFile); };
  const auto is_read = [](const KnownCall& call) { return call.entry->Has(knowledge::Role::ReadFile) || call.entry->Has(knowledge::Role::OpenFile); };
  const auto is_barrier = [&](const KnownCall& call) {
    return call.entry->has_operation && program_.text(call.entry->operation.kind).find("barrier") != std::string_view::npos;
  };
  const std::vector<uint32_t> last_read = LastOf(is_read, [](const Site&) { return true; }, {});
  const std::vector<uint32_t> last_wait = LastOf(is_barrier, [](const Site&) { return true; }, last_read);
  std::vector<Site> writes;
  const auto names_rank = [&](const Site& site) { return NamesRank(site); };
  LastOf(is_write, names_rank, last_wait, &writes);
  return writes;
}

// By FuncId: where the last such call stands, or that of a helper that makes one itself, before a place; 0: nowhere.
std::vector<uint32_t> ShareResults::LastOf(const std::function<bool(const KnownCall&)>& is_it, const std::function<bool(const Site&)>& counts,
                                           const std::vector<uint32_t>& before, std::vector<Site>* all) const {
  std::vector<uint32_t> last(program_.funcs.size());
  const auto add = [&](const Site& site) {
    const uint32_t at = program_.module_of(site.function)[site.expr].begin;
    if ((!before.empty() && at >= before[site.function.index]) || !counts(site)) return;
    last[site.function.index] = std::max(last[site.function.index], at);
    if (all != nullptr) all->push_back(site);
  };
  std::vector<bool> makes(program_.funcs.size());
  for (const KnownCall& call : index_.known_calls()) {
    if (!is_it(call)) continue;
    add({call.function, call.expr});
    if (makes[call.function.index]) continue;
    makes[call.function.index] = true;
    for (const Site& caller : index_.CallersOf(call.function)) add(caller);
  }
  return last;
}

// Some argument of a call is made of the rank.
bool ShareResults::NamesRank(const Site& call) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  return fact != nullptr && std::ranges::any_of(facts_.args(*fact), [&](ValueId arg) {
    return arg && values_.Mentions(arg, knowledge::Coordinate::Rank);
  });
}

// `AllReduce.apply(x)` of a function that autograd runs: its `forward`.
FuncId ShareResults::AppliedIn(FuncId function, ir::ExprId call) const {
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  if (callee.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(callee)) != "apply") return FuncId::None();
  const ValueId object = facts_.value(program_.funcs[function].module, ir::ObjectOf(callee));
  if (!object || facts_.values_store[object].kind != variation::ValueKind::Class) return FuncId::None();
  const auto& methods = program_.classes[facts_.values_store[object].class_id()].methods;
  const auto forward = std::ranges::find_if(methods, [&](const auto& method) { return program_.text(method.first) == "forward"; });
  return forward == methods.end() ? FuncId::None() : forward->second;
}

void ShareResults::AddTraining(const EvaluationLoop& training) {
  const bool is_dealt_out = training.loader && loading_.IsDealtOut(training.loader);
  if (!is_dealt_out && !training.is_prepared) return;
  const ValueId iterable = facts_.value(program_.funcs[training.iterable.function].module, training.iterable.expr);
  ShareLoop loop{training.iterable, training.loop, is_dealt_out ? training.loader : ValueId::None(), training.is_prepared};
  loop.trains = true;
  AddLoop(std::move(loop), iterable, training);
}

void ShareResults::AddEvaluation(const EvaluationLoops& evaluations, const EvaluationLoop& evaluation) {
  const FuncId function = evaluation.iterable.function;
  const ValueId iterable = facts_.value(program_.funcs[function].module, evaluation.iterable.expr);
  ShareLoop loop{evaluation.iterable, evaluation.loop, ValueId::None(), evaluation.is_prepared};
  if (evaluation.loader && loading_.IsDealtOut(evaluation.loader)) loop.loader = evaluation.loader;
  const bool is_slice = loading_.LoadersIn(iterable).empty() && IsSliceOfRank(iterable, 0);
  if (!loop.loader && !loop.is_prepared && (!is_slice || IsOverWorkers(function, evaluation.loop))) return;
  const ModelMode mode = evaluations.ModeOf(evaluation);
  if (loop.loader ? mode == ModelMode::Training : mode != ModelMode::Evaluation) return;
  AddLoop(std::move(loop), iterable, evaluation);
}

void ShareResults::AddLoop(ShareLoop loop, ValueId iterable, const EvaluationLoop& found) {
  const std::vector<ValueId> loaders = found.handed ? loading_.HandedTo(found.iterable) : loading_.LoadersIn(iterable);
  loop.handed = found.handed;
  loop.may_be_whole = loop.loader && MayBeWhole(loaders, loop.loader);
  loops_.push_back(std::move(loop));
}

// The function that made the loader makes others as well that deal nothing out, more than `if args.distributed: ... else: ...` around
// the one calls for: `elif args.task == "imputation": loader = DataLoader(data)`.
bool ShareResults::MayBeWhole(std::span<const ValueId> loaders, ValueId dealt) const {
  const std::vector<Site> makers = loading_.MadeAt(dealt);
  const auto is_beside = [&](ValueId other) {
    const std::vector<Site> others = loading_.MadeAt(other);
    return makers.empty() || others.empty() || std::ranges::any_of(others, [&](const Site& made) {
      return std::ranges::any_of(makers, [&](const Site& maker) { return maker.function == made.function; });
    });
  };
  size_t shares = 0, wholes = 0;
  for (const ValueId other : loaders) {
    if (is_beside(other)) ++(loading_.IsDealtOut(other) ? shares : wholes);
  }
  return wholes > shares;
}

// `data[rank::world]`, or what goes over it; what is computed of it, or held by one of its items, is no share of the data.
bool ShareResults::IsSliceOfRank(ValueId value, int depth) const {
  constexpr int kDeepest = 6;
  constexpr std::string_view kGoOver[] = {
      "[]", "for", "copy", "tolist", "builtins.enumerate", "builtins.zip", "builtins.list", "builtins.tuple", "builtins.sorted",
      "builtins.reversed", "builtins.iter", "builtins.map", "builtins.filter", "builtins.range", "builtins.len"};
  if (!value || depth > kDeepest) return false;
  return std::ranges::any_of(values_.Leaves(value), [&](ValueId leaf) {
    const variation::Value& node = facts_.values_store[leaf];
    const auto kids = facts_.values_store.Kids(leaf);
    const base::NameId name = facts_.values_store.DerivedBy(node);
    if (!name || std::ranges::count(kGoOver, program_.text(name)) == 0) return false;
    if (program_.text(name) == "[]") {
      if (kids.size() != 2 || !kids[1] || !IsOperation(kids[1], "[:]")) return false;
      if (values_.Mentions(kids[1], knowledge::Coordinate::Rank)) return true;
    }
    return std::ranges::any_of(kids, [&](ValueId kid) { return IsSliceOfRank(kid, depth + 1); });
  });
}

// `for engine in engines[rank::world]: engine.generate(...)`: what is only told to do things is no data.
bool ShareResults::IsOverWorkers(FuncId function, ir::StmtId loop) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  ir::ExprId target = ir::ExprId{module[loop].a};
  // `for i, engine in enumerate(engines)`
  if (module[target].kind == ir::ExprKind::Tuple && ir::Items(module, module[target]).size() == 2) target = ir::Items(module, module[target])[1];
  if (module[target].kind != ir::ExprKind::Name) return false;
  const auto is_used = [&](ir::ExprId name) {
    return name != target && ir::NameOf(module[name]) == ir::NameOf(module[target]) && module[name].begin >= module[loop].begin && module[name].end <= module[loop].end;
  };
  size_t uses = 0, told = 0;
  for (const ir::ExprId name : index_.ExprsOf(module_id, ir::ExprKind::Name)) uses += is_used(name);
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    ir::ExprId object = ir::CalleeOf(module[call]);
    if (module[object].kind != ir::ExprKind::Attribute) continue;
    while (module[object].kind == ir::ExprKind::Attribute) object = ir::ObjectOf(module[object]);
    told += module[object].kind == ir::ExprKind::Name && is_used(object);
  }
  return uses > 0 && uses == told;
}

bool ShareResults::IsOperation(ValueId value, std::string_view operation) const {
  const variation::Value& node = facts_.values_store[value];
  const base::NameId name = facts_.values_store.DerivedBy(node);
  return name && program_.text(name) == operation;
}

// What differs with the data or the number of the rank.
bool ShareResults::IsShareOfRank(ValueId value) const {
  const knowledge::Axes axes = facts_.values_store.axes(value);
  return axes.has(knowledge::Axis::Data) || axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::DataParallel);
}

// `engine.global_steps`: of an object that was given a share of the data, what a library says is the same on all ranks.
bool ShareResults::IsKnownAlike(FuncId function, ir::ExprId expr) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[expr].kind != ir::ExprKind::Attribute) return false;
  const ValueId object_value = facts_.value(module_id, ir::ObjectOf(module[expr]));
  const std::vector<ValueId> objects = object_value ? values_.Leaves(object_value) : std::vector<ValueId>();
  const bool is_known = !objects.empty() && std::ranges::all_of(objects, [&](ValueId object) {
    const knowledge::ClassId known = values_.ClassOf(object);
    return known && knowledge_.FindMember(known, ir::AttrOf(module[expr]));
  });
  const ValueId value = is_known ? facts_.value(module_id, expr) : ValueId::None();
  return value && facts_.values_store.axes(value).empty();
}

void ShareResults::Follow(size_t loop, const Site& from, uint32_t begin, uint32_t end, Way way) {
  constexpr int kDeepest = 3;
  if (way.depth > kDeepest) return;
  const std::vector<bool> items = std::exchange(way.items, {});
  const FlowFrom flow = FlowOf(from, begin, way, items, {});
  way.is_filed = way.is_filed || flow.is_filed();
  AddCombined(loop, from, flow, begin, way);
  const uint32_t first = FirstCombination(from, flow, begin);
  if (first < end) return;
  AddAveraged(loop, from, flow, end, first);
  AddUses(loop, from, flow, end, first, way);
  const bool is_returned = FollowReturns(loop, from.function, flow, first, way);
  if (way.depth == 0 && first == UINT32_MAX && !is_returned) AddRunning(loop, from, flow, way);
  // What was told before is enough.
  const bool is_told = std::ranges::any_of(uses_, [&](const ShareUse& use) { return use.loop == loop && use.kind != ShareUse::Kind::Combined; });
  if (first == UINT32_MAX || is_told) return;
  const std::optional<std::set<base::NameId>> handed = HandedOver(from, flow, begin);
  if (!handed) return;
  const FlowFrom beside = FlowOf(from, begin, way, items, *handed);
  if (IsPutTogether(from, beside, begin)) return;
  AddUses(loop, from, beside, first, UINT32_MAX, way);
  if (!is_returned) FollowReturns(loop, from.function, beside, UINT32_MAX, way);
}

// `left_out`: variables, with their fields, that it does not go into.
FlowFrom ShareResults::FlowOf(const Site& from, uint32_t begin, const Way& way, const std::vector<bool>& items,
                              const std::set<base::NameId>& left_out) const {
  const FuncId function = from.function;
  const ir::Module& module = program_.module_of(function);
  const auto always_ends = [this, function](ir::ExprId expr) {
    const ValueId value = facts_.value(program_.funcs[function].module, expr);
    return values_.IsA(value, "wandb.Media") || IsPath(value) || IsSharedStore(value) || IsKnownAlike(function, expr);
  };
  const auto is_share = [this, function, way](ir::ExprId expr) { return way.is_of_given || Differs(function, expr) || IsMadeOf(function, expr, way.handed); };
  const auto fills = [this, function](ir::ExprId call) { return exchanges_.contains({function.index, call.index}); };
  const auto uses_up = [this, function](ir::ExprId call) {
    const Site site{function, call};
    return std::ranges::count(training_.backwards(), site) > 0 || std::ranges::count(displays_.In(function), site, &Display::call) > 0;
  };
  const auto flow = [&](const FlowFrom::Question& ends) {
    return FlowFrom(program_, index_, function, {from.expr}, begin, ends, is_share, fills, items, uses_up);
  };
  if (places_[function.index].empty()) return flow(always_ends);
  const FlowFrom whole = flow(always_ends);
  std::vector<TextRange> others;
  for (const ir::ExprId place : places_[function.index]) {
    if (place == from.expr || module[place].begin < begin || !MayTakeIn({function, place}, whole)) continue;
    std::ranges::copy(WaysBeside(module, index_.tree(program_.funcs[function].module), index_.StatementOf({function, place}), begin), std::back_inserter(others));
  }
  // Each way puts something together.
  std::erase_if(others, [&](const TextRange& other) {
    return std::ranges::any_of(places_[function.index], [&](ir::ExprId place) { return other.begin <= module[place].begin && module[place].end <= other.end; });
  });
  if (others.empty() && left_out.empty()) return whole;
  return flow([&module, always_ends, left_out, others](ir::ExprId expr) {
    const auto holds = [&](const TextRange& other) { return other.begin <= module[expr].begin && module[expr].end <= other.end; };
    return left_out.contains(NameBehind(module, expr)) || std::ranges::any_of(others, holds) || always_ends(expr);
  });
}

// `meters` of `meters["loss"].average`; none if it is something else.
base::NameId ShareResults::NameBehind(const ir::Module& module, ir::ExprId expr) {
  while (true) {
    const ir::Expr& node = module[expr];
    if (node.kind == ir::ExprKind::Name) return ir::NameOf(node);
    if (node.kind == ir::ExprKind::Attribute) expr = ir::ObjectOf(node);
    else if (node.kind == ir::ExprKind::Subscript) expr = ir::LeftOf(node);
    else return base::NameId::None();
  }
}

// The variables of which something is handed to what puts shares together: what became of the result without them is still of one rank.
// None if that is not known, as it is of fields of the function's own object.
std::optional<std::set<base::NameId>> ShareResults::HandedOver(const Site& from, const FlowFrom& flow, uint32_t begin) const {
  const FuncId function = from.function;
  const ir::Module& module = program_.module_of(function);
  const ir::Function& node = program_.function(function);
  std::set<base::NameId> names;
  for (const ir::ExprId place : places_[function.index]) {
    if (place == from.expr || module[place].begin < begin || !MayTakeIn({function, place}, flow)) continue;
    const variation::CallFact* fact = facts_.call(function, place);
    const bool is_call = module[place].kind == ir::ExprKind::Call;
    if (!is_call || (fact != nullptr && fact->function && ReadsVariables(fact->function, function, flow))) return std::nullopt;
    ir::AnyPart(module, place, [&](ir::ExprId part) {
      const base::NameId name = module[part].kind == ir::ExprKind::Name ? ir::NameOf(module[part]) : base::NameId::None();
      if (name && (flow.IsEverIn(name) || flow.IsEverInFieldOf(name))) names.insert(name);
      names.merge(ObjectsHeld(program_, index_, function, part, flow));
      return false;
    });
  }
  const bool is_of_own_object = program_.funcs[function].owner && !node.params.empty() && names.contains(node.params[0].name);
  return names.empty() || is_of_own_object ? std::nullopt : std::optional(std::move(names));
}

// Whether something of it is put together after all.
bool ShareResults::IsPutTogether(const Site& from, const FlowFrom& flow, uint32_t begin) const {
  const ir::Module& module = program_.module_of(from.function);
  return std::ranges::any_of(places_[from.function.index], [&](ir::ExprId place) {
    return place != from.expr && module[place].begin >= begin && ir::AnyPart(module, place, [&](ir::ExprId part) { return flow.Holds(part); });
  });
}

void ShareResults::AddUses(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, const Way& way) {
  AddShown(loop, from, flow, begin, end, way);
  AddChosen(loop, from, flow, begin, end, way);
  AddStepped(loop, from, flow, begin, end, way);
}

// `f1 = f1_score(labels, found)`, and then the mean of it over the ranks: of a score that only a whole set has.
void ShareResults::AddAveraged(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t first) {
  const FuncId function = from.function;
  const ir::Module& module = program_.module_of(function);
  for (const KnownCall& call : index_.KnownCallsIn(function)) {
    const uint32_t at = module[call.expr].begin;
    if (!call.entry->Has(knowledge::Role::ScoresSet) || at < begin || at >= first || !flow.Holds(call.expr)) continue;
    const ir::StmtId stmt = index_.StatementOf({function, call.expr});
    if (!stmt) continue;
    const FlowFrom score(program_, index_, function, {call.expr}, module[stmt].begin);
    if (FirstCombination({function, call.expr}, score, at) == UINT32_MAX) continue;
    uses_.push_back({.kind = ShareUse::Kind::Averaged, .place = {function, call.expr}, .value = call.expr, .loop = loop});
  }
}

// What the call that evaluated did inside came before its result.
uint32_t ShareResults::FirstCombination(const Site& from, const FlowFrom& flow, uint32_t begin) const {
  uint32_t first = UINT32_MAX;
  for (const ir::ExprId place : places_[from.function.index]) {
    if (place == from.expr) continue;
    const uint32_t at = program_.module_of(from.function)[place].begin;
    if (at >= begin && at < first && MayTakeIn({from.function, place}, flow)) first = at;
  }
  return first;
}

// Whether what is put together there may be some of the result: it is handed over, it is in the object whose method is called, or a function
// inside reads the variable.
bool ShareResults::MayTakeIn(const Site& call, const FlowFrom& flow) const {
  const ir::Module& module = program_.module_of(call.function);
  const ir::Expr& node = module[call.expr];
  if (node.kind != ir::ExprKind::Call) return true;
  for (uint32_t i = 0; i < ir::ArgCount(module, node); ++i) {
    const ir::ExprId arg = ir::ArgAt(module, node, i).value;
    if (IsHandled(module, arg, flow) || !ObjectsHeld(program_, index_, call.function, arg, flow).empty()) return true;
  }
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  const bool is_known = fact != nullptr && fact->kind == variation::CallKind::Known && knowledge_[fact->entry].has_operation;
  if (is_known && knowledge_[fact->entry].operation.op_class != knowledge::OpClass::Implicit) return false;
  if (IsHandled(module, ir::CalleeOf(node), flow)) return true;
  return fact != nullptr && fact->function && ReadsVariables(fact->function, call.function, flow);
}

// It is made of the result, or of an object that has some in a field.
bool ShareResults::IsHandled(const ir::Module& module, ir::ExprId expr, const FlowFrom& flow) const {
  return ir::AnyPart(module, expr, [&](ir::ExprId part) {
    return flow.Holds(part) || (module[part].kind == ir::ExprKind::Name && flow.IsEverInFieldOf(ir::NameOf(module[part])));
  });
}

// `def sync(): dist.all_reduce(total)` inside the function that counts, or of a file that counts in variables of its own.
bool ShareResults::ReadsVariables(FuncId helper, FuncId outer, const FlowFrom& flow) const {
  const ir::ModuleId module_id = program_.funcs[outer].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& around = program_.function(outer);
  const bool is_top = program_.funcs[outer].function == ir::kTopLevel;
  return std::ranges::any_of(index_.RunBy({helper}), [&](FuncId run) {
    const ir::Function& inner = program_.function(run);
    const bool is_inside = program_.funcs[run].module == module_id && (is_top || (inner.begin >= around.begin && inner.end <= around.end));
    if (!is_inside) return false;
    std::set<base::NameId> own;
    for (const ir::Param& param : inner.params) own.insert(param.name);
    ir::ForEachBindingIn(module, inner.body, [&](const ir::Binding& binding) { own.insert(binding.name); });
    const auto inside = index_.ExprsBeginningIn(module_id, inner.begin, inner.end);
    for (const ir::ExprId id : inside) {
      if (module[id].kind != ir::ExprKind::Comprehension) continue;
      for (const ir::Clause& clause : ir::ClausesOf(module, module[id])) {
        ir::ForEachTargetName(module, clause.target, [&](base::NameId name) { own.insert(name); });
      }
    }
    return std::ranges::any_of(inside, [&](ir::ExprId id) {
      return module[id].kind == ir::ExprKind::Name && flow.IsEverIn(ir::NameOf(module[id])) && !own.contains(ir::NameOf(module[id]));
    });
  });
}

void ShareResults::AddCombined(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, Way way) {
  const auto [function, seed] = from;
  const ir::Module& module = program_.module_of(function);
  for (const ir::ExprId place : gathers_[function.index]) {
    if (place == seed || module[place].kind != ir::ExprKind::Call || module[place].begin < begin || !flow.Holds(place)) continue;
    const bool is_cut = way.is_filed || CutsItems({function, place}) || IsCutBehind(function, flow, module[place].begin);
    const bool is_cut_above = !is_cut && IsCutAbove(function, flow, 0);
    uses_.push_back({.kind = ShareUse::Kind::Combined, .place = {function, place}, .value = place, .loop = loop, .is_cut = is_cut, .is_cut_above = is_cut_above});
  }
}

// Where it is returned to it is cut, or filed under what tells samples apart: at one caller, which may be the one that counts.
bool ShareResults::IsCutAbove(FuncId function, const FlowFrom& flow, int depth) const {
  constexpr int kDeepest = 2;
  if (depth == kDeepest || !ReturnsIn(function, flow, UINT32_MAX)) return false;
  return std::ranges::any_of(index_.CallersOf(function), [&](const Site& caller) {
    const ir::StmtId stmt = index_.StatementOf(caller);
    if (!stmt) return false;
    const uint32_t begin = program_.module_of(caller.function)[stmt].begin;
    const FlowFrom above(program_, index_, caller.function, {caller.expr}, begin);
    return above.is_filed() || IsCutBehind(caller.function, above, begin) || IsCutAbove(caller.function, above, depth + 1);
  });
}

// A helper that cuts what it collects, or a library that knows how many there are.
bool ShareResults::CutsItems(const Site& call) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (fact == nullptr) return false;
  if (fact->kind == variation::CallKind::Known) return program_.text(knowledge_[fact->entry].name).ends_with(".gather_for_metrics");
  if (!fact->function) return false;
  if (AsksForRepeats(call, fact->function)) return true;
  const ir::Function& helper = program_.function(fact->function);
  const ir::ModuleId module_id = program_.funcs[fact->function].module;
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Subscript), [&](ir::ExprId id) {
    return module[id].begin >= helper.begin && module[id].end <= helper.end && IsCut(module, id);
  });
}

// `everything[:len(dataset)]`. The first of what one item holds (`found[i][:10]`) are no fewer items.
bool ShareResults::IsCut(const ir::Module& module, ir::ExprId subscript) {
  const ir::Expr& cut = module[ir::LeftOf(module[subscript])];
  if (cut.kind == ir::ExprKind::Subscript && module[ir::RightOf(cut)].kind != ir::ExprKind::Slice) return false;
  const ir::Expr& index = module[ir::RightOf(module[subscript])];
  if (index.kind != ir::ExprKind::Slice) return false;
  const auto bounds = ir::Items(module, index);
  // `offsets[:-1]` leaves out as many of any.
  if (bounds.size() < 2 || bounds[0] || !bounds[1]) return false;
  const ir::Expr& stop = module[bounds[1]];
  const bool is_number = stop.kind == ir::ExprKind::Constant && ir::ConstantKindOf(stop) == ir::ConstantKind::Int;
  return stop.kind != ir::ExprKind::Unary && !(is_number && ir::IntOf(stop) < 0);
}

// A cut of the results, or a look at which of them are the same, in the rest of the function.
bool ShareResults::IsCutBehind(FuncId function, const FlowFrom& flow, uint32_t begin) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const auto is_here = [&](ir::ExprId id) { return module[id].end > begin && flow.Holds(id); };
  const auto is_cut = [&](ir::ExprId id) { return is_here(id) && IsCut(module, id); };
  if (std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Subscript), is_cut)) return true;
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    if (!is_here(id)) return false;
    const std::string_view name = values_.External(facts_.value(module_id, ir::CalleeOf(module[id])));
    // `features.index_copy_(0, numbers, found)`, `dict(pairs)`: one place for each.
    const ir::Expr& callee = module[ir::CalleeOf(module[id])];
    const std::string_view method = callee.kind == ir::ExprKind::Attribute ? program_.text(ir::AttrOf(callee)) : std::string_view();
    if (method == "index_copy_" || method == "index_put_" || method == "scatter_") return true;
    return name == "builtins.set" || name == "builtins.dict" || name.ends_with(".unique") || DropsRepeats({function, id}, flow);
  });
}

// `if item[key] not in seen: ...` in a helper; `key` is a constant, or a parameter for which the call has a text.
bool ShareResults::AsksForRepeats(const Site& call, FuncId helper) const {
  const ir::ModuleId module_id = program_.funcs[helper].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(helper);
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Compare), [&](ir::ExprId id) {
    if (module[id].begin < node.begin || module[id].end > node.end) return false;
    const ir::Expr& item = module[ir::ExprId{module[id].a}];
    if (ir::ComparisonAt(module, module[id], 0).op != ir::CompareOp::NotIn || item.kind != ir::ExprKind::Subscript) return false;
    const ir::ExprId key = ir::RightOf(item);
    if (module[key].kind != ir::ExprKind::Name) return !values_.Str(facts_.value(module_id, key)).empty();
    const ir::Module& outer = program_.module_of(call.function);
    for (uint32_t i = 0; i < ir::ArgCount(outer, outer[call.expr]); ++i) {
      const ir::Arg arg = ir::ArgAt(outer, outer[call.expr], i);
      const bool is_param = arg.kind == ir::ArgKind::Keyword ? arg.keyword == ir::NameOf(module[key])
                                                             : i < node.params.size() && node.params[i].name == ir::NameOf(module[key]);
      if (is_param) return !values_.Str(facts_.value(program_.funcs[call.function].module, arg.value)).empty();
    }
    return false;
  });
}

// A helper that is handed the results asks where each of them stands first: `np.unique(numbers, return_index=True)`.
bool ShareResults::DropsRepeats(const Site& call, const FlowFrom& flow) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (fact == nullptr || !fact->function) return false;
  const FuncId helper = fact->function;
  const ir::ModuleId module_id = program_.funcs[helper].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(helper);
  const auto is_here = [&](ir::ExprId id) { return module[id].begin >= node.begin && module[id].end <= node.end; };
  // What it is handed otherwise are no results.
  const ir::Module& outer = program_.module_of(call.function);
  const size_t first = binding::HasReceiver(program_, helper) ? 1 : 0;
  std::vector<base::NameId> given;
  for (uint32_t i = 0; i < ir::ArgCount(outer, outer[call.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(outer, outer[call.expr], i);
    if (!flow.Holds(arg.value)) continue;
    if (arg.kind == ir::ArgKind::Keyword) given.push_back(arg.keyword);
    else if (arg.kind == ir::ArgKind::Positional && first + i < node.params.size()) given.push_back(node.params[first + i].name);
  }
  std::vector<ir::ExprId> seeds;
  for (const ir::ExprId name : index_.ExprsOf(module_id, ir::ExprKind::Name)) {
    if (is_here(name) && std::ranges::count(given, ir::NameOf(module[name])) > 0) seeds.push_back(name);
  }
  const FlowFrom inside(program_, index_, helper, seeds, node.begin);
  const base::NameId where = program_.names->Find("return_index");
  return where && std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    if (!is_here(id) || !inside.Holds(id) || !values_.External(facts_.value(module_id, ir::CalleeOf(module[id]))).ends_with(".unique")) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[id]); ++i) {
      const ir::Arg arg = ir::ArgAt(module, module[id], i);
      if (arg.kind == ir::ArgKind::Keyword && arg.keyword == where) return true;
    }
    return false;
  });
}

void ShareResults::AddShown(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  const auto [function, seed] = from;
  const ir::Module& module = program_.module_of(function);
  for (const Display& display : displays_.In(function)) {
    const ir::Expr& call = module[display.call.expr];
    // Of an evaluation a file may hold what comes of each sample.
    if ((display.is_file && !loops_[loop].trains) || IsInOtherArm(loops_[loop], display.call)) continue;
    // `print(evaluate(model))` is done after what stands in it.
    if ((call.begin < begin && !IsWithin(module, seed, display.call.expr)) || call.begin >= end) continue;
    // `print(meter.reduce())`
    if (end < call.end) continue;
    const auto value = std::ranges::find_if(display.shown, [&](ir::ExprId expr) { return ShowsResult(function, expr, flow, way); });
    if (value == display.shown.end() || SpeaksOfRanks(function, display)) continue;
    uses_.push_back({ShareUse::Kind::Shown, display.call, *value, loop, way.is_total || flow.IsOfTotal(*value)});
  }
}

// `print(correct / total)` in each round of an evaluation that says nothing else: what it prints last is its result.
void ShareResults::AddRunning(size_t loop, const Site& from, const FlowFrom& flow, const Way& way) {
  if (loops_[loop].trains || std::ranges::count(uses_, loop, &ShareUse::loop) > 0) return;
  const ir::Stmt& stmt = program_.module_of(from.function)[loops_[loop].loop];
  AddShown(loop, from, flow, stmt.begin, UINT32_MAX, way);
  std::erase_if(uses_, [&](const ShareUse& use) { return use.loop == loop && !flow.IsOfTotal(use.value) && !flow.IsOfGiven(use.value); });
  for (ShareUse& use : uses_) use.is_running = use.is_running || use.loop == loop;
}

// `if training: for ... else: for ...`: what stands in the one arm is not behind the loop in the other.
bool ShareResults::IsInOtherArm(const ShareLoop& loop, const Site& place) const {
  if (loop.iterable.function != place.function) return false;
  const ir::ModuleId module_id = program_.funcs[place.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Tree& tree = index_.tree(module_id);
  const ir::StmtId shown = tree.StatementOf(place.expr);
  ir::StmtId at = loop.loop;
  for (ir::StmtId around = tree.Parent(at); around; at = around, around = tree.Parent(around)) {
    if (!shown || !tree.Holds(around, shown) || module[around].kind != ir::StmtKind::If) continue;
    return std::ranges::none_of(module.statements(tree.BlockOf(at)), [&](ir::StmtId beside) { return tree.Holds(beside, shown); });
  }
  return false;
}

// A text, a list or a table is one by what stands in it: `f"{len(results)} done in {seconds}"` says how much a rank has, and how long it took.
bool ShareResults::ShowsResult(FuncId function, ir::ExprId expr, const FlowFrom& flow, Way way) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (!flow.Holds(expr) || IsSize(function, expr)) return false;
  if (!IsMadeOfParts(module, expr)) return DiffersBy(function, expr, flow, way);
  bool shows = false;
  ir::ForEachPart(module, expr, [&](ir::ExprId part) { shows = shows || ShowsResult(function, part, flow, way); });
  return shows;
}

// A text with holes, also by `format`, `%` or `+`, or a display of a list or a table.
bool ShareResults::IsMadeOfParts(const ir::Module& module, ir::ExprId expr) const {
  const ir::Expr& node = module[expr];
  const auto is_text = [&](ir::ExprId side) {
    const bool is_constant = module[side].kind == ir::ExprKind::Constant && ir::ConstantKindOf(module[side]) == ir::ConstantKind::Str;
    return is_constant || module[side].kind == ir::ExprKind::FString;
  };
  switch (node.kind) {
    case ir::ExprKind::FString:
    case ir::ExprKind::Dict:
    case ir::ExprKind::Tuple:
    case ir::ExprKind::List:
      return true;
    case ir::ExprKind::Call:
      return module[ir::CalleeOf(node)].kind == ir::ExprKind::Attribute && program_.text(ir::AttrOf(module[ir::CalleeOf(node)])) == "format";
    case ir::ExprKind::Binary:
      return is_text(ir::LeftOf(node)) || is_text(ir::RightOf(node)) || IsMadeOfParts(module, ir::LeftOf(node)) || IsMadeOfParts(module, ir::RightOf(node));
    default:
      return false;
  }
}

void ShareResults::AddChosen(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  for (const ShareChoice& choice : choices_.In(from.function, flow, begin, end, from.expr)) {
    if (!DiffersBy(from.function, choice.value, flow, way)) continue;
    uses_.push_back({.kind = ShareUse::Kind::Chosen, .place = choice.place, .value = choice.value, .loop = loop});
  }
}

// `scheduler.step(loss)`, of no object of the project. What answers, like a simulated world, is no scheduler.
void ShareResults::AddStepped(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  const FuncId function = from.function;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Expr || stmt.begin >= end) continue;
    const ir::ExprId call = ir::ValueOf(stmt);
    if (module[call].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call]) == 0) continue;
    // `plateau.step(evaluate(model))`
    if (stmt.begin < begin && !IsWithin(module, from.expr, call)) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(callee)) != "step") continue;
    const ir::ExprId metric = ir::ArgAt(module, module[call], 0).value;
    if (!flow.Holds(metric) || !DiffersBy(function, metric, flow, way) || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    const variation::CallFact* fact = facts_.call(function, call);
    if (fact == nullptr || !fact->function) uses_.push_back({ShareUse::Kind::Stepped, {function, call}, metric, loop});
  }
}

// Whether there is something to follow. A caller that hands the loop a loader which deals nothing out gets a result of the whole.
bool ShareResults::FollowReturns(size_t loop, FuncId function, const FlowFrom& flow, uint32_t end, Way way) {
  Way own;
  if (!ReturnsIn(function, flow, end, &own)) return false;
  way.is_of_given = way.is_of_given || own.is_of_given;
  way.is_total = way.is_total || own.is_total;
  for (const Site& caller : index_.CallersOf(function)) {
    const ir::StmtId stmt = index_.StatementOf(caller);
    if (!stmt || HandsWhole(loading_, loops_[loop], caller, static_cast<size_t>(way.depth))) continue;
    const ir::Module& outer = program_.module_of(caller.function);
    Follow(loop, caller, outer[stmt].begin, outer[caller.expr].end, {way.depth + 1, way.is_filed, way.is_total, way.is_of_given, own.items});
  }
  return true;
}

// Adds the items of one more returned tuple that hold it; ways to return that differ in their number leave none.
void ShareResults::AddItems(const ir::Expr& returned, const ir::Module& module, const FlowFrom& flow, bool is_first, std::vector<bool>& items) {
  const bool is_tuple = returned.kind == ir::ExprKind::Tuple;
  const size_t count = is_tuple ? ir::Items(module, returned).size() : 0;
  if (!is_first && items.size() != count) return items.clear();
  items.resize(count);
  for (size_t i = 0; i < count; ++i) items[i] = items[i] || flow.Holds(ir::Items(module, returned)[i]);
}

// Whether a function returns something of it before a place; `return gather(results)` is not before the call.
bool ShareResults::ReturnsIn(FuncId function, const FlowFrom& flow, uint32_t end, Way* what) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  bool returns = false, is_first = true;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Return || stmt.end > end || !ir::ValueOf(stmt)) continue;
    if (!flow.Holds(ir::ValueOf(stmt)) || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    returns = true;
    if (what == nullptr) continue;
    what->is_of_given = what->is_of_given || flow.IsOfGiven(ir::ValueOf(stmt));
    what->is_total = what->is_total || flow.IsOfTotal(ir::ValueOf(stmt));
    AddItems(module[ir::ValueOf(stmt)], module, flow, is_first, what->items);
    is_first = false;
  }
  return returns;
}

// By its value, or because an object was given what differs: fields do not keep what a rank saw of its batches.
bool ShareResults::DiffersBy(FuncId function, ir::ExprId expr, const FlowFrom& flow, Way way) const {
  const bool is_given = way.is_of_given || flow.IsOfGiven(expr) || IsMadeOf(function, expr, way.handed);
  return Differs(function, expr) || (flow.Holds(expr) && is_given && !IsOfClock(function, expr));
}

// What the callers hand a loop says what its batches are.
bool ShareResults::IsMadeOf(FuncId function, ir::ExprId expr, ValueId handed) const {
  const ValueId value = handed ? facts_.value(program_.funcs[function].module, expr) : ValueId::None();
  return value && values_.AnyPart(value, [&](ValueId part) { return part == handed; });
}

// A text or a table that also says how long it took says what else is in it.
bool ShareResults::IsOfClock(FuncId function, ir::ExprId expr) const {
  const ValueId value = facts_.value(program_.funcs[function].module, expr);
  if (!value || !facts_.values_store.axes(value).has(knowledge::Axis::Clock)) return false;
  const std::vector<ValueId> parts = PartsOf(value);
  return parts.empty() || std::ranges::all_of(parts, [&](ValueId part) { return IsOfClockOrPlain(part); });
}

bool ShareResults::IsOfClockOrPlain(ValueId part) const {
  const knowledge::Axes axes = facts_.values_store.axes(part);
  return axes.has(knowledge::Axis::Clock) || (axes.empty() && !facts_.values_store.has_param(part));
}

// What stands in a text or a table; none of anything else.
std::vector<ValueId> ShareResults::PartsOf(ValueId value) const {
  const auto kids = facts_.values_store.Kids(value);
  if (facts_.values_store[value].is_dict(variation::DictKind::Items)) {
    std::vector<ValueId> parts;
    for (size_t i = 1; i < kids.size(); i += 2) parts.push_back(kids[i]);
    return parts;
  }
  if (!IsOperation(value, "f-string")) return {};
  return {kids.begin(), kids.end()};
}

bool ShareResults::Differs(FuncId function, ir::ExprId expr) const {
  const ValueId value = facts_.value(program_.funcs[function].module, expr);
  if (!value) return false;
  const std::vector<ValueId> parts = PartsOf(value);
  return parts.empty() ? DiffersWithShare(value) : std::ranges::any_of(parts, [&](ValueId part) { return DiffersWithShare(part); });
}

// How long it took is no result.
bool ShareResults::DiffersWithShare(ValueId value) const {
  if (facts_.values_store.axes(value).has(knowledge::Axis::Clock)) return false;
  if (IsShareOfRank(value)) return true;
  return facts_.values_store.has_param(value) && values_.AnyPart(value, [&](ValueId part) { return IsShareOfRank(part); });
}

// `print(len(features))`, `print(features.shape[0])`: how much a rank has, and no result.
bool ShareResults::IsSize(FuncId function, ir::ExprId expr) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  if (module[expr].kind == ir::ExprKind::Call && values_.External(facts_.value(module_id, ir::CalleeOf(module[expr]))) == "builtins.len") return true;
  const ValueId value = facts_.value(module_id, expr);
  return value && std::ranges::all_of(values_.Leaves(value), [&](ValueId leaf) { return IsSize(leaf); });
}

bool ShareResults::IsSize(ValueId value) const {
  constexpr std::string_view kSizes[] = {"builtins.len", "shape", "size", "numel"};
  const base::NameId name = facts_.values_store.DerivedBy(facts_.values_store[value]);
  if (!name) return false;
  const auto kids = facts_.values_store.Kids(value);
  if (program_.text(name) == "[]" && !kids.empty() && kids[0]) return IsSize(kids[0]);
  return std::ranges::count(kSizes, program_.text(name)) > 0;
}

// What one rank puts there all can read.
bool ShareResults::IsSharedStore(ValueId value) const {
  constexpr std::string_view kStores[] = {"torch.distributed.TCPStore", "torch.distributed.FileStore"};
  return value && std::ranges::any_of(values_.Leaves(value), [&](ValueId leaf) {
    return std::ranges::any_of(kStores, [&](std::string_view store) { return IsOperation(leaf, store) || values_.IsA(leaf, store); });
  });
}

// `os.path.join(folder, f"{loss:.2f}.pt")`: where something is kept, and no result.
bool ShareResults::IsPath(ValueId value) const {
  return value && std::ranges::all_of(values_.Leaves(value), [&](ValueId leaf) {
    return IsOperation(leaf, "os.path.join") || IsOperation(leaf, "joinpath") || values_.IsA(leaf, "pathlib.Path");
  });
}

// `print(f"rank {rank}: {accuracy}")` says what it is, also in a process that was told its rank.
bool ShareResults::SpeaksOfRanks(FuncId function, const Display& display, int depth) const {
  constexpr int kDeepest = 2;
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const auto is_rank = [&](ir::ExprId part) {
    const ValueId value = facts_.value(module_id, part);
    if (value && IsRankOrText(facts_, program_, values_, value)) return true;
    return module[part].kind == ir::ExprKind::Name && RankWords::IsWord(program_.text(ir::NameOf(module[part])));
  };
  if (std::ranges::any_of(display.shown, [&](ir::ExprId shown) { return ir::AnyPart(module, shown, is_rank); })) return true;
  // `def say(text): print(f"[{rank}] {text}")`
  const variation::CallFact* fact = depth < kDeepest ? facts_.call(function, display.call.expr) : nullptr;
  return fact != nullptr && fact->function && std::ranges::any_of(displays_.In(fact->function), [&](const Display& inner) {
    return SpeaksOfRanks(fact->function, inner, depth + 1);
  });
}

}  // namespace allranks::objects
