#include <algorithm>
#include <optional>

#include "analyzer/base/lowered.h"
#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/units.h"
#include "rules/finding_parts.h"
#include "rules/optimisation/accumulation.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR401 = "AR401";

// Words of a statement that speaks of what the rate should follow.
constexpr std::string_view kRateWords[] = {"lr", "learning_rate"};
constexpr std::string_view kBatchWords[] = {"batch", "bsz", "accum"};
// Of a variable that counts something; how long an epoch is says nothing of the rate.
constexpr std::string_view kCountWords[] = {"num_", "step", "sample", "iter", "epoch", "shard", "token", "count"};

template <class Words>
bool HasWord(std::string_view text, const Words& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

class Rates {
 public:
  Rates(const Context& context, FindingSink& sink) : context_(context), sink_(sink), neighbourhood_(context.program) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role == knowledge::Role::LearningRate) Visit(call, context_.program.text(role.param));
      }
    }
  }

 private:
  void Visit(const KnownCall& call, std::string_view param) {
    const ir::ExprId rate_expr = context_.index.ArgExpr(call, param);
    const ValueId rate = context_.index.Arg(call, param);
    if (!rate || !rate_expr || !IsReached(call)) return;
    if (MentionsSize(rate)) return VisitSchedules(call, rate);
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const std::vector<ir::ModuleId> program = neighbourhood_.Of(module);
    const bool is_horovod = IsWrapped(call, module, "horovod.torch.DistributedOptimizer");
    if (!is_horovod && !IsDataParallel(module)) return;
    // Horovod's wrapper asks for a scaled rate whatever is said of the batch.
    if (IsRelatedToSize(program, is_horovod)) return;
    const KnownCall* loader = PerRankLoader(program);
    const bool follows_batch = loader != nullptr && !IsFixed(rate) && FollowsBatchOfOne({call.function, rate_expr});
    if (!is_horovod && (loader == nullptr || (!IsFixed(rate) && !follows_batch))) return;
    // A number may have been chosen for the ranks that the job has; Horovod's wrapper asks for the scaling, and who multiplies with
    // the batch means that of a step.
    const Confidence confidence = is_horovod || follows_batch ? Confidence::Likely : Confidence::Possible;
    Report(call, rate_expr, {loader, PeriodOfSteps(program)}, is_horovod, confidence);
  }

  bool IsReached(const KnownCall& call) const {
    return context_.values.IsA(context_.facts.value(context_.program.funcs[call.function].module, call.expr),
                               "torch.optim.Optimizer");
  }

  bool MentionsSize(ValueId value) const {
    return context_.values.AnyPart(value, [&](ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (node.kind != ValueKind::Coordinate) return false;
      const auto coordinate = node.coordinate();
      return coordinate == Coordinate::WorldSize || coordinate == Coordinate::LocalWorldSize ||
             coordinate == Coordinate::AxisSize || coordinate == Coordinate::GroupSize || coordinate == Coordinate::NodeCount;
    });
  }

  // A number in the program; what a configuration says may be meant for the job that it is written for.
  bool IsFixed(ValueId rate) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(rate);
    return std::ranges::all_of(leaves, [&](ValueId leaf) {
      return context_.facts.values_store[leaf].kind == ValueKind::Float;
    });
  }

  // `base * batch_size / 256`: it follows the batch of a rank, and what is meant is the batch of a step.
  bool FollowsBatchOfOne(const Site& rate) const {
    const objects::Units units(context_.program, context_.facts, context_.index, context_.values, context_.loading, context_.accumulation);
    const std::optional<objects::Unit> unit = units.Of(rate);
    return unit && unit->batch == 1 && unit->ranks == 0 && unit->samples == 0;
  }

  bool IsDataParallel(ir::ModuleId module) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (context_.program.funcs[call.function].module != module) return false;
      return context_.program.text(call.entry->name) == "torch.nn.parallel.DistributedDataParallel.__init__";
    });
  }

  // Whether the optimizer, or one in its file, goes into a wrapper that averages gradients.
  bool IsWrapped(const KnownCall& optimizer, ir::ModuleId module, std::string_view wrapper) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (context_.program.funcs[call.function].module != module) return false;
      if (!context_.program.text(call.entry->name).starts_with(wrapper)) return false;
      const ValueId made = context_.facts.value(module, optimizer.expr);
      for (const ValueId arg : call.args) {
        const std::vector<ValueId> leaves = context_.values.Leaves(arg);
        if (std::ranges::any_of(leaves, [&](ValueId leaf) { return context_.values.MayBeSame(leaf, made); })) return true;
      }
      return false;
    });
  }

  // Anywhere a rate, a batch or a number of steps is multiplied with, or divided by, the number of ranks.
  bool IsRelatedToSize(const std::vector<ir::ModuleId>& program, bool rate_only) {
    for (const ir::ModuleId module : program) {
      const auto [known, is_new] = related_.emplace(module.index * 2 + (rate_only ? 1 : 0), false);
      if (is_new) known->second = RelatesToSize(module, rate_only);
      if (known->second) return true;
    }
    return false;
  }

  bool RelatesToSize(ir::ModuleId module_id, bool rate_only) const {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Binary)) {
      const ir::Expr& expr = module[id];
      if (Scales(static_cast<ir::BinaryOp>(expr.op)) &&
          (IsSize(module_id, ir::LeftOf(expr)) || IsSize(module_id, ir::RightOf(expr))) &&
          SpeaksOfRate(module_id, context_.index.tree(module_id).StatementOf(id), rate_only)) {
        return true;
      }
    }
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      if (stmt.kind == ir::StmtKind::AugAssign && IsSize(module_id, ir::AssignedOf(stmt)) &&
          SpeaksOfRate(module_id, ir::StmtId{i}, rate_only)) {
        return true;
      }
    }
    return false;
  }

  static bool Scales(ir::BinaryOp op) {
    return op == ir::BinaryOp::Mul || op == ir::BinaryOp::Div || op == ir::BinaryOp::FloorDiv;
  }

  bool IsSize(ir::ModuleId module, ir::ExprId expr) const {
    const ValueId value = context_.facts.value(module, expr);
    return value && MentionsSize(value);
  }

  bool SpeaksOfRate(ir::ModuleId module, ir::StmtId stmt, bool rate_only) const {
    if (!stmt) return false;
    const std::string text = base::Lowered(TextOf(context_, HeadOf(context_, module, stmt)));
    const std::string_view target = std::string_view(text).substr(0, text.find('='));
    const bool is_count = target.size() < text.size() && HasWord(target, kCountWords) && !HasWord(target, kBatchWords);
    if (is_count || target.find("num_batch") != std::string_view::npos) return false;
    return HasWord(text, kRateWords) || (!rate_only && HasWord(text, kBatchWords));
  }

  // A loader whose batches do not get smaller when there are more ranks.
  const KnownCall* PerRankLoader(const std::vector<ir::ModuleId>& program) const {
    for (const KnownCall& loader : context_.loading.made_loaders()) {
      const ir::ModuleId module = context_.program.funcs[loader.function].module;
      if (std::ranges::find(program, module) == program.end()) continue;
      const ValueId batch = context_.index.Arg(loader, "batch_size");
      if (batch && !context_.values.IsNone(batch) && !MentionsSize(batch)) return &loader;
    }
    return nullptr;
  }

  // How many micro-steps the optimizer waits for, in these files; none if it steps each time.
  ValueId PeriodOfSteps(const std::vector<ir::ModuleId>& program) const {
    for (const objects::AccumulationWindow& window : context_.accumulation.windows()) {
      if (std::ranges::find(program, context_.program.funcs[window.function].module) == program.end()) continue;
      if (window.period.length) return window.period.length;
    }
    return {};
  }

  // What the samples of a step are made of.
  struct Batch {
    const KnownCall* loader = nullptr;
    ValueId period;
  };

  ir::ExprId SizeExpr(const Batch& batch) const {
    return batch.loader == nullptr ? ir::ExprId::None() : context_.index.ArgExpr(*batch.loader, "batch_size");
  }
  ValueId Size(const Batch& batch) const {
    return batch.loader == nullptr ? ValueId::None() : context_.index.Arg(*batch.loader, "batch_size");
  }

  // " × 4 micro-steps"
  std::string AccumulationText(const Batch& batch) const {
    if (!batch.period) return "";
    const std::optional<int64_t> number = context_.values.Int(batch.period);
    return number ? " × " + std::to_string(*number) + " micro-steps" : " × accumulated micro-steps";
  }

  // Of all lines that start the program; where they do not say it, or say several, eight as an example.
  int64_t RanksOf(ir::ModuleId module) const {
    constexpr int64_t kExample = 8;
    const int64_t ranks = context_.launch.RanksFor(module);
    return ranks > 1 ? ranks : kExample;
  }

  // "32 × 8 × 4 = 1024, ", if all of it is known.
  std::string ArithmeticText(const Batch& batch, int64_t ranks) const {
    if (!Size(batch)) return "";
    const std::optional<int64_t> size = context_.values.Int(Size(batch));
    const std::optional<int64_t> steps = batch.period ? context_.values.Int(batch.period) : std::optional<int64_t>(1);
    if (!size || !steps) return "";
    const std::string product = std::to_string(*size) + " × " + std::to_string(ranks) + (batch.period ? " × " + std::to_string(*steps) : "");
    return product + " = " + std::to_string(*size * ranks * *steps) + ", ";
  }

  void Report(const KnownCall& call, ir::ExprId rate, const Batch& of_step, bool is_horovod, Confidence confidence) {
    const KnownCall* loader = of_step.loader;
    const ir::ExprId batch = SizeExpr(of_step);
    const std::string batch_text = batch ? "`" + Quoted(context_, {loader->function, batch}) + "`" : "the batch of a rank";
    const int64_t ranks = RanksOf(context_.program.funcs[call.function].module);
    Finding finding = FindingAt(
        context_, kAR401, Severity::Warning, confidence, Site{call.function, rate},
        {"the learning rate `{}` does not depend on the number of ranks: a step uses {} × world size{} samples, "
         "with {} ranks {}{} times as many as with one{}",
         {Quoted(context_, {call.function, rate}), batch_text, AccumulationText(of_step), std::to_string(ranks), ArithmeticText(of_step, ranks), std::to_string(ranks),
          is_horovod ? ", for which Horovod asks for a larger rate" : ""}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"not scaled with the number of ranks", {}});
    if (batch) AddLabel(finding, SpanOf(context_, {loader->function, batch}), LabelRole::Why, {"the batch of one rank", {}});
    finding.help = {
        "scale the rate with the number of ranks (linearly for SGD, by its square root for Adam and similar), or divide a "
        "global batch size by it",
        {}};
    finding.witness = WitnessOf(context_.facts.value(context_.program.funcs[call.function].module, rate), of_step, ranks);
    sink_.push_back(std::move(finding));
  }

  // The rate and the batch where the program says them.
  witness::Witness WitnessOf(ValueId rate, const Batch& batch, int64_t ranks) const {
    constexpr uint32_t kLargestBatch = 1 << 20, kMostSteps = 4096;
    constexpr int64_t kMostRanks = 1024;
    witness::LearningRate scenario;
    scenario.batch = NumberWithin(context_, Size(batch), 1, kLargestBatch, scenario.batch);
    scenario.accumulation = NumberWithin(context_, batch.period, 1, kMostSteps, scenario.accumulation);
    scenario.learning_rate = RateOr(context_, rate, scenario.learning_rate);
    const traces::World world{.nodes = 1, .per_node = static_cast<uint32_t>(std::min(ranks, kMostRanks)), .mesh = {}};
    return ScenarioWitness(world, witness::Effect::Semantic, scenario);
  }

  // The rate of the optimizer is scaled, and a schedule that sets it step by step gets the one that is not.
  void VisitSchedules(const KnownCall& optimizer, ValueId rate) {
    const ir::ModuleId module = context_.program.funcs[optimizer.function].module;
    const ValueId made = context_.facts.value(module, optimizer.expr);
    for (const auto& [expr, fact] : context_.facts.functions[optimizer.function].calls) {
      const auto args = context_.facts.args(fact);
      const bool gets_optimizer = std::ranges::any_of(args, [&](ValueId arg) {
        const std::vector<ValueId> leaves = context_.values.Leaves(arg);
        return arg && std::ranges::find(leaves, made) != leaves.end();
      });
      if (!gets_optimizer) continue;
      const auto unscaled = std::ranges::find_if(args, [&](ValueId arg) { return arg && IsUnscaledPartOf(arg, rate); });
      if (unscaled == args.end()) continue;
      const Site site{optimizer.function, expr};
      Finding finding = FindingAt(context_, kAR401, Severity::Warning, Confidence::Likely, site,
                                  {"the schedule gets the unscaled learning rate and will overwrite the optimizer's scaled one",
                                   {}});
      AddLabel(finding, finding.span, LabelRole::Primary, {"the rate before scaling", {}});
      const ir::ExprId rate_expr = context_.index.ArgExpr(optimizer, "lr");
      AddLabel(finding, SpanOf(context_, {optimizer.function, rate_expr}), LabelRole::Why, {"the optimizer's rate is scaled", {}});
      finding.help = {"scale the rate once, and pass the same value to optimizer and schedule", {}};
      sink_.push_back(std::move(finding));
    }
  }

  // What is multiplied with the number of ranks to make the rate.
  bool IsUnscaledPartOf(ValueId part, ValueId rate) const {
    if (IsConstant(context_.facts.values_store[part]) && context_.facts.values_store[part].kind != ValueKind::Float) return false;
    return context_.values.AnyPart(rate, [&](ValueId at) {
      const variation::Value& node = context_.facts.values_store[at];
      if (node.kind != ValueKind::Binary || node.binary_op() != ir::BinaryOp::Mul) return false;
      const auto kids = context_.facts.values_store.Kids(at);
      return (kids[0] == part && MentionsSize(kids[1])) || (kids[1] == part && MentionsSize(kids[0]));
    });
  }

  const Context& context_;
  FindingSink& sink_;
  binding::Neighbourhood neighbourhood_;
  std::unordered_map<uint32_t, bool> related_;
};

void CheckUnscaledLearningRate(const Context& context, FindingSink& sink) { Rates(context, sink).Run(); }

}  // namespace

extern const Rule UnscaledLearningRate = {
    .code = kAR401,
    .name = "unscaled-learning-rate",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary = "learning rate that stays the same while the batch grows with the number of ranks",
    .explanation = R"md(
## What it finds

An optimizer with a number for a learning rate in a data-parallel program whose loaders have a batch size
for each rank, where nothing relates the rate, the batch or the number of accumulated steps to the number of
ranks. The same of a rate that is multiplied with the batch size that a loader is given (`base * batch_size
/ 256`): it follows the batch of one rank, and not that of a step. Under Horovod, which asks for the
scaling, also a rate out of a configuration. And a schedule that gets the rate before scaling while the
optimizer gets the scaled one.

A rate that is a number may have been chosen for this number of ranks, so that case is shown only with
`--min-confidence possible`.

## Why it hurts

A step averages the gradients of `batch × ranks × accumulation` samples. With a batch of 32 a rank,
one rank steps on 32 samples and 64 ranks step on 2,048, with a 64th of the steps an epoch. If the
rate does not grow as well, training goes a shorter way in the same number of epochs: the loss is
higher at the end, and more GPUs make the result worse.

## Wrong

```python
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
```

## Right

```python
loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * dist.get_world_size() / 8)
```

## When it is silent

* Anywhere in the files that make the program a rate, a batch or a number of steps is multiplied with
  or divided by the number of ranks.
* The batch size is a global one, divided by the number of ranks.
* The rate comes out of a configuration: it may be meant for the job that it is written for.

## Fix

Scale the rate linearly with the effective batch for SGD, with its square root for Adam and its kin,
and warm it up over the first epochs; or keep the effective batch by dividing a global batch size by
the number of ranks. Which of them is right only you know, so there is no automatic fix. Where the
rate is tuned for this number of ranks, say so in an ignore comment.

## Proof

`allranks verify` trains a small regression on one rank and on several, and says how far apart they end.
)md",
    .check = CheckUnscaledLearningRate,
    .scenario = Scenario::LearningRate};

}  // namespace allranks::rules
