#include <algorithm>

#include "analyzer/objects/jobs.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;

constexpr std::string_view kCode = "AR204";

class Programs {
 public:
  Programs(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context), jobs_(context.program, context.index),
        reported_(context.program.modules.size()) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (NeedsGroup(call) && jobs_.IsRun(call.function)) Visit(call);
    }
  }

 private:
  // What raises `Default process group has not been initialized`.
  bool NeedsGroup(const KnownCall& call) const {
    const std::string_view name = context_.program.text(call.entry->name);
    if (name == "torch.distributed.get_rank" || name == "torch.distributed.get_world_size") return true;
    if (name == "torch.nn.parallel.DistributedDataParallel.__init__") return true;
    return call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Collective &&
           name.starts_with("torch.distributed.") && name.find('.', 18) == std::string_view::npos;
  }

  void Visit(const KnownCall& call) {
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const objects::Site site{call.function, call.expr};
    if (reported_[module.index] || calls_.FindInit(module) != nullptr || IsAsked(site) || MayBeSetUpByOthers(module)) return;
    reported_[module.index] = true;
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, site,
                                {"`{}` needs a process group, and nothing in this program sets one up", {Quoted(context_, site)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"raises: the default process group has not been initialized", {}});
    finding.help = {"call `torch.distributed.init_process_group` first, in every process", {}};
    sink_.push_back(std::move(finding));
  }

  // Reached only where there is a group, or a caller's or handler's business if not.
  bool IsAsked(const objects::Site& site) const {
    if (HasGuard(site)) return true;
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = context_.index.StatementOf(site); at; at = tree.Parent(at)) {
      if (context_.program.modules[module_id][at].kind == ir::StmtKind::Try) return true;
    }
    const auto callers = context_.index.CallersOf(site.function);
    return std::ranges::any_of(callers, [&](const objects::Site& caller) { return HasGuard(caller); });
  }

  // A test on the way, other than that the file is run and not imported.
  bool HasGuard(const objects::Site& site) const {
    const std::vector<objects::Guard> guards = context_.reach.Guards(site);
    return std::ranges::any_of(guards, [&](const objects::Guard& guard) {
      return !HoldsWord(TextOf(context_, SpanOf(context_, {guard.function, guard.test})), {"__name__"});
    });
  }

  // A framework, or code outside the project that may do it: somebody calls an `init`, a `setup` or a `launch`.
  bool MayBeSetUpByOthers(ir::ModuleId module) {
    for (const std::string_view library : {"accelerate.", "deepspeed.", "lightning.", "transformers.", "horovod.", "ray.", "megatron."}) {
      if (calls_.Has(module, library)) return true;
    }
    return std::ranges::any_of(calls_.FilesOf(module), [&](ir::ModuleId file) { return CallsSetUp(file); });
  }

  bool CallsSetUp(ir::ModuleId file) const {
    const ir::Module& module = context_.program.modules[file];
    for (const ir::Expr& expr : module.exprs) {
      if (expr.kind != ir::ExprKind::Call) continue;
      const std::string_view callee = TextOf(context_, module.span(ir::CalleeOf(expr)));
      if (HoldsWord(callee, {"init_dist", "initialize", "setup", "set_up", "launch", "distributed_mode", "spawn", "init_process", "Process", "init_device_mesh", "init("})) return true;
    }
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Jobs jobs_;
  std::vector<bool> reported_;
};

void Check(const Context& context, FindingSink& sink) { Programs(context, sink).Run(); }

}  // namespace

extern const Rule NoProcessGroup = {
    .code = kCode,
    .name = "no-process-group",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview =
        "whoever starts a library or a plug-in may stand outside of the checked files, and there "
        "were too few findings on public code to say how often it is right",
    .languages = "Python",
    .summary = "collectives, ranks or DDP in a program that never sets a process group up",
    .explanation = R"md(
## What it finds

A script that calls a collective, asks for its rank or wraps a model in DDP, while no file of the program
calls `init_process_group` or anything that could.

## Why it hurts

The call raises `Default process group has not been initialized, please make sure to call init_process_group`:
in the best case at once, in the worst after hours, when the first checkpoint is reduced.

## Wrong

```python
model = DDP(Net().cuda())
for batch in loader:
    train(model, batch)
```

## Right

```python
dist.init_process_group("nccl")
model = DDP(Net().cuda())
for batch in loader:
    train(model, batch)
```

## When it is silent

* A test stands before the call (`dist.is_initialized()`, `if args.distributed`), or it stands in a `try`.
* The code is a library: nothing in the checked files runs it.
* A framework sets the group up, or a function outside the project is called whose name says that it may.

## Fix

There is none: which backend and which launcher is meant is not known.

## Proof

There is nothing to replay: every rank fails alike.
)md",
    .check = Check};

}  // namespace allranks::rules
