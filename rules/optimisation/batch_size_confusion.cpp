#include <algorithm>
#include <optional>

#include "analyzer/base/lowered.h"
#include "analyzer/objects/units.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using knowledge::Coordinate;
using objects::KnownCall;
using objects::Site;
using variation::IsCoordinate;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR402 = "AR402";

class Batches {
 public:
  Batches(const Context& context, FindingSink& sink) : context_(context), sink_(sink), calls_(context) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::ModuleId module{m};
      if (context_.program.modules[module].language == ir::Language::Python) VisitModule(module);
    }
    for (const KnownCall& loader : context_.loading.made_loaders()) VisitLoader(loader);
    for (const objects::AccumulationWindow& window : context_.accumulation.windows()) VisitWindow(window);
    for (const KnownCall& call : context_.index.known_calls()) {
      if (call.entry->Has(knowledge::Role::SetEpoch)) VisitEpoch(call);
    }
  }

 private:
  void VisitModule(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::Stmt& stmt = module[ir::StmtId{i}];
      const bool assigns = stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AugAssign;
      if (!assigns) continue;
      const ir::ExprId target = stmt.kind == ir::StmtKind::Assign ? ir::TargetsOf(module, stmt)[0] : ir::ValueOf(stmt);
      const std::string name = base::Lowered(TextOf(context_, module_id, target));
      const FuncId function = context_.index.FunctionOf(module_id, ir::StmtId{i});
      if (name.find("accum") != std::string::npos) VisitAccumulation(module_id, ir::StmtId{i}, function);
      if (name.find("batch_size") != std::string::npos || name.ends_with("bsz")) VisitTotal(module_id, ir::StmtId{i}, function);
    }
  }

  // Division by the devices of a node, or the operands of `total // micro * ranks`.
  void VisitAccumulation(ir::ModuleId module_id, ir::StmtId stmt_id, FuncId function) {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Stmt& stmt = module[stmt_id];
    const bool is_aug = stmt.kind == ir::StmtKind::AugAssign;
    const ir::Expr& expr = module[ir::AssignedOf(stmt)];
    const auto op = static_cast<ir::BinaryOp>(is_aug ? stmt.op : expr.op);
    if (!is_aug && expr.kind != ir::ExprKind::Binary) return;
    const ir::ExprId right = is_aug ? ir::AssignedOf(stmt) : ir::RightOf(expr);
    if (IsDivision(op) && Is(module_id, right, Coordinate::LocalWorldSize) && !HasOneNode(module_id)) {
      Report(module_id, {function, right},
             {"the accumulation steps are divided by the devices of one node, not by the number of "
              "ranks: on two nodes the batch per step doubles",
              {}},
             {"divide by the world size", {}});
      // Nobody has shown it on two.
      if (context_.launch.IsOnOneNode(module_id)) sink_.back().confidence = Confidence::Possible;
      return;
    }
    if (is_aug || op != ir::BinaryOp::Mul || !Is(module_id, right, Coordinate::WorldSize)) return;
    const ir::Expr& left = module[ir::LeftOf(expr)];
    const bool is_quotient = left.kind == ir::ExprKind::Binary && IsDivision(static_cast<ir::BinaryOp>(left.op)) &&
                             TextOf(context_, module_id, ir::LeftOf(expr)).front() != '(' && !IsInParentheses(module, ir::LeftOf(expr));
    if (!is_quotient) return;
    Report(module_id, {function, ir::AssignedOf(stmt)},
           {"`a // b * ranks` divides first and multiplies then: more ranks mean more accumulated steps instead of fewer", {}},
           {"put the divisor in parentheses: `a // (b * ranks)`", {}});
  }

  // `total // ranks * batch_size` micro-steps in a step: what each of them takes is multiplied with, and should divide.
  void VisitWindow(const objects::AccumulationWindow& window) {
    const ir::ModuleId module_id = context_.program.funcs[window.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Binary)) {
      const ir::StmtId stmt = context_.index.tree(module_id).StatementOf(id);
      const bool is_length = stmt && module[stmt].kind == ir::StmtKind::Assign && ir::AssignedOf(module[stmt]) == id &&
                             window.period.length && context_.facts.value(module_id, id) == window.period.length;
      if (!is_length || static_cast<ir::BinaryOp>(module[id].op) != ir::BinaryOp::Mul) continue;
      const ir::Expr& quotient = module[ir::LeftOf(module[id])];
      const bool divides = quotient.kind == ir::ExprKind::Binary && static_cast<ir::BinaryOp>(quotient.op) == ir::BinaryOp::FloorDiv &&
                           Is(module_id, ir::RightOf(quotient), Coordinate::WorldSize);
      const FuncId function = context_.index.FunctionOf(module_id, stmt);
      if (!divides || !IsBatchOfOne({function, ir::RightOf(module[id])})) continue;
      return Report(module_id, {function, id},
                    {"the accumulated steps grow with the batch of a rank: `a // b * c` divides first and multiplies then", {}},
                    {"put the divisor in parentheses: `a // (b * c)`", {}});
    }
  }

  bool IsBatchOfOne(const Site& number) const {
    const std::optional<objects::Unit> unit = units_.Of(number);
    return unit && unit->batch == 1 && unit->samples == 0 && unit->ranks == 0;
  }

  // `sampler.set_epoch(step // (len(dataset) // batch_size))`: the steps of a rank through its share are fewer.
  void VisitEpoch(const KnownCall& call) {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[call.expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call.expr]) != 1) return;
    const ir::ExprId epoch = ir::ArgAt(module, module[call.expr], 0).value;
    if (module[epoch].kind != ir::ExprKind::Binary || static_cast<ir::BinaryOp>(module[epoch].op) != ir::BinaryOp::FloorDiv) return;
    const std::optional<objects::Unit> counter = units_.Of({call.function, ir::LeftOf(module[epoch])});
    const std::optional<objects::Unit> unit = units_.Of({call.function, ir::RightOf(module[epoch])});
    if ((counter && !counter->IsPlain()) || !unit || !unit->IsOfAllRanks() || !unit->dataset) return;
    const bool is_dealt_out = std::ranges::any_of(context_.loading.made_samplers(), [&](const KnownCall& sampler) {
      return context_.values.MadeWith(context_.loading.ValueOf(sampler), "dataset") == unit->dataset;
    });
    if (!is_dealt_out) return;
    Report(module_id, {call.function, ir::RightOf(module[epoch])},
           {"these are the steps of one process through all data: a rank is through its share after an n-th of them, and goes "
            "over it n times in one order",
            {}},
           {"count the batches of the loader, `len(loader)`", {}});
  }

  static bool IsDivision(ir::BinaryOp op) { return op == ir::BinaryOp::Div || op == ir::BinaryOp::FloorDiv; }

  bool IsInParentheses(const ir::Module& module, ir::ExprId expr) const {
    const std::string_view text = context_.files[module.file].text;
    const size_t next = text.find_first_not_of(" \t\r\n", module[expr].end);
    return next != std::string_view::npos && text[next] == ')';
  }

  // `batch_size * world_size` in a program whose ranks share batches along other axes.
  void VisitTotal(ir::ModuleId module_id, ir::StmtId stmt_id, FuncId function) {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Stmt& stmt = module[stmt_id];
    const ir::ExprId value = ir::AssignedOf(stmt);
    const bool is_aug = stmt.kind == ir::StmtKind::AugAssign;
    if (!is_aug && module[value].kind != ir::ExprKind::Binary) return;
    const auto op = static_cast<ir::BinaryOp>(is_aug ? stmt.op : module[value].op);
    if (op != ir::BinaryOp::Mul) return;
    const std::vector<ir::ExprId> sides = is_aug ? std::vector{value} : std::vector{ir::LeftOf(module[value]), ir::RightOf(module[value])};
    for (const ir::ExprId side : sides) {
      if (!IsCountOfRanks(context_.facts.value(module_id, side), 0) || NamesAnyByOrigin(context_, {function, side}, {"tensor_parallel", "tp_size", "data_parallel", "dp_", "model_parallel"})) continue;
      const std::optional<Site> parallel = TensorParallelIn(module_id, is_aug ? ir::ValueOf(stmt) : ir::TargetsOf(module, stmt)[0]);
      if (!parallel) return;
      Report(module_id, {function, side},
             {"the batch is multiplied by the number of all ranks: those of a tensor-parallel group "
              "share their samples, and the total is too large by the size of that group",
              {}},
             {"multiply by the number of data-parallel ranks: world size / tensor-parallel size", {}});
      sink_.back().labels.push_back({SpanOf(context_, *parallel), LabelRole::Why, {"ranks share samples here", {}}});
      return;
    }
  }

  // The world size, or a sum or quotient with it; not whatever it was handed to.
  bool IsCountOfRanks(ValueId value, int depth) const {
    constexpr int kDeepest = 8;
    if (!value || depth > kDeepest) return false;
    const std::vector<ValueId> leaves = context_.values.Leaves(value);
    return std::ranges::any_of(leaves, [&](ValueId leaf) {
      const variation::Value& node = context_.facts.values_store[leaf];
      if (IsCoordinate(node, Coordinate::WorldSize)) return true;
      if (node.kind != ValueKind::Binary) return false;
      const auto kids = context_.facts.values_store.Kids(leaf);
      return IsCountOfRanks(kids[0], depth + 1) || IsCountOfRanks(kids[1], depth + 1);
    });
  }

  // `config.tensor_parallel_size`, of what `config.batch_size` is of as well, is read somewhere in the program.
  std::optional<Site> TensorParallelIn(ir::ModuleId module_id, ir::ExprId batch) {
    const ir::Module& own = context_.program.modules[module_id];
    if (own[batch].kind != ir::ExprKind::Attribute) return std::nullopt;
    const std::string_view owner = TextOf(context_, module_id, ir::ObjectOf(own[batch]));
    if (owner == "self") return std::nullopt;
    for (const ir::ModuleId file : calls_.FilesOf(module_id)) {
      const ir::Module& module = context_.program.modules[file];
      for (const ir::ExprId id : context_.index.ExprsOf(file, ir::ExprKind::Attribute)) {
        const ir::Expr& expr = module[id];
        const std::string_view name = context_.program.text(ir::AttrOf(expr));
        if (name != "tensor_parallel_size" && name != "tensor_model_parallel_size") continue;
        if (TextOf(context_, file, ir::ObjectOf(expr)) != owner) continue;
        if (const FuncId function = FunctionAround(context_, file, id)) return Site{function, id};
      }
    }
    return std::nullopt;
  }

  // A loader with a distributed sampler gets the batch of all ranks, or one that was divided twice.
  void VisitLoader(const KnownCall& loader) {
    const ir::ExprId batch = context_.index.ArgExpr(loader, "batch_size");
    const ValueId value = context_.index.Arg(loader, "batch_size");
    if (!batch || !value) return;
    const ir::ModuleId module_id = context_.program.funcs[loader.function].module;
    const int divisions = DivisionsBy(Coordinate::WorldSize, value, 0);
    if (divisions == 1 && DivisionsBy(Coordinate::LocalWorldSize, value, 0) > 0) {
      return Report(module_id, {loader.function, batch},
                    {"the batch size is divided by the number of ranks, and by the devices of a node again: the total batch is too small", {}},
                    {"divide by the number of ranks only", {}});
    }
    if (divisions > 1) {
      return Report(module_id, {loader.function, batch},
                    {"the batch size is divided by the number of ranks twice, so the total batch is too small", {}},
                    {"divide once", {}});
    }
    const std::string name = base::Lowered(TextOf(context_, module_id, batch));
    const bool is_total = HoldsWord(name, {"global_batch"}) && name.find('/') == std::string::npos;
    if (!is_total || divisions > 0 || context_.values.Mentions(value, Coordinate::WorldSize)) return;
    if (context_.loading.DistributedSamplersOf(context_.loading.ValueOf(loader)).empty()) return;
    Report(module_id, {loader.function, batch},
           {"by its name this is the total batch, but each rank gets all of it: a step uses world size times as many samples", {}},
           {"divide it by the world size", {}});
  }

  // How often the value, on one way through it, was divided by the number of ranks, or of those of a node.
  int DivisionsBy(Coordinate divisor, ValueId id, int depth) const {
    constexpr int kDeepest = 12;
    if (!id || depth > kDeepest) return 0;
    const variation::Value& node = context_.facts.values_store[id];
    if (node.kind == ValueKind::Param) {
      const ValueId assumed = context_.facts.param(node.function(), node.param_index());
      return assumed == id ? 0 : DivisionsBy(divisor, assumed, depth + 1);
    }
    const auto kids = context_.facts.values_store.Kids(id);
    if (node.kind == ValueKind::Binary) {
      const auto op = node.binary_op();
      if (op == ir::BinaryOp::Mul) return 0;
      const bool divides = IsDivision(op) && IsCoordinate(context_.facts.values_store[kids[1]], divisor);
      return DivisionsBy(divisor, kids[0], depth + 1) + (divides ? 1 : 0);
    }
    if (node.kind != ValueKind::Derived && node.kind != ValueKind::Unary) return 0;
    return kids.size() == 1 ? DivisionsBy(divisor, kids[0], depth + 1) : 0;
  }

  // Also where its name alone says so.
  bool Is(ir::ModuleId module, ir::ExprId expr, Coordinate coordinate) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(context_.facts.value(module, expr));
    return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) {
      const variation::Value& node = context_.facts.values_store[leaf];
      return IsCoordinate(node, coordinate) && (node.flags & variation::kOneNode) == 0;
    });
  }

  // The user says so, or the group has as many ranks as the node has devices.
  bool HasOneNode(ir::ModuleId module) {
    if (context_.facts.job.nodes == 1) return true;
    const KnownCall* init = calls_.FindInit(module);
    const ValueId size = init == nullptr ? ValueId::None() : context_.index.Arg(*init, "world_size");
    return size && context_.values.Mentions(size, Coordinate::LocalWorldSize);
  }

  void Report(ir::ModuleId module, const Site& site, findings::Text message, findings::Text help) {
    Finding finding = FindingAt(context_, kAR402, Severity::Warning, Confidence::Likely, site, std::move(message));
    finding.span = context_.program.modules[module].span(site.expr);
    AddLabel(finding, finding.span, LabelRole::Primary, {"used as the batch of one rank", {}});
    finding.help = std::move(help);
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::Units units_{context_.program, context_.facts, context_.index, context_.values, context_.loading, context_.accumulation};
};

void CheckBatchSizeConfusion(const Context& context, FindingSink& sink) { Batches(context, sink).Run(); }

}  // namespace

extern const Rule BatchSizeConfusion = {
    .code = kAR402,
    .name = "batch-size-confusion",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "batch sizes of one rank, one node and all ranks mixed up",
    .explanation = R"md(
## What it finds

* Accumulated steps divided by the devices of one node where the job may have several.
* `a // b * world_size` for accumulated steps, which multiplies by what it should divide by.
* `total // world_size * batch_size` as the number of accumulated steps, which grows with the batch of a rank.
* `sampler.set_epoch(step // n)` where n is computed from `len(dataset)` and not divided by the ranks.
* A batch multiplied by all ranks in a program with tensor parallelism, whose ranks share samples.
* A batch size that was divided by the world size twice on its way to the loader.
* A `global_batch_size` handed to the loader of each rank undivided, beside a distributed sampler.

## Why it hurts

The batch that the optimizer sees is another one than the logs, the schedule and the learning rate believe:
too large by the number of nodes, or too small by the number of ranks. Nothing fails. The run is slower to
converge, or ends sooner or later than planned, and cannot be compared with the one on another number of GPUs.

## Wrong

```python
gradient_accumulation_steps //= torch.cuda.device_count()
```

## Right

```python
gradient_accumulation_steps //= dist.get_world_size()
```

## When it is silent

* The processes are started on one node by the program itself, or the group has one node's size. Where the
  project's scripts and pages start it on one node alone, it is shown only with `--min-confidence possible`.
* The number that is multiplied comes from the data-parallel group.
* Names say nothing of the unit, and values neither.

## Fix

There is none: which of the numbers is the one that was meant is not known.

## Proof

There is nothing to replay: all ranks agree, on the wrong number.
)md",
    .check = CheckBatchSizeConfusion};

}  // namespace allranks::rules
