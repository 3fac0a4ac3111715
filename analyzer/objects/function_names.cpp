#include "analyzer/objects/function_names.h"

#include <algorithm>
#include <span>

namespace allranks::objects {
namespace {

using binding::FuncId;
using binding::Program;

// How a file may speak of a function.
struct Ways {
  bool bare = false;         // `train`
  bool is_looked_up = false;  // `script.train`, `"train"`: where something may look names of its file up
};

// `"trainer.main:train"` says which function, `"train"` does so for those who look it up, `"train.json"` is no name of it.
bool IsNameIn(std::string_view text, std::string_view name, bool is_looked_up) {
  if (!text.ends_with(name)) return false;
  const size_t begin = text.size() - name.size();
  return begin == 0 ? is_looked_up : text[begin - 1] == '.' || text[begin - 1] == ':';
}

// What finds a function of a file by a text.
constexpr std::string_view kBuiltinLookups[] = {"globals", "locals", "vars", "eval", "exec", "__import__"};
constexpr std::string_view kLookups[] = {"import_module", "Fire"};

bool LooksNamesUp(const Program& program, const ir::Module& module) {
  const auto is_one_of = [&](std::span<const std::string_view> names, base::NameId name) { return std::ranges::count(names, program.text(name)) > 0; };
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
    if (expr.kind == ir::ExprKind::Name) return is_one_of(kBuiltinLookups, ir::NameOf(expr)) || is_one_of(kLookups, ir::NameOf(expr));
    if (expr.kind != ir::ExprKind::Attribute) return false;
    const ir::Expr& object = module[ir::ObjectOf(expr)];
    const bool is_of_sys = object.kind == ir::ExprKind::Name && program.text(ir::NameOf(object)) == "sys";
    return is_one_of(kLookups, ir::AttrOf(expr)) || (is_of_sys && program.text(ir::AttrOf(expr)) == "modules");
  });
}

bool IsNamedIn(const Program& program, const ir::Module& module, base::NameId name, Ways ways) {
  return std::ranges::any_of(module.exprs, [&](const ir::Expr& expr) {
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
bool IsImportedBy(const Program& program, ir::ModuleId module_id, FuncId function) {
  const ir::Module& module = program.modules[module_id];
  const bool is_package = program.infos[module_id].path.ends_with("__init__.py");
  for (uint32_t i = 0; i < module.imports.size(); ++i) {
    const ir::Import& import = module.imports[ir::ImportId{i}];
    if (import.name != program.function(function).name) continue;
    const binding::Target target = program.ImportTarget(module_id, ir::ImportId{i});
    if (target.kind != binding::TargetKind::Function) return true;
    if (target.function == function && (is_package || IsNamedIn(program, module, import.as_name ? import.as_name : import.name, {.bare = true, .is_looked_up = true}))) return true;
  }
  return false;
}

// Whether a file holds the module as an object: then it may be handed on, and asked for the function.
bool IsHeldBy(const Program& program, ir::ModuleId module_id, ir::ModuleId held) {
  for (uint32_t i = 0; i < program.modules[module_id].imports.size(); ++i) {
    const binding::Target target = program.ImportTarget(module_id, ir::ImportId{i});
    if (target.kind == binding::TargetKind::Module && target.module == held) return true;
  }
  return false;
}

}  // namespace

// In another file the bare name may be that of another function. A method is looked up in objects, anywhere.
bool IsNamed(const Program& program, binding::FuncId function) {
  const base::NameId name = program.function(function).name;
  const ir::ModuleId own = program.funcs[function].module;
  bool is_looked_up = program.funcs[function].owner || LooksNamesUp(program, program.modules[own]);
  for (uint32_t m = 0; m < program.modules.size(); ++m) is_looked_up = is_looked_up || IsHeldBy(program, ir::ModuleId{m}, own);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const binding::Target target = program.Lookup(ir::ModuleId{m}, name);
    const bool is_another = target.kind == binding::TargetKind::Function && target.function != function;
    if (IsImportedBy(program, ir::ModuleId{m}, function) || IsNamedIn(program, program.modules[ir::ModuleId{m}], name, {.bare = !is_another, .is_looked_up = is_looked_up})) return true;
  }
  return false;
}

}  // namespace allranks::objects
