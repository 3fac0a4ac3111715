#include <algorithm>

#include "analyzer/base/folder.h"
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

// "core/train.py" of "lib/core/train.py".
std::string_view EndOf(std::string_view path) {
  const size_t last = path.rfind('/');
  const size_t before = last == 0 || last == std::string_view::npos ? std::string_view::npos : path.rfind('/', last - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

}  // namespace

ModuleGraph::ModuleGraph(std::vector<std::string> paths, std::vector<std::string> roots, std::string root_name)
    : paths_(std::move(paths)), roots_(std::move(roots)), root_name_(std::move(root_name)) {
  for (uint32_t i = 0; i < paths_.size(); ++i) {
    index_.emplace(paths_[i], i);
    ends_[std::string(EndOf(paths_[i]))].push_back(i);
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
    if (!IsPackage(directory)) {
      if (std::string file = FileFor(directory, dotted); !file.empty()) return file;
    }
    if (directory.empty()) break;
    directory = DirectoryOf(directory);
  }
  for (const std::string& root : roots_) {
    if (std::string file = FileFor(root, dotted); !file.empty()) return file;
  }
  if (std::string file = FileOfRootPackage(dotted); !file.empty()) return file;
  return FileOfSomeFolder(DirectoryOf(from_path), dotted);
}

// `from pkg.core import run` where the root is the folder `pkg` and holds `__init__.py` and `core.py`: Python finds it from the folder around.
std::string ModuleGraph::FileOfRootPackage(std::string_view dotted) const {
  if (root_name_.empty() || !IsPackage("") || !dotted.starts_with(root_name_)) return {};
  const std::string_view inside = dotted.substr(root_name_.size());
  if (inside.empty()) return FileFor("", "");
  return inside.front() == '.' ? FileFor("", inside.substr(1)) : std::string();
}

bool ModuleGraph::IsPackage(const std::string& directory) const { return index_.contains(Joined(directory, "__init__.py")); }

// `from core.train import run` in `tools/main.py`, which has put `lib` into the path of Python: the one folder `core` around with a file
// `train`, if there is just one. A name of one part is too common for that.
std::string ModuleGraph::FileOfSomeFolder(std::string directory, std::string_view dotted) const {
  std::string relative(dotted);
  std::replace(relative.begin(), relative.end(), '.', '/');
  if (relative.find('/') == std::string::npos) return {};
  std::vector<std::string> files;
  for (const std::string& wanted : {relative + ".py", relative + "/__init__.py"}) {
    const auto found = ends_.find(std::string(EndOf(wanted)));
    if (found == ends_.end()) continue;
    for (const uint32_t index : found->second) {
      const std::string& path = paths_[index];
      if (!path.ends_with("/" + wanted)) continue;
      const std::string base = path.substr(0, path.size() - wanted.size() - 1);
      if (!IsPackage(base)) files.push_back(path);
    }
  }
  while (true) {
    const auto is_here = [&](const std::string& file) { return base::IsBelow(file, directory); };
    const auto here = std::count_if(files.begin(), files.end(), is_here);
    if (here == 1) return *std::find_if(files.begin(), files.end(), is_here);
    if (here > 1 || directory.empty()) return {};
    directory = DirectoryOf(directory);
  }
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
