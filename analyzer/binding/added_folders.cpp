#include "analyzer/binding/added_folders.h"

#include <algorithm>

#include "analyzer/base/folder.h"

namespace allranks::binding {
namespace {

bool IsText(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str && ir::TextOf(expr);
}

// `sys.path.append`, `sys.path.insert`
bool AddsFolder(const ir::Module& module, const ir::Expr& callee, const base::Interner& names) {
  if (callee.kind != ir::ExprKind::Attribute) return false;
  const std::string_view method = names.View(ir::AttrOf(callee));
  const ir::Expr& path = module[ir::ObjectOf(callee)];
  if ((method != "append" && method != "insert") || path.kind != ir::ExprKind::Attribute || names.View(ir::AttrOf(path)) != "path") return false;
  const ir::Expr& sys = module[ir::ObjectOf(path)];
  return sys.kind == ir::ExprKind::Name && names.View(ir::NameOf(sys)) == "sys";
}

// `../lib/` is `lib`, wherever it is looked for.
std::string Plain(std::string_view folder) {
  while (folder.starts_with("./") || folder.starts_with("../")) folder.remove_prefix(folder.find('/') + 1);
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const bool is_folder = !folder.empty() && folder != "." && folder != ".." && folder.front() != '/';
  return is_folder ? std::string(folder) : std::string();
}

// The texts of a call one by one, and all of them joined.
std::vector<std::string> NamesOf(const AddedFolder& added) {
  std::vector<std::string> names;
  std::string joined;
  for (const std::string& text : added) {
    const std::string plain = Plain(text);
    if (plain.empty()) continue;
    names.push_back(plain);
    joined += joined.empty() ? plain : "/" + plain;
  }
  if (names.size() > 1) names.push_back(joined);
  return names;
}

std::string Joined(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
}

// What `from .dotted import ...` leads to in a file of the folder.
std::string FileIn(const ModuleGraph& graph, const std::string& folder, std::string_view dotted) {
  return graph.Resolve(Joined(folder, "__init__.py"), 1, dotted);
}

}  // namespace

std::vector<AddedFolder> FoldersAddedBy(const ir::Module& module, const base::Interner& names) {
  std::vector<AddedFolder> added;
  for (const ir::Expr& call : module.exprs) {
    if (call.kind != ir::ExprKind::Call || !AddsFolder(module, module[ir::CalleeOf(call)], names)) continue;
    std::vector<const ir::Expr*> texts;
    for (const ir::Expr& expr : module.exprs) {
      if (IsText(expr) && call.begin < expr.begin && expr.end < call.end) texts.push_back(&expr);
    }
    std::ranges::sort(texts, {}, &ir::Expr::begin);
    AddedFolder& folder = added.emplace_back();
    for (const ir::Expr* text : texts) folder.emplace_back(names.View(ir::TextOf(*text)));
  }
  return added;
}

std::string FileInAddedFolder(const ModuleGraph& graph, std::string_view from_path, std::span<const AddedFolder> added, std::string_view dotted) {
  for (const AddedFolder& each : added) {
    for (const std::string& name : NamesOf(each)) {
      for (std::string_view around = base::FolderOf(from_path);; around = base::FolderOf(around)) {
        if (std::string file = FileIn(graph, Joined(around, name), dotted); !file.empty()) return file;
        if (around.empty()) break;
      }
    }
  }
  return {};
}

}  // namespace allranks::binding
