#include "driver/cli/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "driver/baseline/git.h"
#include "driver/cli/terminal.h"

namespace allranks::cli {
namespace {

std::string UtcTime(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

// One line that git prints; empty: it has nothing to say.
std::string Git(const std::string& folder, const std::vector<std::string>& args) {
  const base::Result<std::string> out = baseline::RunGit(folder, args);
  return out ? out->substr(0, out->find('\n')) : std::string();
}

}  // namespace

std::string RepositoryUri(std::string remote) {
  const size_t scheme = remote.find("://");
  const size_t at = remote.find('@');
  if (scheme == std::string::npos) {
    // git@host:owner/name
    const size_t colon = remote.find(':');
    if (at == std::string::npos || colon == std::string::npos || colon < at) return {};
    remote = "https://" + remote.substr(at + 1, colon - at - 1) + "/" + remote.substr(colon + 1);
  } else {
    if (!remote.starts_with("https://") && !remote.starts_with("http://") && !remote.starts_with("ssh://")) return {};
    const size_t host = at != std::string::npos && at < remote.find('/', scheme + 3) ? at + 1 : scheme + 3;
    remote = "https://" + remote.substr(host);
  }
  if (remote.ends_with(".git")) remote.resize(remote.size() - 4);
  return remote;
}

reports::RunInfo RunInfoOf(const CheckArguments& arguments, const std::string& root, std::chrono::system_clock::time_point start,
                           int exit_code) {
  return {.arguments = arguments.words,
          .start_time = UtcTime(start),
          .end_time = UtcTime(std::chrono::system_clock::now()),
          .exit_code = exit_code,
          .repository = RepositoryUri(Git(root, {"config", "--get", "remote.origin.url"})),
          .commit = Git(root, {"rev-parse", "HEAD"}),
          .branch = Git(root, {"symbolic-ref", "--short", "-q", "HEAD"})};
}

}  // namespace allranks::cli
