#include "analyzer/objects/definition_names.h"

#include <algorithm>
#include <span>

namespace allranks::objects {
namespace {

using binding::ClassId;
using binding::FuncId;
using binding::Program;
using binding::Target;

struct Named {
  ir::ModuleId module;
  base::NameId name;
  Target target;
  std::span<const Part> aside;  // of its file: what does not count
};

bool IsIt(const Target& found, const Named& definition) {
  return found.kind == definition.target.kind && found.function == definition.target.function && found.class_id == definition.target.class_id;
}

// How a file may speak of a definition.
struct Ways {
  bool bare = false;         // `train`
  bool is_looked_up = false;  // `script.train`, `"train"`: where something may look names of its file up
  std::span<const Part> aside = {};  // what stands here does not count
};

// `"trainer.main:train"` says which function, `"train"` does so for those who look it up, `"train.json"` is no name of it.
bool IsNameIn(std::string_view text, std::string_view name, bool is_looked_up) {
  if (!text.ends_with(name)) return false;
  const size_t begin = text.size() - name.size();
  return begin == 0 ? is_looked_up : text[begin - 1] == '.' || text[begin - 1] == ':';
}

// What finds a definition of a file by a text.
constexpr std::string_view kBuiltinLookups[] = {"globals", "locals", "vars", "eval", "exec", "__import__"};
constexpr std::string_view kLookups[] = {"import_module"};

bool HandsOut(const Program& program, const ProgramIndex& index, ir::ModuleId module, bool is_all = false) {
  return std::ranges::any_of(index.known_calls(), [&](const KnownCall& call) {
    if (program.funcs[call.function].module != module || !call.entry->Has(knowledge::Role::HandsOut)) return false;
    return !is_all || std::ranges::none_of(call.args, [](variation::ValueId arg) { return static_cast<bool>(arg); });
  });
}

bool LooksNamesUp(const Program& program, const ProgramIndex& index, ir::ModuleId module_id) {
  const ir::Module& module = program.modules[module_id];
  const auto is_one_of = [&](std::span<const std::string_view> names, base::NameId name) { return std::ranges::count(names, program.text(name)) > 0; };
  return HandsOut(program, index, module_id) || std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    if (expr.kind == ir::ExprKind::Name) return is_one_of(kBuiltinLookups, ir::NameOf(expr)) || is_one_of(kLookups, ir::NameOf(expr));
    if (expr.kind != ir::ExprKind::Attribute) return false;
    const ir::Expr& object = module[ir::ObjectOf(expr)];
    const bool is_of_sys = object.kind == ir::ExprKind::Name && program.text(ir::NameOf(object)) == "sys";
    return is_one_of(kLookups, ir::AttrOf(expr)) || (is_of_sys && program.text(ir::AttrOf(expr)) == "modules");
  });
}

bool IsNamedIn(const Program& program, const ir::Module& module, base::NameId name, Ways ways) {
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    if (std::ranges::any_of(ways.aside, [&](const Part& part) { return expr.begin >= part.begin && expr.end <= part.end; })) return false;
    switch (expr.kind) {
      case ir::ExprKind::Name:
        return ways.bare && ir::NameOf(expr) == name;
      case ir::ExprKind::Attribute:
        return ways.is_looked_up && ir::AttrOf(expr) == name;
      case ir::ExprKind::Constant:
        return ir::ConstantKindOf(expr) == ir::ConstantKind::Str && IsNameIn(program.text(ir::TextOf(expr)), program.text(name), ways.is_looked_up);
      default:
        return false;
    }
  });
}

// `from train import main as start`, and something is done with it. A package imports for others.
bool IsImportedBy(const Program& program, ir::ModuleId module_id, const Named& definition) {
  const ir::Module& module = program.modules[module_id];
  const bool is_package = program.infos[module_id].path.ends_with("__init__.py");
  for (uint32_t i = 0; i < module.imports.size(); ++i) {
    const ir::Import& import = module.imports[ir::ImportId{i}];
    if (import.name != definition.name) continue;
    const Target target = program.ImportTarget(module_id, ir::ImportId{i});
    if (target.kind != definition.target.kind && target.kind != binding::TargetKind::External) return true;
    const base::NameId bound = import.as_name ? import.as_name : import.name;
    if (IsIt(target, definition) && (is_package || IsNamedIn(program, module, bound, {.bare = true, .is_looked_up = true}))) return true;
  }
  return false;
}

// Whether a file holds the module as an object: then it may be handed on, and asked for the definition.
bool IsHeldBy(const Program& program, ir::ModuleId module_id, ir::ModuleId held) {
  for (uint32_t i = 0; i < program.modules[module_id].imports.size(); ++i) {
    const binding::Target target = program.ImportTarget(module_id, ir::ImportId{i});
    if (target.kind == binding::TargetKind::Module && target.module == held) return true;
  }
  return false;
}

// In another file the bare name may be that of another definition. A method is looked up in objects, anywhere.
bool IsNamed(const Program& program, const ProgramIndex& index, const Named& definition) {
  const bool is_method = definition.target.function && program.funcs[definition.target.function].owner;
  bool is_looked_up = is_method || LooksNamesUp(program, index, definition.module);
  for (uint32_t m = 0; m < program.modules.size(); ++m) is_looked_up = is_looked_up || IsHeldBy(program, ir::ModuleId{m}, definition.module);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module{m};
    const Target target = program.Lookup(module, definition.name);
    const bool is_another = target.kind == definition.target.kind && !IsIt(target, definition);
    Ways ways{.bare = !is_another, .is_looked_up = is_looked_up};
    if (module == definition.module) ways.aside = definition.aside;
    if (IsImportedBy(program, module, definition) || IsNamedIn(program, program.modules[module], definition.name, ways)) return true;
  }
  return false;
}

}  // namespace

bool IsNamed(const Program& program, const ProgramIndex& index, FuncId function, std::span<const Part> aside) {
  return IsNamed(program, index, Named{.module = program.funcs[function].module, .name = program.function(function).name,
                                     .target = {.kind = binding::TargetKind::Function, .function = function}, .aside = aside});
}

bool HandsOutAll(const Program& program, const ProgramIndex& index, ir::ModuleId module) { return HandsOut(program, index, module, true); }

bool IsNamed(const Program& program, const ProgramIndex& index, ClassId class_id) {
  const binding::ClassInfo& info = program.classes[class_id];
  const ir::Class& written = program.modules[info.module].classes[info.ir_class];
  const Part own[] = {{written.begin, written.end}};
  return IsNamed(program, index, Named{.module = info.module, .name = written.name, .target = {.kind = binding::TargetKind::Class, .class_id = class_id}, .aside = own});
}

}  // namespace allranks::objects
