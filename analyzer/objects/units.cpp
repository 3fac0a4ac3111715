#include "analyzer/objects/units.h"

#include <algorithm>
#include <string_view>

namespace allranks::objects {

using variation::ValueKind;

namespace {

constexpr int kDeepest = 12;

std::optional<Unit> Product(const std::optional<Unit>& a, const std::optional<Unit>& b, int sign) {
  if (!a || !b) return std::nullopt;
  Unit unit = *a;
  unit.samples += sign * b->samples;
  unit.batch += sign * b->batch;
  unit.ranks += sign * b->ranks;
  unit.micro_steps += sign * b->micro_steps;
  if (!unit.dataset) unit.dataset = b->dataset;
  if (!unit.loader) unit.loader = b->loader;
  return unit;
}

// `n + 1`, `max(n, 1)`: what is added without a unit changes none.
std::optional<Unit> Sum(const std::optional<Unit>& a, const std::optional<Unit>& b) {
  if (!a || !b) return std::nullopt;
  if (a->IsPlain()) return b;
  if (b->IsPlain() || *a == *b) return a;
  return std::nullopt;
}

}  // namespace

Units::Units(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Values& values,
             const Loading& loading, const Accumulation& accumulation)
    : program_(program), facts_(facts), index_(index), values_(values), loading_(loading), accumulation_(accumulation),
      definitions_(program, index) {}

std::optional<Unit> Units::Of(const Site& number, int depth) const {
  if (!number.expr || depth > kDeepest) return std::nullopt;
  const ir::ModuleId module_id = program_.funcs[number.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[number.expr];
  const ValueId value = facts_.value(module_id, number.expr);
  if (IsRanks(value)) return Unit{.ranks = 1};
  if (const std::optional<Unit> given = OfGiven(value)) return given;
  const auto part = [&](ir::ExprId each) { return Of({number.function, each}, depth + 1); };
  switch (expr.kind) {
    case ir::ExprKind::Constant:
      return Unit{};
    case ir::ExprKind::Name:
      return OfVariable(number, depth);
    case ir::ExprKind::Attribute:
      // A setting, whatever it says.
      return Unit{};
    case ir::ExprKind::Unary:
      return part(ir::OperandOf(expr));
    case ir::ExprKind::Conditional:
      return Sum(part(ir::ThenOf(module, expr)), part(ir::ElseOf(module, expr)));
    case ir::ExprKind::Call:
      return OfCall(number, depth);
    case ir::ExprKind::Binary: {
      const std::optional<Unit> left = part(ir::LeftOf(expr)), right = part(ir::RightOf(expr));
      switch (static_cast<ir::BinaryOp>(expr.op)) {
        case ir::BinaryOp::Mul:
          return Product(left, right, 1);
        case ir::BinaryOp::Div:
        case ir::BinaryOp::FloorDiv:
          return Product(left, right, -1);
        case ir::BinaryOp::Add:
        case ir::BinaryOp::Sub:
          return Sum(left, right);
        default:
          return std::nullopt;
      }
    }
    default:
      return std::nullopt;
  }
}

std::optional<Unit> Units::OfVariable(const Site& number, int depth) const {
  bool is_set_before = false;
  const ir::ExprId name = number.expr;
  const std::vector<Definition> assigned = definitions_.Reaching(number, definitions_.To(number.function, name), is_set_before);
  if (assigned.empty()) return OfCaptured(number, depth);
  if (!is_set_before || assigned.size() != 1 || assigned[0].item != Definition::kWhole) return std::nullopt;
  return Of({number.function, assigned[0].value}, depth + 1);
}

// A variable of the function around that is assigned once; else a parameter or a global: some number.
std::optional<Unit> Units::OfCaptured(const Site& number, int depth) const {
  const base::NameId name = ir::NameOf(program_.module_of(number.function)[number.expr]);
  const auto& params = program_.function(number.function).params;
  const FuncId outer = program_.funcs[number.function].parent;
  if (!outer || std::ranges::find(params, name, &ir::Param::name) != params.end()) return Unit{};
  const std::vector<Definition> assigned = definitions_.To(outer, number.expr, number.function);
  if (assigned.empty()) return Unit{};
  if (assigned.size() != 1 || assigned[0].item != Definition::kWhole) return std::nullopt;
  return Of({outer, assigned[0].value}, depth + 1);
}

std::optional<Unit> Units::OfCall(const Site& number, int depth) const {
  const ir::ModuleId module_id = program_.funcs[number.function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& call = module[number.expr];
  const uint32_t count = ir::ArgCount(module, call);
  const auto argument = [&](uint32_t i) { return Site{number.function, ir::ArgAt(module, call, i).value}; };
  for (uint32_t i = 0; i < count; ++i) {
    if (ir::ArgAt(module, call, i).kind != ir::ArgKind::Positional) return std::nullopt;
  }
  const std::string_view called = values_.External(facts_.value(module_id, ir::CalleeOf(call)));
  if (called == "builtins.len" && count == 1) return OfLength(argument(0));
  const bool keeps = called == "builtins.int" || called == "builtins.round" || called == "builtins.float" || called == "math.ceil" ||
                     called == "math.floor" || called == "numpy.ceil" || called == "numpy.floor";
  if (keeps && count > 0) return Of(argument(0), depth + 1);
  if ((called != "builtins.max" && called != "builtins.min") || count == 0) return std::nullopt;
  std::optional<Unit> all = Of(argument(0), depth + 1);
  for (uint32_t i = 1; i < count; ++i) all = Sum(all, Of(argument(i), depth + 1));
  return all;
}

std::optional<Unit> Units::OfLength(const Site& counted) const {
  const ValueId value = facts_.value(program_.funcs[counted.function].module, counted.expr);
  const std::vector<ValueId> leaves = value ? values_.Leaves(value) : std::vector<ValueId>();
  if (leaves.size() != 1) return std::nullopt;
  if (loading_.IsLoader(leaves[0])) return OfLoader(leaves[0]);
  if (loading_.IsDistributedSampler(leaves[0])) {
    return Unit{.samples = 1, .ranks = -1, .dataset = values_.MadeWith(leaves[0], "dataset")};
  }
  if (values_.IsA(leaves[0], "torch.utils.data.Dataset")) return Unit{.samples = 1, .dataset = leaves[0]};
  // Accelerate deals a loader out that is not dealt out yet.
  const auto kids = facts_.values_store.Kids(leaves[0]);
  if (!values_.IsA(leaves[0], "accelerate.Prepared") || kids.size() != 1 || !kids[0]) return std::nullopt;
  const std::vector<ValueId> inner = values_.Leaves(kids[0]);
  if (inner.size() != 1 || !loading_.IsLoader(inner[0])) return std::nullopt;
  std::optional<Unit> unit = OfLoader(inner[0]);
  if (unit && unit->ranks == 0) unit->ranks = -1;
  return unit;
}

std::optional<Unit> Units::OfLoader(ValueId loader) const {
  const ValueId dataset = values_.MadeWith(loader, "dataset");
  if (!loading_.DistributedSamplersOf(loader).empty()) return Unit{.samples = 1, .batch = -1, .ranks = -1, .dataset = dataset, .loader = loader};
  // Somebody else's sampler may deal out as well.
  return loading_.SamplersOf(loader).empty() ? std::optional(Unit{.samples = 1, .batch = -1, .dataset = dataset, .loader = loader}) : std::nullopt;
}

std::optional<Unit> Units::OfGiven(ValueId value) const {
  if (!value || values_.IsNone(value)) return std::nullopt;
  const ValueKind kind = facts_.values_store[value].kind;
  const bool may_be_chance = kind == ValueKind::Int && values_.Int(value) <= 2;
  if (may_be_chance) return std::nullopt;
  for (const AccumulationWindow& window : accumulation_.windows()) {
    if (window.period.length == value) return Unit{.micro_steps = 1};
  }
  for (const KnownCall& loader : loading_.made_loaders()) {
    if (index_.Arg(loader, "batch_size") == value) return Unit{.batch = 1};
  }
  return std::nullopt;
}

bool Units::IsRanks(ValueId value) const {
  if (!value) return false;
  const std::vector<ValueId> leaves = values_.Leaves(value);
  return std::ranges::any_of(leaves, [&](ValueId leaf) { return variation::IsCoordinate(facts_.values_store[leaf], knowledge::Coordinate::WorldSize); });
}

}  // namespace allranks::objects
