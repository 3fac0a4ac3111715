#include "analyzer/objects/handed_classes.h"

#include <string_view>

namespace allranks::objects {

namespace {

using variation::ValueKind;

constexpr std::string_view kBuiltIn = "builtins.";

bool AsksOnly(const binding::Program& program, const variation::Facts& facts, ValueId callee) {
  const bool is_external = callee && facts.values_store[callee].kind == ValueKind::External;
  return is_external && program.text(facts.values_store[callee].name()).starts_with(kBuiltIn);
}

// A class, or some in a list.
void Add(const variation::ValueStore& store, FuncId by, ValueId value, std::vector<HandedClass>& found) {
  if (!value) return;
  const variation::Value& node = store[value];
  if (node.kind == ValueKind::Class) found.push_back({by, node.class_id()});
  if (node.kind != ValueKind::Tuple) return;
  for (const ValueId item : store.Kids(value)) {
    if (item && store[item].kind == ValueKind::Class) found.push_back({by, store[item].class_id()});
  }
}

}  // namespace

std::vector<HandedClass> FindHandedClasses(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index) {
  std::vector<HandedClass> found;
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program.modules[module_id];
    for (const ir::ExprId call : index.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::StmtId stmt = index.tree(module_id).StatementOf(call);
      const FuncId by = stmt ? index.FunctionOf(module_id, stmt) : FuncId::None();
      if (!by || AsksOnly(program, facts, facts.value(module_id, ir::CalleeOf(module[call])))) continue;
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
        Add(facts.values_store, by, facts.value(module_id, ir::ArgAt(module, module[call], i).value), found);
      }
    }
  }
  return found;
}

}  // namespace allranks::objects
