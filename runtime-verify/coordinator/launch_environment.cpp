#include "runtime-verify/coordinator/launch_environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace allranks::verify {
namespace {

struct Names {
  const char *rank, *size, *local_rank;
};
constexpr Names kSets[] = {{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                           {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
                           {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};

constexpr uint16_t kDefaultPort = 29400;
constexpr uint16_t kPortsTried = 8;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<uint32_t> Number(const char* name) {
  const std::string text = Variable(name);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<LaunchEnvironment> ReadLaunchEnvironment(std::string* error) {
  LaunchEnvironment found;
  bool is_complete = false;
  for (const Names& names : kSets) {
    const auto rank = Number(names.rank), size = Number(names.size), local = Number(names.local_rank);
    if (!rank || !size || !local) continue;
    found.rank = *rank;
    found.size = *size;
    found.local_rank = *local;
    is_complete = true;
    break;
  }
  if (!is_complete) {
    *error =
        "no launcher has said which rank this is (RANK, WORLD_SIZE and LOCAL_RANK, or those of Open MPI, "
        "Slurm or PMI)";
    return std::nullopt;
  }
  if (found.size < 2 || found.rank >= found.size) {
    *error = "rank " + std::to_string(found.rank) + " of " + std::to_string(found.size) +
             " is no job that could be run";
    return std::nullopt;
  }
  if (const std::string address = Variable("MASTER_ADDR"); !address.empty()) found.address = address;
  if (const std::optional<uint32_t> port = Number("ALLRANKS_STORE_PORT");
      port && *port > 0 && *port < 65536) {
    found.ports = {static_cast<uint16_t>(*port)};
  } else {
    const uint32_t base = Number("MASTER_PORT").value_or(kDefaultPort);
    for (uint32_t i = 1; i <= kPortsTried && base + i < 65536; ++i)
      found.ports.push_back(static_cast<uint16_t>(base + i));
  }
  found.token = Variable("ALLRANKS_TOKEN");
  return found;
}

}  // namespace allranks::verify
