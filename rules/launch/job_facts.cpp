#include "rules/launch/job_facts.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "analyzer/base/lowered.h"

namespace allranks::rules {
namespace {

using findings::Confidence;

constexpr std::array<std::string_view, 6> kAgents = {"torchrun", "torch.distributed.launch", "accelerate", "deepspeed", "colossalai", "lightning"};

// Of DeepSpeed's `--include`.
constexpr std::string_view kOnThisMachine = "localhost:";

// An option, or a key of a configuration.
std::string_view Between(const Option& option) {
  if (option.name.starts_with("--")) return "=";
  return option.name.starts_with("-") ? " " : ": ";
}

// `gpu:8`, `gpu:a100:8`, `8`, `a100:8`.
Said DevicesIn(const Option& option) {
  Said said = SaidOf(option);
  const std::string& text = option.value.text();
  if (option.means == "resources" && !text.starts_with("gpu:")) return {};
  if (text.find_first_of(",{") != std::string::npos) return {};
  const size_t colon = text.rfind(':');
  said.value = option.value.From(colon == std::string::npos ? 0 : colon + 1).Number();
  return said;
}

// All devices of a job are those of a node where it has one; those of its tasks add up.
Said DevicesAsked(const Layer& layer) {
  for (const std::string_view means : {"devices_per_node", "resources"}) {
    if (const Option* option = layer.Find(means)) return DevicesIn(*option);
  }
  if (const Option* all = layer.Find("devices"); all != nullptr && layer.Number("nodes") == 1) return DevicesIn(*all);
  const Option* of_task = layer.Find("devices_per_process");
  const bool has_other_tasks = layer.Find("processes") != nullptr || layer.Find("processes_per_device") != nullptr;
  if (of_task == nullptr || has_other_tasks) return {};
  const int64_t tasks = layer.Find("processes_per_node") == nullptr ? 1 : layer.Number("processes_per_node").value_or(0);
  Said said = DevicesIn(*of_task);
  if (tasks <= 0 || !said.value) return {};
  said.value = *said.value * tasks;
  return said;
}

// `0,1,2`; nothing: not known, or by another name than a number.
std::optional<Devices> DevicesListed(const Word& list, source::Span span, std::string name) {
  if (!list.IsKnown()) return std::nullopt;
  Devices devices{.numbers = {}, .said = {.value = std::nullopt, .span = span, .sureness = list.sureness(), .text = std::move(name)}};
  const std::string& text = list.text();
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string one = text.substr(at, comma - at);
    std::erase(one, ' ');
    if (one.empty() && comma == text.size()) break;
    if (one.empty() || one.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    devices.numbers.insert(std::move(one));
    at = comma + 1;
  }
  devices.said.value = static_cast<int64_t>(devices.numbers.size());
  return devices;
}

// All hosts of the file, or those that are chosen among them.
bool UsesAllHosts(const Layer& agent) { return agent.hosts && agent.Find("include") == nullptr && agent.Find("exclude") == nullptr; }

Said SaidByHosts(const Layer& agent, std::optional<int64_t> count) {
  const Option& file = *agent.Find("hostfile");
  return {.value = count, .span = file.word.span(), .sureness = std::min(file.value.sureness(), Sureness::Default), .text = "`" + agent.hosts->path + "`"};
}

// DeepSpeed starts a node for each host of its file, and a rank for each slot.
Said HostsIn(const Layer& agent) { return UsesAllHosts(agent) ? SaidByHosts(agent, static_cast<int64_t>(agent.hosts->hosts.size())) : Said(); }
Said SlotsOfHosts(const Layer& agent) { return UsesAllHosts(agent) ? SaidByHosts(agent, agent.hosts->SlotsOfEach()) : Said(); }

}  // namespace

const Layer* AgentOf(const Job& job) {
  for (const Layer& layer : std::views::reverse(job.layers)) {
    if (std::ranges::count(kAgents, layer.launcher->name) > 0) return &layer;
  }
  return nullptr;
}

Said SaidOf(const Option& option) {
  return {.value = option.value.Number(), .span = option.word.span(), .sureness = option.value.sureness(),
          .text = "`" + option.name + std::string(Between(option)) + option.value.Shown() + "`"};
}

bool IsOnOneHostOfLoop(const Job& job) {
  const Layer* step = job.Find("srun");
  const Option* host = step == nullptr ? nullptr : step->Find("hosts");
  return job.is_repeated && (job.is_remote || (host != nullptr && !host->value.IsKnown()));
}

Said SaidBy(const Layer& layer, std::string_view means) {
  const Option* option = layer.Find(means);
  return option == nullptr ? Said() : SaidOf(*option);
}

// Options of torchrun have variables.
Said SaidInEnvironment(const Job& job, std::string_view name) {
  const launch::Setting* setting = job.Env(name);
  if (setting == nullptr) return {};
  return {.value = setting->value.Number(), .span = setting->span, .sureness = setting->value.sureness(),
          .text = "`" + setting->name + "=" + setting->value.Shown() + "`"};
}

Said NodesOfStep(const Job& job) {
  const Layer* step = job.Find("srun");
  if (step == nullptr) return {};
  if (step->Find("nodes") != nullptr) return SaidBy(*step, "nodes");
  // A step on named hosts or with fewer tasks than nodes does not use the whole allocation.
  if (step->Find("hosts") != nullptr || step->Find("processes") != nullptr || step->HidesOptions() || !job.allocation) return {};
  return SaidBy(*job.allocation, "nodes");
}

Said TasksPerNodeOfStep(const Job& job) {
  const Layer* step = job.Find("srun");
  if (step == nullptr || step->HidesOptions()) return {};
  const Said own = SaidBy(*step, "processes_per_node");
  if (own.value) return own;
  const Said nodes = NodesOfStep(job);
  const Said processes = SaidBy(*step, "processes");
  if (processes.value) {
    const Said own_nodes = SaidBy(*step, "nodes");
    const int64_t divisor = own_nodes.value ? *own_nodes.value : job.allocation ? SaidBy(*job.allocation, "nodes").value.value_or(0) : 0;
    if (divisor <= 0) return {};
    Said said = processes;
    said.value = (*processes.value + divisor - 1) / divisor;
    return said;
  }
  return job.allocation ? SaidBy(*job.allocation, "processes_per_node") : Said();
}

Said DevicesOfNode(const Job& job) {
  if (const Layer* step = job.Find("srun")) {
    const Said own = DevicesAsked(*step);
    if (own.value) return own;
  }
  if (job.devices) return DevicesIn(*job.devices);
  return job.allocation ? DevicesAsked(*job.allocation) : Said();
}

Said DevicesOfAllNodes(const Job& job) {
  const Layer* step = job.Find("srun");
  if (step != nullptr && step->Find("devices") != nullptr) return DevicesIn(*step->Find("devices"));
  const Option* all = job.allocation ? job.allocation->Find("devices") : nullptr;
  return all == nullptr ? Said() : DevicesIn(*all);
}

Said NodesOf(const Job& job) {
  if (const Layer* agent = AgentOf(job)) {
    if (agent->Find("nodes") != nullptr) return SaidBy(*agent, "nodes");
    if (agent->HidesOptions()) return {};
    const bool starts_others = agent->launcher->name == "deepspeed" && agent->Find("hostfile") != nullptr;
    if (starts_others) return HostsIn(*agent);
    const Said step = NodesOfStep(job);
    if (step.value) return step;
    return {.value = job.has_cluster || agent->launcher->name == "accelerate" ? std::nullopt : std::optional<int64_t>(1), .span = agent->span,
            .sureness = Sureness::Default, .text = "one node", .is_implied = true};
  }
  return NodesOfStep(job);
}

Said ProcessesPerNode(const Job& job) {
  const Layer* agent = AgentOf(job);
  if (agent == nullptr) return {};
  if (agent->launcher->name == "deepspeed" && agent->Find("processes_per_node") == nullptr) {
    const std::optional<Devices> included = agent->Find("include") != nullptr ? DevicesOf(job) : std::nullopt;
    return included ? included->said : SlotsOfHosts(*agent);
  }
  if (agent->launcher->name != "accelerate") {
    const bool is_in_environment = agent->launcher->name == "torchrun" && agent->Find("processes_per_node") == nullptr && !agent->HidesOptions();
    return is_in_environment ? SaidInEnvironment(job, "PET_NPROC_PER_NODE") : SaidBy(*agent, "processes_per_node");
  }
  // Accelerate counts the processes of all nodes.
  Said said = SaidBy(*agent, "processes");
  const Option* nodes = agent->Find("nodes");
  if (nodes == nullptr && agent->Find("config_file") != nullptr) return {};
  const int64_t count = nodes == nullptr ? 1 : nodes->value.Number().value_or(0);
  if (count <= 0 || !said.value || *said.value % count != 0) return {};
  said.value = *said.value / count;
  return said;
}

std::optional<Devices> VisibleDevices(const Job& job) {
  const launch::Setting* setting = job.Env("CUDA_VISIBLE_DEVICES");
  return setting == nullptr ? std::nullopt : DevicesListed(setting->value, setting->span, "CUDA_VISIBLE_DEVICES");
}

std::optional<Devices> DevicesOf(const Job& job) {
  const Layer* agent = AgentOf(job);
  if (agent == nullptr) return VisibleDevices(job);
  if (const Option* ids = agent->Find("devices"); ids != nullptr && ids->value.text() != "all") {
    return DevicesListed(ids->value, ids->word.span(), ids->name);
  }
  const Option* include = agent->Find("include");
  if (include == nullptr) return VisibleDevices(job);
  const std::string_view text = include->value.text();
  return text.starts_with(kOnThisMachine) ? DevicesListed(include->value.From(kOnThisMachine.size()), include->word.span(), include->name) : std::nullopt;
}

std::optional<GivenArgument> GivenArgumentOf(const Job& job, const std::vector<std::string>& names) {
  std::optional<GivenArgument> found;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    const size_t equals = text.find('=');
    if (std::ranges::count(names, text.substr(0, equals)) == 0) continue;
    const source::Span span = job.args[i].span();
    const Word value = launch::ValueOf(job.args, i);
    const bool has_value = equals != std::string::npos || !value.empty();
    found = GivenArgument{has_value ? value : Word(launch::Piece{.text = "True", .origin = span}), span};
  }
  return found;
}

namespace {

// `--vllm_device cuda:4`
bool NamesDeviceBehind(const Word& argument, int64_t processes) {
  constexpr std::string_view kDevice = "cuda:";
  const size_t at = argument.text().find(kDevice);
  if (at == std::string::npos) return false;
  const Word number = argument.From(at + kDevice.size());
  return number.Number().value_or(processes) >= processes;
}

// `--judge_device 3`, `EVAL_GPU=7`: of a name that speaks of one device, where the value is none that a rank has, or not known.
bool IsOfOneDevice(std::string_view name) {
  std::string plain = base::Lowered(name);
  std::ranges::replace(plain, '-', '_');
  if (plain.ends_with("_id")) plain.resize(plain.size() - 3);
  const bool counts = plain.find("num") != std::string::npos || plain.find("n_gpu") != std::string::npos || plain.find("per_") != std::string::npos;
  return !counts && (plain.ends_with("gpu") || plain.ends_with("device") || plain.ends_with("cuda"));
}
bool LiesBehind(const Word& value, int64_t processes) { return !value.IsKnown() || value.Number().value_or(-1) >= processes; }
bool NamesDeviceBehind(std::string_view name, const Word& value, int64_t processes) { return IsOfOneDevice(name) && LiesBehind(value, processes); }

// The same by an argument, or by what the command sets before it starts.
bool IsToldOfDeviceBehind(const Job& job, int64_t processes) {
  const auto of_setting = [&](const launch::Setting& setting) { return NamesDeviceBehind(setting.name, setting.value, processes); };
  if (std::ranges::any_of(job.environment, of_setting)) return true;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    const size_t equals = text.find('=');
    const bool is_next = equals == std::string::npos && text.starts_with("--") && i + 1 < job.args.size();
    if (equals == std::string::npos && !is_next) continue;
    if (NamesDeviceBehind(text.substr(0, equals), is_next ? job.args[i + 1] : job.args[i].From(equals + 1), processes)) return true;
  }
  return false;
}

bool IsOff(const Word& value) {
  constexpr std::array<std::string_view, 5> kOff = {"False", "false", "0", "no", "off"};
  return std::ranges::count(kOff, value.text()) > 0;
}

// `CUDA_VISIBLE_DEVICES=7 vllm serve model &`: no matter which, if the job is not told its own.
bool IsUsedBeside(const std::optional<Devices>& own, const Word& list) {
  const std::optional<Devices> others = DevicesListed(list, list.span(), "CUDA_VISIBLE_DEVICES");
  return !own || !others || std::ranges::any_of(others->numbers, [&](const std::string& device) { return own->numbers.contains(device); });
}

}  // namespace

bool MayUseMore(const LaunchContext& context, const LaunchFile& file, const Job& job, int64_t processes) {
  const std::optional<GivenArgument> engine = GivenArgumentOf(job, context.launches.tables.device_arguments());
  if (engine && !IsOff(engine->value)) return true;
  if (std::ranges::any_of(job.args, [&](const Word& argument) { return NamesDeviceBehind(argument, processes); })) return true;
  if (IsToldOfDeviceBehind(job, processes)) return true;
  const std::optional<Devices> own = DevicesOf(job);
  if (std::ranges::any_of(file.background_devices, [&](const launch::Setting& setting) { return IsUsedBeside(own, setting.value); })) return true;
  return std::ranges::any_of(file.jobs, [&](const Job& other) {
    const launch::Setting* visible = other.in_background && other.order != job.order ? other.Env("CUDA_VISIBLE_DEVICES") : nullptr;
    return visible != nullptr && visible->is_of_command && IsUsedBeside(own, visible->value);
  });
}

Confidence ConfidenceOf(Sureness sureness) {
  switch (sureness) {
    case Sureness::Written: return Confidence::Certain;
    case Sureness::Default: return Confidence::Likely;
    case Sureness::Unknown: break;
  }
  return Confidence::Possible;
}

Confidence ConfidenceOf(const Said& a, const Said& b) { return std::min(ConfidenceOf(a.sureness), ConfidenceOf(b.sureness)); }

findings::Finding LaunchFinding(std::string_view code, Severity severity, Confidence confidence, source::Span span, findings::Text message) {
  return {.code = code, .severity = severity, .confidence = confidence, .span = span, .message = std::move(message)};
}

void AddNote(findings::Finding& finding, source::Span span, findings::Text text) {
  finding.labels.push_back({.span = span, .role = findings::LabelRole::Note, .text = std::move(text)});
}

void AddAlike(Finding finding, std::vector<Finding>& of_file) {
  const std::string message = findings::Render(finding.message);
  const auto same = std::ranges::find_if(of_file, [&](const findings::Finding& other) {
    return other.confidence == finding.confidence && findings::Render(other.message) == message;
  });
  if (same == of_file.end()) return of_file.push_back(std::move(finding));
  // A script that gets its arguments from others (`"$@"`) is one command of each of them.
  const bool is_known = same->span == finding.span || std::ranges::any_of(same->labels, [&](const findings::Label& label) { return label.span == finding.span; });
  if (!is_known) AddNote(*same, finding.span, {"and here", {}});
  if (finding.fixes.empty()) return;
  findings::Fix& fix = finding.fixes.front();
  if (same->fixes.empty()) return same->fixes.push_back(std::move(fix));
  findings::Fix& of_all = same->fixes.front();
  of_all.edits.insert(of_all.edits.end(), fix.edits.begin(), fix.edits.end());
  if (fix.applicability != of_all.applicability) of_all.applicability = Applicability::Unsafe;
}

bool IsOfNcclUnused(const LaunchContext& context, const launch::Job& job, std::string_view variable) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script == nullptr || !script->has_no_nccl) return false;
  const launch::VariableFamily* family = context.launches.tables.variable_names().FamilyOf(std::string(variable));
  return family != nullptr ? family->library == "NCCL" : variable.starts_with("NCCL_");
}

}  // namespace allranks::rules
