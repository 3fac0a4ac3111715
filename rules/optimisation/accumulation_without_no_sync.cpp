#include <algorithm>
#include <optional>

#include "analyzer/objects/lightning_calls.h"
#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/optimisation/late_no_sync.h"
#include "rules/program_calls.h"
#include "rules/wrapping.h"

namespace allranks::rules {
namespace {

using objects::AccumulationWindow;

constexpr std::string_view kAR403 = "AR403";
constexpr std::string_view kManualBackward = "manual_backward";

// What decides when gradients are reduced: DDP's own, FSDP's, those of frameworks.
constexpr std::string_view kControls[] = {"no_sync", "require_backward_grad_sync", "set_requires_gradient_sync", "no_backward_sync",
                                          "set_gradient_accumulation_boundary", "accumulate"};
// Whose gradients are reduced by other rules than DDP's.
constexpr std::string_view kEngineOfDeepSpeed = "deepspeed.DeepSpeedEngine";
constexpr std::string_view kOwnRules[] = {"accelerate.Accelerator", "accelerate.Prepared", kEngineOfDeepSpeed, "lightning.fabric.Fabric",
                                          "lightning.fabric.Prepared", "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.FSDPModule"};

class Control {
 public:
  explicit Control(const Context& context) : context_(context) {
    for (const std::string_view name : kControls) {
      if (const base::NameId id = context.program.names->Find(name)) names_.push_back(id);
    }
    FindFiles();
  }

  // Whether a file, or one that it runs code of in this window, says when gradients are to be reduced.
  bool Has(const AccumulationWindow& window, const objects::Site& backward) const {
    std::vector<FuncId> functions = {window.function, backward.function};
    for (size_t i = 0; i < functions.size(); ++i) {
      if (files_[context_.program.funcs[functions[i]].module.index]) return true;
      for (const auto* list : {&context_.facts.functions[functions[i]].calls, &context_.facts.functions[functions[i]].enters}) {
        for (const auto& [expr, fact] : *list) {
          const bool is_new = fact.function && std::ranges::find(functions, fact.function) == functions.end();
          if (is_new && functions.size() < kMostFunctions) functions.push_back(fact.function);
        }
      }
    }
    return false;
  }

 private:
  // A method that does it and that nobody calls says nothing.
  void FindFiles() {
    files_.resize(context_.program.modules.size());
    for (uint32_t m = 0; m < files_.size(); ++m) {
      const ir::ModuleId module_id{m};
      const ir::Module& module = context_.program.modules[module_id];
      for (const ir::ExprKind kind : {ir::ExprKind::Attribute, ir::ExprKind::Name}) {
        for (const ir::ExprId id : context_.index.ExprsOf(module_id, kind)) {
          const base::NameId name = kind == ir::ExprKind::Name ? ir::NameOf(module[id]) : ir::AttrOf(module[id]);
          if (!files_[m] && std::ranges::find(names_, name) != names_.end()) files_[m] = IsUsed(module_id, id, name);
        }
      }
    }
  }

  bool IsUsed(ir::ModuleId module, ir::ExprId expr, base::NameId name) const {
    const FuncId function = FunctionAround(context_, module, expr);
    const bool is_definition = function && context_.program.function(function).name == name;
    return !is_definition || !context_.index.CallersOf(function).empty();
  }

  // Of a training step, the helpers that it calls and theirs.
  static constexpr size_t kMostFunctions = 48;

  const Context& context_;
  std::vector<base::NameId> names_;
  std::vector<bool> files_;  // by module
};

// A method of a class that wraps its models in DDP itself, and calls them in methods that users define.
bool IsOfWrappingClass(const Context& context, FuncId function) {
  const binding::ClassId owner = context.program.funcs[function].owner;
  return owner && std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    return context.program.funcs[call.function].owner == owner &&
           context.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__";
  });
}

// `Trainer(strategy="deepspeed_stage_3")`, or what commands and defaults make of `strategy=args.strategy`.
bool IsOfDeepSpeed(const Context& context, const objects::KnownCall& trainer) {
  const variation::ValueId strategy = context.index.Arg(trainer, "strategy");
  if (!strategy) return false;
  const auto is_deepspeed = [](std::string_view text) { return text.starts_with("deepspeed"); };
  if (is_deepspeed(context.values.Str(strategy))) return true;
  return std::ranges::any_of(context.options.TextsOf(context.program.funcs[trainer.function].module, strategy), is_deepspeed);
}

// Lightning's backward in a program that runs under DeepSpeed: its engine reduces at the end of a window by itself, and refuses `no_sync` where it
// shards gradients.
bool IsLeftToEngine(const Context& context, const objects::Site& backward, ir::ExprId callee) {
  const ir::Module& module = context.program.module_of(backward.function);
  if (module[callee].kind != ir::ExprKind::Attribute || context.program.text(ir::AttrOf(module[callee])) != kManualBackward) return false;
  ProgramCalls calls(context);
  return calls.FindIf(context.program.funcs[backward.function].module, [&](const objects::KnownCall& call) {
    return context.program.text(call.entry->name) == objects::kLightningTrainerInit && IsOfDeepSpeed(context, call);
  }) != nullptr;
}

// Whether the loss comes out of a framework, or of a module that is sharded, or such a module is what the optimizer steps. Where the model is
// an engine of DeepSpeed or wrapped in DDP, `loss.backward()` is for the latter: an engine has a `backward` of its own.
bool HasOwnRules(const Context& context, const AccumulationWindow& window, const objects::Site& backward) {
  const ir::Module& module = context.program.module_of(backward.function);
  const ir::ExprId callee = ir::CalleeOf(module[backward.expr]);
  if (IsLeftToEngine(context, backward, callee)) return true;
  const variation::ValueId loss = context.facts.value(context.program.funcs[backward.function].module, ir::ObjectOf(module[callee]));
  const bool may_be_ddp = context.values.AnyPart(loss, [&](variation::ValueId part) { return context.values.IsA(part, "torch.nn.parallel.DistributedDataParallel"); });
  const auto has_own = [&](variation::ValueId part) {
    return std::ranges::any_of(kOwnRules, [&](std::string_view known) { return context.values.IsA(part, known) && !(may_be_ddp && known == kEngineOfDeepSpeed); });
  };
  const objects::GradientCall& step = window.step.call;
  const variation::ValueId optimizer = step.object ? context.facts.value(context.program.funcs[step.site.function].module, step.object) : variation::ValueId::None();
  return context.values.AnyPart(loss, has_own) || (optimizer && context.values.AnyPart(optimizer, has_own));
}

// `state_dict`, `train`: what every module has, beside its forward.
bool MemberOfModule(const Context& context, std::string_view method) {
  const base::NameId name = context.program.names->Find(method);
  const base::NameId module_name = context.program.names->Find("torch.nn.Module");
  const knowledge::ClassId known = module_name ? context.knowledge.FindClass(module_name) : knowledge::ClassId{};
  return name && known && context.knowledge.FindMember(known, name) && method != "forward";
}

// The forward goes past the wrapper, `model.module.train_step(batch)`, and the wrapper itself is not called: DDP then expects no
// backward, and reduces nothing.
bool GoesPastWrapper(const Context& context, FuncId function) {
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  bool goes_past = false;
  for (const objects::Site& call : CallsIn(context, function)) {
    const ir::ExprId callee = ir::CalleeOf(module[call.expr]);
    if (MayBeWrapped(context, context.facts.value(module_id, callee))) return false;
    if (module[callee].kind != ir::ExprKind::Attribute) continue;
    const ir::ExprId inner = ir::ObjectOf(module[callee]);
    if (module[inner].kind != ir::ExprKind::Attribute || context.program.text(ir::AttrOf(module[inner])) != "module") continue;
    const variation::ValueId wrapper = context.facts.value(module_id, ir::ObjectOf(module[inner]));
    const std::string_view method = context.program.text(ir::AttrOf(module[callee]));
    goes_past = goes_past || (MayBeWrapped(context, wrapper) && !MemberOfModule(context, method));
  }
  return goes_past;
}

// A wrapper with a static graph learns in the first backward when each gradient is there, and fails where that is under `no_sync`
// (https://github.com/pytorch/pytorch/issues/143580).
bool HasStaticGraphIn(const Context& context, FuncId function) {
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const std::vector<objects::Site> calls = CallsIn(context, function);
  return std::ranges::any_of(Wrappings(context), [&](const objects::KnownCall& wrapping) {
    return HasStaticGraph(context, wrapping) && std::ranges::any_of(calls, [&](const objects::Site& call) {
      const variation::ValueId callee = context.facts.value(module_id, ir::CalleeOf(context.program.modules[module_id][call.expr]));
      return callee && MayBeMadeBy(context, wrapping, function, callee);
    });
  });
}

bool HasStaticGraphIn(const Context& context, const AccumulationWindow& window, const objects::Site& backward) {
  return HasStaticGraphIn(context, window.function) || HasStaticGraphIn(context, backward.function);
}

bool ReducesEachTime(const Context& context, const AccumulationWindow& window, const objects::Site& backward, const Control& control) {
  const ir::StmtId stmt = context.index.StatementOf(backward);
  const bool reduces = stmt && (context.training.Reduces(context.program.funcs[backward.function].module, stmt) ||
                                IsOfWrappingClass(context, backward.function));
  return reduces && !HasOwnRules(context, window, backward) && !GoesPastWrapper(context, backward.function) &&
         !HasStaticGraphIn(context, window, backward) && !control.Has(window, backward);
}

// Each micro-step works with what the one before left in the gradients: an attack that follows them. All of them have to be reduced.
class GradientReads {
 public:
  GradientReads(const Context& context, const AccumulationWindow& window)
      : context_(context), window_(window), module_(context.program.funcs[window.function].module) {}

  bool AreInEachStep() const {
    const auto is_gradient = [&](ir::ExprId id) { return ReadsGradient(module_, id) && IsInEachStep(id); };
    if (std::ranges::any_of(context_.index.ExprsOf(module_, ir::ExprKind::Attribute), is_gradient)) return true;
    std::vector<FuncId> functions;
    for (const objects::Site& call : CallsIn(context_, window_.function)) {
      if (IsInEachStep(call.expr)) Add(call, &functions);
    }
    for (size_t i = 0; i < functions.size(); ++i) {
      if (ReadsGradient(functions[i])) return true;
      for (const objects::Site& call : CallsIn(context_, functions[i])) Add(call, &functions);
    }
    return false;
  }

 private:
  static constexpr size_t kMostFunctions = 32;

  // `param.grad`, and neither `param.grad = None` nor a call of `torch.autograd.grad`.
  bool ReadsGradient(ir::ModuleId module_id, ir::ExprId id) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (context_.program.text(ir::AttrOf(module[id])) != "grad") return false;
    const ir::StmtId stmt = context_.index.tree(module_id).StatementOf(id);
    if (stmt && module[stmt].kind == ir::StmtKind::Assign) {
      for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
        if (target == id) return false;
      }
    }
    const auto calls_it = [&](ir::ExprId call) { return ir::CalleeOf(module[call]) == id; };
    return std::ranges::none_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), calls_it);
  }
  bool ReadsGradient(FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Function& whole = context_.program.function(function);
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      const ir::Expr& expr = context_.program.modules[module_id][id];
      return expr.begin >= whole.begin && expr.end <= whole.end && ReadsGradient(module_id, id);
    });
  }

  // Of the loop over the micro-steps, and not under the test by which the optimizer steps.
  bool IsInEachStep(ir::ExprId id) const {
    const objects::Site site{window_.function, id};
    if (FunctionAround(context_, module_, id) != window_.function) return false;
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
    if (window_.loop && std::ranges::find(loops, window_.loop) == loops.end()) return false;
    const std::optional<objects::Guard>& steps = window_.period.guard;
    return !steps || std::ranges::none_of(context_.guards.Of(site), [&](const objects::Guard& guard) { return guard.test == steps->test; });
  }

  void Add(const objects::Site& call, std::vector<FuncId>* functions) const {
    const variation::CallFact* fact = context_.facts.call(call.function, call.expr);
    const bool is_new = fact != nullptr && fact->function && std::ranges::find(*functions, fact->function) == functions->end();
    if (is_new && functions->size() < kMostFunctions) functions->push_back(fact->function);
  }

  const Context& context_;
  const AccumulationWindow& window_;
  ir::ModuleId module_;
};

// One finding for all backward calls of a window: `scaled.backward()` and the `loss.backward()` of the other branch are
// put right by one change.
Finding FindingOf(const Context& context, const AccumulationWindow& window, const std::vector<objects::Site>& backwards) {
  Finding finding = FindingAt(context, kAR403, Severity::Warning, Confidence::Likely, backwards.front(),
                              {"gradients are reduced in each micro-step, but the optimizer steps only {}: "
                               "only the last of these reductions is needed, so the others cost time for nothing",
                               {std::string(HowOften(window.period))}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"all gradients are reduced here, in each micro-step", {}});
  for (size_t i = 1; i < backwards.size(); ++i) AddLabel(finding, SpanOf(context, backwards[i]), LabelRole::Note, {"so does this one", {}});
  AddLabel(finding, SpanOf(context, window.step.call.site), LabelRole::Why, {HowOften(window.period), {}});
  if (const std::optional<objects::Guard>& guard = window.period.guard) {
    AddLabel(finding, SpanOf(context, {guard->function, guard->test}), LabelRole::Condition, {"decides which micro-steps update the weights", {}});
  }
  if (context.settings.IsAlways(context.program.funcs[window.function].module, window.period.length, 1)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OptionSet));
  finding.help = {"in each window, run forward and backward of every micro-step but the last under `with model.no_sync():` (`model` is the DDP wrapper)", {}};
  finding.witness = AccumulationWitness(context, window.period.length, finding.span);
  if (std::optional<findings::Fix> fix = ReduceWhereItSteps(context, window, backwards.front())) finding.fixes.push_back(std::move(*fix));
  finding.is_in_preview = BelongsInPreview(context, backwards.front().function, finding);
  return finding;
}

// `if steps > 1: raise`: nobody gets here with a window of several micro-steps.
bool IsNeverLonger(const Context& context, const AccumulationWindow& window) {
  return window.period.length && std::ranges::any_of(context.guards.Of(window.step.here), [&](const objects::Guard& guard) {
    const variation::ValueId test = context.facts.value(context.program.funcs[guard.function].module, guard.test);
    if (!test || context.values[test].kind != variation::ValueKind::Compare) return false;
    const auto kids = context.facts.values_store.Kids(test);
    const auto op = context.values[test].compare_op();
    if (kids[0] != window.period.length || context.values.Int(kids[1]) != 1) return false;
    return guard.holds ? op == ir::CompareOp::Eq || op == ir::CompareOp::LessEq : op == ir::CompareOp::NotEq || op == ir::CompareOp::Greater;
  });
}

void CheckAccumulationWithoutNoSync(const Context& context, FindingSink& sink) {
  const Control control(context);
  std::vector<source::Span> seen;
  for (const AccumulationWindow& window : context.accumulation.windows()) {
    if (window.has_other_optimizers || IsNeverLonger(context, window) || GradientReads(context, window).AreInEachStep()) continue;
    std::vector<objects::Site> backwards;
    for (const objects::GradientEvent& add : window.adds) {
      const source::Span span = SpanOf(context, add.call.site);
      if (std::ranges::count(seen, span) > 0) continue;
      seen.push_back(span);
      if (ReducesEachTime(context, window, add.call.site, control)) backwards.push_back(add.call.site);
    }
    if (!backwards.empty()) sink.push_back(FindingOf(context, window, backwards));
  }
  VisitLateNoSync(context, kAR403, sink);
}

}  // namespace

extern const Rule AccumulationWithoutNoSync = {
    .code = kAR403,
    .name = "accumulation-without-no-sync",
    .severity = Severity::Warning,
    .preview_in_part = "findings in programs that nothing here is seen to start on ranks: since windows of one micro-step are left out, the 4 findings on code "
                       "that was met for the first time were right, before 41 of 72",
    .languages = "Python",
    .summary = "gradient accumulation under DDP that reduces gradients in every micro-step",
    .explanation = R"md(
## What it finds

A training step that accumulates gradients under DDP (the optimizer steps only when a remainder says
so, when a counter is full, or behind a loop over micro-batches), where neither its file nor a
function that it calls says when to reduce them. And a `no_sync` around the backward alone.

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

* The file mentions `no_sync`, `require_backward_grad_sync` or `accumulate` anywhere: then it is taken to
  know what it does, but for a `no_sync` around a lone backward. Of that only `require_backward_grad_sync` is
  taken to make up for it.
* The model is sharded: FSDP may leave `no_sync` out on purpose, as it costs memory, and asks for it only in
  the backward, so that there a lone backward under `no_sync` is in time.
* A class of the program has a `no_sync` of its own, and the model is not known to be DDP's.
* The backward is under the same test as the step.
* Each micro-step reads the gradients that the one before left (`.grad`), as an attack on the inputs does:
  then each of them has to be reduced.
* DDP takes the graph to be static (`static_graph=True`, `_set_static_graph()`): it then fails in a first
  backward under `no_sync`.

Where the number of micro-steps is an option that is 1 by default, and no command of the project gives
it another value, the finding is *possible*.

## Fix

`--unsafe-fixes` sets DDP's `require_backward_grad_sync` at the beginning of each round to the test under
which the optimizer steps. It is not safe, as the test may count what changes within the round, and the
attribute is no documented part of DDP. A `no_sync` around the backward alone is moved up before the forward
where both are in one block: the code in between is then indented, and runs under it as well.

## Proof

`allranks verify` replays the reductions of one step of the optimizer, micro-step by micro-step, and counts
those that are for nothing.
)md",
    .check = CheckAccumulationWithoutNoSync,
    .scenario = Scenario::Accumulation,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
