#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kCode = "AR808";

class Checkpoints {
 public:
  Checkpoints(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (context_.program.text(call.entry->name) == "torch.save") Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& save) {
    const Site site{save.function, save.expr};
    const ir::ModuleId module_id = context_.program.funcs[save.function].module;
    const ir::ExprId path = context_.index.ArgExpr(save, "f");
    if (!path || !IsInTrainingLoop(module_id, site) || !IsOneName(save.function, path)) return;
    const std::optional<Site> load = LoadOf(module_id, save.function, path);
    if (!load || calls_.Says(module_id, {"os.replace", "os.rename", ".rename(", "shutil.move", ".replace(Path", "atomic"})) return;
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, site,
                                {"`{}` is overwritten in place: a job that is killed while it writes has neither the old checkpoint nor the new",
                                 {Quoted(context_, {save.function, path})}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the last good one is gone as soon as this begins", {}});
    AddLabel(finding, SpanOf(context_, *load), LabelRole::Note, {"resumes from it", {}});
    finding.help = {"save under another name, then `os.replace` it", {}};
    sink_.push_back(std::move(finding));
  }

  bool IsInTrainingLoop(ir::ModuleId module, const Site& site) const {
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
    return std::ranges::any_of(loops, [&](ir::StmtId loop) { return context_.training.Trains(module, loop); });
  }

  // A text, or a text joined to a folder: the same in each round.
  bool IsOneName(FuncId function, ir::ExprId path) const {
    const std::string text = TextWithOrigins(context_, {function, path});
    const bool is_literal = text.find('"') != std::string::npos || text.find('\'') != std::string::npos;
    return is_literal && !HoldsWord(text, {"{", "%", "format(", "epoch", "step", "iter", "str(", "best", "final", "tmp", "temp"});
  }

  // The program loads the same text somewhere.
  std::optional<Site> LoadOf(ir::ModuleId module_id, FuncId function, ir::ExprId path) {
    const std::string name = LastLiteral(TextWithOrigins(context_, {function, path}));
    for (const KnownCall& call : context_.index.known_calls()) {
      if (name.empty() || context_.program.text(call.entry->name) != "torch.load") continue;
      const ir::ModuleId file = context_.program.funcs[call.function].module;
      const ir::ExprId from = context_.index.ArgExpr(call, "f");
      if (!from || std::ranges::count(calls_.FilesOf(module_id), file) == 0) continue;
      if (TextWithOrigins(context_, {call.function, from}).find(name) != std::string::npos) return Site{call.function, call.expr};
    }
    return std::nullopt;
  }

  // `last.pt` of `os.path.join(out, "last.pt")`.
  static std::string LastLiteral(const std::string& text) {
    const size_t end = text.find_last_of("\"'");
    if (end == std::string::npos || end == 0) return {};
    const size_t begin = text.find_last_of("\"'", end - 1);
    return begin == std::string::npos ? std::string() : text.substr(begin + 1, end - begin - 1);
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
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

`torch.save` in a training loop, under a name that is the same each time, in a program that loads a file of
this name and renames nothing.

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

* The name holds the epoch, the step, or anything that is put into it.
* The program renames or moves files.
* Nothing loads the file: it is a result, not a checkpoint to go on from.

## Fix

There is none: whether the name is a file or something like one is not known.

## Proof

There is nothing to replay: it takes a job that is killed at the wrong moment.
)md",
    .check = Check};

}  // namespace allranks::rules
