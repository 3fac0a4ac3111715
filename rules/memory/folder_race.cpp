#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/one_process_modes.h"
#include "rules/finding_parts.h"
#include "rules/memory/shared_paths.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FileUse;
using objects::Site;

constexpr std::string_view kAR811 = "AR811";

class FolderRaces {
 public:
  FolderRaces(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options), neighbourhood_(context.program),
        paths_(context) {}

  void Run() {
    for (const FileUse& use : context_.file_uses.uses()) {
      if (use.act == FileAct::MakeFolder && !paths_.IsOnePath(use)) held_apart_.insert({use.call->function.index, use.call->expr.index});
    }
    for (const FileUse& use : context_.file_uses.uses()) {
      const bool is_apart = held_apart_.contains({use.call->function.index, use.call->expr.index});
      if (use.act == FileAct::MakeFolder && FailsIfThere(use) && !IsOfFile(use) && !is_apart) Visit(use);
    }
  }

 private:
  // `os.makedirs(path)`, `Path(path).mkdir()`: whatever `exist_ok` is given, it is not plainly false.
  bool FailsIfThere(const FileUse& use) const {
    const variation::ValueId exist_ok = context_.index.Arg(*use.call, "exist_ok");
    return !use.call->entry->Has(knowledge::Role::Write) && (!exist_ok || context_.values.IsFalse(exist_ok));
  }

  // `os.path.dirname(checkpoint)`, `checkpoint.parent`: the folder of a file that is written again and again is mostly there.
  bool IsOfFile(const FileUse& use) const {
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.file_uses.paths().Resolved(use.value, use.frame));
    return std::ranges::any_of(leaves, [&](variation::ValueId leaf) {
      const variation::Value& node = context_.facts.values_store[leaf];
      const base::NameId made_by = context_.facts.values_store.DerivedBy(node);
      const std::string_view name = made_by ? context_.program.text(made_by) : std::string_view();
      return name.ends_with("dirname") || name.ends_with("parent");
    });
  }

  void Visit(const FileUse& use) {
    const Site& place = use.site();
    if (!runs_.IsRunByRanks(use.way) || runs_.IsInTurn(use.way) || context_.job_places.IsApart(use.way)) return;
    const bool is_on_all = IsOnAllRanks(use);
    if ((!is_on_all && !IsOnOneOfEachNode(use)) || !paths_.IsOnePath(use) || IsCaught(use) || IsMadeBefore(use)) return;
    if (paths_.IsMadeFirst(use.way)) return;
    const source::Span span = SpanOf(context_, place);
    // Several ways lead there: the surest counts.
    const auto [told, is_new] = reported_.try_emplace({span.file.index, span.begin}, sink_.size());
    if (!is_new) {
      Finding finding = FindingOf(use, is_on_all);
      if (told->second < sink_.size() && finding.confidence > sink_[told->second].confidence) sink_[told->second] = std::move(finding);
      return;
    }
    // The same folder again in the same file: whoever comes there later finds it.
    const auto [before, is_first] = folders_.emplace(std::pair(span.file.index, use.path.Spelled()), sink_.size());
    if (is_first) return sink_.push_back(FindingOf(use, is_on_all));
    told->second = SIZE_MAX;
    AddLabel(sink_[before->second], span, LabelRole::Note, {"and here", {}});
  }

  Finding FindingOf(const FileUse& use, bool is_on_all) const {
    const Site& place = use.site();
    const bool is_asked = paths_.AsksDisk(place);
    const bool is_sure = (!is_on_all || runs_.IsSharedWork(use.way)) && runs_.IsStartedOnRanks(use.way.front());
    Finding finding = FindingAt(context_, kAR811, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, place,
                                {is_asked    ? "ranks that find no {} at the same time all make it, and all but one fail"
                                 : is_on_all ? "every rank makes {}, and all but the first fail"
                                             : "one rank of each node makes {}: on a shared file system all but the first fail",
                                 {NounOf(use, is_asked)}});
    if (!is_on_all && !IsOnSeveralNodes(use)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SeveralNodes));
    if (context_.program.text(use.call->entry->name).starts_with('*')) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::ByNameOnly));
    findings::Assume(finding, modes_.AssumedAt(use.way));
    if (paths_.HoldsItem(use)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::ItemsShared));
    AddLabel(finding, finding.span, LabelRole::Primary, {"`FileExistsError` on a rank that comes later", {}});
    finding.help = {TakesExistOk(*use.call) ? "pass `exist_ok=True`, or make it on rank 0 and let the others wait"
                                            : "make it on rank 0 and let the others wait",
                    {}};
    AddFix(*use.call, is_asked, finding);
    finding.is_in_preview = IsWithoutCommand(context_, place.function, finding);
    return finding;
  }

  static std::string NounOf(const FileUse& use, bool is_asked) {
    if (use.path.Name().HasText()) return "`" + SharedPaths::NameOf(use) + "`";
    return is_asked ? "folder" : "the folder";
  }

  bool IsOnAllRanks(const FileUse& use) const {
    return context_.ranks.OnWay(use.way, world_) == traces::RankSet::All(world_.size());
  }

  bool IsOnOneOfEachNode(const FileUse& use) const {
    const traces::RankSet ranks = context_.ranks.OnWay(use.way, world_);
    return ranks.count() == world_.nodes && ranks.has(0) && ranks.has(world_.per_node) && !SharedPaths::IsOfNode(use.path);
  }

  // Not where a program only could: most jobs have one node, or mean it so.
  bool IsOnSeveralNodes(const FileUse& use) const {
    return context_.facts.job.nodes > 1 || context_.launch.IsOnSeveralNodes(context_.program.funcs[use.way.front().function].module);
  }

  bool TakesExistOk(const objects::KnownCall& call) const {
    return std::ranges::any_of(call.entry->params, [&](base::NameId param) { return context_.program.text(param) == "exist_ok"; });
  }

  // The program expects that it may fail, there or in a caller.
  bool IsCaught(const FileUse& use) const {
    return std::ranges::any_of(use.way, [&](const Site& site) {
      const ir::ModuleId module_id = context_.program.funcs[site.function].module;
      const ir::Module& module = context_.program.modules[module_id];
      const ir::Tree& tree = context_.index.tree(module_id);
      for (ir::StmtId at = context_.index.StatementOf(site); at; at = tree.Parent(at)) {
        if (module[at].kind == ir::StmtKind::Try) return true;
      }
      return false;
    });
  }

  // The folder, or one in it, is made elsewhere in the program: by one rank first, or by the process that starts the ranks.
  bool IsMadeBefore(const FileUse& use) const {
    const std::string path = use.path.Spelled();
    const std::vector<ir::ModuleId> files = neighbourhood_.Of(context_.program.funcs[use.site().function].module);
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) {
      if (IsLogBefore(other, use)) return true;
      if (other.act != FileAct::MakeFolder || other.site() == use.site()) return false;
      const std::string made = other.path.Spelled();
      const bool makes_it = made == path || made.starts_with(path + "/");
      if (!makes_it || std::ranges::count(files, context_.program.funcs[other.site().function].module) == 0) return false;
      return !FailsIfThere(other) || !IsOnAllRanks(other) || !runs_.IsRunByRanks(other.way);
    });
  }

  // `SummaryWriter(folder)` further up makes the folder, and expects that it may be there.
  bool IsLogBefore(const FileUse& log, const FileUse& use) const {
    const Site& opened = log.site();
    if (opened.function != use.site().function || !log.call->entry->Has(knowledge::Role::OpenTracker)) return false;
    const ir::Module& module = context_.program.module_of(opened.function);
    return module[opened.expr].begin < module[use.site().expr].begin && log.path.Spelled() == use.path.Spelled();
  }

  void AddFix(const objects::KnownCall& call, bool is_asked, Finding& finding) const {
    if (!TakesExistOk(call) || context_.index.Arg(call, "exist_ok")) return;
    // Without a test the error may be wanted, so that no run overwrites another.
    finding.fixes.push_back(MakeFix("let the folder be there", is_asked ? Applicability::Safe : Applicability::Unsafe,
                                    {AddArgument(context_, context_.program.funcs[call.function].module, call.expr, "exist_ok=True")}));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  objects::OneProcessModes modes_;
  binding::Neighbourhood neighbourhood_;
  SharedPaths paths_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  std::set<std::pair<uint32_t, uint32_t>> held_apart_;  // by call: where some alternative of the path differs by rank
  std::map<std::pair<uint32_t, uint32_t>, size_t> reported_;    // by file and place: its finding; SIZE_MAX: a label of another
  std::map<std::pair<uint32_t, std::string>, size_t> folders_;  // by file and path: its finding
};

void CheckFolderRace(const Context& context, FindingSink& sink) { FolderRaces(context, sink).Run(); }

}  // namespace

extern const Rule FolderRace = {
    .code = kAR811,
    .name = "folder-race",
    .severity = Severity::Warning,
    .preview_in_part = "findings in programs that no command here starts on several ranks: 2 of the 7 that were read were right, and 7 of 7 of the others",
    .languages = "Python",
    .summary = "folder that every rank makes, failing if another rank was faster",
    .explanation = R"md(
## What it finds

`os.makedirs(path)`, `os.mkdir(path)` or `Path(path).mkdir()` without `exist_ok=True` where all ranks of a
job reach with the same path, with or without a test whether the folder is there; and a link that each of
them makes (`os.symlink`). The same on one rank of each node, *possible* where no line starts the job on
several nodes, or those that lead there by their options start one process. A folder that a file makes at
several places is one finding.

## Why it hurts

The ranks start together, so they ask together: several find nothing, all of them make the folder, and all but
one fail with `FileExistsError`. The others then wait in the next collective for the ranks that have left. It
happens in the first run with a new name only, and not every time.

## Wrong

```python
if not os.path.exists(out):
    os.makedirs(out)
```

## Right

```python
os.makedirs(out, exist_ok=True)
```

## When it is silent

* `exist_ok` is given, or a `try` stands around the call, there or in a caller.
* A test of the rank leaves one that makes the folder.
* It is the folder of a file (`os.path.dirname(checkpoint)`), which is mostly there.
* The path differs between the ranks, or is named after them, or one of several paths there does.
* One rank, or the process that starts the ranks, makes the folder, or one in it, elsewhere in the program.
* It is made where it is not found, and one rank comes there alone from somewhere in the program, or the
  process that starts the others (`mp.spawn`, `trainer.fit` of Lightning) has made it by then. Or a log of
  the run that is opened in it further up (`SummaryWriter(folder)`) has.
* A `with` around it holds a lock, or lets one rank go first, there or where it is called from; or it stands
  behind a branch of a barrier in which the others wait until one is done.
* One process runs the script, as all lines of scripts and pages start it, or the callers are not seen.
* A switch that the program sets itself (`distributed = False`) keeps the job from being made.

## Fix

`--fix` adds `exist_ok=True` where the folder is asked for first. Without such a test the error may be wanted,
and `--unsafe-fixes` adds it. `os.mkdir` does not take it: use `os.makedirs`.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckFolderRace,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
