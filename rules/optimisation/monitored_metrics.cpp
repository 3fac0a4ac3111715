#include "rules/optimisation/monitored_metrics.h"

#include <algorithm>

namespace allranks::rules {

using variation::ValueId;
using variation::ValueKind;

MonitoredMetrics::MonitoredMetrics(const Context& context) : context_(context), calls_(context) {
  const base::NameId monitor = context.program.names->Find("monitor");
  for (uint32_t i = 0; monitor && i < context.program.modules.size(); ++i) {
    const ir::ModuleId module_id{i};
    const ir::Module& module = context.program.modules[module_id];
    for (const ir::ExprId call : context.index.ExprsOf(module_id, ir::ExprKind::Call)) {
      for (uint32_t at = 0; at < ir::ArgCount(module, module[call]); ++at) {
        const ir::Arg arg = ir::ArgAt(module, module[call], at);
        if (arg.kind == ir::ArgKind::Keyword && arg.keyword == monitor) Add(module_id, arg.value);
      }
    }
    for (const ir::ExprId dict : context.index.ExprsOf(module_id, ir::ExprKind::Dict)) {
      for (uint32_t at = 0; at < ir::DictCount(module[dict]); ++at) {
        const ir::DictItem item = ir::DictItemAt(module, module[dict], at);
        if (item.key && context.values.Str(context.facts.value(module_id, item.key)) == "monitor") Add(module_id, item.value);
      }
    }
  }
}

void MonitoredMetrics::Add(ir::ModuleId module, ir::ExprId name) {
  const ValueId value = context_.facts.value(module, name);
  if (value && context_.values[value].kind == ValueKind::Str) places_.push_back({module, name, context_.values[value].name()});
}

std::optional<source::Span> MonitoredMetrics::OfNames(ir::ModuleId module, ValueId names) {
  for (const Place& place : places_) {
    if (IsNamed(names, place.text) && calls_.IsOneProgram(module, place.module)) return context_.program.modules[place.module].span(place.name);
  }
  return std::nullopt;
}

bool MonitoredMetrics::IsNamed(ValueId names, base::NameId text) const {
  if (!names) return false;
  const auto is_text = [&](ValueId value) { return value && context_.values[value].kind == ValueKind::Str && context_.values[value].name() == text; };
  return std::ranges::any_of(context_.values.Leaves(names), [&](ValueId leaf) {
    if (context_.values[leaf].kind != ValueKind::Dict) return is_text(leaf);
    const auto kids = context_.facts.values_store.Kids(leaf);
    for (size_t i = 0; i + 1 < kids.size(); i += 2) {
      if (is_text(kids[i])) return true;
    }
    return false;
  });
}

}  // namespace allranks::rules
