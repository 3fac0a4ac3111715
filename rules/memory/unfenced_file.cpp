#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analyzer/objects/process_starts.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FileUse;
using objects::Site;

constexpr std::string_view kAR804 = "AR804";

// A function in which one rank makes what others read.
class Files {
 public:
  Files(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), starts_(context.program, context.facts, context.index) {}

  void Run() {
    for (const FileUse& use : context_.file_uses.uses()) {
      if (use.act == FileAct::MakeFolder) VisitFolder(use);
      if (use.act != FileAct::Write) continue;
      VisitWrite(use);
      VisitParts(use);
    }
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) VisitDownloads(FuncId{f});
  }

 private:
  bool IsFirstOnly(traces::RankSet ranks, const traces::World& world) const {
    return ranks.has(0) && (ranks.count() == 1 || (ranks.count() == world.nodes && ranks.has(world.per_node)));
  }

  bool IsOnFirstRankOnly(const Site& site) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    return IsFirstOnly(context_.ranks.At(site, world), world);
  }

  // `if rank == 0: torch.save(x, path)`, then `torch.load(path)` on all ranks, each perhaps in a helper.
  void VisitWrite(const FileUse& write) {
    if (!write.is_once && !IsFirstOnly(RanksOf(write), world_)) return;
    for (const FileUse& read : context_.file_uses.uses()) {
      if (read.act != FileAct::Read || !objects::IsOneName(write.path, read.path) || read.path.Name().Changes()) continue;
      if (RanksOf(read) != traces::RankSet::All(world_.size())) continue;
      VisitPair(write, read, {"every rank reads this, and rank 0 has perhaps not written it yet: nothing makes the others wait", {}},
                "too early on the other ranks", "on rank 0 only");
    }
  }

  // `if rank == 0: os.makedirs(folder)`, then every rank writes into it or lists it.
  void VisitFolder(const FileUse& make) {
    if (make.path.Changes() || !IsFirstOnly(RanksOf(make), world_)) return;
    for (const FileUse& use : context_.file_uses.uses()) {
      const bool writes = make.path.HasText() && IsWriteInto(use, make);
      if ((!writes && !IsListingOf(use, make)) || RanksOf(use) != traces::RankSet::All(world_.size()) || IsMadeByAll(make) || IsThereAlready(make, use)) continue;
      VisitPair(make, use, {writes ? "every rank writes into a folder that rank 0 has perhaps not made yet: nothing makes the others wait"
                                   : "every rank lists a folder that rank 0 has perhaps not made yet: nothing makes the others wait", {}},
                "too early on the other ranks", "made on rank 0 only");
    }
  }

  static bool IsWriteInto(const FileUse& use, const FileUse& make) {
    return use.act == FileAct::Write && !use.call->entry->Has(knowledge::Role::MakeFolder) && FolderOf(use.path) == make.path.Spelled();
  }

  // `os.listdir(folder)`, which fails where there is none; a pattern (`glob`) finds nothing there.
  static bool IsListingOf(const FileUse& use, const FileUse& make) {
    const bool is_same = use.value == make.value || (make.path.HasText() && use.path.Spelled() == make.path.Spelled());
    return use.act == FileAct::List && !use.call->entry->Has(knowledge::Role::LooksAtDisk) && is_same;
  }

  static std::string FolderOf(const objects::FilePath& path) {
    const std::vector<objects::FilePath> components = path.Components();
    std::string folder;
    for (size_t i = 0; i + 1 < components.size(); ++i) folder += (i > 0 ? "/" : "") + components[i].Spelled();
    return folder;
  }

  // Each rank makes the folder for itself somewhere.
  bool IsMadeByAll(const FileUse& make) const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) {
      return other.act == FileAct::MakeFolder && other.path.Spelled() == make.path.Spelled() && !IsFirstOnly(RanksOf(other), world_);
    });
  }

  // It was made once before, and the ranks have met since.
  bool IsThereAlready(const FileUse& make, const FileUse& use) const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) {
      if (other.act != FileAct::MakeFolder || (other.value != make.value && other.path.Spelled() != make.path.Spelled())) return false;
      const std::optional<Parting> at = PartingOf(other, use);
      return at && IsAfter(at->before, at->later) && IsFencedOnTheWay(other, use, *at);
    });
  }

  // Every rank writes its part, then rank 0 collects what is there.
  void VisitParts(const FileUse& write) {
    if (write.path.Name().IsText() || RanksOf(write) != traces::RankSet::All(world_.size())) return;
    for (const FileUse& list : context_.file_uses.uses()) {
      if (list.act != FileAct::List || !objects::Matches(list.path, write.path) || RanksOf(list) != traces::RankSet::Of(0)) continue;
      VisitPair(write, list, {"rank 0 collects the files of all ranks, which have perhaps not written theirs yet: nothing makes it wait", {}},
                "too early: some are missing or cut short", "each rank writes its own");
    }
  }

  traces::RankSet RanksOf(const FileUse& use) const { return context_.ranks.OnWay(use.way, world_); }

  // Where the ways to two uses part: both places stand in one function.
  struct Parting {
    Site before, later;
  };

  std::optional<Parting> PartingOf(const FileUse& first, const FileUse& then) const {
    const std::vector<Site> before = PlacesOf(first);
    for (const Site& later : PlacesOf(then)) {
      const auto meeting = std::ranges::find(before, later.function, &Site::function);
      if (meeting != before.end() && meeting->expr != later.expr) return Parting{*meeting, later};
    }
    return std::nullopt;
  }

  bool IsFencedOnTheWay(const FileUse& first, const FileUse& then, const Parting& at) const {
    return IsFenced(at.before, at.later) || IsFencedWithin(first, at.before, true) || IsFencedWithin(then, at.later, false);
  }

  // One after the other on the way of some function, and nothing in between at which the ranks meet.
  void VisitPair(const FileUse& first, const FileUse& then, findings::Text message, std::string_view too_early, std::string_view why) {
    const std::optional<Parting> at = PartingOf(first, then);
    if (!at || IsOfOneProcess(at->before.function)) return;
    if (!IsAfter(at->before, at->later) || AreArms(at->before, at->later) || IsFencedOnTheWay(first, then, *at)) return;
    // On the way from the place where both part to the file; the arguments may come from further out.
    const Site& later = at->later;
    const bool is_on_way = std::ranges::any_of(then.way, [&](const Site& site) { return site.function == later.function && site.expr == later.expr; });
    const Site place = is_on_way ? later : then.way.front();
    const source::Span span = SpanOf(context_, place);
    if (reported_.insert({span.file.index, span.begin}).second) Report(first.site(), at->before, place, std::move(message), too_early, why);
  }

  // A test, or the process that starts the ranks and waits for them, does one after the other.
  bool IsOfOneProcess(FuncId function) const {
    const objects::RunBy run_by = context_.launch.Of(function);
    if (run_by == objects::RunBy::Tests || run_by == objects::RunBy::OneProcess) return true;
    return starts_.IsParent(function) && !starts_.IsStarted(function);
  }

  // The calls through which the file is written or read, and those that call these: the nearest first.
  std::vector<Site> PlacesOf(const FileUse& use) const {
    std::vector<Site> places(use.way.rbegin(), use.way.rend());
    const std::vector<Site> above = context_.index.WaysTo(use.way.front());
    places.insert(places.end(), above.begin(), above.end());
    return places;
  }

  // Whether the ranks meet on the way between the place where the two ways part and the file: behind the writing, or
  // before the reading.
  bool IsFencedWithin(const FileUse& use, const Site& from, bool is_behind) const {
    const auto meeting = std::ranges::find(use.way, from.function, &Site::function);
    const auto inner = meeting == use.way.end() ? use.way.begin() : meeting + 1;
    for (const Site& site : std::span(inner, use.way.end())) {
      const ir::ModuleId module_id = context_.program.funcs[site.function].module;
      const ir::Module& module = context_.program.modules[module_id];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        const ir::StmtId stmt{i};
        if (context_.index.FunctionOf(module_id, stmt) != site.function) continue;
        const bool counts = is_behind ? module[stmt].begin > module[site.expr].end : module[stmt].end <= module[site.expr].begin;
        if (counts && context_.training.Communicates(module_id, stmt)) return true;
      }
    }
    return false;
  }

  // `if rank == 0: save(path)`, `else: load(path)`: nobody does both.
  bool AreArms(const Site& a, const Site& b) const {
    const ir::ModuleId module_id = context_.program.funcs[a.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(a.expr); at; at = tree.Parent(at)) {
      const ir::StmtId outer = tree.Parent(at);
      if (!outer || module[outer].kind != ir::StmtKind::If) continue;
      for (ir::StmtId other = tree.StatementOf(b.expr); other; other = tree.Parent(other)) {
        if (tree.Parent(other) == outer && tree.BlockOf(other) != tree.BlockOf(at)) return true;
      }
    }
    return false;
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
        if (other == expr || module[other].kind != ir::ExprKind::Call || !AreAllRanksAt(context_, reading)) continue;
        if (!IsSameText({function, ir::CalleeOf(module[expr])}, {function, ir::CalleeOf(module[other])})) continue;
        if (!IsAfter(site, reading) || IsFenced(site, reading)) continue;
        Report(site, site, reading,
               {"every rank opens this, and rank 0 has perhaps not downloaded it yet: nothing makes the others wait", {}},
               "too early on the other ranks", "on rank 0 only");
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
      if (context_.training.Communicates(module_id, stmt) || CallsUnknown(module_id, stmt)) return true;
    }
    return false;
  }

  // A function that nobody has read may wait: a method of an object of unknown class, something outside the project.
  bool CallsUnknown(ir::ModuleId module_id, ir::StmtId stmt) const {
    const ir::Module& module = context_.program.modules[module_id];
    for (const auto& [expr, fact] : context_.facts.functions[context_.index.FunctionOf(module_id, stmt)].calls) {
      const bool is_inside = module[stmt].begin <= module[expr].begin && module[expr].end <= module[stmt].end;
      if (!is_inside || module[expr].kind != ir::ExprKind::Call) continue;
      const bool is_unknown = fact.kind == variation::CallKind::External || fact.kind == variation::CallKind::Unresolved ||
                              fact.kind == variation::CallKind::Deferred;
      const ir::Expr& callee = module[ir::CalleeOf(module[expr])];
      const base::NameId name = callee.kind == ir::ExprKind::Name        ? ir::NameOf(callee)
                                : callee.kind == ir::ExprKind::Attribute ? ir::AttrOf(callee)
                                                                         : base::NameId::None();
      if (is_unknown && name && HoldsWord(context_.program.text(name), {"barrier", "sync", "wait"})) return true;
    }
    return false;
  }

  // `write` stands where the ways to both part, which is where a barrier can be put.
  void Report(const Site& written_at, const Site& write, const Site& read, findings::Text message, std::string_view too_early,
              std::string_view why) {
    Finding finding = FindingAt(context_, kAR804, Severity::Error, Confidence::Likely, read, std::move(message));
    AddLabel(finding, finding.span, LabelRole::Primary, {too_early, {}});
    AddLabel(finding, SpanOf(context_, written_at), LabelRole::Why, {why, {}});
    finding.help = {"put a barrier between the two, outside the rank test", {}};
    finding.witness = WitnessOf(written_at);
    if (write.function == read.function) AddFix(write, read, finding);
    sink_.push_back(std::move(finding));
  }

  // Nothing stands between the writers and the readers.
  witness::Witness WitnessOf(const Site& write) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    const traces::RankSet ranks = context_.ranks.At(write, world);
    witness::FileOrder scenario;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      // Of parts that all ranks write, rank 0 reads those of the others.
      const bool reads_others = rank == 0 && ranks == traces::RankSet::All(world.size());
      if (ranks.has(rank) && !reads_others) scenario.writers.push_back(rank);
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
  objects::ProcessStarts starts_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void CheckUnfencedFile(const Context& context, FindingSink& sink) { Files(context, sink).Run(); }

}  // namespace

extern const Rule UnfencedFile = {
    .code = kAR804,
    .name = "unfenced-file",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "file that one rank writes or downloads and all ranks read, with no barrier in between",
    .explanation = R"md(
## What it finds

A file that is written on rank 0, or on one rank of each node, and then read by all ranks, or a data set that
one rank downloads and all ranks open, while nothing in between makes the others wait. Writing and reading may
stand in helpers, if some function comes to both, the writing first.

Also a folder that rank 0 makes and every rank then writes into or lists (`os.listdir`), and files that each
rank writes for itself and rank 0 then collects by a pattern. `torch.cuda.synchronize` makes nobody wait for
another rank.

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

* A collective, or a call whose name says that it waits, is in between; also a guard that lets rank 0 go
  first.
* The name of the file changes from one time to the next, or is not known.
* Only the rank that wrote reads.
* One process does both: a test, or the process that starts the ranks and waits for them.
* Each rank makes the folder for itself as well, or what it writes with does (`copytree`).

## Fix

`--unsafe-fixes` puts a barrier before the statement that reads. It is not safe, as some ranks may not come
by.

## Proof

`allranks verify` holds the ranks that write before they do, and lets the others run: if they get to where the
file is read, nothing in the program keeps them from reading it too early.
)md",
    .check = CheckUnfencedFile,
    .scenario = Scenario::FileOrder,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
