#include <algorithm>
#include <vector>

#include "analyzer/objects/jobs.h"
#include "analyzer/objects/one_node.h"
#include "analyzer/objects/one_process_modes.h"
#include "rules/finding_parts.h"
#include "rules/memory/host_saves.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;

constexpr std::string_view kAR803 = "AR803";

class Load {
 public:
  Load(const Context& context, const objects::KnownCall& call) : context_(context), call_(call) {}

  // The place to load to was not said.
  bool IsOpen(std::string_view param) const {
    const ir::Module& module = context_.program.module_of(call_.function);
    if (module[call_.expr].kind != ir::ExprKind::Call) return false;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call_.expr]); ++i) {
      const ir::Arg argument = ir::ArgAt(module, module[call_.expr], i);
      if (argument.kind == ir::ArgKind::Star || (argument.kind == ir::ArgKind::DoubleStar && MayHold(argument.value, param))) return false;
    }
    // Also what a `functools.partial` was bound to beforehand.
    const ValueId given = context_.index.Arg(call_, param);
    if (!given) return !context_.index.ArgExpr(call_, param);
    const std::vector<ValueId> leaves = context_.values.Leaves(given);
    return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return context_.values.IsNone(leaf); });
  }

  // Of `**options`: whether a caller hands on such a keyword, or what they are is not seen.
  bool MayHold(ir::ExprId options, std::string_view param) const {
    const variation::ValueStore& store = context_.facts.values_store;
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.facts.value(Module(), options));
    return leaves.empty() || std::ranges::any_of(leaves, [&](ValueId leaf) {
      const base::NameId name = context_.program.names->Find(param);
      if (!name || store[leaf].kind != variation::ValueKind::Dict) return true;
      for (const variation::Item item : store.ItemsOf(leaf)) {
        if (store[item.key].kind != variation::ValueKind::Str || store[item.key].name() == name) return true;
      }
      return false;
    });
  }

  ValueId Loaded() const { return context_.facts.value(Module(), call_.expr); }

  // One file for all: each rank's own was saved by that rank, from its device, and what lies in memory by nobody else.
  bool IsOneFile() const {
    const ValueId path = context_.index.Arg(call_, "f");
    if (!path) return false;
    return !context_.values.AnyPart(path, [&](ValueId part) {
      if (context_.values.IsA(part, "io.BytesIO")) return true;
      // Which file is there may differ, but then for all ranks of a shared disk alike.
      const knowledge::Axes axes = context_.facts.values_store.axes(part);
      return !Without(axes, knowledge::kSurroundings).empty();
    });
  }

  bool RunsOnSeveralRanks() const {
    return context_.ranks.At({call_.function, call_.expr}, objects::SmallJob(context_.facts.job)).count() > 1;
  }

  // Another arm of the same branch loads it to a device of its own, so this one is for where there is none.
  bool IsLoadedToADeviceElsewhere(std::string_view param) const {
    const ir::Module& module = context_.program.modules[Module()];
    const ir::Tree& tree = context_.index.tree(Module());
    ir::StmtId branch = tree.StatementOf(call_.expr);
    while (branch && module[branch].kind != ir::StmtKind::If) branch = tree.Parent(branch);
    if (!branch) return false;
    return std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& other) {
      if (other.function != call_.function || other.expr == call_.expr || !other.entry->Has(knowledge::Role::LoadTensors)) return false;
      const bool is_in_branch = module[other.expr].begin > module[branch].begin && module[other.expr].end <= module[branch].end;
      return is_in_branch && context_.index.ArgExpr(other, param) &&
             context_.values.Str(context_.index.Arg(other, param)) != "cpu" &&
             context_.index.Arg(other, "f") == context_.index.Arg(call_, "f");
    });
  }

  // What is loaded where the first attempt to load something failed: a fallback, which runs of the job do not come to as a rule.
  bool IsFallback() const {
    const ir::Module& module = context_.program.modules[Module()];
    const ir::Tree& tree = context_.index.tree(Module());
    for (ir::StmtId at = tree.StatementOf(call_.expr); at; at = tree.Parent(at)) {
      if (module[at].kind != ir::StmtKind::Try) continue;
      const auto handlers = ir::HandlersOf(module, module[at]);
      const bool is_in_handler = !handlers.empty() && module[call_.expr].begin > handlers.front().begin;
      if (is_in_handler && std::ranges::any_of(context_.index.KnownCallsIn(call_.function), [&](const objects::KnownCall& other) {
            return other.entry->Has(knowledge::Role::LoadTensors) && module[other.expr].begin > module[at].begin && module[other.expr].end < handlers.front().begin;
          })) {
        return true;
      }
    }
    return false;
  }

  // Other accelerators than those of CUDA save to and load from the host.
  bool IsOfXla() const {
    return std::ranges::any_of(context_.program.modules[Module()].imports, [&](const ir::Import& import) {
      const std::string_view name = import.module ? context_.program.text(import.module) : std::string_view();
      return name.substr(0, name.find('.')) == "torch_xla";
    });
  }

  // A file that somebody else made: named in the code, or as torch.hub names what it downloads (`vgg16-397923af.pth`). Weights that are published
  // were moved to the host, as a rule.
  bool IsPublished() const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& read) {
      const bool is_this = read.act == objects::FileAct::Read && read.call->function == call_.function && read.call->expr == call_.expr;
      return is_this && (EndsInDigest(read.path) || (read.path.IsText() && !IsSavedSomewhere(read.path)));
    });
  }

  // By whatever program of the project: `checkpoint0009.pth` of f"checkpoint{epoch:04}.pth".
  bool IsSavedSomewhere(const objects::FilePath& path) const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& write) {
      const objects::FilePath name = write.path.Name();
      const bool begins_alike = !name.pieces.empty() && !name.pieces.front().hole && objects::Matches(name, path);
      return write.act == objects::FileAct::Write && (begins_alike || objects::IsOneName(path, write.path));
    });
  }

  // Where the program itself saves it.
  std::vector<const objects::FileUse*> Saves(ProgramCalls& calls) const {
    std::vector<const objects::FileUse*> saves;
    for (const objects::FileUse& read : context_.file_uses.uses()) {
      if (read.act != objects::FileAct::Read || read.call->function != call_.function || read.call->expr != call_.expr) continue;
      for (const objects::FileUse& write : context_.file_uses.uses()) {
        const bool is_save = write.act == objects::FileAct::Write && objects::IsOneName(read.path, write.path);
        if (is_save && calls.IsOneProgram(FileOf(read), FileOf(write))) saves.push_back(&write);
      }
    }
    return saves;
  }

  // `is_own`: the program saves it itself.
  void Report(std::string_view param, const objects::OneProcessModes& modes, bool is_own, FindingSink& sink) const {
    const objects::Site site{call_.function, call_.expr};
    // Who calls a function of a library was not seen, and a model is mostly tried out by one process.
    const bool is_launched = context_.launch.Of(site) == objects::RunBy::AllRanks && context_.training.IsForTraining(call_.function) && (is_own || !IsPublished());
    Finding finding = FindingAt(context_, kAR803, Severity::Warning, is_launched ? Confidence::Likely : Confidence::Possible, site,
                                {"every rank loads this checkpoint onto the device that saved it, usually `cuda:0`: all ranks of a node fill the "
                                 "memory of one GPU, which may run out",
                                 {}});
    if (modes.AreMeantAt({&site, 1})) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    AddLabel(finding, finding.span, LabelRole::Primary, {"no `{}`", {std::string(param)}});
    finding.help = {"load to the CPU with `map_location=\"cpu\"`, or to the rank's own device", {}};
    const ir::ModuleId module = Module();
    const ir::ExprId given = context_.index.ArgExpr(call_, param);
    const std::string argument = std::string(param) + "=\"cpu\"";
    const findings::Edit edit = given ? Replace(ArgumentSpan(context_, module, call_.expr, given), argument)
                                      : AddArgument(context_, module, call_.expr, argument);
    finding.fixes.push_back(MakeFix("load to the CPU", Applicability::Safe, {edit}));
    finding.is_in_preview = !is_own || BelongsInPreview(context_, call_.function, finding);
    sink.push_back(std::move(finding));
  }

 private:
  // `-397923af.pth`: the first digits of the digest of its bytes.
  static bool EndsInDigest(const objects::FilePath& path) {
    constexpr size_t kDigits = 8;
    if (path.pieces.empty() || path.pieces.back().hole) return false;
    const std::string_view text = path.pieces.back().text;
    const size_t dash = text.rfind('-');
    if (dash == std::string_view::npos) return false;
    const std::string_view rest = text.substr(dash + 1);
    const size_t digits = std::min(rest.find_first_not_of("0123456789abcdef"), rest.size());
    return digits == kDigits && rest.substr(digits).starts_with('.');
  }

  ir::ModuleId FileOf(const objects::FileUse& use) const { return context_.program.funcs[use.site().function].module; }
  ir::ModuleId Module() const { return context_.program.funcs[call_.function].module; }

  const Context& context_;
  const objects::KnownCall& call_;
};

// What modules and optimizers take over. The state of a schedule is a few numbers. What an object is may be known from
// its callers or, failing that, from its name; a method of no known class is what the knowledge base says of its name.
class Restored {
 public:
  explicit Restored(const Context& context) : context_(context) {
    for (uint32_t m = 0; m < context.program.modules.size(); ++m) {
      for (const ir::ExprId call : context.index.ExprsOf(ir::ModuleId{m}, ir::ExprKind::Call)) Visit(ir::ModuleId{m}, call);
    }
  }

  // Whether it gets there, through whatever took it apart or handed it on.
  bool Has(ValueId loaded) const {
    return std::ranges::any_of(values_, [&](ValueId value) {
      return context_.values.AnyPart(value, [&](ValueId part) { return part == loaded; });
    });
  }

 private:
  void Visit(ir::ModuleId module_id, ir::ExprId call) {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::ExprId callee = ir::CalleeOf(module[call]);
    if (module[callee].kind != ir::ExprKind::Attribute || ir::ArgCount(module, module[call]) == 0) return;
    const knowledge::EntryId entry = EntryOf(module_id, callee);
    if (!entry || !context_.knowledge[entry].Has(knowledge::Role::RestoreTensors)) return;
    if (const ValueId value = context_.facts.value(module_id, ir::ArgAt(module, module[call], 0).value)) values_.push_back(value);
  }

  knowledge::EntryId EntryOf(ir::ModuleId module_id, ir::ExprId callee) const {
    const ir::Module& module = context_.program.modules[module_id];
    const base::NameId method = ir::AttrOf(module[callee]);
    const ir::ExprId object = ir::ObjectOf(module[callee]);
    for (const ValueId leaf : context_.values.Leaves(context_.facts.value(module_id, object))) {
      const knowledge::ClassId known = context_.values.ClassOf(leaf);
      if (const knowledge::EntryId entry = known ? context_.knowledge.FindMember(known, method) : knowledge::EntryId{}) return entry;
    }
    const ir::Expr& named = module[object];
    base::NameId name;
    if (named.kind == ir::ExprKind::Name) name = ir::NameOf(named);
    if (named.kind == ir::ExprKind::Attribute) name = ir::AttrOf(named);
    const knowledge::Hint* hint = name ? context_.knowledge.FindHint(name) : nullptr;
    const knowledge::ClassId hinted = hint != nullptr && hint->type ? context_.knowledge.FindClass(hint->type) : knowledge::ClassId{};
    if (const knowledge::EntryId entry = hinted ? context_.knowledge.FindMember(hinted, method) : knowledge::EntryId{}) return entry;
    return context_.knowledge.FindAnyMember(method);
  }

  const Context& context_;
  std::vector<ValueId> values_;
};

// Whether the program moves to the host what it saves under this name, wherever it does: there it goes back to.
bool IsSavedOnHost(const std::vector<const objects::FileUse*>& saves, HostSaves& on_host) {
  return !saves.empty() && std::ranges::all_of(saves, [&](const objects::FileUse* save) { return on_host.Has(*save); });
}

void CheckLoadWithoutMapLocation(const Context& context, FindingSink& sink) {
  const objects::Jobs jobs(context.program, context.index);
  const Restored restored(context);
  ProgramCalls calls(context);
  HostSaves on_host(context);
  const objects::OneProcessModes modes(context.program, context.facts, context.index, context.guards, context.launch, context.options);
  const objects::OneNodeJobs one_node(context.program, context.knowledge, context.facts, context.index);
  for (const objects::KnownCall& call : context.index.known_calls()) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::LoadTensors) continue;
      const Load load(context, call);
      const std::string_view param = context.program.text(role.param);
      const objects::RunBy run_by = context.launch.Of(objects::Site{call.function, call.expr});
      if (run_by == objects::RunBy::OneProcess || run_by == objects::RunBy::Workers) continue;
      if (!load.IsOpen(param) || !restored.Has(load.Loaded())) continue;
      if (!load.IsOneFile() || !load.RunsOnSeveralRanks() || load.IsLoadedToADeviceElsewhere(param) || load.IsOfXla() || load.IsFallback()) continue;
      if (one_node.SeesOwnDevice(context.program.funcs[call.function].module, context.launch)) continue;
      const std::vector<const objects::FileUse*> saves = load.Saves(calls);
      if (!jobs.IsDistributed(context.program.funcs[call.function].module) || IsSavedOnHost(saves, on_host)) continue;
      load.Report(param, modes, !saves.empty(), sink);
    }
  }
}

}  // namespace

extern const Rule LoadWithoutMapLocation = {
    .code = kAR803,
    .name = "load-without-map-location",
    .severity = Severity::Warning,
    .preview_in_part = "findings of checkpoints that the program does not save itself, or in programs that nothing here is seen to start on ranks, and those "
                       "that take anything for granted: of the others that were read 4 of 4 are right, of all of them 17 of 25",
    .languages = "Python",
    .summary = "checkpoint that every rank loads onto the device which saved it",
    .explanation = R"md(
## What it finds

A checkpoint that several ranks load with `torch.load` and no `map_location`. What is loaded ends in
`load_state_dict` of a module or an optimizer, in this function or in one that gets it.

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

* `map_location` is given, also to `functools.partial` beforehand, or arguments are passed on with `*` or
  `**` that may hold it.
* One rank only gets there, or each rank loads a file of its own.
* One process runs the code: a web page, a converter, a script that starts no job. Where nobody was
  seen to call the function, or no training leads there, the finding is *possible*.
* Nothing sets up a process group or communicates in the file, or in one that uses it: a library whose ranks
  are in another project.
* Each process sees one device of its own: the program sets `CUDA_VISIBLE_DEVICES` by the rank, or what starts
  it does so for each process (`srun --gpus-per-task=1`,
  `Popen(..., env={"CUDA_VISIBLE_DEVICES": str(i), ...})`).
* What is loaded holds no tensors (the state of a learning rate schedule), or is loaded into nothing.
* It stands in a handler of what was loaded first: a fallback.
* The path stands in the code, or ends in the digest that torch.hub puts into names (`vgg16-397923af.pth`),
  and nothing in the project saves a file of such a name: weights that are published, most of which were moved
  to the host (then it is *possible*).
* The program moves to the host (`.cpu()`) what it saves under this name, or items of it.
* The commands of the project that lead there by their options start one process (then it is *possible*).

## Fix

`--fix` passes `map_location="cpu"`; `load_state_dict` copies each tensor to where the parameter is.

## Proof

There is nothing to replay: the ranks agree, one device has too much to hold.
)md",
    .check = CheckLoadWithoutMapLocation,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
