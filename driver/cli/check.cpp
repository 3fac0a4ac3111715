// `allranks check`: arguments and configuration to options, one run, one report.
#include <algorithm>

#include "driver/cli/add_ignore.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/fix.h"
#include "driver/cli/outputs.h"
#include "driver/cli/profile.h"
#include "driver/cli/progress.h"
#include "driver/cli/report_of.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/config/option_table.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::string_view kStandardInputName = "<stdin>";

findings::Confidence LeastConfidence(const std::string& name) {
  if (name == "possible") return findings::Confidence::Possible;
  return name == "certain" ? findings::Confidence::Certain : findings::Confidence::Likely;
}

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

}  // namespace

int RunCheck(const CheckArguments& arguments) {
  const source::RealFileSystem files;
  const base::Result<config::Resolved> resolved = ResolvedOf(arguments, files);
  if (!resolved) {
    PrintError(resolved.error().message);
    return kExitError;
  }
  const config::Settings& settings = resolved->settings;
  if (arguments.show_settings) return ShowSettings(*resolved);
  pipeline::Options options = OptionsOf(arguments, *resolved);
  ReadInput(arguments, options);
  if (arguments.show_files) return ShowFiles(options, files);

  const base::Result<std::vector<OutputPlace>> outputs = OutputsOf(arguments, settings);
  if (!outputs) {
    PrintError(outputs.error().message);
    return kExitError;
  }

  ProgressLine progress;
  options.progress = progress.Callback();
  base::Result<pipeline::Output> out = pipeline::Run(options, files);
  progress.Clear();
  if (!out) {
    PrintError(out.error().message);
    return kExitError;
  }
  const findings::Confidence least = LeastConfidence(settings.min_confidence);
  const auto keep = [&](pipeline::Output& output) {
    std::erase_if(output.findings, [&](const findings::Finding& finding) { return finding.confidence < least; });
  };
  keep(*out);
  Fixed fixed;
  if (arguments.fix || arguments.unsafe_fixes || arguments.diff || arguments.show_fixes) {
    options.progress = {};
    base::Result<Fixed> result = FixAll(arguments, options, files, *out, keep);
    if (!result) {
      PrintError(result.error().message);
      return kExitError;
    }
    fixed = std::move(*result);
    if (arguments.diff) return ShowDiff(arguments, fixed);
    WriteFixed(fixed);
  }
  if (!arguments.add_ignore.empty()) {
    base::Result<Fixed> result = AddIgnores(arguments.add_ignore, options, files, *out, keep);
    if (!result) {
      PrintError(result.error().message);
      return kExitError;
    }
    fixed = std::move(*result);
    WriteFixed(fixed);
  }

  reports::Report report = ReportOf(arguments, *resolved, *out, files);
  report.errors.insert(report.errors.end(), fixed.errors.begin(), fixed.errors.end());
  for (const std::string& error : report.errors) PrintError(error);
  const bool delivered = Deliver(arguments, *outputs, report);
  if (!arguments.quiet) WriteErr(FixedText(fixed, arguments.show_fixes));
  if (arguments.profile) WriteErr(ProfileText(*out));
  if (!delivered || !report.errors.empty()) return kExitError;
  return arguments.exit_zero || !Fails(settings.fail_on, out->findings) ? kExitClean : kExitFindings;
}

}  // namespace allranks::cli
