// What an operator adds to the commands of a manifest: Kubernetes' PyTorchJob and JobSet, Volcano's Job, SkyPilot.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analyzer/launch/job.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

class Cluster {
 public:
  // `command`: the value in which the command stands.
  Cluster(const launch::ConfigTree& tree, launch::ConfigId command);

  // Whether whoever runs the file says who meets whom: operators set variables for it.
  bool IsThere() const;
  // `nvidia.com/gpu: 8` of a container of Kubernetes, `accelerators: A100:8` of a task of SkyPilot.
  std::optional<launch::Option> Devices() const;
  // What the operator sets for the command, from numbers in the manifest.
  std::map<std::string, ShellVariable> Variables() const;
  // The nodes that are started, of all roles that run the launcher.
  std::optional<launch::Option> Replicas() const;
  // The hosts that the operator of an MPIJob hands to Open MPI; nothing: the manifest does not say their slots. `path`: of the manifest.
  std::optional<launch::HostFile> Workers(const std::string& path) const;

 private:
  launch::Option OptionAt(launch::ConfigId value) const;
  std::optional<launch::Option> ReplicasOfRoles(launch::ConfigId roles) const;

  const launch::ConfigTree& tree_;
  launch::ConfigId command_;
  launch::ConfigId root_;
};

}  // namespace allranks::launch_files
