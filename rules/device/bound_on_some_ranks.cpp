// Variables that a function assigns on some ranks only and reads on others as well: those have nothing to read. And what is None on some
// ranks, of which all take a part: `metrics["loss"]` where `evaluate` returns its numbers on rank 0 only.
//
// Ranks are those of a small job; who gets to a place is what objects::RanksAt says. One that is the same on all ranks may stand around the
// assignment alone: where it does not hold no rank assigns. Silent where a condition is open: where the assignment stands under one that
// differs between ranks by more than their numbers and that the reading does not stand under too, and where the reading stands under one
// that differs between ranks and cannot be decided.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/traces/conditions.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using base::NameId;
using objects::Guard;
using objects::Site;
using traces::RankSet;
using variation::ValueId;

constexpr std::string_view kAR208 = "AR208";

class HalfBoundNames {
 public:
  HalfBoundNames(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        world_(objects::SmallJob(context.facts.job)), all_(RankSet::All(world_.size())) {}

  void Run() {
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      const FuncId function{f};
      const bool is_python = context_.program.module_of(function).language == ir::Language::Python;
      if (is_python && !MayBeBoundElsewhere(function)) Visit(function);
    }
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      if (context_.program.modules[ir::ModuleId{m}].language == ir::Language::Python) VisitParts(ir::ModuleId{m});
    }
  }

 private:
  using Stores = std::map<NameId, std::vector<Site>>;

  // A script's own names may come from `from settings import *`.
  bool MayBeBoundElsewhere(FuncId function) const {
    const ir::Module& module = context_.program.module_of(function);
    return context_.program.funcs[function].function == ir::kTopLevel && std::ranges::any_of(module.imports, &ir::Import::star);
  }

  void Visit(FuncId function) {
    for (const auto& [name, stores] : StoresOf(function)) {
      if (!std::ranges::all_of(stores, [&](const Site& store) { return IsLeftToSome(store); })) continue;
      RankSet bound = {};
      for (const Site& store : stores) bound = bound | context_.ranks.At(store, world_);
      if (bound.empty() || bound == all_ || !runs_.IsRunByRanks(stores[0])) continue;
      for (const Site& read : ReadsOf(function, name)) {
        if (!IsReadBeyond(read, stores, bound)) continue;
        Report(name, stores[0], read);
        break;
      }
    }
  }

  // What a function assigns, by variable. Not its parameters, and not what it binds in other ways as well.
  Stores StoresOf(FuncId function) const {
    const ir::Module& module = context_.program.module_of(function);
    const ir::Function& definition = context_.program.function(function);
    Stores stores;
    std::set<NameId> others;
    for (const ir::Param& param : definition.params) others.insert(param.name);
    ir::ForEachStmtIn(module, definition.body, [&](const ir::Stmt& stmt) {
      if (stmt.kind == ir::StmtKind::Global || stmt.kind == ir::StmtKind::Nonlocal) {
        for (const uint32_t name : ir::NamesOf(module, stmt)) others.insert(NameId{name});
      }
      ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) {
        if (!binding.name) return;
        if (stmt.kind == ir::StmtKind::Assign && !binding.in_expression) stores[binding.name].push_back({function, ir::AssignedOf(stmt)});
        else others.insert(binding.name);
      });
    });
    if (context_.program.funcs[function].function == ir::kTopLevel) AddGlobals(module, others);
    for (const NameId name : others) stores.erase(name);
    return stores;
  }

  // `global state` in a function: it may bind the variable of the script.
  static void AddGlobals(const ir::Module& module, std::set<NameId>& names) {
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::Global) continue;
      for (const uint32_t name : ir::NamesOf(module, stmt)) names.insert(NameId{name});
    }
  }

  std::vector<Site> ReadsOf(FuncId function, NameId name) const {
    std::vector<Site> reads;
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Name)) {
      const bool is_it = ir::NameOf(module[id]) == name && FunctionAround(context_, module_id, id) == function;
      if (is_it && IsPlainRead(module_id, id)) reads.push_back({function, id});
    }
    return reads;
  }

  // Not a target, not a variable of a comprehension, and nowhere where the error may be caught.
  bool IsPlainRead(ir::ModuleId module_id, ir::ExprId id) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::ExprId at = id; at; at = tree.Parent(at)) {
      if (module[at].kind == ir::ExprKind::Comprehension || module[at].kind == ir::ExprKind::Lambda) return false;
    }
    const ir::StmtId stmt = tree.StatementOf(id);
    if (!stmt || module[stmt].kind == ir::StmtKind::Delete || IsTarget(module, module[stmt], id)) return false;
    for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::Try) return false;
    }
    return true;
  }

  static bool IsTarget(const ir::Module& module, const ir::Stmt& stmt, ir::ExprId id) {
    if (stmt.kind != ir::StmtKind::Assign) return false;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_inside = module[target].begin <= module[id].begin && module[id].end <= module[target].end;
      if (is_inside && !IsPartOf(module, target)) return true;
    }
    return false;
  }

  // `table[key] = 1` reads both.
  static bool IsPartOf(const ir::Module& module, ir::ExprId target) {
    return module[target].kind == ir::ExprKind::Subscript || module[target].kind == ir::ExprKind::Attribute;
  }

  bool IsReadBeyond(const Site& read, const std::vector<Site>& stores, const RankSet& bound) const {
    const ir::Module& module = context_.program.module_of(read.function);
    const bool comes_after = std::ranges::any_of(stores, [&](const Site& store) { return module[store.expr].end < module[read.expr].begin; });
    const RankSet reached = context_.ranks.At(read, world_);
    if (!comes_after || (reached | bound) == bound) return false;
    const std::vector<Guard> here = context_.guards.Of(read);
    const bool is_open = std::ranges::any_of(here, [&](const Guard& guard) { return !IsOfRanks(guard) && Varies(guard); });
    return !is_open && std::ranges::all_of(stores, [&](const Site& store) {
      return std::ranges::all_of(context_.guards.Of(store), [&](const Guard& guard) { return IsOfRanks(guard) || !Varies(guard) || IsAmong(guard, here); });
    });
  }

  bool IsLeftToSome(const Site& store) const {
    return std::ranges::any_of(context_.guards.Of(store), [&](const Guard& guard) { return IsOfRanks(guard) && Varies(guard); });
  }

  // `metrics["loss"]`, `writer.add_scalar(...)`: once for each value in a function.
  void VisitParts(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    std::set<std::pair<FuncId, ValueId>> told;
    for (const ir::ExprKind kind : {ir::ExprKind::Subscript, ir::ExprKind::Attribute}) {
      for (const ir::ExprId id : context_.index.ExprsOf(module_id, kind)) {
        const ir::ExprId object = kind == ir::ExprKind::Subscript ? ir::LeftOf(module[id]) : ir::ObjectOf(module[id]);
        const ValueId value = context_.facts.value(module_id, object);
        if (!value || context_.values[value].kind != variation::ValueKind::Select || !IsPlainRead(module_id, id)) continue;
        const Site part{FunctionAround(context_, module_id, id), id};
        if (!part.function || !IsNoneOnSome(value, part) || !runs_.IsRunByRanks(part)) continue;
        if (told.emplace(part.function, value).second) ReportPart({part.function, object}, part);
      }
    }
  }

  // On ranks that come to a place, and on others it is something.
  bool IsNoneOnSome(ValueId value, const Site& place) const {
    RankSet none;
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      if (context_.values.IsNoneOnRank(value, world_, rank).value_or(false)) none = none | RankSet::Of(rank);
    }
    if (none.empty() || none == RankSet::All(world_.size()) || (none & context_.ranks.At(place, world_)).empty()) return false;
    const std::vector<Guard> guards = context_.guards.Of(place);
    return std::ranges::none_of(guards, [&](const Guard& guard) { return !IsOfRanks(guard) && Varies(guard); });
  }

  void ReportPart(const Site& object, const Site& part) {
    Finding finding = FindingAt(context_, kAR208, Severity::Error, Confidence::Likely, part,
                                {"`{}` is None on some ranks, but they also access a part of it: an error ends the process there", {Quoted(context_, object)}});
    AddLabel(finding, SpanOf(context_, object), LabelRole::Primary, {"None on some ranks", {}});
    AddReasons(context_, object, finding);
    finding.help = {"do this only on the ranks that have it, or give it a value on every rank", {}};
    sink_.push_back(std::move(finding));
  }

  // Whether every rank can tell by its number.
  bool IsOfRanks(const Guard& guard) const {
    const ValueId test = ValueOf(guard);
    return test && traces::IsPredicate(context_.facts.values_store, test);
  }

  bool Varies(const Guard& guard) const {
    const ValueId test = ValueOf(guard);
    return !test || !context_.facts.values_store.axes(test).empty();
  }

  bool IsAmong(const Guard& guard, const std::vector<Guard>& others) const {
    return std::ranges::any_of(others, [&](const Guard& other) {
      return other.holds == guard.holds && (other.test == guard.test || (ValueOf(guard) && ValueOf(guard) == ValueOf(other)));
    });
  }

  ValueId ValueOf(const Guard& guard) const { return context_.facts.value(context_.program.funcs[guard.function].module, guard.test); }

  void Report(NameId name, const Site& store, const Site& read) {
    Finding finding = FindingAt(context_, kAR208, Severity::Error, Confidence::Likely, read,
                                {"`{}` is assigned on some ranks only, but the others also read it: an `UnboundLocalError` ends the process there",
                                 {std::string(context_.program.text(name))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"has no value on the other ranks", {}});
    AddLabel(finding, SpanOf(context_, store), LabelRole::Note, {"assigned here, on some ranks", {}});
    for (const Guard& guard : context_.guards.Of(store)) {
      if (IsOfRanks(guard) && Varies(guard)) AddLabel(finding, SpanOf(context_, {guard.function, guard.test}), LabelRole::Why, {"decides which ranks", {}});
    }
    finding.help = {"give it a value on every rank before the condition, or read it under the same condition", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  traces::World world_;
  RankSet all_;
};

void CheckBoundOnSomeRanks(const Context& context, FindingSink& sink) { HalfBoundNames(context, sink).Run(); }

}  // namespace

extern const Rule BoundOnSomeRanks = {
    .code = kAR208,
    .name = "bound-on-some-ranks",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "variable that only some ranks assign and others read",
    .explanation = R"md(
## What it finds

A local variable that is assigned only under a condition on the rank, and read in a place that other ranks
also reach. The rule also finds an item or attribute of a value that is None on some ranks: `metrics["loss"]`
on every rank, where `evaluate` returns its metrics on rank 0 only.

## Why it hurts

On the other ranks the name has no value: they end with an `UnboundLocalError`, and the launcher ends
the job. A test with one process never shows this.

## Wrong

```python
if dist.get_rank() == 0:
    path = save(model)
return path
```

## Right

```python
path = None
if dist.get_rank() == 0:
    path = save(model)
return path
```

## When it is silent

* The variable is a parameter, or it is bound in another way somewhere in the function: by a loop, a
  `with`, an import.
* The assignment is under a condition that is not about the rank, unless the read is under the same one.
* The read is under a condition that differs between ranks and cannot be decided, or inside a `try`.
* Only ranks that have the value reach the read: it is behind `if metrics is not None:` or
  `if rank != 0: return`.

## Fix

There is none: only you can say which value the other ranks need.

## Proof

There is nothing to replay: the process ends at that line.
)md",
    .check = CheckBoundOnSomeRanks};

}  // namespace allranks::rules
