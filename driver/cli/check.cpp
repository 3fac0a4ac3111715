// `allranks check`: arguments and configuration to options, one run, one report.
#include <algorithm>

#include "driver/cli/add_ignore.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/fix.h"
#include "driver/cli/known.h"
#include "driver/cli/outputs.h"
#include "driver/cli/profile.h"
#include "driver/cli/progress.h"
#include "driver/cli/report_of.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/cli/verdicts.h"
#include "driver/config/option_table.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::string_view kStandardInputName = "<stdin>";

// Whether a finding is severe enough to make the exit code 1.
bool Fails(const std::string& fail_on, const std::vector<findings::Finding>& findings) {
  if (fail_on == "never") return false;
  const findings::Severity least = fail_on == "error"     ? findings::Severity::Error
                                   : fail_on == "warning" ? findings::Severity::Warning
                                                          : findings::Severity::Info;
  return std::ranges::any_of(findings, [&](const findings::Finding& finding) { return finding.severity >= least; });
}

// TOML that could be put into a configuration file as it is.
int ShowSettings(const config::Resolved& resolved) {
  std::string out = "# project: " + resolved.root + "\n# configuration: " +
                    (resolved.settings.file.empty() ? "none" : resolved.settings.file) + "\n# rules that run:";
  for (const rules::Rule* rule : resolved.rules) out += " " + std::string(rule->code);
  out += "\n" + config::SettingsText(resolved.settings);
  return WriteOut(out) ? kExitClean : kExitError;
}

// `-` among the paths: the standard input takes the place of the file it is named after.
void ReadInput(const CheckArguments& arguments, pipeline::Options& options) {
  for (std::string& path : options.paths) {
    if (path != kStandardInput) continue;
    path = arguments.stdin_filename.empty() ? std::string(kStandardInputName) : arguments.stdin_filename;
    options.overlays.emplace(path, ReadStandardInput());
  }
}

int ShowFiles(const pipeline::Options& options, const source::FileSystem& files) {
  const pipeline::PathMap paths(options.root, options.working_directory);
  const pipeline::ProjectFiles project = pipeline::Enumerate(pipeline::FilesOf(options), paths, files);
  std::string list;
  for (size_t i = 0; i < project.all.size(); ++i) {
    if (project.requested[i]) list += paths.Shown(project.all[i]) + "\n";
  }
  for (const pipeline::PathError& error : project.errors) PrintError(error.message);
  return WriteOut(list) && project.errors.empty() ? kExitClean : kExitError;
}

// Only what would change; what remains to be done by hand is said by a run without --diff.
int ShowDiff(const CheckArguments& arguments, const Fixed& fixed) {
  for (const std::string& error : fixed.errors) PrintError(error);
  const std::string diff = DiffText(fixed);
  if (!WriteOut(diff) || !fixed.errors.empty()) return kExitError;
  return diff.empty() || arguments.exit_zero ? kExitClean : kExitFindings;
}

int Fail(const base::Error& error) {
  PrintError(error.message);
  return kExitError;
}

// What --fix and --add-ignore do to files; `out` is what is found afterwards.
base::Result<Fixed> Change(const CheckArguments& arguments, const pipeline::Options& options, const source::FileSystem& files,
                           Known& known, pipeline::Output& out) {
  const auto keep = [&](pipeline::Output& output) { known.Keep(output); };
  base::Result<Fixed> fixed = Fixed();
  if (arguments.fix || arguments.unsafe_fixes || arguments.diff || arguments.show_fixes) {
    fixed = FixAll(arguments, options, files, out, keep);
  } else if (!arguments.add_ignore.empty()) {
    fixed = AddIgnores(arguments.add_ignore, options, files, out, keep);
  }
  if (fixed && !arguments.diff) WriteFixed(*fixed);
  return fixed;
}

}  // namespace

int RunCheck(const CheckArguments& arguments) {
  const source::RealFileSystem files;
  const base::Result<config::Resolved> resolved = ResolvedOf(arguments, files);
  if (!resolved) return Fail(resolved.error());
  const config::Settings& settings = resolved->settings;
  if (arguments.show_settings) return ShowSettings(*resolved);
  pipeline::Options options = OptionsOf(arguments, *resolved);
  ReadInput(arguments, options);
  if (arguments.show_files) return ShowFiles(options, files);

  const base::Result<std::vector<OutputPlace>> outputs = OutputsOf(arguments, settings);
  if (!outputs) return Fail(outputs.error());
  base::Result<std::map<std::string, std::string>> verdicts;
  if (!arguments.verdicts.empty()) verdicts = ReadVerdicts(arguments.verdicts, files);
  if (!verdicts) return Fail(verdicts.error());
  base::Result<Known> known = Known::Load(arguments, *resolved, options, files);
  if (!known) return Fail(known.error());

  ProgressLine progress;
  options.progress = progress.Callback();
  base::Result<pipeline::Output> out = pipeline::Run(options, files);
  progress.Clear();
  options.progress = {};
  if (!out) return Fail(out.error());
  known->Keep(*out);
  const base::Result<Fixed> fixed = Change(arguments, options, files, *known, *out);
  if (!fixed) return Fail(fixed.error());
  if (arguments.diff) return ShowDiff(arguments, *fixed);
  const base::Result<std::string> said = arguments.update_baseline ? known->Update(*out) : known->Shrink(*out);
  if (!said) return Fail(said.error());

  reports::Report report = ReportOf(arguments, *resolved, *out, files);
  report.verdicts = std::move(*verdicts);
  report.known = known->findings();
  report.has_baseline = known->compares();
  report.errors.insert(report.errors.end(), fixed->errors.begin(), fixed->errors.end());
  for (const std::string& error : report.errors) PrintError(error);
  const bool delivered = Deliver(arguments, *outputs, report);
  if (!arguments.quiet) WriteErr(FixedText(*fixed, arguments.show_fixes) + *said);
  if (arguments.profile) WriteErr(ProfileText(*out));
  if (!delivered || !report.errors.empty()) return kExitError;
  return arguments.exit_zero || !Fails(settings.fail_on, out->findings) ? kExitClean : kExitFindings;
}

}  // namespace allranks::cli
