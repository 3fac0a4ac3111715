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

constexpr std::string_view kAR801 = "AR801";

class ObjectCollectives {
 public:
  ObjectCollectives(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->has_operation || !call.entry->operation.tensor_param) continue;
      const std::string_view kind = context_.program.text(call.entry->operation.kind);
      if (kind.find("_object") != std::string_view::npos && call.entry->operation.op_class == knowledge::OpClass::Collective) Visit(call);
    }
  }

 private:
  void Visit(const KnownCall& call) {
    const ir::ExprId object = context_.index.ArgExpr(call, context_.program.text(call.entry->operation.tensor_param));
    const ValueId group = context_.index.Arg(call, context_.program.text(call.entry->operation.group_param));
    if (!object || (group && !context_.values.IsNone(group))) return;
    const std::optional<source::Span> grows = WhereItGrows({call.function, object});
    if (!grows || !IsOverNccl(context_.program.funcs[call.function].module)) return;
    Finding finding = FindingAt(context_, kAR801, Severity::Warning, Confidence::Likely, Site{call.function, call.expr},
                                {"`{}` grows with the data and is gathered from all ranks at once: it is pickled and copied to the GPU, "
                                 "which runs out of memory with enough data or ranks",
                                 {Quoted(context_, {call.function, object})}});
    AddLabel(finding, SpanOf(context_, {call.function, object}), LabelRole::Primary, {"one pickle on each rank, padded to the longest", {}});
    AddLabel(finding, *grows, LabelRole::Why, {"grows here", {}});
    finding.help = {"send tensors, or smaller parts in turn, or pass a gloo group, which uses host memory", {}};
    sink_.push_back(std::move(finding));
  }

  // A data set, a field of one, or a list that a loop over data fills.
  std::optional<source::Span> WhereItGrows(const Site& object) const {
    const ir::ModuleId module_id = context_.program.funcs[object.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ValueId value = context_.facts.value(module_id, object.expr);
    for (const ValueId leaf : context_.values.Leaves(value)) {
      if (context_.values.IsA(leaf, "torch.utils.data.Dataset")) return module.span(object.expr);
    }
    if (IsFieldOfDataset(object)) return module.span(object.expr);
    return module[object.expr].kind == ir::ExprKind::Name ? FilledIn(object) : std::nullopt;
  }

  // `self.samples` in a class of data sets.
  bool IsFieldOfDataset(const Site& object) const {
    const ir::Module& module = context_.program.module_of(object.function);
    const binding::ClassId owner = context_.program.funcs[object.function].owner;
    if (!owner || module[object.expr].kind != ir::ExprKind::Attribute) return false;
    if (TextOf(context_, module.span(ir::ObjectOf(module[object.expr]))) != "self") return false;
    const auto& bases = context_.program.classes[owner].external_bases;
    return std::ranges::any_of(bases, [&](base::NameId base) { return context_.program.text(base).ends_with("Dataset"); });
  }

  // `results.append(...)` or `results += ...` in a loop over a loader, or over a data set.
  std::optional<source::Span> FilledIn(const Site& object) const {
    const ir::ModuleId module_id = context_.program.funcs[object.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const std::string_view name = context_.program.text(ir::NameOf(module[object.expr]));
    for (const std::string_view method : {"append", "extend", "update"}) {
      for (const Site& call : MethodCalls(context_, object.function, method)) {
        const ir::ExprId list = ir::ObjectOf(module[ir::CalleeOf(module[call.expr])]);
        const bool is_it = TextOf(context_, module_id, list) == name && IsInLoopOverData(call);
        if (!is_it || ir::ArgCount(module, module[call.expr]) == 0) continue;
        if (IsBulk(module_id, ir::ArgAt(module, module[call.expr], 0).value)) return module.span(call.expr);
      }
    }
    return std::nullopt;
  }

  // Tensors of a batch or of what a model made of it, or a record of them. A number for each sample is a few bytes; of what
  // a call yields it is the tensor method that is asked for last which tells.
  bool IsBulk(ir::ModuleId module_id, ir::ExprId item) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[item];
    for (uint32_t i = 0; IsDisplay(expr) && i < ir::Items(module, expr).size(); ++i) {
      if (IsBulk(module_id, ir::Items(module, expr)[i])) return true;
    }
    for (uint32_t i = 0; expr.kind == ir::ExprKind::Dict && i < ir::DictCount(expr); ++i) {
      if (IsBulk(module_id, ir::DictItemAt(module, expr, i).value)) return true;
    }
    if (expr.kind == ir::ExprKind::Call) {
      const ir::Expr& callee = module[ir::CalleeOf(expr)];
      constexpr std::string_view kOfTensors[] = {"cpu", "detach", "numpy", "clone", "half"};
      return callee.kind == ir::ExprKind::Attribute && std::ranges::count(kOfTensors, context_.program.text(ir::AttrOf(callee))) > 0;
    }
    const ValueId value = context_.facts.value(module_id, item);
    return expr.kind == ir::ExprKind::Name && value && context_.values[value].mark.has_value();
  }

  static bool IsDisplay(const ir::Expr& expr) { return expr.kind == ir::ExprKind::Tuple || expr.kind == ir::ExprKind::List; }

  bool IsInLoopOverData(const Site& call) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::StmtId loop : context_.index.LoopsAround(call)) {
      if (module[loop].kind != ir::StmtKind::For) continue;
      const ValueId iterable = context_.facts.value(module_id, ir::AssignedOf(module[loop]));
      if (!context_.loading.LoadersIn(iterable).empty()) return true;
      const bool is_data = iterable && context_.values.AnyPart(iterable, [&](ValueId part) {
        return context_.values.IsA(part, "torch.utils.data.Dataset") || context_.values.IsA(part, "torch.utils.data.DataLoader");
      });
      if (is_data) return true;
    }
    return false;
  }

  bool IsOverNccl(ir::ModuleId module) {
    const KnownCall* init = calls_.FindInit(module);
    if (init == nullptr) return false;
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.index.Arg(*init, "backend"));
    return std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.Str(leaf) == "nccl"; });
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

void CheckObjectCollectiveOfDataset(const Context& context, FindingSink& sink) { ObjectCollectives(context, sink).Run(); }

}  // namespace

extern const Rule ObjectCollectiveOfDataset = {
    .code = kAR801,
    .name = "object-collective-of-dataset",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview =
        "on 26 repositories seen for the first time none of 8 findings was right: lists of one number a sample are small, and the "
        "rule, which now leaves them out, was not measured again",
    .languages = "Python",
    .summary = "object collective over NCCL of something that grows with the data",
    .explanation = R"md(
## What it finds

`all_gather_object`, `gather_object`, `broadcast_object_list` or `scatter_object_list` in the default group of
a program that uses NCCL, of a data set, a field of one, or a list or dictionary that a loop over a loader
fills with tensors.

## Why it hurts

NCCL sends GPU memory. Every object is pickled, the pickle is copied to the GPU as bytes, padded to the
longest of all ranks, and gathered: `world_size` times the longest pickle on every GPU, next to the model. A
run that was fine on a sample of the data, or on 8 ranks, ends with `CUDA out of memory` on the whole of it,
or on 64.

## Wrong

```python
for batch in loader:
    results.append(model(batch).cpu())
dist.all_gather_object(everything, results)
```

## Right

```python
host = dist.new_group(backend="gloo")
for batch in loader:
    results.append(model(batch).cpu())
dist.all_gather_object(everything, results, group=host)
```

## When it is silent

* A group is passed, or the program does not name NCCL.
* The object is a number, a text, a dictionary of few entries: nothing that a loop over data fills.

## Fix

There is none: whether to send parts, tensors or nothing is a question of what they are for.

## Proof

There is nothing to replay: it depends on the amount of data.
)md",
    .check = CheckObjectCollectiveOfDataset};

}  // namespace allranks::rules
