// What a rule is. One .cpp a rule under rules/<family>/, one line in rules.def; docs/adding-a-rule.md walks through one.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/findings/finding.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/objects/accumulation.h"
#include "analyzer/objects/file_uses.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/job_places.h"
#include "analyzer/objects/launch.h"
#include "analyzer/objects/launched_options.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/ranks_at.h"
#include "analyzer/objects/strategies.h"
#include "analyzer/objects/training.h"
#include "analyzer/objects/values.h"
#include "analyzer/objects/written_settings.h"
#include "analyzer/source/source_file.h"
#include "analyzer/traces/analysis.h"
#include "analyzer/variation/facts.h"

namespace allranks::launch {
struct Launches;  // analyzer/launch/job.h
}

namespace allranks::objects {
class SharesOnDemand;  // analyzer/objects/share_results.h
}

namespace allranks::rules {

using findings::Applicability;
using findings::Severity;

// One place that looks at the disk, and the differences that depend on the answer.
struct FileLook {
  objects::Site site;
  std::vector<const traces::Difference*> differences;
};

// The differences between ranks that rules report: each cause once, and one finding for all that hang on one look at the
// disk. Those of a strategy that the job cannot be run under are left out.
struct ReportedDifferences {
  std::vector<std::reference_wrapper<const traces::Difference>> each;
  std::map<const traces::Difference*, std::vector<const traces::Difference*>> repeats;  // the same cause, met from other callers
  std::vector<FileLook> of_files;
  std::set<const traces::Difference*> of_changing_files;  // files that the program writes or removes meanwhile
  std::set<const traces::Difference*> made_up_for;  // what one rank sends is what the others wait for in their next step
  std::set<const traces::Difference*> beside_callbacks;  // a library may run the same operation on the ranks that seem to lack it
  std::set<const traces::Difference*> of_unseen_strategies;  // nothing shows that the job runs under one that communicates there
};

// Everything a rule may look at. All const: a rule reads facts and reports.
struct Context {
  const source::SourceFiles& files;
  const binding::Program& program;
  const knowledge::Knowledge& knowledge;
  const variation::Facts& facts;
  const traces::Analysis& analysis;
  const objects::ProgramIndex& index;
  const objects::Values& values;
  const objects::Guards& guards;
  const objects::RanksAt& ranks;
  const objects::JobPlaces& job_places;
  const objects::Training& training;
  const objects::Loading& loading;
  const objects::Launch& launch;
  const objects::Accumulation& accumulation;
  const objects::LaunchedOptions& options;
  const objects::WrittenSettings& settings;
  const objects::FileUses& file_uses;
  const objects::StrategiesOnDemand& strategies;
  const objects::SharesOnDemand& shares;
  const launch::Launches& launches;      // what files that start jobs and configure them say
  ReportedDifferences differences = {};  // filled by ReportedDifferencesOf
};

using FindingSink = std::vector<findings::Finding>;

// The runtime-verify scenario that shows the defect; None: nothing to run.
enum class Scenario : uint8_t {
  None,
  SkippedCollective,
  MismatchedCollective,
  GroupCreation,
  Shape,
  DeviceOrdinal,
  EpochOrder,
  UnevenBatches,
  LearningRate,
  UnusedParameter,
  SampleShares,
  Accumulation,
  AveragedGradient,
  TensorMemory,
  FileOrder,
  LaunchedRanks,
};

// What rules about launch files may look at: rules/launch/launch_rules.h.
struct LaunchContext;

struct Rule {
  std::string_view code;         // "AR101"
  std::string_view name;         // "rank-guarded-collective"
  Severity severity = Severity::Warning;
  bool on_by_default = true;
  // Why the rule is in preview, off unless selected: a sentence without its end. Empty: it is not.
  std::string_view preview;
  // What it sets aside (`Finding::is_in_preview`), and why, the same way. Empty: nothing.
  std::string_view preview_in_part;
  std::string_view languages;    // "Python", "Python, C++"
  std::string_view summary;      // one line, lower case, no full stop
  // Markdown under fixed headings: What it finds, Why it hurts, Wrong, Right, When it is silent, Fix, Proof.
  std::string_view explanation;
  // One of the two or, where code and launch files are held against each other, both; neither: another part of the tool reports it.
  void (*check)(const Context& context, FindingSink& sink) = nullptr;
  void (*check_launch)(const LaunchContext& context, FindingSink& sink) = nullptr;
  Scenario scenario = Scenario::None;
  bool has_fix = false;
  Applicability fix = Applicability::DisplayOnly;
};

// Why several rules are in preview.
inline constexpr std::string_view kTooFewFindings = "there were too few findings on public code to say how often it is right";
inline constexpr std::string_view kTooFewWereRead =
    "it is new, and too few of its findings on public code were read to say how often it is right";
inline constexpr std::string_view kReadBeforeItsFixes =
    "of the findings in launch files of 128 public repositories that were read about half were right, and the causes of the "
    "wrong ones were fixed only afterwards";

inline constexpr std::string_view kTooOftenWrong =
    "on repositories that it met for the first time fewer than 85 of 100 of its findings were right (docs/precision.md)";

// What several rules set aside.
inline constexpr std::string_view kUncertainInPython =
    "findings in Python code that are not certain: on repositories that it met for the first time fewer than 85 of 100 of them were right (docs/precision.md)";

// All rules, in the order of rules.def.
std::span<const Rule* const> AllRules();
// By code ("AR101") or name; none: nullptr.
const Rule* FindRule(std::string_view code_or_name);
// The page of a rule: what `allranks rule CODE` prints and docs/rules/ holds.
std::string RulePage(const Rule& rule);

}  // namespace allranks::rules
