#include <algorithm>

#include "analyzer/binding/program.h"

namespace allranks::binding {
namespace {

std::string DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

std::string Joined(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

}  // namespace

ModuleGraph::ModuleGraph(std::vector<std::string> paths, std::vector<std::string> roots)
    : paths_(std::move(paths)), roots_(std::move(roots)) {
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    index_.emplace(paths_[i], i);
    for (std::string directory = DirectoryOf(paths_[i]); directories_.emplace(directory, true).second;) {
      if (directory.empty()) break;
      directory = DirectoryOf(directory);
    }
  }
}

std::string ModuleGraph::FileFor(const std::string& base, std::string_view dotted) const {
  std::string path = base;
  if (!dotted.empty()) {
    std::string relative(dotted);
    std::replace(relative.begin(), relative.end(), '.', '/');
    path = Joined(base, relative);
    if (std::string file = path + ".py"; index_.contains(file)) return file;
  }
  std::string init = Joined(path, "__init__.py");
  return index_.contains(init) ? init : std::string();
}

std::string ModuleGraph::Resolve(const std::string& from_path, uint32_t level, std::string_view dotted) const {
  std::string directory = DirectoryOf(from_path);
  if (level > 0) {
    for (uint32_t i = 1; i < level; ++i) directory = DirectoryOf(directory);
    return FileFor(directory, dotted);
  }
  // A script's own folder is searched first; a folder that is a package is no place where imports start.
  while (true) {
    if (!index_.contains(Joined(directory, "__init__.py"))) {
      if (std::string file = FileFor(directory, dotted); !file.empty()) return file;
    }
    if (directory.empty()) break;
    directory = DirectoryOf(directory);
  }
  for (const std::string& root : roots_) {
    if (std::string file = FileFor(root, dotted); !file.empty()) return file;
  }
  return FromPackages(DirectoryOf(from_path), dotted);
}

// Started by its path, a script in a package imports what lies beside it, or beside a folder around it. Of one word alone
// an installed library is more likely meant: `import random` beside a `random.py`.
std::string ModuleGraph::FromPackages(std::string directory, std::string_view dotted) const {
  if (dotted.find('.') == std::string_view::npos) return {};
  for (; index_.contains(Joined(directory, "__init__.py")); directory = DirectoryOf(directory)) {
    if (std::string file = FileFor(directory, dotted); !file.empty()) return file;
    if (directory.empty()) break;
  }
  return {};
}

std::string ModuleGraph::DottedName(const std::string& path) const {
  std::string directory = DirectoryOf(path);
  std::string name = path.substr(directory.empty() ? 0 : directory.size() + 1);
  name = name.substr(0, name.rfind('.'));
  std::string dotted = name == "__init__" ? std::string() : name;
  while (!directory.empty() && index_.contains(Joined(directory, "__init__.py"))) {
    const std::string parent = DirectoryOf(directory);
    const std::string part = directory.substr(parent.empty() ? 0 : parent.size() + 1);
    dotted = dotted.empty() ? part : part + "." + dotted;
    directory = parent;
  }
  return dotted.empty() ? name : dotted;
}

}  // namespace allranks::binding
