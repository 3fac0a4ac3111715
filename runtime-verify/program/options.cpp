#include "runtime-verify/program/options.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "runtime-verify/coordinator/shown_text.h"
#include "runtime-verify/program/verify.h"

namespace allranks::verify {
namespace {

constexpr std::string_view kHelp = R"(replay findings on real ranks, or in a simulator, and say what happens

Usage: allranks verify [OPTIONS] REPORT|WITNESS...
       allranks verify --self-test [OPTIONS]

  REPORT, WITNESS         a JSON or SARIF report of `allranks check`, or one witness; `-`: standard input

  --backend NAME          auto, nccl, gloo or sim (default: auto, which is nccl where there is a GPU, else sim)
  --ranks N[,N...]        run with so many ranks (default: as many as the witness has; self-test: 2,4,8)
  --timeout S             longest time for one finding, in seconds (default: 60)
  --quiet-time S          silence after which a rank counts as stuck (default: measured, 3 to 15 seconds)
  --time-budget S         longest time for all findings (default: 600)
  --output-format FORMAT  full, concise, json, or sarif: the SARIF report with the verdicts (default: full)
  -o, --output-file FILE  write a copy of the report with the verdicts there
  --self-test             what this machine can do: matched operations and a known deadlock on the backend
  --mismatches            with --self-test: a table of operations that do not match, predicted and seen
  --nccl-lib FILE         this libnccl.so.2
  --python FILE           prefer the NCCL of this Python's environment
  --force                 run on a GPU that another job uses
  --interface NAME        with --allow-remote: the network interface by which the nodes reach each other
  --launched              this process is one rank of a job that torchrun, srun or mpirun has started
  --allow-remote          with --launched: ranks on other nodes; needs a secret in ALLRANKS_TOKEN
  --color WHEN            auto, always or never
  -q, --quiet             no progress, no notes
  -h, --help              this page

Exit codes: 0 nothing reproduced, 1 something reproduced, 2 error, 4 backend unavailable.
)";

enum Long {
  kBackend = 256,
  kRanks,
  kTimeout,
  kQuietTime,
  kBudget,
  kFormat,
  kSelfTest,
  kMismatches,
  kInterface,
  kNcclLib,
  kPython,
  kLaunched,
  kRemote,
  kForce,
  kColor
};

constexpr option kOptions[] = {{"backend", required_argument, nullptr, kBackend},
                               {"ranks", required_argument, nullptr, kRanks},
                               {"timeout", required_argument, nullptr, kTimeout},
                               {"quiet-time", required_argument, nullptr, kQuietTime},
                               {"time-budget", required_argument, nullptr, kBudget},
                               {"output-format", required_argument, nullptr, kFormat},
                               {"output-file", required_argument, nullptr, 'o'},
                               {"self-test", no_argument, nullptr, kSelfTest},
                               {"mismatches", no_argument, nullptr, kMismatches},
                               {"interface", required_argument, nullptr, kInterface},
                               {"nccl-lib", required_argument, nullptr, kNcclLib},
                               {"python", required_argument, nullptr, kPython},
                               {"launched", no_argument, nullptr, kLaunched},
                               {"allow-remote", no_argument, nullptr, kRemote},
                               {"force", no_argument, nullptr, kForce},
                               {"color", required_argument, nullptr, kColor},
                               {"quiet", no_argument, nullptr, 'q'},
                               {"help", no_argument, nullptr, 'h'},
                               {nullptr, 0, nullptr, 0}};

constexpr uint32_t kMostRanks = 1024;

void Mistake(Options& options, const std::string& text) {
  if (options.exit_code >= 0) return;
  options.exit_code = 2;
  options.message = "allranks: error: " + OneLine(text) + "; see `allranks verify --help`\n";
}

void Choice(Options& options, std::string_view name, std::initializer_list<std::string_view> choices,
            std::string& out) {
  out = optarg;
  if (std::find(choices.begin(), choices.end(), out) != choices.end()) return;
  std::string list;
  for (const std::string_view choice : choices) list += (list.empty() ? "" : ", ") + std::string(choice);
  Mistake(options, std::string(name) + " is `" + out + "`; it may be " + list);
}

// "10", "10s", "0.5".
void Seconds(Options& options, std::string_view name, milliseconds& out) {
  std::string_view text = optarg;
  if (text.ends_with('s')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Ten days are enough for anybody.
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > 864000) {
    return Mistake(options, std::string(name) + " is `" + optarg + "`; a number of seconds is expected");
  }
  out = milliseconds(std::max<int64_t>(std::llround(value * 1000), 1));
}

void Ranks(Options& options) {
  std::string_view text = optarg;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc() || end != one.data() + one.size() || value < 2 || value > kMostRanks) {
      return Mistake(options,
                     "--ranks is `" + std::string(optarg) + "`; numbers from 2 to 1024 are expected");
    }
    options.ranks.push_back(value);
    if (one.size() == text.size()) return;
    text.remove_prefix(one.size() + 1);
  }
}

void Take(Options& options, int what, const std::string& given) {
  switch (what) {
    case kBackend:
      return Choice(options, "--backend", {"auto", "nccl", "gloo", "sim"}, options.backend);
    case kRanks:
      return Ranks(options);
    case kTimeout:
      return Seconds(options, "--timeout", options.verifier.limits.total);
    case kQuietTime:
      return Seconds(options, "--quiet-time", options.verifier.limits.quiet);
    case kBudget:
      return Seconds(options, "--time-budget", options.verifier.budget);
    case kFormat:
      return Choice(options, "--output-format", {"full", "concise", "json", "sarif"}, options.output_format);
    case 'o':
      options.output_file = optarg;
      return;
    case kSelfTest:
      options.self_test = true;
      return;
    case kMismatches:
      options.mismatches = true;
      return;
    case kInterface:
      options.machine.network = optarg;
      return;
    case kNcclLib:
      options.machine.nccl_library = optarg;
      return;
    case kPython:
      options.machine.python = optarg;
      return;
    case kLaunched:
      options.launched = true;
      return;
    case kRemote:
      options.allow_remote = true;
      return;
    case kForce:
      options.machine.force = true;
      return;
    case kColor:
      return Choice(options, "--color", {"auto", "always", "never"}, options.color);
    case 'q':
      options.quiet = true;
      return;
    case 'h':
      options.exit_code = 0;
      options.message = kHelp;
      return;
    case ':':
      return Mistake(options, "`" + given + "` needs a value");
    default:
      return Mistake(options, "unknown option `" + given + "`");
  }
}

void CheckTogether(Options& options) {
  if (options.exit_code >= 0) return;
  if (options.launched && !options.ranks.empty())
    Mistake(options, "--ranks is what the launcher of --launched says");
  if (options.launched && options.backend == "sim")
    Mistake(options, "--launched needs --backend nccl or gloo");
  if (!options.machine.network.empty() && !options.allow_remote) Mistake(options, "--interface is a part of --allow-remote");
  if (options.allow_remote && !options.launched) Mistake(options, "--allow-remote is a part of --launched");
  if (options.self_test) {
    if (!options.paths.empty()) Mistake(options, "--self-test takes no report");
    if (options.output_format == "sarif") Mistake(options, "--self-test writes full, concise or json");
    return;
  }
  if (options.mismatches) Mistake(options, "--mismatches is a part of --self-test");
  if (options.paths.empty()) Mistake(options, "no report or witness given");
  if (options.ranks.size() > 1) Mistake(options, "--ranks takes several numbers with --self-test only");
  if (options.paths.size() > 1 && (!options.output_file.empty() || options.output_format == "sarif")) {
    Mistake(options, "a copy is written of one report at a time");
  }
  if (!options.ranks.empty()) options.verifier.ranks = options.ranks[0];
}

}  // namespace

std::string_view VerifyHelp() { return kHelp; }

Options ParseOptions(int argc, const char* const* argv) {
  Options options;
  std::vector<char*> args;
  for (int i = 0; i < argc; ++i) args.push_back(const_cast<char*>(argv[i]));
  args.push_back(nullptr);
  // From the start again, and quietly: the messages are ours.
  optind = 0;
  opterr = 0;
  while (options.exit_code < 0) {
    const int before = std::max(optind, 1);
    const int what = getopt_long(argc, args.data(), ":o:qh", kOptions, nullptr);
    if (what == -1) break;
    const int at = what == '?' || what == ':' ? std::max(optind - 1, before) : before;
    Take(options, what, at < argc ? args[static_cast<size_t>(at)] : "");
  }
  for (int i = std::max(optind, 1); i < argc; ++i) options.paths.emplace_back(args[static_cast<size_t>(i)]);
  CheckTogether(options);
  return options;
}

}  // namespace allranks::verify
