#include "driver/config/option_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "driver/config/spelling.h"

namespace allranks::config {
namespace {

using std::string_view;

constexpr std::array<string_view, 3> kConfidences = {"possible", "likely", "certain"};
constexpr std::array<string_view, 4> kLevels = {"error", "warning", "info", "off"};
constexpr std::array<string_view, 4> kFailOn = {"error", "warning", "info", "never"};
constexpr std::array<string_view, 12> kFormats = {"full",   "concise", "json",   "json-lines", "sarif",    "github",
                                                  "gitlab", "junit",   "rdjson", "html",       "markdown", "azure"};

// In the order in which they are best read.
const std::array kOptions = {
    Option{.key = "extend", .kind = Kind::Path, .member = &Settings::extend, .default_value = "\"\"",
           .summary = "another configuration file to start from",
           .text = "Its lists are added to and its other values replaced. A `select` here forgets the rules chosen there.",
           .example = "extend = \"../allranks.toml\""},
    Option{.key = "select", .kind = Kind::Rules, .member = &Settings::select, .default_value = "[]", .flag = "--select",
           .summary = "rules to run instead of those on by default",
           .text = "A code (`AR101`), the beginning of one (`AR1`), a name (`rank-guarded-collective`) or `ALL`. Of the\n"
                   "selectors that match a rule the longest wins, and of two equally long ones the one that ignores.",
           .example = "select = [\"AR1\", \"AR3\", \"missing-set-epoch\"]"},
    Option{.key = "extend-select", .kind = Kind::Rules, .member = &Settings::extend_select, .default_value = "[]",
           .flag = "--extend-select", .summary = "rules to run besides the selected ones",
           .text = "For rules that are off by default.", .example = "extend-select = [\"AR003\"]"},
    Option{.key = "ignore", .kind = Kind::Rules, .member = &Settings::ignore, .default_value = "[]", .flag = "--ignore",
           .summary = "rules not to run", .text = "Selectors as in `select`.", .example = "ignore = [\"AR401\"]"},
    Option{.key = "preview", .kind = Kind::Flag, .member = &Settings::preview, .default_value = "false", .flag = "--preview",
           .summary = "whether rules in preview run",
           .text = "A rule is in preview because too few of its findings on unknown public code were right, or too few were read to say. Without\n"
                   "this setting such a rule runs only if its full code or its name is selected; the beginning of a code and `ALL` leave it out.\n"
                   "Of other rules a part is in preview, such as what they find in Python code without being certain; their pages say so.",
           .example = "preview = true"},
    Option{.key = "per-file-ignores", .kind = Kind::RulesByPattern, .member = &Settings::per_file_ignores,
           .default_value = "{}", .flag = "--per-file-ignores", .summary = "rules whose findings are left out of some files",
           .text = "By .gitignore pattern, which counts from the folder of this file. The files are still read: what they\n"
                   "do matters for others.",
           .example = "[per-file-ignores]\n\"tests/\" = [\"AR3\", \"AR4\"]\n\"tools/*.py\" = [\"ALL\"]"},
    Option{.key = "severity", .kind = Kind::Severities, .member = &Settings::severity, .default_value = "{}",
           .flag = "--severity", .summary = "another severity for some rules",
           .text = "By selector; the longest wins. `off` is as if the rule were ignored.",
           .example = "[severity]\nAR4 = \"info\"\nmissing-set-epoch = \"error\""},
    Option{.key = "min-confidence", .kind = Kind::Choice, .member = &Settings::min_confidence, .choices = kConfidences,
           .default_value = "\"likely\"", .flag = "--min-confidence", .summary = "how sure a finding must be to be shown",
           .text = "Each rule's page says what its findings rest on.", .example = "min-confidence = \"certain\""},
    Option{.key = "fail-on", .kind = Kind::Choice, .member = &Settings::fail_on, .choices = kFailOn,
           .default_value = "\"info\"", .flag = "--fail-on", .summary = "the least severity that makes the exit code 1",
           .text = "What is less severe is reported all the same.", .example = "fail-on = \"error\""},
    Option{.key = "require-reason", .kind = Kind::Flag, .member = &Settings::require_reason, .default_value = "false",
           .summary = "whether an ignore comment without a reason is a finding",
           .text = "AR002 then reports `# allranks: ignore[AR101]` until words follow it; the comment works meanwhile.",
           .example = "require-reason = true"},
    Option{.key = "root", .kind = Kind::Path, .member = &Settings::root, .default_value = "\"\"", .flag = "--root",
           .summary = "where the project begins",
           .text = "All code below it may be read when files of it are checked. Without it: the nearest folder with a\n"
                   "`.git`, else with a `pyproject.toml`, `setup.py` or `setup.cfg`. A file of the project names none above it.",
           .example = "root = \"..\""},
    Option{.key = "import-roots", .kind = Kind::Paths, .member = &Settings::import_roots, .default_value = "[]",
           .summary = "folders from which imports start, besides those found",
           .text = "Found without it: the importing file's own folder, the root, `src` in it, and folders with packaging\n"
                   "files. For what a launch script adds to `PYTHONPATH`.",
           .example = "import-roots = [\"python\", \"third_party/megatron\"]"},
    Option{.key = "exclude", .kind = Kind::PatternList, .member = &Settings::exclude, .default_value = "[]",
           .flag = "--exclude", .summary = "files that are not read at all",
           .text = ".gitignore patterns, which count from the folder of this file. Files named on the command line are\n"
                   "checked all the same, unless `force-exclude` is on.",
           .example = "exclude = [\"third_party/\", \"*_generated.py\"]"},
    Option{.key = "force-exclude", .kind = Kind::Flag, .member = &Settings::force_exclude, .default_value = "false",
           .flag = "--force-exclude", .summary = "whether `exclude` also holds for files named on the command line",
           .text = "What pre-commit needs, which names every changed file.", .example = "force-exclude = true"},
    Option{.key = "respect-gitignore", .kind = Kind::Flag, .member = &Settings::respect_gitignore,
           .default_value = "true", .flag = "--no-respect-gitignore", .summary = "whether files that git ignores are left out",
           .text = "`.gitignore` files and `.git/info/exclude` are read. What git tracks is checked, whatever they say.", .example = "respect-gitignore = false"},
    Option{.key = "knowledge", .kind = Kind::Paths, .member = &Settings::knowledge, .default_value = "[]",
           .flag = "--knowledge", .summary = "files that say what your own wrappers mean for ranks",
           .text = "For what cannot be read: an extension module, a service. See adding-knowledge.md.",
           .example = "knowledge = [\"tools/our_comm.toml\"]"},
    Option{.key = "compile-commands", .kind = Kind::Path, .member = &Settings::compile_commands,
           .default_value = "\"\"", .flag = "--compile-commands", .summary = "the folder of compile_commands.json",
           .text = "Without it: the root, its `build`, and the folders above are looked at.",
           .example = "compile-commands = \"build/debug\""},
    Option{.key = "extra-args", .kind = Kind::Words, .member = &Settings::extra_args, .default_value = "[]",
           .flag = "--extra-arg", .summary = "more arguments of the compiler for C, C++ and CUDA",
           .text = "They follow those of compile_commands.json. Only what decides the meaning of the source counts: macros, include\n"
                   "folders, the language standard.",
           .example = "extra-args = [\"-DUSE_NCCL\", \"-Ithird_party/nccl/include\"]"},
    Option{.key = "cache-dir", .kind = Kind::Path, .member = &Settings::cache_dir, .default_value = "\"\"",
           .flag = "--cache-dir", .summary = "where what was read is kept",
           .text = "Without it: `.allranks_cache` in the root. A file that did not change since is not parsed again. The folder\n"
                   "may be shared by several runs and deleted at any time; `--no-cache` does without it. A file of the project names\n"
                   "none outside of it, and none that holds anything else.",
           .example = "cache-dir = \"build/allranks_cache\""},
    Option{.key = "world.nodes", .kind = Kind::Count, .member = &Settings::world_nodes, .default_value = "0",
           .summary = "how many nodes a job of this project has; 0: one or more",
           .text = "With 1, the local rank is the global rank: it may select devices (AR201), deal out data (AR307) and name the one that\n"
                   "writes (AR802, AR804), `device_count()` may stand for the world size (AR205, AR402), and sequences of collectives that\n"
                   "differ on several nodes only are not reported.",
           .example = "[world]\nnodes = 1"},
    Option{.key = "world.devices", .kind = Kind::Count, .member = &Settings::world_devices, .default_value = "0",
           .summary = "how many processes a node runs; 0: two or more",
           .text = "With 1, every rank is local rank 0 of its node. Other numbers say nothing yet.", .example = "[world]\ndevices = 8"},
    Option{.key = "baseline", .kind = Kind::Path, .member = &Settings::baseline, .default_value = "\"\"",
           .flag = "--baseline", .summary = "a file of known findings, which are not reported",
           .text = "`allranks check --update-baseline` writes it. A finding that is fixed drops out by itself; nothing is\n"
                   "ever added unless you ask for it. A file of the project names none outside of it.",
           .example = "baseline = \".allranks-baseline.json\""},
    Option{.key = "output-format", .kind = Kind::Choice, .member = &Settings::output_format, .choices = kFormats,
           .default_value = "\"full\"", .flag = "--output-format", .summary = "how the findings are written",
           .text = "`--output FORMAT=FILE` writes further reports in the same run.", .example = "output-format = \"concise\""},
};

}  // namespace

std::span<const Option> AllOptions() { return kOptions; }

const Option* FindOption(string_view key) {
  const auto found = std::ranges::find(kOptions, key, &Option::key);
  return found == kOptions.end() ? nullptr : &*found;
}

std::span<const string_view> SeverityLevels() { return kLevels; }

string_view KindText(Kind kind) {
  switch (kind) {
    case Kind::Flag: return "true or false";
    case Kind::Count: return "a number";
    case Kind::Choice: return "a string";
    case Kind::Path: return "a path";
    case Kind::Paths: return "a list of paths";
    case Kind::Rules: return "a list of rules";
    case Kind::PatternList: return "a list of patterns";
    case Kind::Words: return "a list of strings";
    case Kind::RulesByPattern: return "a table of lists of rules, by pattern";
    case Kind::Severities: return "a table of levels, by rule";
  }
  return "";
}

std::string UnknownKey(string_view key) {
  std::vector<string_view> keys;
  for (const Option& option : kOptions) keys.push_back(option.key);
  const std::string near = DidYouMean(key, keys);
  return "unknown key `" + std::string(key) + "`" + (near.empty() ? "; `allranks config` lists the keys" : near);
}

}  // namespace allranks::config
