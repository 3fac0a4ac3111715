#include "driver/pipeline/missing_modules.h"

#include <algorithm>

#include "analyzer/launch/torch_pins.h"
#include "frontends/python/text_scanner.h"

namespace allranks::pipeline {
namespace {

// "data" of "data.py", of "data.cpython-312-x86_64-linux-gnu.so" and of the folder "data".
std::string_view StemOf(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

bool MissingModules::Lacks(std::string_view path, uint32_t level, std::string_view dotted) const {
  were_asked_ = true;
  if (dotted.empty()) return false;
  std::string folder(DirectoryOf(path));
  if (level == 0) {
    if (dotted.find('.') != std::string_view::npos || MayBeBuilt(dotted)) return false;
    for (std::string at = folder;; at = DirectoryOf(at)) {
      if (MayHold(at, dotted)) return false;
      if (at.empty()) break;
    }
    return std::ranges::none_of(project_.import_roots, [&](const std::string& root) { return IsFolder(root) && MayHold(root, dotted); });
  }
  const std::optional<std::string> start = FolderAt(path, level);
  return start && LacksBelow(*start, dotted);
}

bool MissingModules::HoldsModule(std::string_view path, uint32_t level, std::string_view name) const {
  were_asked_ = true;
  const std::optional<std::string> folder = FolderAt(path, level);
  return folder && (IsFile(Join(*folder, std::string(name) + ".py")) || IsFile(Join(Join(*folder, name), "__init__.py")));
}

// Where a relative import of this level looks; nothing: above the project.
std::optional<std::string> MissingModules::FolderAt(std::string_view path, uint32_t level) {
  std::string folder(DirectoryOf(path));
  for (uint32_t i = 1; i < level; ++i) {
    if (folder.empty()) return std::nullopt;
    folder = DirectoryOf(folder);
  }
  return folder;
}

bool MissingModules::LacksBelow(std::string folder, std::string_view dotted) const {
  while (true) {
    const size_t dot = dotted.find('.');
    const std::string_view part = dotted.substr(0, dot);
    if (!MayHold(folder, part)) return !MayBeBuilt(part);
    if (dot == std::string_view::npos) return false;
    folder = Join(folder, part);
    // A file of Python has no parts.
    if (!IsFolder(folder)) return IsFile(folder + ".py");
    dotted = dotted.substr(dot + 1);
  }
}

bool MissingModules::IsFolder(const std::string& path) const {
  const base::Result<source::EntryKind> kind = in_.files.Kind(in_.paths.Shown(path));
  return kind && *kind == source::EntryKind::Directory;
}

bool MissingModules::IsFile(const std::string& path) const {
  const base::Result<source::EntryKind> kind = in_.files.Kind(in_.paths.Shown(path));
  return kind && *kind == source::EntryKind::File;
}

// A folder of which nothing is seen may be one that was not checked out.
bool MissingModules::MayHold(const std::string& folder, std::string_view part) const {
  const base::Result<std::vector<source::DirectoryEntry>> entries = in_.files.List(in_.paths.Shown(folder));
  if (!entries || entries->empty()) return true;
  const bool is_in_editor = std::ranges::any_of(in_.overlays, [&](const auto& overlay) {
    return DirectoryOf(overlay.first) == folder && StemOf(NameOf(overlay.first)) == part;
  });
  return is_in_editor || std::ranges::any_of(*entries, [&](const source::DirectoryEntry& entry) { return StemOf(entry.name) == part; });
}

// `_C`, `_version`: what is not for others has such a name, and much of it is made by a build, as are the files of protobuf. A module in C++
// names itself: `PYBIND11_MODULE(helpers, m)`.
bool MissingModules::MayBeBuilt(std::string_view part) const {
  if (part.starts_with('_') || part.ends_with("_pb2") || part.ends_with("_pb2_grpc")) return true;
  const auto [known, is_new] = built_.try_emplace(std::string(part));
  if (is_new) known->second = IsBuilt(part);
  return known->second;
}

bool MissingModules::IsBuilt(std::string_view part) const {
  const auto builds_it = [&](const std::string& path) { return launch::IsPackagingName(NameOf(path)) && Names(path, part); };
  const auto is_built_of_it = [&](const std::string& path) { return !path.ends_with(".py") && !path.ends_with(".ipynb") && Names(path, part); };
  return std::ranges::any_of(project_.launch.requirements, builds_it) || std::ranges::any_of(project_.all, is_built_of_it);
}

bool MissingModules::AreRequired(std::string_view package) const {
  were_asked_ = true;
  return std::ranges::any_of(project_.launch.requirements, [&](const std::string& path) { return !path.ends_with(".md") && Names(path, package); });
}

bool MissingModules::AnySetsPythonPath() const {
  were_asked_ = true;
  if (!sets_path_) {
    const auto names_it = [&](const std::string& path) { return Names(path, "PYTHONPATH"); };
    sets_path_ = std::ranges::any_of(project_.launch.all, names_it) || std::ranges::any_of(project_.launch.requirements, names_it) ||
                 std::ranges::any_of(project_.all, names_it);
  }
  return *sets_path_;
}

bool MissingModules::Names(const std::string& path, std::string_view word) const {
  const base::Result<std::string> text = in_.Read(path);
  return !text || python::HasWord(*text, word);
}

}  // namespace allranks::pipeline
