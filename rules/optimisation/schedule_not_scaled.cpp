#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR408 = "AR408";

class Schedules {
 public:
  Schedules(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    if (context_.loading.made_samplers().empty()) return;
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
      const ir::ExprId steps = ir::ArgAt(module, module[call.expr], i).value;
      const ValueId value = context_.facts.value(module_id, steps);
      if (!value || KnowsRanks(value)) continue;
      const ValueId dataset = CountedDataset({call.function, steps}, 0);
      const std::optional<Site> sampler = dataset ? SamplerOf(dataset) : std::nullopt;
      // Accelerate steps a prepared schedule once for each rank.
      if (!sampler || calls_.HasAny(module_id, {"accelerate.", "lightning.", "deepspeed."})) continue;
      return Report({call.function, steps}, *sampler);
    }
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

  std::optional<Site> SamplerOf(ValueId dataset) const {
    for (const objects::KnownCall& sampler : context_.loading.made_samplers()) {
      if (context_.values.MadeWith(context_.loading.ValueOf(sampler), "dataset") == dataset) return Site{sampler.function, sampler.expr};
    }
    return std::nullopt;
  }

  void Report(const Site& steps, const Site& sampler) {
    Finding finding = FindingAt(context_, kAR408, Severity::Warning, Confidence::Likely, steps,
                                {"`{}` counts the steps of one process reading all data, but each rank reads a "
                                 "share: the schedule is too long by the number of ranks, and the learning rate never comes down",
                                 {Quoted(context_, steps)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"computed from the whole data set", {}});
    AddLabel(finding, SpanOf(context_, sampler), LabelRole::Why, {"each rank reads a share of it", {}});
    finding.help = {"count the batches of the loader, `len(loader)`, or divide by the world size", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
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
where a distributed sampler deals that data set out.

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
* Accelerate, Lightning or DeepSpeed steps the schedule.
* No distributed sampler deals out that data set.

## Fix

There is none: the loader may be made only later.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckScheduleNotScaled};

}  // namespace allranks::rules
