#include <algorithm>
#include <optional>

#include "analyzer/objects/parameter_changes.h"
#include "rules/wrapping.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR506 = "AR506";

// What happens to a model in the function that wraps it, after it has.
class WrappedBefore {
 public:
  WrappedBefore(const Context& context, const KnownCall& wrap)
      : context_(context), wrap_(wrap), module_id_(context.program.funcs[wrap.function].module),
        module_(context.program.modules[module_id_]) {}

  void Visit(FindingSink& sink) {
    const ir::ExprId target = AssignedTo(context_, {wrap_.function, wrap_.expr});
    const ir::ExprId inner = context_.index.ArgExpr(wrap_, "module");
    if (!target || FindsUnused()) return;
    names_.push_back(std::string(TextOf(context_, module_id_, target)));
    const bool has_name = inner && (module_[inner].kind == ir::ExprKind::Name || module_[inner].kind == ir::ExprKind::Attribute);
    if (has_name) names_.push_back(std::string(TextOf(context_, module_id_, inner)));
    AddNamesOfInner();
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (context_.index.FunctionOf(module_id_, id) != wrap_.function || !IsAfter(id) || !IsUsedAgain(id)) continue;
      VisitAssign(id, sink);
      VisitCall(id, sink);
    }
  }

 private:
  // `bare = model.module`, behind the wrapping.
  void AddNamesOfInner() {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::Stmt& stmt = module_[ir::StmtId{i}];
      if (!TakesInner(stmt) || stmt.begin < module_[wrap_.expr].end) continue;
      if (context_.index.FunctionOf(module_id_, ir::StmtId{i}) != wrap_.function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) names_.emplace_back(TextOf(context_, module_id_, target));
    }
  }

  bool TakesInner(const ir::Stmt& stmt) const {
    return stmt.kind == ir::StmtKind::Assign && TextOf(context_, module_id_, ir::AssignedOf(stmt)) == names_.front() + ".module";
  }

  // DDP that looks for unused parameters each time copes with frozen ones.
  bool FindsUnused() const {
    const variation::ValueId flag = context_.index.Arg(wrap_, "find_unused_parameters");
    return flag && !context_.values.IsFalse(flag);
  }

  // It stands in a block around the wrapping, further down; within one loop the wrapping may come again first.
  bool IsAfter(ir::StmtId stmt) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    if (module_[stmt].begin < module_[wrap_.expr].end) return false;
    for (ir::StmtId at = tree.StatementOf(wrap_.expr); at; at = tree.Parent(at)) {
      for (ir::StmtId outer = stmt; outer; outer = tree.Parent(outer)) {
        // In two arms of one statement neither comes after the other.
        if (tree.BlockOf(outer) == tree.BlockOf(at)) return outer != at && !IsMadeAnew(stmt);
      }
    }
    return false;
  }

  // The name means another model by then.
  bool IsMadeAnew(ir::StmtId before) const {
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      const ir::Stmt& stmt = module_[ir::StmtId{i}];
      const bool is_between = stmt.begin > module_[wrap_.expr].end && stmt.end < module_[before].begin;
      if (stmt.kind != ir::StmtKind::Assign || !is_between || TakesInner(stmt) || IsInOtherArm(ir::StmtId{i})) continue;
      if (context_.index.FunctionOf(module_id_, ir::StmtId{i}) != wrap_.function) continue;
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
        if (std::ranges::count(names_, TextOf(context_, module_id_, target)) > 0) return true;
      }
    }
    return false;
  }

  // `else: model = nn.DataParallel(model)`: nobody comes there who has wrapped it.
  bool IsInOtherArm(ir::StmtId stmt) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    for (ir::StmtId at = tree.StatementOf(wrap_.expr); at; at = tree.Parent(at)) {
      for (ir::StmtId other = stmt; other; other = tree.Parent(other)) {
        const bool are_arms = tree.Parent(other) && tree.Parent(other) == tree.Parent(at) && module_[tree.Parent(at)].kind == ir::StmtKind::If;
        if (are_arms && tree.BlockOf(other) != tree.BlockOf(at)) return true;
      }
    }
    return false;
  }

  // The wrapper is called, handed on or returned behind this place, or in a loop around it; a field may be used anywhere. What
  // is moved to be saved, and used no more, is no model that trains.
  bool IsUsedAgain(ir::StmtId changed) const {
    if (names_.front().find('.') != std::string::npos) return true;
    const ir::Tree& tree = context_.index.tree(module_id_);
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(module_id_, changed);
    const auto is_behind = [&](const ir::Stmt& stmt, ir::StmtId id) {
      return stmt.begin > module_[changed].end || std::ranges::any_of(loops, [&](ir::StmtId loop) { return id != changed && tree.Holds(loop, id); });
    };
    return std::ranges::any_of(context_.index.ExprsOf(module_id_, ir::ExprKind::Name), [&](ir::ExprId id) {
      if (context_.program.text(ir::NameOf(module_[id])) != names_.front()) return false;
      const ir::StmtId stmt = tree.StatementOf(id);
      if (!stmt || context_.index.FunctionOf(module_id_, stmt) != wrap_.function || !is_behind(module_[stmt], stmt)) return false;
      const ir::ExprId parent = tree.Parent(id);
      return !parent || module_[parent].kind != ir::ExprKind::Attribute;
    });
  }

  bool IsModel(std::string_view text) const {
    return std::ranges::any_of(names_, [&](const std::string& name) {
      return text == name || (text.starts_with(name) && text.substr(name.size()).starts_with(".module"));
    });
  }

  // `model.module.head = nn.Linear(...)`, and `param.requires_grad = False` in a loop over its parameters.
  void VisitAssign(ir::StmtId id, FindingSink& sink) const {
    const ir::Stmt& stmt = module_[id];
    if (stmt.kind != ir::StmtKind::Assign) return;
    if (module_[ir::AssignedOf(stmt)].kind == ir::ExprKind::Call && IsChangedIn(ir::AssignedOf(stmt))) return Report(id, "frozen or unfrozen", sink);
    for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
      if (module_[target].kind != ir::ExprKind::Attribute) continue;
      const std::string_view attr = context_.program.text(ir::AttrOf(module_[target]));
      if (attr == "requires_grad") {
        // A model that is frozen as a whole is not trained: a teacher, whose wrapper synchronises buffers.
        if (IsFrozenAsAWhole(id)) continue;
        if (IsOverItsParameters(id) || IsModel(BaseOf(target))) Report(id, "frozen or unfrozen", sink);
        continue;
      }
      if (IsModel(BaseOf(target)) && IsModule(ir::AssignedOf(stmt))) Report(id, "replaced", sink);
    }
  }

  // `model` of `model.module.head.weight`.
  std::string_view BaseOf(ir::ExprId attribute) const {
    ir::ExprId at = ir::ObjectOf(module_[attribute]);
    while (!IsModel(TextOf(context_, module_id_, at))) {
      if (module_[at].kind != ir::ExprKind::Attribute && module_[at].kind != ir::ExprKind::Subscript) return {};
      at = ir::ObjectOf(module_[at]);
    }
    return TextOf(context_, module_id_, at);
  }

  bool IsModule(ir::ExprId value) const {
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.facts.value(module_id_, value));
    return std::ranges::any_of(leaves, [&](variation::ValueId leaf) { return context_.values.IsA(leaf, "torch.nn.Module"); });
  }

  // `for p in model.parameters(): p.requires_grad = False`, with no test in between.
  bool IsFrozenAsAWhole(ir::StmtId stmt) const {
    const ir::StmtId loop = context_.index.tree(module_id_).Parent(stmt);
    if (!loop || module_[loop].kind != ir::StmtKind::For) return false;
    const std::string_view iterable = TextOf(context_, module_id_, ir::AssignedOf(module_[loop]));
    const size_t end = iterable.find(".parameters(");
    const std::string_view model = iterable.substr(0, end);
    const bool is_whole = std::ranges::any_of(names_, [&](const std::string& name) { return model == name || model == name + ".module"; });
    return end != std::string_view::npos && is_whole &&
           context_.values.IsFalse(context_.facts.value(module_id_, ir::AssignedOf(module_[stmt])));
  }

  // `model.requires_grad_(False)`.
  bool IsWholeFrozen(ir::ExprId call, std::string_view object) const {
    const bool is_whole = std::ranges::any_of(names_, [&](const std::string& name) { return object == name || object == name + ".module"; });
    const ir::ExprId flag = ir::ArgCount(module_, module_[call]) > 0 ? ir::ArgAt(module_, module_[call], 0).value : ir::ExprId::None();
    return is_whole && flag && context_.values.IsFalse(context_.facts.value(module_id_, flag));
  }

  bool IsOverItsParameters(ir::StmtId stmt) const {
    const ir::Tree& tree = context_.index.tree(module_id_);
    for (ir::StmtId at = tree.Parent(stmt); at; at = tree.Parent(at)) {
      if (module_[at].kind != ir::StmtKind::For) continue;
      const std::string_view iterable = TextOf(context_, module_id_, ir::AssignedOf(module_[at]));
      const size_t dot = iterable.find(".parameters(");
      const size_t named = iterable.find(".named_parameters(");
      const size_t end = std::min(dot, named);
      if (end != std::string_view::npos && std::ranges::any_of(names_, [&](const std::string& name) {
            return iterable.substr(0, end) == name || iterable.substr(0, end).starts_with(name + ".");
          })) {
        return true;
      }
    }
    return false;
  }

  // `model.to(device)`, `model.half()`, `model.requires_grad_(False)`.
  void VisitCall(ir::StmtId id, FindingSink& sink) const {
    const ir::Stmt& stmt = module_[id];
    if (stmt.kind != ir::StmtKind::Expr || module_[ir::ValueOf(stmt)].kind != ir::ExprKind::Call) return;
    const ir::ExprId call = ir::ValueOf(stmt);
    if (IsChangedIn(call)) return Report(id, "frozen or unfrozen", sink);
    const std::string_view method = MethodOf(context_, {wrap_.function, call});
    if (method.empty()) return;
    const ir::ExprId object = ir::ObjectOf(module_[ir::CalleeOf(module_[call])]);
    const std::string_view text = TextOf(context_, module_id_, object);
    if (method == "requires_grad_" && IsWholeFrozen(call, text)) return;
    if (method == "requires_grad_" && (IsModel(text) || !BaseOf(ir::CalleeOf(module_[call])).empty())) return Report(id, "frozen or unfrozen", sink);
    const bool moves = method == "to" || method == "cuda" || method == "cpu" || method == "half" || method == "bfloat16" || method == "double";
    if (moves && IsModel(text) && !IsThere(call, method)) Report(id, "moved or converted", sink);
  }

  // `freeze(model.module.body)`: a helper sets `requires_grad` of a part that it is given, or of some parameters of a whole model; one that is
  // frozen as a whole may be a teacher.
  bool IsChangedIn(ir::ExprId call) const {
    const variation::CallFact* fact = context_.facts.call(wrap_.function, call);
    if (fact == nullptr || fact->kind != variation::CallKind::Function || context_.program.funcs[fact->function].owner) return false;
    const objects::ParameterChanges changes(context_.program, context_.facts, context_.index);
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, module_[call], i);
      const ir::ExprKind kind = module_[arg.value].kind;
      if (arg.kind != ir::ArgKind::Positional || (kind != ir::ExprKind::Attribute && kind != ir::ExprKind::Name)) continue;
      const std::string_view text = TextOf(context_, module_id_, arg.value);
      const bool is_whole = std::ranges::any_of(names_, [&](const std::string& name) { return text == name || text == name + ".module"; });
      const bool is_part = !is_whole && kind == ir::ExprKind::Attribute && !BaseOf(arg.value).empty();
      if (is_whole && changes.OfSomeIn(fact->function, i)) return true;
      if (is_part && changes.In(fact->function, i)) return true;
    }
    return false;
  }

  // DDP with a device takes only a module that is there. To move it there again changes nothing.
  bool IsThere(ir::ExprId call, std::string_view method) const {
    const variation::ValueId devices = context_.index.Arg(wrap_, "device_ids");
    if (!devices || context_.values.IsNone(devices)) return false;
    return method == "cuda" || (method == "to" && !Converts(call));
  }

  // `.to(torch.float16)`, `.to(device, dtype=kind)`.
  bool Converts(ir::ExprId call) const {
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, module_[call], i);
      if (arg.keyword && context_.program.text(arg.keyword) == "dtype") return true;
      // A name of torch that is not called is an element type; a device is made by a call, a number or a text.
      const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.facts.value(module_id_, arg.value));
      if (std::ranges::any_of(leaves, [&](variation::ValueId leaf) { return context_.values.External(leaf).starts_with("torch."); })) return true;
    }
    return false;
  }

  void Report(ir::StmtId stmt, std::string_view what, FindingSink& sink) const {
    Finding finding = FindingAt(context_, kAR506, Severity::Error, Confidence::Likely, wrap_.function, stmt,
                                {"parameters are {} after DDP was created: its hooks still belong to the old ones",
                                 {std::string(what)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"too late", {}});
    AddLabel(finding, SpanOf(context_, {wrap_.function, wrap_.expr}), LabelRole::Why, {"wrapped here", {}});
    finding.help = {"change the model first, then wrap it", {}};
    sink.push_back(std::move(finding));
  }

  const Context& context_;
  const KnownCall& wrap_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
  std::vector<std::string> names_;
};

void CheckChangedAfterWrap(const Context& context, FindingSink& sink) {
  for (const KnownCall& wrap : Wrappings(context)) WrappedBefore(context, wrap).Visit(sink);
}

}  // namespace

extern const Rule ChangedAfterWrap = {
    .code = kAR506,
    .name = "changed-after-wrap",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "parameters frozen, unfrozen, replaced or moved after the model was wrapped in DDP",
    .explanation = R"md(
## What it finds

A change to a model further down in the function that wraps it in DDP:

* `requires_grad` is set on its parameters, either there or in a helper that is given a part of the model
  (`freeze(model.module.body)`), or the whole model and freezes some of its parameters
  (`if "adapter" not in name: p.requires_grad = False`);
* a part of the model is replaced by another module;
* the wrapper is moved to another device or type.

## Why it hurts

When DDP is created, it sorts the trained parameters into buckets and registers hooks on them. A parameter
that is frozen later never reports a gradient: `Expected to have finished reduction in the prior iteration`.
A parameter that is unfrozen or added later is in no bucket: each rank trains it alone, and the models drift
apart without any message. After a move, the buckets still point at the old memory.

## Wrong

```python
model = DDP(model)
for p in model.module.backbone.parameters():
    p.requires_grad = False
```

## Right

```python
for p in model.backbone.parameters():
    p.requires_grad = False
model = DDP(model)
```

## When it is silent

* The wrapper is no longer used: it is moved to the CPU to be saved, after the last step.
* DDP was created with `device_ids`, which it accepts only for a model that is on a device, and the model is
  moved to a device again.
* `find_unused_parameters=True`: then DDP looks for frozen parameters in each step.
* The name refers to another model by then, or the change comes before the wrapping.
* The change is in another function that is not called there: whether it comes before or after is unknown.

## Fix

There is none: the code in between may need the wrapper.

## Proof

There is nothing to replay: every rank lacks the same part of a reduction.
)md",
    .check = CheckChangedAfterWrap};

}  // namespace allranks::rules
