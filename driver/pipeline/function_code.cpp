#include "driver/pipeline/function_code.h"

#include <xxhash.h>

#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/base/innermost.h"
#include "analyzer/ir/printer.h"

namespace allranks::pipeline {
namespace {

// Which function stands where in a module.
class FunctionPlaces {
 public:
  explicit FunctionPlaces(const ir::Module& module) : innermost_(RangesOf(module)) {}

  // The innermost function around a place; the top level of the file around what is in none.
  ir::FunctionId Around(uint32_t place) const {
    const uint32_t found = innermost_.At(place);
    return found == base::Innermost::kNone ? ir::kTopLevel : ir::FunctionId{found};
  }

 private:
  static std::vector<base::Innermost::Range> RangesOf(const ir::Module& module) {
    std::vector<base::Innermost::Range> ranges;
    for (const ir::Function& function : module.functions) ranges.push_back({function.begin, function.end});
    ranges[ir::kTopLevel.index] = {};
    return ranges;
  }

  base::Innermost innermost_;
};

struct ModulePlaces {
  const ir::Module* module = nullptr;
  std::optional<FunctionPlaces> functions;  // made for the first finding
};

}  // namespace

void NoteFunctionCode(const binding::Program& program, std::vector<findings::Finding>& findings) {
  std::unordered_map<uint32_t, ModulePlaces> modules;
  for (const ir::Module& module : program.modules) modules.try_emplace(module.file.index, ModulePlaces{&module, std::nullopt});
  std::unordered_map<uint64_t, uint64_t> known;
  for (findings::Finding& finding : findings) {
    const auto found = modules.find(finding.span.file.index);
    if (found == modules.end()) continue;
    auto& [module, functions] = found->second;
    if (!functions) functions.emplace(*module);
    const ir::FunctionId around = functions->Around(finding.span.begin);
    const auto [code, is_new] = known.try_emplace(uint64_t{finding.span.file.index} << 32 | around.index);
    if (is_new) {
      const std::string text = ir::Print(*module, *program.names, {.file = nullptr, .function = around});
      code->second = XXH3_64bits(text.data(), text.size());
    }
    finding.function_code = code->second;
  }
}

}  // namespace allranks::pipeline
