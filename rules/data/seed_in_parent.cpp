#include <algorithm>
#include <optional>
#include <vector>

#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/process_starts.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::ProcessStart;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR311 = "AR311";

class Seeds {
 public:
  Seeds(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), starts_(context.program, context.facts, context.index) {}

  void Run() {
    if (starts_.starts().empty()) return;
    chances_ = Chances();
    for (const ProcessStart& start : starts_.starts()) {
      if (!BeginsAnew(start) || IsSeeded(start.started) || !HangsOnChance(start.started)) continue;
      const std::optional<Site> seed = SeedBefore(start.site);
      if (seed) Report(*seed, start);
    }
  }

 private:
  // Started with a fresh interpreter, which knows nothing of what this one drew: so does `spawn`, while a fork goes on
  // from the same state.
  bool BeginsAnew(const ProcessStart& start) const {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.function != start.site.function || call.expr != start.site.expr) continue;
      const ValueId method = context_.index.Arg(call, "start_method");
      const bool is_spawn = !method || context_.values.Str(method) == "spawn";
      return call.entry->Has(knowledge::Role::StartsWithIndex) && is_spawn;
    }
    return false;
  }

  // Whether what a started function runs seeds anything, or calls something that nobody has read and that may.
  bool IsSeeded(FuncId started) const {
    return std::ranges::any_of(context_.index.RunBy({started}), [&](FuncId function) {
      const ir::Module& module = context_.program.module_of(function);
      return std::ranges::any_of(context_.facts.functions[function].calls, [&](const auto& call) {
        const auto& [expr, fact] = call;
        if (fact.kind == variation::CallKind::Known) return context_.knowledge[fact.entry].Has(knowledge::Role::Seed);
        return !fact.function && IsNamedSeed(module, expr);
      });
    });
  }

  // Whether it trains, makes weights, or draws random numbers: an evaluation of fixed weights gives the same each time.
  bool HangsOnChance(FuncId started) const {
    if (context_.training.Trains(started)) return true;
    const std::vector<FuncId> run = context_.index.RunBy({started});
    return std::ranges::any_of(chances_, [&](const Site& site) { return std::ranges::binary_search(run, site.function); });
  }

  // Whether the parent draws numbers or makes weights of its own behind the seed, in the same function.
  bool ServesItself(const Site& seeding) const {
    const ir::Module& module = context_.program.module_of(seeding.function);
    return std::ranges::any_of(chances_, [&](const Site& site) {
      return site.function == seeding.function && module[site.expr].begin >= module[seeding.expr].end;
    });
  }

  // Where random numbers are drawn, or weights are made: `nn.Linear(8, 2)`.
  std::vector<Site> Chances() const {
    std::vector<Site> chances;
    for (const KnownCall& call : context_.index.known_calls()) {
      const bool draws = call.entry->Has(knowledge::Role::DrawRandom) || call.entry->Has(knowledge::Role::DrawNoise);
      if (draws) chances.push_back({call.function, call.expr});
    }
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module{m};
      for (const ir::ExprId call : context_.index.ExprsOf(module, ir::ExprKind::Call)) {
        if (IsLayer(context_.facts.value(module, call))) chances.push_back({FunctionAround(context_, module, call), call});
      }
    }
    return chances;
  }

  bool IsLayer(ValueId made) const {
    if (!made || context_.facts.values_store[made].kind != variation::ValueKind::Object) return false;
    const knowledge::ClassId known = context_.knowledge.FindClass(context_.facts.values_store[made].name());
    return known && context_.knowledge[known].is_module && context_.knowledge[known].has_parameters;
  }

  bool IsNamedSeed(const ir::Module& module, ir::ExprId call) const {
    if (module[call].kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    const base::NameId name = callee.kind == ir::ExprKind::Name        ? ir::NameOf(callee)
                              : callee.kind == ir::ExprKind::Attribute ? ir::AttrOf(callee)
                                                                       : base::NameId::None();
    return name && context_.program.text(name).find("seed") != std::string_view::npos;
  }

  // The first call that seeds the parent before it starts the others, in a function that comes to both.
  std::optional<Site> SeedBefore(const Site& start) const {
    const std::vector<Site> ways = context_.index.WaysTo(start);
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::Seed) || starts_.IsStarted(call.function)) continue;
      for (const Site& seeding : context_.index.WaysTo({call.function, call.expr})) {
        const bool is_before = std::ranges::any_of(ways, [&](const Site& site) {
          const ir::Module& module = context_.program.module_of(site.function);
          return site.function == seeding.function && module[seeding.expr].end <= module[site.expr].begin;
        });
        if (is_before && !IsRunByImport(seeding) && !ServesItself(seeding)) return Site{call.function, call.expr};
      }
    }
    return std::nullopt;
  }

  // A process that is spawned imports the script: what stands there outside of functions is run by it too, but for what only the start runs.
  bool IsRunByImport(const Site& site) const {
    const binding::Func& around = context_.program.funcs[site.function];
    return around.function == ir::kTopLevel && std::ranges::none_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
             return objects::AsksForMain(*context_.program.names, context_.program.modules[around.module], guard.test);
           });
  }

  // `if args.multiprocessing_distributed:`, which no command of the project asks for: these start each rank by themselves.
  bool IsStartedByOption(const Site& start) const {
    return std::ranges::any_of(context_.guards.Of(start), [&](const objects::Guard& guard) {
      const ir::ModuleId module = context_.program.funcs[guard.function].module;
      return guard.holds && context_.options.IsNeverGiven(module, context_.facts.value(module, guard.test));
    });
  }

  void Report(const Site& seed, const ProcessStart& start) {
    const std::string name = context_.program.FunctionName(start.started);
    Finding finding = FindingAt(context_, kAR311, Severity::Warning, Confidence::Likely, seed,
                                {"this seeds the process that starts the ranks, not the ranks: `{}` runs in new "
                                 "processes, which draw other numbers each time",
                                 {name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"before there are any ranks", {}});
    AddLabel(finding, SpanOf(context_, start.site), LabelRole::Call, {"each rank starts as a new process here", {}});
    if (IsStartedByOption(start.site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OptionSet));
    finding.help = {"seed at the beginning of `{}`", {name}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::ProcessStarts starts_;
  std::vector<Site> chances_;
};

void CheckSeedInParent(const Context& context, FindingSink& sink) { Seeds(context, sink).Run(); }

}  // namespace

extern const Rule SeedInParent = {
    .code = kAR311,
    .name = "seed-in-parent",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "seed that is set before the ranks are spawned, and in none of them",
    .explanation = R"md(
## What it finds

`torch.manual_seed` and its like in the process that calls `mp.spawn`, where neither the started function nor
anything that it calls seeds anything.

## Why it hurts

`spawn` starts each rank with a fresh interpreter: it imports the script anew and knows nothing of the
generators of its parent. The option `--seed` is accepted and has no effect: no run can be repeated, and
nothing says so.

## Wrong

```python
def main():
    torch.manual_seed(args.seed)
    mp.spawn(worker, args=(args,), nprocs=8)
```

## Right

```python
def worker(rank, args):
    torch.manual_seed(args.seed + rank)
    ...
```

## When it is silent

* The started function seeds, itself or through helpers, or calls something unknown whose name
  mentions seeds.
* The parent draws random numbers or makes weights itself behind the seed.
* The started function neither trains nor makes weights nor draws a random number.
* The processes are forked: they go on from the state of their parent.
* A launcher starts the ranks, so that each of them runs the whole script. Where the program spawns them only
  by an option that no command of the project gives (`--multiprocessing-distributed`), the finding is
  *possible*.

## Fix

There is none: whether all ranks shall draw the same numbers is not known.

## Proof

There is nothing to replay: it shows between two runs, not between ranks.
)md",
    .check = CheckSeedInParent};

}  // namespace allranks::rules
