#include "runtime-verify/coordinator/machine.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runtime-verify/coordinator/ras.h"

namespace allranks::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGlooWorker = "allranks-worker-gloo";
constexpr std::string_view kWheelPath = "nvidia/nccl/lib/libnccl.so.2";

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What a worker may know of our environment.
std::vector<std::string> Inherited(std::initializer_list<const char*> names) {
  std::vector<std::string> env;
  for (const char* name : names) {
    if (const std::string value = EnvironmentVariable(name); !value.empty())
      env.push_back(std::string(name) + "=" + value);
  }
  return env;
}

fs::path OwnProgram() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

AttemptLog RunProbe(const witness::Schedule& schedule, Launcher& launcher, InterruptGuard& interrupt, milliseconds limit) {
  AttemptOptions options{.fence = false, .release = false, .limits = {}};
  options.limits.connect = limit;
  options.limits.quiet = limit;
  return RunAttempt(schedule, options, launcher, interrupt);
}

// Whether the ranks of a launcher come up at all, with one rank that has nothing to do.
AttemptLog Probe(Launcher& launcher, InterruptGuard& interrupt, milliseconds limit) {
  return RunProbe({.world = 1, .comms = {}, .class_of = {0}, .ops = {{}}}, launcher, interrupt, limit);
}

// Whether two ranks come together and get right data: a device may be there for one process only. Empty, or what fails.
std::string ProbePair(Launcher& launcher, InterruptGuard& interrupt, milliseconds limit) {
  const witness::ScheduledOp sum{.kind = witness::OpKind::AllReduce, .comm = 0, .count = 1024};
  const witness::Schedule pair{.world = 2, .comms = {{0, 1}}, .class_of = {0, 0}, .ops = {{sum}}};
  const AttemptLog log = RunProbe(pair, launcher, interrupt, limit);
  if (!log.reason.empty()) return log.reason;
  if (OutcomeOf(pair, log).effect == witness::Effect::Clean) return "";
  for (const RankLog& rank : log.ranks) {
    if (!rank.words.empty()) return rank.words;
  }
  return "an all_reduce of two ranks does not complete";
}

// Nobody listens there; another process could take it before NCCL does, and its monitor would then stay
// silent.
std::string FreeAddress() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(descriptor, generic, size) == 0 && getsockname(descriptor, generic, &size) == 0;
  close(descriptor);
  return "127.0.0.1:" + (bound ? std::to_string(ntohs(address.sin_port)) : "28029");
}

// Several ranks on one device: each is its own host to NCCL, which then talks over sockets on the loopback.
// All else is off, small and the same in every run; docs/runtime-verify.md says why for each.
class NcclLauncher : public LocalLauncher {
 public:
  NcclLauncher(ChildOptions options, const std::string& library, std::string_view protocol,
               const std::string& monitor, const MachineOptions& machine)
      : LocalLauncher(WithSettings(std::move(options), protocol, monitor, library, machine)),
        force_(machine.force),
        local_rank_(machine.local_rank),
        monitor_(monitor),
        nonce_(std::to_string(getpid()) + "-" + std::to_string(Clock::now().time_since_epoch().count())) {}

  RankSetup SetupOf(uint32_t rank) const override {
    RankSetup setup = LocalLauncher::SetupOf(rank);
    setup.force = force_;
    setup.device = local_rank_;
    setup.survey = local_rank_ < 0 && devices_.empty();
    if (devices_.empty()) return setup;
    setup.device = devices_[rank % devices_.size()];
    setup.first_on_device = rank < devices_.size();
    return setup;
  }
  // From now on ranks share these; before, the first one looks which there are.
  void Use(std::vector<int32_t> devices) { devices_ = std::move(devices); }
  std::string Monitor() const override { return monitor_; }

 protected:
  std::vector<std::string> EnvironmentOf(uint32_t rank) const override {
    return {"NCCL_HOSTID=allranks-" + nonce_ + "-" + std::to_string(rank)};
  }

 private:
  static ChildOptions WithSettings(ChildOptions options, std::string_view protocol,
                                   const std::string& monitor, const std::string& library,
                                   const MachineOptions& machine) {
    for (const std::string_view setting :
         {"NCCL_CONF_FILE=/dev/null",  "NCCL_NET=Socket",
          "NCCL_IB_DISABLE=1",         "NCCL_NET_PLUGIN=none",       "NCCL_TUNER_PLUGIN=none",
          "NCCL_PROFILER_PLUGIN=none", "NCCL_P2P_DISABLE=1",         "NCCL_SHM_DISABLE=1",
          "NCCL_MNNVL_ENABLE=0",       "NCCL_NVLS_ENABLE=0",         "NCCL_COLLNET_ENABLE=0",
          "NCCL_CUMEM_ENABLE=0",       "NCCL_CUMEM_HOST_ENABLE=0",   "NCCL_RUNTIME_CONNECT=0",
          "NCCL_MAX_CTAS=1",           "NCCL_MAX_NCHANNELS=1",       "NCCL_ALGO=Ring",
          "NCCL_DEBUG=WARN",           "NCCL_DEBUG_FILE=/dev/stderr",
          // A kernel that is loaded late waits for one that spins, and so do streams that share a queue of the device.
          "CUDA_MODULE_LOADING=EAGER", "CUDA_DEVICE_MAX_CONNECTIONS=32"}) {
      options.env.emplace_back(setting);
    }
    for (std::string& setting : NetworkOf(machine)) options.env.push_back(std::move(setting));
    options.env.push_back(std::string(kLibraryVariable) + "=" + library);
    options.env.push_back("NCCL_PROTO=" + std::string(protocol));
    options.env.push_back("NCCL_RAS_ADDR=" + monitor);
    return options;
  }

  // Which sockets NCCL takes: here the loopback; between nodes what --interface or the user's settings say, as each node
  // has names of its own.
  static std::vector<std::string> NetworkOf(const MachineOptions& machine) {
    if (!machine.is_remote) return {"NCCL_SOCKET_IFNAME==lo", "NCCL_SOCKET_FAMILY=AF_INET"};
    std::vector<std::string> settings = Inherited({"NCCL_SOCKET_FAMILY"});
    if (!machine.network.empty()) settings.push_back("NCCL_SOCKET_IFNAME==" + machine.network);
    else settings = Inherited({"NCCL_SOCKET_FAMILY", "NCCL_SOCKET_IFNAME"});
    return settings;
  }

  bool force_;
  int32_t local_rank_;
  std::vector<int32_t> devices_;
  std::string monitor_;
  std::string nonce_;
};

}  // namespace

std::string RefuseLibrary(const std::string& path) {
  struct stat status {};
  if (path.empty() || path[0] != '/') return "`" + path + "` is no absolute path";
  if (stat(path.c_str(), &status) != 0) return "`" + path + "` does not exist";
  if (!S_ISREG(status.st_mode)) return "`" + path + "` is no file";
  if ((status.st_mode & S_IWOTH) != 0) return "`" + path + "` may be written by anybody, so it is not loaded";
  return "";
}

namespace {

// NCCL as pip puts it below a prefix: Debian has folders of its own, and some systems `lib64`.
std::vector<std::string> WheelsBelow(const fs::path& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (const char* lib : {"lib", "lib64", "local/lib"}) {
    for (const auto& entry : fs::directory_iterator(prefix / lib, error)) {
      if (!entry.path().filename().string().starts_with("python")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        const fs::path wheel = entry.path() / packages / kWheelPath;
        if (fs::exists(wheel, error)) found.push_back(wheel.string());
      }
    }
  }
  return found;
}

// The interpreter that a user gets without naming one; empty: there is none.
fs::path PythonOnPath() {
  const std::string all = EnvironmentVariable("PATH");
  for (std::string_view rest = all; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path python = fs::path(rest.substr(0, end)) / "python3";
    if (end > 0 && IsExecutable(python)) return python;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

std::vector<std::string> NcclCandidates(const MachineOptions& options) {
  if (!options.nccl_library.empty()) return {options.nccl_library};
  std::vector<std::string> found;
  for (const char* name : {"ALLRANKS_NCCL_LIB", "VLLM_NCCL_SO_PATH"}) {
    if (const std::string path = EnvironmentVariable(name); !path.empty()) found.push_back(path);
  }
  std::vector<fs::path> prefixes;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = EnvironmentVariable(name); !prefix.empty()) prefixes.emplace_back(prefix);
  }
  // PREFIX/bin/python3
  if (!options.python.empty())
    prefixes.insert(prefixes.begin(), fs::path(options.python).parent_path().parent_path());
  std::error_code error;
  if (const std::string home = EnvironmentVariable("HOME"); !home.empty()) prefixes.push_back(fs::path(home) / ".local");
  if (const fs::path python = PythonOnPath(); options.python.empty() && !python.empty()) prefixes.push_back(python.parent_path().parent_path());
  for (const fs::path& prefix : prefixes) {
    for (const std::string& wheel : WheelsBelow(prefix)) found.push_back(wheel);
  }
  std::vector<fs::path> folders;
  if (const std::string home = EnvironmentVariable("CUDA_HOME"); !home.empty())
    folders.push_back(fs::path(home) / "lib64");
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    if (!entry.path().filename().string().starts_with("cuda")) continue;
    folders.push_back(entry.path() / "lib64");
    folders.push_back(entry.path() / "lib");
  }
  std::sort(folders.rbegin(), folders.rend());
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    folders.emplace_back(folder);
  }
  for (const fs::path& folder : folders) {
    const fs::path path = folder / "libnccl.so.2";
    if (fs::exists(path, error)) found.push_back(path.string());
  }
  // Resolved, so that a link and its target are one.
  for (std::string& path : found) {
    const fs::path real = fs::canonical(path, error);
    if (!error) path = real.string();
  }
  std::vector<std::string> once;
  for (const std::string& path : found) {
    if (std::find(once.begin(), once.end(), path) == once.end()) once.push_back(path);
  }
  return once;
}

Found FindGloo(const MachineOptions& machine, InterruptGuard& interrupt) {
  Found found;
  const fs::path own = OwnProgram().parent_path();
  fs::path worker;
  for (const fs::path& folder : {own, own / "../libexec/allranks", own / "runtime-verify/program"}) {
    if (worker.empty() && IsExecutable(folder / kGlooWorker))
      worker = fs::weakly_canonical(folder / kGlooWorker);
  }
  if (worker.empty()) {
    found.missing = "the program " + std::string(kGlooWorker) +
                    " is not beside this one: it is built where Gloo "
                    "(Debian: libgloo-dev) is installed; or use --backend sim";
    return found;
  }
  ChildOptions options{.program = worker.string(), .args = {}, .env = Inherited({"LD_LIBRARY_PATH", "LANG"})};
  const std::string network = machine.network.empty() ? EnvironmentVariable("GLOO_SOCKET_IFNAME") : machine.network;
  if (machine.is_remote && !network.empty()) options.env.push_back(std::string(kInterfaceVariable) + "=" + network);
  auto launcher = std::make_unique<LocalLauncher>(std::move(options));
  constexpr milliseconds kLimit{10000};
  const AttemptLog log = Probe(*launcher, interrupt, kLimit);
  if (log.end != AttemptLog::End::Finished) {
    found.missing = worker.string() + " does not start: " + log.reason;
    return found;
  }
  found.description = log.description;
  found.backend.emplace();
  found.backend->name = "gloo";
  found.backend->variants.push_back(
      {.name = "gloo", .protocol = std::nullopt, .launcher = std::move(launcher)});
  return found;
}

namespace {

// The first that may be loaded; where there is none, `refused` says why the first was not.
std::string LibraryOf(const MachineOptions& options, std::string* refused) {
  for (const std::string& path : NcclCandidates(options)) {
    const std::string why = RefuseLibrary(path);
    if (why.empty()) return path;
    if (refused->empty()) *refused = why;
  }
  return "";
}

std::vector<std::unique_ptr<NcclLauncher>> NcclLaunchers(const MachineOptions& options, const std::string& library) {
  const ChildOptions child{
      .program = OwnProgram().string(),
      .args = {"verify-worker"},
      .env = Inherited({"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LANG"})};
  std::vector<std::unique_ptr<NcclLauncher>> launchers;
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    launchers.push_back(std::make_unique<NcclLauncher>(child, library, NameOf(protocol), FreeAddress(), options));
  }
  return launchers;
}

RankBackend NcclBackendOf(std::vector<std::unique_ptr<NcclLauncher>> launchers) {
  RankBackend backend{.name = "nccl", .variants = {}, .is_on_streams = true};
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    backend.variants.push_back({.name = "nccl " + std::string(NameOf(protocol)),
                                .protocol = protocol,
                                .launcher = std::move(launchers[backend.variants.size()])});
  }
  return backend;
}

// "rank 0: " says nothing of a machine.
std::string WithoutRank(std::string_view reason) {
  return std::string(reason.substr(reason.starts_with("rank 0: ") ? 8 : 0));
}

}  // namespace

Found FindNccl(const MachineOptions& options, InterruptGuard& interrupt) {
  Found found;
  std::string refused;
  const std::string library = LibraryOf(options, &refused);
  std::vector<std::unique_ptr<NcclLauncher>> launchers = NcclLaunchers(options, library);
  NcclLauncher& first = *launchers[0];
  // Starting the driver for the first time takes seconds.
  constexpr milliseconds kLimit{20000};
  const AttemptLog log = Probe(first, interrupt, kLimit);
  if (log.end != AttemptLog::End::Finished) {
    found.missing = WithoutRank(log.reason);
    if (library.empty() && !refused.empty()) found.missing += "; " + refused;
    return found;
  }
  for (const std::unique_ptr<NcclLauncher>& launcher : launchers) launcher->Use(log.devices);
  // Without persistence mode the driver starts anew once the last process is gone.
  const milliseconds limit = std::max(kLimit, 3 * log.duration);
  // The other ranks of a launched job are elsewhere.
  if (options.local_rank < 0) found.missing = WithoutRank(ProbePair(first, interrupt, limit));
  if (!found.missing.empty()) {
    found.missing = "two ranks cannot run here: " + found.missing;
    return found;
  }
  found.description = log.description;
  found.backend = NcclBackendOf(std::move(launchers));
  found.backend->probe = [&first, &interrupt, limit] {
    const AttemptLog again = Probe(first, interrupt, limit);
    return again.end == AttemptLog::End::Finished ? ""
                                                  : "wedged: the device does not answer any more: " + again.reason;
  };
  return found;
}

}  // namespace allranks::verify
