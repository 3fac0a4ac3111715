#include <algorithm>
#include <optional>

#include "analyzer/objects/jobs.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;

constexpr std::string_view kAR204 = "AR204";

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
    if (reported_[module.index] || IsAsked(site)) return;
    if (calls_.FindInit(module) != nullptr) return VisitAfterInit(call);
    if (MayBeSetUpByOthers(module)) return;
    reported_[module.index] = true;
    Finding finding = FindingOfAnyProcess(context_, kAR204, Severity::Error, Confidence::Likely, site,
                                          {"`{}` needs a process group: nothing in this program creates one", {Quoted(context_, site)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"raises: the default process group has not been initialized", {}});
    finding.help = {"call `torch.distributed.init_process_group` first, in every process", {}};
    sink_.push_back(std::move(finding));
  }

  // `init_distributed(args)` returns before it sets a group up where there is no launcher, and the program goes on.
  void VisitAfterInit(const KnownCall& call) {
    if (!call.entry->has_operation || call.entry->operation.op_class != knowledge::OpClass::Collective) return;
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const objects::Site site{call.function, call.expr};
    const std::vector<objects::Site> ways = context_.index.WaysTo(site);
    for (const KnownCall& init : context_.index.known_calls()) {
      const bool is_init = init.entry->has_operation && init.entry->operation.op_class == knowledge::OpClass::Init;
      if (!is_init || std::ranges::find(ways, init.function, &objects::Site::function) != ways.end()) continue;
      const ir::StmtId early = EarlyReturn(init);
      if (!early || !ComesBefore(init, ways)) continue;
      reported_[module.index] = true;
      Finding finding = FindingOfAnyProcess(context_, kAR204, Severity::Warning, Confidence::Likely, site,
                                            {"`{}` needs a process group: `{}` may have returned without one",
                                             {Quoted(context_, site), context_.program.FunctionName(init.function)}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"raises in a run of one process without a launcher", {}});
      AddLabel(finding, HeadOf(context_, context_.program.funcs[init.function].module, early), LabelRole::Why,
               {"returns before a group is created", {}});
      finding.help = {"check `torch.distributed.is_initialized()` first, as the program does elsewhere", {}};
      sink_.push_back(std::move(finding));
      return;
    }
  }

  // A `return` on the way to the call that sets the group up, for another reason than that there is one already.
  ir::StmtId EarlyReturn(const KnownCall& init) const {
    const ir::ModuleId module_id = context_.program.funcs[init.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      const bool is_early = module[stmt].kind == ir::StmtKind::Return && module[stmt].end <= module[init.expr].begin &&
                            context_.index.FunctionOf(module_id, stmt) == init.function;
      if (!is_early) continue;
      bool asks_for_group = false;
      ir::StmtId inner = stmt;
      for (ir::StmtId at = tree.Parent(stmt); at; inner = at, at = tree.Parent(at)) {
        if (module[at].kind != ir::StmtKind::If) continue;
        const bool is_else = tree.BlockOf(inner) == ir::ElseBlockOf(module[at]);
        asks_for_group = asks_for_group || AsksForGroup(context_.facts.value(module_id, ir::ValueOf(module[at])), !is_else);
      }
      if (!asks_for_group) return stmt;
    }
    return {};
  }

  // Whether a test that comes out as `holds` says that there is a group, or that there never can be one in this PyTorch.
  // That no launcher set the variables of the environment says neither.
  bool AsksForGroup(variation::ValueId test, bool holds) const {
    if (!test || !context_.values.Mentions(test, knowledge::Coordinate::Distributed)) return false;
    const bool asks_launcher = context_.values.AnyPart(test, [&](variation::ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      return variation::IsCoordinate(node, knowledge::Coordinate::Distributed) && context_.knowledge.FindEnvironment(node.variable()) != nullptr;
    });
    const std::optional<bool> in_job = context_.values.TruthOnRank(test, objects::SmallJob(context_.facts.job), 0);
    return !asks_launcher || !in_job || *in_job == holds;
  }

  // Some function comes to the group first and to the collective after it.
  bool ComesBefore(const KnownCall& init, std::span<const objects::Site> ways) const {
    for (const objects::Site& before : context_.index.WaysTo({init.function, init.expr})) {
      const auto after = std::ranges::find(ways, before.function, &objects::Site::function);
      if (after == ways.end()) continue;
      const ir::Module& module = context_.program.module_of(before.function);
      if (!HasGuard(before) && module[before.expr].end <= module[after->expr].begin) return true;
    }
    return false;
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
    const std::vector<objects::Guard> guards = context_.guards.Of(site);
    return std::ranges::any_of(guards, [&](const objects::Guard& guard) {
      return !AsksWhetherRun(guard);
    });
  }

  // `__name__ == "__main__"`.
  bool AsksWhetherRun(const objects::Guard& guard) const {
    const ir::Module& module = context_.program.module_of(guard.function);
    if (module[guard.test].kind != ir::ExprKind::Compare) return false;
    const ir::Expr& left = module[ir::CalleeOf(module[guard.test])];
    return left.kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(left)) == "__name__";
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
      const ir::Expr& node = module[ir::CalleeOf(expr)];
      const base::NameId name = node.kind == ir::ExprKind::Name        ? ir::NameOf(node)
                                : node.kind == ir::ExprKind::Attribute ? ir::AttrOf(node)
                                                                       : base::NameId::None();
      const std::string_view callee = name ? context_.program.text(name) : std::string_view();
      if (callee == "init") return true;
      if (HoldsWord(callee, {"init_dist", "initialize", "setup", "set_up", "launch", "distributed_mode", "spawn", "init_process", "Process", "init_device_mesh"})) return true;
    }
    return false;
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Jobs jobs_;
  std::vector<bool> reported_;
};

void CheckNoProcessGroup(const Context& context, FindingSink& sink) { Programs(context, sink).Run(); }

}  // namespace

extern const Rule NoProcessGroup = {
    .code = kAR204,
    .name = "no-process-group",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview =
        "the code that starts a library or a plug-in may be outside the checked files, and there "
        "were too few findings on public code to say how often it is right",
    .languages = "Python",
    .summary = "collectives, ranks or DDP in a program that never sets up a process group",
    .explanation = R"md(
## What it finds

A script that calls a collective, asks for its rank or wraps a model in DDP, while no file of the program
calls `init_process_group` or anything that could call it. Also a collective after a call of a helper that
returns before it sets the group up if there is no launcher.

## Why it hurts

The call raises `Default process group has not been initialized, please make sure to call init_process_group`:
in the best case at once, in the worst case after hours, when the first checkpoint is reduced.

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

* The call is behind a test (`dist.is_initialized()`, `if args.distributed`), or in a `try`.
* The code is a library: nothing in the checked files runs it.
* A framework sets the group up, or the program calls a function outside the project whose name says that it
  may do so.

## Fix

There is none: it is not known which backend and which launcher are meant.

## Proof

There is nothing to replay: every rank fails in the same way.
)md",
    .check = CheckNoProcessGroup};

}  // namespace allranks::rules
