#include "analyzer/objects/handed_classes.h"

#include <algorithm>
#include <string_view>

#include "analyzer/objects/test_files.h"

namespace allranks::objects {

namespace {

using variation::ValueKind;

constexpr std::string_view kBuiltIn = "builtins.";
constexpr size_t kMostLoaders = 4;

bool AsksOnly(const binding::Program& program, const variation::Facts& facts, ValueId callee) {
  const bool is_external = callee && facts.values_store[callee].kind == ValueKind::External;
  return is_external && program.text(facts.values_store[callee].name()).starts_with(kBuiltIn);
}

// A class, or some in a list.
void Add(const variation::ValueStore& store, FuncId by, ValueId value, std::vector<HandedClass>& found) {
  if (!value) return;
  const variation::Value& node = store[value];
  if (node.kind == ValueKind::Class) found.push_back({.by = by, .class_id = node.class_id()});
  if (node.kind != ValueKind::Tuple) return;
  for (const ValueId item : store.Kids(value)) {
    if (item && store[item].kind == ValueKind::Class) found.push_back({.by = by, .class_id = store[item].class_id()});
  }
}

// `@MODELS.register("small")`: what a decorator of the project or of a library that is not known does with it. Not that of a dataclass.
bool IsPutIntoTable(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, ir::ModuleId module_id,
                    const ir::Class& definition) {
  const ir::Module& module = program.modules[module_id];
  return std::ranges::any_of(definition.decorators, [&](ir::ExprId decorator) {
    const bool is_called = module[decorator].kind == ir::ExprKind::Call;
    const ValueId value = facts.value(module_id, is_called ? ir::CalleeOf(module[decorator]) : decorator);
    if (!value || facts.values_store[value].kind != ValueKind::External) return is_called || module[decorator].kind == ir::ExprKind::Attribute;
    const base::NameId name = facts.values_store[value].name();
    return is_called && !knowledge.FindEntry(name) && program.text(name) != "dataclasses.dataclass";
  });
}

bool LoadsByName(const KnownCall& call) { return call.entry->Has(knowledge::Role::LoadsUnseen) || call.entry->Has(knowledge::Role::Builds); }

// By ClassId: whether some place makes an object of it, or of a class below it.
std::vector<bool> MadeClasses(const binding::Program& program, const variation::Facts& facts) {
  std::vector<bool> made(program.classes.size());
  for (const variation::FunctionFacts& function : facts.functions) {
    for (const auto& [expr, call] : function.calls) {
      const bool is_made = call.kind == variation::CallKind::Construct && call.callee && facts.values_store[call.callee].kind == ValueKind::Class;
      if (!is_made) continue;
      for (const binding::ClassId each : program.classes[facts.values_store[call.callee].class_id()].mro) made[each.index] = true;
    }
  }
  return made;
}

// Classes that nobody makes in a program with functions that load classes by name: any of these may make them.
void AddLoaded(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
               std::vector<HandedClass>& found) {
  std::vector<FuncId> loaders;
  for (const KnownCall& call : index.known_calls()) {
    const bool is_known = std::ranges::find(loaders, call.function) != loaders.end();
    if (!is_known && LoadsByName(call) && !IsTestFile(program, program.funcs[call.function].module)) loaders.push_back(call.function);
  }
  // A framework that loads everything so.
  if (loaders.size() > kMostLoaders) loaders.clear();
  const std::vector<bool> made = MadeClasses(program, facts);
  std::vector<bool> is_handed(program.classes.size());
  for (const HandedClass& handed : found) is_handed[handed.class_id.index] = true;
  for (uint32_t c = 0; c < program.classes.size(); ++c) {
    const binding::ClassId id{c};
    const binding::ClassInfo& info = program.classes[id];
    if (made[c] || is_handed[c] || info.methods.empty() || IsTestFile(program, info.module)) continue;
    const ir::Class& definition = program.ir_class(id);
    if (program.modules[info.module].language != ir::Language::Python || definition.parent != ir::kTopLevel || definition.owner) continue;
    if (IsPutIntoTable(program, knowledge, facts, info.module, definition)) {
      found.push_back({program.func(info.module, ir::kTopLevel), id, true});
    } else if (definition.decorators.empty()) {
      for (const FuncId loader : loaders) found.push_back({loader, id, true});
    }
  }
}

}  // namespace

std::vector<HandedClass> FindHandedClasses(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                                           const ProgramIndex& index) {
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
  AddLoaded(program, knowledge, facts, index, found);
  return found;
}

}  // namespace allranks::objects
