// `allranks check`: arguments and configuration to options, one run, one report.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include "driver/cli/add_ignore.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/fix.h"
#include "driver/cli/fold_copies.h"
#include "driver/cli/interrupt.h"
#include "driver/cli/known.h"
#include "driver/cli/left_out.h"
#include "driver/cli/memory_guard.h"
#include "driver/cli/outputs.h"
#include "driver/cli/profile.h"
#include "driver/cli/progress.h"
#include "driver/cli/provenance.h"
#include "driver/cli/report_of.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/cli/verdicts.h"
#include "driver/cli/verify_findings.h"
#include "driver/config/option_table.h"
#include "driver/config/project.h"
#include "driver/pipeline/generated.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/pipeline.h"
#include "driver/reports/place.h"
#include "driver/reports/secrets.h"

namespace allranks::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
constexpr std::string_view kStandardInputName = "<stdin>";

// Whether a finding is severe enough to make the exit code 1.
bool Fails(const std::string& fail_on, findings::Severity severity) {
  if (fail_on == "never") return false;
  const findings::Severity least = fail_on == "error"     ? findings::Severity::Error
                                   : fail_on == "warning" ? findings::Severity::Warning
                                                          : findings::Severity::Info;
  return severity >= least;
}
bool FailsAny(const pipeline::Options& options, const pipeline::Output& out) {
  const pipeline::PathMap paths(options.root, options.working_directory);
  return std::ranges::any_of(out.findings, [&](const findings::Finding& finding) {
    return Fails(options.policies.Of(paths.Relative(out.files[finding.span.file].path)).fail_on, finding.severity);
  });
}

// TOML that could be put into a configuration file as it is.
int ShowSettings(const config::Resolved& resolved, const pipeline::Options& options) {
  const auto comment = [](const std::string& text) { return "# " + reports::OneLine(text) + "\n"; };
  std::string out = comment("project: " + resolved.root) + comment("configuration: " + (resolved.settings.file.empty() ? "none" : resolved.settings.file));
  for (const pipeline::Policy& policy : options.policies.nested) out += comment("another one for " + policy.folder + ": " + policy.file);
  out += "# rules that run:";
  for (const rules::Rule* rule : resolved.rules) out += " " + std::string(rule->code);
  out += "\n" + config::SettingsText(resolved.settings);
  return WriteNames(out) ? kExitClean : kExitError;
}

// `-` among the paths: the standard input takes the place of the file it is named after.
void ReadInput(const CheckArguments& arguments, pipeline::Options& options) {
  for (std::string& path : options.paths) {
    if (path != kStandardInput) continue;
    path = arguments.stdin_filename.empty() ? std::string(kStandardInputName) : arguments.stdin_filename;
    options.overlays.emplace(path, ReadStandardInput());
  }
}

// The files that are checked; with --verbose, on standard error, what is left out, and why.
int ShowFiles(const CheckArguments& arguments, const pipeline::Options& options, const source::FileSystem& files) {
  const pipeline::PathMap paths(options.root, options.working_directory);
  pipeline::ProjectFiles project = pipeline::Enumerate(pipeline::FilesOf(options), paths, files);
  std::string list;
  for (size_t i = 0; i < project.all.size(); ++i) {
    if (!project.requested[i]) continue;
    const base::Result<std::string> text = files.Read(paths.Shown(project.all[i]));
    if (project.IsJudged(i, text && pipeline::SaysGenerated(*text))) list += reports::OneLine(paths.Shown(project.all[i])) + "\n";
    else project.left_out.push_back({project.all[i], false, pipeline::LeftOut::Generated});
  }
  if (arguments.verbose) {
    for (const std::string& line : LeftOutLines({project.left_out, project.knows_tracked}, paths)) WriteErr(reports::OneLine(line) + "\n");
  }
  for (const pipeline::PathError& error : project.errors) PrintError(error.message);
  return WriteOut(list) && project.errors.empty() ? kExitClean : kExitError;
}

// Only what would change; what remains to be done by hand is said by a run without --diff.
int ShowDiff(const CheckArguments& arguments, const Fixed& fixed) {
  if (!arguments.quiet) WriteErr(UnsafeText(fixed));
  for (const std::string& error : fixed.errors) PrintError(error);
  const std::string diff = DiffText(fixed);
  if (!WriteNames(diff) || !fixed.errors.empty()) return kExitError;
  return diff.empty() || arguments.exit_zero ? kExitClean : kExitFindings;
}

std::string Stopped(const CheckArguments& arguments, const pipeline::Output& out) {
  const std::string why = IsInterrupted() ? "interrupted" : fmt::format("--timeout {}: the time was over", arguments.timeout);
  return why + " while at work on `" + out.stopped_in + "`: the report has what was found until then; no file was fixed and no baseline written";
}

// Whether a run that began then is to end with what it has, asked from any thread.
std::function<bool()> StopOf(const CheckArguments& arguments, std::chrono::steady_clock::time_point begin) {
  if (arguments.timeout == 0) return IsInterrupted;
  const auto late = begin + std::chrono::milliseconds(static_cast<int64_t>(arguments.timeout * 1000));
  return [late] { return IsInterrupted() || std::chrono::steady_clock::now() >= late; };
}

int Fail(const base::Error& error) {
  PrintError(error.message);
  return kExitError;
}

// What --fix and --add-ignore do to files; `out` is what is found afterwards.
bool FixesAnything(const CheckArguments& a) { return a.fix || a.unsafe_fixes || a.diff || a.show_fixes || a.fix_only; }

// The name of the text on standard input, which is fixed on its way to standard output; empty: there is none.
std::string InputName(const CheckArguments& arguments) {
  if (std::ranges::find(arguments.paths, kStandardInput) == arguments.paths.end()) return {};
  return arguments.stdin_filename.empty() ? std::string(kStandardInputName) : arguments.stdin_filename;
}

base::Result<Fixed> Change(const CheckArguments& arguments, const pipeline::Options& options, const source::FileSystem& files,
                           Known& known, pipeline::Output& out) {
  const auto keep = [&](pipeline::Output& output) { known.Keep(output); };
  Known::Kept before = known.kept();
  base::Result<Fixed> fixed = Fixed();
  if (FixesAnything(arguments)) {
    fixed = FixAll(arguments, options, files, out, keep);
  } else if (!arguments.add_ignore.empty()) {
    fixed = AddIgnores(arguments.add_ignore, options, files, out, keep);
  }
  if (!fixed) return fixed;
  if (fixed->stopped_in.empty() && options.is_stopped && options.is_stopped()) fixed->stopped_in = "fixes";
  if (!fixed->stopped_in.empty()) {
    if (fixed->unfixed) out = std::move(*fixed->unfixed);
    out.stopped_in = fixed->stopped_in;
    known.GoBackTo(std::move(before));
    return Fixed();
  }
  fixed->unfixed.reset();
  if (arguments.diff) return fixed;
  fixed->input = InputName(arguments);
  WriteFixed(options, *fixed);
  return fixed;
}

// Whether the text of standard input goes on to standard output, fixed.
bool PassesInput(const CheckArguments& arguments) {
  return !InputName(arguments).empty() && (FixesAnything(arguments) || !arguments.add_ignore.empty());
}

bool WriteInput(const pipeline::Options& options, const Fixed& fixed) {
  const auto after = fixed.after.find(fixed.input);
  return WriteOut(after != fixed.after.end() ? after->second : options.overlays.at(fixed.input));
}

int ExitCode(const CheckArguments& arguments, const pipeline::Options& options, const pipeline::Output& out, const Fixed& fixed) {
  if (arguments.exit_non_zero_on_fix && !fixed.applied.empty()) return kExitFindings;
  if (arguments.exit_zero || arguments.fix_only) return kExitClean;
  return FailsAny(options, out) ? kExitFindings : kExitClean;
}

reports::TextOf KindOfText(const source::SourceFile& file) {
  return pipeline::MayHoldSettings(file.path) ? reports::TextOf::Settings : reports::TextOf::Code;
}

void HideSecrets(const reports::Secrets& secrets, reports::TextOf kind, findings::Finding& finding) {
  const auto hide = [&](findings::Text& text) {
    for (std::string& arg : text.args) arg = secrets.Hidden(arg, kind);
  };
  hide(finding.message);
  hide(finding.help);
  for (findings::Label& label : finding.labels) hide(label.text);
  for (findings::Fix& fix : finding.fixes) fix.title = secrets.Hidden(fix.title, kind);
}

// Files that start jobs hold keys, and so does code. Nothing that is printed from here on shows them.
void HideSecrets(pipeline::Output& out) {
  std::vector<findings::Finding*> all;
  for (findings::Finding& finding : out.findings) all.push_back(&finding);
  for (findings::Suppressed& suppressed : out.suppressed) all.push_back(&suppressed.finding);
  std::set<source::FileId> files;
  for (const findings::Finding* finding : all) {
    files.insert(finding->span.file);
    for (const findings::Label& label : finding->labels) files.insert(label.span.file);
  }
  reports::Secrets secrets;
  // A script may take a value from another one.
  for (const source::SourceFile& file : out.files) {
    if (pipeline::MayHoldSettings(file.path)) secrets.AddFrom(file.text, reports::TextOf::Settings);
  }
  for (const source::FileId id : files) {
    if (!id) continue;
    source::SourceFile& file = out.files[id];
    if (KindOfText(file) == reports::TextOf::Code) secrets.AddFrom(file.text, reports::TextOf::Code);
    file.text = reports::WithoutSecrets(file.text, KindOfText(file));
  }
  for (findings::Finding* finding : all) {
    if (finding->span.file) HideSecrets(secrets, KindOfText(out.files[finding->span.file]), *finding);
  }
}

}  // namespace

int RunCheck(const CheckArguments& arguments) {
  const auto start = std::chrono::system_clock::now();
  const auto begin = std::chrono::steady_clock::now();
  const source::RealFileSystem files;
  const base::Result<config::Resolved> resolved = ResolvedOf(arguments, files);
  if (!resolved) return Fail(resolved.error());
  const config::Settings& settings = resolved->settings;
  pipeline::Options options = OptionsOf(arguments, *resolved);
  if (!arguments.show_settings) ReadInput(arguments, options);
  const base::Result<bool> nested = AddNested(arguments, *resolved, files, options);
  if (!nested) return Fail(nested.error());
  if (arguments.show_settings) return ShowSettings(*resolved, options);
  if (arguments.show_files) return ShowFiles(arguments, options, files);

  CatchInterrupts();
  const MemoryGuard guard(arguments.max_memory);
  options.is_stopped = StopOf(arguments, begin);
  const base::Result<std::vector<OutputPlace>> outputs = OutputsOf(arguments, settings);
  if (!outputs) return Fail(outputs.error());
  base::Result<Verdicts> verdicts;
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
  if (known->was_stopped()) out->stopped_in = "--diff-base " + arguments.diff_base;
  known->Keep(*out);
  const base::Result<Fixed> fixed = out->stopped_in.empty() ? Change(arguments, options, files, *known, *out) : Fixed();
  if (!fixed) return Fail(fixed.error());
  if (!out->stopped_in.empty()) out->errors.push_back({.path = "", .message = Stopped(arguments, *out)});
  else if (arguments.diff) return ShowDiff(arguments, *fixed);
  const base::Result<std::string> said = !out->stopped_in.empty()  ? std::string()
                                         : arguments.update_baseline ? known->Update(*out, *verdicts)
                                                                     : known->Shrink(*out);
  if (!said) return Fail(said.error());

  HideSecrets(*out);
  reports::Report report = ReportOf(arguments, options, *out, *known, files);
  FoldCopies(out->files, out->findings);
  report.findings = out->findings;
  report.verdicts = std::move(*verdicts);
  known->AddSeen(report.verdicts);
  report.errors.insert(report.errors.end(), fixed->errors.begin(), fixed->errors.end());
  for (const std::string& error : report.errors) PrintError(error);
  if (const std::string nothing = NothingChecked(arguments, *out); !nothing.empty()) {
    if (options.working_directory.empty()) return Fail({"the working directory is gone; change to one that exists"});
    PrintWarning(nothing);
  }
  for (const std::string& note : out->notes) PrintWarning(note);
  if (const std::string cut = CutShort(arguments, *out); !cut.empty()) PrintWarning(cut);
  const int exit_code = !out->stopped_in.empty() && IsInterrupted() ? InterruptedExitCode()
                        : report.errors.empty() ? ExitCode(arguments, options, *out, *fixed) : kExitError;
  const bool has_sarif = std::ranges::any_of(*outputs, [](const OutputPlace& output) { return output.format == "sarif"; });
  if (has_sarif) report.run = RunInfoOf(arguments, resolved->root, start, exit_code, options.is_stopped);
  base::Result<std::string> verified;
  if (arguments.verify) verified = VerifyFindings(report);
  if (!verified) PrintError(verified.error().message);
  const bool passes_input = PassesInput(arguments);
  bool delivered = !passes_input || WriteInput(options, *fixed);
  const std::string project = config::FindRepository(resolved->root, options.working_directory, files);
  const Screen screen = passes_input ? Screen::Stderr : Screen::Stdout;
  if (!arguments.fix_only) delivered = Deliver(arguments, *outputs, report, screen, project, verified.value_or("")) && delivered;
  if (!arguments.quiet) WriteErr(FixedText(*fixed, arguments.show_fixes) + *said);
  if (arguments.profile) WriteErr(ProfileText(*out));
  return delivered && verified ? exit_code : kExitError;
}

}  // namespace allranks::cli
