// `allranks explain DUMPS|LOG|STACKS... [REPORT]`: reads what a job left behind, and never runs anything.
#include <algorithm>

#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/known.h"
#include "driver/cli/report_of.h"
#include "driver/cli/settings_of.h"
#include "driver/cli/terminal.h"
#include "driver/explain/answer.h"
#include "driver/explain/local_files.h"
#include "driver/pipeline/parallel.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/pipeline.h"
#include "explain/readers/read_input.h"

namespace allranks::cli {
namespace {

constexpr size_t kMostFiles = 100000;
constexpr int kDeepestFolder = 5;

int FailExplain(const std::string& message) {
  PrintError(message);
  return kExitError;
}

// What was given, as one recording and at most one report.
struct Given {
  explain::Recording recording;
  std::string report_path;
  std::string report;
  std::vector<std::string> errors;
  size_t silent = 0;  // files of folders that have nothing to say
};

class Reader {
 public:
  Reader(const source::FileSystem& files, Given& given) : files_(files), given_(given) {}

  void Read(const std::string& path) {
    const base::Result<source::EntryKind> kind = files_.Kind(path);
    if (!kind) return given_.errors.push_back(kind.error().message);
    if (*kind == source::EntryKind::Directory) return Folder(path, 0);
    File(path, true);
  }

 private:
  void Folder(const std::string& path, int depth) {
    const base::Result<std::vector<source::DirectoryEntry>> entries = files_.List(path);
    if (!entries) return given_.errors.push_back(entries.error().message);
    for (const source::DirectoryEntry& entry : *entries) {
      const std::string inner = pipeline::Join(path, entry.name);
      if (entry.kind == source::EntryKind::Directory && !entry.is_symlink && depth < kDeepestFolder) Folder(inner, depth + 1);
      if (entry.kind == source::EntryKind::File && ++count_ < kMostFiles) File(inner, false);
    }
  }

  // A file of a folder that has nothing to say is no mistake; one that was named is.
  void File(const std::string& path, bool named) {
    const base::Result<std::string> bytes = files_.Read(path);
    if (!bytes) return given_.errors.push_back(bytes.error().message);
    if (explain::IsReport(*bytes)) {
      if (!given_.report_path.empty()) return given_.errors.push_back(path + ": a second report; give one of them");
      given_.report_path = path;
      given_.report = *bytes;
      return;
    }
    const std::string problem = explain::ReadInput(path, *bytes, given_.recording);
    if (problem.empty()) return;
    if (named || (*bytes)[0] == '\x80') given_.errors.push_back(path + ": " + problem);
    else ++given_.silent;
  }

  const source::FileSystem& files_;
  Given& given_;
  size_t count_ = 0;
};

class LocalNames : public explain::Naming {
 public:
  explicit LocalNames(explain::LocalFiles& files) : files_(files) {}
  std::string Shown(std::string_view recorded) override {
    const std::string& local = files_.Find(recorded);
    if (local.empty()) return std::string(recorded);
    return local.starts_with(here_) ? local.substr(here_.size()) : local;
  }

 private:
  std::string here_ = WorkingDirectory() + "/";
  explain::LocalFiles& files_;
};

// The stacks that matter: of ranks that wait, and of those that did not come.
struct Ways {
  std::vector<explain::Call> waiting;
  std::vector<explain::Call> elsewhere;
  std::vector<explain::Call> last_common;
  bool sizes_differ = false;  // and nothing else: ranks are in the same operation
};

void TakeFirst(std::vector<explain::Call>& into, std::vector<explain::Call> calls) {
  if (into.empty()) into = std::move(calls);
}

Ways WaysOf(const Given& given, const explain::Hang& hang, explain::Naming& naming) {
  Ways ways;
  const auto calls = [&](explain::StackIndex stack) { return explain::CallsOf(given.recording, stack, naming); };
  for (const explain::Arrival& arrival : hang.stall.arrived) TakeFirst(ways.waiting, calls(arrival.stack));
  for (const explain::Whereabouts& absent : hang.absent) {
    if (absent.ending) TakeFirst(ways.elsewhere, calls(absent.ending->stack));
    TakeFirst(ways.elsewhere, calls(absent.stack));
  }
  // At another place than the first that waits.
  const bool may_be_apart = hang.cause == explain::Cause::Mismatch || hang.cause == explain::Cause::AllArrived;
  for (const explain::Arrival& arrival : hang.stall.arrived) {
    if (may_be_apart && arrival.stack != hang.stall.arrived[0].stack) TakeFirst(ways.elsewhere, calls(arrival.stack));
  }
  for (const explain::Stall& stall : hang.circle) {
    for (const explain::Arrival& arrival : stall.arrived) TakeFirst(ways.elsewhere, calls(arrival.stack));
  }
  for (const explain::Stall& stall : hang.following) {
    for (const explain::Arrival& arrival : stall.arrived) {
      if (std::ranges::find(hang.stall.absent, arrival.rank) != hang.stall.absent.end()) TakeFirst(ways.elsewhere, calls(arrival.stack));
    }
  }
  ways.sizes_differ = hang.cause == explain::Cause::Mismatch &&
                      std::ranges::all_of(hang.stall.arrived, [&](const explain::Arrival& one) { return one.kind == hang.stall.kind; });
  ways.last_common = calls(hang.last_common_stack);
  // Where ranks took different ways before and none waits elsewhere, that is the place.
  if (hang.first_different.size() > 1) {
    const explain::StackIndex first = hang.first_different[0].stack;
    for (const explain::Arrival& other : hang.first_different) {
      if (other.stack == first || other.stack == explain::kNoStack) continue;
      ways.waiting = calls(first);
      ways.elsewhere = calls(other.stack);
      break;
    }
  }
  return ways;
}

// Analyses the files that the stacks name, as far as they are here.
explain::Sources SourcesOf(const ExplainArguments& arguments, const Ways& ways, const source::FileSystem& files) {
  explain::Sources sources;
  CheckArguments check;
  for (const auto* way : {&ways.waiting, &ways.elsewhere, &ways.last_common}) {
    for (const explain::Call& call : *way) {
      const base::Result<source::EntryKind> kind = files.Kind(call.path);
      const bool known = std::ranges::find(check.paths, call.path) != check.paths.end();
      if (kind && *kind == source::EntryKind::File && !known) check.paths.push_back(call.path);
    }
  }
  if (check.paths.empty()) return sources;
  check.root = arguments.root;
  check.knowledge = arguments.knowledge;
  // The job hangs: what is right too seldom to be shown of any program may well be why.
  check.min_confidence = "possible";
  check.preview = true;
  check.no_cache = true;
  const base::Result<config::Resolved> resolved = ResolvedOf(check, files);
  if (!resolved) return sources;
  pipeline::Analysed analysed;
  pipeline::Options options = OptionsOf(check, *resolved);
  if (!AddNested(check, *resolved, files, options)) return sources;
  base::Result<pipeline::Output> out = pipeline::Run(options, files, analysed);
  if (!out) return sources;
  sources.were_read = analysed.program.modules.size() > 0;
  pipeline::RunWithDeepStack([&] {
    sources.partings = explain::FindPartings(analysed, ways.waiting, ways.elsewhere, ways.last_common);
    // Where both wait, each is missing for the other.
    if (sources.partings.empty()) sources.partings = explain::FindPartings(analysed, ways.elsewhere, ways.waiting, ways.last_common);
    if (sources.partings.empty() && ways.sizes_differ && !ways.waiting.empty()) sources.partings = explain::FindSizePartings(analysed, ways.waiting.back());
    for (const auto* way : {&ways.waiting, &ways.elsewhere}) {
      for (const explain::Call& call : *way) {
        std::string drift = explain::DriftOf(analysed, call);
        if (!drift.empty() && std::ranges::find(sources.drift, drift) == sources.drift.end()) sources.drift.push_back(std::move(drift));
      }
    }
  });
  out->files = std::move(analysed.files);
  const Known nothing_known;
  const reports::Report report = ReportOf(check, options, *out, nothing_known, files);
  base::Result<std::vector<explain::Foretold>> findings = explain::ReadForetold("", reports::RenderJson(report));
  if (findings) sources.findings = std::move(*findings);
  return sources;
}

base::Result<explain::PathMaps> MapsOf(const std::vector<std::string>& given) {
  explain::PathMaps maps;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return base::Fail("--path-map: `" + text + "`; write FROM=TO: a folder of the job and the one here");
    maps.emplace_back(text.substr(0, equals), equals + 1 == text.size() ? "." : text.substr(equals + 1));
  }
  return maps;
}

std::string Rendered(const ExplainArguments& arguments, const Given& given, const explain::Answer& answer) {
  if (arguments.format == "json") return explain::RenderJson(answer, Version());
  if (arguments.format == "html") return explain::RenderHtml(answer);
  if (arguments.format == "markdown") return explain::RenderMarkdown(answer);
  if (arguments.format != "sarif") return explain::RenderText(answer);
  // A report that was given comes back with the verdict in it.
  if (!given.report.empty() && answer.foretold && given.report.find("\"runs\"") != std::string::npos) {
    return explain::WithVerdict(given.report, answer.foretold->finding.fingerprint, answer.operation + " did not complete in a job");
  }
  return explain::RenderSarif(answer, Version());
}

}  // namespace

int RunExplain(const ExplainArguments& arguments) {
  const source::RealFileSystem files;
  const base::Result<explain::PathMaps> maps = MapsOf(arguments.path_maps);
  if (!maps) return FailExplain(maps.error().message);
  Given given;
  Reader reader(files, given);
  for (const std::string& path : arguments.inputs) reader.Read(path);
  for (const std::string& error : given.errors) PrintError(error);
  if (given.recording.ranks.empty() && given.recording.not_arrived.empty()) {
    if (!given.errors.empty()) return kExitError;
    return FailExplain("nothing here was left behind by a hang; give Flight Recorder dumps, logs of a job or stacks of its ranks");
  }
  std::vector<explain::Foretold> findings;
  if (!given.report_path.empty()) {
    base::Result<std::vector<explain::Foretold>> read = explain::ReadForetold(given.report_path, given.report);
    if (!read) return FailExplain(read.error().message);
    findings = std::move(*read);
  }
  const explain::Hang hang = explain::FindHang(given.recording);
  explain::LocalFiles local(files, arguments.root.empty() ? "." : arguments.root, *maps);
  LocalNames naming(local);
  explain::Sources sources;
  if (hang.cause != explain::Cause::None) sources = SourcesOf(arguments, WaysOf(given, hang, naming), files);
  if (!given.report_path.empty()) sources.findings = std::move(findings);
  for (const std::string& error : given.errors) given.recording.Note("not read: " + error);
  const explain::Answer answer = explain::AnswerOf(given.recording, hang, sources, naming);
  const std::string text = Rendered(arguments, given, answer);
  const bool delivered = arguments.output_file.empty() ? WriteOut(text) : WriteFile(arguments.output_file, text, WorkingDirectory());
  return delivered && given.errors.empty() ? kExitClean : kExitError;
}

}  // namespace allranks::cli
