// What this machine has to run ranks on.
#pragma once

#include "runtime-verify/coordinator/verifier.h"

namespace allranks::verify {

struct MachineOptions {
  std::string nccl_library;  // --nccl-lib; empty: searched
  std::string python;        // whose NCCL to prefer; empty: that of an active environment
  std::string network;       // --interface: the one that ranks of other nodes reach; empty: what the libraries choose
  bool force = false;        // also on a device that others use
  bool is_remote = false;    // ranks on other nodes: not the loopback alone
  int32_t local_rank = -1;   // of a launched job: this process is one rank, and the launcher chose its device
};

// A backend, or one sentence on why there is none and what to do.
struct Found {
  std::optional<RankBackend> backend;
  std::string missing;
  std::string description;  // "NCCL 2.28.9, NVIDIA H200, 1 device"
};

Found FindGloo(const MachineOptions& machine, InterruptGuard& interrupt);
// Loads driver and library in processes of their own, so that nothing of them stays here, and lets two ranks meet.
Found FindNccl(const MachineOptions& options, InterruptGuard& interrupt);

// Where NCCL may be, in the order of preference: told, PyTorch's own, the system's.
std::vector<std::string> NcclCandidates(const MachineOptions& options);

// Whether such a library may be loaded; if not, why.
std::string RefuseLibrary(const std::string& path);

}  // namespace allranks::verify
