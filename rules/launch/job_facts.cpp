#include "rules/launch/job_facts.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace allranks::rules {
namespace {

using findings::Confidence;

constexpr std::array<std::string_view, 6> kAgents = {"torchrun", "torch.distributed.launch", "accelerate", "deepspeed", "colossalai", "lightning"};

// An option, or a key of a configuration.
std::string_view Between(const Option& option) {
  if (option.name.starts_with("--")) return "=";
  return option.name.starts_with("-") ? " " : ": ";
}

Said SaidIn(const Option& option) {
  return {.value = option.value.Number(), .span = option.word.span(), .sureness = option.value.sureness(),
          .text = "`" + option.name + std::string(Between(option)) + option.value.Shown() + "`"};
}

// `gpu:8`, `gpu:a100:8`, `8`, `a100:8`.
Said DevicesIn(const Option& option) {
  Said said = SaidIn(option);
  const std::string& text = option.value.text();
  if (option.means == "resources" && !text.starts_with("gpu:")) return {};
  if (text.find_first_of(",{") != std::string::npos) return {};
  const size_t colon = text.rfind(':');
  said.value = option.value.From(colon == std::string::npos ? 0 : colon + 1).Number();
  return said;
}

Said DevicesAsked(const Layer& layer) {
  for (const std::string_view means : {"devices_per_node", "resources"}) {
    if (const Option* option = layer.Find(means)) return DevicesIn(*option);
  }
  return {};
}

}  // namespace

const Layer* AgentOf(const Job& job) {
  for (const Layer& layer : std::views::reverse(job.layers)) {
    if (std::ranges::count(kAgents, layer.launcher->name) > 0) return &layer;
  }
  return nullptr;
}

bool HidesOptions(const Layer& layer) {
  return std::ranges::any_of(layer.options, [](const Option& option) {
    const bool is_unknown_word = !option.word.IsKnown() && option.word.text().find('=') == std::string::npos;
    return option.means == "unknown" || is_unknown_word;
  });
}

Said SaidBy(const Layer& layer, std::string_view means) {
  const Option* option = layer.Find(means);
  return option == nullptr ? Said() : SaidIn(*option);
}

Said NodesOfStep(const Job& job) {
  const Layer* step = job.Find("srun");
  if (step == nullptr) return {};
  if (step->Find("nodes") != nullptr) return SaidBy(*step, "nodes");
  // A step on named hosts or with fewer tasks than nodes does not use the whole allocation.
  if (step->Find("hosts") != nullptr || step->Find("processes") != nullptr || HidesOptions(*step) || !job.allocation) return {};
  return SaidBy(*job.allocation, "nodes");
}

Said TasksPerNodeOfStep(const Job& job) {
  const Layer* step = job.Find("srun");
  if (step == nullptr || HidesOptions(*step)) return {};
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
  // A job that another script hands to the scheduler may be of another allocation.
  return job.allocation && !job.is_remote ? DevicesAsked(*job.allocation) : Said();
}

Said NodesOf(const Job& job) {
  if (const Layer* agent = AgentOf(job)) {
    if (agent->Find("nodes") != nullptr) return SaidBy(*agent, "nodes");
    if (HidesOptions(*agent)) return {};
    const bool starts_others = agent->launcher->name == "deepspeed" && agent->Find("hostfile") != nullptr;
    if (starts_others) return {};
    const Said step = NodesOfStep(job);
    if (step.value) return step;
    return {.value = job.has_cluster || agent->launcher->name == "accelerate" ? std::nullopt : std::optional<int64_t>(1), .span = agent->span,
            .sureness = Sureness::Default, .text = "one node"};
  }
  return NodesOfStep(job);
}

Said ProcessesPerNode(const Job& job) {
  const Layer* agent = AgentOf(job);
  if (agent == nullptr) return {};
  if (agent->launcher->name != "accelerate") return SaidBy(*agent, "processes_per_node");
  // Accelerate counts the processes of all nodes.
  Said said = SaidBy(*agent, "processes");
  const Option* nodes = agent->Find("nodes");
  if (nodes == nullptr && agent->Find("config_file") != nullptr) return {};
  const int64_t count = nodes == nullptr ? 1 : nodes->value.Number().value_or(0);
  if (count <= 0 || !said.value || *said.value % count != 0) return {};
  said.value = *said.value / count;
  return said;
}

std::optional<std::set<std::string>> VisibleDevices(const Job& job, const launch::Setting** setting) {
  *setting = job.Env("CUDA_VISIBLE_DEVICES");
  if (*setting == nullptr || !(*setting)->value.IsKnown()) return std::nullopt;
  const std::string& text = (*setting)->value.text();
  std::set<std::string> devices;
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string one = text.substr(at, comma - at);
    std::erase(one, ' ');
    if (one.empty() && comma == text.size()) break;
    if (one.empty() || one.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    devices.insert(std::move(one));
    at = comma + 1;
  }
  return devices;
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

}  // namespace allranks::rules
