#include <algorithm>
#include <array>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;

constexpr std::string_view kAR608 = "AR608";
constexpr std::string_view kZero3 = "DeepSpeed ZeRO-3";
constexpr std::string_view kSyncedGpus = "synced_gpus";

enum class Sharder : uint8_t { None, Fsdp, Zero3 };

// Looks at the calls that generate in one run over all files.
class Generations {
 public:
  Generations(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), generate_(context.program.names->Find("generate")), zero3_(context.program.names->Find(kZero3)) {}

  void Visit(const KnownCall& call) {
    if (!generate_ || !call.entry->has_operation || call.entry->operation.kind != generate_ || !GoesOnByItself(call)) return;
    if (const Sharder sharder = SharderOf(call); sharder != Sharder::None) Report(call, sharder);
  }

 private:
  // What is not passed, Transformers decides: it keeps ranks together where its own integration of DeepSpeed is told of ZeRO-3, and under FSDP.
  bool IsTurnedOff(const KnownCall& call) const {
    const ValueId synced = context_.index.Arg(call, kSyncedGpus);
    return synced && context_.values.IsFalse(synced);
  }
  bool IsLeftOpen(const KnownCall& call) const {
    const ir::ExprId synced = context_.index.ArgExpr(call, kSyncedGpus);
    return !synced || context_.values.IsNone(context_.index.Arg(call, kSyncedGpus));
  }
  // Ranks that generate from the same texts end together.
  bool GoesOnByItself(const KnownCall& call) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[call.expr];
    for (uint32_t i = 0; i < ir::ArgCount(module, expr); ++i) {
      const ValueId value = context_.facts.value(module_id, ir::ArgAt(module, expr, i).value);
      if (value && !context_.facts.values_store.axes(value).empty()) return true;
    }
    return false;
  }

  Sharder SharderOf(const KnownCall& call) {
    if (IsObject(call, "torch.distributed.fsdp.FullyShardedDataParallel")) return IsTurnedOff(call) ? Sharder::Fsdp : Sharder::None;
    if (!IsObject(call, "deepspeed.DeepSpeedEngine") || !RunsUnderZero3(call)) return Sharder::None;
    return IsTurnedOff(call) || (IsLeftOpen(call) && !IsTransformersTold(call)) ? Sharder::Zero3 : Sharder::None;
  }
  // Whether the receiver is of the class, or the model inside such an object.
  bool IsObject(const KnownCall& call, std::string_view known_class) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    ir::ExprId object = ir::CalleeOf(module[call.expr]);
    while (object && module[object].kind == ir::ExprKind::Attribute) {
      object = ir::ObjectOf(module[object]);
      for (const ValueId leaf : context_.values.Leaves(context_.facts.value(module_id, object))) {
        if (context_.values.IsA(leaf, known_class)) return true;
      }
    }
    return false;
  }
  bool RunsUnderZero3(const KnownCall& call) const {
    const std::array named = {zero3_};
    return zero3_ && context_.strategies.Get().Of(context_.program.funcs[call.function].module, named) == objects::StrategyUse::Seen;
  }
  bool IsTransformersTold(const KnownCall& call) {
    return calls_.FindIf(context_.program.funcs[call.function].module,
                         [](const KnownCall& other) { return other.entry->Has(knowledge::Role::TellsOfSharding); }) != nullptr;
  }

  void Report(const KnownCall& call, Sharder sharder) {
    const bool is_fsdp = sharder == Sharder::Fsdp;
    Finding finding = FindingAt(context_, kAR608, Severity::Error, Confidence::Likely, {call.function, call.expr},
                                {"each rank stops generating when its own texts end: the others wait for its part of the parameters, which {} splits",
                                 {is_fsdp ? "FSDP" : "ZeRO-3"}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"gathers parameters from all ranks for each token", {}});
    finding.help = IsTurnedOff(call) ? findings::Text{"pass `synced_gpus=True`: ranks that are done go on until all are", {}}
                                     : findings::Text{"pass `synced_gpus=True`: nothing here tells Transformers of ZeRO-3", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  base::NameId generate_;
  base::NameId zero3_;
};

void CheckUnsyncedGeneration(const Context& context, FindingSink& sink) {
  Generations generations(context, sink);
  for (const KnownCall& call : context.index.known_calls()) generations.Visit(call);
}

}  // namespace

extern const Rule UnsyncedGeneration = {
    .code = kAR608,
    .name = "unsynced-generation",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "`generate` on a sharded model that ends at a different length on each rank",
    .explanation = R"md(
## What it finds

Transformers' `generate` on a model whose parameters DeepSpeed's ZeRO-3 or FSDP splits over the ranks, with
texts that differ between ranks, without `synced_gpus`: either `synced_gpus=False` is passed, or nothing is
passed and nothing in the program tells Transformers about ZeRO-3 (`HfDeepSpeedConfig`, its `Trainer`,
Accelerate).

## Why it hurts

Each new token is one forward pass, and each forward pass gathers all parameters from all ranks. A rank
whose texts have ended goes on to whatever comes next. The others ask it for its part of the parameters and
wait. The job hangs in `all_gather` until the timeout, at a batch that nobody can predict.

## Wrong

```python
engine, _, _, _ = deepspeed.initialize(model=model, config={"zero_optimization": {"stage": 3}})
for batch in loader:
    texts = engine.module.generate(batch["input_ids"], max_new_tokens=256)
```

## Right

```python
engine, _, _, _ = deepspeed.initialize(model=model, config={"zero_optimization": {"stage": 3}})
for batch in loader:
    texts = engine.module.generate(batch["input_ids"], max_new_tokens=256, synced_gpus=True)
```

## When it is silent

* `synced_gpus` is true, or not known.
* Transformers knows about the sharding: it keeps the ranks together by itself if an `HfDeepSpeedConfig` of
  stage 3 is alive (seen in 4.30), and under FSDP (seen in 4.46).
* All ranks generate from the same texts.
* Nothing shows that the engine runs at stage 3.

## Fix

There is none: ranks must also reach the call equally often.

## Proof

There is nothing to replay: how long a text gets depends on the model.
)md",
    .check = CheckUnsyncedGeneration};

}  // namespace allranks::rules
