#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR601 = "AR601";

constexpr std::string_view kName = "torch.distributed.fsdp.FullyShardedDataParallel.__init__";

// Parts of the model are wrapped by themselves somewhere in the program: the root holds the rest.
bool WrapsParts(const Context& context, ProgramCalls& calls, ir::ModuleId module) {
  int count = 0;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const bool is_own = context.program.text(call.entry->name) == kName &&
                        calls.IsOneProgram(module, context.program.funcs[call.function].module);
    if (!is_own) continue;
    ++count;
    if (!context.index.LoopsAround({call.function, call.expr}).empty()) return true;
  }
  return count > 1;
}

std::string_view Problem(const Context& context, const objects::KnownCall& call) {
  const ValueId policy = context.index.Arg(call, "auto_wrap_policy");
  if (!policy || context.values.IsNone(policy)) return "no `auto_wrap_policy` splits the model into units";
  const std::string_view name = context.values.External(policy);
  if (name.ends_with(".size_based_auto_wrap_policy")) {
    return "the policy is passed without a size, so it wraps only parts of over 100 million parameters";
  }
  return {};
}

// A function that is handed over as a value is called by whoever walks over the parts of the model.
bool IsHandedOver(const Context& context, variation::FuncId function) {
  const variation::FuncId parent = context.program.funcs[function].parent;
  if (!parent) return false;
  return std::ranges::any_of(context.facts.functions[parent].calls, [&](const auto& call) {
    return std::ranges::any_of(context.facts.args(call.second), [&](ValueId arg) {
      return arg && context.facts.values_store[arg].kind == variation::ValueKind::Function &&
             context.facts.values_store[arg].function() == function;
    });
  });
}

// A function inside another that wraps what it is given.
bool IsCallback(const Context& context, const objects::KnownCall& call) {
  if (!IsHandedOver(context, call.function)) return false;
  const ValueId wrapped = context.index.Arg(call, "module");
  return wrapped && context.values.AnyPart(wrapped, [&](ValueId part) {
    const variation::Value& node = context.facts.values_store[part];
    return node.kind == variation::ValueKind::Param && node.function() == call.function;
  });
}

// `NO_SHARD`: every rank holds the whole model anyway.
bool ShardsNothing(const Context& context, const objects::KnownCall& call) {
  const ValueId strategy = context.index.Arg(call, "sharding_strategy");
  const std::vector<ValueId> leaves = context.values.Leaves(strategy);
  return strategy && std::ranges::all_of(leaves, [&](ValueId leaf) { return context.values.External(leaf).ends_with(".NO_SHARD"); });
}

void CheckNoWrapPolicy(const Context& context, FindingSink& sink) {
  ProgramCalls calls(context);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    if (context.program.text(call.entry->name) != kName) continue;
    const ir::Module& module = context.program.module_of(call.function);
    bool is_open = false;
    for (uint32_t i = 0; module[call.expr].kind == ir::ExprKind::Call && i < ir::ArgCount(module, module[call.expr]); ++i) {
      is_open = is_open || ir::ArgAt(module, module[call.expr], i).kind == ir::ArgKind::DoubleStar;
    }
    const std::string_view problem = Problem(context, call);
    if (is_open || problem.empty() || IsCallback(context, call) || ShardsNothing(context, call)) continue;
    const ir::ModuleId file = context.program.funcs[call.function].module;
    if (!context.index.Arg(call, "auto_wrap_policy") && WrapsParts(context, calls, file)) continue;
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context, kAR601, Severity::Warning, Confidence::Likely, site,
                                {"{}: each forward gathers the whole model on every rank", {std::string(problem)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"one unit", {}});
    finding.help = {"wrap the blocks: `functools.partial(transformer_auto_wrap_policy, transformer_layer_cls=...)`", {}};
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule NoWrapPolicy = {
    .code = kAR601,
    .name = "no-wrap-policy",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "none of 4 findings in unknown repositories was right: small models in examples",
    .languages = "Python",
    .summary = "model that FSDP shards as one unit, or by a policy that wraps nothing",
    .explanation = R"md(
## What it finds

`FullyShardedDataParallel(model)` without an `auto_wrap_policy`, in a program that does not wrap parts
separately; or with the bare `size_based_auto_wrap_policy`, whose default of 100 million parameters a block
seldom reaches.

## Why it hurts

FSDP gathers a unit before it is computed and frees it afterwards. If there is only one unit, that is the
whole model, in forward and in backward. The peak memory is that of DDP, nothing overlaps with the gathering,
and all that sharding saves is optimizer memory. It looks as if FSDP did not help.

## Wrong

```python
model = FSDP(model)
```

## Right

```python
policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
model = FSDP(model, auto_wrap_policy=policy)
```

## When it is silent

* Several wrappers are created, or one in a loop: the parts are wrapped by hand.
* The policy is a variable or the project's own function, or arguments are passed on with `**`.
* The strategy is `NO_SHARD`: every rank holds the whole model anyway.

## Fix

There is none: only you know which class is a block.

## Proof

There is nothing to replay: the ranks agree.
)md",
    .check = CheckNoWrapPolicy};

}  // namespace allranks::rules
