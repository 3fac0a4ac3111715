// What the tests on the way to a place say of values: that one is true, or equal to a constant, or the opposite.
//
// Only the tests of the place's own function are asked, and only what each of them says for certain: the operands of an `and` that has
// to hold, but nothing of an `or`.
#pragma once

#include <vector>

#include "analyzer/objects/guards.h"

namespace allranks::objects {

// That `value` is true, or that it equals `equals`; the opposite where `holds` is false.
struct Claim {
  ValueId value;
  ValueId equals;  // a constant; none: the truth of `value` is meant
  bool holds = true;
  ir::ExprId test;  // the test that says it
};

std::vector<Claim> ClaimsBefore(const binding::Program& program, const variation::Facts& facts, const Guards& guards, FuncId function,
                                ir::StmtId stmt);

// Whether one says the opposite of the other.
inline bool AreOpposite(const Claim& a, const Claim& b) { return a.value == b.value && a.equals == b.equals && a.holds != b.holds; }

// A constant that is equal to no other one. Numbers with a point are not: `1.0` and `1.00` are two values.
bool IsConstant(const variation::ValueStore& store, ValueId value);

}  // namespace allranks::objects
