#include "driver/pipeline/enumerate.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_set>

#include "analyzer/launch/torch_pins.h"
#include "driver/pipeline/copies.h"
#include "driver/pipeline/git_attributes.h"
#include "driver/pipeline/git_index.h"
#include "driver/pipeline/gitignore.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/submodules.h"
#include "frontends/cpp/includes.h"
#include "frontends/launch/read.h"
#include "frontends/launch/settings.h"

namespace allranks::pipeline {
namespace {

using source::DirectoryEntry;
using source::EntryKind;

// Folders of tools, which hold no code of anybody's: skipped unless given on the command line. These and the two lists
// below are what ruff leaves out (https://docs.astral.sh/ruff/settings/#exclude).
constexpr std::array<std::string_view, 15> kSkipped = {
    ".allranks_cache", ".bzr", ".direnv", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".pants.d",
    ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".vscode", "__pycache__"};
// Installed packages. Where git tracks them, they are a copy of other people's code.
constexpr std::array<std::string_view, 9> kInstalled = {".eggs", ".nox", ".pyenv", ".tox", ".venv", "__pypackages__", "node_modules", "site-packages",
                                                        "venv"};
constexpr std::string_view kAttributes = ".gitattributes";
constexpr std::string_view kVirtualEnvironment = "pyvenv.cfg";
// What builds make, unless git tracks it.
constexpr std::array<std::string_view, 4> kBuilt = {"_build", "buck-out", "build", "dist"};

// The files of one kind that apply in a folder: its own and those of the folders above it.
template <class File>
struct Nested {
  std::shared_ptr<const Nested> outer;
  std::string base;
  File file;
};
using Scope = std::shared_ptr<const Nested<IgnoreFile>>;
using AttributeScope = std::shared_ptr<const Nested<AttributesFile>>;

// The answer of the nearest file that has one. `ask`: of a file and a path below its folder.
template <class File, class Ask>
std::optional<bool> NearestAnswer(const std::shared_ptr<const Nested<File>>& scope, const std::string& path, const Ask& ask) {
  for (const Nested<File>* s = scope.get(); s != nullptr; s = s->outer.get()) {
    const std::string_view below = std::string_view(path).substr(s->base.empty() ? 0 : s->base.size() + 1);
    if (const std::optional<bool> answer = ask(s->file, below)) return answer;
  }
  return std::nullopt;
}

bool IsIgnored(const Scope& scope, const std::string& path, bool is_directory) {
  return NearestAnswer(scope, path, [&](const IgnoreFile& file, std::string_view below) { return file.Ignores(below, is_directory); }).value_or(false);
}

// Files that are not even read.
bool IsUnread(LeftOut why) { return why == LeftOut::Ignored || why == LeftOut::Installed || why == LeftOut::NotCheckedOut; }

class Walker {
 public:
  using IsWanted = bool (*)(std::string_view name);
  Walker(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files, IsWanted is_wanted)
      : is_wanted_(is_wanted), options_(options), paths_(paths), files_(files), exclude_(JoinLines(options.exclude)), copies_(paths, files) {
    base::Result<GitIndex> index = FindGitIndex(paths.Shown(""), files);
    if (index) tracked_ = std::move(*index);
    // Without it the ignore files decide alone.
    else if (options.respect_gitignore) index_problem = index.error().message;
    if (const base::Result<std::string> text = files.Read(paths.Shown(".gitmodules"))) {
      for (std::string& folder : SubmodulesIn(*text)) submodules_.insert(std::move(folder));
    }
  }

  // Everything below `start` (relative to the root; a path of its own if outside), nearest folders first.
  void Walk(const std::string& start, bool requested) {
    std::vector<Folder> level = {{.path = start, .scope = ScopeAbove(start), .attributes = AttributesAbove(start)}};
    while (!level.empty()) {
      std::vector<Folder> next;
      for (const Folder& folder : level) Visit(folder, requested, folder.path == start, next);
      level = std::move(next);
    }
  }

  const IgnoreFile& exclude() const { return exclude_; }
  bool knows_tracked() const { return tracked_.is_of_checkout; }

  std::set<std::string> found;
  std::vector<std::pair<std::string, std::string>> links;  // files behind symbolic links: path, where it leads
  std::set<std::string> packaging;                          // folders with pyproject.toml or the like
  std::set<std::string> own;                                // files of which .gitattributes says that nothing generated them
  std::vector<LeftOutPath> left_out;
  std::string index_problem;
  std::vector<PathError> errors;

 private:
  struct Folder {
    std::string path;
    Scope scope;
    AttributeScope attributes;
    bool only_tracked = false;  // ignored, but some of its files are tracked all the same
  };

  template <size_t N>
  static bool IsOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static std::string JoinLines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  // The ignore files of the root and of every folder on the way down to `start`.
  Scope ScopeAbove(const std::string& start) {
    Scope scope;
    if (!options_.respect_gitignore || start.starts_with('/')) return scope;
    scope = Opened(Scope(), "", ".git/info/exclude");
    for (const std::string& folder : Above(start)) scope = Opened(scope, folder, ".gitignore");
    return scope;
  }
  AttributeScope AttributesAbove(const std::string& start) const {
    AttributeScope scope;
    if (start.starts_with('/')) return scope;
    for (const std::string& folder : Above(start)) scope = Opened(scope, folder, kAttributes);
    return scope;
  }
  // The root and every folder on the way down to `start`.
  static std::vector<std::string> Above(const std::string& start) {
    std::vector<std::string> folders;
    if (start.empty()) return folders;
    folders.emplace_back();
    for (size_t slash = start.find('/'); slash != std::string::npos; slash = start.find('/', slash + 1)) folders.push_back(start.substr(0, slash));
    return folders;
  }
  template <class File>
  std::shared_ptr<const Nested<File>> Opened(const std::shared_ptr<const Nested<File>>& outer, const std::string& directory, std::string_view name) const {
    const base::Result<std::string> text = files_.Read(paths_.Shown(Join(directory, name)));
    if (!text) return outer;
    File file(*text);
    if (file.empty()) return outer;
    return std::make_shared<const Nested<File>>(Nested<File>{outer, directory, std::move(file)});
  }

  void Visit(Folder folder, bool requested, bool is_start, std::vector<Folder>& next) {
    if (entries_seen_ > options_.most_entries && !requested) return;
    if (!visited_.insert(folder.path).second) return;
    const base::Result<std::vector<DirectoryEntry>> entries = files_.List(paths_.Shown(folder.path));
    if (!entries) {
      if (requested) errors.push_back({paths_.Shown(folder.path), entries.error().message});
      return;
    }
    entries_seen_ += entries->size();
    auto has = [&](std::string_view name) {
      return std::any_of(entries->begin(), entries->end(), [&](const DirectoryEntry& e) { return e.name == name; });
    };
    if (!is_start && has(kVirtualEnvironment) && !IsOneOf(kInstalled, NameOf(folder.path)) && !ReadsInstalled(folder.path)) return;
    if (!is_start && (has(".git") || IsSubmodule(folder.path))) LeaveOut(folder.path, true, entries->empty() ? LeftOut::NotCheckedOut : LeftOut::Submodule);
    if (options_.respect_gitignore && has(".gitignore")) folder.scope = Opened(folder.scope, folder.path, ".gitignore");
    if (has(kAttributes)) folder.attributes = Opened(folder.attributes, folder.path, kAttributes);
    if (copies_.IsCopy(folder.path, *entries)) LeaveOut(folder.path, true, LeftOut::Vendored);
    for (const DirectoryEntry& entry : *entries) Add(folder, entry, next);
  }

  // `.gitmodules` may still list what has become a part of the project.
  bool IsSubmodule(const std::string& path) const {
    return tracked_.IsSubmodule(path) || (submodules_.contains(path) && !tracked_.TracksBelow(path));
  }

  void Add(const Folder& folder, const DirectoryEntry& entry, std::vector<Folder>& next) {
    const bool is_directory = entry.kind == EntryKind::Directory;
    if (entry.kind == EntryKind::File && IsPackagingFile(entry.name)) packaging.insert(folder.path);
    if (is_directory ? IsSkippedName(entry) : entry.kind != EntryKind::File || !is_wanted_(entry.name)) return;
    std::string path = Join(folder.path, entry.name);
    if (exclude_.Ignores(path, is_directory).value_or(false)) return;
    const bool is_ignored = folder.only_tracked || IsIgnored(folder.scope, path, is_directory);
    if (is_ignored && !(is_directory ? tracked_.TracksBelow(path) : tracked_.Tracks(path))) {
      // Of files that start jobs nobody is told.
      return is_directory || IsCodeName(entry.name) ? LeaveOut(path, is_directory, LeftOut::Ignored) : void();
    }
    if (is_directory) {
      if (IsOneOf(kInstalled, entry.name) && !ReadsInstalled(path)) return;
      if (IsOneOf(kBuilt, entry.name) && !tracked_.TracksBelow(path)) LeaveOut(path, true, LeftOut::Built);
      next.push_back({.path = std::move(path), .scope = folder.scope, .attributes = folder.attributes, .only_tracked = is_ignored});
    } else if (entry.is_symlink) {
      if (IsCodeName(entry.name)) AddLink(std::move(path));
    } else {
      HeedAttributes(folder.attributes, path);
      found.insert(std::move(path));
    }
  }

  void HeedAttributes(const AttributeScope& scope, const std::string& path) {
    const auto has = [&](const IgnoreFile AttributesFile::* attribute) {
      return NearestAnswer(scope, path, [&](const AttributesFile& file, std::string_view below) { return (file.*attribute).Ignores(below, false); });
    };
    const std::optional<bool> is_generated = has(&AttributesFile::generated);
    if (is_generated == true) LeaveOut(path, false, LeftOut::Generated);
    else if (has(&AttributesFile::vendored) == true) LeaveOut(path, false, LeftOut::Vendored);
    if (is_generated == false) own.insert(path);
  }

  // Whether a folder of installed packages is read: one that git tracks is read like any copy of other people's code.
  bool ReadsInstalled(const std::string& path) {
    const bool is_tracked = tracked_.TracksBelow(path);
    LeaveOut(path, true, is_tracked ? LeftOut::Vendored : LeftOut::Installed);
    return is_tracked;
  }

  void LeaveOut(std::string path, bool is_folder, LeftOut why) { left_out.push_back({std::move(path), is_folder, why}); }

  // A link to a folder is not followed, as git does it: what it leads to is found where it stands, and a loop of
  // links cannot arise.
  static bool IsSkippedName(const DirectoryEntry& entry) {
    return entry.is_symlink || IsOneOf(kSkipped, entry.name);
  }
  void AddLink(std::string path) {
    if (const base::Result<std::string> target = files_.Canonical(paths_.Shown(path))) {
      links.emplace_back(std::move(path), *target);
    }
  }

  IsWanted is_wanted_;
  const EnumerateOptions& options_;
  const PathMap& paths_;
  const source::FileSystem& files_;
  IgnoreFile exclude_;
  GitIndex tracked_;
  std::unordered_set<std::string> visited_;
  Copies copies_;
  std::set<std::string> submodules_;  // as .gitmodules lists them
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
  std::set<std::string> files;  // those in memory as well
  std::set<std::string> named;  // by the user
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
    if (request.files.contains(relative)) {
      request.named.insert(std::move(relative));
      continue;
    }
    const base::Result<EntryKind> kind = files.Kind(path);
    if (!kind) {
      errors.push_back({path, kind.error().message});
    } else if (*kind == EntryKind::Directory) {
      request.directories.push_back(std::move(relative));
    } else {
      request.named.insert(relative);
      request.files.insert(std::move(relative));
    }
  }
  return request;
}

// Folders of other people's code below what was asked for. One that somebody names, or names something in, is wanted. They
// are read all the same: others import from them.
std::vector<LeftOutPath> Foreign(const std::vector<LeftOutPath>& left_out, const std::vector<std::string>& asked) {
  std::vector<LeftOutPath> foreign;
  for (const LeftOutPath& each : left_out) {
    const bool is_asked = std::any_of(asked.begin(), asked.end(), [&](const std::string& d) { return IsInside(d, each.path); });
    if (!IsUnread(each.why) && !is_asked) foreign.push_back(each);
  }
  return foreign;
}

// What there is to say about it: ignored files and folders, and folders of others that hold code.
std::vector<LeftOutPath> LeftOutOf(const std::vector<LeftOutPath>& left_out, const std::vector<LeftOutPath>& foreign,
                                   const ProjectFiles& project, const Request& request) {
  const auto is_asked_for = [&](const LeftOutPath& each) {
    return std::ranges::any_of(request.directories, [&](const std::string& d) { return IsInside(each.path, d); });
  };
  std::vector<LeftOutPath> said;
  for (const LeftOutPath& each : left_out) {
    if (IsUnread(each.why) && is_asked_for(each)) said.push_back(each);
  }
  for (const LeftOutPath& each : foreign) {
    if (!is_asked_for(each) || request.files.contains(each.path)) continue;
    const bool holds_code = std::any_of(project.all.begin(), project.all.end(), [&](const std::string& path) { return IsInside(path, each.path); });
    const bool is_inner = std::any_of(foreign.begin(), foreign.end(),
                                      [&](const LeftOutPath& f) { return f.path != each.path && IsInside(each.path, f.path); });
    if (holds_code && !is_inner) said.push_back(each);
  }
  std::ranges::sort(said, {}, &LeftOutPath::path);
  const auto again = std::ranges::unique(said, {}, &LeftOutPath::path);
  said.erase(again.begin(), again.end());
  return said;
}

// A file that people may start. Data have names without an ending, too, and may be large.
bool IsSmallProgram(const std::string& path) {
  constexpr uintmax_t kLargest = 256u << 10;
  using std::filesystem::perms;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error || status.type() != std::filesystem::file_type::regular || (status.permissions() & perms::owner_exec) == perms::none) return false;
  const uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size <= kLargest;
}

bool MayBeOfLaunch(std::string_view name) { return IsLaunchName(name) || launch_files::MayBeScript(name) || launch::TellsRequirements(name); }

// Of what was found; a link is not followed.
LaunchFiles LaunchFilesAmong(const std::set<std::string>& found, const Request& request, const std::vector<LeftOutPath>& foreign, const PathMap& paths) {
  LaunchFiles out;
  std::set<std::string> all = found;
  for (const std::string& file : request.files) {
    if (!IsCodeName(file) && IsLaunchName(file)) all.insert(file);
  }
  for (const std::string& path : all) {
    const std::string_view name = NameOf(path);
    if (IsLaunchName(name) || (launch_files::MayBeScript(name) && IsSmallProgram(paths.Shown(path)))) out.all.push_back(path);
    if (launch::TellsRequirements(path)) out.requirements.push_back(path);
  }
  for (const std::string& path : out.all) {
    const bool in_directory = std::ranges::any_of(request.directories, [&](const std::string& d) { return IsInside(path, d); });
    const bool is_foreign = std::ranges::any_of(foreign, [&](const LeftOutPath& f) { return IsInside(path, f.path); });
    out.requested.push_back((in_directory && !is_foreign) || request.files.contains(path));
  }
  return out;
}

}  // namespace

bool IsLaunchName(std::string_view name) { return launch_files::KindOfName(name).has_value(); }

bool MayHoldSettings(std::string_view path) { return IsLaunchName(NameOf(path)) || launch_files::KindOfSettings(path).has_value(); }

bool IsCodeName(std::string_view name) {
  return IsPythonName(name) || cpp::IsSourceName(name) || cpp::IsHeaderName(name);
}

bool IsPythonName(std::string_view name) { return name.ends_with(".py") || name.ends_with(".ipynb"); }

bool ProjectFiles::IsJudged(size_t index, bool says_generated) const { return requested[index] && (is_own[index] || !says_generated); }

ProjectFiles Enumerate(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files) {
  ProjectFiles out;
  Walker walker(options, paths, files, [](std::string_view name) { return IsCodeName(name) || MayBeOfLaunch(name); });
  const Request request = Requested(options, paths, files, walker.exclude(), out.errors);
  out.excluded = request.excluded;
  const bool wants_root = std::find(request.directories.begin(), request.directories.end(), "") !=
                          request.directories.end();
  // What was asked for comes first: it is walked whole, the project around it within a bound.
  for (const std::string& directory : request.directories) walker.Walk(directory, true);
  if (!wants_root) walker.Walk("", false);
  const std::vector<LeftOutPath> foreign = Foreign(walker.left_out, request.directories);
  out.launch = LaunchFilesAmong(walker.found, request, foreign, paths);
  std::erase_if(walker.found, [](const std::string& path) { return !IsCodeName(path); });
  KeepLinks(walker, paths, files);
  for (const std::string& file : request.files) {
    if (IsCodeName(file) || !IsLaunchName(file)) walker.found.insert(file);
  }
  out.all.assign(walker.found.begin(), walker.found.end());
  for (const std::string& path : out.all) {
    const bool in_directory = std::any_of(request.directories.begin(), request.directories.end(),
                                          [&](const std::string& d) { return IsInside(path, d); });
    const bool is_foreign = std::any_of(foreign.begin(), foreign.end(), [&](const LeftOutPath& f) { return IsInside(path, f.path); });
    out.requested.push_back((in_directory && !is_foreign) || request.files.contains(path));
    out.named.push_back(request.named.contains(path));
    out.is_own.push_back(request.files.contains(path) || walker.own.contains(path));
  }
  out.knows_tracked = walker.knows_tracked();
  out.index_problem = walker.index_problem;
  out.left_out = LeftOutOf(walker.left_out, foreign, out, request);
  for (const std::string& directory : walker.packaging) {
    out.import_roots.push_back(directory);
    out.import_roots.push_back(Join(directory, "src"));
  }
  for (const std::string& folder : options.import_roots) out.import_roots.push_back(paths.Relative(folder));
  if (!walker.packaging.contains("")) out.import_roots.insert(out.import_roots.begin(), {"", "src"});
  out.errors.insert(out.errors.end(), walker.errors.begin(), walker.errors.end());
  return out;
}

std::vector<std::string> RequestedFolders(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files) {
  Walker walker(options, paths, files, [](std::string_view name) { return IsCodeName(name) || IsLaunchName(name); });
  // Enumerate says these.
  std::vector<PathError> errors;
  const Request request = Requested(options, paths, files, walker.exclude(), errors);
  for (const std::string& directory : request.directories) walker.Walk(directory, true);
  const std::vector<LeftOutPath> foreign = Foreign(walker.left_out, request.directories);
  std::erase_if(walker.found, [&](const std::string& path) {
    return std::ranges::any_of(foreign, [&](const LeftOutPath& f) { return IsInside(path, f.path); });
  });
  walker.found.insert(request.files.begin(), request.files.end());
  std::set<std::string> folders;
  for (const std::string& path : walker.found) {
    if (path.starts_with('/')) continue;
    std::string_view folder = DirectoryOf(path);
    while (!folder.empty() && folders.insert(std::string(folder)).second) folder = DirectoryOf(folder);
  }
  return {folders.begin(), folders.end()};
}

}  // namespace allranks::pipeline
