#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::GradientAction;
using objects::GradientCall;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR510 = "AR510";

class Hooks {
 public:
  Hooks(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role == knowledge::Role::GradientHook) Visit(call, context_.index.Arg(call, context_.program.text(role.param)));
      }
    }
  }

 private:
  void Visit(const KnownCall& registration, ValueId hook) {
    if (!hook || context_.facts.values_store[hook].kind != variation::ValueKind::Function) return;
    const FuncId function = context_.facts.values_store[hook].function();
    const KnownCall* wrapping = calls_.FindIf(context_.program.funcs[registration.function].module, [&](const KnownCall& call) {
      return call.entry->has_operation && context_.program.text(call.entry->operation.kind) == "module_broadcast";
    });
    if (wrapping == nullptr || Communicates(function)) return;
    for (const GradientCall& call : context_.accumulation.calls().all()) {
      if (call.site.function == function && call.action == GradientAction::Step) return Report(registration, call.site, *wrapping);
    }
  }

  // It reduces the gradient by itself before it steps.
  bool Communicates(FuncId function) const {
    const ir::Module& module = context_.program.module_of(function);
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    return std::ranges::any_of(module.statements(context_.program.function(function).body),
                               [&](ir::StmtId stmt) { return context_.training.Communicates(module_id, stmt); });
  }

  void Report(const KnownCall& registration, const Site& step, const KnownCall& wrapping) {
    const source::Span span = SpanOf(context_, step);
    if (std::ranges::count(seen_, span) > 0) return;
    seen_.push_back(span);
    Finding finding = FindingAt(context_, kAR510, Severity::Error, Confidence::Likely, step,
                                {"the optimizer steps on a rank's own gradient, before the wrapper reduces it: the copies of the model "
                                 "drift apart",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"by the gradient of one rank", {}});
    AddLabel(finding, SpanOf(context_, {registration.function, registration.expr}), LabelRole::Why, {"called when `backward` has the gradient", {}});
    AddLabel(finding, SpanOf(context_, {wrapping.function, wrapping.expr}), LabelRole::Note, {"wrapped for several ranks", {}});
    finding.help = {"average the gradient over the ranks in the hook, or step after `backward`", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  std::vector<source::Span> seen_;
};

void CheckStepInGradientHook(const Context& context, FindingSink& sink) { Hooks(context, sink).Run(); }

}  // namespace

extern const Rule StepInGradientHook = {
    .code = kAR510,
    .name = "step-in-gradient-hook",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "optimizer stepped in a gradient hook, before DDP has reduced the gradient",
    .explanation = R"md(
## What it finds

An optimizer that steps inside a function passed to `register_post_accumulate_grad_hook`, in a program that
wraps a model in DDP or lets Accelerate prepare it.

## Why it hurts

Stepping in the backward pass saves the memory of the gradients: each is used and freed as soon as it is
there. DDP reduces gradients in buckets, once all gradients of a bucket are there. The hook is called before
that, with the gradient of this rank's batch alone, and clears it. DDP then reduces nothing. Each rank trains
a different model, and nothing fails.

## Wrong

```python
def hook(p):
    optimizers[p].step()
    optimizers[p].zero_grad()

for p in net.parameters():
    p.register_post_accumulate_grad_hook(hook)
model = DDP(net)
```

## Right

```python
def hook(p):
    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    optimizers[p].step()
    optimizers[p].zero_grad()

for p in net.parameters():
    p.register_post_accumulate_grad_hook(hook)
```

## When it is silent

* The hook communicates.
* Nothing in the program wraps a model for data parallelism.
* The function that is passed is not known.

## Fix

There is none: you can either give up the saved memory or reduce in the hook.

## Proof

There is nothing to replay: the collective is missing on every rank.
)md",
    .check = CheckStepInGradientHook};

}  // namespace allranks::rules
