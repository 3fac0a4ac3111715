#include <algorithm>

#include "rules/ddp/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kCode = "AR505";

class Attributes {
 public:
  Attributes(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) VisitModule(ir::ModuleId{m});
  }

 private:
  void VisitModule(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Attribute)) {
      const ir::ExprId object = ir::ObjectOf(module[id]);
      const ValueId value = context_.facts.value(module_id, object);
      if (!value || !IsWrapped(context_, value)) continue;
      const FuncId function = FunctionAround(context_, module_id, id);
      if (function && !IsAssigned(module_id, id) && IsOfInner(value, ir::AttrOf(module[id]))) {
        Report({function, id}, module_id, object);
      }
    }
  }

  // The wrapper gets a field of its own by an assignment.
  bool IsAssigned(ir::ModuleId module_id, ir::ExprId attribute) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::StmtId stmt = context_.index.tree(module_id).StatementOf(attribute);
    if (!stmt || module[stmt].kind != ir::StmtKind::Assign) return false;
    for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
      if (target == attribute) return true;
    }
    return false;
  }

  // The model's class, or one of its bases in the project, has the name; the wrapper has not.
  bool IsOfInner(ValueId wrapper, base::NameId name) const {
    const ValueId inner = InnerOf(context_, wrapper);
    if (!inner || context_.facts.values_store[inner].kind != ValueKind::Instance) return false;
    const knowledge::ClassId known = context_.values.ClassOf(context_.values.Leaves(wrapper)[0]);
    if (!known || context_.knowledge.FindMember(known, name) || context_.program.text(name).starts_with("__")) return false;
    const binding::ClassId class_id{context_.facts.values_store[inner].a};
    if (IsOfWrapper(context_.program.text(name))) return false;
    if (context_.program.FindMethod(class_id, name)) return true;
    return IsSetBy(class_id, name);
  }

  // What every module has, beside what the knowledge base says of them.
  static bool IsOfWrapper(std::string_view name) {
    constexpr std::string_view kOwn[] = {"forward",   "training", "device",         "device_ids", "output_device", "process_group",
                                         "reducer",   "module",   "broadcast_buffers", "dim",     "find_unused_parameters",
                                         "require_backward_grad_sync", "static_graph", "logger", "dump_patches"};
    return std::ranges::count(kOwn, name) > 0 || name.starts_with("_") || name.starts_with("register_") || name.starts_with("get_extra");
  }

  // `self.name = ...` in a method.
  bool IsSetBy(binding::ClassId class_id, base::NameId name) const {
    for (const binding::ClassId base : context_.program.classes[class_id].mro) {
      const ir::ModuleId module_id = context_.program.classes[base].module;
      const ir::Module& module = context_.program.modules[module_id];
      const ir::Class& node = context_.program.ir_class(base);
      for (const ir::Stmt& stmt : module.stmts) {
        if (stmt.kind != ir::StmtKind::Assign || stmt.begin < node.begin || stmt.end > node.end) continue;
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
          const bool is_it = module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == name &&
                             TextOf(context_, module_id, ir::ObjectOf(module[target])) == "self";
          if (is_it) return true;
        }
      }
    }
    return false;
  }

  void Report(const objects::Site& site, ir::ModuleId module_id, ir::ExprId object) {
    const std::string name(context_.program.text(ir::AttrOf(context_.program.modules[module_id][site.expr])));
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, site,
                                {"`{}` belongs to the model inside the DDP wrapper, which does not hand attributes through: this raises "
                                 "AttributeError",
                                 {name}});
    AddLabel(finding, SpanOf(context_, {site.function, object}), LabelRole::Primary, {"wrapped in DDP", {}});
    finding.help = {"write `{}.module.{}`", {Quoted(context_, {site.function, object}), name}};
    const uint32_t end = context_.program.modules[module_id][object].end;
    finding.fixes.push_back(MakeFix("ask the model inside the wrapper", Applicability::Safe,
                                    {Replace({context_.program.modules[module_id].file, end, end}, ".module")}));
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
};

void Check(const Context& context, FindingSink& sink) { Attributes(context, sink).Run(); }

}  // namespace

extern const Rule WrappedAttribute = {
    .code = kCode,
    .name = "wrapped-attribute",
    .severity = Severity::Error,
    .languages = "Python",
    .summary = "attribute or method of the model asked of its DDP wrapper",
    .explanation = R"md(
## What it finds

`model.name` where `model` is a DDP wrapper on every path, and `name` is a method or field of the model's own
class, which the wrapper has not.

## Why it hurts

The wrapper hands through neither methods nor fields: `AttributeError: 'DistributedDataParallel' object has no
attribute 'name'`. Code that ran on one GPU fails on several; often in a branch that is reached late, such as
saving or evaluation.

## Wrong

```python
model = DDP(Net())
model.freeze_backbone()
```

## Right

```python
model = DDP(Net())
model.module.freeze_backbone()
```

## When it is silent

* The model is wrapped only under a condition: the code may know which of both it has.
* The name is one that every module has, or is set on the wrapper.
* The model's class is not one of the project.

## Fix

`--fix` inserts `.module`.

## Proof

There is nothing to replay: every rank raises alike.
)md",
    .check = Check,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
