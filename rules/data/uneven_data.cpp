#include <algorithm>
#include <optional>

#include "analyzer/ir/bindings.h"
#include "rules/counted_loops.h"
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

constexpr std::string_view kAR303 = "AR303";
// From there on, or inside it, a rank that is out of data stands in for what the others still issue.
constexpr std::string_view kStandIns[] = {"torch.distributed.algorithms.join.Join.__init__", "torch.nn.parallel.DistributedDataParallel.join",
                                          "accelerate.Accelerator.join_uneven_inputs", "horovod.torch.join"};

// Every n-th of the items, beginning with the rank's own: as written, and what it is.
struct Share {
  Site site;
  ValueId value;
  ir::ExprId start, stop, step;
  ir::ExprId whole;  // what is cut up, where that is an expression of its own
};

class Shares {
 public:
  Shares(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module{m};
      for (const ir::ExprKind kind : {ir::ExprKind::Subscript, ir::ExprKind::Call}) {
        for (const ir::ExprId id : context_.index.ExprsOf(module, kind)) {
          const std::optional<Share> share = ShareAt(module, id);
          if (share && IsUneven(*share) && !IsChecked(*share) && !IsJoined(module)) Visit(*share);
        }
      }
    }
  }

 private:
  // Ranks that run out of data stand in for themselves: `with Join([model])`, `with model.join()`.
  bool IsJoined(ir::ModuleId module) {
    return calls_.FindIf(module, [&](const KnownCall& call) { return std::ranges::count(kStandIns, context_.program.text(call.entry->name)) > 0; }) != nullptr;
  }

  ValueId ValueOf(ir::ModuleId module, ir::ExprId expr) const { return context_.facts.value(module, expr); }

  // `items[rank::world_size]`, `range(rank, n, world_size)`.
  std::optional<Share> ShareAt(ir::ModuleId module_id, ir::ExprId id) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[id];
    Share share;
    if (expr.kind == ir::ExprKind::Subscript && module[ir::IndexOf(expr)].kind == ir::ExprKind::Slice) {
      const ir::ExprList parts = ir::Items(module, module[ir::IndexOf(expr)]);
      share = {.site = {}, .value = {}, .start = parts[0], .stop = parts[1], .step = parts[2], .whole = ir::ObjectOf(expr)};
    } else if (expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) >= 3 && IsRange(module_id, expr)) {
      share = {.site = {},
               .value = {},
               .start = ir::ArgAt(module, expr, 0).value,
               .stop = ir::ArgAt(module, expr, 1).value,
               .step = ir::ArgAt(module, expr, 2).value,
               .whole = {}};
    }
    if (!share.start || !share.step) return std::nullopt;
    share.site = {FunctionAround(context_, module_id, id), id};
    share.value = ValueOf(module_id, id);
    if (!share.site.function || !share.value) return std::nullopt;
    return share;
  }

  bool IsRange(ir::ModuleId module_id, const ir::Expr& call) const {
    const std::string_view name = context_.values.External(ValueOf(module_id, ir::CalleeOf(call)));
    return name == "builtins.range" || name == "numpy.arange" || name == "torch.arange";
  }

  // It starts at the rank and steps by the number of ranks, and nothing made the whole a multiple of that.
  bool IsUneven(const Share& share) const {
    const ir::ModuleId module = context_.program.funcs[share.site.function].module;
    const ValueId start = ValueOf(module, share.start);
    const ValueId step = ValueOf(module, share.step);
    if (!start || !step || !StepsBySize(step) || !CountsRanks(start)) return false;
    // `items[rank:end:world_size]`: an end that was worked out, and is not where the items end by themselves.
    if (share.whole && share.stop) return false;
    const ir::ExprId bound = share.whole ? share.whole : share.stop;
    const ValueId value = bound ? ValueOf(module, bound) : ValueId::None();
    return !value || !MentionsSize(value);
  }

  // `assert len(items) % world_size == 0` before, or `if len(items) % world_size: raise`.
  bool IsChecked(const Share& share) const {
    const ir::ModuleId module = context_.program.funcs[share.site.function].module;
    std::vector<objects::Guard> tests = context_.guards.Of(share.site);
    const std::vector<objects::Guard> asserted = context_.guards.AssertionsBefore(share.site.function, context_.index.StatementOf(share.site));
    tests.insert(tests.end(), asserted.begin(), asserted.end());
    return std::ranges::any_of(tests, [&](const objects::Guard& test) {
      const ValueId asked = ValueOf(module, test.test);
      return asked && context_.values.AnyPart(asked, [&](ValueId part) {
        const variation::Value& node = context_.facts.values_store[part];
        if (node.kind != ValueKind::Binary || node.binary_op() != ir::BinaryOp::Mod) return false;
        const variation::Operands operands = context_.facts.values_store.OperandsOf(part);
        return MentionsSize(operands.right) && !MentionsSize(operands.left);
      });
    });
  }

  bool CountsRanks(ValueId start) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const std::optional<int64_t> first = context_.values.OnRank(start, world, 0);
    const std::optional<int64_t> second = context_.values.OnRank(start, world, 1);
    return first && second && *second == *first + 1;
  }

  bool StepsBySize(ValueId step) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const std::optional<int64_t> number = context_.values.OnRank(step, world, 0);
    return MentionsSize(step) && number && *number > 1;
  }

  bool MentionsSize(ValueId value) const {
    using knowledge::Coordinate;
    return context_.values.Mentions(value, Coordinate::WorldSize) || context_.values.Mentions(value, Coordinate::GroupSize) ||
           context_.values.Mentions(value, Coordinate::AxisSize);
  }

  void Visit(const Share& share) {
    const KnownCall* loader = LoaderOf(share);
    if (loader == nullptr) return;
    const std::optional<LoaderLoop> loop = CommunicatingLoop(context_.loading.ValueOf(*loader));
    if (!loop || std::ranges::count(seen_, SpanOf(context_, share.site)) > 0) return;
    seen_.push_back(SpanOf(context_, share.site));
    Report(share, *loader, *loop);
  }

  // The loader whose samples the share decides.
  const KnownCall* LoaderOf(const Share& share) const {
    for (const KnownCall& loader : context_.loading.made_loaders()) {
      const ValueId made = context_.loading.ValueOf(loader);
      for (const std::string_view param : {"dataset", "sampler", "batch_sampler"}) {
        const ValueId value = context_.values.MadeWith(made, param);
        if (value && (Holds(value, share.value) || DealsOut(value, share))) return &loader;
      }
    }
    return nullptr;
  }

  bool Holds(ValueId value, ValueId share) const {
    return context_.values.AnyPart(value, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (part == share || (node.kind == ValueKind::Derived && context_.values.MayBeSame(part, share))) return true;
      if (node.kind != ValueKind::Instance) return false;
      const auto args = context_.index.MadeWith(node.class_id());
      return std::ranges::find(args, share) != args.end();
    });
  }

  // A sampler or data set of the project in whose methods the share is cut.
  bool DealsOut(ValueId value, const Share& share) const {
    const binding::ClassId owner = context_.program.funcs[share.site.function].owner;
    if (!owner) return false;
    return context_.values.AnyPart(value, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (node.kind != ValueKind::Instance) return false;
      const auto& mro = context_.program.classes[node.class_id()].mro;
      return std::ranges::find(mro, owner) != mro.end();
    });
  }

  std::optional<LoaderLoop> CommunicatingLoop(ValueId loader) const {
    for (const LoaderLoop& loop : context_.loading.loops()) {
      const ir::ModuleId module = context_.program.funcs[loop.iterable.function].module;
      if (loop.by_next || EndsByCount(context_, module, loop.loop) || HasAgreedRounds(loop) || BreaksByAgreement(module, loop.loop)) continue;
      if (context_.values.MayBeSame(loop.loader, loader) && context_.training.Communicates(module, loop.loop)) return loop;
    }
    return std::nullopt;
  }

  // The ranks agreed on how many rounds there are, by the least of their lengths: `islice(loader, least)`, `if i >= least: break`.
  bool HasAgreedRounds(const LoaderLoop& loop) const {
    const ir::Module& module = context_.program.module_of(loop.iterable.function);
    if (module[loop.loop].kind != ir::StmtKind::For) return false;
    return context_.facts.values_store.IsAgreed(context_.facts.trip_count(loop.iterable.function, ir::AssignedOf(module[loop.loop])));
  }

  // `all_reduce(stop); if stop > 0: break`: in each round the ranks are told whether one of them is through.
  bool BreaksByAgreement(ir::ModuleId module_id, ir::StmtId loop) const {
    const ir::Module& module = context_.program.modules[module_id];
    bool breaks = false;
    ir::ForEachStmtIn(module, ir::BodyOf(module[loop]), [&](const ir::Stmt& stmt) {
      if (stmt.kind != ir::StmtKind::If) return;
      const auto then = module.statements(ir::BodyOf(stmt));
      const ValueId test = context_.facts.value(module_id, ir::ValueOf(stmt));
      const bool leaves = !then.empty() && module[then.back()].kind == ir::StmtKind::Break;
      breaks = breaks || (leaves && test && context_.values.AnyPart(test, [&](ValueId part) { return context_.values.HasFlag(part, variation::kReduced); }));
    });
    return breaks;
  }

  void Report(const Share& share, const KnownCall& loader, const LoaderLoop& loop) {
    Finding finding = FindingAt(
        context_, kAR303, Severity::Error, Confidence::Likely, share.site,
        {"`{}` gives some ranks one more item: unless the total divides evenly, these ranks hang in a "
         "step that the others do not make, as the loop over `{}` communicates in each",
         {Quoted(context_, share.site), Quoted(context_, loop.iterable)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"its length differs between ranks", {}});
    AddLabel(finding, SpanOf(context_, {loader.function, loader.expr}), LabelRole::Note, {"it decides what is loaded here", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Victim, {"each step of this loop communicates", {}});
    finding.help = {"pad or cut the data to a multiple of the number of ranks, as `DistributedSampler` does, or use `Join`", {}};
    finding.witness = WitnessOf(loader, loop);
    sink_.push_back(std::move(finding));
  }

  // The least data whose last item makes one more batch on the first rank, after one that all ranks make.
  witness::Witness WitnessOf(const KnownCall& loader, const LoaderLoop& loop) const {
    constexpr uint32_t kSomeBatch = 4, kLargestBatch = 4096;
    const ValueId drop_last = context_.index.Arg(loader, "drop_last");
    const uint32_t batch = NumberWithin(context_, context_.index.Arg(loader, "batch_size"), 1, kLargestBatch, kSomeBatch);
    const traces::World world = OneNode();
    witness::UnevenBatches scenario;
    scenario.drop_last = drop_last && context_.values.IsTrue(drop_last);
    scenario.batch.assign(world.size(), batch);
    scenario.samples.assign(world.size(), scenario.drop_last ? 2 * batch - 1 : batch);
    ++scenario.samples[0];
    witness::Witness witness = ScenarioWitness(world, witness::Effect::Deadlock, std::move(scenario));
    AddOperation(context_, "all_reduce", "step of the loop", SpanOf(context_, loop.iterable), &witness);
    return witness;
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  std::vector<source::Span> seen_;
};

void CheckUnevenData(const Context& context, FindingSink& sink) { Shares(context, sink).Run(); }

}  // namespace

extern const Rule UnevenData = {
    .code = kAR303,
    .name = "uneven-data",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "share of the data that is one item longer on some ranks, under a loop that communicates",
    .explanation = R"md(
## What it finds

Every n-th item, beginning with the rank's own (`indices[rank::world_size]`,
`range(rank, n, world_size)`), as data set or sampler of a loader, directly, through a helper, or in a
sampler or data set class of the project, where a loop over the loader communicates in each step and
nothing makes the number of items a multiple of the number of ranks.

## Why it hurts

With 1,001 items on 4 ranks, rank 0 gets 251 and the others 250. If the last item makes one more batch,
rank 0 issues one more `all_reduce` than the others. It waits there, while they have gone on: a hang at
the end of an epoch, or, worse, an operation that meets the first one of whatever comes next. It
depends on the size of the data set, so it may show up years after the code was written.

## Wrong

```python
indices = np.arange(dist.get_rank(), len(dataset), dist.get_world_size())
loader = DataLoader(dataset, batch_size=32, sampler=SubsetRandomSampler(indices))
for batch in loader:
    accuracy = evaluate(model, batch)
    dist.all_reduce(accuracy)
```

## Right

```python
sampler = DistributedSampler(dataset, shuffle=False)     # pads to equal shares
loader = DataLoader(dataset, batch_size=32, sampler=sampler)
for batch in loader:
    accuracy = evaluate(model, batch)
    dist.all_reduce(accuracy)
```

## When it is silent

* The whole was computed from the number of ranks, padded or cut; or the share of a list ends where it is
  told to.
* A test before has the program end if something is no multiple of the number of ranks:
  `assert len(items) % world_size == 0`.
* The loop communicates nothing; one reduction after it is fine.
* `Join` or `join_uneven_inputs` lets ranks that are out of data stand in.
* The ranks agreed on a number of rounds, and the loop ends there: `if i >= least.item(): break`,
  `islice(loader, least.item())`; or they add up a flag in each round, and leave by it:
  `all_reduce(stop); if stop > 0: break`.
* One count of steps ends the loop, and the `while` around it, on all ranks alike.
* A `for` straight over the share is AR105's business.

## Fix

Use a `DistributedSampler`, which repeats some samples or, with `drop_last=True`, leaves some out.
In an evaluation that must count each sample once, let each rank sum up by itself and reduce once
after the loop.

## Proof

`allranks verify` expands the shares of the ranks into their sequences of batches and replays these.
)md",
    .check = CheckUnevenData,
    .scenario = Scenario::UnevenBatches};

}  // namespace allranks::rules
