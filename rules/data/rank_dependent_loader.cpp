#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR305 = "AR305";

// What must be the same on all ranks for them to make equally many steps.
constexpr std::string_view kParams[] = {"batch_size", "drop_last"};

bool DiffersByRank(const Context& context, ValueId value) {
  const traces::World world = objects::SmallJob(context.facts.job);
  const std::optional<int64_t> first = context.values.OnRank(value, world, 0);
  for (uint32_t rank = 1; rank < world.size(); ++rank) {
    const std::optional<int64_t> other = context.values.OnRank(value, world, rank);
    if (first && other && *first != *other) return true;
  }
  return false;
}

// One arm for some ranks and another for the rest, whatever the numbers are.
bool IsChosenByRank(const Context& context, ValueId value) {
  if (context.facts.values_store[value].kind != ValueKind::Select) return false;
  return DiffersByRank(context, context.facts.values_store.ArmsOf(value).condition);
}

// A share of the data on some ranks, and all of it on the others: `DistributedSampler(data) if rank == 0 else None`.
bool IsShareOfSome(const Context& context, ValueId sampler) {
  if (!IsChosenByRank(context, sampler)) return false;
  const auto arms = context.facts.values_store.Kids(sampler);
  const auto is_share = [&](ValueId arm) { return context.values.IsA(arm, "torch.utils.data.distributed.DistributedSampler"); };
  return (is_share(arms[1]) && context.values.IsNone(arms[2])) || (is_share(arms[2]) && context.values.IsNone(arms[1]));
}

// Equal data on all ranks, cut into batches by what each rank says. Where a choice gives no numbers, two that differ.
witness::Witness WitnessOf(const Context& context, std::string_view param, ValueId value) {
  constexpr uint32_t kSamples = 64, kBatch = 8;
  const traces::World world = objects::SmallJob(context.facts.job);
  const auto on_rank = [&](uint32_t rank) -> uint32_t {
    if (const std::optional<int64_t> number = context.values.OnRank(value, world, rank)) {
      return static_cast<uint32_t>(std::clamp<int64_t>(*number, 0, kSamples));
    }
    const ValueId test = context.facts.values_store.Kids(value)[0];
    return context.values.TruthOnRank(test, world, rank).value_or(false) ? kBatch : 2 * kBatch;
  };
  witness::UnevenBatches scenario;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const bool is_size = param == "batch_size";
    const uint32_t number = on_rank(rank);
    scenario.batch.push_back(is_size ? std::max(number, 1u) : kBatch);
    // One sample is left over; a rank that drops it has as many as it keeps.
    scenario.samples.push_back(kSamples + (is_size || number == 0 ? 1 : 0));
  }
  return ScenarioWitness(world, witness::Effect::Deadlock, std::move(scenario));
}

// It is handed to a function that nobody sees, beside the loops over it: `fit(model, loader)` of a library.
bool GoesElsewhere(const Context& context, ValueId loader) {
  // `batches = tqdm(loader)`
  const auto is_gone_over = [&](ValueId result) {
    return result && std::ranges::any_of(context.loading.loops(), [&](const objects::LoaderLoop& loop) {
      const ValueId iterable = context.facts.value(context.program.funcs[loop.iterable.function].module, loop.iterable.expr);
      return iterable && context.values.AnyPart(iterable, [&](ValueId part) { return part == result; });
    });
  };
  for (uint32_t f = 0; f < context.facts.functions.size(); ++f) {
    const ir::ModuleId module = context.program.funcs[FuncId{f}].module;
    for (const auto& [expr, fact] : context.facts.functions[FuncId{f}].calls) {
      if (fact.kind != variation::CallKind::Unresolved && fact.kind != variation::CallKind::External) continue;
      if (fact.callee && context.values.External(fact.callee).starts_with("builtins.")) continue;
      const std::span<const ValueId> args = context.facts.args(fact);
      const auto is_it = [&](ValueId arg) {
        return arg && std::ranges::any_of(context.values.Leaves(arg), [&](ValueId leaf) {
          return context.loading.IsLoader(leaf) && context.values.MayBeSame(leaf, loader);
        });
      };
      if (std::ranges::any_of(args, is_it) && !is_gone_over(context.facts.value(module, expr))) return true;
    }
  }
  return false;
}

// Where loops over it are seen, and ranks speak to one another in none of them: an evaluation by one rank, or each by itself.
bool IsReadWithoutOthers(const Context& context, const objects::KnownCall& loader) {
  const ValueId made = context.loading.ValueOf(loader);
  bool is_read = false;
  for (const objects::LoaderLoop& loop : context.loading.loops()) {
    if (!context.values.MayBeSame(loop.loader, made)) continue;
    if (loop.by_next || context.training.Communicates(context.program.funcs[loop.iterable.function].module, loop.loop)) return false;
    is_read = true;
  }
  // `sum(model(x) for x in loader)`
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = context.program.modules[module_id];
    for (const ir::ExprId id : context.index.ExprsOf(module_id, ir::ExprKind::Comprehension)) {
      for (const ir::Clause& clause : ir::ClausesOf(module, module[id])) {
        const ValueId iterable = context.facts.value(module_id, clause.iter);
        const std::vector<ValueId> loaders = iterable ? context.loading.LoadersIn(iterable) : std::vector<ValueId>();
        if (std::ranges::none_of(loaders, [&](ValueId each) { return context.values.MayBeSame(each, made); })) continue;
        if (context.training.Communicates(module_id, context.index.tree(module_id).StatementOf(id))) return false;
        is_read = true;
      }
    }
  }
  return is_read && !GoesElsewhere(context, made);
}

// As many batches as there are ranks on those that have all of the data, and one on the others.
witness::Witness WitnessOfShare(const Context& context, ValueId sampler) {
  constexpr uint32_t kBatch = 8;
  const traces::World world = objects::SmallJob(context.facts.job);
  const auto arms = context.facts.values_store.Kids(sampler);
  witness::UnevenBatches scenario;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const bool is_first_arm = context.values.TruthOnRank(arms[0], world, rank).value_or(false);
    const bool has_all = context.values.IsNone(is_first_arm ? arms[1] : arms[2]);
    scenario.batch.push_back(kBatch);
    scenario.samples.push_back(has_all ? kBatch * world.size() : kBatch);
  }
  return ScenarioWitness(world, witness::Effect::Deadlock, std::move(scenario));
}

void CheckSampler(const Context& context, const objects::KnownCall& call, FindingSink& sink) {
  const ValueId value = context.index.Arg(call, "sampler");
  const ir::ExprId expr = context.index.ArgExpr(call, "sampler");
  if (!value || !expr || !IsShareOfSome(context, value) || IsReadWithoutOthers(context, call)) return;
  Finding finding = FindingAt(context, kAR305, Severity::Error, Confidence::Likely, objects::Site{call.function, expr},
                              {"some ranks go over their share of the data and the others over all of it: they make different "
                               "numbers of steps",
                               {}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"differs by rank", {}});
  AddReasons(context, {call.function, expr}, finding);
  finding.witness = WitnessOfShare(context, value);
  finding.help = {"give all ranks the sampler", {}};
  sink.push_back(std::move(finding));
}

void CheckRankDependentLoader(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.loading.made_loaders()) {
    CheckSampler(context, call, sink);
    for (const std::string_view param : kParams) {
      const ValueId value = context.index.Arg(call, param);
      const ir::ExprId expr = context.index.ArgExpr(call, param);
      if (!value || !expr || !(DiffersByRank(context, value) || IsChosenByRank(context, value))) continue;
      if (IsReadWithoutOthers(context, call)) continue;
      Finding finding = FindingAt(context, kAR305, Severity::Error, Confidence::Likely, objects::Site{call.function, expr},
                                  {"`{}` differs between ranks, so they make different numbers of steps",
                                   {std::string(param)}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"differs by rank", {}});
      AddReasons(context, {call.function, expr}, finding);
      finding.witness = WitnessOf(context, param, value);
      finding.help = {"use the same value on all ranks and let the sampler split the data", {}};
      sink.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Rule RankDependentLoader = {
    .code = kAR305,
    .name = "rank-dependent-loader",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "loader whose batch size, `drop_last` or length differs from rank to rank",
    .explanation = R"md(
## What it finds

A `DataLoader` that gets another `batch_size` or `drop_last` on some ranks than on others, or a
`DistributedSampler` on some ranks and no sampler on the others.

## Why it hurts

Each rank makes as many steps as its batches allow, and each step of data-parallel training reduces
gradients with all ranks. Those with smaller batches make more steps and wait, in the last ones, for ranks
that have left the loop: a hang at the end of the first epoch.

## Wrong

```python
batch_size = 64 if dist.get_rank() == 0 else 32
loader = DataLoader(dataset, batch_size=batch_size, sampler=DistributedSampler(dataset))
```

## Right

```python
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
```

## When it is silent

* The loops over the loader communicate in none of their rounds, an evaluation on one rank, and nothing
  else is handed the loader.
* What differs is the seed, the number of workers or the order: the number of steps stays the same.
* The number is divided by the world size, which is the same on all ranks.

## Fix

There is none: which of the sizes was meant only you know.

## Proof

`allranks verify` expands the batches of the ranks into their sequences of steps and replays these.
)md",
    .check = CheckRankDependentLoader,
    .scenario = Scenario::UnevenBatches};

}  // namespace allranks::rules
