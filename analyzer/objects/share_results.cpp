#include "analyzer/objects/share_results.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/gradient_mode.h"

namespace allranks::objects {
namespace {

// What frameworks put together by themselves.
constexpr std::string_view kFrameworks[] = {"metric_sync", "report", "predict", "evaluate", "eval_batch", "forward_backward"};

bool PutsTogether(const knowledge::Operation& operation, std::string_view kind) {
  if (operation.op_class == knowledge::OpClass::Send) return true;
  if (operation.op_class == knowledge::OpClass::Implicit) return std::ranges::count(kFrameworks, kind) > 0;
  return operation.op_class == knowledge::OpClass::Collective && kind.find("barrier") == std::string_view::npos;
}

}  // namespace

ShareResults::ShareResults(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                           const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), loading_(loading),
      values_(program, knowledge, facts), displays_(program, knowledge, facts, index),
      runs_(program, knowledge, facts, index, launch, loading), combines_(program.funcs.size()), places_(program.funcs.size()) {
  FindCombiners();
  FindLoops(training, launch);
  for (size_t i = 0; i < loops_.size(); ++i) {
    const FuncId function = loops_[i].iterable.function;
    const ir::Stmt& loop = program.module_of(function)[loops_[i].loop];
    Follow(i, {function, ir::ExprId{loop.a}}, loop.begin, loop.end, {});
  }
}

void ShareResults::FindCombiners() {
  std::vector<FuncId> work;
  const auto add = [&](FuncId function, ir::ExprId expr) {
    places_[function.index].push_back(expr);
    if (combines_[function.index]) return;
    combines_[function.index] = true;
    work.push_back(function);
  };
  for (const KnownCall& call : index_.known_calls()) {
    if (!call.entry->has_operation) continue;
    const knowledge::Operation& operation = call.entry->operation;
    if (PutsTogether(operation, program_.text(operation.kind))) add(call.function, call.expr);
  }
  for (const Site& write : WritesForOthers()) add(write.function, write.expr);
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
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    for (const Site& caller : index_.CallersOf(function)) add(caller.function, caller.expr);
    for (const Site& caller : applied[function.index]) add(caller.function, caller.expr);
  }
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
  const auto& methods = program_.classes[binding::ClassId{facts_.values_store[object].a}].methods;
  const auto forward = std::ranges::find_if(methods, [&](const auto& method) { return program_.text(method.first) == "forward"; });
  return forward == methods.end() ? FuncId::None() : forward->second;
}

void ShareResults::FindLoops(const Training& training, const Launch& launch) {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program_.modules[module_id];
    if (module.language != ir::Language::Python) continue;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const FuncId function = module[id].kind == ir::StmtKind::For ? index_.FunctionOf(module_id, id) : FuncId::None();
      if (!function) continue;
      const RunBy run_by = launch.Of(function);
      if (training.Trains(module_id, id) || run_by == RunBy::Tests || run_by == RunBy::OneProcess) continue;
      AddLoop(function, id);
    }
  }
}

void ShareResults::AddLoop(FuncId function, ir::StmtId stmt) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::ExprId expr = ir::AssignedOf(program_.modules[module_id][stmt]);
  const ValueId iterable = facts_.value(module_id, expr);
  if (!iterable) return;
  ShareLoop loop{{function, expr}, stmt, ValueId::None(), false};
  const ValueId loader = LoaderBehind(module_id, expr);
  if (loader && loading_.IsDealtOut(loader)) loop.loader = loader;
  loop.is_prepared = loader && values_.IsA(loader, "accelerate.Prepared");
  const bool is_slice = loading_.LoadersIn(iterable).empty() && HoldsSliceOfRank(iterable);
  if (!loop.loader && !loop.is_prepared && !is_slice) return;
  const Mode mode = ModeOf(function, program_.modules[module_id][stmt].end, 0);
  if (loop.loader ? mode != Mode::Training : mode == Mode::Evaluation) loops_.push_back(loop);
}

// The loader that an expression walks over, also inside `enumerate` and progress bars; none if it is something else, like
// what the loader yields.
ValueId ShareResults::LoaderBehind(ir::ModuleId module_id, ir::ExprId iterable) const {
  const ir::Module& module = program_.modules[module_id];
  const auto is_loader = [&](ValueId leaf) {
    return loading_.IsLoader(leaf) || (values_.IsA(leaf, "accelerate.Prepared") && !WasRead(leaf));
  };
  while (iterable) {
    const std::vector<ValueId> leaves = values_.Leaves(facts_.value(module_id, iterable));
    const auto dealt = std::ranges::find_if(leaves, [&](ValueId leaf) { return is_loader(leaf) && loading_.IsDealtOut(leaf); });
    if (dealt != leaves.end()) return *dealt;
    const auto found = std::ranges::find_if(leaves, is_loader);
    if (found != leaves.end()) return *found;
    for (const ValueId leaf : leaves) {
      if (const ValueId inner = WrappedLoader(leaf)) return inner;
    }
    const ir::Expr& expr = module[iterable];
    const bool is_around = expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) > 0;
    if (!is_around || module[ir::CalleeOf(expr)].kind == ir::ExprKind::Attribute) return ValueId::None();
    iterable = ir::ArgAt(module, expr, 0).value;
  }
  return ValueId::None();
}

// `accelerator.prepare(json.load(file))` hands back what it was given.
bool ShareResults::WasRead(ValueId prepared) const {
  const auto kids = facts_.values_store.Kids(prepared);
  if (kids.empty() || !kids[0]) return false;
  return std::ranges::any_of(values_.Leaves(kids[0]), [&](ValueId leaf) {
    const variation::Value& node = facts_.values_store[leaf];
    const base::NameId name = node.kind == variation::ValueKind::Derived ? facts_.values_store.OperationOf(node.a) : base::NameId();
    const knowledge::EntryId entry = name ? knowledge_.FindEntry(name) : knowledge::EntryId();
    return entry && knowledge_[entry].Has(knowledge::Role::ReadFile);
  });
}

// `tqdm(loader)` that was kept in a variable.
ValueId ShareResults::WrappedLoader(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  const auto kids = facts_.values_store.Kids(value);
  if (node.kind != variation::ValueKind::Derived || kids.empty() || !kids[0]) return ValueId::None();
  const std::vector<ValueId> leaves = values_.Leaves(kids[0]);
  const auto found = std::ranges::find_if(leaves, [&](ValueId leaf) { return loading_.IsLoader(leaf); });
  return found == leaves.end() ? ValueId::None() : *found;
}

// Something in it is `data[rank::world]`: the questions of an evaluation, or the batches that a loader draws.
bool ShareResults::HoldsSliceOfRank(ValueId value) const {
  const auto is = [&](ValueId id, std::string_view operation) {
    const variation::Value& node = facts_.values_store[id];
    const base::NameId name = node.kind == variation::ValueKind::Derived ? facts_.values_store.OperationOf(node.a) : base::NameId();
    return name && program_.text(name) == operation;
  };
  return values_.AnyPart(value, [&](ValueId part) {
    const auto kids = facts_.values_store.Kids(part);
    return is(part, "[]") && kids.size() == 2 && kids[1] && is(kids[1], "[:]") && values_.Mentions(kids[1], knowledge::Coordinate::Rank);
  });
}

// As the function says it, or all that call it.
ShareResults::Mode ShareResults::ModeOf(FuncId function, uint32_t end, int depth) const {
  constexpr int kDeepest = 3;
  const Mode own = ModeBefore(function, end);
  if (own != Mode::Unknown || depth == kDeepest) return own;
  std::optional<Mode> all;
  for (const Site& caller : index_.CallersOf(function)) {
    const Mode mode = ModeOf(caller.function, program_.module_of(caller.function)[caller.expr].begin, depth + 1);
    all = !all || *all == mode ? mode : Mode::Unknown;
  }
  return all.value_or(Mode::Unknown);
}

// The last thing that a function says of gradients before a place: a call of `eval` or `train`, `no_grad` as decorator or in
// a `with`. An object that is not known trains on what its method `train` is given.
ShareResults::Mode ShareResults::ModeBefore(FuncId function, uint32_t end) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(function);
  const auto is_without = [&](ir::ExprId expr) { return SwitchesGradientsOff(program_, values_, facts_, module_id, expr); };
  const bool is_decorated = std::ranges::any_of(node.decorators, is_without);
  Mode mode = is_decorated ? Mode::Evaluation : Mode::Unknown;
  uint32_t last = 0;
  for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
    const ir::ExprId callee = ir::CalleeOf(module[call]);
    if (module[call].begin < std::max(node.begin, last) || module[call].begin >= end) continue;
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(call);
    if (!stmt || index_.FunctionOf(module_id, stmt) != function) continue;
    const bool is_method = module[callee].kind == ir::ExprKind::Attribute;
    const std::string_view name = is_method ? program_.text(ir::AttrOf(module[callee])) : std::string_view();
    const bool has_args = ir::ArgCount(module, module[call]) > 0;
    const bool is_off = name == "train" && has_args && values_.IsFalse(facts_.value(module_id, ir::ArgAt(module, module[call], 0).value));
    const bool stops = is_off || (name == "eval" && !has_args) || is_without(call);
    if (!stops && name != "train") continue;
    mode = stops ? Mode::Evaluation : Mode::Training;
    last = module[call].begin;
  }
  return mode;
}

// What differs with the data or the number of the rank.
bool ShareResults::IsShareOfRank(ValueId value) const {
  const knowledge::Axes axes = facts_.values_store.axes(value);
  return axes.has(knowledge::Axis::Data) || axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::DataParallel);
}

void ShareResults::Follow(size_t loop, const Site& from, uint32_t begin, uint32_t end, Way way) {
  constexpr int kDeepest = 3;
  if (way.depth > kDeepest) return;
  const auto [function, seed] = from;
  const auto is_sample = [&](ir::ExprId expr) { return values_.IsA(facts_.value(program_.funcs[function].module, expr), "wandb.Media"); };
  const auto is_share = [&](ir::ExprId expr) { return way.is_of_given || Differs(function, expr); };
  const FlowFrom flow(program_, index_, function, {seed}, begin, is_sample, is_share);
  way.is_filed = way.is_filed || flow.is_filed();
  AddCombined(loop, from, flow, begin, way);
  const uint32_t first = FirstCombination(function, seed, begin);
  if (first < end) return;
  AddShown(loop, from, flow, end, first, way);
  AddChosen(loop, function, flow, end, first, way);
  AddStepped(loop, function, flow, end, first, way);
  FollowReturns(loop, function, flow, first, way);
}

// What the call that evaluated did inside came before its result.
uint32_t ShareResults::FirstCombination(FuncId function, ir::ExprId seed, uint32_t begin) const {
  uint32_t first = UINT32_MAX;
  for (const ir::ExprId place : places_[function.index]) {
    if (place == seed) continue;
    const uint32_t at = program_.module_of(function)[place].begin;
    if (at >= begin) first = std::min(first, at);
  }
  return first;
}

void ShareResults::AddCombined(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, Way way) {
  const auto [function, seed] = from;
  const ir::Module& module = program_.module_of(function);
  for (const ir::ExprId place : places_[function.index]) {
    if (place == seed || module[place].kind != ir::ExprKind::Call || module[place].begin < begin || !flow.Holds(place)) continue;
    const bool is_cut = way.is_filed || CutsItems({function, place}) || IsCutBehind(function, flow, begin);
    uses_.push_back({ShareUse::Kind::Combined, {function, place}, place, loop, is_cut});
  }
}

// A helper that cuts what it collects, or a library that knows how many there are.
bool ShareResults::CutsItems(const Site& call) const {
  const variation::CallFact* fact = facts_.call(call.function, call.expr);
  if (fact == nullptr) return false;
  if (fact->kind == variation::CallKind::Known) return program_.text(knowledge_[fact->entry].name).ends_with(".gather_for_metrics");
  if (!fact->function) return false;
  const ir::Function& helper = program_.function(fact->function);
  const ir::ModuleId module_id = program_.funcs[fact->function].module;
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Subscript), [&](ir::ExprId id) {
    return module[id].begin >= helper.begin && module[id].end <= helper.end && IsCut(module, id);
  });
}

// `everything[:len(dataset)]`.
bool ShareResults::IsCut(const ir::Module& module, ir::ExprId subscript) {
  const ir::Expr& index = module[ir::RightOf(module[subscript])];
  if (index.kind != ir::ExprKind::Slice) return false;
  const auto bounds = ir::Items(module, index);
  return bounds.size() > 1 && !bounds[0] && bounds[1];
}

// A cut of the results, or a look at which of them are the same, in the rest of the function.
bool ShareResults::IsCutBehind(FuncId function, const FlowFrom& flow, uint32_t begin) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const auto is_here = [&](ir::ExprId id) { return module[id].begin >= begin && flow.Holds(id); };
  const auto is_cut = [&](ir::ExprId id) { return is_here(id) && IsCut(module, id); };
  if (std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Subscript), is_cut)) return true;
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
    if (!is_here(id)) return false;
    const std::string_view name = values_.External(facts_.value(module_id, ir::CalleeOf(module[id])));
    return name == "builtins.set" || name.ends_with(".unique");
  });
}

void ShareResults::AddShown(size_t loop, const Site& from, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  const auto [function, seed] = from;
  const ir::Module& module = program_.module_of(function);
  for (const Display& display : displays_.In(function)) {
    const ir::Expr& call = module[display.call.expr];
    // `print(evaluate(model))` is done after what stands in it.
    const bool is_around = call.begin <= module[seed].begin && call.end >= module[seed].end;
    if ((call.begin < begin && !is_around) || call.begin >= end) continue;
    const auto value = std::ranges::find_if(display.shown, [&](ir::ExprId expr) {
      return flow.Holds(expr) && DiffersBy(function, expr, flow, way) && !IsSize(facts_.value(program_.funcs[function].module, expr));
    });
    if (value == display.shown.end() || SpeaksOfRanks(function, display)) continue;
    uses_.push_back({ShareUse::Kind::Shown, display.call, *value, loop});
  }
}

// `len(results) > 0` compares with no other result.
bool ShareResults::HasConstant(const ir::Module& module, ir::ExprId compare) {
  bool found = false;
  ir::ForEachPart(module, compare, [&](ir::ExprId part) { found = found || module[part].kind == ir::ExprKind::Constant; });
  return found;
}

// `if accuracy > best: torch.save(...)`.
void ShareResults::AddChosen(size_t loop, FuncId function, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::If || stmt.begin < begin || stmt.begin >= end || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    const ir::ExprId test = ir::ValueOf(stmt);
    const bool compares = std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Compare), [&](ir::ExprId id) {
      return module[id].begin >= module[test].begin && module[id].end <= module[test].end && flow.Holds(id) && !HasConstant(module, id);
    });
    if (!compares || !DiffersBy(function, test, flow, way) || !Writes(module_id, ir::StmtId{i})) continue;
    uses_.push_back({ShareUse::Kind::Chosen, {function, test}, test, loop});
  }
}

// `scheduler.step(loss)`, of no object of the project. What answers, like a simulated world, is no scheduler.
void ShareResults::AddStepped(size_t loop, FuncId function, const FlowFrom& flow, uint32_t begin, uint32_t end, Way way) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Expr || stmt.begin < begin || stmt.begin >= end) continue;
    const ir::ExprId call = ir::ValueOf(stmt);
    if (module[call].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call]) == 0) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind != ir::ExprKind::Attribute || program_.text(ir::AttrOf(callee)) != "step") continue;
    const ir::ExprId metric = ir::ArgAt(module, module[call], 0).value;
    if (!flow.Holds(metric) || !DiffersBy(function, metric, flow, way) || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    const variation::CallFact* fact = facts_.call(function, call);
    if (fact == nullptr || !fact->function) uses_.push_back({ShareUse::Kind::Stepped, {function, call}, metric, loop});
  }
}

void ShareResults::FollowReturns(size_t loop, FuncId function, const FlowFrom& flow, uint32_t end, Way way) {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  bool returns = false;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Return || stmt.begin >= end || !ir::ValueOf(stmt)) continue;
    if (!flow.Holds(ir::ValueOf(stmt)) || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    returns = true;
    way.is_of_given = way.is_of_given || flow.IsOfGiven(ir::ValueOf(stmt));
  }
  if (!returns) return;
  for (const Site& caller : index_.CallersOf(function)) {
    const ir::StmtId stmt = index_.StatementOf(caller);
    if (!stmt) continue;
    const ir::Module& outer = program_.module_of(caller.function);
    Follow(loop, caller, outer[stmt].begin, outer[caller.expr].end, {way.depth + 1, way.is_filed, way.is_of_given});
  }
}

// By its value, or because an object was given what differs: fields do not keep what a rank saw of its batches.
bool ShareResults::DiffersBy(FuncId function, ir::ExprId expr, const FlowFrom& flow, Way way) const {
  return Differs(function, expr) || (flow.Holds(expr) && (way.is_of_given || flow.IsOfGiven(expr)) && !IsOfClock(function, expr));
}

bool ShareResults::IsOfClock(FuncId function, ir::ExprId expr) const {
  const ValueId value = facts_.value(program_.funcs[function].module, expr);
  return value && facts_.values_store.axes(value).has(knowledge::Axis::Clock);
}

bool ShareResults::Differs(FuncId function, ir::ExprId expr) const {
  const ValueId value = facts_.value(program_.funcs[function].module, expr);
  // How long it took is no result.
  if (!value || IsOfClock(function, expr)) return false;
  if (IsShareOfRank(value)) return true;
  return facts_.values_store.has_param(value) && values_.AnyPart(value, [&](ValueId part) { return IsShareOfRank(part); });
}

// `print(len(features))`, `print(features.shape)`: how much a rank has, and no result.
bool ShareResults::IsSize(ValueId value) const {
  constexpr std::string_view kSizes[] = {"builtins.len", "shape", "size", "numel"};
  const variation::Value& node = facts_.values_store[value];
  const base::NameId name = node.kind == variation::ValueKind::Derived ? facts_.values_store.OperationOf(node.a) : base::NameId();
  return name && std::ranges::count(kSizes, program_.text(name)) > 0;
}

// `print(f"rank {rank}: {accuracy}")` says what it is.
bool ShareResults::SpeaksOfRanks(FuncId function, const Display& display) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  std::vector<ir::ExprId> work = display.shown;
  while (!work.empty()) {
    const ir::ExprId at = work.back();
    work.pop_back();
    const ValueId value = facts_.value(module_id, at);
    if (value && facts_.values_store[value].kind == variation::ValueKind::Coordinate) return true;
    ir::ForEachPart(program_.modules[module_id], at, [&](ir::ExprId part) { work.push_back(part); });
  }
  return false;
}

bool ShareResults::Writes(ir::ModuleId module_id, ir::StmtId branch) const {
  const ir::Tree& tree = index_.tree(module_id);
  return std::ranges::any_of(index_.known_calls(), [&](const KnownCall& call) {
    if (program_.funcs[call.function].module != module_id || !call.entry->Has(knowledge::Role::Write)) return false;
    const ir::StmtId stmt = tree.StatementOf(call.expr);
    return stmt && tree.Holds(branch, stmt);
  });
}

}  // namespace allranks::objects
