#include <algorithm>

#include "analyzer/base/lowered.h"
#include "analyzer/objects/jobs.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kCode = "AR803";

// What is loaded was saved by a training job, from its devices; data sets are mostly saved from the CPU.
constexpr std::string_view kOfTraining[] = {"ckpt", "checkpoint", "resume", "model", "state", "weight", "snapshot", "pretrain",
                                            "best", "optim"};
constexpr std::string_view kOfData[] = {"data", "feature", "cache", "embed", "token", "index", "label", "sample", "target"};

bool SpeaksOf(std::string_view source, std::span<const std::string_view> words) {
  const std::string text = base::Lowered(source);
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

class Load {
 public:
  Load(const Context& context, const objects::KnownCall& call) : context_(context), call_(call) {}

  // The place to load to was not said.
  bool IsOpen(std::string_view param) const {
    const ir::Module& module = context_.program.module_of(call_.function);
    if (module[call_.expr].kind != ir::ExprKind::Call) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call_.expr]); ++i) {
      const ir::ArgKind kind = ir::ArgAt(module, module[call_.expr], i).kind;
      if (kind == ir::ArgKind::Star || kind == ir::ArgKind::DoubleStar) return false;
    }
    const ir::ExprId given = context_.index.ArgExpr(call_, param);
    if (!given) return true;
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.index.Arg(call_, param));
    return !leaves.empty() && std::ranges::all_of(leaves, [&](variation::ValueId leaf) { return context_.values.IsNone(leaf); });
  }

  bool IsOfTraining() const {
    const ir::ModuleId module = context_.program.funcs[call_.function].module;
    const ir::StmtId stmt = context_.index.StatementOf({call_.function, call_.expr});
    if (!stmt) return false;
    const std::string text(TextOf(context_, HeadOf(context_, module, stmt)));
    if (!SpeaksOf(text, kOfTraining) || SpeaksOf(text, kOfData)) return false;
    const ir::Function& function = context_.program.function(call_.function);
    const bool is_top = context_.program.funcs[call_.function].function == ir::kTopLevel;
    const source::FileId file = context_.program.modules[module].file;
    const std::string_view body = is_top ? std::string_view(context_.files[file].text)
                                         : TextOf(context_, {file, function.begin, function.end});
    return body.find("load_state_dict") != std::string_view::npos;
  }

  // One file for all: each rank's own was saved by that rank, from its device.
  bool RunsOnSeveralRanks() const {
    const ir::ExprId path = context_.index.ArgExpr(call_, "f");
    const variation::ValueId value = context_.index.Arg(call_, "f");
    if (!path || !value) return false;
    const std::string text = TextWithOrigins(context_, {call_.function, path});
    for (const std::string_view word : {"rank", "shard", "local", "BytesIO", "buffer"}) {
      if (text.find(word) != std::string::npos) return false;
    }
    const bool is_own = context_.values.AnyPart(value, [&](variation::ValueId part) {
      // Which file is there may differ, but then for all ranks of a shared disk alike.
      const knowledge::Axes axes = context_.facts.values_store.axes(part);
      return !Without(axes, knowledge::Axes::Of(knowledge::Axis::Environment)).empty();
    });
    if (is_own) return false;
    return context_.reach.Ranks({call_.function, call_.expr}, objects::SmallJob(context_.facts.job)).count() > 1;
  }

  // Another arm of the same branch loads it to a device of its own, so this one is for where there is none.
  bool IsLoadedToADeviceElsewhere(std::string_view param) const {
    const ir::ModuleId module_id = context_.program.funcs[call_.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    const ir::ExprId path = context_.index.ArgExpr(call_, "f");
    ir::StmtId branch = tree.StatementOf(call_.expr);
    while (branch && module[branch].kind != ir::StmtKind::If) branch = tree.Parent(branch);
    if (!branch || !path) return false;
    return std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& other) {
      if (other.function != call_.function || other.expr == call_.expr || !other.entry->Has(knowledge::Role::LoadTensors)) return false;
      const ir::ExprId place = context_.index.ArgExpr(other, param);
      const ir::ExprId from = context_.index.ArgExpr(other, "f");
      const bool is_in_branch = module[other.expr].begin > module[branch].begin && module[other.expr].end <= module[branch].end;
      return is_in_branch && place && from && context_.values.Str(context_.index.Arg(other, param)) != "cpu" &&
             TextOf(context_, module_id, from) == TextOf(context_, module_id, path);
    });
  }

  // Other accelerators than those of CUDA save to and load from the host.
  bool IsOfXla() const {
    return context_.files[context_.program.module_of(call_.function).file].text.find("torch_xla") != std::string::npos;
  }

  void Report(std::string_view param, FindingSink& sink) const {
    const objects::Site site{call_.function, call_.expr};
    Finding finding = FindingAt(context_, kCode, Severity::Warning, Confidence::Likely, site,
                                {"every rank loads this checkpoint onto the device that saved it, mostly `cuda:0`: all of a "
                                 "node's copies go through the memory of one device",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no `{}`", {std::string(param)}});
    finding.help = {"load to the CPU with `map_location=\"cpu\"`, or to the rank's own device", {}};
    const ir::ModuleId module = context_.program.funcs[call_.function].module;
    const ir::ExprId given = context_.index.ArgExpr(call_, param);
    const std::string argument = std::string(param) + "=\"cpu\"";
    const findings::Edit edit = given ? Replace(ArgumentSpan(context_, module, call_.expr, given), argument)
                                      : AddArgument(context_, module, call_.expr, argument);
    finding.fixes.push_back(MakeFix("load to the CPU", Applicability::Safe, {edit}));
    sink.push_back(std::move(finding));
  }

 private:
  const Context& context_;
  const objects::KnownCall& call_;
};

void Check(const Context& context, FindingSink& sink) {
  const objects::Jobs jobs(context.program, context.index);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::LoadTensors) continue;
      const Load load(context, call);
      const std::string_view param = context.program.text(role.param);
      if (!load.IsOpen(param) || !load.IsOfTraining() || !load.RunsOnSeveralRanks()) continue;
      if (load.IsLoadedToADeviceElsewhere(param) || load.IsOfXla()) continue;
      if (jobs.IsDistributed(context.program.funcs[call.function].module)) load.Report(param, sink);
    }
  }
}

}  // namespace

extern const Rule LoadWithoutMapLocation = {
    .code = kCode,
    .name = "load-without-map-location",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "checkpoint that every rank loads onto the device which saved it",
    .explanation = R"md(
## What it finds

A checkpoint that is loaded with `torch.load` and no `map_location`, in a file that is part of a
distributed program, on several ranks. What the statement is called (`ckpt`, `resume`, `model`,
`state`) says that it is a checkpoint.

## Why it hurts

Tensors go back to the device that they were saved from. Rank 0 saved them, so all eight processes of
a node put a copy of model and optimizer on `cuda:0`, and each opens a CUDA context there: several
gigabytes more on one device, which then runs out of memory while the others have plenty. It often
shows only when a job is resumed.

## Wrong

```python
checkpoint = torch.load("last.pt")
model.load_state_dict(checkpoint["model"])
```

## Right

```python
checkpoint = torch.load("last.pt", map_location="cpu")
model.load_state_dict(checkpoint["model"])
```

## When it is silent

* `map_location` is given, or arguments are passed on with `*` or `**`.
* One rank only gets there, or each rank loads a file of its own.
* Neither the file nor one that imports it sets up a job, wraps a model or communicates.
* The statement speaks of data rather than of a checkpoint, or the function loads it into nothing.

## Fix

`--fix` passes `map_location="cpu"`; `load_state_dict` copies each tensor to where the parameter is.

## Proof

There is nothing to replay: the ranks agree, one device has too much to hold.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
