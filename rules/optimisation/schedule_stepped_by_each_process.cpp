#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/objects/units.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR411 = "AR411";

class Steps {
 public:
  Steps(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::ScheduleSteps)) schedules_.push_back(&call);
    }
    if (schedules_.empty()) return;
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::RepeatsSteps) && RepeatsThem(call)) Visit(call);
    }
  }

 private:
  // `Accelerator(split_batches=True)`, `step_scheduler_with_optimizer=False`: a step is a step.
  bool RepeatsThem(const KnownCall& prepare) const {
    const auto is_given = [&](ValueId object, std::string_view param) {
      const ValueId value = object ? context_.values.MadeWith(object, param) : ValueId::None();
      return value && !context_.values.IsNone(value);
    };
    if (!prepare.receiver) return false;
    const std::vector<ValueId> makers = context_.values.Leaves(prepare.receiver);
    return std::ranges::all_of(makers, [&](ValueId maker) {
      const ValueId split = context_.values.MadeWith(maker, "split_batches");
      return (!split || context_.values.IsFalse(split)) && !is_given(maker, "dataloader_config") && !is_given(maker, "step_scheduler_with_optimizer");
    });
  }

  void Visit(const KnownCall& prepare) {
    const ir::ModuleId module_id = context_.program.funcs[prepare.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[prepare.expr]); ++i) {
      const ValueId given = context_.facts.value(module_id, ir::ArgAt(module, module[prepare.expr], i).value);
      if (!given) continue;
      for (const KnownCall* made : schedules_) {
        if (calls_.IsOneProgram(module_id, context_.program.funcs[made->function].module) && Makes(*made, given)) VisitSchedule(*made, prepare);
      }
    }
  }

  // There, or in a function that hands it back.
  bool Makes(const KnownCall& call, ValueId given) const {
    const ValueId made = context_.facts.value(context_.program.funcs[call.function].module, call.expr);
    return made && std::ranges::any_of(context_.values.Leaves(given), [&](ValueId leaf) { return IsSchedule(leaf) && context_.values.MayBeSame(leaf, made); });
  }

  bool IsSchedule(ValueId value) const { return context_.values.IsA(value, "torch.optim.lr_scheduler.LRScheduler"); }

  void VisitSchedule(const KnownCall& made, const KnownCall& prepare) {
    Site counted;
    for (const knowledge::RoleOf& role : made.entry->roles) {
      if (role.role != knowledge::Role::ScheduleSteps) continue;
      const std::string_view param = context_.program.text(role.param);
      const ValueId steps = context_.index.Arg(made, param);
      if (!steps || context_.values.IsNone(steps) || context_.values.Int(steps) == 0) continue;
      const Site written = {made.function, context_.index.ArgExpr(made, param)};
      if (CountsShareOfOne(written)) {
        counted = written;
        continue;
      }
      if (!CountsStepsOfOne(steps) || IsWorkedOut(steps, context_.program.funcs[made.function].module)) return;
      counted = {made.function, context_.index.ArgExpr(made, param)};
    }
    if (!counted.function || !counted.expr || IsConstant(made)) return;
    const source::Span span = SpanOf(context_, counted);
    if (seen_.insert({span.file.index, span.begin}).second) Report(made, prepare, counted);
  }

  // `len(loader)` of a loader that is dealt out.
  bool CountsShareOfOne(const Site& steps) const {
    const objects::Units units(context_.program, context_.facts, context_.index, context_.values, context_.loading, context_.accumulation);
    const std::optional<objects::Unit> unit = units.Of(steps);
    return unit && unit->IsOfOneRank() && unit->batch == -1;
  }

  // A setting, a number: no batches of a loader are counted, and no ranks.
  bool CountsStepsOfOne(ValueId steps) const {
    if (context_.values[steps].kind == ValueKind::Unknown) return false;
    return !context_.values.AnyPart(steps, [&](ValueId part) {
      const variation::Value& value = context_.facts.values_store[part];
      if (value.kind == ValueKind::Coordinate || value.kind == ValueKind::Object) return true;
      const base::NameId made_by = context_.facts.values_store.DerivedBy(value);
      return made_by && context_.program.text(made_by).ends_with("len");
    });
  }

  // `if args.max_train_steps is None: args.max_train_steps = epochs * len(loader)`
  bool IsWorkedOut(ValueId steps, ir::ModuleId module_id) const {
    const ir::Module& module = context_.program.modules[module_id];
    return context_.values.AnyPart(steps, [&](ValueId part) {
      const variation::Value& value = context_.facts.values_store[part];
      const base::NameId option = context_.facts.values_store.DerivedBy(value);
      return option && std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
        if (stmt.kind != ir::StmtKind::Assign) return false;
        const ValueId stored = context_.facts.value(module_id, ir::AssignedOf(stmt));
        return stored && !CountsStepsOfOne(stored) && StoresAs(module, stmt, option);
      });
    });
  }

  static bool StoresAs(const ir::Module& module, const ir::Stmt& stmt, base::NameId option) {
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == option) return true;
    }
    return false;
  }

  // `get_scheduler("constant", ...)`
  bool IsConstant(const KnownCall& made) const {
    const ValueId name = context_.index.Arg(made, "name");
    return name && context_.values.Str(name) == "constant";
  }

  void Report(const KnownCall& made, const KnownCall& prepare, const Site& counted) {
    Finding finding = FindingAt(context_, kAR411, Severity::Warning, Confidence::Likely, counted,
                                {"on n ranks this schedule is over after an n-th of its steps: `{}` makes each step count n times",
                                 {std::string(context_.program.text(prepare.entry->name))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"counts steps of the optimizer", {}});
    AddLabel(finding, SpanOf(context_, {prepare.function, prepare.expr}), LabelRole::Why, {"a step of the schedule is one for each rank from here on", {}});
    const bool is_here = prepare.function == made.function;
    finding.help = {is_here ? "multiply it by `accelerator.num_processes`" : "multiply it by the number of processes, `accelerator.num_processes`", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  std::vector<const KnownCall*> schedules_;  // calls that make one
  std::set<std::pair<uint32_t, uint32_t>> seen_;
};

void CheckScheduleSteppedByEachProcess(const Context& context, FindingSink& sink) { Steps(context, sink).Run(); }

}  // namespace

extern const Rule ScheduleSteppedByEachProcess = {
    .code = kAR411,
    .name = "schedule-stepped-by-each-process",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "schedule that Accelerate steps once for each rank, though it counts steps of the optimizer",
    .explanation = R"md(
## What it finds

A schedule of the learning rate that is handed to `accelerator.prepare`, and whose number of steps is a
setting (`args.max_train_steps`), or the length of a loader that is dealt out already, without the number of
processes. What `prepare` hands back takes one step of the schedule for each process whenever `step` is
called.

## Why it hurts

On 8 GPUs warm-up is over after an eighth of its steps, and a linear or cosine schedule has come to its end
after an eighth of the training; what follows runs with a learning rate of zero, or one that rises again.
On one GPU all is well.

## Wrong

```python
scheduler = get_cosine_schedule_with_warmup(optimizer, args.warmup_steps, args.max_train_steps)
model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)
```

## Right

```python
warmup = args.warmup_steps * accelerator.num_processes
steps = args.max_train_steps * accelerator.num_processes
scheduler = get_cosine_schedule_with_warmup(optimizer, warmup, steps)
model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)
```

## When it is silent

* The number of processes is part of some number of steps of the schedule, or the length of a loader: that
  of a loader that is not prepared yet counts the batches of all ranks.
* `Accelerator(split_batches=True)`, a `dataloader_config`, or `step_scheduler_with_optimizer`.
* The schedule is constant, or is made by a class of the project.

## Fix

There is none: which of the numbers are meant for one process has to be decided.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckScheduleSteppedByEachProcess};

}  // namespace allranks::rules
