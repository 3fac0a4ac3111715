#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/rank_words.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FileUse;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kCode = "AR802";

class Writers {
 public:
  Writers(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), runs_(context.program, context.facts, context.index, context.launch, context.loading) {}

  void Run() {
    for (const FileUse& use : context_.file_uses.uses()) {
      const bool changes_files = (use.act == FileAct::Write && !use.is_once) || IsRemovalThatFails(use);
      if (changes_files && runs_.IsRunByRanks(use.way.front()) && !runs_.IsInTurn(use.way)) Visit(use);
    }
  }

 private:
  void Visit(const FileUse& use) {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.reach.RanksOnWay(use.way, world);
    const bool all = ranks == traces::RankSet::All(world.size());
    const bool one_a_node = ranks.count() == world.nodes && ranks.has(0) && ranks.has(world.per_node);
    if ((!all && !one_a_node) || !IsOnePath(use, world, ranks) || (!all && IsOfNode(use.path))) return;
    const Site& place = use.way.front();
    const source::Span span = SpanOf(context_, place);
    const std::string name = NameOf(use);
    if (!reported_.insert({span.file.index, span.begin}).second) return;
    // Somebody may well have asked whether it is still there.
    const bool removes = use.act == FileAct::Remove;
    const bool is_sure = !removes && (!all || runs_.IsSharedWork(use.way));
    Finding finding = FindingAt(
        context_, kCode, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, place,
        {removes ? "{} removes `{}`: on a shared file system the later ranks find it gone"
                 : "{} writes `{}`: on a shared file system they overwrite each other",
         {all ? "every rank" : "one rank of each node", name}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same path on all of them", {}});
    if (use.way.size() > 1) AddLabel(finding, SpanOf(context_, use.site()), LabelRole::Note, {removes ? "removed here" : "written here", {}});
    finding.help = {removes ? "remove it on rank 0 only" : "write on rank 0 only, or put the rank into the file name", {}};
    if (!removes) AddFix(place, finding);
    sink_.push_back(std::move(finding));
  }

  // `rmtree(path)` that does not expect the path to be gone.
  bool IsRemovalThatFails(const FileUse& use) const {
    if (use.act != FileAct::Remove) return false;
    const ir::ModuleId module_id = context_.program.funcs[use.site().function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& call = module[use.site().expr];
    if (call.kind != ir::ExprKind::Call || ir::ArgCount(module, call) > 1) return false;
    const bool takes_itself = context_.program.text(use.param) == "self";
    if (takes_itself && ir::ArgCount(module, call) > 0) return false;
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = context_.index.StatementOf(use.site()); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::Try) return false;
    }
    return true;
  }

  // On a disk that each node has for itself.
  static bool IsOfNode(const objects::FilePath& path) {
    const std::string_view text = path.pieces.front().text;
    return !path.pieces.front().hole && (text.starts_with("/dev/shm") || text.starts_with("/tmp"));
  }

  // The same on all that write: nothing in it differs between these ranks, nor speaks of them by its name.
  bool IsOnePath(const FileUse& use, const traces::World& world, traces::RankSet ranks) const {
    std::string_view before;
    for (const objects::PathPiece& piece : use.path.pieces) {
      const bool speaks = piece.hole && (objects::RankWords::IsWord(piece.text) || EndsInRank(before));
      if (speaks || (piece.hole && !IsOneValue(piece.hole, use, world, ranks))) return false;
      before = piece.text;
    }
    return true;
  }

  // `"log-rank%03i.txt" % index`.
  static bool EndsInRank(std::string_view text) {
    while (text.ends_with('_') || text.ends_with('-') || text.ends_with('=')) text.remove_suffix(1);
    return text.ends_with("rank");
  }

  bool IsOneValue(ValueId value, const FileUse& use, const traces::World& world, traces::RankSet ranks) const {
    const ValueId known = context_.file_uses.paths().Resolved(value, use.frame);
    const bool varies = context_.values.AnyPart(known, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[context_.file_uses.paths().Resolved(part, use.frame)];
      return !node.axes.empty() || SpeaksOfRanks(node);
    });
    if (!varies) return true;
    std::optional<int64_t> first;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      if (!ranks.has(rank)) continue;
      const std::optional<int64_t> number = context_.values.OnRank(known, world, rank);
      if (!number || (first && *number != *first)) return false;
      first = number;
    }
    return first.has_value();
  }

  // `args.local_rank`, whatever stores it.
  bool SpeaksOfRanks(const variation::Value& value) const {
    if (value.kind != variation::ValueKind::Derived || value.kid_count != 1) return false;
    const base::NameId name = context_.facts.values_store.OperationOf(value.a);
    return name && objects::RankWords::IsWord(context_.program.text(name));
  }

  // As a person would write it.
  static std::string NameOf(const FileUse& use) {
    std::string text;
    for (const objects::PathPiece& piece : use.path.Name().pieces) {
      const bool repeats = piece.hole && text.ends_with('*');
      if (!repeats) text += piece.hole ? "*" : piece.text;
    }
    return text.empty() ? "*" : text;
  }

  void AddFix(const Site& site, Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::StmtId stmt = context_.index.StatementOf(site);
    const bool is_plain = stmt && module[stmt].kind == ir::StmtKind::Expr && ir::ValueOf(module[stmt]) == site.expr;
    const std::string_view text = TextOf(context_, module.span(stmt));
    if (!is_plain || text.find('\n') != std::string_view::npos || !BeginsLine(context_, module_id, stmt)) return;
    std::vector<findings::Edit> edits = {
        InsertBefore(context_, module_id, stmt, "if torch.distributed.get_rank() == 0:"),
        Replace({module.file, module[stmt].begin, module[stmt].begin}, "    ")};
    for (findings::Edit& edit : EnsureImport(context_, module_id, "torch", "import torch")) edits.push_back(std::move(edit));
    finding.fixes.push_back(MakeFix("write on rank 0 only", Applicability::Unsafe, std::move(edits)));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void Check(const Context& context, FindingSink& sink) { Writers(context, sink).Run(); }

}  // namespace

extern const Rule EveryRankWrites = {
    .code = kCode,
    .name = "every-rank-writes",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview =
        "35 of 78 findings on 35 repositories were right: guards in the caller, and paths that differ by rank through a value "
        "handed on, are not told apart well enough",
    .languages = "Python",
    .summary = "file that all ranks, or one rank of each node, write under the same path",
    .explanation = R"md(
## What it finds

A file that every rank of a distributed program writes or removes under the same path, directly or through
helpers and files, or that one rank of each node does: "am I the writer" was asked of the local rank.
Who gets there is decided on two nodes of two ranks, as for collectives, and the path is asked on just these
ranks: it may hold the local rank and still be one.

Files are those of `torch.save`, `open(path, "w")`, `numpy.save`, `json.dump`, `yaml.dump`,
`to_csv`, `save_file` and what else the knowledge base gives the role `write` or `remove_file`. Logs
and folders are left out: two ranks that make one folder with `exist_ok`, or append lines to one
log, harm nobody.

## Why it hurts

On a shared file system all ranks write to one file at once. Mostly the last one wins; now and then the
bytes mix, and the checkpoint fails to load with `PytorchStreamReader failed` or `unexpected EOF` when
it is needed, days later. Even where it goes well, writing the same gigabytes 64 times keeps the storage
busy while all GPUs wait.

## Wrong

```python
if epoch % 10 == 0:
    torch.save(model.module.state_dict(), "last.pt")
```

## Right

```python
if epoch % 10 == 0 and dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "last.pt")
```

## When it is silent

* A test of the rank, of any form, leaves one writer: also an early return or a caller's test, and a flag
  that was given such a test (`args.save_logs = is_master(args)`).
* The path depends on the rank, the rank's own data, the clock, or is a temporary file or a buffer, or is
  named after the rank (`args.local_rank`, `"log-rank%d.txt"`).
* A `with` around it holds a lock, or lets one rank go first.
* The process that starts the ranks writes, before there are any.
* A removal expects that the file may be gone: `ignore_errors`, `missing_ok`, or a `try` around it.
* One rank of a node writes, and the configuration says `world.nodes = 1`, or the file lies in `/tmp` or
  `/dev/shm`.
* One process runs the script. Where a process group is made, but no file on the way wraps a model,
  communicates, deals out data or asks for ranks, the finding is *possible*.
* The function's callers are not seen: they may call it on one rank only.

## Fix

`--unsafe-fixes` puts the statement under `if torch.distributed.get_rank() == 0:`. It is not safe, as what is
written may have to be gathered on all ranks first (AR102).

## Proof

There is nothing to replay: which bytes win is decided by the file system.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
