#include "driver/pipeline/enumerate.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <unordered_set>

#include "driver/pipeline/gitignore.h"
#include "frontends/cpp/includes.h"

namespace allranks::pipeline {
namespace {

using source::DirectoryEntry;
using source::EntryKind;

// Folders that hold other people's code or none: skipped unless given on the command line.
constexpr std::array<std::string_view, 13> kSkipped = {
    ".allranks_cache", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox",
    "__pycache__", "node_modules", "site-packages"};
constexpr std::string_view kVirtualEnvironment = "pyvenv.cfg";

bool IsPackagingFile(std::string_view name) {
  return name == "pyproject.toml" || name == "setup.py" || name == "setup.cfg";
}

// The ignore files that apply in a folder: its own and those of the folders above it.
struct IgnoreScope {
  std::shared_ptr<const IgnoreScope> outer;
  std::string base;
  IgnoreFile file;
};
using Scope = std::shared_ptr<const IgnoreScope>;

bool IsIgnored(const Scope& scope, const std::string& path, bool is_directory) {
  for (const IgnoreScope* s = scope.get(); s != nullptr; s = s->outer.get()) {
    const std::string_view below = std::string_view(path).substr(s->base.empty() ? 0 : s->base.size() + 1);
    if (const std::optional<bool> answer = s->file.Ignores(below, is_directory)) return *answer;
  }
  return false;
}

class Walker {
 public:
  Walker(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files)
      : options_(options), paths_(paths), files_(files), exclude_(JoinLines(options.exclude)) {}

  // Everything below `start` (relative to the root; a path of its own if outside), nearest folders first.
  void Walk(const std::string& start, bool requested) {
    std::vector<std::pair<std::string, Scope>> level = {{start, ScopeAbove(start)}};
    while (!level.empty()) {
      std::vector<std::pair<std::string, Scope>> next;
      for (const auto& [directory, scope] : level) Visit(directory, scope, requested, directory == start, next);
      level = std::move(next);
    }
  }

  const IgnoreFile& exclude() const { return exclude_; }

  std::set<std::string> found;
  std::vector<std::pair<std::string, std::string>> links;  // files behind symbolic links: path, where it leads
  std::set<std::string> packaging;                          // folders with pyproject.toml or the like
  std::vector<PathError> errors;

 private:
  static std::string JoinLines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  // The ignore files of the root and of every folder on the way down to `start`.
  Scope ScopeAbove(const std::string& start) {
    Scope scope;
    if (!options_.respect_gitignore || start.starts_with('/')) return scope;
    scope = Opened(nullptr, "", ".git/info/exclude");
    if (start.empty()) return scope;
    scope = Opened(scope, "", ".gitignore");
    for (size_t slash = start.find('/'); slash != std::string::npos; slash = start.find('/', slash + 1)) {
      scope = Opened(scope, start.substr(0, slash), ".gitignore");
    }
    return scope;
  }
  Scope Opened(const Scope& outer, const std::string& directory, std::string_view name) const {
    const base::Result<std::string> text = files_.Read(paths_.Shown(Join(directory, name)));
    if (!text) return outer;
    IgnoreFile file(*text);
    if (file.empty()) return outer;
    return std::make_shared<const IgnoreScope>(IgnoreScope{outer, directory, std::move(file)});
  }

  void Visit(const std::string& directory, Scope scope, bool requested, bool is_start,
             std::vector<std::pair<std::string, Scope>>& next) {
    if (entries_seen_ > options_.most_entries && !requested) return;
    if (!visited_.insert(directory).second) return;
    const base::Result<std::vector<DirectoryEntry>> entries = files_.List(paths_.Shown(directory));
    if (!entries) {
      if (requested) errors.push_back({paths_.Shown(directory), entries.error().message});
      return;
    }
    entries_seen_ += entries->size();
    auto has = [&](std::string_view name) {
      return std::any_of(entries->begin(), entries->end(), [&](const DirectoryEntry& e) { return e.name == name; });
    };
    if (!is_start && has(kVirtualEnvironment)) return;
    if (options_.respect_gitignore && has(".gitignore")) scope = Opened(scope, directory, ".gitignore");
    for (const DirectoryEntry& entry : *entries) Add(directory, entry, scope, next);
  }

  void Add(const std::string& directory, const DirectoryEntry& entry, const Scope& scope,
           std::vector<std::pair<std::string, Scope>>& next) {
    const bool is_directory = entry.kind == EntryKind::Directory;
    if (entry.kind == EntryKind::File && IsPackagingFile(entry.name)) packaging.insert(directory);
    if (is_directory ? IsSkippedName(entry) : entry.kind != EntryKind::File || !IsCodeName(entry.name)) return;
    std::string path = Join(directory, entry.name);
    if (exclude_.Ignores(path, is_directory).value_or(false) || IsIgnored(scope, path, is_directory)) return;
    if (is_directory) {
      next.emplace_back(std::move(path), scope);
    } else if (entry.is_symlink) {
      AddLink(std::move(path));
    } else {
      found.insert(std::move(path));
    }
  }

  // A link to a folder is not followed, as git does it: what it leads to is found where it stands, and a loop of
  // links cannot arise.
  static bool IsSkippedName(const DirectoryEntry& entry) {
    return entry.is_symlink || std::find(kSkipped.begin(), kSkipped.end(), entry.name) != kSkipped.end();
  }
  void AddLink(std::string path) {
    if (const base::Result<std::string> target = files_.Canonical(paths_.Shown(path))) {
      links.emplace_back(std::move(path), *target);
    }
  }

  const EnumerateOptions& options_;
  const PathMap& paths_;
  const source::FileSystem& files_;
  IgnoreFile exclude_;
  std::unordered_set<std::string> visited_;
  size_t entries_seen_ = 0;
};

// Keeps a linked file unless the file itself was found as well: one file, one finding.
void KeepLinks(Walker& walker, const PathMap& paths, const source::FileSystem& files) {
  if (walker.links.empty()) return;
  std::sort(walker.links.begin(), walker.links.end());
  const base::Result<std::string> root = files.Canonical(paths.Shown(""));
  std::unordered_set<std::string> targets;
  for (const auto& [path, target] : walker.links) {
    const bool inside = root && IsInside(target, *root);
    const std::string relative = inside && target.size() > root->size() ? target.substr(root->size() + 1) : target;
    if (!walker.found.contains(relative) && targets.insert(target).second) walker.found.insert(path);
  }
}

struct Request {
  std::set<std::string> files;
  std::vector<std::string> directories;
  size_t excluded = 0;
};


Request Requested(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files,
                  const IgnoreFile& exclude, std::vector<PathError>& errors) {
  Request request;
  for (const std::string& overlay : options.overlays) request.files.insert(paths.Relative(overlay));
  for (const std::string& path : options.paths) {
    std::string relative = paths.Relative(path);
    if (options.force_exclude && exclude.IgnoresFileOrFolder(relative)) {
      request.files.erase(relative);
      ++request.excluded;
      continue;
    }
    if (request.files.contains(relative)) continue;
    const base::Result<EntryKind> kind = files.Kind(path);
    if (!kind) {
      errors.push_back({path, kind.error().message});
    } else if (*kind == EntryKind::Directory) {
      request.directories.push_back(std::move(relative));
    } else {
      request.files.insert(std::move(relative));
    }
  }
  return request;
}

}  // namespace

bool IsCodeName(std::string_view name) {
  return name.ends_with(".py") || name.ends_with(".ipynb") || cpp::IsSourceName(name) || cpp::IsHeaderName(name);
}

ProjectFiles Enumerate(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files) {
  ProjectFiles out;
  Walker walker(options, paths, files);
  const Request request = Requested(options, paths, files, walker.exclude(), out.errors);
  out.excluded = request.excluded;
  const bool wants_root = std::find(request.directories.begin(), request.directories.end(), "") !=
                          request.directories.end();
  // What was asked for comes first: it is walked whole, the project around it within a bound.
  for (const std::string& directory : request.directories) walker.Walk(directory, true);
  if (!wants_root) walker.Walk("", false);
  KeepLinks(walker, paths, files);
  walker.found.insert(request.files.begin(), request.files.end());
  out.all.assign(walker.found.begin(), walker.found.end());
  for (const std::string& path : out.all) {
    const bool in_directory = std::any_of(request.directories.begin(), request.directories.end(),
                                          [&](const std::string& d) { return IsInside(path, d); });
    out.requested.push_back(in_directory || request.files.contains(path));
  }
  for (const std::string& directory : walker.packaging) {
    out.import_roots.push_back(directory);
    out.import_roots.push_back(Join(directory, "src"));
  }
  for (const std::string& folder : options.import_roots) out.import_roots.push_back(paths.Relative(folder));
  if (!walker.packaging.contains("")) out.import_roots.insert(out.import_roots.begin(), {"", "src"});
  out.errors.insert(out.errors.end(), walker.errors.begin(), walker.errors.end());
  return out;
}

}  // namespace allranks::pipeline
