#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FilePath;
using objects::FileUse;
using objects::Site;

constexpr std::string_view kCode = "AR808";

class Checkpoints {
 public:
  Checkpoints(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const FileUse& use : context_.file_uses.uses()) {
      if (use.act == FileAct::Write && IsOfData(use) && use.path.Name().HasText()) Visit(use);
    }
  }

 private:
  void Visit(const FileUse& write) {
    const std::vector<Site> above = context_.index.WaysTo(write.way.front());
    const bool is_in_training = IsInTraining(write.way) || IsInTraining(above);
    if (!is_in_training || IsMovedAway(write)) return;
    std::vector<Site> places = write.way;
    places.insert(places.end(), above.begin(), above.end());
    const bool is_same_each_time = !write.path.Name().Changes();
    for (const FileUse& read : context_.file_uses.uses()) {
      if (read.act != FileAct::Read || !IsOfData(read)) continue;
      const bool is_it = is_same_each_time && objects::IsOneName(write.path, read.path);
      if (!is_it && !(read.call->entry->Has(knowledge::Role::LoadTensors) && IsPickedFrom(read, write.path))) continue;
      if (ResumesBefore(read, places)) return Report(write, read, is_it);
    }
  }

  // A dump or load of data, and no text that is written line by line.
  static bool IsOfData(const FileUse& use) { return !use.call->entry->Has(knowledge::Role::OpenFile); }

  bool IsInTraining(std::span<const Site> sites) const {
    return std::ranges::any_of(sites, [&](const Site& site) {
      const ir::ModuleId module = context_.program.funcs[site.function].module;
      const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
      return std::ranges::any_of(loops, [&](ir::StmtId loop) { return context_.training.Trains(module, loop); });
    });
  }

  // The old file gets another name first.
  bool IsMovedAway(const FileUse& write) const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& use) {
      return use.act == FileAct::MoveFrom && objects::IsOneName(use.path, write.path);
    });
  }

  bool IsPickedFrom(const FileUse& read, const FilePath& path) const {
    const std::vector<FilePath> patterns = context_.file_uses.ListingsOf(read);
    return std::ranges::any_of(patterns, [&](const FilePath& pattern) { return objects::Matches(pattern, path); });
  }

  // Some function reads first and comes to the loop that writes later: it goes on from what was written.
  bool ResumesBefore(const FileUse& read, std::span<const Site> writes) const {
    std::vector<Site> reads = read.way;
    const std::vector<Site> above = context_.index.WaysTo(read.way.front());
    reads.insert(reads.end(), above.begin(), above.end());
    return std::ranges::any_of(writes, [&](const Site& write) {
      return std::ranges::any_of(reads, [&](const Site& reading) {
        return reading.function == write.function && reading.expr != write.expr && IsBefore(reading, write);
      });
    });
  }

  bool IsBefore(const Site& reading, const Site& write) const {
    const ir::Module& module = context_.program.module_of(write.function);
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(write);
    const uint32_t begin = loops.empty() ? module[write.expr].begin : module[loops.back()].begin;
    return module[reading.expr].begin < begin && !LeavesAfter(reading);
  }

  // `if args.eval: load(path); evaluate(); return`
  bool LeavesAfter(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::Return) return !tree.Parent(at) ? false : module[tree.Parent(at)].kind == ir::StmtKind::If;
      const ir::StmtId outer = tree.Parent(at);
      if (!outer || module[outer].kind != ir::StmtKind::If) continue;
      const auto block = module.statements(tree.BlockOf(at));
      if (!block.empty() && module[block.back()].kind == ir::StmtKind::Return) return true;
    }
    return false;
  }

  void Report(const FileUse& write, const FileUse& read, bool is_same_each_time) {
    const std::string name = NameOf(write.path);
    const Site& place = write.way.front();
    if (!reported_.insert({SpanOf(context_, place).file.index, SpanOf(context_, place).begin}).second) return;
    findings::Text message =
        is_same_each_time
            ? findings::Text{"`{}` is overwritten in place: a job killed while writing has neither the old "
                             "checkpoint nor the new one", {name}}
            : findings::Text{"`{}` is written under the name by which the newest checkpoint is picked: a job "
                             "killed while writing leaves half a file and resumes from it", {name}};
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, place, std::move(message));
    AddLabel(finding, finding.span, LabelRole::Primary,
             {is_same_each_time ? "the last good checkpoint is gone as soon as this starts" : "after a crash, half a file is the newest checkpoint", {}});
    if (write.way.size() > 1) AddLabel(finding, SpanOf(context_, write.site()), LabelRole::Note, {"written here", {}});
    AddLabel(finding, SpanOf(context_, read.site()), LabelRole::Note, {"the job resumes from it here", {}});
    finding.help = {"save under a temporary name, then `os.replace` it", {}};
    sink_.push_back(std::move(finding));
  }

  // The name as a person would write it.
  static std::string NameOf(const FilePath& path) {
    std::string text;
    for (const objects::PathPiece& piece : path.Name().pieces) {
      const bool repeats = piece.hole && text.ends_with('*');
      if (!repeats) text += piece.hole ? "*" : piece.text;
    }
    return text;
  }

  const Context& context_;
  FindingSink& sink_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

void Check(const Context& context, FindingSink& sink) { Checkpoints(context, sink).Run(); }

}  // namespace

extern const Rule TornCheckpoint = {
    .code = kCode,
    .name = "torn-checkpoint",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "checkpoint that is overwritten in place, and from which the program resumes",
    .explanation = R"md(
## What it finds

A checkpoint that a training loop writes, directly or through helpers, under a name that is the same
each time, where the same program reads a file of this name before the loop: it resumes from what it
overwrites. Also one whose name counts, if the program picks the newest of such names to go on from.

Names are compared as values: `os.path.join`, `/`, f-strings, `%`, `format`, lists of paths,
parameters of helpers, and what is assigned to the options of the command line.

## Why it hurts

Writing begins with truncating the file. A job that is preempted, runs out of time or out of memory meanwhile
leaves half a file, and the last good checkpoint is what was overwritten: `PytorchStreamReader failed reading
zip archive`, and days are lost. The larger the model, the longer the moment.

## Wrong

```python
torch.save(state, "last.pt")
```

## Right

```python
torch.save(state, "last.pt.tmp")
os.replace("last.pt.tmp", "last.pt")
```

## When it is silent

* The file is written under another name and then renamed, or the old one is moved away first.
* The name changes from one time to the next, and nothing picks the newest.
* The file is read behind the loop, in a branch that only evaluates, or in another script: it is a
  result, not a checkpoint to go on from.

## Fix

There is none: whether the name is a file or something like one is not known.

## Proof

There is nothing to replay: it takes a job that is killed at the wrong moment.
)md",
    .check = Check};

}  // namespace allranks::rules
