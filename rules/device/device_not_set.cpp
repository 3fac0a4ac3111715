#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analyzer/base/option_attribute.h"
#include "analyzer/objects/one_node.h"
#include "rules/device/local_rank_name.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using variation::ValueId;

constexpr std::string_view kAR202 = "AR202";

class UnsetDevices {
 public:
  UnsetDevices(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), one_node_(context.program, context.knowledge, context.facts, context.index), local_ranks_(context) {}

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
    Finding finding = FindingAt(context_, kAR202, Severity::Error, Confidence::Likely, site,
                                {"the process group uses NCCL, but no device is ever chosen: all ranks of a "
                                 "node use GPU 0 for `{}` and NCCL's own buffers",
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
    const auto& files = calls_.FilesOf(module);
    return std::ranges::any_of(files, [&](ir::ModuleId file) { return SpeaksOfDevices(file); }) || EntersDevice(module) ||
           one_node_.SeesOwnDevice(module, context_.launch) ||
           calls_.HasAny(module, {"deepspeed.", "accelerate.", "lightning.", "horovod.", "ray.", "transformers.Trainer"});
  }

  // `with torch.cuda.device(local_rank):`, which the knowledge base has beside `set_device`.
  bool EntersDevice(ir::ModuleId module) {
    return calls_.FindIf(module, [&](const KnownCall& call) {
      return call.entry->Has(knowledge::Role::SelectDevice) && context_.program.text(call.entry->name) == "torch.cuda.set_device";
    }) != nullptr;
  }

  // Something called so is there: a function of a library that nobody has read may choose as well.
  bool SpeaksOfDevices(ir::ModuleId file) const {
    const ir::Module& module = context_.program.modules[file];
    return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
      base::NameId name;
      if (expr.kind == ir::ExprKind::Name) name = ir::NameOf(expr);
      if (expr.kind == ir::ExprKind::Attribute) name = ir::AttrOf(expr);
      if (expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str) name = ir::TextOf(expr);
      if (!name) return false;
      const std::string_view text = context_.program.text(name);
      return text.find("set_device") != std::string_view::npos || text == "CUDA_VISIBLE_DEVICES" || text == "set_default_device";
    });
  }

  // The first call in the program that works on the current device: `x.cuda()`, `x.to("cuda")`, objects over NCCL.
  std::optional<objects::Site> FirstUse(ir::ModuleId module) {
    for (const ir::ModuleId file : calls_.FilesOf(module)) {
      for (const KnownCall& call : context_.index.known_calls()) {
        const objects::Site site{call.function, call.expr};
        const bool is_here = context_.program.funcs[call.function].module == file && WorksOnCurrentDevice(call);
        if (is_here && !context_.job_places.IsApart({&site, 1})) return site;
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

  void AddFix(const objects::Site& site, ir::ModuleId module, Finding& finding) {
    const ir::StmtId stmt = context_.index.StatementOf(site);
    const LocalRankText local = local_ranks_.At(site);
    if (!stmt || !BeginsLine(context_, module, stmt) || local.text.empty()) return;
    std::vector<findings::Edit> edits = {InsertBefore(context_, module, stmt, "torch.cuda.set_device(" + local.text + ")")};
    for (findings::Edit& edit : EnsureImport(context_, module, "torch", "import torch")) edits.push_back(std::move(edit));
    if (!local.variable.empty()) {
      for (findings::Edit& edit : EnsureImport(context_, module, "os", "import os")) edits.push_back(std::move(edit));
    }
    finding.fixes.push_back(MakeFix("choose the device of this process first", Applicability::Safe, std::move(edits)));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::OneNodeJobs one_node_;
  LocalRankNames local_ranks_;
};

// A collective that a process takes part in before it has chosen its device.
class Order {
 public:
  Order(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (ChoosesDevice(call)) {
        for (const objects::Site& site : context_.index.WaysTo({call.function, call.expr})) NoteChoice(site);
      }
      if (IsInit(call)) inits_.push_back(&call);
    }
    if (choices_.empty() || inits_.empty()) return;
    for (const KnownCall& call : context_.index.known_calls()) {
      if (IsOnTheJob(call)) Visit(call);
    }
  }

 private:
  static bool ChoosesForAll(std::string_view name) {
    return name.ends_with(".set_device") || name.ends_with(".set_device_index");
  }
  bool ChoosesDevice(const KnownCall& call) const {
    return call.entry->Has(knowledge::Role::SelectDevice) && ChoosesForAll(context_.program.text(call.entry->name));
  }
  bool IsInit(const KnownCall& call) const {
    return context_.program.text(call.entry->name) == "torch.distributed.init_process_group";
  }
  // A collective of all ranks that says no device: NCCL takes the current one, or one that it guesses.
  bool IsOnTheJob(const KnownCall& call) const {
    if (!call.entry->has_operation || call.entry->operation.op_class != knowledge::OpClass::Collective) return false;
    const std::string_view name = context_.program.text(call.entry->name);
    const std::string_view kind = context_.program.text(call.entry->operation.kind);
    const bool says_no_device = kind == "barrier" || kind.find("_object") != std::string_view::npos;
    const auto is_given = [&](std::string_view param) {
      const ValueId value = context_.index.Arg(call, param);
      return value && !context_.values.IsNone(value);
    };
    return name.starts_with("torch.distributed.") && says_no_device && !is_given("group") && !is_given("device_ids") && !is_given("device");
  }

  // Some function comes to the group first, then to the collective, then to the choice.
  void Visit(const KnownCall& call) {
    const std::vector<objects::Site> ways = context_.index.WaysTo({call.function, call.expr});
    for (const objects::Site& place : ways) {
      const std::optional<objects::Site> choice = ChoiceIn(place.function);
      if (!choice || choice->expr == place.expr) continue;
      if (!IsBefore(place, *choice) || IsChosenOnTheWay(ways)) return;
      if (IsOfNccl(ways)) Report({call.function, call.expr}, *choice);
      return;
    }
  }

  // The first place of a function that chooses, itself or in what it calls.
  std::optional<objects::Site> ChoiceIn(FuncId function) const {
    const auto choice = choices_.find(function.index);
    return choice == choices_.end() ? std::nullopt : std::optional(choice->second);
  }

  void NoteChoice(const objects::Site& site) {
    const auto [known, is_new] = choices_.emplace(site.function.index, site);
    if (!is_new && Begin(site) < Begin(known->second)) known->second = site;
  }

  uint32_t Begin(const objects::Site& site) const { return context_.program.module_of(site.function)[site.expr].begin; }

  bool IsBefore(const objects::Site& place, const objects::Site& choice) const {
    return place.expr != choice.expr && context_.program.module_of(place.function)[place.expr].end <= Begin(choice);
  }

  // A caller has chosen before it comes here, or the function itself in a helper.
  bool IsChosenOnTheWay(std::span<const objects::Site> ways) const {
    return std::ranges::any_of(ways, [&](const objects::Site& site) {
      const std::optional<objects::Site> choice = ChoiceIn(site.function);
      return choice && choice->expr != site.expr && !IsBefore(site, *choice);
    });
  }

  // The group that was set up before: with NCCL, or with what the user asks for, where that is NCCL unless something
  // else is said, and without a device.
  bool IsOfNccl(std::span<const objects::Site> ways) const {
    return std::ranges::any_of(inits_, [&](const KnownCall* init) {
      const ValueId device = context_.index.Arg(*init, "device_id");
      if (device && !context_.values.IsNone(device)) return false;
      if (!MayBeNccl(*init)) return false;
      const std::vector<objects::Site> init_ways = context_.index.WaysTo({init->function, init->expr});
      return std::ranges::any_of(init_ways, [&](const objects::Site& init_site) {
        return std::ranges::any_of(ways, [&](const objects::Site& site) {
          return init_site.function == site.function && init_site.expr != site.expr && Begin(init_site) < Begin(site);
        });
      });
    });
  }

  bool MayBeNccl(const KnownCall& init) const {
    const ValueId backend = context_.index.Arg(init, "backend");
    // Without one the group has a backend for tensors of each device, and a barrier or an object goes by way of the CPU
    // (`_get_object_coll_device` of torch/distributed/distributed_c10d.py in PyTorch 2.3; before that C++ does the same).
    if (!backend || context_.values.IsNone(backend)) return false;
    const std::vector<ValueId> leaves = context_.values.Leaves(backend);
    return std::ranges::any_of(leaves, [&](ValueId leaf) {
      return context_.values.Str(leaf).find("nccl") != std::string_view::npos || IsOptionForNccl(leaf);
    });
  }

  // `args.backend` of `parser.add_argument("--backend", default="nccl")`.
  bool IsOptionForNccl(ValueId value) const {
    const variation::Value& node = context_.facts.values_store[value];
    if (node.kind != variation::ValueKind::Derived || node.kid_count != 1) return false;
    const base::NameId option = context_.facts.values_store.OperationOf(node);
    if (!option) return false;
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId file{m};
      const ir::Module& module = context_.program.modules[file];
      for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Call)) {
        const ir::Expr& callee = module[ir::CalleeOf(module[id])];
        const bool adds = callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "add_argument";
        if (!adds || ir::ArgCount(module, module[id]) == 0) continue;
        const std::string name = base::OptionAttribute(context_.values.Str(context_.facts.value(file, ir::ArgAt(module, module[id], 0).value)));
        const ir::ExprId usual = name == context_.program.text(option) ? KeywordOf(context_, file, id, "default") : ir::ExprId();
        if (usual && context_.values.Str(context_.facts.value(file, usual)) == "nccl") return true;
      }
    }
    return false;
  }

  void Report(const objects::Site& site, const objects::Site& choice) {
    Finding finding = FindingAt(context_, kAR202, Severity::Warning, Confidence::Likely, site,
                                {"`{}` comes before this process chooses its device: NCCL takes GPU 0 or guesses from the global rank",
                                 {Quoted(context_, site)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"no device is given", {}});
    AddLabel(finding, SpanOf(context_, choice), LabelRole::Why, {"chosen only here", {}});
    finding.help = {"choose the device before the group is created, or pass `device_id` to `init_process_group`", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  std::unordered_map<uint32_t, objects::Site> choices_;  // by FuncId: where it first chooses, itself or in what it calls
  std::vector<const KnownCall*> inits_;
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
    Finding finding = FindingAt(context_, kAR202, Severity::Error, Confidence::Likely, site,
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
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const bool chooses = context_.program.modules[ir::ModuleId{m}].language != ir::Language::Python &&
                           NamesAny(context_, ir::ModuleId{m},
                                    {"SetDevice", "set_device", "CUDAGuard", "CUDA_VISIBLE_DEVICES", "cuCtxSetCurrent", "cuCtxCreate",
                                     "cuDevicePrimaryCtxRetain", "omp_set_default_device"});
      if (chooses) return true;
    }
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
};

void CheckDeviceNotSet(const Context& context, FindingSink& sink) {
  UnsetDevices(context, sink).Run();
  Order(context, sink).Run();
  Communicators(context, sink).Run();
}

}  // namespace

extern const Rule DeviceNotSet = {
    .code = kAR202,
    .name = "device-not-set",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python, C, C++",
    .summary = "program that uses NCCL but never chooses a device for each process",
    .explanation = R"md(
## What it finds

`init_process_group` with the NCCL backend in a program that works on the *current* device (`x.cuda()`,
`x.to("cuda")`, or a collective of objects, whose pickles NCCL moves through GPU memory) and in which nothing
says which device that is: no `set_device`, no `device_id`, no `CUDA_VISIBLE_DEVICES`.

Also a barrier, or a collective of objects, that a process reaches after the group is set up and before it
has chosen its device. For a backend that is an option, the default of the option counts.

In C and C++: a program (a file with `main`) whose ranks join a communicator with `ncclCommInitRank`, while
no file calls `cudaSetDevice` or a similar function.

## Why it hurts

The current device is GPU 0 in every process. Eight processes put their models on it and run out of memory, or
NCCL ends with `Duplicate GPU detected : rank 1 and rank 0 both on CUDA device`. If tensors are placed by hand
and objects are sent over NCCL, only the objects go to GPU 0, and the job hangs or fails far from the cause.

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

* A device is chosen (`set_device`, `with torch.cuda.device(...)`) before the first collective that needs
  one, or each process sees only one device, because the program or its launcher hides the others.
* `device_id` is passed.
* DeepSpeed, Accelerate, Lightning, Horovod or Ray choose it.
* Every tensor is put on a device with an index.

## Fix

`--fix` calls `set_device` with the local rank before the group is set up. There is no fix in C and C++, where
nothing says what the local rank is.

## Proof

There is nothing to replay: that two ranks share a device depends on the machine.
)md",
    .check = CheckDeviceNotSet,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
