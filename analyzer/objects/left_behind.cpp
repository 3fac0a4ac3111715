#include "analyzer/objects/left_behind.h"

#include <algorithm>
#include <utility>

#include "analyzer/base/folder.h"
#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// What imports a file by a text.
constexpr std::string_view kImporters[] = {"import_module", "__import__", "iter_modules", "walk_packages", "spec_from_file_location", "exec", "runpy"};

std::string_view StemOf(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

// "old_trainer" of "trainers.old_trainer:run".
bool HoldsWord(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

}  // namespace

bool LeftBehind::Is(ir::ModuleId module) const {
  const auto [known, is_new] = known_.try_emplace(module.index, false);
  if (is_new) known->second = IsFound(module);
  return known->second;
}

bool LeftBehind::IsFound(ir::ModuleId module) const {
  const std::string_view path = program_.infos[module].path;
  if (program_.modules[module].language != ir::Language::Python || program_.infos[module].is_package || IsTestFile(program_, module)) return false;
  if (IsStartedByHand(program_, neighbourhood_, module) || !neighbourhood_.ImportersOf(module).empty() || !IsReadBeside(module)) return false;
  const std::string_view name = StemOf(path);
  return !ImportsByText() && !others_.may_install(module) && !IsNamed(name) && !others_.name(module, name);
}

// A program uses a file of the same folder that it does not lie in itself as the file that is started.
bool LeftBehind::IsReadBeside(ir::ModuleId module) const {
  const std::string_view folder = base::FolderOf(program_.infos[module].path);
  for (uint32_t i = 0; i < program_.infos.size(); ++i) {
    const ir::ModuleId other{i};
    if (other == module || program_.infos[other].is_package || base::FolderOf(program_.infos[other].path) != folder) continue;
    const std::vector<ir::ModuleId> users = neighbourhood_.UsersOf(other);
    const auto is_program = [&](ir::ModuleId user) { return user != other && IsStartedByHand(program_, neighbourhood_, user) && !IsTestFile(program_, user); };
    if (std::ranges::any_of(users, is_program)) return true;
  }
  return false;
}

// An import that leads elsewhere, or a text, has its name.
bool LeftBehind::IsNamed(std::string_view name) const {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::Module& module = program_.modules[ir::ModuleId{m}];
    const auto names_it = [&](ir::ExprId id) {
      const bool is_text = ir::ConstantKindOf(module[id]) == ir::ConstantKind::Str && ir::TextOf(module[id]);
      return is_text && HoldsWord(program_.text(ir::TextOf(module[id])), name);
    };
    const auto imports_it = [&](const ir::Import& import) {
      return (import.module && HoldsWord(program_.text(import.module), name)) || (import.name && HoldsWord(program_.text(import.name), name));
    };
    if (std::ranges::any_of(module.imports, imports_it) || std::ranges::any_of(index_.ExprsOf(ir::ModuleId{m}, ir::ExprKind::Constant), names_it)) return true;
  }
  return false;
}

bool LeftBehind::ImportsByText() const {
  if (imports_by_text_) return *imports_by_text_;
  const auto is_importer = [&](base::NameId name) { return std::ranges::count(kImporters, program_.text(name)) > 0; };
  imports_by_text_ = false;
  for (uint32_t m = 0; m < program_.modules.size() && !*imports_by_text_; ++m) {
    const ir::ModuleId id{m};
    const ir::Module& module = program_.modules[id];
    imports_by_text_ = std::ranges::any_of(index_.ExprsOf(id, ir::ExprKind::Name), [&](ir::ExprId expr) { return is_importer(ir::NameOf(module[expr])); }) ||
                       std::ranges::any_of(index_.ExprsOf(id, ir::ExprKind::Attribute), [&](ir::ExprId expr) { return is_importer(ir::AttrOf(module[expr])); });
  }
  return *imports_by_text_;
}

}  // namespace allranks::objects
