#include "driver/cli/report_of.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/source/notebook_json.h"
#include "driver/cli/commands.h"
#include "driver/cli/known.h"
#include "driver/cli/terminal.h"
#include "driver/config/project.h"
#include "driver/pipeline/paths.h"

namespace allranks::cli {
namespace {

// A difference that is less sure than what is shown leaves its site undecided: neither flagged nor aligned.
reports::Site SiteOf(const traces::LedgerEntry& entry, findings::Confidence least) {
  reports::Site site{entry.span, entry.name, reports::Verdict::Unknown, entry.reason, entry.assumptions};
  switch (entry.verdict) {
    case traces::SiteVerdict::Proven:
      site.verdict = reports::Verdict::Proven;
      break;
    case traces::SiteVerdict::Aligned:
      site.verdict = reports::Verdict::Aligned;
      break;
    case traces::SiteVerdict::Differs: {
      const findings::Confidence confidence = findings::ConfidenceOf(entry.assumptions);
      if (confidence >= least) site.verdict = reports::Verdict::Flagged;
      else site.reason = std::string(findings::ToString(confidence)) + " difference, which is not shown";
      break;
    }
    case traces::SiteVerdict::Unknown:
      break;
  }
  return site;
}

// What could not be done, one line each.
std::vector<std::string> ErrorsOf(const pipeline::Output& out) {
  std::vector<std::string> errors;
  for (const pipeline::PathError& error : out.errors) errors.push_back(error.message);
  return errors;
}

std::string Counted(size_t count, std::string_view one) { return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s"); }

std::string_view WhyLeftOut(pipeline::LeftOut why) {
  switch (why) {
    case pipeline::LeftOut::Submodule: return "another repository";
    case pipeline::LeftOut::Vendored: return "a copy of somebody else's code";
    case pipeline::LeftOut::Built: return "made by a build";
    case pipeline::LeftOut::Installed:
    case pipeline::LeftOut::Ignored: break;
  }
  return {};
}

// "a, b, c and 2 more"
std::string Named(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 4;
  std::string named;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) named += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMostNamed ? fmt::format("{} and {} more", named, names.size() - kMostNamed) : named;
}

// What was found and not checked, and what to do who wants it checked.
void AddLeftOut(const pipeline::Output& out, const pipeline::PathMap& paths, std::vector<std::string>& notes) {
  size_t ignored_files = 0, folders = 0;
  std::vector<std::string> installed, others;
  for (const pipeline::LeftOutPath& each : out.left_out) {
    const std::string shown = paths.Shown(each.path);
    if (each.why == pipeline::LeftOut::Ignored) ++(each.is_folder ? folders : ignored_files);
    else if (each.why == pipeline::LeftOut::Installed) installed.push_back(shown);
    else others.push_back(fmt::format("{} ({})", shown, WhyLeftOut(each.why)));
  }
  if (ignored_files + folders > 0) {
    std::string what = ignored_files > 0 ? Counted(ignored_files, "file") : "";
    if (folders > 0) what += (what.empty() ? "" : " and ") + Counted(folders, "folder");
    notes.push_back(fmt::format("Left out: {} that .gitignore names and git does not track.", what));
  }
  if (!installed.empty()) notes.push_back(fmt::format("Not read, as installed packages: {}. Give the path of one to check it.", Named(installed)));
  if (!others.empty()) notes.push_back(fmt::format("Read, but not checked: {}. Give the path of one to check it.", Named(others)));
}

std::vector<std::string> NotesOf(const pipeline::Options& options, const pipeline::Output& out, const pipeline::PathMap& paths) {
  std::vector<std::string> notes;
  AddLeftOut(out, paths, notes);
  if (!options.not_used.empty()) {
    notes.push_back(fmt::format("Not used: {}. All files of a run share these settings; run allranks in that folder to use its own.", Named(options.not_used)));
  }
  if (out.read_in_part > 0) {
    notes.push_back(fmt::format("Read in part: {} of C, C++ or CUDA, as no compile_commands.json lists {}. Let your build write one, or see docs/cpp.md; "
                                "`--min-confidence possible` shows where.", Counted(out.read_in_part, "file"), out.read_in_part == 1 ? "it" : "them"));
  }
  if (!out.index_problem.empty()) {
    notes.push_back(fmt::format("What git tracks is not known ({}): all that .gitignore names is left out.", out.index_problem));
  }
  return notes;
}

// "train.py:12: `f` was not analysed to its end: trace of more than 10000 operations"
std::vector<std::string> LimitsOf(const pipeline::Output& out) {
  std::vector<std::string> limits;
  for (const findings::Finding& finding : out.limits) {
    const source::SourceFile& file = out.files[finding.span.file];
    const uint32_t line = source::Locate(file, finding.span.begin).line + 1;
    limits.push_back(fmt::format("{}:{}: {}", file.path, line, findings::Render(finding.message)));
  }
  return limits;
}

// Where the lines of a notebook stand in its file, unless that has changed since.
void NoteNotebook(source::FileId id, const source::FileSystem& files, reports::Report& report) {
  const source::SourceFile& file = report.files[id];
  if (!file.is_notebook() || report.notebook_lines.contains(id)) return;
  const base::Result<std::string> json = files.Read(file.path);
  const base::Result<source::SourceFile> now = json ? source::MakeSourceFile(file.path, *json) : base::Fail("");
  if (now && now->text == file.text) report.notebook_lines[id] = source::LinesInJson(*json);
}

}  // namespace

std::string NothingChecked(const CheckArguments& arguments, const pipeline::Output& out) {
  if (out.files_requested > 0 || out.files_excluded > 0 || !out.errors.empty()) return {};
  const std::string where = arguments.paths.empty() ? "." : arguments.paths[0];
  return "no Python, C or C++ files in " + where + "; name a path with such files, or see with --show-files what .gitignore and `exclude` leave";
}

std::string CutShort(const CheckArguments& arguments, const pipeline::Output& out) {
  if (out.cut_files.empty()) return {};
  constexpr size_t kMostNamed = 3;
  std::string named;
  for (size_t i = 0; i < out.cut_files.size() && i < kMostNamed; ++i) named += (i == 0 ? "" : ", ") + out.cut_files[i];
  if (out.cut_files.size() > kMostNamed) named += fmt::format(" and {} more", out.cut_files.size() - kMostNamed);
  const std::string why = arguments.max_memory == 0         ? fmt::format("--timeout-per-file {}", arguments.timeout_per_file)
                          : arguments.timeout_per_file == 0 ? fmt::format("--max-memory {}", arguments.max_memory)
                                                            : "--timeout-per-file or --max-memory";
  return fmt::format("not analysed to the end because of {}: {}; AR003 says where", why, named);
}

reports::Report ReportOf(const CheckArguments& arguments, const pipeline::Options& options, const pipeline::Output& out,
                         const source::FileSystem& files) {
  reports::Report report{.files = out.files, .findings = out.findings, .ledger = {}, .errors = ErrorsOf(out),
                         .files_checked = out.files_requested, .suppressed = out.suppressed, .known = {}, .verdicts = {},
                         .version = Version(), .repository_path = {}};
  const pipeline::PathMap project(options.root, options.working_directory);
  for (const traces::LedgerEntry& entry : out.ledger) {
    report.ledger.push_back(SiteOf(entry, options.policies.Of(project.Relative(out.files[entry.span.file].path)).least));
  }
  report.limits = LimitsOf(out);
  report.notes = NotesOf(options, out, project);
  for (const std::string& what : arguments.sarif_include) {
    (what == "known" ? report.sarif_known : report.sarif_suppressed) = true;
  }
  if (!arguments.sarif_category.empty()) report.category = arguments.sarif_category + "/";
  const pipeline::PathMap paths(config::FindRepository(options.root, WorkingDirectory(), files), WorkingDirectory());
  report.repository_path = [paths](std::string_view shown) { return paths.Relative(shown); };
  for (const findings::Finding& finding : out.findings) NoteNotebook(finding.span.file, files, report);
  return report;
}

}  // namespace allranks::cli
