#include "analyzer/variation/places.h"

#include <algorithm>

#include "analyzer/ir/outline.h"

namespace allranks::variation {

void Places::Build(ir::ModuleId id) {
  nested_.resize(program_.funcs.size());
  const ir::Module& module = program_.modules[id];
  for (uint32_t i = 0; i < module.functions.size(); ++i) nested_[program_.func(id, ir::FunctionId{i}).index].clear();
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[ir::FunctionId{i}];
    if (!function.parent) continue;
    const uint32_t length = function.end - ir::BodyBegin(module, function);
    if (length > 0) nested_[program_.func(id, function.parent).index].push_back({.end = function.end, .length = length});
  }
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    std::vector<Body>& own = nested_[program_.func(id, ir::FunctionId{i}).index];
    std::ranges::sort(own, {}, &Body::end);
    for (size_t n = 1; n < own.size(); ++n) own[n].length += own[n - 1].length;
  }
  built_[id.index] = true;
}

uint32_t Places::Within(binding::FuncId function, uint32_t offset) {
  const ir::ModuleId module = program_.funcs[function].module;
  if (program_.modules[module].language != ir::Language::Python) return offset;
  if (!built_[module.index]) Build(module);
  const std::vector<Body>& bodies = nested_[function.index];
  const auto after = std::ranges::upper_bound(bodies, offset, {}, &Body::end);
  const uint32_t skipped = after == bodies.begin() ? 0 : std::prev(after)->length;
  return offset - program_.function(function).begin - skipped;
}

}  // namespace allranks::variation
