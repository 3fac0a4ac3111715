// What rules about launch files ask of a job: numbers as they were said, and how sure they are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/launch/launch_rules.h"

namespace allranks::rules {

using launch::Job;
using launch::LaunchFile;
using launch::Layer;
using launch::Option;
using launch::Sureness;
using launch::Word;

// Where commands are shown to readers, who may have to fill them in.
inline bool IsPage(const LaunchFile& file) { return file.kind == launch::FileKind::Markdown || file.kind == launch::FileKind::Notebook; }

// A number that somebody wrote, and where.
struct Said {
  std::optional<int64_t> value;
  source::Span span;
  Sureness sureness = Sureness::Unknown;
  std::string text;          // "`--nnodes=2`"
  bool is_implied = false;   // nobody says it: what the launcher does then

  bool IsMoreThan(int64_t limit) const { return value && *value > limit; }
};

// The layer that starts the processes of a node: torchrun, accelerate, deepspeed; nullptr: none does.
const Layer* AgentOf(const Job& job);

Said SaidOf(const Option& option);
Said SaidBy(const Layer& layer, std::string_view means);
Said SaidInEnvironment(const Job& job, std::string_view name);
// Of the scheduler's step that a command is started by; without one, of nothing.
Said NodesOfStep(const Job& job);
Said TasksPerNodeOfStep(const Job& job);
// GPUs that a node of the allocation has, by `--gres` or `--gpus-per-node`.
Said DevicesOfNode(const Job& job);
// Those of all nodes of the allocation, by `--gpus`.
Said DevicesOfAllNodes(const Job& job);
// Whether each round of a loop starts it on another host: `ssh $host`, `srun -w $host`.
bool IsOnOneHostOfLoop(const Job& job);
// The nodes of a job as its own launcher, or else the scheduler, says.
Said NodesOf(const Job& job);
// Processes that the agent starts on a node.
Said ProcessesPerNode(const Job& job);
// The GPUs that a job may use, by their numbers, and who says so.
struct Devices {
  std::set<std::string> numbers;
  Said said;               // how many; its text is the name of the variable or of the option
};
// What CUDA_VISIBLE_DEVICES leaves; nothing: it is not set, or not known.
std::optional<Devices> VisibleDevices(const Job& job);
// What the job's launcher is told (`--gpu_ids`, `--include`), or else the variable.
std::optional<Devices> DevicesOf(const Job& job);

// The value of an argument of the script, `--name value` or `--name=value`; `True` for one without a value.
struct GivenArgument {
  Word value;
  source::Span span;
};
// Whether a device of a node may be used though no rank of the job has it: its program takes more, or another command has it.
bool MayUseMore(const LaunchContext& context, const LaunchFile& file, const Job& job, int64_t processes);
std::optional<GivenArgument> GivenArgumentOf(const Job& job, const std::vector<std::string>& names);

findings::Confidence ConfidenceOf(Sureness sureness);
findings::Confidence ConfidenceOf(const Said& a, const Said& b);

// A finding of a launch file.
findings::Finding LaunchFinding(std::string_view code, Severity severity, findings::Confidence confidence, source::Span span,
                                findings::Text message);
void AddNote(findings::Finding& finding, source::Span span, findings::Text text);
// One finding for the commands of a file that are told the same, at the first of them, and one fix for all of them.
void AddAlike(findings::Finding finding, std::vector<findings::Finding>& of_file);

// Whether a variable is NCCL's, by its name or its beginning, and the program of the job communicates by another backend alone.
bool IsOfNcclUnused(const LaunchContext& context, const launch::Job& job, std::string_view variable);

}  // namespace allranks::rules
