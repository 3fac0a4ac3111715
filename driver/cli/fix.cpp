#include "driver/cli/fix.h"

#include <algorithm>

#include "driver/cli/memory_guard.h"
#include "driver/fixes/diff.h"
#include "driver/fixes/replace_file.h"
#include "driver/pipeline/paths.h"
#include "driver/reports/place.h"

namespace allranks::cli {
namespace {

// A fix may uncover another finding; each round ends with fewer fixes to make, unless two undo one another.
constexpr int kMostRounds = 8;

void AddNew(std::vector<std::string>& to, std::vector<std::string> from) {
  for (std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
  }
}

// Where the bytes lie decides, not the name: a link may lead out of the project. Texts without a file go by their name.
bool IsOfProject(const std::string& path, const pipeline::PathMap& paths, const source::FileSystem& files) {
  const base::Result<std::string> root = files.Canonical(paths.Shown(""));
  const base::Result<std::string> target = files.Canonical(path);
  if (root && target) return pipeline::IsInside(*target, *root);
  return !paths.Relative(path).starts_with("/");
}

void DropFilesOutside(const pipeline::Options& options, const source::FileSystem& files, fixes::Application& application, Fixed& fixed) {
  const pipeline::PathMap paths(options.root, options.working_directory);
  std::erase_if(application.texts, [&](const auto& item) {
    const bool is_inside = IsOfProject(item.first, paths, files);
    if (!is_inside) AddNew(fixed.errors, {fixes::LiesOutside(item.first)});
    return !is_inside;
  });
  std::erase_if(application.applied,
                [&](const fixes::AppliedFix& fix) { return !application.texts.contains(fix.path); });
}

bool HasUnsafeFix(const findings::Finding& finding) {
  return std::ranges::any_of(finding.fixes, [](const findings::Fix& fix) {
    return fix.applicability == findings::Applicability::Unsafe && !fix.edits.empty();
  });
}

struct ToFix {
  std::span<const findings::Finding> findings;
  findings::Applicability least;
};

// Applies fixes in memory and checks again. False: nothing was left to apply.
base::Result<bool> Round(const ToFix& what, pipeline::Options& options, const source::FileSystem& files,
                         pipeline::Output& out, const std::function<void(pipeline::Output&)>& keep, Fixed& fixed) {
  const auto bytes_of = [&](const std::string& path) -> base::Result<std::string> {
    const auto overlay = options.overlays.find(path);
    return overlay != options.overlays.end() ? base::Result<std::string>(overlay->second) : files.Read(path);
  };
  fixes::Application application = fixes::ApplyFixes(out.files, what.findings, what.least, bytes_of);
  AddNew(fixed.errors, std::move(application.refused));
  DropFilesOutside(options, files, application, fixed);
  if (application.texts.empty()) return false;
  for (const source::SourceFile& file : out.files) {
    if (!application.texts.contains(file.path)) continue;
    fixed.before.try_emplace(file.path, file.is_notebook() ? bytes_of(file.path).value_or("") : fixes::BytesOf(file));
  }
  for (auto& [path, text] : application.texts) {
    fixed.after[path] = text;
    options.overlays[path] = std::move(text);
  }
  for (fixes::AppliedFix& fix : application.applied) fixed.applied.push_back(std::move(fix));
  base::Result<pipeline::Output> next = pipeline::Run(options, files);
  if (!next) return base::Fail(next.error().message);
  fixed.stopped_in = next->stopped_in;
  if (!fixed.stopped_in.empty()) return false;
  // A report is about the files as they are left: as they were, if the time is over before all is fixed.
  if (!fixed.unfixed) fixed.unfixed = std::make_shared<pipeline::Output>(std::move(out));
  out = std::move(*next);
  keep(out);
  return true;
}

}  // namespace

base::Result<Fixed> FixAll(const CheckArguments& arguments, pipeline::Options options, const source::FileSystem& files,
                           pipeline::Output& out, const std::function<void(pipeline::Output&)>& keep) {
  using findings::Applicability;
  const Applicability least = arguments.unsafe_fixes ? Applicability::Unsafe : Applicability::Safe;
  Fixed fixed;
  for (int round = 0; round < kMostRounds; ++round) {
    const base::Result<bool> changed = Round({out.findings, least}, options, files, out, keep, fixed);
    if (!changed) return base::Fail(changed.error().message);
    if (!*changed) break;
  }
  if (least == Applicability::Safe) fixed.unsafe_left = static_cast<size_t>(std::ranges::count_if(out.findings, HasUnsafeFix));
  return fixed;
}

base::Result<Fixed> FixRound(const std::vector<findings::Finding>& findings, pipeline::Options options,
                             const source::FileSystem& files, pipeline::Output& out,
                             const std::function<void(pipeline::Output&)>& keep) {
  Fixed fixed;
  const base::Result<bool> changed = Round({findings, findings::Applicability::Safe}, options, files, out, keep, fixed);
  if (!changed) return base::Fail(changed.error().message);
  return fixed;
}

void WriteFixed(const pipeline::Options& options, Fixed& fixed) {
  const std::string root = pipeline::PathMap(options.root, options.working_directory).Shown("");
  const MemoryGuard::Writing writing;
  for (const auto& [path, text] : fixed.after) {
    if (path == fixed.input) continue;
    const base::Result<bool> written = fixes::ReplaceFile(root, path, fixed.before.at(path), text);
    if (written) continue;
    fixed.errors.push_back(written.error().message);
    std::erase_if(fixed.applied, [&](const fixes::AppliedFix& fix) { return fix.path == path; });
  }
}

std::string UnsafeText(const Fixed& fixed) {
  if (fixed.unsafe_left == 0) return {};
  return std::to_string(fixed.unsafe_left) + (fixed.applied.empty() ? "" : " more") + " can be fixed with `--unsafe-fixes`.\n";
}

std::string FixedText(const Fixed& fixed, bool each) {
  if (fixed.applied.empty()) return UnsafeText(fixed);
  std::string out;
  std::vector<std::string> paths;
  for (const fixes::AppliedFix& fix : fixed.applied) {
    if (std::ranges::find(paths, fix.path) == paths.end()) paths.push_back(fix.path);
    if (each) out += reports::OneLine(fix.path + ":" + std::to_string(fix.line) + ": " + fix.code + " " + fix.title) + "\n";
  }
  const auto counted = [](size_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
  };
  return out + fixed.done + " " + counted(fixed.applied.size(), fixed.what, fixed.what + "s") + " in " +
         counted(paths.size(), "file", "files") + ".\n" + UnsafeText(fixed);
}

std::string DiffText(const Fixed& fixed) {
  std::string out;
  for (const auto& [path, text] : fixed.after) out += fixes::UnifiedDiff(path, fixed.before.at(path), text);
  return out;
}

}  // namespace allranks::cli
