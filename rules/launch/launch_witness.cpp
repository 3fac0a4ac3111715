#include "rules/launch/launch_witness.h"

#include "rules/scenario_witness.h"

namespace allranks::rules {
namespace {

constexpr int64_t kMost = 1024;

std::optional<witness::Witness> WitnessOf(int64_t nodes, int64_t processes, witness::Effect effect, witness::Scenario scenario) {
  if (nodes < 1 || processes < 1 || nodes > kMost || processes > kMost || nodes * processes > kMost || nodes * processes < 2) return std::nullopt;
  return ScenarioWitness({.nodes = static_cast<uint32_t>(nodes), .per_node = static_cast<uint32_t>(processes), .mesh = {}}, effect, std::move(scenario));
}

// torchrun starts one where nothing is said.
int64_t ProcessesShown(const Job& job) {
  const Layer* agent = AgentOf(job);
  const Said said = agent == nullptr ? TasksPerNodeOfStep(job) : ProcessesPerNode(job);
  if (said.value) return *said.value;
  const bool is_said = agent == nullptr || !said.text.empty() || agent->HidesOptions() || agent->launcher->name != "torchrun";
  return is_said ? 2 : 1;
}

}  // namespace

std::optional<witness::Witness> LaunchWitness(const Job& job, const Launchers& launchers, witness::Effect effect) {
  const int64_t processes = ProcessesShown(job);
  const int64_t meant = std::max(launchers.awaited, launchers.meet == Launchers::Meet::EachForItself ? launchers.nodes : 1);
  const bool is_bounded = processes >= 1 && processes <= kMost && launchers.awaited >= 1 && launchers.nodes >= 1 && launchers.on_each >= 1 &&
                          launchers.nodes <= kMost && launchers.on_each <= kMost && launchers.nodes * launchers.on_each <= kMost &&
                          launchers.number >= 0 && launchers.number < kMost;
  if (!is_bounded) return std::nullopt;
  witness::LaunchedRanks scenario{.processes = static_cast<uint32_t>(processes), .awaited = static_cast<uint32_t>(launchers.awaited), .nodes = {}, .places = {}, .numbers = {}};
  for (int64_t i = 0; i < launchers.nodes * launchers.on_each; ++i) {
    const int64_t node = i / launchers.on_each;
    scenario.nodes.push_back(static_cast<uint32_t>(node));
    scenario.places.push_back(launchers.meet == Launchers::Meet::EachForItself ? static_cast<uint32_t>(node) : 0);
    switch (launchers.numbered) {
      case Launchers::Numbered::ByAgreement: scenario.numbers.push_back(-1); break;
      case Launchers::Numbered::AsTold: scenario.numbers.push_back(static_cast<int32_t>(node)); break;
      case Launchers::Numbered::AllTheSame: scenario.numbers.push_back(static_cast<int32_t>(launchers.number)); break;
    }
  }
  return WitnessOf(meant, processes, effect, std::move(scenario));
}

std::optional<witness::Witness> DeviceWitness(int64_t nodes, int64_t processes, int64_t devices) {
  if (processes < 1 || processes > kMost || nodes < 1 || nodes > kMost || nodes * processes > kMost || devices < 1 || devices > kMost) return std::nullopt;
  witness::DeviceOrdinal scenario{.devices = static_cast<uint32_t>(devices), .ordinals = {}};
  for (int64_t rank = 0; rank < nodes * processes; ++rank) scenario.ordinals.push_back(static_cast<int32_t>(rank % processes));
  return WitnessOf(nodes, processes, witness::Effect::Error, std::move(scenario));
}

}  // namespace allranks::rules
