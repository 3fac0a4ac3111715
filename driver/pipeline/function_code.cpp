#include "driver/pipeline/function_code.h"

#include <xxhash.h>

#include <unordered_map>

#include "analyzer/ir/printer.h"

namespace allranks::pipeline {
namespace {

// The innermost function around a place; the top level of the file around what is in none.
ir::FunctionId FunctionAround(const ir::Module& module, uint32_t place) {
  ir::FunctionId around = ir::kTopLevel;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::FunctionId id{i};
    const ir::Function& function = module.functions[id];
    const bool holds = id != ir::kTopLevel && function.begin <= place && place < function.end;
    if (holds && (around == ir::kTopLevel || function.begin >= module.functions[around].begin)) around = id;
  }
  return around;
}

}  // namespace

void NoteFunctionCode(const binding::Program& program, std::vector<findings::Finding>& findings) {
  std::unordered_map<uint32_t, const ir::Module*> modules;
  for (const ir::Module& module : program.modules) modules.try_emplace(module.file.index, &module);
  std::unordered_map<uint64_t, uint64_t> known;
  for (findings::Finding& finding : findings) {
    const auto module = modules.find(finding.span.file.index);
    if (module == modules.end()) continue;
    const ir::FunctionId around = FunctionAround(*module->second, finding.span.begin);
    const auto [code, is_new] = known.try_emplace(uint64_t{finding.span.file.index} << 32 | around.index);
    if (is_new) {
      const std::string text = ir::Print(*module->second, *program.names, {.file = nullptr, .function = around});
      code->second = XXH3_64bits(text.data(), text.size());
    }
    finding.function_code = code->second;
  }
}

}  // namespace allranks::pipeline
