#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/units.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR408 = "AR408";

class Schedules {
 public:
  Schedules(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module_id{m};
      for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
        if (!MakesSchedule(module_id, id)) continue;
        if (const FuncId function = FunctionAround(context_, module_id, id)) VisitCall({function, id});
      }
    }
  }

 private:
  void VisitCall(const Site& call) {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
      const Site steps = {call.function, ir::ArgAt(module, module[call.expr], i).value};
      const Site counted = module[steps.expr].kind == ir::ExprKind::Lambda ? DivisorIn(module_id, steps.expr) : steps;
      if (counted.expr && VisitSteps(call, counted)) return;
    }
  }

  bool VisitSteps(const Site& call, const Site& steps) {
    const ir::ModuleId module_id = context_.program.funcs[steps.function].module;
    const ValueId value = context_.facts.value(module_id, steps.expr);
    const std::optional<objects::Unit> unit = units_.Of(steps);
    if (!value) return false;
    // Accelerate steps a prepared schedule once for each rank.
    if (calls_.HasAny(module_id, {"accelerate."})) return unit && VisitPrepared(call, steps, *unit);
    if (calls_.HasAny(module_id, {"lightning.", "deepspeed."})) return false;
    if (unit && unit->IsOfOneRank()) return VisitMicroSteps(call, steps, *unit);
    // Of a loader that is not dealt out the program goes over all batches itself.
    if (unit ? !unit->IsOfAllRanks() || unit->loader : KnowsRanks(value)) return false;
    const ValueId dataset = unit ? unit->dataset : CountedDataset(steps, 0);
    const std::optional<Site> sampler = dataset ? SamplerOf(dataset, module_id) : std::nullopt;
    if (sampler) Report(steps, *sampler);
    return sampler.has_value();
  }

  // `lambda step: min(1, step / warm_up)`
  Site DivisorIn(ir::ModuleId module_id, ir::ExprId lambda) const {
    const ir::Module& module = context_.program.modules[module_id];
    const FuncId function = context_.program.func(module_id, ir::LambdaOf(module[lambda]));
    const auto& params = context_.program.function(function).params;
    Site found;
    const std::function<void(ir::ExprId)> visit = [&](ir::ExprId id) {
      const ir::Expr& expr = module[id];
      const auto op = static_cast<ir::BinaryOp>(expr.op);
      const bool divides = expr.kind == ir::ExprKind::Binary && (op == ir::BinaryOp::Div || op == ir::BinaryOp::FloorDiv);
      const bool is_step = divides && params.size() == 1 && module[ir::LeftOf(expr)].kind == ir::ExprKind::Name &&
                           ir::NameOf(module[ir::LeftOf(expr)]) == params[0].name;
      if (is_step) found = {function, ir::RightOf(expr)};
      ir::ForEachPart(module, id, visit);
    };
    for (const ir::StmtId stmt : module.statements(context_.program.function(function).body)) {
      if (module[stmt].kind == ir::StmtKind::Return && ir::ValueOf(module[stmt])) visit(ir::ValueOf(module[stmt]));
    }
    return found;
  }

  // The schedule takes a step only where the optimizer does, after several batches, and counts all batches.
  bool VisitMicroSteps(const Site& call, const Site& steps, const objects::Unit& unit) {
    if (unit.micro_steps != 0 || unit.batch != -1) return false;
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ValueId made = context_.facts.value(module_id, call.expr);
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    const objects::AccumulationWindow* window = nullptr;
    for (const Site& step : MethodCalls(context_, call.function, "step")) {
      if (context_.facts.value(module_id, ir::ObjectOf(module[ir::CalleeOf(module[step.expr])])) != made) continue;
      const ir::StmtId stmt = tree.StatementOf(step.expr);
      const auto& windows = context_.accumulation.windows();
      const auto in = std::ranges::find_if(windows, [&](const objects::AccumulationWindow& each) {
        const Site& other = each.step.here;
        return each.function == call.function && other.function == call.function && stmt && tree.StatementOf(other.expr) &&
               tree.BlockOf(tree.StatementOf(other.expr)) == tree.BlockOf(stmt);
      });
      if (in == windows.end()) return false;
      window = &*in;
    }
    if (window == nullptr) return false;
    Report(steps, {"`{}` counts all batches, but the schedule takes a step only after several: it is too long by the number of accumulated "
                   "batches",
                   {Quoted(context_, steps)}},
           {window->step.here, "steps only now and then"}, "divide by the number of accumulated batches");
    return true;
  }

  // What `prepare` returns takes a step for each rank in each step of the optimizer, and what it did not get takes one.
  bool VisitPrepared(const Site& call, const Site& steps, const objects::Unit& unit) {
    if (!unit.CountsData() || unit.batch != -1) return false;
    const KnownCall* prepares = GivenTo(call, knowledge::Role::RepeatsSteps);
    const KnownCall* deals_out = prepares == nullptr ? LoaderGivenTo(unit) : nullptr;
    if (prepares != nullptr && unit.ranks == 1 && LoaderGivenTo(unit) != nullptr) {
      Report(steps, {"`{}` multiplies the batches by the ranks again: the schedule makes a step for the batch of each rank, and is too long by their "
                     "number",
                     {Quoted(context_, steps)}},
             {{prepares->function, prepares->expr}, "a step counts once for each rank from here on"}, "leave out the number of ranks");
      return true;
    }
    if (deals_out == nullptr || unit.ranks != 0) return false;
    Report(steps, {"`{}` counts the batches before they are dealt out: each rank makes fewer steps, and the schedule is too long by the "
                   "number of ranks",
                   {Quoted(context_, steps)}},
           {{deals_out->function, deals_out->expr}, "each rank gets a share from here on"},
           "hand the schedule to `prepare` as well, or count after it");
    return true;
  }

  // The call of this kind that is given what a call made.
  const KnownCall* GivenTo(const Site& made, knowledge::Role role) {
    return GivenTo(context_.facts.value(context_.program.funcs[made.function].module, made.expr), role);
  }

  const KnownCall* GivenTo(ValueId value, knowledge::Role role) {
    for (const KnownCall& call : context_.index.known_calls()) {
      const ir::ModuleId module_id = context_.program.funcs[call.function].module;
      const ir::Module& module = context_.program.modules[module_id];
      if (!value || !call.entry->Has(role) || module[call.expr].kind != ir::ExprKind::Call) continue;
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
        const ValueId given = context_.facts.value(module_id, ir::ArgAt(module, module[call.expr], i).value);
        const std::vector<ValueId> leaves = given ? context_.values.Leaves(given) : std::vector<ValueId>();
        if (std::ranges::count(leaves, value) > 0) return &call;
      }
    }
    return nullptr;
  }

  // Where the loader of this data set is dealt out.
  const KnownCall* LoaderGivenTo(const objects::Unit& unit) {
    for (const KnownCall& loader : context_.loading.made_loaders()) {
      const ValueId made = context_.loading.ValueOf(loader);
      if (unit.dataset && context_.values.MadeWith(made, "dataset") == unit.dataset) {
        if (const KnownCall* call = GivenTo(made, knowledge::Role::DealsOut)) return call;
      }
    }
    return nullptr;
  }

  // A scheduler of PyTorch, or a function named like those of Transformers.
  bool MakesSchedule(ir::ModuleId module_id, ir::ExprId call) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.facts.value(module_id, call));
    const bool is_known = std::ranges::any_of(leaves, [&](ValueId leaf) {
      return context_.values.IsA(leaf, "torch.optim.lr_scheduler.LRScheduler");
    });
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    return is_known || NamesAny(context_, module_id, {"_schedule_with_warmup", "get_scheduler", "get_cosine_schedule", "get_linear_schedule"},
                                callee.begin, callee.end);
  }

  bool KnowsRanks(ValueId value) const {
    return context_.values.AnyPart(value, [&](ValueId part) {
      return context_.facts.values_store[part].kind == ValueKind::Coordinate || context_.loading.IsLoader(part) ||
             context_.loading.IsDistributedSampler(part);
    });
  }

  // The data set of a `len(dataset)` that went into a number of steps, also by variables of the function.
  ValueId CountedDataset(const Site& steps, int depth) const {
    constexpr int kLongestWay = 4;
    const ir::ModuleId module_id = context_.program.funcs[steps.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[steps.expr];
    if (expr.kind == ir::ExprKind::Call && TextOf(context_, module_id, ir::CalleeOf(expr)) == "len" && ir::ArgCount(module, expr) == 1) {
      const ValueId counted = context_.facts.value(module_id, ir::ArgAt(module, expr, 0).value);
      return context_.values.IsA(counted, "torch.utils.data.Dataset") ? counted : ValueId::None();
    }
    ValueId dataset;
    if (expr.kind == ir::ExprKind::Name && depth < kLongestWay) {
      for (const ir::Stmt& stmt : module.stmts) {
        if (stmt.kind != ir::StmtKind::Assign || stmt.begin > expr.begin || dataset) continue;
        const ir::ExprId target = ir::TargetsOf(module, stmt)[0];
        const bool is_it = module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == ir::NameOf(expr) &&
                           FunctionAround(context_, module_id, target) == steps.function;
        if (is_it) dataset = CountedDataset({steps.function, ir::AssignedOf(stmt)}, depth + 1);
      }
      return dataset;
    }
    ir::ForEachPart(module, steps.expr, [&](ir::ExprId part) {
      if (!dataset) dataset = CountedDataset({steps.function, part}, depth);
    });
    return dataset;
  }

  std::optional<Site> SamplerOf(ValueId dataset, ir::ModuleId module) {
    for (const objects::KnownCall& sampler : context_.loading.made_samplers()) {
      const bool is_here = calls_.IsOneProgram(module, context_.program.funcs[sampler.function].module);
      if (is_here && context_.values.MadeWith(context_.loading.ValueOf(sampler), "dataset") == dataset) return Site{sampler.function, sampler.expr};
    }
    return std::nullopt;
  }

  void Report(const Site& steps, const Site& sampler) {
    Report(steps, {"`{}` counts the steps of one process reading all data, but each rank reads a "
                   "share: the schedule is too long by the number of ranks, and the learning rate never comes down",
                   {Quoted(context_, steps)}},
           {sampler, "each rank reads a share of it"}, "count the batches of the loader, `len(loader)`, or divide by the world size");
  }

  void Report(const Site& steps, findings::Text message, const std::pair<Site, std::string_view>& because, std::string_view help) {
    Finding finding = FindingAt(context_, kAR408, Severity::Warning, Confidence::Likely, steps, std::move(message));
    AddLabel(finding, finding.span, LabelRole::Primary, {"how long the schedule is", {}});
    AddLabel(finding, SpanOf(context_, because.first), LabelRole::Why, {because.second, {}});
    finding.help = {help, {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Units units_{context_.program, context_.facts, context_.index, context_.values, context_.loading, context_.accumulation};
};

void CheckScheduleNotScaled(const Context& context, FindingSink& sink) { Schedules(context, sink).Run(); }

}  // namespace

extern const Rule ScheduleNotScaled = {
    .code = kAR408,
    .name = "schedule-not-scaled",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "Python",
    .summary = "length of a learning-rate schedule counted in steps of the undivided data set",
    .explanation = R"md(
## What it finds

A learning-rate schedule whose number of steps is computed from `len(dataset)`, without the number of ranks,
where a distributed sampler deals that data set out; the length may divide in a lambda that a `LambdaLR` is
given. A schedule that steps with the optimizer, after several accumulated batches, and whose length counts
all of them. Under Accelerate a schedule that was not handed to `prepare` and counts the loader before
`prepare` deals it out, and one that was, for which that count is multiplied by the number of processes once
more.

## Why it hurts

Each rank makes `len(dataset) / batch_size / world_size` steps an epoch. A schedule of `len(dataset) /
batch_size` steps is at an eighth of its way when training on 8 GPUs ends: warm-up takes most of it, and a
cosine never comes down. The model is worse, and the more GPUs, the worse.

## Wrong

```python
loader = DataLoader(dataset, 32, sampler=DistributedSampler(dataset))
scheduler = CosineAnnealingLR(optimizer, T_max=len(dataset) // 32 * epochs)
```

## Right

```python
loader = DataLoader(dataset, 32, sampler=DistributedSampler(dataset))
scheduler = CosineAnnealingLR(optimizer, T_max=len(loader) * epochs)
```

## When it is silent

* The length of the loader or of the sampler is counted, or the world size divides.
* Lightning or DeepSpeed steps the schedule.
* No distributed sampler deals out that data set.

## Fix

There is none: the loader may be made only later.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckScheduleNotScaled};

}  // namespace allranks::rules
