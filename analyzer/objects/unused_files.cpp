#include "analyzer/objects/unused_files.h"

#include <algorithm>
#include <cctype>

#include "analyzer/base/folder.h"
#include "analyzer/ir/bindings.h"
#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// What imports a file by a name that is put together.
constexpr std::string_view kImportByName[] = {"import_module", "__import__", "iter_modules", "walk_packages", "spec_from_file_location", "run_path", "run_module"};

// Besides definitions, imports and variables, at the top of a file.
bool DoesSomething(const ir::Module& module) {
  bool does = false;
  const auto look = [&](const ir::Stmt& stmt) {
    const bool calls = stmt.kind == ir::StmtKind::Expr && module[ir::ValueOf(stmt)].kind == ir::ExprKind::Call;
    does = does || calls || stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While || stmt.kind == ir::StmtKind::With;
  };
  ir::ForEachStmtIn(module, module.functions[ir::kTopLevel].body, look);
  return does;
}

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// As a word of its own.
bool HoldsWord(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !IsOfWord(text[at - 1])) && (end == text.size() || !IsOfWord(text[end]))) return true;
  }
  return false;
}

// What an import calls it.
std::string_view ImportedName(std::string_view path) {
  const auto last = [](std::string_view whole) { return whole.substr(whole.rfind('/') + 1); };
  const std::string_view name = last(path);
  return name == "__init__.py" ? last(base::FolderOf(path)) : name.substr(0, name.rfind('.'));
}

}  // namespace

UnusedFiles::UnusedFiles(const binding::Program& program, const ProgramIndex& index, std::span<const LaunchLine> lines, const OtherFiles& others)
    : program_(program), index_(index), others_(others), used_(program.modules.size()) {
  const binding::Neighbourhood neighbourhood(program);
  const StartedFiles started(lines);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module{m};
    const bool is_program = IsStartedByHand(program, neighbourhood, module) || started.MayHold(program.infos[module].path) ||
                            IsTestFile(program, module) || (neighbourhood.ImportersOf(module).empty() && DoesSomething(program.modules[module]));
    if (!is_program) continue;
    has_programs_ = true;
    for (const ir::ModuleId each : neighbourhood.UsedBy(module)) used_[each.index] = true;
  }
}

bool UnusedFiles::Has(ir::ModuleId module) const {
  const auto [known, is_new] = unused_.try_emplace(module.index, false);
  if (!is_new) return known->second;
  return unused_[module.index] = IsUnused(module);
}

bool UnusedFiles::IsUnused(ir::ModuleId module) const {
  if (used_[module.index] || !has_programs_ || program_.modules[module].language != ir::Language::Python || others_.may_install(module)) return false;
  const std::string_view name = ImportedName(program_.infos[module].path);
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId other{m};
    if (other != module && (IsNamedIn(other, name) || ImportsUnfound(other, name) || MayImport(other, module))) return false;
  }
  return !others_.name(module, name);
}

bool UnusedFiles::IsNamedIn(ir::ModuleId other, std::string_view name) const {
  const ir::Module& module = program_.modules[other];
  return std::ranges::any_of(index_.ExprsOf(other, ir::ExprKind::Constant), [&](ir::ExprId expr) {
    return ir::ConstantKindOf(module[expr]) == ir::ConstantKind::Str && HoldsWord(program_.text(ir::TextOf(module[expr])), name);
  });
}

// `from loaders import loaders_of`, which may be any of several files, or one that an unseen folder holds.
bool UnusedFiles::ImportsUnfound(ir::ModuleId other, std::string_view name) const {
  const ir::Module& module = program_.modules[other];
  for (uint32_t i = 0; i < module.imports.size(); ++i) {
    const ir::Import& import = module.imports[ir::ImportId{i}];
    if (program_.import_targets[other.index][i].module) continue;
    if (HoldsWord(program_.text(import.module), name) || (import.name && program_.text(import.name) == name)) return true;
  }
  return false;
}

bool UnusedFiles::MayImport(ir::ModuleId other, ir::ModuleId module_id) const {
  const ir::Module& module = program_.modules[other];
  if (!base::IsBelow(program_.infos[module_id].path, base::FolderOf(program_.infos[other].path))) return false;
  const auto is_one = [&](base::NameId name) { return std::ranges::count(kImportByName, program_.text(name)) > 0; };
  return std::ranges::any_of(index_.ExprsOf(other, ir::ExprKind::Name), [&](ir::ExprId expr) { return is_one(ir::NameOf(module[expr])); }) ||
         std::ranges::any_of(index_.ExprsOf(other, ir::ExprKind::Attribute), [&](ir::ExprId expr) { return is_one(ir::AttrOf(module[expr])); });
}

}  // namespace allranks::objects
