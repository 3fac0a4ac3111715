// The model of a job as launch files describe it: which launcher starts which script, on how many nodes and processes,
// where the processes meet, in which environment, each with the place where it was said and how sure it is.
//
// A command is a chain of layers: in `srun -N2 torchrun --nproc_per_node 8 train.py` srun starts torchrun, and torchrun
// starts the script. What a batch script asks of the scheduler (`#SBATCH`) is a layer of its own, the allocation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/suppression.h"
#include "analyzer/launch/config_tree.h"
#include "analyzer/launch/hosts.h"
#include "analyzer/launch/launcher_table.h"
#include "analyzer/launch/torch_pins.h"
#include "analyzer/launch/word.h"

namespace allranks::launch {

// An option as given to a launcher.
struct Option {
  std::string_view means;  // what the table says of it, "nodes"; empty: nothing that rules ask
  std::string name;        // as written
  Word word;               // the option's own word
  Word value;              // empty: it has none
  bool is_known = true;    // false: the table of its launcher does not have it
};

struct Layer {
  const LauncherTable* launcher = nullptr;
  Word word;                    // by which it is called
  source::Span span;            // from the first to the last word of the launcher and its options
  uint8_t shell = 0;            // the shell that runs it; `bash -c` starts the next one
  std::vector<Option> options;
  std::optional<HostFile> hosts;  // the one that `--hostfile` names, where it is of the project

  // The last option of this meaning: the one that counts.
  const Option* Find(std::string_view means) const;
  std::optional<int64_t> Number(std::string_view means) const;
  // `$OPTIONS`: what is not seen may be there.
  bool HidesOptions() const;
};

struct Setting {
  std::string name;
  Word value;
  source::Span span;    // of the assignment
  bool is_of_command = false;  // `NAME=value command`, not exported before
};

struct Job {
  source::FileId file;
  source::Span span;              // of the whole command
  std::vector<Layer> layers;      // outermost first; at least one
  std::vector<Setting> environment;
  Word script;                    // empty: none is given
  bool is_module = false;         // `-m package.module`
  std::string script_path;        // of the file that is meant, relative to the root; empty: none is known
  bool is_script_nowhere = false; // no file of the project has its name, none lies in the folder that is known to be meant, or several may be meant
  std::string nearest_script;     // no file has the script's name, and this one may be meant
  std::string missing_in;         // the folder of the project where its script would lie, which has others; no file has its name
  std::string sibling_script;     // that lies beside the file and is started from it as well, where this one does not lie
  std::string root_script;        // that lies in the root and is started from there by a script beside the file, where this one does not lie
  std::string cloned;             // the repository that is fetched before, in whose folder it is started, or may be; empty: none
  std::vector<Word> args;         // of the script
  Word missing_config;            // of its launcher or of its script, that names no file of the project; empty: none does
  std::string missing_config_of;  // the argument of the script that names it; empty: an option of the launcher does
  std::string nearest_config;     // beside where it would be, that may be meant
  bool in_background = false;     // `command &`
  uint32_t section = 0;           // commands between two waits are in one section
  uint32_t order = 0;             // among the commands of the file
  bool is_remote = false;         // started on another machine: ssh, pdsh
  bool has_cluster = false;       // an operator (Kubernetes, SkyPilot) says who meets whom
  std::optional<Layer> allocation;  // what the script that it stands in asks of the scheduler: `#SBATCH`
  uint8_t first_shell = 0;        // of the allocation; what shells below put in they know before there is one
  std::optional<Option> devices;  // that the operator gives each node or container
  std::optional<Option> replicas; // nodes that the operator starts
  bool is_repeated = false;       // in a loop that does not wait for it
  bool is_passed_over = false;    // by what the script itself sets, the arm that it stands in is not taken
  std::string loop_variable;      // of the loop that it stands in, where that is one alone and can be counted
  uint32_t rounds = 0;            // of it; 0: not known
  // The arms of `if` and `case` that it stands in: commands in two arms of one of them are never both run.
  std::vector<std::pair<uint32_t, uint32_t>> arms;

  const Layer& innermost() const { return layers.back(); }
  const Layer* Find(std::string_view launcher) const;
  const Setting* Env(std::string_view name) const;
};

// Arguments on lines of their own that the shell takes for the next command: `--lr` behind a line without a backslash. And the value of an
// argument that is a variable which nothing sets.
enum class LostBy : uint8_t { NoBackslash, SpaceBehindBackslash, Comment, NothingSet };
struct LostArguments {
  uint32_t job = 0;        // by index, whose they were to be
  Word first;              // of `NothingSet`: the variable
  LostBy by = LostBy::NoBackslash;
  source::Span mistake;    // where a backslash is missing, the spaces behind it, or the comment
};

// Lines of a script that the shell, or the scheduler, takes for something else than was meant.
enum class MisreadAs : uint8_t {
  NamedProgram,      // `$NAME=value`: the program of that name
  SpacedAssignment,  // `NAME = value`: the program `NAME`
  EmptyAssignment,   // `NAME= 4`: the program `4`
  QuotedLines,       // lines between quotes, as Python has comments: one program
  GluedBracket,      // `[$N -eq 1]`: the program `[1`
  PythonWord,        // `|| True`: the program `True`
  HyphenDefault,     // `${NAME=-"x"}`: the default `-x`
  OneElement,        // `hosts=("$lines")`: one element
  LateDirective,     // `#SBATCH` behind a command: a comment
  BareDirective,     // `SBATCH --time=1:00`: the program `SBATCH`
  NoInterpreter,     // a first line without `#!`: no batch script
  EnvAlone,          // `#!/usr/bin/env`: the script itself, again and again
  CarriageReturn,    // line ends of Windows: part of the last word
  DoubledSign,       // `NAME==4`: the value `=4`
  DoubledProgram,    // `python python train.py`: a script `python`
  NoProgram,         // `torch --nproc_per_node=8 train.py`: no program has this name
};
struct MisreadLine {
  MisreadAs as = MisreadAs::NamedProgram;
  source::Span span;
  std::string text;    // what was meant, as far as a message names it
  uint32_t more = 0;   // further ones of the kind in the file
  source::Span last;   // the last of these
};

// A script of the shell that a command starts.
struct CalledScript {
  Word path;
  std::vector<Word> args;
  std::string cloned;  // as a job's
};

// A path that a command names, of no file of the project, and the file that may be meant.
struct MissingPath {
  Word path;
  std::string meant;
};

enum class FileKind : uint8_t { Shell, Make, Docker, Yaml, Json, Markdown, Notebook, Python, Toml };

// `--batch-size`, `-cn`; not `-1`.
bool IsArgumentName(std::string_view text);
// The value of an argument of a script, as argparse has it: what stands behind its `=`, or the next word where that is no name; empty: it has none.
Word ValueOf(const std::vector<Word>& args, size_t at);

struct ReadProblem {
  std::string text;
  source::Span span;
  bool is_limit = false;  // nothing is wrong with the text: a bound of the reader was reached
};

struct LaunchFile {
  source::FileId file;
  std::string path;               // relative to the root of the project
  FileKind kind = FileKind::Shell;
  bool requested = true;
  std::vector<Job> jobs;
  std::vector<Job> mentioned;     // within lines of a page: they say how a program is started, and may be cut short
  std::vector<LostArguments> lost;
  std::vector<MisreadLine> misread;
  std::vector<CalledScript> called;
  std::vector<MissingPath> missing;
  bool brings_files = false;      // it fetches, copies or writes files, or goes to folders that are not of the project
  bool changes_folder = false;    // by `cd`
  bool runs_debugger = false;     // it starts something under one
  std::vector<Setting> settings;  // of variables of the environment, as they are made
  std::vector<Setting> background_devices;  // CUDA_VISIBLE_DEVICES of commands in the background, whatever they start
  ConfigTree tree;                // of YAML, JSON and TOML
  std::vector<ReadProblem> problems;
  findings::FileSyntax syntax;    // statements and comments, for suppressions
};

struct Launches {
  LauncherTables tables;
  std::vector<LaunchFile> files;
  // Of the files that these source and that start nothing themselves: a value that stands there may be what is wrong with a job.
  std::vector<findings::FileSyntax> sourced;
  TorchPins pins;

  const LaunchFile* Find(source::FileId file) const;
  // The one that a word in another file names: beside that file, or from the root; or the only one whose path ends so.
  const LaunchFile* FileNamed(const LaunchFile& from, const Word& path) const;
  // The same of a text; `from`: the path of the file that names it.
  const LaunchFile* FileNamed(std::string_view from, std::string_view path) const;
};

}  // namespace allranks::launch
