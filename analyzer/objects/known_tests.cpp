#include "analyzer/objects/known_tests.h"

#include "analyzer/base/number_set.h"

namespace allranks::objects {

using variation::ValueKind;

void KnownTests::Add(FuncId function, ir::StmtId stmt) {
  const std::vector<Claim> claims = ClaimsBefore(program_, facts_, guards_, function, stmt);
  claims_.insert(claims_.end(), claims.begin(), claims.end());
}

std::optional<bool> KnownTests::Truth(ValueId condition, int depth) const {
  constexpr int kDeepest = 4;
  if (!condition || depth == kDeepest) return std::nullopt;
  if (const std::optional<bool> claimed = Claimed(condition)) return claimed;
  const variation::ValueStore& store = facts_.values_store;
  const variation::Value& node = store[condition];
  if (node.is_not()) {
    const std::optional<bool> inner = Truth(store.OperandOf(condition), depth + 1);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const bool is_and = node.kind == ValueKind::And;
  if (is_and || node.kind == ValueKind::Or) {
    bool all_known = true;
    for (const ValueId part : store.Kids(condition)) {
      const std::optional<bool> known = Truth(part, depth + 1);
      if (known == !is_and) return !is_and;
      all_known = all_known && known;
    }
    return all_known ? std::optional(is_and) : std::nullopt;
  }
  return Truth(store.OpenOf(condition), depth + 1);
}

// By the claims alone: that it is true itself, or what it compares with a constant.
std::optional<bool> KnownTests::Claimed(ValueId condition) const {
  const variation::ValueStore& store = facts_.values_store;
  ValueId left, right;
  bool asks_for_same = true;
  if (store[condition].kind == ValueKind::Compare) {
    const auto op = store[condition].compare_op();
    asks_for_same = op == ir::CompareOp::Eq || op == ir::CompareOp::Is;
    const auto kids = store.Kids(condition);
    const bool is_equality = asks_for_same || op == ir::CompareOp::NotEq || op == ir::CompareOp::IsNot;
    if (is_equality && IsConstant(store, kids[1])) {
      left = kids[0];
      right = kids[1];
    }
  }
  for (const Claim& claim : claims_) {
    if (claim.value == condition && !claim.equals) return claim.holds;
    if (!left || claim.value != left || !claim.equals) continue;
    if (claim.equals == right) return claim.holds == asks_for_same;
    if (claim.holds && store[claim.equals].kind == store[right].kind) return !asks_for_same;
  }
  return std::nullopt;
}

bool KnownTests::MayHold(ValueId value, const std::function<bool(ValueId)>& is_it) const {
  constexpr size_t kMostParts = 4000;
  base::NumberSet seen;
  std::vector<ValueId> work = {value};
  while (!work.empty()) {
    if (seen.size() >= kMostParts) return true;
    const ValueId at = work.back();
    work.pop_back();
    if (!at || !seen.Add(at.index)) continue;
    if (is_it(at)) return true;
    const variation::Value& node = facts_.values_store[at];
    const auto kids = facts_.values_store.Kids(at);
    if (node.kind == ValueKind::Select) {
      const std::optional<bool> truth = Truth(kids[0]);
      if (truth != false) work.push_back(kids[1]);
      if (truth != true) work.push_back(kids[2]);
      continue;
    }
    if (node.kind == ValueKind::Param) work.push_back(facts_.param(node.function(), node.param_index()));
    work.insert(work.end(), kids.begin(), kids.end());
  }
  return false;
}

}  // namespace allranks::objects
