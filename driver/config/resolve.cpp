#include "driver/config/resolve.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "driver/config/cache_dir.h"
#include "driver/config/project.h"

namespace allranks::config {
namespace {

namespace fs = std::filesystem;

// As people name it who work in that folder.
std::string Shown(const std::string& path, const std::string& working_directory) {
  if (!path.starts_with('/')) return path;
  const std::string relative = fs::path(path).lexically_proximate(working_directory).string();
  return relative.starts_with("../../../") ? path : relative;
}

bool IsFile(const std::string& path, const source::FileSystem& files) {
  const base::Result<source::EntryKind> kind = files.Kind(path);
  return kind && *kind != source::EntryKind::Directory;
}

base::Result<Settings> NamedSettings(const Request& request, const source::FileSystem& files) {
  Settings all;
  for (const std::string& given : request.config) {
    const bool is_inline = given.find('=') != std::string::npos && !IsFile(given, files);
    base::Result<Settings> one = is_inline ? ReadInlineSettings(given) : ReadSettings(given, given, files);
    if (!one) return one;
    all = Merge(std::move(all), *one);
  }
  return all;
}

// Links resolved, as far as the path is there.
fs::path WithoutLinks(fs::path path, const source::FileSystem& files) {
  fs::path rest;
  for (; !path.empty() && path != path.parent_path(); path = path.parent_path()) {
    if (const base::Result<std::string> there = files.Canonical(path.string())) return rest.empty() ? fs::path(*there) : fs::path(*there) / rest;
    rest = rest.empty() ? path.filename() : path.filename() / rest;
  }
  return path / rest;
}

bool Holds(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// What runs keep is deleted again, and git does not see it: no folder for that is the project, or holds any of its files.
std::string HoldsMore(const fs::path& cache, const fs::path& project, const source::FileSystem& files) {
  if (Holds(cache, project)) return "the project";
  const std::string other = cache.filename() == kCacheFolder ? "" : OtherThanCache(cache.string(), files);
  return other.empty() ? "" : (cache / other).lexically_relative(project).string();
}

// Whoever checks a project did not choose what its own file says: that names nothing to read or write outside of it, and no
// folder for a cache that is there for something else. Returns what is wrong; empty: nothing.
std::string Trespasses(const Settings& found, const Request& request, const source::FileSystem& files) {
  const fs::path here = request.working_directory;
  const std::string folder = (here / fs::path(found.file).parent_path()).lexically_normal().string();
  const fs::path project = WithoutLinks(FindRepository(folder, request.working_directory, files), files);
  const auto target = [&](const std::string& value) { return WithoutLinks((here / value / "").lexically_normal().parent_path(), files); };
  for (const auto& [key, value, what] : {std::tuple("root", found.root, "that folder with --root"), std::tuple("cache-dir", found.cache_dir, "that folder with --cache-dir"),
                                         std::tuple("baseline", found.baseline, "that file with --baseline")}) {
    if (value.empty() || Holds(project, target(value))) continue;
    return found.origins.at(key) + ": `" + key + "` leads out of the project " + project.string() + "; name " + what;
  }
  const std::string more = found.cache_dir.empty() ? "" : HoldsMore(target(found.cache_dir), project, files);
  if (more.empty()) return {};
  return found.origins.at("cache-dir") + ": `cache-dir` names a folder that holds other things than a cache (" + more + "); name one that is new";
}

// `path`: of the file that was found; empty: there is none.
base::Result<Settings> FileSettings(const Request& request, const std::string& path, const Settings& named,
                                    const source::FileSystem& files) {
  if (path.empty()) return named;
  base::Result<Settings> found = ReadSettings(path, Shown(path, request.working_directory), files);
  if (!found) return found;
  if (const std::string problem = Trespasses(*found, request, files); !problem.empty()) return base::Fail(problem);
  return Merge(std::move(*found), named);
}

// Sets which rules of `out` run; its settings are there. Returns what is wrong; empty: nothing.
std::string ChooseRules(const Settings& in_files, const Settings& above, Resolved& out) {
  std::vector<RuleChoice> choices{RulesOf(in_files), RulesOf(above)};
  choices.back().origin = "--select or --ignore";
  base::Result<std::vector<const rules::Rule*>> rules = SelectRules(choices, out.settings.preview);
  if (!rules) return rules.error().message;
  out.rules = std::move(*rules);
  std::erase_if(out.rules, [&](const rules::Rule* rule) { return IsOff(*rule, out.settings.severity); });
  std::ranges::copy_if(out.rules, std::back_inserter(out.without_previews),
                       [&](const rules::Rule* rule) { return HidesPreviews(*rule, choices, out.settings.preview); });
  return {};
}

base::Result<std::string> CheckedRoot(const Settings& settings, const std::string& working_directory,
                                      const source::FileSystem& files) {
  const std::string& root = settings.root;
  const std::string hint = "; name a folder that exists (" + settings.origins.at("root") + ")";
  const base::Result<source::EntryKind> kind = files.Kind(root);
  if (!kind) return base::Fail(kind.error().message + hint);
  if (*kind != source::EntryKind::Directory) return base::Fail(root + ": not a folder" + hint);
  return (fs::path(working_directory) / root).lexically_normal().string();
}

}  // namespace

base::Result<Resolved> Resolve(const Request& request, const source::FileSystem& files) {
  Resolved out;
  out.root = FindRoot(request.paths, request.working_directory, files);
  // A root that is given says where the search for a configuration ends.
  if (request.above.Has("root")) {
    base::Result<std::string> root = CheckedRoot(request.above, request.working_directory, files);
    if (!root) return base::Fail(root.error().message);
    out.root = *root;
  }
  const base::Result<Settings> named = NamedSettings(request, files);
  if (!named) return base::Fail(named.error().message);
  out.is_searched = named->file.empty() && !request.isolated;
  const std::string found = out.is_searched ? FindConfig(request.paths, out.root, request.working_directory, files) : "";
  const base::Result<Settings> in_files = FileSettings(request, found, *named, files);
  if (!in_files) return base::Fail(in_files.error().message);
  out.brings_baseline = in_files->Has("baseline") && !named->Has("baseline") && !request.above.Has("baseline");
  out.settings = Merge(*in_files, request.above);
  if (out.settings.Has("root") && !out.settings.root.empty()) {
    base::Result<std::string> root = CheckedRoot(out.settings, request.working_directory, files);
    if (!root) return base::Fail(root.error().message);
    out.root = *root;
  }
  if (const std::string problem = ChooseRules(*in_files, request.above, out); !problem.empty()) return base::Fail(problem);
  if (out.rules.empty()) {
    return base::Fail(out.settings.preview ? "no rules left to run; select at least one, see `allranks rule --all`"
                                           : "no rules left to run; those in preview need --preview, see `allranks rule --all`");
  }
  return out;
}

base::Result<Resolved> ResolveNested(const Request& request, const std::string& root, const std::string& path,
                                     const source::FileSystem& files) {
  const base::Result<Settings> named = NamedSettings(request, files);
  if (!named) return base::Fail(named.error().message);
  const base::Result<Settings> in_files = FileSettings(request, path, *named, files);
  if (!in_files) return base::Fail(in_files.error().message);
  Resolved out{.root = root, .settings = Merge(*in_files, request.above), .rules = {}, .without_previews = {}, .is_searched = true};
  if (const std::string problem = ChooseRules(*in_files, request.above, out); !problem.empty()) return base::Fail(problem);
  return out;
}

}  // namespace allranks::config
