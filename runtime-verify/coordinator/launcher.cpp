#include "runtime-verify/coordinator/launcher.h"

namespace allranks::verify {

std::vector<RankLink> LocalLauncher::Start(uint32_t world, std::string* error) {
  std::vector<RankLink> links;
  for (uint32_t rank = 0; rank < world; ++rank) {
    ChildOptions options = options_;
    const std::vector<std::string> own = EnvironmentOf(rank);
    options.env.insert(options.env.end(), own.begin(), own.end());
    std::optional<Child> child = Child::Start(options, error);
    if (!child) return {};
    links.push_back({.child = std::move(child)});
  }
  return links;
}

RankSetup LocalLauncher::SetupOf(uint32_t rank) const {
  return {.rank = rank, .address = "127.0.0.1", .comms = {}};
}

}  // namespace allranks::verify
