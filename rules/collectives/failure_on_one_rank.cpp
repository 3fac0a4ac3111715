#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/objects/every_way.h"
#include "analyzer/objects/meetings.h"
#include "analyzer/objects/process_starts.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/sure_ends.h"

namespace allranks::rules {
namespace {

using objects::Guard;
using objects::KnownCall;
using objects::Meeting;
using objects::Site;

constexpr std::string_view kSpawn = "torch.multiprocessing.spawn";

class Failures {
 public:
  Failures(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink),
        meetings_(context.program, context.knowledge, context.facts, context.index, context.guards, context.ranks, context.launch, world_) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const ir::Stmt& stmt = module.stmts[ir::StmtId{i}];
        if (stmt.kind == ir::StmtKind::Assert) VisitAssertion(ir::ModuleId{m}, ir::StmtId{i});
        if (stmt.kind != ir::StmtKind::Raise || !ir::ValueOf(stmt)) continue;
        if (IsOfProgram(module, ir::ValueOf(stmt)) && !IsExitWithError(ir::ModuleId{m}, ir::ValueOf(stmt))) continue;
        const FuncId function = context_.index.FunctionOf(ir::ModuleId{m}, ir::StmtId{i});
        if (function) VisitEnd({function, ir::ValueOf(stmt)});
      }
    }
    for (const KnownCall& call : context_.index.known_calls()) {
      const Site site{call.function, call.expr};
      if (call.entry->exits && IsExitWithError(call)) VisitEnd(site);
      if (call.entry->Has(knowledge::Role::RunProcess) && Raises(call)) VisitWork(site, "this program fails");
      if (call.entry->Has(knowledge::Role::MakeFolder) && FailsIfThere(call)) VisitWork(site, MakesLink(call) ? "the link is there already" : "the folder is there already");
    }
  }

 private:
  // An exception that says that the program is wrong, on all ranks.
  bool IsOfProgram(const ir::Module& module, ir::ExprId raised) const {
    const ir::Expr* expr = &module[raised];
    if (expr->kind == ir::ExprKind::Call) expr = &module[ir::CalleeOf(*expr)];
    const base::NameId name = expr->kind == ir::ExprKind::Name        ? ir::NameOf(*expr)
                              : expr->kind == ir::ExprKind::Attribute ? ir::AttrOf(*expr)
                                                                      : base::NameId::None();
    return name && context_.knowledge.FindException(name) == knowledge::Strikes::AllRanks;
  }

  bool IsExitWithError(const KnownCall& call) const { return IsErrorCode(call.args.empty() ? variation::ValueId::None() : call.args.front()); }

  // `raise SystemExit("the folder is not empty")`
  bool IsExitWithError(ir::ModuleId module_id, ir::ExprId raised) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& call = module[raised];
    if (call.kind != ir::ExprKind::Call || ir::ArgCount(module, call) != 1) return false;
    const bool exits = context_.values.External(context_.facts.value(module_id, ir::CalleeOf(call))) == "builtins.SystemExit";
    return exits && IsErrorCode(context_.facts.value(module_id, ir::ArgAt(module, call, 0).value));
  }

  // A number, or a text, which is printed and comes to 1.
  bool IsErrorCode(variation::ValueId code) const {
    const std::optional<int64_t> number = code ? context_.values.Int(code) : std::nullopt;
    return (number && *number != 0) || (code && !context_.values.Str(code).empty());
  }

  // `os.symlink(source, dst)`
  bool MakesLink(const KnownCall& call) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      return role.role == knowledge::Role::MakeFolder && context_.program.text(role.param) == "dst" && !call.entry->Has(knowledge::Role::Write);
    });
  }

  bool Raises(const KnownCall& call) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      if (role.role != knowledge::Role::RunProcess) return false;
      const variation::ValueId asked = role.param ? context_.index.Arg(call, context_.program.text(role.param)) : variation::ValueId::None();
      return !role.param || (asked && context_.values.IsTrue(asked));
    });
  }

  // `os.makedirs(path)` of a path that nobody looked at.
  bool FailsIfThere(const KnownCall& call) const {
    const variation::ValueId exist_ok = context_.index.Arg(call, "exist_ok");
    if (call.entry->Has(knowledge::Role::Write) || (exist_ok && !context_.values.IsFalse(exist_ok))) return false;
    return std::ranges::none_of(context_.guards.Of({call.function, call.expr}), [&](const Guard& guard) {
      return AxesOf(guard).has(knowledge::Axis::Files);
    });
  }

  knowledge::Axes AxesOf(const Guard& guard) const {
    const variation::ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    return test ? context_.facts.values_store.axes(test) : knowledge::Axes{};
  }

  void VisitEnd(const Site& site) {
    const std::vector<Guard> guards = context_.guards.Of(site);
    if (!guards.empty() && IsNotFinite(guards.front())) {
      Report(site, meetings_.AfterLeaving(site), Confidence::Likely, "a rank whose own numbers are not finite exits here alone");
      return;
    }
    // What is asked beside the rank decides whether it fails.
    const std::optional<Meeting> meeting = meetings_.After(site);
    const bool is_here = meeting && meeting->parted.expr == site.expr;
    if (!is_here && !(meeting && IsCallOf(meeting->parted, site.function))) return;
    const bool is_asked = std::ranges::any_of(guards, [&](const Guard& guard) { return !IsRankTest(guard); });
    // What rank 0 asks is rarely so, and as a rule in the first run, before anybody has waited for long.
    const bool is_found = std::ranges::any_of(guards, [&](const Guard& guard) { return !(AxesOf(guard) & knowledge::kSoftAxes).empty(); });
    // A helper asks for wrong arguments, and these are the same each time.
    if (is_asked && (is_here || is_found)) Report(site, meeting, Confidence::Possible, "some ranks alone exit here");
  }

  // `assert math.isfinite(loss)`
  void VisitAssertion(ir::ModuleId module_id, ir::StmtId stmt) {
    const FuncId function = context_.index.FunctionOf(module_id, stmt);
    const ir::ExprId test = ir::ValueOf(context_.program.modules[module_id][stmt]);
    if (!function || !IsNotFinite({function, test})) return;
    const Site site{function, test};
    Report(site, meetings_.AfterLeaving(site), Confidence::Likely, "a rank whose own numbers are not finite exits here alone");
  }

  bool IsCallOf(const Site& call, FuncId function) const {
    const variation::CallFact* fact = context_.facts.call(call.function, call.expr);
    return fact != nullptr && fact->function == function;
  }

  // `if not math.isfinite(loss)`, where the loss is the rank's own.
  bool IsNotFinite(const Guard& guard) const {
    if (!IsOwnData(guard)) return false;
    const ir::Module& module = context_.program.module_of(guard.function);
    return std::ranges::any_of(context_.index.KnownCallsIn(guard.function), [&](const KnownCall& call) {
      return call.entry->Has(knowledge::Role::AsksFinite) && module[call.expr].begin >= module[guard.test].begin && module[call.expr].end <= module[guard.test].end;
    });
  }

  // Of a parameter, as some caller passes it.
  bool IsOwnData(const Guard& guard) const {
    const variation::ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    const auto is_own = [&](variation::ValueId value) { return context_.facts.values_store.axes(value).has(knowledge::Axis::Data); };
    return test && (is_own(test) || context_.values.AnyPart(test, [&](variation::ValueId part) {
      if (context_.values[part].kind != variation::ValueKind::Param) return false;
      const std::vector<variation::ValueId> passed = context_.values.Leaves(part);
      return std::ranges::any_of(passed, is_own);
    }));
  }

  bool IsRankTest(const Guard& guard) const {
    const variation::ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    return test && context_.values.TruthAsRankTest(test, world_, 0).has_value();
  }

  void VisitWork(const Site& site, std::string_view when) {
    const std::optional<Meeting> meeting = meetings_.After(site);
    if (!meeting) return;
    // Several such calls on one way fail for one cause.
    const source::Span parted = SpanOf(context_, meeting->parted);
    const ir::Module& module = context_.program.module_of(meeting->function);
    if (!ways_.insert({parted.file.index, module[meeting->stmt].begin}).second) return;
    Report(site, meeting, Confidence::Possible, "if " + std::string(when) + ", some ranks alone exit here");
  }

  void Report(const Site& site, const std::optional<Meeting>& meeting, Confidence confidence, std::string what) {
    if (!meeting || IsCaught(site) || IsEndedByParent(*meeting)) return;
    const source::Span span = SpanOf(context_, site);
    if (!reported_.insert({span.file.index, span.begin}).second) return;
    Finding finding = FindingAt(context_, kFailureOnOneRank, Severity::Warning, confidence, site,
                                {"{}: the others wait until the launcher or a timeout ends them", {std::move(what)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"nothing tells the other ranks", {}});
    if (meeting->parted.expr != site.expr) AddLabel(finding, SpanOf(context_, meeting->parted), LabelRole::Call, {"called here", {}});
    const ir::ModuleId waiting = context_.program.funcs[meeting->function].module;
    AddLabel(finding, HeadOf(context_, waiting, meeting->stmt), LabelRole::Victim, {"the other ranks wait here", {}});
    if (!AreOthersLeft(context_.program.funcs[site.function].module)) {
      findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::LauncherLeaves));
    }
    finding.help = {"let all ranks decide alike: every rank puts its result into a flag, all-reduces it (`op=MAX`), and exits if any rank has set it", {}};
    finding.is_in_preview = BelongsInPreview(context_, site.function, finding);
    sink_.push_back(std::move(finding));
  }

  // torchrun, Accelerate and mpirun end the others of a node at once. Slurm does not, nor does anybody on another node.
  bool AreOthersLeft(ir::ModuleId module) {
    if (context_.facts.job.nodes > 1 || context_.launch.LeavesOthers(module)) return true;
    const KnownCall* start = calls_.FindIf(module, [](const KnownCall& call) { return call.entry->Has(knowledge::Role::LeavesOthers); });
    if (start == nullptr) return false;
    // A script for Slurm that came with the code counts where commands start it, or where the project has none.
    const std::string& path = context_.program.infos[context_.program.funcs[start->function].module].path;
    const auto lines = context_.launch.lines();
    return lines.empty() || std::ranges::find(lines, path, &objects::LaunchLine::path) != lines.end();
  }

  // On every way to the place something expects it, and goes on.
  bool IsCaught(const Site& site) const {
    const ir::StmtId stmt = context_.index.StatementOf(site);
    return stmt && objects::IsOnEveryWay(context_.index, site.function, stmt, [&](FuncId function, ir::StmtId at) { return IsTried(function, at); });
  }

  // `mp.spawn(worker)`: the process that waits for the ranks ends the others as soon as one fails.
  bool IsEndedByParent(const Meeting& meeting) const {
    const auto is_spawn = [&](const objects::ProcessStart& start) {
      const KnownCall* call = context_.index.KnownCallAt(start.site);
      return call != nullptr && context_.program.text(call->entry->name) == kSpawn && context_.program.funcs[start.site.function].module == context_.program.funcs[meeting.function].module;
    };
    return starts_.IsStarted(meeting.function) && std::ranges::any_of(starts_.starts(), is_spawn);
  }

  bool IsTried(FuncId function, ir::StmtId stmt) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = stmt; at; at = tree.Parent(at)) {
      if (module[at].kind != ir::StmtKind::Try) continue;
      const auto handlers = ir::HandlersOf(module, module[at]);
      const bool is_in_body = !handlers.empty() && module[stmt].begin < handlers.front().begin;
      if (is_in_body && std::ranges::any_of(handlers, [&](const ir::Handler& handler) { return GoesOn(module, handler); })) return true;
    }
    return false;
  }

  // It does not end by an error in its turn.
  bool GoesOn(const ir::Module& module, const ir::Handler& handler) const {
    const std::span<const ir::StmtId> statements = module.statements(handler.body);
    return statements.empty() || module[statements.back()].kind != ir::StmtKind::Raise;
  }

  const Context& context_;
  FindingSink& sink_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  objects::Meetings meetings_;
  objects::ProcessStarts starts_{context_.program, context_.facts, context_.index};
  ProgramCalls calls_{context_};
  std::set<std::pair<uint32_t, uint32_t>> reported_;
  std::set<std::pair<uint32_t, uint32_t>> ways_;  // file in which ranks part, and where they meet
};

void CheckFailureOnOneRank(const Context& context, FindingSink& sink) { Failures(context, sink).Run(); }

}  // namespace

extern const Rule FailureOnOneRank = {
    .code = "AR116",
    .name = "failure-on-one-rank",
    .severity = Severity::Warning,
    .preview_in_part = "findings in programs that nothing here is seen to start on ranks: of the last 22 on public code that were read 18 were right, "
                       "and of the others two are in such copies",
    .languages = "Python",
    .summary = "error that ends some ranks only, on the way to a collective in which the others wait",
    .explanation = R"md(
## What it finds

A place where single ranks end with an error while the others go on to an operation of all
ranks:

* `raise`, or an exit with an error status, under a test whether numbers are finite, where these are
  the rank's own: a loss that nobody reduced; and an `assert` that they are.

* a statement that raises whenever it runs, where only some ranks come to it: rank 0 saves to a path that
  nothing defines, reads an option that no parser has, or calls a function with arguments that it does
  not take (AR915 has the list, and tells of those that every rank comes to).

The following is *possible*, and hidden by default: it is rare, or comes up in the first run:

* the same under a test of the rank that asks something else besides: whether the output folder is
  empty, whether the settings are good; also in a function that only some ranks call, where it asks
  for what it finds on the disk;
* what fails in some runs and is done by some ranks alone: a folder that is made though it may
  be there (`os.makedirs` without `exist_ok`), a program that is started and must succeed
  (`subprocess.check_output`).

## Why it hurts

The rank that fails prints its error and ends. The others know nothing of it: they enter the
next collective and wait there. `torchrun` and Accelerate stop the ranks of their own node within
seconds, and those of other nodes not at all; Slurm without `--kill-on-bad-exit`, and submitit,
which starts tasks so, leave them until the watchdog ends them with `Watchdog caught collective
operation timeout`. Hours of booked GPUs are lost, and the log is full of timeouts in which the
one line that says what was wrong is hard to find.

Where nothing shows that the program is started so, the finding assumes it (`launcher-leaves`), and is
*possible*, hidden by default.

## Wrong

```python
if rank == 0 and os.listdir(args.output):
    raise ValueError("the output folder is not empty")
model = DDP(model)                      # the others wait here
```

```python
loss = model(batch)
if not math.isfinite(loss.item()):
    sys.exit(1)                         # this rank alone
loss.backward()
```

```python
if rank == 0 and epoch % 10 == 0:
    torch.save(state, os.path.join(folder, "last.pt"))   # nothing defines `folder`
```

## Right

```python
bad = [rank == 0 and bool(os.listdir(args.output))]
dist.broadcast_object_list(bad, src=0)
if bad[0]:
    raise ValueError("the output folder is not empty")
```

```python
finite = torch.isfinite(loss).float()
dist.all_reduce(finite, op=dist.ReduceOp.MIN)
if not finite.item():
    sys.exit(1)
```

## When it is silent

* The ranks agree first: what is tested was reduced, gathered or broadcast.
* Nothing of all ranks follows, or the job is made only afterwards.
* On every way there some handler catches the error, and goes on.
* The program starts its ranks by `torch.multiprocessing.spawn`, which ends the others at once.
* The error says that the program itself is wrong (`NotImplementedError`, `TypeError`): it comes
  up on the first run and on all ranks.
* All that decides is the rank, so that a `raise` or an exit always ends it.

## Fix

Have the rank that knows tell the others, and let all of them raise. Or check before the job is
made.

## Proof

There is nothing to replay: how the others are ended is up to the launcher.
)md",
    .check = CheckFailureOnOneRank};

}  // namespace allranks::rules
