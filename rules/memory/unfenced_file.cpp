#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kCode = "AR804";

// A function in which one rank makes what others read.
class Files {
 public:
  Files(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role == knowledge::Role::Write) VisitWrite(call, context_.program.text(role.param));
      }
    }
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) VisitDownloads(FuncId{f});
  }

 private:
  bool IsOnFirstRankOnly(const Site& site) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.reach.Ranks(site, world);
    return ranks.has(0) && (ranks.count() == 1 || (ranks.count() == world.nodes && ranks.has(world.per_node)));
  }

  bool IsOnAllRanks(const Site& site) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    return context_.reach.Ranks(site, world) == traces::RankSet::All(world.size());
  }

  // `if rank == 0: torch.save(x, path)`, then `torch.load(path)` on all ranks.
  void VisitWrite(const KnownCall& write, std::string_view param) {
    const Site site{write.function, write.expr};
    const ir::ExprId path = context_.index.ArgExpr(write, param);
    if (!path || !IsOnFirstRankOnly(site)) return;
    for (const KnownCall& read : context_.index.known_calls()) {
      if (read.function != write.function || !read.entry->Has(knowledge::Role::LoadTensors)) continue;
      const ir::ExprId from = context_.index.ArgExpr(read, "f");
      const Site reading{read.function, read.expr};
      if (!from || !IsSameText({write.function, path}, {read.function, from}) || !IsOnAllRanks(reading)) continue;
      if (IsAfter(site, reading) && !IsFenced(site, reading)) return Report(site, reading, "reads", "written");
    }
  }

  // `if rank == 0: MNIST(root, download=True)`, then `MNIST(root)` on all ranks.
  void VisitDownloads(FuncId function) {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto& calls = context_.facts.functions[function].calls;
    for (const auto& [expr, fact] : calls) {
      if (module[expr].kind != ir::ExprKind::Call) continue;
      const ir::ExprId download = KeywordOf(context_, module_id, expr, "download");
      const Site site{function, expr};
      if (!download || !context_.values.IsTrue(context_.facts.value(module_id, download)) || !IsOnFirstRankOnly(site)) continue;
      for (const auto& [other, other_fact] : calls) {
        const Site reading{function, other};
        if (other == expr || module[other].kind != ir::ExprKind::Call || !IsOnAllRanks(reading)) continue;
        if (!IsSameText({function, ir::CalleeOf(module[expr])}, {function, ir::CalleeOf(module[other])})) continue;
        if (!IsAfter(site, reading) || IsFenced(site, reading)) continue;
        Report(site, reading, "opens", "downloaded");
        break;
      }
    }
  }

  bool IsSameText(const Site& a, const Site& b) const {
    return TextOf(context_, SpanOf(context_, a)) == TextOf(context_, SpanOf(context_, b));
  }

  bool IsAfter(const Site& site, const Site& later) const {
    return SpanOf(context_, later).begin > SpanOf(context_, site).end;
  }

  // Something that all ranks do together stands in between, or around: `with main_process_first():`.
  bool IsFenced(const Site& write, const Site& read) const {
    const ir::ModuleId module_id = context_.program.funcs[write.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(write.expr); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::With && context_.training.Communicates(module_id, at)) return true;
    }
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      const bool is_between = module[stmt].begin > module[write.expr].end && module[stmt].end <= module[read.expr].begin;
      if (!is_between || context_.index.FunctionOf(module_id, stmt) != write.function) continue;
      if (context_.training.Communicates(module_id, stmt)) return true;
      // A function that nobody has read may wait.
      if (HoldsWord(TextOf(context_, module.span(stmt)), {"barrier", "synchronize", "wait", "sync_"})) return true;
    }
    return false;
  }

  void Report(const Site& write, const Site& read, std::string_view reads, std::string_view written) {
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, read,
                                {"every rank {} this, and rank 0 has perhaps not {} it yet: nothing makes the others wait",
                                 {std::string(reads), std::string(written)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"too early on the other ranks", {}});
    AddLabel(finding, SpanOf(context_, write), LabelRole::Why, {"on rank 0 only", {}});
    finding.help = {"put a barrier in between, outside of the test of the rank", {}};
    finding.witness = WitnessOf(write);
    AddFix(write, read, finding);
    sink_.push_back(std::move(finding));
  }

  // Nothing stands between the writers and the readers.
  witness::Witness WitnessOf(const Site& write) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.reach.Ranks(write, world);
    witness::FileOrder scenario;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      if (ranks.has(rank)) scenario.writers.push_back(rank);
    }
    return ScenarioWitness(world, witness::Effect::Error, std::move(scenario));
  }

  // A barrier before the statement that reads, if it stands behind the test in the same block.
  void AddFix(const Site& write, const Site& read, Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[write.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    const ir::StmtId stmt = tree.StatementOf(read.expr);
    if (!stmt || !BeginsLine(context_, module_id, stmt)) return;
    for (ir::StmtId at = tree.StatementOf(write.expr); at; at = tree.Parent(at)) {
      if (module[at].kind != ir::StmtKind::If || tree.BlockOf(at) != tree.BlockOf(stmt)) continue;
      std::vector<findings::Edit> edits = {InsertBefore(context_, module_id, stmt, "torch.distributed.barrier()")};
      for (findings::Edit& edit : EnsureImport(context_, module_id, "torch", "import torch")) edits.push_back(std::move(edit));
      finding.fixes.push_back(MakeFix("wait for rank 0", Applicability::Unsafe, std::move(edits)));
      return;
    }
  }

  const Context& context_;
  FindingSink& sink_;
};

void Check(const Context& context, FindingSink& sink) { Files(context, sink).Run(); }

}  // namespace

extern const Rule UnfencedFile = {
    .code = kCode,
    .name = "unfenced-file",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "file that one rank writes or downloads and all ranks read, with no barrier in between",
    .explanation = R"md(
## What it finds

In one function, a file that is written on rank 0, or on one rank of each node, and then loaded by all ranks,
or a data set that one rank downloads and all ranks open, while nothing in between makes the others wait.

## Why it hurts

The other ranks are there first: `FileNotFoundError`, `unexpected EOF`, or an old checkpoint that loads
without complaint, so that ranks go on with different weights. It goes well on a fast disk and fails on a slow
one.

## Wrong

```python
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "init.pt")
model.load_state_dict(torch.load("init.pt", map_location=device))
```

## Right

```python
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "init.pt")
dist.barrier()
model.load_state_dict(torch.load("init.pt", map_location=device))
```

## When it is silent

* A collective, or a call whose name says that it waits, stands in between; also a guard that lets rank 0 go
  first.
* Writing and reading stand in different functions, or name the file differently.
* Only the rank that wrote reads.

## Fix

`--unsafe-fixes` puts a barrier before the statement that reads. It is not safe, as some ranks may not come
by.

## Proof

`allranks verify` holds the ranks that write before they do, and lets the others run: if they get to where the
file is read, nothing in the program keeps them from reading it too early.
)md",
    .check = Check,
    .scenario = Scenario::FileOrder,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
