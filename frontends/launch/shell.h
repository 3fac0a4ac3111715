// Shell scripts: which commands they run, with which words and environment, as far as the script shows it.
//
// tree-sitter's tree of the text is walked once, in the order in which the shell would run it, with the variables that are
// known. Both arms of an `if` are walked and what they disagree on is unknown behind it; `if [ -z "$X" ]; then X=4; fi` leaves
// X with a default. The body of a loop is walked once, with everything unknown that it changes. Functions are walked
// where they are called. Command substitutions, arguments and variables of the caller's environment are unknown.
//
// The script's own path (`$0`, `BASH_SOURCE`) has a folder that is known, `.`: paths in a script are looked up from where it
// stands.
//
// Not sound: `set -e`, traps, `exec`, aliases and files that the script writes are not followed, and a file that is sourced
// counts only if it is found in the project. A value that this gets wrong can only come from such constructs. What may be
// done for one script and all that it sources is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/suppression.h"
#include "analyzer/launch/job.h"
#include "analyzer/launch/word.h"

namespace allranks::launch_files {

class ShellTrees;  // shell_trees.h

using launch::Setting;
using launch::Sureness;
using launch::Word;

struct ShellVariable {
  std::vector<Word> words;    // one, but for arrays
  bool is_exported = false;
  bool is_array = false;
  bool is_disputed = false;   // arms that came together here leave different values
  source::Span span;          // of the last assignment
};

// A command as the shell would start it.
struct ShellCommand {
  std::vector<Word> words;
  std::vector<Setting> environment;
  std::shared_ptr<const std::vector<Setting>> exported;  // what all commands get here, below `environment`; nullptr: nothing
  source::Span span;
  uint32_t begin = 0;          // in the text of the script
  uint32_t end = 0;
  std::optional<Word> input;   // of a here-document
  bool in_background = false;
  bool is_repeated = false;
  bool is_passed_over = false; // by what the script itself sets, the arm that it stands in is not taken
  std::string loop_variable;   // of the loop that it stands in, where that is one alone and can be counted
  uint32_t rounds = 0;         // of it; 0: not known
  uint32_t section = 0;
  uint32_t order = 0;
  uint8_t shell = 0;
  std::vector<std::pair<uint32_t, uint32_t>> arms;
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<Setting> exports;       // in order
  std::map<std::string, ShellVariable> variables;  // as the script leaves them
  std::vector<Word> directives;       // the lines `#SBATCH ...`, without that word
  bool changes_folder = false;        // it goes into another folder: `cd`
  std::vector<launch::ReadProblem> problems;
  std::vector<launch::MisreadLine> misread;
  std::vector<findings::Extent> statements;  // in places of the text
  std::vector<findings::Extent> comments;
};

// The same with all that it gets in `environment`. Most commands start nothing that anybody asks of, so they share it.
ShellCommand WithExported(const ShellCommand& command);

// What has been done for a script and for the files that it sources.
struct ShellBudget {
  size_t steps = 0;
  size_t sources = 0;
  size_t copied = 0;  // bytes that values took wherever they were put in
  bool is_spent = false;
  bool sources_itself = false;
  std::optional<source::Span> too_long;  // the first place whose value is longer than is kept

  // Whether a value may be copied once more.
  bool Copies(const Word& value);
};

struct ShellInput {
  Word text;
  std::map<std::string, ShellVariable> variables;
  std::vector<Word> arguments;           // `$1`, ...; none: they are not known
  uint8_t shell = 0;
  std::string path;                      // of the script, from its own folder: "./" and whatever its name is; empty: it is no file
  bool exports_all = false;              // `set -a`
  bool is_checked = true;                // whether anybody asks what is broken in it
  std::vector<source::FileId> sourcing;  // the files that source one another to here, outermost first
  ShellBudget* budget = nullptr;         // of the outermost one; nullptr: this is it
  ShellTrees* trees = nullptr;           // that are kept; nullptr: none is
  // The text of a sourced file; nothing: it is not in the project.
  std::function<std::optional<Word>(const std::string& path)> open;
};

ShellScript ReadShell(const ShellInput& input);

// The words of a line as `#SBATCH` has them, without expansions.
std::vector<Word> SplitWords(const Word& line);

}  // namespace allranks::launch_files
