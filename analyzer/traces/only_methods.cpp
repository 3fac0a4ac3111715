#include "analyzer/traces/only_methods.h"

#include <algorithm>

namespace allranks::traces {
namespace {

using variation::FuncId;
using variation::ValueKind;

// One of several words: objects of many kinds may be told to `save` or to `step`.
bool IsTelling(std::string_view name) {
  const size_t begin = name.find_first_not_of('_');
  const size_t end = name.find_last_not_of('_');
  return begin != std::string_view::npos && !name.ends_with("__") && name.substr(begin, end - begin + 1).find('_') != std::string_view::npos;
}

}  // namespace

OnlyMethods::OnlyMethods(const binding::Program& program, const knowledge::Knowledge& knowledge) {
  for (uint32_t c = 0; c < program.classes.size(); ++c) {
    for (const auto& [name, method] : program.classes[binding::ClassId{c}].methods) {
      if (!IsTelling(program.text(name))) continue;
      // Calling a generator runs nothing of it.
      const auto [known, is_new] = by_name_.emplace(name, program.function(method).is_generator ? FuncId::None() : method);
      if (!is_new && known->second != method) known->second = FuncId::None();
    }
  }
  for (const knowledge::Entry& entry : knowledge.entries()) {
    const std::string_view name = program.text(entry.name);
    if (const base::NameId last = program.names->Find(name.substr(name.rfind('.') + 1))) by_name_.erase(last);
  }
}

FuncId OnlyMethods::MeantBy(const variation::ValueStore& values, const variation::CallFact& call) const {
  const bool is_method = call.kind == variation::CallKind::Unresolved && call.callee && call.receiver && values[call.callee].is_derived(variation::DerivedKind::Member);
  if (!is_method) return {};
  const ValueKind of = values[call.receiver].kind;
  if (of != ValueKind::Unknown && of != ValueKind::Derived && of != ValueKind::Param) return {};
  const auto found = by_name_.find(values.DerivedBy(call.callee));
  return found == by_name_.end() ? FuncId::None() : found->second;
}

variation::ValueId GuessedClasses::IsOf(variation::ValueId object, binding::ClassId class_id) const {
  const variation::ValueId asked[] = {object, values_->Make(variation::Value::Class(class_id), {})};
  return values_->Make(variation::Value::Derived(symbol_), asked);
}

}  // namespace allranks::traces
