#include "analyzer/objects/evaluation_loops.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/binding/receiver.h"
#include "analyzer/objects/declared_objects.h"
#include "analyzer/objects/gradient_mode.h"

namespace allranks::objects {

EvaluationLoops::EvaluationLoops(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                                 const ProgramIndex& index, const Loading& loading, const Training& training, const Launch& launch)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), loading_(loading), values_(program, knowledge, facts) {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program_.modules[module_id];
    if (module.language != ir::Language::Python) continue;
    AddComprehensions(module_id, training, launch);
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const FuncId function = module[id].kind == ir::StmtKind::For ? index_.FunctionOf(module_id, id) : FuncId::None();
      if (!function) continue;
      const RunBy run_by = launch.Of(function);
      if (run_by == RunBy::Tests || run_by == RunBy::OneProcess) continue;
      if (HandsOn(module_id, id)) continue;
      const ir::ExprId iterable = ir::AssignedOf(module[id]);
      if (!facts_.value(module_id, iterable)) continue;
      ValueId loader = LoaderBehind(module_id, iterable);
      const bool is_seen = loader && !IsOnlyDeclared(values_[loader]);
      const ValueId handed = is_seen ? ValueId::None() : HandedParam({function, iterable});
      if (handed) loader = loading_.HandedTo({function, iterable}).front();
      const bool trains = training.Trains(module_id, id) || TrainsByName(training, module_id, id);
      (trains ? training_loops_ : loops_).push_back({{function, iterable}, id, loader, loader && (IsPrepared(loader) || MayBePrepared(module_id, iterable)), handed});
    }
  }
}

// `sum(hits(model(x), y) for x, y in loader)`
void EvaluationLoops::AddComprehensions(ir::ModuleId module_id, const Training& training, const Launch& launch) {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Comprehension)) {
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
    const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
    const ir::StmtKind kind = stmt ? module[stmt].kind : ir::StmtKind::Pass;
    const bool is_plain = kind == ir::StmtKind::Assign || kind == ir::StmtKind::AugAssign || kind == ir::StmtKind::Expr || kind == ir::StmtKind::Return;
    if (!function || !is_plain || training.Trains(module_id, stmt)) continue;
    const RunBy run_by = launch.Of(function);
    if (run_by == RunBy::Tests || run_by == RunBy::OneProcess) continue;
    for (const ir::Clause& clause : ir::ClausesOf(module, module[id])) {
      const ValueId loader = facts_.value(module_id, clause.iter) ? LoaderBehind(module_id, clause.iter) : ValueId::None();
      if (loader) comprehensions_.push_back({{function, clause.iter}, stmt, loader, IsPrepared(loader) || MayBePrepared(module_id, clause.iter)});
    }
  }
}

// `trainer.train_step(batch)` of an object of one of several classes: all methods of that name make gradients.
bool EvaluationLoops::TrainsByName(const Training& training, ir::ModuleId module_id, ir::StmtId loop) const {
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsBeginningIn(module_id, module[loop].begin, module[loop].end), [&](ir::ExprId call) -> bool {
    if (module[call].kind != ir::ExprKind::Call || module[call].end > module[loop].end) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const variation::CallFact* fact = facts_.call(index_.FunctionOf(module_id, loop), call);
    if (callee.kind != ir::ExprKind::Attribute || (fact != nullptr && fact->function)) return false;
    bool is_some = false;
    for (const auto& each : program_.classes) {
      const auto method = std::ranges::find(each.methods, ir::AttrOf(callee), [](const auto& entry) { return entry.first; });
      if (method == each.methods.end()) continue;
      if (!training.Trains(method->second)) return false;
      is_some = true;
    }
    return is_some;
  });
}

// A generator hands batches to whoever works with them.
bool EvaluationLoops::HandsOn(ir::ModuleId module_id, ir::StmtId loop) const {
  const ir::Module& module = program_.modules[module_id];
  return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Yield), [&](ir::ExprId id) {
    return module[id].begin >= module[loop].begin && module[id].end <= module[loop].end;
  });
}

// The loader that an expression walks over, also inside `enumerate` and progress bars; none if it is something else, like
// what the loader yields.
ValueId EvaluationLoops::LoaderBehind(ir::ModuleId module_id, ir::ExprId iterable) const {
  const ir::Module& module = program_.modules[module_id];
  const auto is_loader = [&](ValueId leaf) {
    return loading_.IsLoader(leaf) || (IsPrepared(leaf) && !WasRead(leaf));
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
    if (const ir::ExprId inner = HandedToGenerator(module_id, iterable)) {
      iterable = inner;
      continue;
    }
    const ir::Expr& expr = module[iterable];
    const bool is_around = expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) > 0 && !IsCount(facts_.value(module_id, iterable));
    if (!is_around || module[ir::CalleeOf(expr)].kind == ir::ExprKind::Attribute) return ValueId::None();
    iterable = ir::ArgAt(module, expr, 0).value;
  }
  return ValueId::None();
}

// `for batch in loader`, `for step, batch in enumerate(loader)` of a parameter.
ValueId EvaluationLoops::HandedParam(const Site& iterable) const {
  const ir::ModuleId module_id = program_.funcs[iterable.function].module;
  const ir::Module& module = program_.modules[module_id];
  ir::ExprId expr = iterable.expr;
  while (module[expr].kind == ir::ExprKind::Call && ir::ArgCount(module, module[expr]) > 0) {
    const bool is_method = module[ir::CalleeOf(module[expr])].kind == ir::ExprKind::Attribute;
    const ValueId wrapped = facts_.value(module_id, expr);
    if (is_method || !wrapped || IsCount(wrapped)) return ValueId::None();
    expr = ir::ArgAt(module, module[expr], 0).value;
  }
  const ValueId value = module[expr].kind == ir::ExprKind::Name ? facts_.value(module_id, expr) : ValueId::None();
  if (!value || values_[value].kind != variation::ValueKind::Param) return ValueId::None();
  return loading_.HandedTo(iterable).empty() ? ValueId::None() : value;
}

// `self.loader = DataLoader(data)`, and in another method `self.loader = accelerator.prepare(self.loader)`.
bool EvaluationLoops::MayBePrepared(ir::ModuleId module_id, ir::ExprId iterable) const {
  return std::ranges::any_of(values_.Leaves(facts_.value(module_id, iterable)), [&](ValueId leaf) { return IsPrepared(leaf) && !WasRead(leaf); });
}

// `range(len(loaders))`
bool EvaluationLoops::IsCount(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  const base::NameId name = facts_.values_store.DerivedBy(node);
  return name && (program_.text(name) == "builtins.range" || program_.text(name) == "builtins.len");
}

// By a framework that gives loaders a sampler; Fabric gives none to one of a stream.
bool EvaluationLoops::IsPrepared(ValueId value) const {
  if (values_.IsA(value, "accelerate.Prepared")) return true;
  if (!values_.IsA(value, "lightning.fabric.Prepared")) return false;
  const auto kids = facts_.values_store.Kids(value);
  if (kids.empty() || !kids[0]) return false;
  return std::ranges::any_of(values_.Leaves(kids[0]), [&](ValueId loader) {
    if (!loading_.IsLoader(loader)) return false;
    const std::vector<ValueId> sets = values_.Leaves(values_.MadeWith(loader, "dataset"));
    return std::ranges::none_of(sets, [&](ValueId set) { return values_.IsA(set, "torch.utils.data.IterableDataset"); });
  });
}

// `metric_logger.log_every(loader, 10, header)`, also if it was assigned first: what a generator of the project is handed whose items it
// hands on.
ir::ExprId EvaluationLoops::HandedToGenerator(ir::ModuleId module_id, ir::ExprId iterable) const {
  const ir::Module& outer = program_.modules[module_id];
  const ir::StmtId stmt = index_.tree(module_id).StatementOf(iterable);
  const FuncId function = stmt ? index_.FunctionOf(module_id, stmt) : FuncId::None();
  ir::ExprId call = iterable;
  if (function && outer[call].kind == ir::ExprKind::Name) call = AssignedTo(function, iterable);
  if (!function || !call || outer[call].kind != ir::ExprKind::Call) return ir::ExprId::None();
  const variation::CallFact* fact = facts_.call(function, call);
  if (fact == nullptr || !fact->function) fact = facts_.iteration(function, iterable);
  if (fact == nullptr || !fact->function || !program_.function(fact->function).is_generator) return ir::ExprId::None();
  const base::NameId param = HandedOnBy(fact->function);
  const auto& params = program_.function(fact->function).params;
  const auto found = std::ranges::find(params, param, &ir::Param::name);
  if (!param || found == params.end()) return ir::ExprId::None();
  const size_t at = static_cast<size_t>(found - params.begin());
  const size_t first = binding::HasReceiver(program_, fact->function) ? 1 : 0;
  for (uint32_t i = 0; i < ir::ArgCount(outer, outer[call]); ++i) {
    const ir::Arg arg = ir::ArgAt(outer, outer[call], i);
    if (arg.kind == ir::ArgKind::Keyword ? arg.keyword == param : arg.kind == ir::ArgKind::Positional && first + i == at) return arg.value;
  }
  return ir::ExprId::None();
}

// What is assigned to a name before it is read, if that is done once.
ir::ExprId EvaluationLoops::AssignedTo(FuncId function, ir::ExprId name) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  ir::ExprId value;
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign || stmt.begin >= module[name].begin || index_.FunctionOf(module_id, ir::StmtId{i}) != function) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind != ir::ExprKind::Name || ir::NameOf(module[target]) != ir::NameOf(module[name])) continue;
      if (value) return ir::ExprId::None();
      value = ir::AssignedOf(stmt);
    }
  }
  return value;
}

// The parameter over which a generator goes, handing on each item.
base::NameId EvaluationLoops::HandedOnBy(FuncId generator) const {
  const ir::ModuleId module_id = program_.funcs[generator].module;
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::For || index_.FunctionOf(module_id, ir::StmtId{i}) != generator || !HandsOn(module_id, ir::StmtId{i})) continue;
    ir::ExprId over = ir::AssignedOf(stmt);
    while (module[over].kind == ir::ExprKind::Call && ir::ArgCount(module, module[over]) > 0) over = ir::ArgAt(module, module[over], 0).value;
    if (module[over].kind == ir::ExprKind::Name) return ir::NameOf(module[over]);
  }
  return base::NameId::None();
}

// `accelerator.prepare(json.load(file))` hands back what it was given.
bool EvaluationLoops::WasRead(ValueId prepared) const {
  const auto kids = facts_.values_store.Kids(prepared);
  if (kids.empty() || !kids[0]) return false;
  return std::ranges::any_of(values_.Leaves(kids[0]), [&](ValueId leaf) {
    const variation::Value& node = facts_.values_store[leaf];
    const base::NameId name = facts_.values_store.DerivedBy(node);
    const knowledge::EntryId entry = name ? knowledge_.FindEntry(name) : knowledge::EntryId();
    return entry && knowledge_[entry].Has(knowledge::Role::ReadFile);
  });
}

// `tqdm(loader)` that was kept in a variable; `next(iter(loader))` is one of its batches.
ValueId EvaluationLoops::WrappedLoader(ValueId value) const {
  const variation::Value& node = facts_.values_store[value];
  const auto kids = facts_.values_store.Kids(value);
  const base::NameId name = facts_.values_store.DerivedBy(node);
  // What is no call has no dot in its name: an item, or a list that loaders were put into.
  const bool is_item = name && (program_.text(name) == "builtins.next" || program_.text(name).find('.') == std::string_view::npos);
  if (node.kind != variation::ValueKind::Derived || is_item || kids.empty() || !kids[0]) return ValueId::None();
  const std::vector<ValueId> leaves = values_.Leaves(kids[0]);
  const auto found = std::ranges::find_if(leaves, [&](ValueId leaf) { return loading_.IsLoader(leaf); });
  return found == leaves.end() ? ValueId::None() : *found;
}

ModelMode EvaluationLoops::ModeOf(const EvaluationLoop& loop) const {
  const FuncId function = loop.iterable.function;
  return ModeOf(function, program_.module_of(function)[loop.loop].end, 0);
}

// As the function says it, or all that call it.
ModelMode EvaluationLoops::ModeOf(FuncId function, uint32_t end, int depth) const {
  constexpr int kDeepest = 3;
  const ModelMode own = ModeBefore(function, end);
  if (own != ModelMode::Unknown || depth == kDeepest) return own;
  std::optional<ModelMode> all;
  for (const Site& caller : index_.CallersOf(function)) {
    const ModelMode mode = ModeOf(caller.function, program_.module_of(caller.function)[caller.expr].begin, depth + 1);
    all = !all || *all == mode ? mode : ModelMode::Unknown;
  }
  return all.value_or(ModelMode::Unknown);
}

// The last thing that a function says of gradients before a place: a call of `eval` or `train`, `no_grad` as decorator or in
// a `with`. An object that is not known trains on what its method `train` is given.
ModelMode EvaluationLoops::ModeBefore(FuncId function, uint32_t end) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& node = program_.function(function);
  const auto is_without = [&](ir::ExprId expr) { return SwitchesGradientsOff(program_, values_, facts_, module_id, expr); };
  const bool is_decorated = std::ranges::any_of(node.decorators, is_without);
  ModelMode mode = is_decorated ? ModelMode::Evaluation : ModelMode::Unknown;
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
    mode = stops ? ModelMode::Evaluation : ModelMode::Training;
    last = module[call].begin;
  }
  return mode;
}

}  // namespace allranks::objects
