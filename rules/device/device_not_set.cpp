#include <algorithm>
#include <optional>

#include "rules/device/local_rank_name.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;

constexpr std::string_view kCode = "AR202";

class Devices {
 public:
  Devices(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (context_.program.text(call.entry->name) == "torch.distributed.init_process_group") Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& init) {
    const ir::ModuleId module = context_.program.funcs[init.function].module;
    const ValueId device = context_.index.Arg(init, "device_id");
    if (!UsesNccl(init) || (device && !context_.values.IsNone(device)) || IsChosenElsewhere(module)) return;
    const std::optional<objects::Site> first = FirstUse(module);
    if (!first) return;
    const objects::Site site{init.function, init.expr};
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, site,
                                {"the process group uses NCCL, but no device is ever chosen: all ranks of a node work on GPU 0, where `{}` "
                                 "and NCCL's own buffers of all of them meet",
                                 {Quoted(context_, *first)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no `set_device` and no `device_id`", {}});
    AddLabel(finding, SpanOf(context_, *first), LabelRole::Why, {"works on the current device, which is GPU 0", {}});
    finding.help = {"call `torch.cuda.set_device(local_rank)` first, or pass `device_id` here", {}};
    AddFix(site, module, finding);
    sink_.push_back(std::move(finding));
  }

  bool UsesNccl(const KnownCall& init) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.index.Arg(init, "backend"));
    return std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.Str(leaf).find("nccl") != std::string_view::npos; });
  }

  // By the program, or by a library that chooses the device of a process itself.
  bool IsChosenElsewhere(ir::ModuleId module) {
    return calls_.Says(module, {"set_device", "CUDA_VISIBLE_DEVICES", "set_default_device", "torch.cuda.device("}) ||
           calls_.HasAny(module, {"deepspeed.", "accelerate.", "lightning.", "horovod.", "ray.", "transformers.Trainer"});
  }

  // The first call in the program that works on the current device: `x.cuda()`, `x.to("cuda")`, objects over NCCL.
  std::optional<objects::Site> FirstUse(ir::ModuleId module) {
    for (const ir::ModuleId file : calls_.FilesOf(module)) {
      for (const KnownCall& call : context_.index.known_calls()) {
        if (context_.program.funcs[call.function].module == file && WorksOnCurrentDevice(call)) {
          return objects::Site{call.function, call.expr};
        }
      }
    }
    return std::nullopt;
  }

  bool WorksOnCurrentDevice(const KnownCall& call) const {
    const std::string_view name = context_.program.text(call.entry->name);
    const ValueId device = context_.index.Arg(call, "device");
    const std::string_view method = MethodOf(context_, {call.function, call.expr});
    if (method == "cuda" && call.entry->Has(knowledge::Role::SelectDevice)) return !device || context_.values.IsNone(device);
    if (method == "to" && call.entry->Has(knowledge::Role::SelectDevice)) return context_.values.Str(device) == "cuda";
    const std::string_view kind = call.entry->has_operation ? context_.program.text(call.entry->operation.kind) : std::string_view();
    return name.starts_with("torch.distributed.") && kind.find("_object") != std::string_view::npos &&
           !context_.index.Arg(call, "group");
  }

  void AddFix(const objects::Site& site, ir::ModuleId module, Finding& finding) const {
    const ir::StmtId stmt = context_.index.StatementOf(site);
    const LocalRankText local = LocalRankAt(context_, site);
    const std::string& text = context_.files[context_.program.modules[module].file].text;
    // A process that the program starts itself has no LOCAL_RANK in its environment.
    const bool is_started = HoldsWord(text, {"spawn(", "Process("});
    if (!stmt || !BeginsLine(context_, module, stmt) || (local.reads_environment && is_started)) return;
    std::vector<findings::Edit> edits = {InsertBefore(context_, module, stmt, "torch.cuda.set_device(" + local.text + ")")};
    for (findings::Edit& edit : EnsureImport(context_, module, "torch", "import torch")) edits.push_back(std::move(edit));
    if (local.reads_environment) {
      for (findings::Edit& edit : EnsureImport(context_, module, "os", "import os")) edits.push_back(std::move(edit));
    }
    finding.fixes.push_back(MakeFix("choose the device of this process first", Applicability::Safe, std::move(edits)));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

// The same in C and C++: a program whose ranks join a communicator of NCCL and of which no file chooses a device.
class Communicators {
 public:
  Communicators(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const ir::Module& module = context_.program.module_of(call.function);
      const bool is_joining = call.entry->has_operation && call.entry->operation.token_param && call.entry->operation.own_rank_param;
      // One that holds `main`: of a library the program around it chooses.
      if (is_joining && module.language != ir::Language::Python && HasMain(module) && !IsChosen()) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& call) {
    const ValueId rank = context_.index.Arg(call, context_.program.text(call.entry->operation.own_rank_param));
    // One process may join as each of its devices, one after the other.
    if (!rank || !context_.facts.values_store.axes(rank).has(knowledge::Axis::Global)) return;
    const objects::Site site{call.function, call.expr};
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, site,
                                {"no device is ever chosen: all ranks of a node join with GPU 0 in `{}`, which NCCL refuses",
                                 {std::string(context_.program.text(call.entry->name))}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"works on the current device, which is GPU 0", {}});
    finding.help = {"call `cudaSetDevice` with the index of the process on its node first", {}};
    sink_.push_back(std::move(finding));
  }

  bool HasMain(const ir::Module& module) const {
    return std::ranges::any_of(module.functions, [&](const ir::Function& function) { return context_.program.text(function.name) == "main"; });
  }

  bool IsChosen() const {
    return std::ranges::any_of(context_.program.modules, [&](const ir::Module& module) {
      return module.language != ir::Language::Python &&
             HoldsWord(context_.files[module.file].text,
                       {"SetDevice", "set_device", "CUDAGuard", "CUDA_VISIBLE_DEVICES", "cuCtxSetCurrent", "cuCtxCreate",
                        "cuDevicePrimaryCtxRetain", "omp_set_default_device"});
    });
  }

  const Context& context_;
  FindingSink& sink_;
};

void Check(const Context& context, FindingSink& sink) {
  Devices(context, sink).Run();
  Communicators(context, sink).Run();
}

}  // namespace

extern const Rule DeviceNotSet = {
    .code = kCode,
    .name = "device-not-set",
    .severity = Severity::Error,
    .languages = "Python, C, C++",
    .summary = "no process chooses its device, though NCCL is used",
    .explanation = R"md(
## What it finds

`init_process_group` with the NCCL backend in a program that works on the *current* device (`x.cuda()`,
`x.to("cuda")`, or a collective of objects, whose pickles NCCL moves through GPU memory) and in which nothing
says which device that is: neither `set_device`, nor `device_id`, nor `CUDA_VISIBLE_DEVICES`.

In C and C++: a program (a file with `main`) whose ranks join a communicator with `ncclCommInitRank`, while
no file calls `cudaSetDevice` or its like.

## Why it hurts

The current device is GPU 0 in every process. Eight processes put their model on it and run out of memory, or
NCCL ends with `Duplicate GPU detected : rank 1 and rank 0 both on CUDA device`. With tensors placed by hand
and objects sent over NCCL, only the objects go to GPU 0, and the job hangs or fails far from the cause.

## Wrong

```python
dist.init_process_group("nccl")
model = Net().cuda()
```

## Right

```python
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = Net().cuda()
```

## When it is silent

* A device is chosen anywhere in the program, or each process sees one device only.
* `device_id` is passed.
* DeepSpeed, Accelerate, Lightning, Horovod or Ray choose it.
* Every tensor is put on a device with an index.

## Fix

`--fix` calls `set_device` with the local rank before the group is set up. There is none in C and C++, where
nothing says what the local rank is.

## Proof

There is nothing to replay: that two ranks share a device depends on the machine.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
