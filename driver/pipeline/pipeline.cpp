#include "driver/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/built_in/built_in.h"
#include "analyzer/findings/suppression.h"
#include "analyzer/knowledge/replaced.h"
#include "analyzer/knowledge/users_file.h"
#include "analyzer/objects/communicators.h"
#include "analyzer/objects/never_reached.h"
#include "analyzer/objects/part_modules.h"
#include "analyzer/objects/share_results.h"
#include "analyzer/objects/sure_failures.h"
#include "analyzer/objects/unpassed_arguments.h"
#include "analyzer/platform/platform.h"
#include "driver/config/rule_selection.h"
#include "driver/pipeline/cache_key.h"
#include "driver/pipeline/fingerprint.h"
#include "driver/pipeline/function_code.h"
#include "driver/pipeline/missing_modules.h"
#include "driver/pipeline/parallel.h"
#include "driver/pipeline/parse.h"
#include "driver/pipeline/policy.h"
#include "driver/pipeline/prefilter.h"
#include "driver/pipeline/read_launch.h"
#include "driver/pipeline/read_settings.h"
#include "driver/pipeline/recording.h"
#include "driver/pipeline/run_record.h"
#include "driver/pipeline/scripts.h"
#include "driver/pipeline/selection.h"
#include "driver/pipeline/syntax.h"
#include "driver/pipeline/tool_findings.h"
#include "driver/pipeline/unread_files.h"
#include "driver/pipeline/witness_id.h"
#include "rules/collectives/reported_differences.h"
#include "rules/launch/launch_rules.h"
#include "rules/launch/script_rules.h"
#include "rules/sure_ends.h"

namespace allranks::pipeline {
namespace {

using findings::Finding;

// Of the memory that a run may take: what stages may have filled when they go on to the next file or step. The tables of those behind
// them grow with what was read, also where nothing of it is evaluated.
constexpr uint64_t kWhileParsing = 60;
constexpr uint64_t kWhileReadingLaunchFiles = 70;
constexpr uint64_t kWhileEvaluating = 85;

// Notes what each phase takes and says that it begins.
class Stopwatch {
 public:
  Stopwatch(const Options& options, Output& out, std::function<bool()> is_stopped) : options_(options), out_(out), is_stopped_(std::move(is_stopped)) {}
  void Begin(const char* phase, size_t total = 0) {
    End();
    out_.timings.push_back({.phase = phase});
    if (options_.progress) options_.progress(phase, 0, total);
    Start();
  }
  void End() {
    if (out_.timings.empty()) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    out_.timings.back().seconds = took.count();
    out_.timings.back().cpu_seconds = static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
    out_.timings.back().peak_bytes = platform::PeakMemory();
    if (stopped_in_.empty() && is_stopped_ && is_stopped_()) stopped_in_ = out_.timings.back().phase;
    Start();
  }
  // The phase that was at work when the run was stopped: those behind it only see that it is over. Empty: it was not.
  const std::string& stopped_in() const { return stopped_in_; }

 private:
  void Start() {
    start_ = std::chrono::steady_clock::now();
    cpu_start_ = std::clock();
  }

  const Options& options_;
  Output& out_;
  std::function<bool()> is_stopped_;
  std::string stopped_in_;
  std::chrono::steady_clock::time_point start_;
  std::clock_t cpu_start_ = 0;
};

// Whoever checks a project did not choose which files its configuration names.
bool IsShown(const Options& options, const source::FileSystem& files, const std::string& path) {
  if (std::ranges::find(options.named_knowledge, path) != options.named_knowledge.end()) return true;
  const base::Result<std::string> root = files.Canonical(options.root);
  const base::Result<std::string> target = files.Canonical(path);
  return root && target && IsInside(*target, *root);
}

// A user's file replaces what is built in, which is seldom meant where it happens: `notes` gets one line for each file.
base::Result<bool> LoadKnowledge(const Options& options, const source::FileSystem& files,
                                 knowledge::Knowledge& knowledge, std::vector<std::string>& notes) {
  if (options.knowledge_files.empty()) {
    built_in::FillKnowledge(knowledge);
    return true;
  }
  built_in::BeginKnowledge(knowledge);
  knowledge::Replaced replaced;
  static_cast<void>(replaced.Since(knowledge));
  for (const std::string& path : options.knowledge_files) {
    const base::Result<std::string> text = files.Read(path);
    if (!text) return base::Fail(text.error().message + "; name a knowledge file that exists");
    if (base::Result<bool> loaded = knowledge::LoadUsersFile(knowledge, path, *text); !loaded) {
      if (IsShown(options, files, path)) return loaded;
      return base::Fail(path + ": this is no knowledge of allranks; as it lies outside the project, what it says is not shown");
    }
    const std::vector<std::string> again = replaced.Since(knowledge);
    if (!again.empty()) notes.push_back(fmt::format("{} replaces what is known of `{}`", path, fmt::join(again, "`, `")));
  }
  return knowledge.Finish();
}

bool HasLaunchOverlay(const std::map<std::string, std::string>& overlays) {
  return std::ranges::any_of(overlays, [](const auto& overlay) {
    return !IsCodeName(overlay.first) && MayHoldSettings(overlay.first);
  });
}

std::map<std::string, std::string> RelativeOverlays(const Options& options, const PathMap& paths) {
  std::map<std::string, std::string> relative;
  for (const auto& [path, text] : options.overlays) relative.emplace(paths.Relative(path), text);
  return relative;
}

std::vector<std::string> AnalysedOf(const ProjectFiles& project, const Selection& selection) {
  std::vector<std::string> paths;
  for (const uint32_t file : selection.parse) paths.push_back(project.all[file]);
  return paths;
}

using ReadSettings = std::function<objects::SettingsFiles(std::span<const objects::SettingsRead>)>;

// What rules look at. Nothing of it changes once it is made, so that rules may look at it side by side.
struct RuleObjects {
  std::optional<objects::LaunchedOptions> options;
  std::optional<objects::WrittenSettings> settings;
  std::optional<objects::Launch> launch;
  std::optional<objects::JobPlaces> job_places;
  std::optional<objects::RanksAt> ranks;
  std::optional<objects::Training> training;
  std::optional<objects::Loading> loading;
  std::optional<objects::Accumulation> accumulation;
  std::optional<objects::FileUses> file_uses;
  std::optional<objects::StrategiesOnDemand> strategies;
  std::optional<objects::SharesOnDemand> shares;

  // `read`: reads files of settings, which may add to the files of the run.
  void FillSettings(const Analysed& a, const objects::ProgramIndex& index, const ReadSettings& read) {
    options.emplace(a.program, *a.knowledge, a.facts, index, a.launch_lines);
    objects::SettingsPlaces places(a.program, *a.knowledge, a.facts, index, *options);
    objects::SettingsFiles files = read(places.reads());
    settings.emplace(std::move(places), std::move(files), *options);
  }

  void Fill(const Analysed& a, const objects::ProgramIndex& index, const objects::Guards& guards, unsigned jobs) {
    const std::function<void()> parts[] = {
        [&] {
          launch.emplace(a.program, *a.knowledge, a.facts, index, a.launch_lines);
          job_places.emplace(a.program, *a.knowledge, a.facts, index, *launch);
          ranks.emplace(a.program, *a.knowledge, a.facts, index, guards, &*launch, &*job_places);
          accumulation.emplace(a.program, *a.knowledge, a.facts, index, guards);
        },
        [&] { training.emplace(a.program, *a.knowledge, a.facts, index); },
        [&] { loading.emplace(a.program, *a.knowledge, a.facts, index); },
        [&] { file_uses.emplace(a.program, a.facts, index); }};
    ParallelFor(std::size(parts), jobs, [&](size_t i) { parts[i](); }, Stack::Deep);
    strategies.emplace(a.program, *a.knowledge, a.facts, index, a.launch_lines, a.launches, *settings);
    shares.emplace(a.program, *a.knowledge, a.facts, index, *loading, *training, *launch);
  }
};

// In the order of the rules, whichever of them is done first. A run that was stopped before has a moment left for what it has found,
// one that is stopped meanwhile has none: a rule that is at work then leaves what it has.
std::vector<Finding> FindingsOf(const std::vector<const rules::Rule*>& wanted, const rules::Context& context, unsigned jobs,
                                const base::Watch& watch, objects::ProgramIndex& index) {
  constexpr std::chrono::seconds kMoment{1};
  const auto until = std::chrono::steady_clock::now() + kMoment;
  const auto is_over = [&] { return watch.IsStopped() && std::chrono::steady_clock::now() > until; };
  index.EndWhen(is_over);
  std::vector<std::vector<Finding>> found(wanted.size());
  ParallelFor(wanted.size(), jobs, [&](size_t i) {
    if (wanted[i]->check == nullptr || is_over()) return;
    try {
      wanted[i]->check(context, found[i]);
    } catch (const base::Cut&) {
      // What it has is in `found`.
    }
  }, Stack::Deep);
  index.EndWhen({});
  std::vector<Finding> findings;
  for (std::vector<Finding>& each : found) std::ranges::move(each, std::back_inserter(findings));
  return findings;
}

// Where a finding stands, and the operations that it leads to.
class FindingPlaces {
 public:
  explicit FindingPlaces(const binding::Program& program) {
    for (uint32_t m = 0; m < program.modules.size(); ++m) module_of_.emplace(program.modules[ir::ModuleId{m}].file.index, ir::ModuleId{m});
  }

  template <class Question>
  bool AnyIs(const Finding& finding, const Question& question) const {
    const auto is = [&](source::Span span) {
      const auto module = module_of_.find(span.file.index);
      return module != module_of_.end() && question(module->second, span.begin);
    };
    return is(finding.span) || std::ranges::any_of(finding.labels, [&](const findings::Label& label) {
      return label.role == findings::LabelRole::Call && is(label.span);
    });
  }

 private:
  std::unordered_map<uint32_t, ir::ModuleId> module_of_;
};

// What is known of places, whatever the rule.
struct PlaceFacts {
  objects::NeverReached never;
  objects::UnpassedArguments unpassed;
  const objects::SureFailures& failures;
  const objects::Launch& launch;
  objects::PartModules parts;
};

// What stands where no run gets to is no defect of the job, and what only another caller leads to is a possible one, as is what stands
// behind a statement that fails as it is written, and what a trainer would do with a part of its module.
// `tell_of_ends`: they are about such statements themselves.
void JudgePlaces(const PlaceFacts& facts, const binding::Program& program, bool tell_of_ends, std::vector<Finding>& findings) {
  const FindingPlaces places(program);
  std::erase_if(findings, [&](const Finding& finding) {
    return places.AnyIs(finding, [&](ir::ModuleId module, uint32_t position) { return facts.never.IsAt(module, position); });
  });
  for (Finding& finding : findings) {
    const auto assume_where = [&](findings::Assumption assumption, const auto& question) {
      if (places.AnyIs(finding, question)) findings::Assume(finding, findings::Assumptions::Of(assumption));
    };
    assume_where(findings::Assumption::ArgumentPassed, [&](ir::ModuleId module, uint32_t position) { return facts.unpassed.AreNeededAt(module, position); });
    if (!tell_of_ends && !rules::TellsOfEnds(finding.code)) {
      const auto is_of_one = [&](binding::FuncId function) { return facts.launch.Of(function) == objects::RunBy::OneProcess; };
      assume_where(findings::Assumption::RunsToHere,
                   [&](ir::ModuleId module, uint32_t position) { return facts.failures.AreBefore(module, position, is_of_one); });
    }
    assume_where(findings::Assumption::ClassUnknown, [&](ir::ModuleId module, uint32_t position) { return facts.parts.HaveHookAt(module, position); });
  }
}

// A thread takes longer to start than rules take over some files.
unsigned JobsFor(const binding::Program& program, unsigned jobs) {
  constexpr size_t kFew = 16;
  return program.modules.size() <= kFew ? 1 : jobs;
}

objects::OtherFiles OthersOf(const Analysed& a, const UnreadFiles& unread, const MissingModules& missing, const PathMap& paths) {
  const auto path_of = [&a, &paths](ir::ModuleId module) { return paths.Relative(a.files[a.program.modules[module].file].path); };
  return {.name = [&unread, path_of](ir::ModuleId module, std::string_view name) { return unread.Name(path_of(module), name); },
          .may_install = [&unread, path_of](ir::ModuleId module) { return unread.IsPackaged(path_of(module)); },
          .lacks = [&missing, path_of](ir::ModuleId module, uint32_t level, std::string_view dotted) {
            return missing.Lacks(path_of(module), level, dotted);
          },
          .hold = [&missing, path_of](ir::ModuleId module, uint32_t level, std::string_view name) { return missing.HoldsModule(path_of(module), level, name); },
          .set_python_path = [&missing] { return missing.AnySetsPythonPath(); },
          .require = [&missing](std::string_view package) { return missing.AreRequired(package); },
          .name_as_part = [&unread](std::string_view name) { return unread.NameAsPart(name); }};
}

// Scripts that commands start, and that end before they read their options: an import fails, or an option is there twice.
std::set<std::string> FailingScripts(const Analysed& a, const objects::SureFailures& failures) {
  std::set<std::string_view> started;
  for (const launch::LaunchFile& file : a.launches.files) {
    for (const launch::Job& job : file.jobs) started.insert(job.script_path);
  }
  std::set<std::string> failing;
  for (uint32_t m = 0; m < a.program.infos.size(); ++m) {
    const std::string& path = a.program.infos[ir::ModuleId{m}].path;
    const bool fails = started.contains(path) && (failures.FailsAtImports(ir::ModuleId{m}) || failures.AddsOptionsTwice(ir::ModuleId{m}));
    if (fails) failing.insert(path);
  }
  return failing;
}

// What ends runs, by the rules that are wanted.
std::vector<Finding> EndsOf(const std::vector<const rules::Rule*>& wanted, const rules::Context& context, const objects::SureFailures& failures) {
  const auto is_wanted = [&](std::string_view code) { return std::ranges::find(wanted, code, &rules::Rule::code) != wanted.end(); };
  std::vector<Finding> ends;
  if (is_wanted(rules::kFailsOnEveryRank) || is_wanted(rules::kFailureOnOneRank)) rules::CheckSureEnds(context, failures, ends);
  std::erase_if(ends, [&](const Finding& end) { return !is_wanted(end.code); });
  return ends;
}

// `failing_scripts`: what is found out about scripts on the way.
std::vector<Finding> FindingsOfRules(const std::vector<const rules::Rule*>& wanted, const Analysed& a, const ReadSettings& read, const objects::OtherFiles& others,
                                     unsigned most_jobs, const base::Watch& watch, std::set<std::string>& failing_scripts) {
  const unsigned jobs = JobsFor(a.program, most_jobs);
  objects::ProgramIndex index(a.program, *a.knowledge, a.facts);
  const objects::Values values(a.program, *a.knowledge, a.facts);
  const objects::Guards guards(a.program, index);
  RuleObjects made;
  made.FillSettings(a, index, read);
  made.Fill(a, index, guards, jobs);
  const objects::SureFailures failures(a.program, *a.knowledge, a.facts, index, *made.training, others);
  rules::Context context{a.files, a.program, *a.knowledge, a.facts, a.analysis, index, values, guards, *made.ranks, *made.job_places,
                         *made.training, *made.loading, *made.launch, *made.accumulation, *made.options, *made.settings, *made.file_uses, *made.strategies,
                         *made.shares, a.launches};
  context.differences = rules::ReportedDifferencesOf(context);
  std::vector<Finding> findings = FindingsOf(wanted, context, jobs, watch, index);
  std::vector<Finding> ends = EndsOf(wanted, context, failures);
  const PlaceFacts facts{.never = {a.program, a.facts, index, guards, values, *made.options, others},
                         .unpassed = {a.program, a.facts, index, guards},
                         .failures = failures,
                         .launch = *made.launch,
                         .parts = {a.program, *a.knowledge, index, others}};
  JudgePlaces(facts, a.program, false, findings);
  JudgePlaces(facts, a.program, true, ends);
  std::ranges::move(ends, std::back_inserter(findings));
  failing_scripts = FailingScripts(a, failures);
  const witness::Communicators communicators = objects::CommunicatorsOf(a.program, index, values);
  for (Finding& finding : findings) {
    if (finding.witness) finding.witness->communicators = communicators;
  }
  return findings;
}

void AddToolFindings(const Parsed& parsed, const Analysed& a, const launch::Launches& launches, std::vector<Finding>& findings) {
  for (const auto& [file, why] : parsed.faulty) findings.push_back(UnreadableFile(file, why));
  for (const auto& [file, bound] : parsed.limited) findings.push_back(LimitedFile(file, bound));
  for (const ir::Module& module : a.program.modules) {
    AddReadingProblems(module, a.files[module.file], parsed.guessed.contains(module.file), findings);
  }
  for (const launch::LaunchFile& file : launches.files) AddReadingProblems(file, findings);
  AddLimits(a.program, a.analysis, findings);
}

// Of a run that was stopped: the files that nothing else says so of.
void AddStopped(const Analysed& a, std::vector<Finding>& findings) {
  std::set<uint32_t> said;
  for (const Finding& finding : findings) {
    if (IsLimit(finding)) said.insert(finding.span.file.index);
  }
  for (const ir::Module& module : a.program.modules) {
    if (said.insert(module.file.index).second) findings.push_back(StoppedFile(module.file));
  }
}

// What was read only because others import it is not judged.
void KeepRequested(const Parsed& parsed, Output& out) {
  std::erase_if(out.findings, [&](const Finding& f) { return !parsed.requested[f.span.file.index]; });
  std::erase_if(out.ledger, [&](const traces::LedgerEntry& e) { return !parsed.requested[e.span.file.index]; });
}

// Where statements and comments of the requested files stand, one entry a file.
std::vector<findings::FileSyntax> SyntaxOfRequested(const Analysed& a, const Parsed& parsed, const launch::Launches& launches) {
  std::vector<findings::FileSyntax> syntax;
  std::unordered_map<uint32_t, size_t> known_files;
  for (const ir::Module& module : a.program.modules) {
    if (!parsed.requested[module.file.index]) continue;
    const auto [known, is_new] = known_files.try_emplace(module.file.index, syntax.size());
    findings::FileSyntax of_module = SyntaxOf(module);
    if (is_new) {
      syntax.push_back(std::move(of_module));
      continue;
    }
    // A header is several modules: one a file that includes it and finds something new in it.
    std::vector<findings::Extent>& statements = syntax[known->second].statements;
    statements.insert(statements.end(), of_module.statements.begin(), of_module.statements.end());
  }
  for (const launch::LaunchFile& file : launches.files) {
    if (file.requested) syntax.push_back(file.syntax);
  }
  syntax.insert(syntax.end(), launches.sourced.begin(), launches.sourced.end());
  return syntax;
}

void Suppress(const Options& options, const PathMap& paths, const Analysed& a, const Parsed& parsed, const launch::Launches& launches, Output& out) {
  const auto policy_of = [&](source::FileId file) -> const Policy& { return options.policies.Of(paths.Relative(a.files[file].path)); };
  const auto ran = [&](source::FileId file, std::string_view code) { return Runs(policy_of(file), code); };
  std::erase_if(out.findings, [&](const Finding& finding) { return !ran(finding.span.file, finding.code); });
  const findings::KnownRules known{
      .code_of = [](std::string_view name) {
        const rules::Rule* rule = rules::FindRule(name);
        return rule == nullptr ? std::string_view() : rule->code;
      },
      .nearest = [known = std::unordered_map<std::string, std::string_view>()](std::string_view name) mutable {
        const auto [found, is_new] = known.try_emplace(std::string(name));
        if (is_new) found->second = config::NearestRule(name);
        return found->second;
      },
      .ran = ran,
      .require_reason = [&](source::FileId file) { return policy_of(file).require_reason; }};
  out.syntax = SyntaxOfRequested(a, parsed, launches);
  out.suppressed = findings::ApplySuppressions(a.files, out.syntax, known, out.findings);
}

void NameAll(const Analysed& a, const PathMap& paths, Output& out) {
  std::vector<Finding*> all;
  for (Finding& finding : out.findings) all.push_back(&finding);
  for (findings::Suppressed& suppressed : out.suppressed) all.push_back(&suppressed.finding);
  NameFindings(a.files, paths, std::move(all));
}

// By file: its place among all, by path. Headers get their ids after the files that include them.
std::vector<uint32_t> PathOrder(const source::SourceFiles& files) {
  std::vector<uint32_t> order(files.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return std::string_view(files[source::FileId{i}].path); });
  std::vector<uint32_t> rank(files.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

void CountInto(const ProjectFiles& project, const Selection& selection, const Parsed& parsed, Output& out) {
  out.errors = project.errors;
  out.files_excluded = project.excluded;
  out.left_out = project.left_out;
  for (const uint32_t index : selection.generated) out.left_out.push_back({project.all[index], false, LeftOut::Generated});
  std::ranges::sort(out.left_out, {}, &LeftOutPath::path);
  out.knows_tracked = project.knows_tracked;
  out.unread_importers = selection.unread_importers;
  out.index_problem = project.index_problem;
  for (const std::string& problem : parsed.problems) out.errors.push_back({.path = "", .message = problem});
  out.read_in_part = static_cast<size_t>(std::ranges::count_if(parsed.guessed, [&](source::FileId id) { return parsed.requested[id.index]; }));
  out.bytes_scanned = selection.bytes_scanned;
  out.files_scanned = selection.files_scanned;
  out.bytes_parsed = parsed.bytes;
  out.files_parsed = static_cast<uint32_t>(parsed.modules.size());
  out.files_requested =
      static_cast<uint32_t>(std::count(selection.requested.begin(), selection.requested.end(), true));
  for (size_t i = 0; i < project.all.size(); ++i) {
    if (selection.requested[i]) out.requested.push_back(project.all[i]);
  }
  for (uint32_t i = 0; i < parsed.files.size(); ++i) {
    if (parsed.requested[i]) out.checked.push_back(parsed.files[source::FileId{i}].path);
  }
}

std::vector<std::string> CodeThatStarts(const ProjectFiles& project, const Selection& selection) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < selection.files.size(); ++i) {
    if (selection.files[i].starts_commands) paths.push_back(project.all[i]);
  }
  return paths;
}

tl::unexpected<base::Error> Stopped() { return base::Fail("stopped"); }

// What a bound kept from being analysed, also where AR003 is not among the rules.
void NoteLimits(const Parsed& parsed, const Analysed& a, const traces::Watched& watched, Output& out) {
  std::set<source::FileId> cut;
  for (const auto& [file, bound] : parsed.limited) cut.insert(file);
  for (const variation::CutFunction& each : watched.cut) cut.insert(a.program.module_of(each.function).file);
  for (const source::FileId file : cut) {
    if (parsed.requested[file.index]) out.cut_files.push_back(a.files[file].path);
  }
  std::ranges::copy_if(out.findings, std::back_inserter(out.limits), IsLimit);
}

// Calls that nobody followed may be what a rule misses, in all files that make a program with the one that was given up.
void AssumeCut(const Analysed& a, const std::vector<variation::CutFunction>& cut, std::vector<Finding>& findings) {
  if (cut.empty()) return;
  const binding::Neighbourhood neighbourhood(a.program);
  std::set<source::FileId> files;
  for (const variation::CutFunction& each : cut) {
    for (const ir::ModuleId module : neighbourhood.Of(a.program.funcs[each.function].module)) files.insert(a.program.modules[module].file);
  }
  for (Finding& finding : findings) {
    if (files.contains(finding.span.file)) Assume(finding, findings::Assumptions::Of(findings::Assumption::BoundReached));
  }
}

// Whatever has a place in code that was read without types rests on what its text says.
void AssumeText(const binding::Program& program, std::vector<Finding>& findings) {
  std::map<source::FileId, std::vector<source::Span>> without_types;
  for (const ir::Module& module : program.modules) {
    for (const ir::Function& function : module.functions) {
      if ((function.flags & ir::kWithoutTypes) != 0) without_types[module.file].push_back({module.file, function.begin, function.end});
    }
  }
  if (without_types.empty()) return;
  const auto is_in = [&](const source::Span& span) {
    const auto functions = without_types.find(span.file);
    if (functions == without_types.end()) return false;
    return std::ranges::any_of(functions->second, [&](const source::Span& each) { return each.begin <= span.begin && span.begin < each.end; });
  };
  for (Finding& finding : findings) {
    const bool rests_on_text = is_in(finding.span) || std::ranges::any_of(finding.labels, is_in, &findings::Label::span);
    if (rests_on_text) Assume(finding, findings::Assumptions::Of(findings::Assumption::WithoutTypes));
  }
}

// A run of which parts are remembered is stopped for the next one, which is not long to come: what it has is of no use, and
// an analysis of some moments is rather ended than begun anew. Any other run is stopped at once and says what it has.
std::function<bool()> StopOf(const Options& options, const Memory* memory) {
  if (memory == nullptr) return options.is_stopped;
  constexpr std::chrono::seconds kPatience{2};
  const auto patient_until = std::chrono::steady_clock::now() + kPatience;
  return [memory, patient_until] { return memory->stop.stop_requested() && std::chrono::steady_clock::now() > patient_until; };
}

// Those that are asked for, and count as files of their own.
uint32_t CountOfLaunchFiles(std::span<const launch::LaunchFile> files) {
  return static_cast<uint32_t>(std::ranges::count_if(files, [](const launch::LaunchFile& file) { return file.requested && file.kind != launch::FileKind::Python; }));
}

// The stages behind the reading of files, and what they share.
struct Stages {
  const Options& options;
  const std::vector<const rules::Rule*>& wanted;
  const binding::ModuleGraph& graph;
  const launch::Launches& launches;
  const LaunchInput& launch_input;
  const Scripts& scripts;
  const objects::OtherFiles& others;
  Parsed& parsed;
  Memory* memory;
  base::Watch& limits;
  Stopwatch& watch;
  Analysed& a;
  Output& out;
  traces::Watched watched = {};  // what was given up

  bool IsOver() const { return limits.IsStopped() || (memory != nullptr && memory->stop.stop_requested()); }

  void Run() {
    watch.Begin("bind");
    a.program = binding::Bind(std::move(parsed.modules), std::move(parsed.infos), graph, a.names);
    if (IsOver()) return;

    watch.Begin("variation");
    ComputeValues();
    a.facts.job = options.job;
    if (IsOver()) return;

    watch.Begin("traces");
    const std::vector<variation::CutFunction> without_values = watched.cut;
    if (memory == nullptr) a.analysis = traces::Analyze(a.program, *a.knowledge, a.facts, a.files, watched);
    else a.analysis = memory->traces.Update(a.program, *a.knowledge, a.facts, a.files, memory->variation, watched);
    if (IsOver() && memory != nullptr) return;

    watch.Begin("rules");
    const ReadSettings read = [this](std::span<const objects::SettingsRead> reads) {
      if (!options.reads_launch_files) return objects::SettingsFiles();
      const size_t known = a.launches.files.size();
      objects::SettingsFiles settings = ReadSettingsFiles(launch_input, reads, a.program, a.files, parsed, a.launches);
      out.files_requested += CountOfLaunchFiles(std::span(a.launches.files).subspan(known));
      return settings;
    };
    std::set<std::string> failing_scripts;
    out.findings = FindingsOfRules(wanted, a, read, others, options.jobs, limits, failing_scripts);
    rules::CheckLaunchFiles({a.files, launches, scripts, failing_scripts}, wanted, out.findings);
    AssumeCut(a, without_values, out.findings);
    AssumeText(a.program, out.findings);
  }

  void ComputeValues() {
    watched.watch = &limits;
    if (memory == nullptr) {
      a.facts = variation::ComputeVariation(a.program, *a.knowledge, limits, watched.cut);
      return;
    }
    memory->variation.SetWatch(&limits);
    memory->variation.Update(a.program, *a.knowledge, a.files, a.facts);
    watched.cut = memory->variation.cut();
  }
};

// Whether it came to its end. What is remembered of an analysis that was left in its midst is forgotten.
bool RunStages(Stages& stages) {
  bool is_whole = true;
  RunWithDeepStack([&] {
    try {
      stages.Run();
    } catch (const base::Cut&) {
      is_whole = false;
    }
  });
  stages.out.steps = stages.limits.steps();
  if (!is_whole && stages.memory != nullptr) stages.memory->ForgetAnalysis();
  return is_whole && !stages.IsOver() && !stages.watched.is_stopped;
}

}  // namespace

base::Result<Output> Run(const Options& options, const source::FileSystem& files, Analysed& a, Memory* memory) {
  Output out;
  Stopwatch watch(options, out, StopOf(options, memory));
  base::Watch limits(options.bounds.At(kWhileEvaluating), StopOf(options, memory));
  const base::Watch parsing(options.bounds.At(kWhileParsing), StopOf(options, memory));
  const base::Watch reading(options.bounds.At(kWhileReadingLaunchFiles));
  const std::vector<const rules::Rule*> wanted = RulesOf(options.policies);
  const PathMap paths(options.root, options.working_directory);
  const auto stopped = [&] { return memory != nullptr && memory->stop.stop_requested(); };

  watch.Begin("knowledge");
  if (!a.knowledge) {
    a.knowledge.emplace(a.names);
    if (const base::Result<bool> loaded = LoadKnowledge(options, files, *a.knowledge, out.notes); !loaded) {
      return base::Fail(loaded.error().message);
    }
  }
  launch::Launches& launches = a.launches;
  if (launches.tables.launchers().empty()) built_in::FillTables(launches.tables);

  watch.Begin("find files");
  ProjectFiles found;
  if (memory == nullptr || !memory->disk_is_unchanged || memory->project() == nullptr) {
    found = Enumerate(FilesOf(options), paths, files);
    if (memory != nullptr) memory->SetProject(std::move(found));
  }
  const ProjectFiles& project = memory == nullptr ? found : *memory->project();

  watch.Begin("scan", project.all.size());
  const binding::ModuleGraph graph(project.all, project.import_roots, std::string(NameOf(paths.Absolute(""))));
  const IncludeGraph includes(project.all);
  const Prefilter prefilter(a.knowledge->literals());
  const Prefilter cpp_prefilter(a.knowledge->cpp_literals());
  const std::map<std::string, std::string> overlays = RelativeOverlays(options, paths);
  Selection selection = SelectFiles({project, paths, graph, includes, prefilter, cpp_prefilter, files, overlays, options.jobs, memory, &parsing});
  if (memory != nullptr) memory->SetScanned(selection.files);
  if (stopped()) return Stopped();
  if (memory != nullptr) {
    // Of launch files nothing is remembered.
    out.is_same = memory->IsSame(selection) && !HasLaunchOverlay(overlays);
    if (out.is_same) return out;
    memory->Recall(a.program, a.files);
  }

  watch.Begin("parse", selection.parse.size());
  const std::string key = options.cache_folder.empty() ? "" : CacheKey();
  ModuleCache cache(options.cache_folder, key);
  UnitCache units(options.cache_folder, key, files);
  Parsed parsed = ParseFiles({project, paths, graph, files, options.compile_commands, options.extra_args, overlays, cache, units, *a.knowledge, options.jobs, parsing, memory},
                             selection, a.names);
  cache.Prune();
  units.Prune();
  out.is_repeatable = parsed.is_repeatable;
  watch.Begin("launch files");
  a.launch_lines.clear();
  launches.files.clear();
  launches.sourced.clear();
  const LaunchInput launch_input{project.all, paths, files, overlays, options.jobs, reading};
  const LaunchScan launch_scan = options.reads_launch_files ? ScanLaunchFiles(launch_input, project.launch, AnalysedOf(project, selection)) : LaunchScan();
  if (options.reads_launch_files) ReadLaunchFiles(launch_input, launch_scan, {CodeThatStarts(project, selection), selection.requested, a.names}, parsed, launches, a.launch_lines);
  const Scripts scripts = rules::AskForScripts(wanted) ? ReadScripts(launch_input, graph, selection, parsed, launches, a.names) : Scripts();
  CountInto(project, selection, parsed, out);
  out.files_requested += CountOfLaunchFiles(launches.files) + static_cast<uint32_t>(launches.sourced.size());
  a.files = std::move(parsed.files);

  const UnreadFiles unread(launch_input, launch_scan.files, selection);
  const MissingModules missing(launch_input, project);
  const objects::OtherFiles others = OthersOf(a, unread, missing, paths);
  Stages stages{options, wanted, graph, launches, launch_input, scripts, others, parsed, memory, limits, watch, a, out};
  const bool is_whole = RunStages(stages);
  if (!is_whole && memory != nullptr) return Stopped();
  const std::string last_phase = out.timings.back().phase;

  watch.Begin("report");
  if (!is_whole) out.stopped_in = watch.stopped_in().empty() ? last_phase : watch.stopped_in();
  AddToolFindings(parsed, a, launches, out.findings);
  if (!is_whole) AddStopped(a, out.findings);
  out.ledger = a.analysis.ledger;
  KeepRequested(parsed, out);
  NoteLimits(parsed, a, stages.watched, out);
  if (memory != nullptr && limits.IsStopped()) return Stopped();
  Suppress(options, paths, a, parsed, launches, out);
  ApplyPolicy(options, paths, a.files, out.findings);
  if (memory != nullptr && limits.IsStopped()) return Stopped();
  std::erase_if(out.syntax, [&](const findings::FileSyntax& syntax) {
    return std::ranges::none_of(out.findings, [&](const Finding& finding) { return finding.span.file == syntax.file; });
  });
  findings::SortAndDeduplicate(out.findings, PathOrder(a.files));
  NameAll(a, paths, out);
  NoteFunctionCode(a.program, out.findings);
  NameWitnesses(a.files, out.findings);
  // A run is the same as long as the files are that it read: those that it asked beside are not among them.
  if (memory != nullptr && !unread.WereAsked() && !missing.WereAsked()) memory->NoteWhole(selection);
  watch.End();
  return out;
}

base::Result<Output> Run(const Options& options, const source::FileSystem& files) {
  RunRecord record(options, options.cache_folder.empty() ? "" : CacheKey());
  if (std::optional<Output> known = record.Find(files)) return std::move(*known);
  const RecordingFileSystem recording(files, record.unlisted());
  Analysed analysed;
  base::Result<Output> out = Run(options, record.IsUsed() ? recording : files, analysed);
  if (!out) return out;
  out->files = std::move(analysed.files);
  record.Keep(recording, *out);
  return out;
}

}  // namespace allranks::pipeline
