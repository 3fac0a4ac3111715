#include <algorithm>

#include "analyzer/objects/jobs.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kCode = "AR802";

class Write {
 public:
  Write(const Context& context, const objects::KnownCall& call) : context_(context), call_(call), site_{call.function, call.expr} {}

  void Visit(std::string_view param, FindingSink& sink) const {
    const ValueId path = context_.index.Arg(call_, param);
    const ir::ExprId path_expr = context_.index.ArgExpr(call_, param);
    if (!path || !path_expr || !IsOnePath(path, path_expr)) return;
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.reach.Ranks(site_, world);
    const bool all = ranks == traces::RankSet::All(world.size());
    const bool one_a_node = ranks.count() == world.nodes && ranks.has(0) && ranks.has(world.per_node);
    if (!all && !one_a_node) return;
    Finding finding = FindingAt(
        context_, kCode, Severity::Warning, Confidence::Likely, site_,
        {"{} writes `{}`: on a shared file system they overwrite one another's bytes",
         {all ? "every rank" : "one rank of each node", Quoted(context_, {call_.function, path_expr})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same path on all of them", {}});
    finding.help = {"write on rank 0 only, or put the rank into the name", {}};
    AddFix(finding);
    sink.push_back(std::move(finding));
  }

 private:
  // Known to be the same on all ranks: nothing in it depends on the rank, and it is no buffer in memory.
  bool IsOnePath(ValueId path, ir::ExprId expr) const {
    const std::string text = TextWithOrigins(context_, {call_.function, expr});
    // An open file or buffer, not a path.
    if (text == "f" || text == "fp" || text == "file" || text == "fout") return false;
    for (const std::string_view word : {"rank", "shard", "worker", "process", "buffer", "BytesIO", "stream", "tmp", "temp", "uuid"}) {
      if (text.find(word) != std::string::npos) return false;
    }
    return !context_.values.AnyPart(path, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      const bool is_buffer = node.kind == variation::ValueKind::External &&
                             context_.values.External(part).starts_with("io.");
      return is_buffer || !node.axes.empty() || node.kind == variation::ValueKind::Coordinate;
    });
  }

  void AddFix(Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[call_.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::StmtId stmt = context_.index.StatementOf(site_);
    const bool is_plain = stmt && module[stmt].kind == ir::StmtKind::Expr && ir::ValueOf(module[stmt]) == call_.expr;
    const std::string_view text = TextOf(context_, module.span(stmt));
    if (!is_plain || text.find('\n') != std::string_view::npos || !BeginsLine(context_, module_id, stmt)) return;
    std::vector<findings::Edit> edits = {
        InsertBefore(context_, module_id, stmt, "if torch.distributed.get_rank() == 0:"),
        Replace({module.file, module[stmt].begin, module[stmt].begin}, "    ")};
    for (findings::Edit& edit : EnsureImport(context_, module_id, "torch", "import torch")) edits.push_back(std::move(edit));
    finding.fixes.push_back(MakeFix("write on rank 0 only", Applicability::Unsafe, std::move(edits)));
  }

  const Context& context_;
  const objects::KnownCall& call_;
  objects::Site site_;
};

void Check(const Context& context, FindingSink& sink) {
  const objects::Jobs jobs(context.program, context.index);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::Write) continue;
      // A function whose callers are not seen may be called on one rank only.
      const bool is_run = jobs.IsRun(call.function) && jobs.IsOfJob(call.function);
      if (is_run) Write(context, call).Visit(context.program.text(role.param), sink);
    }
  }
}

}  // namespace

extern const Rule EveryRankWrites = {
    .code = kCode,
    .name = "every-rank-writes",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview =
        "about half of its findings on public code were right. Conversion scripts run in one "
        "process, some objects are made on one rank only, and some flags are true on one rank "
        "only, which the code does not say",
    .languages = "Python",
    .summary = "file that all ranks, or one rank of each node, write under the same path",
    .explanation = R"md(
## What it finds

A `torch.save` that every rank of a distributed program executes with the same path, directly or through
helpers and files, or that one rank of each node does: "am I the writer" was asked of the local rank.
Who gets there is decided on two nodes of two ranks, as for collectives.

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

* A test of the rank, of any form, leaves one writer: also an early return or a caller's test.
* The path depends on the rank, or is a temporary file or a buffer.
* One rank of a node writes, and the configuration says `world.nodes = 1`.
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
