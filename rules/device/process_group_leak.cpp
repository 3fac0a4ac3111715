#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;

constexpr std::string_view kAR207 = "AR207";

// `if __name__ == "__main__":` of a file.
std::optional<ir::StmtId> MainBlock(const Context& context, ir::ModuleId module_id) {
  const ir::Module& module = context.program.modules[module_id];
  for (const ir::StmtId stmt : module.statements(module.functions[ir::kTopLevel].body)) {
    if (module[stmt].kind != ir::StmtKind::If) continue;
    if (NamesAny(context, module_id, {"__name__"}, module[ir::ValueOf(module[stmt])].begin, module[ir::ValueOf(module[stmt])].end)) return stmt;
  }
  return std::nullopt;
}

void AddLeakFix(const Context& context, const KnownCall& init, Finding& finding) {
  const ir::ModuleId module_id = context.program.funcs[init.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const std::optional<ir::StmtId> main = MainBlock(context, module_id);
  const ir::Expr& callee = module[ir::CalleeOf(module[init.expr])];
  if (!main || callee.kind != ir::ExprKind::Attribute) return;
  // A name that the whole file knows, such as `dist`.
  const std::string module_name(TextOf(context, module_id, ir::ObjectOf(callee)));
  const std::span<const ir::StmtId> body = module.statements(ir::BodyOf(module[*main]));
  // Somebody is still writing it.
  if (body.empty()) return;
  const ir::StmtId last = body.back();
  // A process that started others has no group of its own.
  const bool is_start = NamesAny(context, module_id, {"spawn", "launch", "Process"}, module[last].begin, module[last].end);
  if (module[last].kind != ir::StmtKind::Expr || is_start || !BeginsLine(context, module_id, last)) return;
  finding.fixes.push_back(MakeFix("destroy the process group at the end of the program", Applicability::Safe,
                                  {InsertAfter(context, module_id, last, module_name + ".destroy_process_group()")}));
}

void CheckProcessGroupLeak(const Context& context, FindingSink& sink) {
  ProgramCalls calls(context);
  for (const KnownCall& init : context.index.known_calls()) {
    if (context.program.text(init.entry->name) != "torch.distributed.init_process_group") continue;
    const ir::ModuleId module = context.program.funcs[init.function].module;
    if (calls.Names(module, {"destroy_process_group", "_exit"})) continue;
    Finding finding = FindingAt(context, kAR207, Severity::Info, Confidence::Likely, objects::Site{init.function, init.expr},
                                {"the process group is never destroyed: NCCL may hang or warn when the first rank exits", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"set up here", {}});
    finding.help = {"call `torch.distributed.destroy_process_group()` at the end, on every rank", {}};
    AddLeakFix(context, init, finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule ProcessGroupLeak = {
    .code = kAR207,
    .name = "process-group-leak",
    .severity = Severity::Info,
    .on_by_default = false,
    .languages = "Python",
    .summary = "process group that is set up but never destroyed",
    .explanation = R"md(
## What it finds

`init_process_group` in a program in which no file calls `destroy_process_group`.

## Why it hurts

Ranks that are done exit while others still communicate. PyTorch warns `destroy_process_group() was not called
before program exit, which can leak resources`. With some versions of NCCL, the exit hangs or ends with an
error, so the launcher reports a finished job as failed.

## Wrong

```python
if __name__ == "__main__":
    dist.init_process_group("nccl")
    train()
```

## Right

```python
if __name__ == "__main__":
    dist.init_process_group("nccl")
    train()
    dist.destroy_process_group()
```

## When it is silent

* `destroy_process_group` occurs in any file of the program.
* A framework sets the group up.

The rule is advice, and off by default: `--select AR207` turns it on.

## Fix

`--fix` destroys the group at the end of the main block, unless that block starts processes.

## Proof

There is nothing to replay: it happens after the last collective.
)md",
    .check = CheckProcessGroupLeak,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
