#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/flow_from.h"
#include "analyzer/objects/gradient_calls.h"
#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/local_flow.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::FlowFrom;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR412 = "AR412";

// Through helpers, and the `forward` of a loss.
constexpr int kMostHelpersToLoss = 3;
// What they yield brings no gradient along.
constexpr std::string_view kWithoutGradient[] = {"detach", "item",    "tolist", "numpy", "size",  "numel", "dim",
                                      "argmax", "argsort", "len",    "int",   "float", "range"};
constexpr std::string_view kWithoutHistory[] = {"shape", "device", "dtype", "data", "ndim", "requires_grad"};
// What makes one tensor of several, and what puts one into another.
constexpr std::string_view kJoiningCalls[] = {"cat", "concat", "concatenate", "stack", "vstack", "hstack", "where"};
constexpr std::string_view kPuttingCalls[] = {"insert", "append", "copy_", "__setitem__", "index_copy_", "scatter_"};

class GatheredFeatures {
 public:
  GatheredFeatures(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), gradients_(context.program, context.knowledge, context.facts, context.index) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      const std::string_view name = context_.program.text(call.entry->name);
      if (name == "accelerate.Accelerator.gather" || name == "accelerate.utils.gather") VisitYield(call);
      const bool is_list = name == "torch.distributed.all_gather";
      if (!is_list && name != "torch.distributed.all_gather_into_tensor" && name != "torch.distributed._all_gather_base") continue;
      const ir::ExprId gathered = context_.index.ArgExpr(call, is_list ? "tensor_list" : "output_tensor");
      Visit(call, gathered, context_.index.ArgExpr(call, is_list ? "tensor" : "input_tensor"));
    }
  }

 private:
  void Visit(const KnownCall& call, ir::ExprId gathered, ir::ExprId own) {
    const Site site{call.function, call.expr};
    if (!gathered || !own || IsLeftOut(site)) return;
    const std::vector<ir::ExprId> seeds = LaterUses(call.function, gathered, context_.program.module_of(call.function)[call.expr].end);
    if (!seeds.empty()) Follow(call, seeds, gathered, own);
  }

  // `accelerator.gather(x)` hands back what it gathered.
  void VisitYield(const KnownCall& call) {
    const ir::ExprId own = context_.index.ArgExpr(call, "tensor");
    if (own && !IsLeftOut({call.function, call.expr})) Follow(call, {call.expr}, {}, own);
  }

  bool IsLeftOut(const Site& site) const {
    return seen_.contains(site.function.index) || IsWithoutGradient(site) || IsOfFunctionWithGradient(site.function);
  }

  // `gathered`: the variable that holds it; none: it is what the call yields.
  void Follow(const KnownCall& call, const std::vector<ir::ExprId>& seeds, ir::ExprId gathered, ir::ExprId own) {
    const ir::Module& module = context_.program.module_of(call.function);
    const FlowFrom flow = Flow(call.function, seeds, module[seeds.front()].begin);
    if (IsPutBack(flow, call.function, own) || !NeedsGradient({call.function, own})) return;
    const std::optional<Site> backward = BackwardOf(flow, call.function);
    if (!backward) return;
    seen_.insert(call.function.index);
    Report(call, gathered, own, *backward);
  }

  // `no_grad` around it, or what is done only where nothing is trained.
  bool IsWithoutGradient(const Site& site) const {
    if (IsUnderNoGrad(site)) return true;
    return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
      ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
      bool holds = guard.holds;
      if (!test) return false;
      if (context_.values[test].is_not()) {
        test = context_.facts.values_store.OperandOf(test);
        holds = !holds;
      }
      return !holds && context_.facts.values_store.IsMode(test);
    });
  }

  bool IsUnderNoGrad(const Site& site) const {
    return objects::AreGradientsOff(context_.program, context_.values, context_.facts, context_.index, site);
  }

  // A step of autograd that the project writes itself, forward and backward.
  bool IsOfFunctionWithGradient(FuncId function) const {
    const binding::ClassId owner = context_.program.funcs[function].owner;
    if (!owner) return false;
    return std::ranges::any_of(context_.program.classes[owner].external_bases, [&](base::NameId base) {
      return context_.program.text(base).ends_with("autograd.Function") || context_.program.text(base).ends_with("autograd.function.Function");
    });
  }

  // The places behind a position where the same variable or field is read.
  std::vector<ir::ExprId> LaterUses(FuncId function, ir::ExprId variable, uint32_t begin) const {
    const ir::Module& module = context_.program.module_of(function);
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    std::vector<ir::ExprId> uses;
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, module[variable].kind)) {
      const bool is_later = module[id].begin >= begin && objects::IsSameChain(module, id, variable);
      if (is_later && FunctionAround(context_, module_id, id) == function) uses.push_back(id);
    }
    return uses;
  }

  // Where it goes with its gradient, or would.
  FlowFrom Flow(FuncId function, std::vector<ir::ExprId> seeds, uint32_t begin) const {
    const ir::StmtId stmt = context_.index.StatementAt(context_.program.funcs[function].module, begin);
    const uint32_t from = stmt ? context_.program.module_of(function)[stmt].begin : begin;
    return {context_.program, context_.index, function, std::move(seeds), from, [this, function](ir::ExprId expr) { return IsCut(function, expr); }};
  }

  bool IsCut(FuncId function, ir::ExprId id) const {
    const ir::Module& module = context_.program.module_of(function);
    const ir::Expr& expr = module[id];
    if (expr.kind == ir::ExprKind::Compare) return true;
    if (expr.kind == ir::ExprKind::Attribute) return std::ranges::count(kWithoutHistory, context_.program.text(ir::AttrOf(expr))) > 0;
    if (expr.kind != ir::ExprKind::Call) return false;
    if (std::ranges::count(kWithoutGradient, NameCalled(module, id)) > 0) return true;
    return IsUnderNoGrad({function, id});
  }

  // `cat` of `torch.cat(parts)`, `len` of `len(parts)`.
  std::string_view NameCalled(const ir::Module& module, ir::ExprId call) const {
    const ir::Expr& callee = module[ir::CalleeOf(module[call])];
    if (callee.kind == ir::ExprKind::Attribute) return context_.program.text(ir::AttrOf(callee));
    return callee.kind == ir::ExprKind::Name ? context_.program.text(ir::NameOf(callee)) : std::string_view();
  }

  // `parts[rank] = own`, `parts.insert(rank, own)`, `torch.cat([own, *others])`: the part of this rank has its gradient again.
  bool IsPutBack(const FlowFrom& flow, FuncId function, ir::ExprId own) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind != ir::StmtKind::Assign) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (module[target].kind == ir::ExprKind::Subscript && flow.Holds(ir::LeftOf(module[target]))) return true;
      }
    }
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), [&](ir::ExprId id) {
      const ir::Expr& callee = module[ir::CalleeOf(module[id])];
      const bool is_method = callee.kind == ir::ExprKind::Attribute && flow.Holds(ir::ObjectOf(callee)) && Mentions(module, id, own);
      const bool joins = std::ranges::count(kJoiningCalls, NameCalled(module, id)) > 0 && flow.Holds(id) && Mentions(module, id, own);
      // A product with the own features is what they are compared by.
      return joins || (is_method && std::ranges::count(kPuttingCalls, NameCalled(module, id)) > 0);
    });
  }

  bool Mentions(const ir::Module& module, ir::ExprId whole, ir::ExprId part) const {
    return ir::AnyPart(module, whole, [&](ir::ExprId inner) { return objects::IsSameChain(module, inner, part); });
  }

  // Whether an expression is computed by a network, with gradients: here, by a function called here, or by callers.
  bool NeedsGradient(const Site& site, int depth = 0) const {
    if (depth > kMostHelpersToLoss) return false;
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[site.expr].kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(module[site.expr])) == "data") return false;
    const objects::FlowInto into(context_.program, context_.index, site.function, site.expr);
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      if (into.Holds(id) && YieldsGradient({site.function, id}, depth)) return true;
    }
    const auto& params = context_.program.function(site.function).params;
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Name)) {
      if (!into.Holds(id)) continue;
      const auto param = std::ranges::find(params, ir::NameOf(module[id]), &ir::Param::name);
      if (param != params.end() && IsHandedGradient(site.function, static_cast<uint32_t>(param - params.begin()), depth)) return true;
    }
    return false;
  }

  bool YieldsGradient(const Site& call, int depth) const {
    if (IsUnderNoGrad(call)) return false;
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ValueId callee = context_.facts.value(module_id, ir::CalleeOf(context_.program.modules[module_id][call.expr]));
    const std::vector<ValueId> leaves = callee ? context_.values.Leaves(callee) : std::vector<ValueId>();
    if (std::ranges::any_of(leaves, [&](ValueId leaf) { return IsModel(leaf); })) return true;
    const FuncId called = CalledFunction(context_, module_id, call.expr);
    return called && called != call.function && std::ranges::any_of(ReturnsOf(called), [&](const Site& returned) {
      return !IsUnderNoGrad(returned) && NeedsGradient(returned, depth + 1);
    });
  }

  bool IsModel(ValueId value) const {
    if (context_.values.IsA(value, "torch.nn.Module")) return true;
    const bool is_prepared = context_.values.IsA(value, "accelerate.Prepared") && context_.values[value].kid_count > 0;
    return is_prepared && context_.values.IsA(context_.facts.values_store.Kids(value)[0], "torch.nn.Module");
  }

  bool IsHandedGradient(FuncId function, uint32_t param, int depth) const {
    return std::ranges::any_of(context_.index.CallersOf(function), [&](const Site& caller) {
      if (caller.function == function || IsUnderNoGrad(caller)) return false;
      const ir::ExprId passed = context_.index.PassedFor(caller, function, param);
      return passed && NeedsGradient({caller.function, passed}, depth + 1);
    });
  }

  std::vector<Site> ReturnsOf(FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    std::vector<Site> returns;
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      const bool is_own = module[id].kind == ir::StmtKind::Return && ir::ValueOf(module[id]) && context_.index.FunctionOf(module_id, id) == function;
      if (is_own) returns.push_back({function, ir::ValueOf(module[id])});
    }
    return returns;
  }

  // The `backward` of a loss that is made of it, in the function or in those that call it.
  std::optional<Site> BackwardOf(const FlowFrom& flow, FuncId function, int depth = 0) const {
    const ir::Module& module = context_.program.module_of(function);
    for (const objects::GradientCall& add : gradients_.all()) {
      if (add.action != objects::GradientAction::Add || add.site.function != function || !add.site.expr) continue;
      const bool has_argument = module[add.site.expr].kind == ir::ExprKind::Call && ir::ArgCount(module, module[add.site.expr]) > 0;
      const ir::ExprId argument = has_argument ? ir::ArgAt(module, module[add.site.expr], 0).value : ir::ExprId::None();
      if (flow.Holds(add.object) || flow.Holds(argument)) return add.site;
    }
    const bool is_returned = std::ranges::any_of(ReturnsOf(function), [&](const Site& returned) { return flow.Holds(returned.expr); });
    if (!is_returned || depth == kMostHelpersToLoss) return std::nullopt;
    for (const Site& caller : context_.index.CallersOf(function)) {
      if (caller.function == function || IsOfFunctionWithGradient(caller.function) || IsWithoutGradient(caller)) continue;
      const FlowFrom above = Flow(caller.function, {caller.expr}, context_.program.module_of(caller.function)[caller.expr].begin);
      if (const std::optional<Site> found = BackwardOf(above, caller.function, depth + 1)) return found;
    }
    return std::nullopt;
  }

  void Report(const KnownCall& call, ir::ExprId gathered, ir::ExprId own, const Site& backward) {
    const Site site{call.function, call.expr};
    const std::string features = Quoted(context_, {site.function, own});
    Finding finding = FindingAt(context_, kAR412, Severity::Warning, Confidence::Likely, site,
                                {"no gradient flows through this `{}`: to the loss all gathered `{}` are constants, "
                                 "those of this rank too",
                                 {gathered ? "all_gather" : "gather", features}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"cuts the gradients off", {}});
    AddLabel(finding, SpanOf(context_, backward), LabelRole::Note, {"this loss is made of what was gathered", {}});
    constexpr std::string_view kOther = "gather with `torch.distributed.nn.functional.all_gather`";
    if (gathered) finding.help = {"{}, or at least put the own part back: `{}[rank] = {}`", {std::string(kOther), Quoted(context_, {site.function, gathered}), features}};
    else finding.help = {kOther, {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::GradientCalls gradients_;
  std::unordered_set<uint32_t> seen_;  // functions, by FuncId
};

void CheckGatherWithoutGradient(const Context& context, FindingSink& sink) { GatheredFeatures(context, sink).Run(); }

}  // namespace

extern const Rule GatherWithoutGradient = {
    .code = kAR412,
    .name = "gather-without-gradient",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooFewWereRead,
    .languages = "Python",
    .summary = "features of all ranks gathered for a loss by `all_gather`, through which no gradient flows",
    .explanation = R"md(
## What it finds

`torch.distributed.all_gather` or `all_gather_into_tensor`, or `gather` of Accelerate, which calls
them, of what a network computed with gradients, where what was gathered goes into the loss that
`backward` is called on: the contrastive losses of CLIP, SimCLR and their relatives. The loss is
followed through variables, lists, helpers and the `forward` of a loss.

## Why it hurts

These collectives write into tensors that were made before; autograd knows nothing of it. What
comes out has no history, so in the loss it is a constant: the features of the other ranks get no
gradient through this rank's loss, and neither does the own part of the list. On one GPU the same
loss has gradients on both sides of each pair. Nothing fails, the loss goes down, and the model is
worse than the batch size promises: of the gradient only the part through the own anchors is left.

## Wrong

```python
z = F.normalize(model(x))
parts = [torch.zeros_like(z) for _ in range(world_size)]
dist.all_gather(parts, z)
loss = F.cross_entropy(z @ torch.cat(parts).t() / temperature, labels)
loss.backward()
```

## Right

```python
z = F.normalize(model(x))
parts = torch.distributed.nn.functional.all_gather(z)
loss = F.cross_entropy(z @ torch.cat(parts).t() / temperature, labels)
loss.backward()
```

## When it is silent

* The own part is put back (`parts[rank] = z`, `torch.cat([z, *others])`): together with the averaging
  of the gradients over ranks, that is right for a loss which every rank computes of all pairs.
* The gathering stands under `no_grad`, the features are detached, or the network ran under
  `no_grad`: keys of a momentum encoder, queues, metrics.
* It is part of a `torch.autograd.Function` of the project's own, which brings the gradients back.
* It is done in evaluation only, or what was gathered goes into no loss.
* Nothing shows that a network computed the features.

## Fix

There is none by `--fix`: which form of the loss is meant is for the author to say.
`torch.distributed.nn.functional.all_gather` sums the gradients of all ranks for each part.

## Proof

A test with PyTorch: what `all_gather` yields does not require a gradient, and what the functional
form yields does.
)md",
    .check = CheckGatherWithoutGradient};

}  // namespace allranks::rules
