#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR206 = "AR206";

// The call with the memory that it gets. Kinds that schedules do not know are no different in this.
witness::Witness BackendWitness(const Context& context, const KnownCall& call) {
  constexpr std::string_view kScheduled[] = {"all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter", "all_to_all"};
  const std::string_view kind = context.program.text(call.entry->operation.kind);
  witness::Witness witness = ScenarioWitness(OneNode(), witness::Effect::Error, witness::TensorMemory{.backend = "nccl", .device = "cpu"});
  AddOperation(context, std::string(std::ranges::count(kScheduled, kind) > 0 ? kind : "all_reduce"),
               std::string(context.program.text(call.entry->name)), SpanOf(context, {call.function, call.expr}), &witness);
  return witness;
}

// What makes a tensor in the memory of the host unless a device is named.
constexpr std::string_view kMakers[] = {"torch.tensor",  "torch.zeros", "torch.ones", "torch.empty", "torch.full",
                                                             "torch.rand",    "torch.randn", "torch.arange", "torch.Tensor",
                                                             "torch.as_tensor", "torch.from_numpy", "torch.FloatTensor", "torch.LongTensor"};

bool IsAssignedIn(const ir::Module& module, const ir::Stmt& stmt, base::NameId name) {
  const auto is_it = [&](ir::ExprId target) { return module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == name; };
  if (stmt.kind == ir::StmtKind::AnnAssign) return is_it(ir::ValueOf(stmt));
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    if (is_it(target)) return true;
  }
  return false;
}

class Backends {
 public:
  Backends(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const bool is_collective = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Collective;
      if (!is_collective || !call.entry->operation.tensor_param) continue;
      if (context_.program.text(call.entry->name).starts_with("torch.distributed.")) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& call) {
    const std::string_view kind = context_.program.text(call.entry->operation.kind);
    const ir::ExprId tensor = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
    const ValueId group = context_.index.Arg(call, context_.program.text(call.entry->operation.group_param));
    if (!tensor || kind.find("object") != std::string_view::npos || (group && !context_.values.IsNone(group))) return;
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const Site made = MadeOnHost({call.function, tensor});
    if (!made.expr || !OnlyNccl(module) || calls_.Names(module, {"set_default_device", "set_default_tensor_type"}) || MakesMeshOfHosts(module)) return;
    const Site site{call.function, call.expr};
    Finding finding = FindingAt(context_, kAR206, Severity::Error, Confidence::Likely, site,
                                {"`{}` is in host memory, but the group uses NCCL, which has no {} for it",
                                 {Quoted(context_, {call.function, tensor}), std::string(kind)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"raises: no backend type associated with device type cpu", {}});
    AddLabel(finding, SpanOf(context_, made), LabelRole::Why, {"made without a device", {}});
    finding.help = {"create it on the device of this rank: `device=\"cuda\"`, or set the group up with `cpu:gloo,cuda:nccl`", {}};
    finding.witness = BackendWitness(context_, call);
    sink_.push_back(std::move(finding));
  }

  bool MakesMeshOfHosts(ir::ModuleId module) {
    return calls_.FindIf(module, [&](const KnownCall& call) {
      return context_.program.text(call.entry->name).ends_with(".init_device_mesh") && context_.values.Str(context_.index.Arg(call, "device_type")) == "cpu";
    }) != nullptr;
  }

  // Each group that the program sets up names NCCL, and nothing else.
  bool OnlyNccl(ir::ModuleId module) {
    bool is_any = false;
    for (const ir::ModuleId file : calls_.FilesOf(module)) {
      for (const KnownCall& call : context_.index.known_calls()) {
        const bool is_init = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
        if (!is_init || context_.program.funcs[call.function].module != file) continue;
        const std::vector<ValueId> leaves = context_.values.Leaves(context_.index.Arg(call, "backend"));
        const bool is_nccl = leaves.size() == 1 && context_.values.Str(leaves[0]) == "nccl";
        if (!is_nccl) return false;
        is_any = true;
      }
    }
    return is_any;
  }

  // Where the tensor is made, if the only thing that ever happens to it is that it is made on the host.
  Site MadeOnHost(const Site& tensor) const {
    const ir::ModuleId module_id = context_.program.funcs[tensor.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (IsMaker(module_id, tensor.expr)) return tensor;
    if (module[tensor.expr].kind != ir::ExprKind::Name) return {};
    Site made;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const bool assigns = stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AnnAssign;
      if (!assigns || context_.index.FunctionOf(module_id, ir::StmtId{i}) != tensor.function) continue;
      if (!IsAssignedIn(module, stmt, ir::NameOf(module[tensor.expr]))) continue;
      // Assigned twice, or the result of anything else.
      if (made.expr || !ir::AssignedOf(stmt) || !IsMaker(module_id, ir::AssignedOf(stmt))) return {};
      made = {tensor.function, ir::AssignedOf(stmt)};
    }
    return made;
  }

  // `torch.tensor([1.0])` of numbers; of other tensors the device follows these.
  bool IsMaker(ir::ModuleId module_id, ir::ExprId expr) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (module[expr].kind != ir::ExprKind::Call || KeywordOf(context_, module_id, expr, "device")) return false;
    const ValueId callee = context_.facts.value(module_id, ir::CalleeOf(module[expr]));
    const std::string_view name = context_.values.External(callee);
    return std::ranges::count(kMakers, name) > 0 && module[expr].end - module[expr].begin < 200 &&
           TextOf(context_, module_id, expr).find("**") == std::string_view::npos;
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

// What makes memory of the host in C and C++.
constexpr std::string_view kHostMemory[] = {"malloc", "calloc", "std.malloc", "std.calloc", "std.vector", "std.array", "std.string"};

// In C and C++ a buffer of NCCL's own calls that the same function gets from the heap of the host.
class Buffers {
 public:
  Buffers(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const bool moves = call.entry->has_operation && call.entry->operation.tensor_param;
      if (moves && context_.program.text(call.entry->name).starts_with("nccl")) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& call) {
    const ir::ExprId buffer = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const ir::ExprId made = buffer ? MadeOnHost({call.function, buffer}) : ir::ExprId::None();
    // Memory that the host shares with its devices.
    if (!made || NamesAny(context_, module, {"cudaHostRegister", "hipHostRegister"})) return;
    Finding finding = FindingAt(context_, kAR206, Severity::Error, Confidence::Likely, {call.function, call.expr},
                                {"`{}` is in host memory: `{}` moves GPU memory only",
                                 {Quoted(context_, {call.function, buffer}), std::string(context_.program.text(call.entry->name))}});
    AddLabel(finding, SpanOf(context_, {call.function, buffer}), LabelRole::Primary, {"no GPU can read this", {}});
    AddLabel(finding, SpanOf(context_, {call.function, made}), LabelRole::Why, {"made here", {}});
    finding.help = {"allocate it with `cudaMalloc` and copy with `cudaMemcpyAsync`", {}};
    finding.witness = BackendWitness(context_, call);
    sink_.push_back(std::move(finding));
  }

  // Where a local variable gets its memory, if it gets it once.
  ir::ExprId MadeOnHost(const Site& buffer) const {
    const ir::ModuleId module_id = context_.program.funcs[buffer.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[buffer.expr].kind != ir::ExprKind::Name) return {};
    const base::NameId name = ir::NameOf(module[buffer.expr]);
    ir::ExprId made;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != buffer.function) continue;
      if (!IsAssignedIn(module, stmt, name)) continue;
      if (made || !IsHostMemory(module_id, ir::AssignedOf(stmt))) return {};
      made = ir::AssignedOf(stmt);
    }
    return made;
  }

  bool IsHostMemory(ir::ModuleId module_id, ir::ExprId expr) const {
    const ir::Module& module = context_.program.modules[module_id];
    if (module.language == ir::Language::Python) return false;
    // A container of the standard library with items that are seen.
    const bool is_repeated = module[expr].kind == ir::ExprKind::Binary && module[ir::LeftOf(module[expr])].kind == ir::ExprKind::List;
    if (is_repeated || module[expr].kind == ir::ExprKind::List) return true;
    if (module[expr].kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module[ir::CalleeOf(module[expr])];
    return callee.kind == ir::ExprKind::Name && std::ranges::count(kHostMemory, context_.program.text(ir::NameOf(callee))) > 0;
  }

  const Context& context_;
  FindingSink& sink_;
};

void CheckBackendMismatch(const Context& context, FindingSink& sink) {
  Backends(context, sink).Run();
  Buffers(context, sink).Run();
}

}  // namespace

extern const Rule BackendMismatch = {
    .code = kAR206,
    .name = "backend-mismatch",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python, C, C++",
    .summary = "collective on a host tensor in a group whose only backend is NCCL",
    .explanation = R"md(
## What it finds

A collective on the default group with a tensor that the same function creates without a device
(`torch.tensor`, `torch.zeros`, ...), in a program that sets the group up with `"nccl"` and nothing else.

In C and C++: an NCCL call on memory that the same function gets from `malloc`, `calloc` or a `std::vector`.

## Why it hurts

NCCL moves only GPU memory. The call raises `No backend type associated with device type cpu`, or, in older
releases, `Tensors must be CUDA and dense`. It is often where metrics are summed up at the end of an epoch, so
the error shows only after a whole epoch.

## Wrong

```python
dist.init_process_group("nccl")
total = torch.tensor([correct, seen])
dist.all_reduce(total)
```

## Right

```python
dist.init_process_group("nccl")
total = torch.tensor([correct, seen], device="cuda")
dist.all_reduce(total)
```

## When it is silent

* The tensor is moved, is created like another one, or comes from elsewhere.
* The backend is chosen at run time, is `cpu:gloo,cuda:nccl`, or is left to PyTorch.
* A group is passed, or the program sets a default device.
* In C and C++: the file registers memory with `cudaHostRegister`.

## Fix

There is none: it is not known which device is meant.

## Proof

`allranks verify` looks up the group's backend for the memory that is passed to the operation, as PyTorch
does, and names the ranks that are refused.
)md",
    .check = CheckBackendMismatch,
    .scenario = Scenario::TensorMemory};

}  // namespace allranks::rules
