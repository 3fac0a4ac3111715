#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allranks::verify {

// What torchrun, srun, mpirun or another launcher told this process.
struct LaunchEnvironment {
  uint32_t rank = 0;
  uint32_t size = 1;
  uint32_t local_rank = 0;
  std::string address = "127.0.0.1";  // of rank 0
  // Where rank 0 may listen, in this order: MASTER_PORT itself may be taken by the launcher.
  std::vector<uint16_t> ports;
  std::string token;
};

// From the first complete set of variables. On failure `error` says which there are.
std::optional<LaunchEnvironment> ReadLaunchEnvironment(std::string* error);

}  // namespace allranks::verify
