#include <algorithm>
#include <unordered_set>

#include "analyzer/objects/gradient_calls.h"
#include "analyzer/objects/wrapped_members.h"
#include "rules/ddp/wrapper_paths.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"
#include "rules/wrapping.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR505 = "AR505";

class Attributes {
 public:
  Attributes(const Context& context, FindingSink& sink) : context_(context), sink_(sink), paths_(context), wrapped_(context.program, context.knowledge, context.facts) {}

  void Run() {
    if (paths_.AreAny()) NoteMembers();
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      VisitModule(ir::ModuleId{m});
      VisitQuestions(ir::ModuleId{m});
    }
  }

 private:
  void VisitModule(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Attribute)) {
      const ir::ExprId object = ir::ObjectOf(module[id]);
      const ValueId value = context_.facts.value(module_id, object);
      const FuncId function = value ? FunctionAround(context_, module_id, id) : FuncId::None();
      if (!function || IsAssigned(module_id, id)) continue;
      const base::NameId name = ir::AttrOf(module[id]);
      const bool is_wrapped = IsWrapped(context_, value) || IsPreparedModule(value);
      const bool is_wrong = is_wrapped && wrapped_.AreLacking(value, InnerOf(context_, value), name) && !IsWhereNotWrapped({function, id}, value) &&
                            !AsksForAttributeBefore(context_, {function, id});
      const bool may_be_wrong = !is_wrong && MayBeOfInner({function, object}, name);
      if ((!is_wrong && !may_be_wrong) || IsTried(module_id, id)) continue;
      if (is_wrong) {
        Report({function, id}, module_id, object);
      } else {
        ReportOnSomeWay({function, id}, object);
      }
    }
  }

  // `hasattr(model, "width")`: false of the wrapper, whatever the model has.
  void VisitQuestions(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::Expr& callee = module[ir::CalleeOf(module[id])];
      const bool asks = callee.kind == ir::ExprKind::Name && context_.program.text(ir::NameOf(callee)) == "hasattr";
      if (!asks || ir::ArgCount(module, module[id]) != 2) continue;
      const ir::ExprId object = ir::ArgAt(module, module[id], 0).value;
      const std::string_view text = context_.values.Str(context_.facts.value(module_id, ir::ArgAt(module, module[id], 1).value));
      const base::NameId name = text.empty() ? base::NameId() : context_.program.names->Find(text);
      const FuncId function = name ? FunctionAround(context_, module_id, id) : FuncId::None();
      if (function && MayBeOfInner({function, object}, name) && !LooksInside(function, object)) ReportQuestion({function, id}, object, name);
    }
  }

  // `try: save = model.save`, `except AttributeError: save = model.module.save`.
  bool IsTried(ir::ModuleId module_id, ir::ExprId expr) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(expr); at; at = tree.Parent(at)) {
      if (module[at].kind != ir::StmtKind::Try || ir::HandlersOf(module, module[at]).empty()) continue;
      const bool looks_inside = std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
        return module[id].begin > module[expr].end && module[id].end <= module[at].end && context_.program.text(ir::AttrOf(module[id])) == "module";
      });
      if (looks_inside) return true;
    }
    return false;
  }

  // `model.module` somewhere in the function: it knows of the wrapper.
  bool LooksInside(FuncId function, ir::ExprId object) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return context_.program.text(ir::AttrOf(module[id])) == "module" && objects::IsSameChain(module, ir::ObjectOf(module[id]), object) &&
             FunctionAround(context_, module_id, id) == function;
    });
  }

  // The object is a wrapper on some way, and the name one of the model inside: of its class, or, where that is not known, of a module
  // class of the project.
  bool MayBeOfInner(const objects::Site& object, base::NameId name) const {
    if (members_.count(name) == 0 || assigned_.count(name) > 0 || objects::WrappedMembers::IsOfEveryModule(context_.program.text(name))) return false;
    const std::vector<ValueId> wrappers = paths_.WrappersAt(object);
    return !wrappers.empty() && std::ranges::all_of(wrappers, [&](ValueId wrapper) {
      const knowledge::ClassId known = context_.values.ClassOf(wrapper);
      if (!known || context_.knowledge.FindMember(known, name)) return false;
      const std::vector<ValueId> inner = context_.values.Leaves(context_.values.MadeWith(wrapper, "module"));
      return std::ranges::none_of(inner, [&](ValueId leaf) {
        const variation::Value& node = context_.values[leaf];
        if (node.kind == ValueKind::Object) return !wrapped_.IsOfLibrary(leaf, name);
        if (node.kind != ValueKind::Instance) return false;
        const binding::ClassId class_id = node.class_id();
        return !context_.program.FindMethod(class_id, name) && !wrapped_.IsSetBy(class_id, name);
      });
    });
  }

  // Methods and fields of module classes of the project, and names that get a value from outside: `model.epoch = 1`.
  void NoteMembers() {
    for (uint32_t c = 0; c < context_.program.classes.size(); ++c) {
      if (!objects::DerivesFrom(context_.program, context_.knowledge, binding::ClassId{c}, "torch.nn.Module")) continue;
      for (const auto& [name, method] : context_.program.classes[binding::ClassId{c}].methods) members_.insert(name);
      AddFields(binding::ClassId{c});
    }
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (const ir::Stmt& stmt : module.stmts) {
        if (stmt.kind != ir::StmtKind::Assign) continue;
        for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
          if (module[target].kind == ir::ExprKind::Attribute && !objects::IsSelf(context_.program, module, ir::ObjectOf(module[target]))) assigned_.insert(ir::AttrOf(module[target]));
        }
      }
    }
  }

  void AddFields(binding::ClassId class_id) {
    const ir::Module& module = context_.program.modules[context_.program.classes[class_id].module];
    const ir::Class& node = context_.program.ir_class(class_id);
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::Assign || stmt.begin < node.begin || stmt.end > node.end) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool is_field = module[target].kind == ir::ExprKind::Attribute && objects::IsSelf(context_.program, module, ir::ObjectOf(module[target]));
        if (is_field) members_.insert(ir::AttrOf(module[target]));
      }
    }
  }

  // The place is reached only where a test came out the other way than where the model is wrapped, though perhaps in
  // another method: `if self.distributed: wrap` and `else: self.model.head`.
  bool IsWhereNotWrapped(const objects::Site& site, ValueId wrapper) const {
    const std::vector<objects::Guard> here = context_.guards.Of(site);
    const auto value = [&](const objects::Guard& guard) {
      return context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    };
    return std::ranges::any_of(Wrappings(context_), [&](const objects::KnownCall& wrap) {
      const std::vector<ValueId> leaves = context_.values.Leaves(wrapper);
      const ValueId made = context_.facts.value(context_.program.funcs[wrap.function].module, wrap.expr);
      if (std::ranges::count(leaves, made) == 0) return false;
      return std::ranges::any_of(context_.guards.Of({wrap.function, wrap.expr}), [&](const objects::Guard& there) {
        return std::ranges::any_of(here, [&](const objects::Guard& guard) {
          return value(guard) && value(guard) == value(there) && guard.holds != there.holds;
        });
      });
    });
  }

  // What `prepare` made of a module: a DDP wrapper as soon as there are several processes.
  bool IsPreparedModule(ValueId value) const {
    if (!IsPrepared(context_, value)) return false;
    const ValueId inner = OnlyModel(InnerOf(context_, value));
    return inner && (context_.values.IsA(inner, "torch.nn.Module") || HasForward(inner));
  }

  // `class Net(BartPretrainedModel)` of a library that is not described.
  bool HasForward(ValueId object) const {
    const variation::Value& value = context_.values[object];
    const base::NameId forward = context_.program.names->Find("forward");
    if (value.kind != ValueKind::Instance || !forward) return false;
    return context_.program.FindMethod(value.class_id(), forward) && !context_.program.classes[value.class_id()].external_bases.empty();
  }

  // The one model that is wrapped, also where callers pass it: `def train(model): model = accelerator.prepare(model)`.
  ValueId OnlyModel(ValueId inner) const {
    const std::vector<ValueId> leaves = inner ? context_.values.Leaves(inner) : std::vector<ValueId>();
    return leaves.size() == 1 ? leaves[0] : ValueId();
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

  void Report(const objects::Site& site, ir::ModuleId module_id, ir::ExprId object) {
    const std::string name(context_.program.text(ir::AttrOf(context_.program.modules[module_id][site.expr])));
    Finding finding = FindingAt(context_, kAR505, Severity::Error, Confidence::Likely, site,
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

  void ReportOnSomeWay(const objects::Site& site, ir::ExprId object) {
    const std::string name(context_.program.text(ir::AttrOf(context_.program.module_of(site.function)[site.expr])));
    Finding finding = FindingAt(context_, kAR505, Severity::Error, Confidence::Likely, site,
                                {"`{}` belongs to the model inside the DDP wrapper, which does not forward "
                                 "attributes: where the model is wrapped this raises `AttributeError`",
                                 {name}});
    AddWrapping(finding, {site.function, object});
    // On unknown code ten of twelve were wrong: tests of other values keep the wrapper away.
    findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SeveralStores));
    finding.help = {"write `{}.module.{}` where the model is wrapped", {Quoted(context_, {site.function, object}), name}};
    sink_.push_back(std::move(finding));
  }

  void ReportQuestion(const objects::Site& site, ir::ExprId object, base::NameId name) {
    const std::string text(context_.program.text(name));
    Finding finding = FindingAt(context_, kAR505, Severity::Error, Confidence::Likely, site,
                                {"`{}` belongs to the model inside the DDP wrapper, which does not forward "
                                 "attributes: where the model is wrapped the answer is always no",
                                 {text}});
    AddWrapping(finding, {site.function, object});
    finding.help = {"ask `{}.module` where the model is wrapped", {Quoted(context_, {site.function, object})}};
    sink_.push_back(std::move(finding));
  }

  void AddWrapping(Finding& finding, const objects::Site& object) const {
    findings::Assumptions assumed;
    assumed.Add(findings::Assumption::SettingUnknown);
    findings::Assume(finding, assumed);
    AddLabel(finding, SpanOf(context_, object), LabelRole::Primary, {"the wrapper, on some path to here", {}});
    const std::vector<ValueId> wrappers = paths_.WrappersAt(object);
    for (const objects::KnownCall& wrap : Wrappings(context_)) {
      const ValueId made = context_.facts.value(context_.program.funcs[wrap.function].module, wrap.expr);
      const bool is_it = std::ranges::any_of(wrappers, [&](ValueId wrapper) { return context_.values.MayBeSame(made, wrapper); });
      if (is_it) return AddLabel(finding, SpanOf(context_, {wrap.function, wrap.expr}), LabelRole::Note, {"wrapped here", {}});
    }
  }

  const Context& context_;
  FindingSink& sink_;
  WrapperPaths paths_;
  const objects::WrappedMembers wrapped_;
  std::unordered_set<base::NameId> members_, assigned_;
};

void CheckWrappedAttribute(const Context& context, FindingSink& sink) { Attributes(context, sink).Run(); }

}  // namespace

extern const Rule WrappedAttribute = {
    .code = kAR505,
    .name = "wrapped-attribute",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "attribute or method of the model accessed on its DDP wrapper",
    .explanation = R"md(
## What it finds

`model.name`, where `model` is a DDP wrapper, or what `accelerator.prepare` returned for a module, and `name`
is a method or field of the model's own class that the wrapper does not have. The rule also covers a model
that callers pass to the function that prepares it. A variable that is wrapped under a condition
(`if distributed: model = DDP(model)`) is followed through helpers and parameters, because there is a job in
which it is the wrapper.

It also finds `hasattr(model, "name")`, which is false for the wrapper whatever the model has.

## Why it hurts

The wrapper passes on neither methods nor fields: `AttributeError: 'DistributedDataParallel' object has no
attribute 'name'`. Code that ran on one GPU fails on several, often in a branch that is reached late, such as
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

* A test on the way has the condition that decided about the wrapping: the code knows which of the two it has.
* The model is kept in a field that some method sets to the bare model.
* The name is one that every module has, or is set on the wrapper.
* There is a test with `hasattr`, `isinstance` or `type` on the way, or a helper of the project that makes
  one. Or the access is in a `try`, and a handler uses `model.module`.
* The model's class is not one of the project, and no module class of the project has such a name.

## Fix

`--fix` inserts `.module`.

## Proof

There is nothing to replay: every rank raises the same error.
)md",
    .check = CheckWrappedAttribute,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
