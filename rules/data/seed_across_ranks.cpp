#include <algorithm>
#include <optional>

#include "analyzer/objects/jobs.h"
#include "analyzer/objects/process_starts.h"
#include "analyzer/objects/rank_words.h"
#include "rules/data/reseeding.h"
#include "rules/data/seed_places.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kCode = "AR308";

// A seed that is not the same on all ranks: it counts ranks, or is drawn from clock or chance by each for itself.
bool DiffersByRank(const Context& context, ValueId seed) {
  const knowledge::Axes axes = context.facts.values_store.axes(seed);
  return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local) || axes.has(knowledge::Axis::Node) ||
         !(axes & knowledge::kSurroundings).empty();
}

// The seeds of two nodes, or, where the program does not say them, some that differ.
witness::Witness WitnessOf(const Context& context, ValueId seed) {
  constexpr uint32_t kSamples = 1024;
  const traces::World world = objects::SmallJob(context.facts.job);
  witness::SampleShares scenario{.samples = kSamples, .by_rank = true, .seeds = {}};
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::optional<int64_t> number = context.values.OnRank(seed, world, rank);
    scenario.seeds.push_back(number ? static_cast<uint32_t>(*number) : rank);
  }
  return ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
}

// Noise that a training step draws from a generator which was given the same seed on every rank.
class SameNoise {
 public:
  SameNoise(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), jobs_(context.program, context.index),
        starts_(context.program, context.facts, context.index), places_(SeedPlaces(context)) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::DrawNoise) && IsDrawnInStep(call)) draws_.push_back(&call);
    }
    if (draws_.empty()) return;
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!SeedsTorch(call) || !IsRunByAll(call) || !IsAlike(call)) continue;
      const ir::ModuleId file = context_.program.funcs[call.function].module;
      if (IsReported(file)) continue;
      if (!WrapsModel(file) || IsSeededByRank(file) || IsOfModelParallel(file)) continue;
      const KnownCall* draw = DrawAfter(call);
      if (draw == nullptr) continue;
      reported_.push_back(file);
      Report(call, *draw);
    }
  }

 private:
  // Once for each program of the checkout.
  bool IsReported(ir::ModuleId file) {
    return std::ranges::any_of(reported_, [&](ir::ModuleId other) { return calls_.IsOneProgram(file, other); });
  }

  bool SeedsTorch(const KnownCall& call) const {
    const std::string_view name = context_.program.text(call.entry->name);
    return call.entry->Has(knowledge::Role::Seed) && (name == "torch.manual_seed" || name == "torch.random.manual_seed" ||
                                                      name.find("seed_everything") != std::string_view::npos ||
                                                      name.find("set_seed") != std::string_view::npos);
  }

  ValueId SeedOf(const KnownCall& call) const {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role == knowledge::Role::Seed) return context_.index.Arg(call, context_.program.text(role.param));
    }
    return ValueId::None();
  }

  // One number on all ranks, as far as can be seen: callers' arguments included.
  bool IsAlike(const KnownCall& call) const {
    const ValueId seed = SeedOf(call);
    const ValueId by_device = context_.index.Arg(call, "device_specific");
    return seed && !by_device && !VariesByRank(seed);
  }

  bool VariesByRank(ValueId seed) const {
    return context_.values.AnyPart(seed, [&](ValueId part) { return !context_.facts.values_store[part].axes.empty() || SpeaksOfRanks(part); });
  }

  // `args.rank`, whatever stores it; a parameter `local_rank`, whoever passes it.
  bool SpeaksOfRanks(ValueId part) const {
    const variation::Value& value = context_.values[part];
    base::NameId name;
    if (value.kind == variation::ValueKind::Derived && value.kid_count == 1) name = context_.facts.values_store.OperationOf(value.a);
    if (value.kind == variation::ValueKind::Param) name = context_.program.function(variation::FuncId{value.a}).params[value.b].name;
    return name && objects::RankWords::IsWord(context_.program.text(name));
  }

  bool IsRunByAll(const KnownCall& call) const {
    const Site site{call.function, call.expr};
    const traces::World world = objects::SmallJob(context_.facts.job);
    const bool is_run = jobs_.IsRun(call.function) || starts_.IsStarted(call.function);
    return is_run && jobs_.IsOfJob(call.function) && (!starts_.IsParent(call.function) || starts_.IsStarted(call.function)) &&
           context_.reach.Ranks(site, world) == traces::RankSet::All(world.size());
  }

  // In the forward of a module, or in a loop that trains, and not from a generator of its own.
  bool IsDrawnInStep(const KnownCall& call) const {
    const ValueId generator = context_.index.Arg(call, "generator");
    if (generator && !context_.values.IsNone(generator) && KeywordOf(context_, context_.program.funcs[call.function].module, call.expr, "generator")) return false;
    // First values of parameters are drawn where an object is made, whenever that is.
    if (context_.program.text(context_.program.function(call.function).name) == "__init__" || HandlesGradients(call.function)) return false;
    const std::vector<Site> ways = context_.index.WaysTo({call.function, call.expr});
    return std::ranges::any_of(ways, [&](const Site& site) {
      const ir::ModuleId module = context_.program.funcs[site.function].module;
      const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
      return std::ranges::any_of(loops, [&](ir::StmtId loop) { return context_.training.Trains(module, loop); });
    });
  }

  // What a function adds to gradients that were reduced already must be the same on all ranks.
  bool HandlesGradients(variation::FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return context_.program.text(ir::AttrOf(module[id])) == "grad" && FunctionAround(context_, module_id, id) == function;
    });
  }

  bool WrapsModel(ir::ModuleId file) {
    return HasCall(file, [&](const KnownCall& call) {
      return call.entry->has_operation && context_.program.text(call.entry->operation.kind) == "module_broadcast";
    });
  }

  // Some other place gives each rank its own seed.
  bool IsSeededByRank(ir::ModuleId file) {
    return HasCall(file, [&](const KnownCall& call) {
      const ValueId seed = call.entry->Has(knowledge::Role::Seed) ? SeedOf(call) : ValueId::None();
      return seed && (VariesByRank(seed) || context_.index.Arg(call, "device_specific"));
    }) || std::ranges::any_of(places_, [&](const SeedPlace& place) {
      return VariesByRank(place.seed) && calls_.IsOneProgram(file, context_.program.funcs[place.site.function].module);
    });
  }

  // Ranks that hold parts of one model must draw alike.
  bool IsOfModelParallel(ir::ModuleId file) {
    return calls_.HasAny(file, {"megatron.", "torch.distributed.tensor", "torch.distributed.device_mesh", "deepspeed."});
  }

  template <class Wanted>
  bool HasCall(ir::ModuleId file, Wanted wanted) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(file);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      return wanted(call) && std::ranges::count(files, context_.program.funcs[call.function].module) > 0;
    });
  }

  // Noise that is drawn in a run which seeds so: some function comes to both.
  const KnownCall* DrawAfter(const KnownCall& seed) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(context_.program.funcs[seed.function].module);
    const auto draw = std::ranges::find_if(draws_, [&](const KnownCall* call) {
      return std::ranges::count(files, context_.program.funcs[call->function].module) > 0 && Meet(seed, *call) &&
             context_.launch.Of(call->function) != objects::RunBy::Tests && !IsReseededByRank(*call);
    });
    return draw == draws_.end() ? nullptr : *draw;
  }

  bool Meet(const KnownCall& a, const KnownCall& b) const {
    const std::vector<Site> to_a = context_.index.WaysTo({a.function, a.expr});
    const std::vector<Site> to_b = context_.index.WaysTo({b.function, b.expr});
    return std::ranges::any_of(to_a, [&](const Site& site) {
      return std::ranges::find(to_b, site.function, &Site::function) != to_b.end();
    });
  }

  // Another place that the same runs come to gives each rank its own seed.
  bool IsReseededByRank(const KnownCall& draw) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      const ValueId seed = call.entry->Has(knowledge::Role::Seed) ? SeedOf(call) : ValueId::None();
      return seed && (VariesByRank(seed) || context_.index.Arg(call, "device_specific")) && Meet(call, draw);
    });
  }

  void Report(const KnownCall& seed, const KnownCall& draw) {
    const Site drawn{draw.function, draw.expr};
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, {seed.function, seed.expr},
                                {"every rank uses the same seed, so `{}` draws the same noise on all ranks in each step",
                                 {Quoted(context_, drawn)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same number on every rank", {}});
    AddLabel(finding, SpanOf(context_, drawn), LabelRole::Why, {"drawn in each training step", {}});
    finding.help = {"add the rank to the seed after the model is created; the wrapper broadcasts rank 0's weights", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Jobs jobs_;
  objects::ProcessStarts starts_;
  std::vector<SeedPlace> places_;  // those of helpers at their callers
  std::vector<const KnownCall*> draws_;
  std::vector<ir::ModuleId> reported_;
};

// An order that each rank draws for itself, of which each then takes its share.
class OwnOrders {
 public:
  OwnOrders(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::Shuffle)) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& shuffle) {
    const ir::ModuleId file = context_.program.funcs[shuffle.function].module;
    const ir::Module& module = context_.program.modules[file];
    const ir::ExprId list = context_.index.ArgExpr(shuffle, "x");
    if (!list || module[list].kind != ir::ExprKind::Name || IsSeededAlike(file)) return;
    for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Subscript)) {
      const ir::Expr& object = module[ir::LeftOf(module[id])];
      const bool is_it = object.kind == ir::ExprKind::Name && ir::NameOf(object) == ir::NameOf(module[list]);
      if (!is_it || module[id].begin < module[shuffle.expr].end || FunctionAround(context_, file, id) != shuffle.function) continue;
      if (!IsShareOfRank(file, ir::IndexOf(module[id]))) continue;
      return Report(shuffle, {shuffle.function, id});
    }
  }

  // `[rank::world_size]`, `[rank * n : (rank + 1) * n]`.
  bool IsShareOfRank(ir::ModuleId file, ir::ExprId index) const {
    const ValueId value = context_.facts.value(file, index);
    if (!value || context_.program.modules[file][index].kind != ir::ExprKind::Slice) return false;
    const knowledge::Axes axes = context_.facts.values_store.axes(value);
    return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::DataParallel);
  }

  // All ranks draw one order where one of these was given the same number on all of them.
  bool IsSeededAlike(ir::ModuleId file) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(file);
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (!call.entry->Has(knowledge::Role::Seed) || std::ranges::count(files, context_.program.funcs[call.function].module) == 0) return false;
      return std::ranges::all_of(call.args, [&](ValueId arg) { return !arg || context_.facts.values_store.axes(arg).empty(); });
    });
  }

  void Report(const KnownCall& shuffle, const Site& share) {
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, {shuffle.function, shuffle.expr},
                                {"each rank shuffles without a common seed and then takes its share of its own order: "
                                 "some samples are read by several ranks, others by none",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"another order on each rank", {}});
    AddLabel(finding, SpanOf(context_, share), LabelRole::Why, {"the share of this rank", {}});
    finding.help = {"use the same seed on all ranks before the shuffle, or take the share first", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

void CheckSamplers(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.loading.made_samplers()) {
    const ValueId seed = context.index.Arg(call, "seed");
    const ir::ExprId expr = context.index.ArgExpr(call, "seed");
    if (!seed || !expr || !DiffersByRank(context, seed)) continue;
    if (context.values.IsFalse(context.index.Arg(call, "shuffle"))) continue;
    const objects::Site site{call.function, expr};
    Finding finding = FindingAt(
        context, kCode, Severity::Warning, Confidence::Likely, site,
        {"each rank shuffles with its own seed and then takes its share of its own order: some samples are read by "
         "several ranks, others by none",
         {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"must be the same on all ranks", {}});
    AddReasons(context, site, finding);
    finding.help = {"pass the same seed on all ranks; the sampler takes the rank into account by itself", {}};
    finding.witness = WitnessOf(context, seed);
    sink.push_back(std::move(finding));
  }
}

void Check(const Context& context, FindingSink& sink) {
  CheckSamplers(context, sink);
  SameNoise(context, sink).Run();
  OwnOrders(context, sink).Run();
  CheckReseeding(context, kCode, sink);
}

}  // namespace

extern const Rule SeedAcrossRanks = {
    .code = kCode,
    .name = "seed-across-ranks",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "shards cut from orders that differ by rank, or noise that is the same on every rank",
    .explanation = R"md(
## What it finds

* A shuffling `DistributedSampler` whose seed depends on the rank, the clock or chance.
* `random.shuffle` of a list of which each rank then takes its slice, in a program that gives no common seed.
* The other way round: one seed on every rank of a data-parallel program, no seed that depends on
  the rank anywhere, and noise that the training step draws (`torch.randn_like` in a loop that
  trains, or in what it calls).
* A training loop that seeds alike on all ranks in each round, in a function that gave each rank a seed of
  its own before.

## Why it hurts

The sampler shuffles all indices and takes every n-th, beginning with its rank. That deals out each sample
once only if all ranks shuffle alike. With seeds of their own each takes a random share: with two ranks a
quarter of the samples is read twice and a quarter not at all, in every epoch. Nothing fails, and the
epoch has the right length.

Noise that is the same on every rank makes the ranks repeat one another: all draw the same diffusion
steps, the same masks, the same latent, and eight ranks bring less than a batch of eight times the
size would.

## Wrong

```python
sampler = DistributedSampler(dataset, seed=args.seed + dist.get_rank())
```

## Right

```python
sampler = DistributedSampler(dataset, seed=args.seed)
```

## When it is silent

* The seed of the program is another one on each rank (`torch.manual_seed(seed + rank)`): augmentation and
  dropout should differ, and DDP sends the weights of rank 0 to all.
* No function comes both to the seed and to the noise, or the noise is drawn in a test.
* The function that draws handles gradients: what is added to gradients after they were reduced must be the
  same on all ranks.
* The sampler does not shuffle.
* The seed was sent to all ranks by a collective.

## Fix

There is none: the seed that was meant stands somewhere before.

## Proof

`allranks verify` makes the order of each rank with its seed, as `torch.randperm` does, deals the samples
out, and counts how many are taken twice and how many never.
)md",
    .check = Check,
    .scenario = Scenario::SampleShares};

}  // namespace allranks::rules
