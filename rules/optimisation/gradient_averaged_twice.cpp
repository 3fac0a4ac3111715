#include <algorithm>
#include <optional>

#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR406 = "AR406";

class Averages {
 public:
  Averages(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (context_.program.text(call.entry->name) == "@gradient_synced.backward") VisitBackward(call);
    }
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) VisitGradients(ir::ModuleId{m});
  }

 private:
  bool IsWorldSize(ValueId value) const {
    return variation::IsCoordinate(context_.facts.values_store[value], knowledge::Coordinate::WorldSize);
  }

  // A number that is no loss: of items or steps, `len(dataset) * 3 / 8`, or one that the program says itself.
  bool IsCount(ValueId value) const {
    if (!value) return false;
    const variation::Value& node = context_.facts.values_store[value];
    switch (node.kind) {
      case ValueKind::Int:
      case ValueKind::Float:
      case ValueKind::Coordinate:
        return true;
      case ValueKind::Unary:
      case ValueKind::Binary:
      case ValueKind::Select:
        return std::ranges::all_of(context_.facts.values_store.Kids(value), [&](ValueId kid) { return IsCount(kid); });
      case ValueKind::Derived: {
        const base::NameId made_by = context_.facts.values_store.OperationOf(node);
        return made_by && context_.program.text(made_by) == "builtins.len";
      }
      default:
        return false;
    }
  }

  // The division on the way to the loss, whose dividend came out of the wrapped model and was summed up by nobody.
  void VisitBackward(const KnownCall& backward) {
    const ir::ModuleId module_id = context_.program.funcs[backward.function].module;
    if (!IsAveraging(module_id)) return;
    ValueId quotient;
    context_.values.AnyPart(backward.receiver, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      const bool is_division = node.is_binary(ir::BinaryOp::Div);
      const bool is_share = is_division && IsWorldSize(context_.facts.values_store.OperandsOf(part).right);
      if (is_share && !IsCount(context_.facts.values_store.OperandsOf(part).left)) quotient = part;
      return quotient.has_value();
    });
    if (!quotient || IsSummedUp(backward.receiver)) return;
    const std::optional<Site> division = DivisionIn(backward.function, quotient);
    if (division) Report(*division, {backward.function, backward.expr});
  }

  // DDP averages; a hook, or a framework, may sum.
  bool IsAveraging(ir::ModuleId module) {
    return calls_.Has(module, "torch.nn.parallel.DistributedDataParallel.__init__") &&
           !calls_.Names(module, {"register_comm_hook", "gradient_predivide", "gradient_average", "deepspeed"});
  }

  // Samples or losses of all ranks went into it: contrastive losses over gathered features, sums over tokens of all ranks.
  bool IsSummedUp(ValueId loss) const {
    return context_.values.AnyPart(loss, [&](ValueId part) { return (context_.facts.values_store[part].flags & variation::kReduced) != 0; });
  }

  std::optional<Site> DivisionIn(FuncId function, ValueId quotient) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Binary)) {
      if (FunctionAround(context_, module_id, id) != function) continue;
      if (context_.facts.value(module_id, id) == quotient) return Site{function, id};
    }
    return std::nullopt;
  }

  // The rate of an optimizer of the program, if it says one.
  witness::Witness WitnessOf(ir::ModuleId module) {
    witness::AveragedGradient scenario{.divided = true};
    for (const KnownCall& call : context_.index.known_calls()) {
      const std::vector<ir::ModuleId>& files = calls_.FilesOf(module);
      if (std::ranges::count(files, context_.program.funcs[call.function].module) == 0) continue;
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role != knowledge::Role::LearningRate) continue;
        scenario.learning_rate = RateOr(context_, context_.index.Arg(call, context_.program.text(role.param)), scenario.learning_rate);
      }
    }
    return ScenarioWitness(OneNode(), witness::Effect::Semantic, scenario);
  }

  void Report(const Site& division, const Site& backward) {
    Finding finding = FindingAt(context_, kAR406, Severity::Warning, Confidence::Likely, division,
                                {"the loss is divided by the number of ranks, and DDP divides the gradients by "
                                 "it again: steps are too small by that factor",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"divided here", {}});
    AddLabel(finding, SpanOf(context_, backward), LabelRole::Why, {"averages the gradients of all ranks", {}});
    finding.help = {"remove the division", {}};
    finding.witness = WitnessOf(context_.program.funcs[division.function].module);
    sink_.push_back(std::move(finding));
  }

  // `p.grad /= world_size`, `p.grad.div_(world_size)` in a program that wraps in DDP and reduces nothing itself there.
  void VisitGradients(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const ir::ExprId divisor = DivisorOfGradient(module_id, stmt);
      const ValueId value = context_.facts.value(module_id, divisor);
      if (!divisor || !value || !IsWorldSize(value) || !IsAveraging(module_id)) continue;
      const FuncId function = context_.index.FunctionOf(module_id, ir::StmtId{i});
      if (Communicates(function)) continue;
      Finding finding = FindingAt(context_, kAR406, Severity::Warning, Confidence::Likely, function, ir::StmtId{i},
                                  {"gradients are divided by the number of ranks, which DDP has done already: "
                                   "steps are too small by that factor",
                                   {}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"divided once more", {}});
      finding.help = {"remove the division", {}};
      finding.witness = WitnessOf(module_id);
      sink_.push_back(std::move(finding));
    }
  }

  ir::ExprId DivisorOfGradient(ir::ModuleId module_id, const ir::Stmt& stmt) const {
    const ir::Module& module = context_.program.modules[module_id];
    const auto is_gradient = [&](ir::ExprId expr) {
      const std::string_view text = TextOf(context_, module_id, expr);
      return text.ends_with(".grad") || text.ends_with(".grad.data");
    };
    if (stmt.kind == ir::StmtKind::AugAssign && static_cast<ir::BinaryOp>(stmt.op) == ir::BinaryOp::Div) {
      return is_gradient(ir::ValueOf(stmt)) ? ir::AssignedOf(stmt) : ir::ExprId::None();
    }
    if (stmt.kind != ir::StmtKind::Expr || module[ir::ValueOf(stmt)].kind != ir::ExprKind::Call) return {};
    const ir::Expr& call = module[ir::ValueOf(stmt)];
    const ir::Expr& callee = module[ir::CalleeOf(call)];
    if (callee.kind != ir::ExprKind::Attribute || context_.program.text(ir::AttrOf(callee)) != "div_") return {};
    return ir::ArgCount(module, call) == 1 && is_gradient(ir::ObjectOf(callee)) ? ir::ArgAt(module, call, 0).value : ir::ExprId::None();
  }

  // By itself, or in a function that it calls.
  bool Communicates(FuncId function) const {
    const std::vector<FuncId> run = context_.index.RunBy({function});
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      const bool is_collective = call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Collective;
      return is_collective && std::ranges::binary_search(run, call.function);
    });
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
};

void CheckGradientAveragedTwice(const Context& context, FindingSink& sink) { Averages(context, sink).Run(); }

}  // namespace

extern const Rule GradientAveragedTwice = {
    .code = kAR406,
    .name = "gradient-averaged-twice",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "loss or gradients divided by the number of ranks although DDP averages",
    .explanation = R"md(
## What it finds

A loss of a model in a DDP wrapper that is divided by the world size before `backward`, and `p.grad` divided
by it in a function that reduces nothing itself.

## Why it hurts

DDP averages gradients over the ranks. With the loss divided as well, they are too small by the number of
ranks: 64 times on 64 GPUs. Adam hides most of it; SGD hardly moves, weight decay and clipping weigh too much,
and the run gets worse the more GPUs it has.

## Wrong

```python
loss = criterion(model(x), y) / dist.get_world_size()
loss.backward()
```

## Right

```python
loss = criterion(model(x), y)
loss.backward()
```

## When it is silent

* The loss holds sums over all ranks: gathered features, a count of tokens that was reduced.
* What is divided is a number of items or steps, or one that the program says: a share of the data, the
  progress of the training, the strength of a noise.
* A communication hook is registered: it may sum.
* The function reduces gradients itself, or calls one that communicates.

## Fix

There is none: the learning rate may have been tuned to it.

## Proof

`allranks verify` computes the gradients of a small regression rank by rank, averages them as DDP does,
compares with the gradient of the whole batch, and trains both at the learning rate of the program.
)md",
    .check = CheckGradientAveragedTwice,
    .scenario = Scenario::AveragedGradient};

}  // namespace allranks::rules
