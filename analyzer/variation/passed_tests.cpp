// Tests that whoever gets here has passed: `assert os.path.isdir(path)`, `if size % 2: raise ...`, in this function or in one that
// it called. Asked again, they come out the same.
//
// A test is kept like an effect (effects.h): its question is the object, its answer what a nameless place of that object holds.
// Branches join and callers take it over as they do with others. Only what stays so is kept: arithmetic on arguments and ranks,
// and that something is on the disk. (Unsound: it may be removed in between.)
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

void FunctionEvaluator::Learn(ir::ExprId test, bool holds) {
  const ir::Expr& expr = module_[test];
  if (module_.language != ir::Language::Python) return;
  if (expr.kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not) return Learn(ir::OperandOf(expr), !holds);
  if (expr.kind == ir::ExprKind::Bool) {
    if ((static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And) != holds) return;
    for (const ir::ExprId item : ir::Items(module_, expr)) Learn(item, holds);
    return;
  }
  // What is not there yet may be made.
  const bool is_look = expr.kind == ir::ExprKind::Call;
  const ValueId question = is_look && !holds ? ValueId() : QuestionOf(test);
  if (!question) return;
  const Effect answer{.object = question, .attr = {}, .value = store_.Bool(holds), .when = {}};
  KeepOnHeap(question, {}, answer.value);
  if (store_.has_param(question)) AddEffect(store_, env_.effects, answer);
}

// None: that is not known.
std::optional<bool> FunctionEvaluator::Answer(ir::ExprId test) const {
  const ir::Expr& expr = module_[test];
  if (expr.kind == ir::ExprKind::Unary && static_cast<ir::UnaryOp>(expr.op) == ir::UnaryOp::Not) {
    const std::optional<bool> inner = Answer(ir::OperandOf(expr));
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (expr.kind == ir::ExprKind::Bool) {
    const bool is_and = static_cast<ir::BoolOp>(expr.op) == ir::BoolOp::And;
    bool all_known = true;
    for (const ir::ExprId item : ir::Items(module_, expr)) {
      const std::optional<bool> known = Answer(item);
      if (known == !is_and) return !is_and;
      all_known = all_known && known;
    }
    return all_known ? std::optional(is_and) : std::nullopt;
  }
  const ValueId question = QuestionOf(test);
  const ValueId* answer = question ? HeapValue(question, {}) : nullptr;
  if (answer == nullptr || store_[*answer].kind != ValueKind::Bool) return std::nullopt;
  return *answer == store_.True();
}

// What a test asks, the same wherever it is asked again; none if the answer may be another one then.
ValueId FunctionEvaluator::QuestionOf(ir::ExprId test) const {
  if (module_[test].kind != ir::ExprKind::Call) {
    const ValueId value = tables_.facts.value(func_.module, test);
    // A constant says what it is.
    return value && !IsConstant(store_[value]) && IsOfArguments(value) ? value : ValueId::None();
  }
  const auto call = std::ranges::find(facts_.calls.rbegin(), facts_.calls.rend(), test, &std::pair<ir::ExprId, CallFact>::first);
  if (call == facts_.calls.rend() || call->second.kind != CallKind::Known) return {};
  const knowledge::Entry& entry = knowledge_[call->second.entry];
  const auto args = tables_.facts.args(call->second);
  const bool is_look = entry.Has(knowledge::Role::LooksAtDisk) && std::ranges::all_of(args, [](ValueId arg) { return static_cast<bool>(arg); });
  return is_look ? store_.Derived(tables_.NameSymbol(entry.name), args) : ValueId::None();
}

// Each part is asked once: a value may be made of one part many times over (`x = x + x`).
bool FunctionEvaluator::IsOfArguments(ValueId value) const {
  std::unordered_set<uint32_t> seen;
  std::vector<ValueId> work = {value};
  while (!work.empty()) {
    const ValueId part = work.back();
    work.pop_back();
    if (!part) return false;
    if (!seen.insert(part.index).second) continue;
    const Value& node = store_[part];
    switch (node.kind) {
      case ValueKind::Coordinate:
        // Whether there is a job changes as it is joined and left.
        if (node.coordinate() == knowledge::Coordinate::Distributed) return false;
        break;
      case ValueKind::None:
      case ValueKind::Bool:
      case ValueKind::Int:
      case ValueKind::Float:
      case ValueKind::Str:
      case ValueKind::Param:
        break;
      case ValueKind::Unary:
      case ValueKind::Binary:
      case ValueKind::Compare:
      case ValueKind::And:
      case ValueKind::Or:
        work.insert(work.end(), store_.Kids(part).begin(), store_.Kids(part).end());
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace allranks::variation
