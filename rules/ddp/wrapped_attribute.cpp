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
      if (!value || !(IsWrapped(context_, value) || IsPreparedModule(value))) continue;
      const FuncId function = FunctionAround(context_, module_id, id);
      const bool is_wrong = function && !IsAssigned(module_id, id) && IsOfInner(value, ir::AttrOf(module[id]));
      if (is_wrong && !IsWhereNotWrapped({function, id}, value) && !AsksForAttributeBefore(context_, {function, id})) {
        Report({function, id}, module_id, object);
      }
    }
  }

  // The place is reached only where a test came out the other way than where the model is wrapped, though perhaps in
  // another method: `if self.distributed: wrap` and `else: self.model.head`.
  bool IsWhereNotWrapped(const objects::Site& site, ValueId wrapper) const {
    const std::vector<objects::Guard> here = context_.reach.Guards(site);
    const auto value = [&](const objects::Guard& guard) {
      return context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    };
    return std::ranges::any_of(Wrappings(context_), [&](const objects::KnownCall& wrap) {
      const std::vector<ValueId> leaves = context_.values.Leaves(wrapper);
      const ValueId made = context_.facts.value(context_.program.funcs[wrap.function].module, wrap.expr);
      if (std::ranges::count(leaves, made) == 0) return false;
      return std::ranges::any_of(context_.reach.Guards({wrap.function, wrap.expr}), [&](const objects::Guard& there) {
        return std::ranges::any_of(here, [&](const objects::Guard& guard) {
          return value(guard) && value(guard) == value(there) && guard.holds != there.holds;
        });
      });
    });
  }

  // What `prepare` made of a module: a DDP wrapper as soon as there are several processes.
  bool IsPreparedModule(ValueId value) const {
    if (!IsPrepared(context_, value)) return false;
    const ValueId inner = InnerOf(context_, value);
    return context_.values.Leaves(inner).size() == 1 && context_.values.IsA(inner, "torch.nn.Module");
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
    const knowledge::ClassId known = context_.values.ClassOf(context_.values.Leaves(wrapper)[0]);
    if (!inner || !known || context_.knowledge.FindMember(known, name) || context_.program.text(name).starts_with("__")) return false;
    if (IsOfWrapper(context_.program.text(name))) return false;
    if (IsOfLibrary(inner, name)) return true;
    if (context_.facts.values_store[inner].kind != ValueKind::Instance) return false;
    const binding::ClassId class_id{context_.facts.values_store[inner].a};
    if (context_.program.FindMethod(class_id, name)) return true;
    return IsSetBy(class_id, name);
  }

  // A model of a library whose members are described.
  bool IsOfLibrary(ValueId inner, base::NameId name) const {
    if (context_.facts.values_store[inner].kind != ValueKind::Object) return false;
    const knowledge::ClassId class_id = context_.values.ClassOf(inner);
    return class_id && context_.knowledge.FindMember(class_id, name);
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
                             IsSelf(module, ir::ObjectOf(module[target]));
          if (is_it) return true;
        }
      }
    }
    return false;
  }

  bool IsSelf(const ir::Module& module, ir::ExprId expr) const {
    return module[expr].kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(module[expr])) == "self";
  }

  void Report(const objects::Site& site, ir::ModuleId module_id, ir::ExprId object) {
    const std::string name(context_.program.text(ir::AttrOf(context_.program.modules[module_id][site.expr])));
    Finding finding = FindingAt(context_, kCode, Severity::Error, Confidence::Likely, site,
                                {"`{}` belongs to the model inside the DDP wrapper, which does not forward "
                                 "attributes: this raises `AttributeError`",
                                 {name}});
    const bool is_prepared = IsPrepared(context_, context_.facts.value(module_id, object));
    AddLabel(finding, SpanOf(context_, {site.function, object}), LabelRole::Primary,
             {is_prepared ? "prepared here: wrapped in DDP if there are several processes" : "wrapped in DDP", {}});
    finding.help = {"write `{}.module.{}`", {Quoted(context_, {site.function, object}), name}};
    const uint32_t end = context_.program.modules[module_id][object].end;
    if (is_prepared) finding.help = {"use `accelerator.unwrap_model({})`, which also works with "
                                     "one process", {Quoted(context_, {site.function, object})}};
    if (!is_prepared) finding.fixes.push_back(MakeFix("use the model inside the wrapper", Applicability::Safe,
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

`model.name` where `model` is a DDP wrapper on every path, or what `accelerator.prepare` made of a module, and
`name` is a method or field of the model's own class, which the wrapper has not.

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
* A test by `hasattr`, `isinstance` or `type` stands on the way, or a helper of the project that makes one.
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
