// What launchers, their options, variables of the environment and keys of configurations mean: knowledge/launch/*.toml.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/launch/variable_names.h"
#include "analyzer/launch/version.h"

namespace allranks::launch {

struct OptionEntry {
  std::vector<std::string> names;  // "--nproc-per-node"; a launcher that reads `_` as `-` names it with `-`
  std::string takes = "value";     // "value", "nothing", "optional" (a value that may be missing), "many"
  std::string means;
  std::string default_value;
  bool is_count = false;           // its value is a whole number
  std::vector<std::string> words;  // that stand for one: "auto"
  std::string sets;                // the variable that it is handed to the ranks in, whatever that was before; empty: none
};

struct LauncherTable {
  std::string name;                   // "torchrun"
  std::vector<std::string> commands;  // "torchrun", "python -m torch.distributed.run"
  std::string source;                 // where its options are documented
  std::optional<Version> since;       // of PyTorch, that brings it
  // What the first word that is no option is: a "script", a "command" (another launcher may follow), or "none".
  std::string starts = "script";
  bool underscores = false;           // `--nproc_per_node` is `--nproc-per-node`
  bool abbreviates = false;           // argparse: a beginning that is unique is enough
  bool is_complete = false;           // an option that is not here does not exist
  bool is_job = true;                 // it starts the processes of a job; otherwise it only hands on (env, nohup, bash)
  bool is_of_node = false;            // each node runs it for its own ranks, and they have to find one another
  std::string ends_others;            // when one process ends with an error: those of its "node", of the "job"; empty: none
  bool detaches = false;              // what it starts runs beside what comes behind it (tmux)
  std::vector<OptionEntry> options;
};

struct VariableEntry {
  std::string name;
  std::vector<std::string> debug_values;  // with which it slows or cuts down a job, for looking for errors
  std::string why;
  std::string only_if;                    // "several nodes": only there it does anything
  std::vector<std::string> unless;        // variables beside which it does nothing
};

// A key of a configuration file: "zero_optimization.stage".
struct KeyEntry {
  std::string path;
  std::string type;                 // "integer", "number", "boolean", "text", "list", "map"; empty: any
  std::vector<int64_t> stages;      // of ZeRO, that have it; empty: all
  std::string off;                  // the value with which it does nothing; empty: none but `false`
  std::string until;                // no more known since this version
  std::string instead;
  std::vector<std::string> words;   // that it takes; empty: any
};

struct ConfigTable {
  std::string name;                 // "deepspeed"
  std::string source;
  std::vector<std::string> marks;   // keys by which such a file is known
  std::vector<std::string> closed;  // maps in which an unknown key is an error at run time
  std::string closed_since;         // the first release in which it is; empty: in all
  std::vector<KeyEntry> keys;

  const KeyEntry* Find(std::string_view path) const;
};

// What a key of a configuration means to people.
struct KeyAbout {
  std::string config;               // the table of the configuration
  std::string key;
  std::string text;
  std::string default_value;        // empty: there is none, or it is not known
  std::string since;                // the release that brings it; empty: it is old, or not known
};

// The same setting in two places: a key of a configuration and an argument of a script, or an option of a launcher.
struct PairEntry {
  std::string config;               // the table of the configuration
  std::string key;
  std::vector<std::string> args;    // "--gradient_accumulation_steps"
  std::string launcher;             // whose options `args` are; empty: arguments of the script
  std::string ignored;              // which of the two has no effect: "option", "key"
  std::string absent;               // what happens where the key is not there, though the argument is given; empty: what the argument says
  bool excludes = false;            // they are two settings, of which only one may be on
};

// A package with releases that need a PyTorch that is no newer.
struct TorchBound {
  struct Step {
    Release last;                   // of the package, of those that this step is about
    Version torch;                  // the newest PyTorch with them
  };
  std::vector<std::string> names;
  std::vector<Step> steps;          // oldest first

  // Nothing: any, or it is not known.
  std::optional<Version> NewestTorch(const Release& release) const;
};

// A part of PyTorch that newer releases lack.
struct TorchModule {
  std::string name;                 // "torch._six"
  Version last;                     // that has it
};

class LauncherTables {
 public:
  // Adds what a file says. An error names the file and the line.
  [[nodiscard]] base::Result<bool> Load(std::string_view name, std::string_view text);

  // By a word of its command: "torchrun" or "/opt/bin/torchrun".
  const LauncherTable* FindCommand(std::string_view word) const;
  // By the module of `python -m module`.
  const LauncherTable* FindModule(std::string_view module) const;
  const LauncherTable* Find(std::string_view name) const;
  const VariableEntry* FindVariable(std::string_view name) const;
  const ConfigTable* FindConfig(std::string_view name) const;
  const KeyAbout* FindAbout(std::string_view config, std::string_view key) const;
  const std::deque<LauncherTable>& launchers() const { return launchers_; }
  const std::vector<PairEntry>& pairs() const { return pairs_; }
  const VariableNames& variable_names() const { return variable_names_; }
  const std::vector<TorchBound>& torch_bounds() const { return torch_bounds_; }
  const std::vector<TorchModule>& torch_modules() const { return torch_modules_; }
  // Arguments of scripts with which a program takes devices beside those of its ranks: "--use_vllm".
  const std::vector<std::string>& device_arguments() const { return device_arguments_; }

 private:
  friend class TablesImage;

  std::deque<LauncherTable> launchers_;  // rules keep pointers
  std::vector<VariableEntry> variables_;
  std::vector<ConfigTable> configs_;
  std::vector<PairEntry> pairs_;
  std::vector<KeyAbout> abouts_;
  VariableNames variable_names_;
  std::vector<std::string> device_arguments_;
  std::vector<TorchBound> torch_bounds_;
  std::vector<TorchModule> torch_modules_;
};

// The option of a table that a word such as "--nproc_per_node" names.
const OptionEntry* FindOption(const LauncherTable& table, std::string_view name);
// The first one that rules ask for so; nullptr: the launcher has none.
const OptionEntry* FindMeaning(const LauncherTable& table, std::string_view means);

}  // namespace allranks::launch
