#include <algorithm>

#include "analyzer/launch/job.h"
#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/lightning_sampling.h"
#include "rules/data/whole_sets.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::LoaderLoop;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR302 = "AR302";

class Loaders {
 public:
  Loaders(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), whole_(context), lightning_(context.program, context.knowledge, context.facts, context.index, context.loading, context.settings) {}

  void Run() {
    for (const LoaderLoop& loop : context_.loading.loops()) VisitLoop(loop);
    for (const KnownCall& sampler : context_.loading.made_samplers()) VisitSampler(sampler);
    for (const objects::LightningTrainer& trainer : lightning_.TrainersWithoutSampler()) VisitTrainer(trainer);
    for (const objects::LaunchLine& line : context_.launch.lines()) VisitCommand(line);
  }

 private:
  // Gradients of a wrapped model are made of the batches of a loader that gives every rank the same.
  void VisitLoop(const LoaderLoop& loop) {
    if (!context_.training.ReducesOn(loop)) return;
    if (!whole_.IsOfPlainOrder(loop.loader) || !whole_.IsInOneOrder(loop.loader, loop.iterable.function)) return;
    if (MayBePrepared(loop)) return;
    const std::vector<Site> made = MadeAt(loop);
    if (made.size() != 1 || IsDealtOutElse(loop.loader, made[0]) || IsSeenTwice(made[0])) return;
    Finding finding = FindingAt(
        context_, kAR302, Severity::Error, Confidence::Likely, made[0],
        {"the model's gradients are averaged over the ranks, but this loader has no distributed sampler: every "
         "rank reads the whole data set, so more ranks repeat the same work",
         {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no distributed sampler: every rank reads all samples", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"the wrapped model is trained here", {}});
    finding.help = {"pass `sampler=DistributedSampler(dataset)` in place of `shuffle`, and call `set_epoch` each epoch", {}};
    finding.witness = WitnessOf(loop.loader);
    AddFix(made[0], finding);
    sink_.push_back(std::move(finding));
  }

  // Lightning deals loaders out that have no sampler for it, unless the trainer is told not to.
  void VisitTrainer(const objects::LightningTrainer& trainer) {
    const objects::Told devices = lightning_.trainers().Of(trainer, "devices");
    const objects::Told nodes = lightning_.trainers().Of(trainer, "num_nodes");
    const bool is_alone = devices.number == 1 && (!nodes.is_given || nodes.number == 1);
    if (is_alone) return;
    const std::optional<objects::Told> told = lightning_.ToldNotTo(trainer);
    VisitLoadersOf(context_.program.funcs[trainer.function].module, trainer.function, *told);
  }

  // `python main.py fit --config ddp.yaml`, where the file turns it off.
  void VisitCommand(const objects::LaunchLine& line) {
    const ir::ModuleId module = ModuleOf(line.path);
    if (!module) return;
    for (const objects::GivenOption& option : line.options) {
      if (!option.value) continue;
      const launch::LaunchFile* config = context_.launches.FileNamed(line.path, *option.value);
      const launch::ConfigId told = config == nullptr ? launch::ConfigId() : TurnedOffIn(config->tree);
      if (told) VisitLoadersOf(module, {}, {.is_given = true, .number = {}, .is_off = true, .span = config->tree[told].span});
    }
  }

  ir::ModuleId ModuleOf(std::string_view path) const {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      if (!path.empty() && context_.program.infos[ir::ModuleId{m}].path == path) return ir::ModuleId{m};
    }
    return {};
  }

  // The arguments of the trainer in a configuration of Lightning's command line.
  static launch::ConfigId TurnedOffIn(const launch::ConfigTree& tree) {
    if (tree.empty()) return {};
    for (const char* key : {"trainer.use_distributed_sampler", "trainer.replace_sampler_ddp"}) {
      const launch::ConfigId told = tree.Find(tree.root(), key);
      if (told && tree.Boolean(told) == false && tree.Integer(tree.Find(tree.root(), "trainer.devices")) != 1) return told;
    }
    return {};
  }

  // `trainer`: the function that makes it; none: a library does.
  void VisitLoadersOf(ir::ModuleId module, FuncId trainer, const objects::Told& told) {
    const std::vector<ir::ModuleId> files = calls_.FilesOf(module);
    // Who turns it off mostly makes samplers himself, and hooks that a subclass replaces are never run.
    const bool deals_itself = std::ranges::any_of(context_.loading.made_samplers(), [&](const KnownCall& sampler) {
      return std::ranges::count(files, context_.program.funcs[sampler.function].module) > 0;
    });
    if (deals_itself) return;
    for (const KnownCall& loader : context_.loading.made_loaders()) {
      if (std::ranges::count(files, context_.program.funcs[loader.function].module) == 0) continue;
      const ValueId value = context_.loading.ValueOf(loader);
      if (!(lightning_.IsForTraining(loader) || (trainer && IsFitted(trainer, value)))) continue;
      if (!whole_.IsOfPlainOrder(value) || !whole_.IsInOneOrder(value, loader.function)) continue;
      if (IsSeenTwice({loader.function, loader.expr})) continue;
      Finding finding = FindingAt(context_, kAR302, Severity::Error, Confidence::Likely, Site{loader.function, loader.expr},
                                  {"this loader has no distributed sampler, and the trainer is told not to give it one: every rank reads the whole data set", {}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"no distributed sampler: every rank reads all samples", {}});
      if (told.span.file) AddLabel(finding, told.span, LabelRole::Why, {"turned off here", {}});
      if (told.is_setting) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingKept));
      finding.help = {"leave it to Lightning, or pass `sampler=DistributedSampler(dataset)`", {}};
      finding.witness = WitnessOf(value);
      sink_.push_back(std::move(finding));
    }
  }

  // `trainer.fit(model, loader)`
  bool IsFitted(FuncId function, ValueId loader) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (call.function != function || context_.program.text(call.entry->name) != objects::kLightningFit) return false;
      const ValueId given = context_.index.Arg(call, "train_dataloaders");
      const std::vector<ValueId> leaves = given ? context_.values.Leaves(given) : std::vector<ValueId>();
      return std::ranges::count(leaves, loader) > 0;
    });
  }

  // Where the loader of a loop may have been made, by the program that the loop is of.
  std::vector<Site> MadeAt(const LoaderLoop& loop) {
    std::vector<Site> made = context_.loading.MadeAt(loop.loader);
    std::erase_if(made, [&](const Site& site) { return !IsOfProgram(loop.iterable.function, site.function); });
    return made;
  }

  bool IsOfProgram(FuncId function, FuncId other) {
    return calls_.IsOneProgram(context_.program.funcs[function].module, context_.program.funcs[other].module);
  }

  // `if distributed: loader = DataLoader(data, sampler=DistributedSampler(data))`: this one is for where the test fails.
  bool IsDealtOutElse(ValueId loader, const Site& made) const {
    const ValueId data_set = context_.values.MadeWith(loader, "dataset");
    return data_set && std::ranges::any_of(context_.loading.made_loaders(), [&](const KnownCall& other) {
      if (other.function != made.function || other.expr == made.expr) return false;
      const ValueId value = context_.loading.ValueOf(other);
      return context_.values.MadeWith(value, "dataset") == data_set && context_.loading.IsDealtOut(value);
    });
  }

  // A variable that a nested function reads stands for the loader before and after a framework has prepared it.
  bool MayBePrepared(const LoaderLoop& loop) const {
    const ValueId iterable = context_.facts.value(context_.program.funcs[loop.iterable.function].module, loop.iterable.expr);
    return context_.values.AnyPart(iterable, [&](ValueId part) {
      const knowledge::ClassId known = context_.values.ClassOf(part);
      return known && context_.program.text(context_.knowledge[known].library) == "accelerate";
    });
  }

  bool IsSeenTwice(const Site& site) {
    const source::Span span = SpanOf(context_, site);
    if (std::ranges::count(seen_, span) > 0) return true;
    seen_.push_back(span);
    return false;
  }

  // A sampler that deals out a data set is made, but the loader of that data set gets another one.
  void VisitSampler(const KnownCall& sampler) {
    const ValueId dataset = context_.values.MadeWith(context_.loading.ValueOf(sampler), "dataset");
    if (!dataset) return;
    const KnownCall* without = nullptr;
    for (const KnownCall& loader : context_.loading.made_loaders()) {
      const ValueId value = context_.loading.ValueOf(loader);
      if (loader.function != sampler.function || context_.values.MadeWith(value, "dataset") != dataset) continue;
      if (context_.loading.IsDealtOut(value)) return;
      if (!context_.loading.SamplersOf(value).empty()) without = &loader;
    }
    if (without == nullptr || IsSeenTwice({without->function, without->expr})) return;
    Finding finding = FindingAt(
        context_, kAR302, Severity::Error, Confidence::Likely, Site{without->function, without->expr},
        {"this loader does not get the distributed sampler that was made for its data set: every rank reads all of it",
         {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"another sampler is passed", {}});
    AddLabel(finding, SpanOf(context_, {sampler.function, sampler.expr}), LabelRole::Why, {"this sampler is not used", {}});
    const ir::ExprId passed = context_.index.ArgExpr(*without, "sampler");
    if (passed) AddAssignments(*without, passed, finding);
    finding.help = {"pass the distributed sampler on, or make only one of the two", {}};
    finding.witness = WitnessOf(context_.loading.ValueOf(*without));
    sink_.push_back(std::move(finding));
  }

  // Where the variable got the sampler that is passed.
  void AddAssignments(const KnownCall& loader, ir::ExprId passed, Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[loader.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[passed].kind != ir::ExprKind::Name) return;
    source::Span last;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || stmt.begin > module[loader.expr].begin) continue;
      if (context_.index.FunctionOf(module_id, ir::StmtId{i}) != loader.function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool is_it = module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == ir::NameOf(module[passed]);
        if (is_it && (!last.file || stmt.begin > last.begin)) last = module.span(ir::StmtId{i});
      }
    }
    if (last.file) AddLabel(finding, last, LabelRole::Why, {"it is replaced here", {}});
  }

  // Ranks that shuffle do it alike: PyTorch's own generator starts with the same seed everywhere.
  witness::Witness WitnessOf(ValueId loader) const {
    constexpr uint32_t kSomeBatch = 8, kLargestBatch = 4096;
    const traces::World world = OneNode();
    witness::SampleShares scenario;
    scenario.batch = NumberWithin(context_, context_.values.MadeWith(loader, "batch_size"), 1, kLargestBatch, kSomeBatch);
    scenario.samples = SamplesFor(scenario.batch, world);
    if (context_.values.IsTrue(context_.values.MadeWith(loader, "shuffle"))) scenario.seeds.assign(world.size(), 0);
    return ScenarioWitness(world, witness::Effect::Semantic, std::move(scenario));
  }

  void AddFix(const Site& site, Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    for (const KnownCall& call : context_.loading.made_loaders()) {
      if (call.function != site.function || call.expr != site.expr) continue;
      const ir::ExprId dataset = context_.index.ArgExpr(call, "dataset");
      if (!dataset || !context_.loading.SamplersOf(context_.loading.ValueOf(call)).empty()) return;
      const std::string argument = "sampler=DistributedSampler(" + std::string(TextOf(context_, module_id, dataset)) + ")";
      const ir::ExprId shuffle = context_.index.ArgExpr(call, "shuffle");
      std::vector<findings::Edit> edits = {
          shuffle ? Replace(ArgumentSpan(context_, module_id, call.expr, shuffle), argument)
                  : AddArgument(context_, module_id, call.expr, argument)};
      for (findings::Edit& edit : EnsureImport(context_, module_id, "DistributedSampler",
                                               "from torch.utils.data.distributed import DistributedSampler")) {
        edits.push_back(std::move(edit));
      }
      finding.fixes.push_back(
          MakeFix("split the samples with a distributed sampler", Applicability::Unsafe, std::move(edits)));
    }
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  WholeSets whole_;
  objects::LightningSampling lightning_;
  std::vector<source::Span> seen_;
};

void CheckNoDistributedSampler(const Context& context, FindingSink& sink) { Loaders(context, sink).Run(); }

}  // namespace

extern const Rule NoDistributedSampler = {
    .code = kAR302,
    .name = "no-distributed-sampler",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "data-parallel training in which every rank reads the whole data set",
    .explanation = R"md(
## What it finds

A loop that computes gradients of a wrapped model (DDP, FSDP, DeepSpeed) from the batches of a
`DataLoader` without a sampler, or with a `RandomSampler` or `SequentialSampler` of torch, while neither
the data set nor the order of its samples knows the rank. And a loader that does not get the distributed
sampler which was made for its data set, because another one replaced it on the way. Also a loader for
Lightning's training whose trainer is told not to deal it out: by `use_distributed_sampler=False` or
`replace_sampler_ddp=False`, by such a key in a file of settings that the program reads
(`Trainer(**cfg.trainer)`), or by one below `trainer` in the configuration that the command of the
program names.

## Why it hurts

Every rank computes the same, or nearly the same, batches; averaging their gradients changes nothing.
Eight GPUs do the work of one, eight times over: an epoch takes as long as before and the loss curve
looks fine, so it may stay unnoticed for months. In an evaluation each sample counts once a rank.

## Wrong

```python
model = DDP(model)
loader = DataLoader(dataset, batch_size=32, shuffle=True)
for batch in loader:
    model(batch).backward()
```

## Right

```python
model = DDP(model)
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
for batch in loader:
    model(batch).backward()
```

## When it is silent

* The data set deals itself out: it is made with the rank, asks for it, or is an iterable data set.
* Each rank shuffles in an order of its own: a seed or generator that depends on the rank.
* A framework prepares the loader (Accelerate, Fabric, the Trainer of Transformers, Lightning unless it is
  told not to).
* The distributed sampler goes into a batch sampler, also one of the project: an object that is made with it
  goes over it.
* Lightning is told to make no sampler, and the program makes distributed samplers itself.
* The same function makes another loader of the data set, with a distributed sampler: this one is for a
  single process.
* Nothing is trained in the loop, and no sampler was made for the data set.

## Fix

`--unsafe-fixes` passes a `DistributedSampler` in place of `shuffle`. It is not safe, as each rank then
sees a part of the data and an epoch has fewer steps; `set_epoch` is AR301's business.

## Proof

`allranks verify` lets each rank take the samples that its loader gives it, and counts: how often each is
taken in an epoch, and how many different ones a step of all ranks has.
)md",
    .check = CheckNoDistributedSampler,
    .scenario = Scenario::SampleShares,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
