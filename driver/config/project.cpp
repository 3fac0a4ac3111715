#include "driver/config/project.h"

#include <algorithm>
#include <filesystem>

#include "driver/config/settings.h"

namespace allranks::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnFiles[] = {".allranks.toml", "allranks.toml"};
constexpr std::string_view kSharedFile = "pyproject.toml";
constexpr const char* kPackagingFiles[] = {"pyproject.toml", "setup.py", "setup.cfg"};

bool Exists(const fs::path& path, const source::FileSystem& files) { return files.Kind(path.string()).has_value(); }

bool IsPackage(const fs::path& directory, const source::FileSystem& files) {
  return std::any_of(std::begin(kPackagingFiles), std::end(kPackagingFiles),
                     [&](const char* name) { return Exists(directory / name, files); });
}

bool Contains(const fs::path& directory, const fs::path& path) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first == directory.end();
}

fs::path WithoutSlash(const fs::path& path) {
  return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

// The folder around all paths; files count as the folder they are in, the working directory as a folder though it may not
// be there: an editor's window without a folder has one that is nowhere.
fs::path Around(const std::vector<std::string>& paths, const fs::path& working_directory, const source::FileSystem& files) {
  fs::path around;
  for (const std::string& path : paths) {
    fs::path folder = WithoutSlash((working_directory / path).lexically_normal());
    const base::Result<source::EntryKind> kind = files.Kind(folder.string());
    const bool is_folder = folder == working_directory || (kind && *kind == source::EntryKind::Directory);
    if (!is_folder) folder = folder.parent_path();
    if (around.empty()) around = folder;
    while (!Contains(around, folder)) around = around.parent_path();
  }
  return around.empty() ? working_directory : around;
}

// The nearest folder, from `start` upwards, of which `test` holds; empty: none.
template <class Test>
fs::path NearestAbove(fs::path start, Test test) {
  for (;; start = start.parent_path()) {
    if (test(start)) return start;
    if (start == start.parent_path()) return {};
  }
}

}  // namespace

std::string FindRoot(const std::vector<std::string>& paths, const std::string& working_directory,
                     const source::FileSystem& files) {
  const fs::path here = WithoutSlash(fs::path(working_directory).lexically_normal());
  const fs::path start = Around(paths, here, files);
  const fs::path repository = NearestAbove(start, [&](const fs::path& p) { return Exists(p / ".git", files); });
  if (!repository.empty()) return repository.string();
  const bool inside = Contains(here, start);
  if (inside && IsPackage(here, files)) return here.string();
  const fs::path package = NearestAbove(start, [&](const fs::path& p) { return IsPackage(p, files); });
  if (!package.empty()) return package.string();
  return inside ? here.string() : start.string();
}

std::string FindRepository(const std::string& folder, const std::string& working_directory,
                           const source::FileSystem& files) {
  const fs::path found = NearestAbove(fs::path(folder), [&](const fs::path& p) { return Exists(p / ".git", files); });
  if (!found.empty()) return found.string();
  const fs::path here = WithoutSlash(fs::path(working_directory).lexically_normal());
  return Contains(here, fs::path(folder)) ? here.string() : folder;
}

std::string FolderAround(const std::vector<std::string>& paths, const std::string& working_directory,
                         const source::FileSystem& files) {
  return Around(paths, WithoutSlash(fs::path(working_directory).lexically_normal()), files).string();
}

std::string ConfigIn(const std::string& folder, const source::FileSystem& files) {
  for (const std::string_view name : kOwnFiles) {
    if (Exists(fs::path(folder) / name, files)) return (fs::path(folder) / name).string();
  }
  const std::string shared = (fs::path(folder) / kSharedFile).string();
  return HasAllranksTable(shared, files) ? shared : std::string();
}

std::string FindConfig(const std::vector<std::string>& paths, const std::string& root,
                       const std::string& working_directory, const source::FileSystem& files) {
  for (fs::path folder = FolderAround(paths, working_directory, files);; folder = folder.parent_path()) {
    if (std::string found = ConfigIn(folder.string(), files); !found.empty()) return found;
    if (folder == fs::path(root) || folder == folder.parent_path()) return {};
  }
}

}  // namespace allranks::config
