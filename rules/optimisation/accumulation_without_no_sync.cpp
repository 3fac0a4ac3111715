#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR403";

// The file says somewhere when gradients are to be reduced, or leaves it to a framework. A method that does it and that
// nobody calls says nothing.
bool SpeaksOfSynchronisation(const Context& context, ir::ModuleId module_id) {
  const ir::Module& module = context.program.modules[module_id];
  if (HoldsWord(context.files[module.file].text, {"Accelerator", "Fabric", "FullyShardedDataParallel", "fully_shard", "deepspeed"})) return true;
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::Expr& expr = module[ir::ExprId{i}];
    if (expr.kind != ir::ExprKind::Attribute && expr.kind != ir::ExprKind::Name) continue;
    const std::string_view name = context.program.text(expr.kind == ir::ExprKind::Name ? ir::NameOf(expr) : ir::AttrOf(expr));
    if (!HoldsWord(name, {"no_sync", "require_backward_grad_sync", "set_requires_gradient_sync", "accumulate", "no_backward_sync"})) continue;
    const FuncId function = FunctionAround(context, module_id, ir::ExprId{i});
    const bool is_definition = function && HoldsWord(context.program.text(context.program.function(function).name), {"no_sync"});
    if (!is_definition || !context.index.CallersOf(function).empty()) return true;
  }
  return false;
}

// The wrapped model that is called in the rounds of the loop, as written; empty if none is seen.
std::string WrappedModelIn(const Context& context, const objects::Site& backward) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (const auto& [expr, fact] : context.facts.functions[backward.function].calls) {
    if (module[expr].kind != ir::ExprKind::Call || !ShareTheirLoop(context, {backward.function, expr}, backward)) continue;
    const ir::ExprId callee = ir::CalleeOf(module[expr]);
    const ir::ExprKind kind = module[callee].kind;
    if (kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) continue;
    const std::vector<variation::ValueId> leaves = context.values.Leaves(context.facts.value(module_id, callee));
    const bool is_wrapped = std::ranges::any_of(leaves, [&](variation::ValueId leaf) {
      return context.values.IsA(leaf, "torch.nn.parallel.DistributedDataParallel");
    });
    if (is_wrapped) return std::string(TextOf(context, module_id, callee));
  }
  return {};
}

// DDP reads the flag in its forward: set to whether the optimizer steps in this round, first thing in the round.
void AddFix(const Context& context, const objects::Site& backward, const objects::Site& step, Finding& finding) {
  const ir::ModuleId module_id = context.program.funcs[backward.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const std::vector<ir::StmtId> loops = context.index.LoopsAround(backward);
  const std::optional<objects::Guard> guard = PeriodicGuard(context, step);
  const std::string model = WrappedModelIn(context, backward);
  if (loops.empty() || !guard || !guard->holds || guard->function != backward.function || model.empty()) return;
  // A test by a variable may be made only further down in the round.
  if (module[guard->test].kind != ir::ExprKind::Compare) return;
  const ir::StmtId first = module.statements(ir::BodyOf(module[loops.front()])).front();
  if (!BeginsLine(context, module_id, first)) return;
  const std::string line = model + ".require_backward_grad_sync = " + std::string(TextOf(context, module_id, guard->test));
  if (line.find('\n') != std::string::npos) return;
  finding.fixes.push_back(MakeFix("reduce gradients only where the optimizer steps", Applicability::Unsafe,
                                  {InsertBefore(context, module_id, first, line)}));
}

// A method of a class that wraps its models in DDP itself, and calls them in methods that users define.
bool IsOfWrappingClass(const Context& context, FuncId function) {
  const binding::ClassId owner = context.program.funcs[function].owner;
  return owner && std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    return context.program.funcs[call.function].owner == owner &&
           context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__";
  });
}

// So many micro-steps as the program says, and some where it does not.
witness::Witness WitnessOf(const Context& context, variation::ValueId period, source::Span backward) {
  constexpr uint32_t kSomeSteps = 4, kMostSteps = 4096;
  const witness::Accumulation scenario{.micro_steps = NumberWithin(context, period, 2, kMostSteps, kSomeSteps)};
  witness::Witness witness = ScenarioWitness(OneNode(), witness::Effect::Semantic, scenario);
  AddOperation(context, "all_reduce", "backward of a DDP module", backward, &witness);
  return witness;
}

void VisitAccumulation(const Context& context, const objects::Site& backward, FindingSink& sink) {
  const ir::ModuleId module = context.program.funcs[backward.function].module;
  const ir::StmtId stmt = context.index.StatementOf(backward);
  const bool reduces = stmt && (context.training.Reduces(module, stmt) || IsOfWrappingClass(context, backward.function));
  if (!reduces || IsPeriodic(context, backward)) return;
  if (SpeaksOfSynchronisation(context, module)) return;
  for (const objects::Site& step : OptimizerSteps(context, backward.function)) {
    // A step in another arm than the backward belongs to another way to train.
    if (!IsPeriodic(context, step) || !MeetOnOneWay(context, step, backward)) continue;
    Finding finding = FindingAt(context, kCode, Severity::Warning, Confidence::Likely, backward,
                                {"gradients are reduced over the ranks in every micro-step, though the optimizer steps only every n-th "
                                 "time: all but one reduction is for nothing",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"reduces over all ranks", {}});
    AddLabel(finding, SpanOf(context, step), LabelRole::Why, {"every n-th time", {}});
    finding.help = {"run forward and backward of all but the last micro-step under `model.no_sync()`", {}};
    finding.witness = WitnessOf(context, PeriodOf(context, step), finding.span);
    AddFix(context, backward, step, finding);
    sink.push_back(std::move(finding));
    return;
  }
}

// `model.no_sync()`, or a variable that was made by it.
bool IsNoSync(const Context& context, const objects::Site& site) {
  const ir::Module& module = context.program.module_of(site.function);
  const ir::ExprId item = site.expr;
  if (module[item].kind == ir::ExprKind::Name) return TextWithOrigins(context, site).find(".no_sync()") != std::string::npos;
  if (module[item].kind != ir::ExprKind::Call) return false;
  const ir::Expr& callee = module[ir::CalleeOf(module[item])];
  return callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "no_sync";
}

// The block before the call that computes gradients, with the forward in it.
void AddForward(const Context& context, const objects::Site& caller, Finding& finding) {
  const ir::ModuleId module_id = context.program.funcs[caller.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::StmtId here = context.index.StatementOf(caller);
  if (!here) return;
  ir::StmtId before;
  for (const ir::StmtId stmt : module.statements(context.index.tree(module_id).BlockOf(here))) {
    if (stmt == here) break;
    if (module[stmt].kind == ir::StmtKind::With) before = stmt;
  }
  if (before) AddLabel(finding, HeadOf(context, module_id, before), LabelRole::Note, {"the forward is in here", {}});
}

// A loss that the caller computed: a parameter of which gradients are computed somewhere inside.
std::optional<ir::ExprId> LossOfCaller(const Context& context, ir::ModuleId module_id, ir::StmtId with) {
  const ir::Module& module = context.program.modules[module_id];
  const FuncId function = context.index.FunctionOf(module_id, with);
  for (const objects::Site& backward : context.training.backwards()) {
    if (backward.function != function || module[backward.expr].begin < module[with].begin || module[backward.expr].end > module[with].end) continue;
    ir::ExprId loss = ir::ObjectOf(module[ir::CalleeOf(module[backward.expr])]);
    // `scaler.scale(loss).backward()`
    if (module[loss].kind == ir::ExprKind::Call && ir::ArgCount(module, module[loss]) == 1) loss = ir::ArgAt(module, module[loss], 0).value;
    const auto& params = context.program.function(function).params;
    const bool is_passed = module[loss].kind == ir::ExprKind::Name && std::ranges::any_of(params, [&](const ir::Param& param) {
      return param.name == ir::NameOf(module[loss]);
    });
    if (is_passed) return loss;
  }
  return std::nullopt;
}

std::optional<ir::ExprId> LossFromOutside(const Context& context, ir::ModuleId module_id, ir::StmtId with) {
  const ir::Module& module = context.program.modules[module_id];
  const auto body = module.statements(ir::BodyOf(module[with]));
  if (const std::optional<ir::ExprId> passed = LossOfCaller(context, module_id, with)) return passed;
  if (body.size() != 1 || module[body[0]].kind != ir::StmtKind::Expr || !context.training.Trains(module_id, body[0])) return std::nullopt;
  ir::ExprId at = ir::ValueOf(module[body[0]]);
  if (module[at].kind != ir::ExprKind::Call) return std::nullopt;
  if (ir::ArgCount(module, module[at]) > 0) return ir::ArgAt(module, module[at], 0).value;
  const ir::Expr& callee = module[ir::CalleeOf(module[at])];
  return callee.kind == ir::ExprKind::Attribute ? std::optional(ir::ObjectOf(callee)) : std::nullopt;
}

// `with model.no_sync(): loss.backward()`: DDP has decided in the forward, outside of it.
void VisitLateNoSync(const Context& context, FindingSink& sink) {
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = context.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (module[id].kind != ir::StmtKind::With) continue;
      const auto items = ir::WithItemsOf(module, module[id]);
      const auto item = std::ranges::find_if(items, [&](const ir::WithItem& each) {
        return IsNoSync(context, {context.index.FunctionOf(module_id, id), each.context});
      });
      if (item == items.end()) continue;
      const std::optional<ir::ExprId> loss = LossFromOutside(context, module_id, id);
      const FuncId function = context.index.FunctionOf(module_id, id);
      if (!loss || module[*loss].kind == ir::ExprKind::Call || module[*loss].kind == ir::ExprKind::Constant) continue;
      Finding finding = FindingAt(context, kCode, Severity::Warning, Confidence::Likely, objects::Site{function, item->context},
                                  {"`no_sync` encloses the backward of `{}` only: DDP decides in the forward, which ran before, "
                                   "so every micro-step is reduced all the same",
                                   {Quoted(context, {function, *loss})}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"too late", {}});
      for (const objects::Site& caller : context.index.CallersOf(function)) {
        AddLabel(finding, SpanOf(context, caller), LabelRole::Call, {"the forward ran before this", {}});
        AddForward(context, caller, finding);
      }
      finding.help = {"enclose the forward as well", {}};
      finding.witness = WitnessOf(context, {}, SpanOf(context, {function, *loss}));
      sink.push_back(std::move(finding));
    }
  }
}

void Check(const Context& context, FindingSink& sink) {
  for (const objects::Site& backward : context.training.backwards()) VisitAccumulation(context, backward, sink);
  VisitLateNoSync(context, sink);
}

}  // namespace

extern const Rule AccumulationWithoutNoSync = {
    .code = kCode,
    .name = "accumulation-without-no-sync",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "gradient accumulation under DDP that reduces gradients in every micro-step",
    .explanation = R"md(
## What it finds

A training step that accumulates gradients under DDP (the optimizer steps only when a remainder says so) in a
file that never says when to reduce them. And a `no_sync` around the backward alone.

## Why it hurts

DDP reduces gradients in every backward unless it was told otherwise before the *forward*. With 8 accumulated
micro-steps seven of eight reductions, each of the size of the model, are thrown away. On slow links a step
takes several times as long. With `no_sync` around the backward only, the flag is set too late, and nothing is
saved though the code looks right.

## Wrong

```python
for i, batch in enumerate(loader):
    (model(batch).mean() / n).backward()
    if (i + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## Right

```python
for i, batch in enumerate(loader):
    last = (i + 1) % n == 0
    with contextlib.nullcontext() if last else model.no_sync():
        (model(batch).mean() / n).backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
```

## When it is silent

* The file speaks of `no_sync`, `require_backward_grad_sync` or `accumulate` anywhere: then it is taken to
  know what it does, but for a `no_sync` around a lone backward.
* The model is sharded: FSDP may leave `no_sync` out on purpose, as it costs memory.
* The backward is under the same test as the step.

## Fix

`--unsafe-fixes` sets DDP's `require_backward_grad_sync` at the beginning of each round to the test under
which the optimizer steps. It is not safe, as the test may count what changes within the round, and the
attribute is no documented part of DDP. There is none for a `no_sync` around the backward alone.

## Proof

`allranks verify` replays the reductions of one step of the optimizer, micro-step by micro-step, and counts
those that are for nothing.
)md",
    .check = Check,
    .scenario = Scenario::Accumulation,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
