#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/ir/bindings.h"
#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/lightning_trainers.h"
#include "analyzer/traces/conditions.h"
#include "analyzer/traces/counts.h"
#include "rules/collectives/difference_finding.h"
#include "rules/collectives/gradients_left_out.h"
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR104 = "AR104";

using objects::Site;

findings::Text Message(const Context& context, const traces::Difference& difference) {
  const std::string op = OpText(context, difference, difference.culprit);
  const std::string varies = VariesText(difference.axes);
  if (difference.exit.span.file) {
    return {
        "{} {}: this `{}` skips {}, where the other ranks wait forever",
        {ConditionText(context, difference), varies, ExitText(context, difference), op}};
  }
  if (difference.witness.world > 0 && difference.witness.effect == witness::Effect::Corruption) {
    return {"{} {}: ranks issue different operations at {}, and end with wrong data", {ConditionText(context, difference), varies, op}};
  }
  return {"{} {}: a rank that reaches {} waits forever for those that do not{}",
          {ConditionText(context, difference), varies, op, VictimText(context, difference)}};
}

// `os.path.isfile`, as the code calls it; what else depends on files is quoted whole.
std::string NameOfLook(const Context& context, const Site& look) {
  const ir::Module& module = context.program.module_of(look.function);
  const variation::CallFact* call = context.facts.call(look.function, look.expr);
  const bool looks = module[look.expr].kind == ir::ExprKind::Call && call != nullptr && call->kind == variation::CallKind::Known &&
                     context.knowledge[call->entry].yield.axes.has(knowledge::Axis::Files);
  return Quoted(context, {look.function, looks ? ir::CalleeOf(module[look.expr]) : look.expr});
}

Finding FindingOfLook(const Context& context, const FileLook& look) {
  constexpr size_t kMostNamed = 4;
  const traces::Difference& first = *look.differences.front();
  Finding finding = FindingAt(context, kAR104, Severity::Info, Confidence::Likely, look.site,
                              {"{} depends on `{}`: each rank checks its own disk, and where the answers differ some ranks "
                               "wait for others that do not come",
                               {OpNameOf(context, first.culprit), NameOfLook(context, look.site)}});
  findings::Assume(finding, first.assumptions | findings::Assumptions::Of(findings::Assumption::FilesUnwritten));
  AddLabel(finding, finding.span, LabelRole::Primary, {"ranks differ here if the disk is not shared, or if a "
                                                       "file appears between two checks", {}});
  for (size_t i = 0; i < look.differences.size() && i < kMostNamed; ++i) {
    const traces::Difference& difference = *look.differences[i];
    if (difference.culprit.span.file) AddLabel(finding, difference.culprit.span, LabelRole::Note, {"reached or not by this answer", {}});
  }
  if (look.differences.size() > kMostNamed) {
    finding.labels.back().text = {"reached or not by this answer, like {} more", {std::to_string(look.differences.size() - kMostNamed)}};
  }
  finding.help = {"check on rank 0 and broadcast the answer, or keep these files on a disk that all nodes share", {}};
  return finding;
}

// `control.should_training_stop = True` on one rank: an attribute of a library's object by which each rank decides.
class Decisions {
 public:
  Decisions(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), trainers_(context.program, context.knowledge, context.facts, context.index, context.settings) {}

  void Run() {
    if (AreAllOfOneDevice()) return;
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        if (module[ir::StmtId{i}].kind == ir::StmtKind::Assign) Visit(ir::ModuleId{m}, ir::StmtId{i});
      }
    }
  }

 private:
  void Visit(ir::ModuleId module_id, ir::StmtId stmt) {
    const ir::Module& module = context_.program.modules[module_id];
    const auto targets = ir::TargetsOf(module, module[stmt]);
    if (targets.size() != 1 || !MustAgree(module_id, targets[0])) return;
    const Site site{context_.index.FunctionOf(module_id, stmt), ir::AssignedOf(module[stmt])};
    const variation::ValueId value = context_.facts.value(module_id, site.expr);
    if (Differs(value)) return Report(site, targets[0], site);
    std::vector<Site> ways = {site};
    const auto callers = context_.index.CallersOf(site.function);
    ways.insert(ways.end(), callers.begin(), callers.end());
    for (const Site& way : ways) {
      for (const objects::Guard& guard : context_.guards.Of(way)) {
        const variation::ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
        if (Differs(test)) return Report(site, targets[0], {guard.function, guard.test});
      }
    }
  }

  // `rank != -1` is made of the rank, and true on each; the number of a batch is none of what it holds.
  bool Differs(variation::ValueId value) const {
    const variation::ValueStore& values = context_.facts.values_store;
    if (!value || values.axes(value).empty() || traces::IsSameOnAllRanks(values, context_.knowledge, OneNode(), value)) return false;
    return values.axes(value) != knowledge::Axes::Of(knowledge::Axis::Data) || traces::ReadsContents(values, context_.knowledge, value);
  }

  // Of Lightning, wherever one is made.
  bool AreAllOfOneDevice() const {
    const auto is_of_one = [&](const objects::LightningTrainer& trainer) {
      const objects::Told nodes = trainers_.Of(trainer, "num_nodes");
      return trainers_.Of(trainer, "devices").number == 1 && (!nodes.is_given || nodes.number == 1);
    };
    return !trainers_.all().empty() && std::ranges::all_of(trainers_.all(), is_of_one);
  }

  bool MustAgree(ir::ModuleId module_id, ir::ExprId target) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (module[target].kind != ir::ExprKind::Attribute) return false;
    const variation::ValueId object = context_.facts.value(module_id, ir::ObjectOf(module[target]));
    return std::ranges::any_of(context_.values.Leaves(object), [&](variation::ValueId leaf) {
      const knowledge::ClassId owner = context_.values.ClassOf(leaf);
      const knowledge::EntryId entry = owner ? context_.knowledge.FindMember(owner, ir::AttrOf(module[target])) : knowledge::EntryId();
      return entry && context_.knowledge[entry].Has(knowledge::Role::MustAgree);
    });
  }

  void Report(const Site& site, ir::ExprId target, const Site& why) {
    const variation::ValueId value = context_.facts.value(context_.program.funcs[why.function].module, why.expr);
    const Site stored{site.function, target};
    Finding finding = FindingAt(context_, kAR104, Severity::Error, Confidence::Likely, stored,
                                {"`{}` is set by `{}`: that {}, so ranks can decide differently, and then wait for each other forever",
                                 {Quoted(context_, stored), Quoted(context_, why), VariesText(context_.facts.values_store.axes(value))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"each rank decides for itself", {}});
    AddReasons(context_, why, finding);
    finding.help = {"let the ranks agree first: all-reduce or broadcast the value that decides", {}};
    const variation::ValueStore& values = context_.facts.values_store;
    if (traces::HangsOnOneOfStores(values, value) || traces::IsOfSomeObject(values, value)) {
      findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SeveralStores));
    }
    finding.is_in_preview = true;
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::LightningTrainers trainers_;
};

// Differences that go back to one place, in the order in which they are found. What a rank finds around it (a failure, the
// clock) is agreed upon once, where it is found; what it finds in its own batches is a matter of each test.
using OneSource = std::vector<const traces::Difference*>;

bool IsFoundAround(const traces::Difference& difference) {
  return !difference.axes.empty() && Without(difference.axes, knowledge::kSurroundings).empty();
}

source::Span SourceOf(const Context& context, const traces::Difference& difference) {
  if (!IsFoundAround(difference) || !difference.condition_expr) return difference.condition;
  return OriginOf(context, {difference.condition_function, difference.condition_expr}).value_or(difference.condition);
}

// The statement at a place of some file, and its module.
std::pair<ir::ModuleId, ir::StmtId> StatementAt(const Context& context, source::Span span) {
  for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
    const ir::ModuleId module{m};
    if (context.program.modules[module].file == span.file) return {module, context.index.StatementAt(module, span.begin)};
  }
  return {};
}

// The test of a rank's own data that a statement stands under: `if score > best: patience = 3`; none if there is none.
ir::ExprId TestAround(const Context& context, ir::ModuleId module_id, ir::StmtId stmt) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  for (ir::StmtId at = tree.Parent(stmt); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::If) continue;
    const ir::ExprId test = ir::ValueOf(module[at]);
    const variation::ValueId value = context.facts.value(module_id, test);
    if (value && context.facts.values_store.axes(value).has(knowledge::Axis::Data)) return test;
  }
  return {};
}

// The function in which what is tested begins to differ: by what it is, or by what decides it.
variation::FuncId FunctionOfOrigin(const Context& context, const traces::Difference& difference) {
  constexpr int kMostTests = 4;
  Site tested{difference.condition_function, difference.condition_expr};
  for (int i = 0; i < kMostTests && tested.expr; ++i) {
    const std::optional<source::Span> origin = OriginOf(context, tested);
    const auto [module, stmt] = origin ? StatementAt(context, *origin) : std::pair<ir::ModuleId, ir::StmtId>();
    if (!stmt) break;
    tested.function = context.index.FunctionOf(module, stmt);
    tested.expr = TestAround(context, module, stmt);
  }
  return tested.function;
}

// A loader is dealt out by its sampler, and may be by one of which nothing is known.
bool MayBeDealtOut(const Context& context, variation::ValueId loader) {
  return context.loading.IsDealtOut(loader) || std::ranges::any_of(context.loading.SamplersOf(loader), [&](variation::ValueId sampler) {
           const variation::ValueKind kind = context.values[sampler].kind;
           return kind == variation::ValueKind::Unknown || kind == variation::ValueKind::Param || kind == variation::ValueKind::Derived;
         });
}

// `logger.log_every(loader)`, or a generator that goes over a loader which it holds.
bool HandsOnShare(const Context& context, variation::ValueId generator) {
  const auto is_share = [&](variation::ValueId part) { return context.loading.IsLoader(part) && MayBeDealtOut(context, part); };
  const variation::FuncId function = context.values[generator].function();
  return context.values.AnyPart(generator, is_share) || std::ranges::any_of(context.loading.loops(), [&](const objects::LoaderLoop& loop) {
           return loop.iterable.function == function && loop.hands_on && loop.way.empty() && !loop.caller.function && is_share(loop.loader);
         });
}

// `for batch in reader.batches("dev")`, a generator of the project that hands on no rank's share, whatever counts it or shows its progress.
bool GoesOverGenerator(const Context& context, variation::FuncId function) {
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  bool goes = false;
  bool is_share = false;
  ir::ForEachStmtIn(module, context.program.function(function).body, [&](const ir::Stmt& stmt) {
    const variation::ValueId iterable = stmt.kind == ir::StmtKind::For ? context.facts.value(module_id, ir::AssignedOf(stmt)) : variation::ValueId();
    if (!iterable) return;
    context.values.AnyPart(iterable, [&](variation::ValueId part) {
      if (!context.values[part].is_generator()) return false;
      goes = true;
      is_share = is_share || HandsOnShare(context, part);
      return is_share;
    });
  });
  return goes && !is_share;
}

// What is tested comes from a function that evaluates what a generator of the project reads: no sampler or framework deals that out, and whole
// evaluations on each rank come to the same result.
bool IsOfWholeEvaluation(const Context& context, const traces::Difference& difference) {
  if (!difference.axes.has(knowledge::Axis::Data)) return false;
  const variation::FuncId function = FunctionOfOrigin(context, difference);
  if (!function) return false;
  const bool evaluates = std::ranges::any_of(context.index.known_calls(), [&](const objects::KnownCall& call) {
    return call.function == function && objects::AreGradientsOff(context.program, context.values, context.facts, context.index, {call.function, call.expr});
  });
  return evaluates && GoesOverGenerator(context, function);
}

std::vector<OneSource> BySource(const Context& context) {
  std::vector<std::pair<source::Span, OneSource>> found;
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::DataBranch) continue;
    const source::Span source = SourceOf(context, difference);
    const auto known = std::ranges::find_if(found, [&](const auto& each) {
      return each.first == source && IsFoundAround(difference) && IsFoundAround(*each.second.front());
    });
    if (known != found.end()) known->second.push_back(&difference);
    else found.push_back({source, {&difference}});
  }
  std::vector<OneSource> sources;
  for (auto& [source, differences] : found) sources.push_back(std::move(differences));
  return sources;
}

Finding FindingOfSource(const Context& context, const OneSource& differences) {
  constexpr size_t kMostNamed = 4;
  const traces::Difference& first = *differences.front();
  findings::Text help = {"make all ranks take the same branch: all-reduce or broadcast the tested value ({}), and branch on the result",
                         {ConditionText(context, first)}};
  Finding finding = FindingOf(context, first, kAR104, Message(context, first), std::move(help));
  if (IsOfWholeEvaluation(context, first)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::EvaluationDiffers));
  for (size_t i = 1; i < std::min(differences.size(), kMostNamed); ++i) {
    if (differences[i]->condition.file) AddLabel(finding, differences[i]->condition, LabelRole::Note, {"decided by the same", {}});
  }
  finding.is_in_preview = BelongsInPreview(context, FunctionOf(context, first), finding);
  return finding;
}

void CheckDataDependentCollective(const Context& context, FindingSink& sink) {
  Decisions(context, sink).Run();
  CheckGradientsLeftOut(context, kAR104, sink);
  for (const OneSource& differences : BySource(context)) sink.push_back(FindingOfSource(context, differences));
  for (const FileLook& look : context.differences.of_files) sink.push_back(FindingOfLook(context, look));
}

}  // namespace

extern const Rule DataDependentCollective = {
    .code = kAR104,
    .name = "data-dependent-collective",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that take anything for granted: 22 of 73 were right on code that was met for the first time, and 3 of 6 where nothing "
                       "but their batches has to differ between ranks",
    .languages = "Python, C, C++",
    .summary = "collective reached or not by a rank's own data or environment",
    .explanation = R"md(
## What it finds

A condition without any rank in it that still may turn out differently on each rank, and decides whether
a collective is reached: a loss that is NaN, a batch without valid samples, an early stop on a metric
that nobody reduced, a file that exists, the time that is up, a flag that a signal sets, the order of a
set of texts, an error such as out of memory. The backward of a DDP or FSDP model counts as the
collective it is, and so does an attribute by which every rank of a framework's loop decides, such as
`control.should_training_stop` of a `TrainerCallback` or `trainer.should_stop` of Lightning. So does
`p.grad is None` before a reduction of gradients by hand, where a model of the program leaves parts of
itself out for some batches.

## Why it hurts

The condition is the same on all ranks in every test and differs once in a million steps. Then one
rank skips its backward, and the others wait for its gradients: a job that ran for days stands
still, and the last line of the log says nothing. Where the skipping rank goes on to the next step
instead, its gradients of step `n + 1` are added to those of step `n` of the others: no hang, wrong
training. The NCCL watchdog ends a hang with `Watchdog caught collective operation timeout`. The
Flight Recorder reports `missing ranks`, or `collective type mismatch`.

## Wrong

```python
loss = model(batch)
if torch.isnan(loss):
    continue              # this rank only
loss.backward()           # all others wait here
```

## Right

```python
loss = model(batch)
bad = torch.isnan(loss).float()
dist.all_reduce(bad, op=dist.ReduceOp.MAX)
if bad.item() > 0:
    continue              # all ranks or none
loss.backward()
```

Where each rank asks the disk (`os.path.exists`, a list of files) and nobody is seen to write
meanwhile, a *possible* note at that place says so, once for all that depends on it. On a disk that
all nodes share nothing happens. A file that the program makes where it is missing, and one that is
only looked for, again and again, as a sign to stop, stay errors.

What a batch holds differs between ranks (`isnan(loss)`, how many labels are positive). How large it
is, and which parts it has, is mostly a matter of settings: such a finding is *possible*.

## When it is silent

* The tested value was reduced, broadcast or gathered before, also inside a helper.
* What it is computed from is the same on every rank: a plain loader over a plain dataset,
  configuration, arguments.
* Both outcomes issue the same operations, or nothing collective is skipped.
* The exit is a `raise` that no handler of the project catches.

## Fix

Make the decision together. `all_reduce` a flag with `MAX` to act when any rank wants to, with `MIN`
to act when all do; or decide on rank 0 and `broadcast`. Instead of skipping a backward, multiply
the loss by zero: the gradients are then communicated and count for nothing.

## Proof

The witness takes one rank through each outcome. `allranks verify` replays it: the ranks that
reached the operation wait for the one that did not.
)md",
    .check = CheckDataDependentCollective,
    .scenario = Scenario::SkippedCollective};

}  // namespace allranks::rules
