#include "driver/cli/report_of.h"

#include "driver/cli/commands.h"
#include "driver/cli/terminal.h"
#include "driver/config/project.h"
#include "driver/pipeline/paths.h"

namespace allranks::cli {
namespace {

reports::Verdict VerdictOf(traces::SiteVerdict verdict) {
  switch (verdict) {
    case traces::SiteVerdict::Aligned: return reports::Verdict::Aligned;
    case traces::SiteVerdict::Flagged: return reports::Verdict::Flagged;
    case traces::SiteVerdict::Unknown: return reports::Verdict::Unknown;
  }
  return reports::Verdict::Unknown;
}

// What could not be done, one line each.
std::vector<std::string> ErrorsOf(const CheckArguments& arguments, const pipeline::Output& out) {
  std::vector<std::string> errors;
  for (const pipeline::PathError& error : out.errors) errors.push_back(error.message);
  if (out.files_requested > 0 || out.files_excluded > 0 || !errors.empty()) return errors;
  const std::string where = arguments.paths.empty() ? "." : arguments.paths[0];
  errors.push_back("no Python, C or C++ files in " + where + "; name a path with such files, or see what .gitignore and `exclude` leave with --show-files");
  return errors;
}

}  // namespace

reports::Report ReportOf(const CheckArguments& arguments, const config::Resolved& resolved, const pipeline::Output& out,
                         const source::FileSystem& files) {
  reports::Report report{.files = out.files, .findings = out.findings, .ledger = {}, .errors = ErrorsOf(arguments, out),
                         .files_checked = out.files_requested, .suppressed = out.suppressed, .known = {}, .verdicts = {},
                         .version = Version(), .repository_path = {}};
  for (const traces::LedgerEntry& entry : out.ledger) {
    report.ledger.push_back({entry.span, entry.name, VerdictOf(entry.verdict), entry.reason});
  }
  if (!arguments.sarif_category.empty()) report.category = arguments.sarif_category + "/";
  const pipeline::PathMap paths(config::FindRepository(resolved.root, WorkingDirectory(), files), WorkingDirectory());
  report.repository_path = [paths](std::string_view shown) { return paths.Relative(shown); };
  return report;
}

}  // namespace allranks::cli
