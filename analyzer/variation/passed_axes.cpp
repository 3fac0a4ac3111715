#include "analyzer/variation/passed_axes.h"

namespace allranks::variation {
namespace {

constexpr int kDeepestAxes = 6;

knowledge::Axes AxesOf(const Facts& facts, ValueId value, int depth) {
  const ValueStore& values = facts.values_store;
  knowledge::Axes axes = values.axes(value);
  if (!axes.empty() || !values.has_param(value) || depth > kDeepestAxes) return axes;
  if (values[value].kind == ValueKind::Param) {
    const ValueId passed = facts.param(values[value].function(), values[value].param_index());
    return passed && passed != value ? AxesOf(facts, passed, depth + 1) : axes;
  }
  for (const ValueId kid : values.Kids(value)) {
    if (kid) axes = axes | AxesOf(facts, kid, depth + 1);
  }
  return axes;
}

}  // namespace

knowledge::Axes PassedAxes(const Facts& facts, ValueId value) { return value ? AxesOf(facts, value, 0) : knowledge::Axes(); }

}  // namespace allranks::variation
