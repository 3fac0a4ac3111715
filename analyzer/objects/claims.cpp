#include "analyzer/objects/claims.h"

namespace allranks::objects {

using variation::ValueKind;

namespace {

class ClaimReader {
 public:
  explicit ClaimReader(const variation::ValueStore& store) : store_(store) {}

  void Read(ir::ExprId test, ValueId value, bool holds) {
    test_ = test;
    Add(value, holds);
  }

  std::vector<Claim> Take() { return std::move(claims_); }

 private:
  void Add(ValueId test, bool holds) {
    if (!test) return;
    const variation::Value& node = store_[test];
    const auto kids = store_.Kids(test);
    const bool says_all = (node.kind == ValueKind::And && holds) || (node.kind == ValueKind::Or && !holds);
    if (says_all) {
      for (const ValueId kid : kids) Add(kid, holds);
    } else if (node.is_not()) {
      Add(kids[0], !holds);
    } else if (node.kind == ValueKind::Compare) {
      AddComparison(test, holds);
    } else {
      claims_.push_back({test, {}, holds, test_});
    }
  }

  // `x == "a"`, `x is not None`, `flag == False`.
  void AddComparison(ValueId test, bool holds) {
    const auto op = store_[test].compare_op();
    const auto kids = store_.Kids(test);
    const bool asks_for_same = op == ir::CompareOp::Eq || op == ir::CompareOp::Is;
    const bool asks_for_other = op == ir::CompareOp::NotEq || op == ir::CompareOp::IsNot;
    const ValueId left = IsConstant(store_, kids[0]) ? kids[1] : kids[0];
    const ValueId right = IsConstant(store_, kids[0]) ? kids[0] : kids[1];
    if ((!asks_for_same && !asks_for_other) || !IsConstant(store_, right)) {
      claims_.push_back({test, {}, holds, test_});
      return;
    }
    const bool is_same = holds == asks_for_same;
    const variation::Value& other = store_[right];
    if (other.kind == ValueKind::Bool && is_same) {
      Add(left, *other.integer() != 0);
    } else {
      claims_.push_back({left, right, is_same, test_});
    }
  }

  const variation::ValueStore& store_;
  ir::ExprId test_;
  std::vector<Claim> claims_;
};

}  // namespace

std::vector<Claim> ClaimsBefore(const binding::Program& program, const variation::Facts& facts, const Guards& guards, FuncId function,
                                ir::StmtId stmt) {
  ClaimReader reader(facts.values_store);
  for (const std::vector<Guard>& tests : {guards.Of(function, stmt), guards.AssertionsBefore(function, stmt)}) {
    for (const Guard& guard : tests) reader.Read(guard.test, facts.value(program.funcs[function].module, guard.test), guard.holds);
  }
  return reader.Take();
}

bool IsConstant(const variation::ValueStore& store, ValueId value) {
  return variation::IsConstant(store[value]) && store[value].kind != ValueKind::Float;
}

}  // namespace allranks::objects
