// The command line as plain values; arguments.cpp alone knows the library that parses it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace allranks::cli {

struct CheckArguments {
  std::vector<std::string> words;  // as they were given
  std::vector<std::string> paths;
  std::string output_format;
  std::string output_file;
  std::vector<std::string> outputs;  // FORMAT or FORMAT=FILE
  std::string sarif_category;
  std::vector<std::string> sarif_include;  // "suppressed", "known"
  std::string verdicts;
  std::optional<std::vector<std::string>> select;
  std::vector<std::string> extend_select;
  std::vector<std::string> ignore;
  std::vector<std::string> severity;          // RULE=LEVEL
  std::vector<std::string> per_file_ignores;  // PATTERN:RULE
  std::vector<std::string> exclude;
  std::vector<std::string> knowledge;
  std::string min_confidence;
  std::string fail_on;
  std::string color = "auto";
  std::string root;
  std::string compile_commands;
  std::vector<std::string> extra_args;  // of the compiler
  std::vector<std::string> config;
  std::string stdin_filename;
  std::string add_ignore;
  std::string baseline;
  std::string diff_base;
  bool update_baseline = false;
  unsigned jobs = 0;
  double timeout_per_file = 0;    // seconds; 0: none
  double timeout = 0;             // of the whole run
  unsigned max_memory = 0;        // MiB; 0: none
  unsigned max_memory_per_file = 0;
  bool preview = false;
  bool fix = false;
  bool fix_only = false;
  bool exit_non_zero_on_fix = false;
  bool watch = false;
  bool verify = false;
  bool unsafe_fixes = false;
  bool diff = false;
  bool show_fixes = false;
  bool statistics = false;
  bool coverage = false;
  bool show_files = false;
  bool profile = false;
  bool no_cache = false;
  std::string cache_dir;
  bool exit_zero = false;
  bool isolated = false;
  bool force_exclude = false;
  bool show_settings = false;
  bool no_launch_files = false;
  bool no_respect_gitignore = false;
  bool quiet = false;
  bool verbose = false;
};

// `allranks config`: a key, or what else to print of the settings.
struct ConfigArguments {
  std::string key;
  bool all = false;
  bool schema = false;
};

struct RuleArguments {
  std::string rule;
  bool all = false;
  std::string output_format = "text";
};

// `FILE` or `FILE:FUNCTION`.
struct IrArguments {
  std::string target;
};
struct TraceArguments {
  std::string target;
  std::string root;
  std::string compile_commands;
  std::vector<std::string> knowledge;
};

// Editors may add `--stdio`: there is no other way anyway.
struct ServerArguments {
  bool stdio = false;
};

// Files and folders that a job left behind, and at most one report of `allranks check`.
struct ExplainArguments {
  std::vector<std::string> inputs;
  std::vector<std::string> path_maps;
  std::vector<std::string> knowledge;
  std::string format = "text";
  std::string output_file;
  std::string root;
};

// `allranks clean`: the cache of the project around these paths.
struct CleanArguments {
  std::vector<std::string> paths;
};

struct VersionArguments {
  bool licenses = false;
};

// An option or a positional argument, as help shows it.
struct OptionText {
  std::vector<std::string> names;  // "-o", "--output-file"; of a positional argument its name alone
  std::string value;               // "FILE"; empty: a flag
  std::string help;
  std::string group;
  std::vector<std::string> choices;
  bool is_positional = false;
  bool is_list = false;  // takes several values with commas between them
};
struct CommandText {
  std::string name;
  std::string summary;
  std::vector<OptionText> options;
};

// What is written for a shell, as a manual page, or as docs/cli.md: all commands with their options.
struct DescribeArguments {
  std::string as;  // bash, zsh, fish, man, markdown
  std::vector<CommandText> commands;
};

// What was asked for: to run something, or only to print (`--help`, a mistake) and leave with `exit_code`.
struct Message {
  std::string text;
  int exit_code = 0;
};
using Command = std::variant<CheckArguments, ConfigArguments, RuleArguments, IrArguments, TraceArguments, ServerArguments, ExplainArguments, CleanArguments,
                             VersionArguments, DescribeArguments, Message>;

Command ParseArguments(int argc, const char* const* argv);

}  // namespace allranks::cli
