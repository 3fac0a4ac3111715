// What this machine has to run ranks on.
#pragma once

#include "runtime-verify/coordinator/verifier.h"

namespace allranks::verify {

struct MachineOptions {
  std::string nccl_library;  // --nccl-lib; empty: searched
  std::string python;        // whose NCCL to prefer; empty: that of an active environment
  bool force = false;        // also on a device that others use
  bool is_remote = false;    // ranks on other nodes: not the loopback alone
};

// A backend, or one sentence on why there is none and what to do.
struct Found {
  std::optional<RankBackend> backend;
  std::string missing;
  std::string description;  // "NCCL 2.28.9, NVIDIA H200, 1 device"
};

Found FindGloo(InterruptGuard& interrupt);
// Loads driver and library in a process of its own, so that nothing of them stays here.
Found FindNccl(const MachineOptions& options, InterruptGuard& interrupt);

// Where NCCL may be, in the order of preference: told, PyTorch's own, the system's.
std::vector<std::string> NcclCandidates(const MachineOptions& options);

// Whether such a library may be loaded; if not, why.
std::string RefuseLibrary(const std::string& path);

}  // namespace allranks::verify
