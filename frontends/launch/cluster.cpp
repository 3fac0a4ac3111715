#include "frontends/launch/cluster.h"

#include "frontends/launch/templates.h"

namespace allranks::launch_files {

using launch::ConfigId;
using launch::ConfigKind;
using launch::Option;
using launch::Piece;
using launch::Word;

Cluster::Cluster(const launch::ConfigTree& tree, ConfigId command) : tree_(tree), command_(command), root_(command) {
  while (tree_[root_].parent) root_ = tree_[root_].parent;
}

bool Cluster::IsThere() const {
  return tree_.Member(root_, "apiVersion") || tree_.Member(root_, "num_nodes") || tree_.Member(root_, "resources");
}

Option Cluster::OptionAt(ConfigId value) const {
  const launch::ConfigNode& node = tree_[value];
  return {.name = node.key, .word = Word(Piece{.text = node.key, .origin = node.key_span}),
          .value = WithoutTemplates(Word(Piece{.text = node.text, .origin = node.span}))};
}

std::optional<Option> Cluster::Devices() const {
  const ConfigId resources = tree_.Member(tree_[command_].parent, "resources");
  ConfigId count;
  for (const char* kind : {"requests", "limits"}) {
    if (const ConfigId of_kind = tree_.Member(tree_.Member(resources, kind), "nvidia.com/gpu")) count = of_kind;
  }
  const ConfigId accelerators = tree_.Member(tree_.Member(root_, "resources"), "accelerators");
  if (!count && accelerators && tree_[accelerators].kind == ConfigKind::Text) count = accelerators;
  // `accelerators: {A100: 8}`; of several kinds any one may be taken.
  const bool is_one_kind = !count && accelerators && tree_[accelerators].kind == ConfigKind::Map && tree_[accelerators].children.size() == 1;
  if (is_one_kind) count = tree_[accelerators].children[0];
  if (!count) return std::nullopt;
  Option devices = OptionAt(count);
  devices.means = "devices_per_node";
  return devices;
}

std::map<std::string, ShellVariable> Cluster::Variables() const {
  std::map<std::string, ShellVariable> variables;
  const std::optional<Option> devices = tree_.Member(tree_.Member(root_, "resources"), "accelerators") ? Devices() : std::nullopt;
  if (devices) {
    const size_t colon = devices->value.text().rfind(':');
    const Word count = devices->value.From(colon == std::string::npos ? 0 : colon + 1);
    if (count.Number()) variables["SKYPILOT_NUM_GPUS_PER_NODE"] = {.words = {count}, .span = count.span()};
  }
  const ConfigId processes = tree_.Member(tree_.Member(root_, "spec"), "nprocPerNode");
  if (processes && tree_.Member(tree_.Member(root_, "spec"), "pytorchReplicaSpecs")) {
    const Word count = OptionAt(processes).value;
    variables["PET_NPROC_PER_NODE"] = {.words = {count}, .is_exported = true, .span = count.span()};
  }
  return variables;
}

std::optional<Option> Cluster::Replicas() const {
  if (const ConfigId nodes = tree_.Member(root_, "num_nodes"); tree_.Integer(nodes)) return OptionAt(nodes);
  const ConfigId spec = tree_.Member(root_, "spec");
  if (const ConfigId roles = tree_.Member(spec, "pytorchReplicaSpecs")) return ReplicasOfRoles(roles);
  // Volcano starts as many pods of each task.
  if (const ConfigId tasks = tree_.Member(spec, "tasks"); tasks && tree_[tasks].kind == ConfigKind::List) return ReplicasOfRoles(tasks);
  // Of several kinds of jobs in a set, one may be something else.
  const ConfigId jobs = tree_.Member(spec, "replicatedJobs");
  if (!jobs || tree_[jobs].children.size() != 1) return std::nullopt;
  const ConfigId job = tree_[jobs].children[0];
  const ConfigId parallelism = tree_.Find(job, "template.spec.parallelism");
  const bool is_one = !tree_.Member(job, "replicas") || tree_.Integer(tree_.Member(job, "replicas")) == 1;
  return is_one && tree_.Integer(parallelism) ? std::optional(OptionAt(parallelism)) : std::nullopt;
}

std::optional<launch::HostFile> Cluster::Workers(const std::string& path) const {
  // Nobody starts more pods than this.
  constexpr int64_t kMostWorkers = 100000;
  const ConfigId spec = tree_.Member(root_, "spec");
  const ConfigId implementation = tree_.Member(spec, "mpiImplementation");
  const std::optional<int64_t> slots = tree_.Integer(tree_.Member(spec, "slotsPerWorker"));
  const ConfigId replicas = tree_.Find(spec, "mpiReplicaSpecs.Worker.replicas");
  const std::optional<int64_t> workers = tree_.Integer(replicas);
  const bool is_open = !implementation || tree_.Text(implementation) == "OpenMPI";
  if (!is_open || !slots || !workers || *workers < 1 || *workers > kMostWorkers) return std::nullopt;
  launch::HostFile hosts{.path = path, .hosts = {}};
  for (int64_t i = 0; i < *workers; ++i) hosts.hosts.push_back({.name = "worker-" + std::to_string(i), .slots = slots, .most_slots = slots, .span = tree_[replicas].span});
  return hosts;
}

// Each role has one replica unless it says more.
std::optional<Option> Cluster::ReplicasOfRoles(ConfigId roles) const {
  int64_t count = 0;
  ConfigId last;
  for (const ConfigId role : tree_[roles].children) {
    const ConfigId replicas = tree_.Member(role, "replicas");
    if (replicas && !tree_.Integer(replicas)) return std::nullopt;
    count += tree_.Integer(replicas).value_or(1);
    if (replicas) last = replicas;
  }
  if (!last) return std::nullopt;
  Option option = OptionAt(last);
  option.value = Word(Piece{.text = std::to_string(count), .origin = tree_[last].span});
  return option;
}

}  // namespace allranks::launch_files
