// From commands of a shell to jobs: which word is a launcher, which are its options, what is handed on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/launch/job.h"
#include "frontends/launch/called_scripts.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

class CommandReader {
 public:
  // `open`: the text of a file of the project, for `source`. `trees`, `called`: what is known of scripts; nullptr: nothing is kept.
  CommandReader(const launch::LauncherTables& tables, std::function<std::optional<Word>(const std::string&)> open, ShellTrees* trees = nullptr,
                CalledScripts* called = nullptr)
      : tables_(tables), open_(std::move(open)), trees_(trees), known_(called) {}

  // Appends what a text of the shell starts and sets. `is_file`: it is a script of its own, whose errors count.
  void ReadScript(const Word& text, bool is_file, launch::LaunchFile& file) const;
  // The same where some variables are known.
  void ReadScript(ShellInput input, bool is_file, launch::LaunchFile& file) const;
  // Words that are started without a shell: a list in YAML, the arguments of `subprocess.run`.
  void ReadWords(ShellCommand command, launch::LaunchFile& file) const;

 private:
  void Read(const ShellCommand& command, std::vector<launch::Layer> outer, bool is_remote, int depth, launch::LaunchFile& file) const;
  void ReadNested(const Word& text, const ShellCommand& command, std::vector<launch::Layer> outer, bool is_remote, int depth,
                  launch::LaunchFile& file, std::vector<Word> arguments = {}) const;
  // `bash train.sh 8`, where the script is one of the project and is told anything: arguments, or variables.
  void ReadCalled(const ShellCommand& command, size_t at, std::vector<launch::Layer> outer, bool is_remote, int depth, launch::LaunchFile& file) const;
  std::optional<Word> Called(const ShellCommand& command, size_t at, const launch::LaunchFile& file) const;
  static void NoteCalledScript(const std::vector<Word>& words, size_t at, int depth, launch::LaunchFile& file);
  void NoteCalled(source::FileId script, size_t first, int depth, const launch::LaunchFile& file) const;
  // False: nothing is seen of what it is.
  bool ReadInput(const ShellCommand& command, size_t at, const launch::Layer& batch, int depth, launch::LaunchFile& file) const;
  static void Allocate(const launch::Layer& batch, size_t first, launch::LaunchFile& file);
  void ReadBatch(const Word& text, const ShellCommand& command, const launch::Layer& batch, int depth, launch::LaunchFile& file,
                 std::vector<Word> arguments = {}) const;
  void Add(const ShellCommand& command, std::vector<launch::Layer> layers, size_t rest, bool is_remote, launch::LaunchFile& file) const;
  void NoteLost(const Word& text, const ShellCommand& before, const ShellCommand& command, launch::LaunchFile& file) const;
  const launch::LauncherTable* LauncherAt(const std::vector<Word>& words, size_t at, size_t* length) const;
  size_t ReadOptions(const std::vector<Word>& words, size_t at, launch::Layer& layer) const;
  size_t ReadOption(const std::vector<Word>& words, size_t at, launch::Layer& layer) const;

  const launch::LauncherTables& tables_;
  std::function<std::optional<Word>(const std::string&)> open_;
  ShellTrees* trees_ = nullptr;
  CalledScripts* known_ = nullptr;
  mutable std::vector<source::FileId> calling_;  // scripts that are being read because one called another
  mutable size_t called_ = 0;  // bytes of scripts that were read for the arguments they are given
  mutable size_t nested_ = 0;  // bytes of texts that commands hand to a shell
};

// What the lines `#SBATCH` of a script ask for.
std::optional<launch::Layer> ReadDirectives(const launch::LauncherTables& tables, const std::vector<Word>& lines);

}  // namespace allranks::launch_files
