#include "analyzer/traces/setting_uses.h"

#include <algorithm>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/sequence.h"

namespace allranks::traces {
namespace {

constexpr size_t kLastBit = 63;

}  // namespace

SettingUses::SettingUses(const TraceStore& traces, std::vector<ValueId> settings) : traces_(traces), settings_(std::move(settings)) {
  for (size_t i = 0; i < settings_.size(); ++i) {
    const uint64_t bit = uint64_t{1} << std::min(i, kLastBit);
    brought_[settings_[i]] |= bit;
    for (const bool truth : {false, true}) {
      if (const std::optional<Equality> equality = EqualityOf(traces.values(), settings_[i], truth)) brought_[equality->subject] |= bit;
    }
  }
}

uint64_t SettingUses::AskedOf(TraceId trace, const Assignment& assignment) {
  if (settings_.empty()) return 0;
  const uint64_t uses = In(trace);
  uint64_t hash = 0;
  for (size_t i = 0; uses != 0 && i < settings_.size(); ++i) {
    const auto tried = assignment.find(settings_[i].index);
    const bool is_asked = (uses >> std::min(i, kLastBit) & 1) != 0;
    if (is_asked && tried != assignment.end()) hash ^= Token(i + 1, settings_[i].index, static_cast<uint64_t>(tried->second));
  }
  return hash;
}

uint64_t SettingUses::In(TraceId trace) {
  if (const uint64_t* known = in_traces_.Find(trace.index)) return *known;
  const TraceKind kind = traces_[trace].kind;
  uint64_t uses = kind == TraceKind::Op ? InOperation(trace) : In(traces_[trace].value);
  for (const TraceId kid : traces_.Kids(trace)) uses |= In(kid);
  in_traces_.Add(trace.index, uses);
  return uses;
}

uint64_t SettingUses::InOperation(TraceId id) {
  const Operation& operation = traces_.operation(id);
  uint64_t uses = 0;
  for (const ValueId value : {operation.group, operation.root, operation.count, operation.reduce_op, operation.dtype, operation.tensor, operation.peer}) uses |= In(value);
  return uses;
}

uint64_t SettingUses::In(ValueId value) {
  if (!value) return 0;
  const auto brought = brought_.find(value);
  uint64_t uses = brought != brought_.end() ? brought->second : 0;
  if (traces_.values().Kids(value).empty()) return uses;
  if (const uint64_t* known = in_values_.Find(value.index)) return *known;
  for (const ValueId kid : traces_.values().Kids(value)) uses |= In(kid);
  in_values_.Add(value.index, uses);
  return uses;
}

}  // namespace allranks::traces
