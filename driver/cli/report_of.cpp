#include "driver/cli/report_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/source/notebook_json.h"
#include "driver/cli/commands.h"
#include "driver/cli/known.h"
#include "driver/cli/left_out.h"
#include "driver/cli/terminal.h"
#include "driver/cli/wording.h"
#include "driver/config/project.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/policy.h"

namespace allranks::cli {
namespace {

// What the findings that a user sees tell of: lines that they name, and the files of those.
struct Told {
  std::set<std::pair<std::string_view, uint32_t>> lines;  // from one
  std::set<std::string_view> files;

  void Add(std::string_view path, uint32_t line) {
    lines.emplace(path, line);
    files.insert(path);
  }
};

uint32_t LineOf(const source::SourceFile& file, uint32_t position) { return source::Locate(file, position).line + 1; }

void AddPlacesOf(const findings::Finding& finding, const pipeline::Output& out, Told& told) {
  const auto add = [&](source::Span span) {
    if (span.file) told.Add(out.files[span.file].path, LineOf(out.files[span.file], span.begin));
  };
  add(finding.span);
  for (const findings::Label& label : finding.labels) add(label.span);
  if (!finding.witness) return;
  for (const std::vector<witness::Op>& ops : finding.witness->ops) {
    for (const witness::Op& op : ops) told.Add(op.at.uri, op.at.line);
  }
}

// A difference that is less sure than what is shown leaves its site undecided: neither flagged nor aligned.
// So does one in a file of which no finding tells: its rule was not asked for there, or judged it less sure.
reports::Site SiteOf(const traces::LedgerEntry& entry, const source::SourceFile& file, const pipeline::Policy& policy, const Hidden& hidden, const Told& told) {
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
      const bool is_named = told.lines.contains({file.path, LineOf(file, entry.span.begin)}) && confidence >= policy.least;
      // One that no finding names may be one of those that the findings of its file sum up, and not of those that are held back.
      const bool may_be_held_back = hidden.files_with_previews.contains(entry.span.file.index);
      const bool is_summed_up = confidence >= (may_be_held_back ? findings::Confidence::Certain : policy.least);
      if (is_named || (is_summed_up && told.files.contains(file.path))) site.verdict = reports::Verdict::Flagged;
      else if (is_summed_up) site.reason = "difference that no finding tells of";
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

// What is too large for a bound of the analysis; bounds that the user gave are named one by one.
std::string LargeText(const pipeline::Output& out) {
  std::set<std::pair<uint32_t, uint32_t>> functions;
  std::set<uint32_t> files;
  for (const findings::Finding& finding : out.limits) {
    if (finding.confidence != findings::Confidence::Possible) continue;
    functions.emplace(finding.span.file.index, finding.span.begin);
    files.insert(finding.span.file.index);
  }
  if (functions.empty()) return {};
  return fmt::format("Not analysed to the end, as too large: {} in {}. `--min-confidence possible` shows {}.", Counted(functions.size(), "function"),
                     Counted(files.size(), "file"), functions.size() == 1 ? "it" : "them");
}

std::vector<std::string> NotesOf(const pipeline::Options& options, const pipeline::Output& out, const pipeline::PathMap& paths, bool verbose) {
  std::vector<std::string> notes = LeftOutNotes({out.left_out, out.knows_tracked}, paths, verbose);
  if (out.unread_importers > 0) {
    notes.push_back(fmt::format("Not read: {} that import{} what was read here. A run over the whole project may find something else.",
                                Counted(out.unread_importers, "file"), out.unread_importers == 1 ? "s" : ""));
  }
  if (!options.not_used.empty()) {
    notes.push_back(fmt::format("Not used: {}. All files of a run share these settings; run allranks in that folder to use its own.", FirstOf(options.not_used)));
  }
  if (out.read_in_part > 0) {
    notes.push_back(fmt::format("Read in part: {} of C, C++ or CUDA, as no compile_commands.json lists {}. Let your build write one, or see docs/cpp.md; "
                                "`--min-confidence possible` shows where.", Counted(out.read_in_part, "file"), out.read_in_part == 1 ? "it" : "them"));
  }
  if (const std::string large = LargeText(out); !large.empty()) notes.push_back(large);
  if (!out.index_problem.empty()) {
    notes.push_back(fmt::format("What git tracks is not known ({}): all that .gitignore names is left out.", out.index_problem));
  }
  return notes;
}

std::string HiddenText(std::string_view kind, std::string_view which, size_t count, std::string_view option) {
  return fmt::format("{}: {} finding{}. `{}` shows {}.", kind, which, count == 1 ? "" : "s", option, count == 1 ? "it" : "them");
}

// What --min-confidence and the want of --preview keep back, one line each.
std::vector<std::string> HiddenTexts(const Hidden& hidden) {
  std::vector<std::string> texts;
  std::string which = hidden.likely > 0 ? std::to_string(hidden.likely) + " likely" : "";
  if (hidden.possible > 0) which += (which.empty() ? "" : " and ") + std::to_string(hidden.possible) + " possible";
  if (!which.empty()) {
    texts.push_back(HiddenText("Hidden", which, hidden.likely + hidden.possible, hidden.possible > 0 ? "--min-confidence possible" : "--min-confidence likely"));
  }
  if (hidden.in_preview > 0) texts.push_back(HiddenText("In preview", std::to_string(hidden.in_preview), hidden.in_preview, "--preview"));
  return texts;
}

// "train.py:12: `f` was not analysed to its end: trace of more than 10000 operations"
std::vector<std::string> LimitsOf(const pipeline::Output& out) {
  std::vector<std::string> limits;
  for (const findings::Finding& finding : out.limits) {
    const source::SourceFile& file = out.files[finding.span.file];
    const uint32_t line = LineOf(file, finding.span.begin);
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
  // The summary says what was left out as generated.
  const bool is_generated = std::ranges::find(out.left_out, pipeline::LeftOut::Generated, &pipeline::LeftOutPath::why) != out.left_out.end();
  if (out.files_requested > 0 || out.files_excluded > 0 || !out.errors.empty() || is_generated) return {};
  const std::string where = arguments.paths.empty() ? "." : arguments.paths[0];
  return "no Python, C or C++ files in " + where + "; name a path with such files, or see with --show-files what .gitignore and `exclude` leave";
}

std::string CutShort(const CheckArguments& arguments, const pipeline::Output& out) {
  // What a run leaves that was ended is said by itself.
  if (out.cut_files.empty() || !out.stopped_in.empty()) return {};
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> given;
  if (arguments.timeout > 0) given.push_back(fmt::format("--timeout {}", arguments.timeout));
  if (arguments.timeout_per_file > 0) given.push_back(fmt::format("--timeout-per-file {}", arguments.timeout_per_file));
  if (arguments.max_memory > 0) given.push_back(fmt::format("--max-memory {}", arguments.max_memory));
  if (arguments.max_memory_per_file > 0) given.push_back(fmt::format("--max-memory-per-file {}", arguments.max_memory_per_file));
  const std::string why = given.empty() ? "a bound that was reached" : fmt::format("{}", fmt::join(given, " or "));
  return fmt::format("not analysed to the end because of {}: {}; AR003 says where", why, FirstOf(out.cut_files, kMostNamed));
}

reports::Report ReportOf(const CheckArguments& arguments, const pipeline::Options& options, const pipeline::Output& out, const Known& known,
                         const source::FileSystem& files) {
  reports::Report report{.files = out.files, .findings = out.findings, .ledger = {}, .errors = ErrorsOf(out),
                         .files_checked = out.files_requested, .suppressed = out.suppressed, .known = {}, .verdicts = {},
                         .version = Version(), .repository_path = {}};
  const pipeline::PathMap project(options.root, options.working_directory);
  Told told;
  for (const findings::Finding& finding : out.findings) AddPlacesOf(finding, out, told);
  for (const findings::Suppressed& suppressed : out.suppressed) AddPlacesOf(suppressed.finding, out, told);
  for (const findings::Finding& finding : known.findings()) AddPlacesOf(finding, out, told);
  for (const traces::LedgerEntry& entry : out.ledger) {
    const source::SourceFile& file = out.files[entry.span.file];
    report.ledger.push_back(SiteOf(entry, file, options.policies.Of(project.Relative(file.path)), known.hidden(), told));
  }
  report.known = known.findings();
  report.has_baseline = known.compares();
  report.notes = NotesOf(options, out, project, arguments.verbose);
  const std::vector<std::string> hidden = HiddenTexts(known.hidden());
  report.notes.insert(report.notes.begin(), hidden.begin(), hidden.end());
  report.limits = LimitsOf(out);
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
