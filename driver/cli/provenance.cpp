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

// Asks git for single lines, all within one span of time: what it would wait for without end once, it would each time. A run whose time
// is over, or that a signal ended, still has a moment for what its report says of itself.
class Questions {
 public:
  Questions(const std::string& folder, const std::function<bool()>& is_stopped) : folder_(folder), is_stopped_(is_stopped) {}

  // Empty: git has nothing to say.
  std::string Ask(const std::vector<std::string>& args) const {
    const auto is_over = [this] { return Spent() > kMoment && is_stopped_ && is_stopped_(); };
    if (Spent() >= kMost || is_over()) return {};
    const base::Result<std::string> out = baseline::RunGit(folder_, args, {.time = kMost - Spent(), .is_stopped = is_over});
    return out ? out->substr(0, out->find('\n')) : std::string();
  }

 private:
  static constexpr std::chrono::milliseconds kMoment{1000}, kMost{10'000};

  std::chrono::milliseconds Spent() const { return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_); }

  const std::string& folder_;
  const std::function<bool()>& is_stopped_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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
                           int exit_code, const std::function<bool()>& is_stopped) {
  const Questions git(root, is_stopped);
  return {.arguments = arguments.words,
          .start_time = UtcTime(start),
          .end_time = UtcTime(std::chrono::system_clock::now()),
          .exit_code = exit_code,
          .repository = RepositoryUri(git.Ask({"config", "--get", "remote.origin.url"})),
          .commit = git.Ask({"rev-parse", "HEAD"}),
          .branch = git.Ask({"symbolic-ref", "--short", "-q", "HEAD"})};
}

}  // namespace allranks::cli
