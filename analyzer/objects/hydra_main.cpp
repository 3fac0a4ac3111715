#include "analyzer/objects/hydra_main.h"

namespace allranks::objects {
namespace {

using variation::ValueKind;

constexpr std::string_view kHydraMain = "hydra.main";

}  // namespace

ir::ExprId HydraMainOf(const binding::Program& program, const variation::Facts& facts, binding::FuncId function) {
  const ir::ModuleId module_id = program.funcs[function].module;
  const ir::Module& module = program.modules[module_id];
  for (const ir::ExprId decorator : program.function(function).decorators) {
    const ir::ExprId maker = module[decorator].kind == ir::ExprKind::Call ? ir::CalleeOf(module[decorator]) : decorator;
    const variation::ValueId value = facts.value(module_id, maker);
    const bool is_main = value && facts.values_store[value].kind == ValueKind::External && program.text(facts.values_store[value].name()) == kHydraMain;
    if (is_main) return decorator;
  }
  return {};
}

std::optional<HydraConfig> HydraConfigOf(const binding::Program& program, const variation::Facts& facts, binding::FuncId function) {
  const ir::ModuleId module_id = program.funcs[function].module;
  const ir::Module& module = program.modules[module_id];
  const ir::ExprId decorator = HydraMainOf(program, facts, function);
  if (!decorator || module[decorator].kind != ir::ExprKind::Call) return std::nullopt;
  HydraConfig config;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[decorator]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[decorator], i);
    const bool is_named = arg.kind == ir::ArgKind::Keyword;
    if (!is_named && arg.kind != ir::ArgKind::Positional) return std::nullopt;
    const bool is_folder = is_named ? program.text(arg.keyword) == "config_path" : i == 0;
    const bool is_name = is_named ? program.text(arg.keyword) == "config_name" : i == 1;
    if (!is_folder && !is_name) continue;
    const variation::ValueId value = facts.value(module_id, arg.value);
    const ValueKind kind = value ? facts.values_store[value].kind : ValueKind::Unknown;
    if (kind == ValueKind::None) continue;
    if (kind != ValueKind::Str) return std::nullopt;
    (is_folder ? config.folder : config.name) = program.text(facts.values_store[value].name());
  }
  return config.name.empty() ? std::nullopt : std::optional(config);
}

}  // namespace allranks::objects
