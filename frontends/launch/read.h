// Files that start jobs or configure them: by name, and by what they mention; and the one way to read each of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/launch/job.h"
#include "analyzer/source/source_file.h"

namespace allranks::launch_files {

class CalledScripts;  // called_scripts.h
class ShellTrees;     // shell_trees.h

// The kind of file that a path names; nothing: no file of ours.
std::optional<launch::FileKind> KindOfName(std::string_view path);
// Whether a name has no ending, as scripts have that are started by their name alone; and whether a text begins as one of a shell does.
bool MayBeScript(std::string_view path);
bool IsShellScript(std::string_view text);

// One of these stands in each file that starts a job, unless a name is put together of parts.
std::span<const std::string> CommandWords();
// Whether a text has a launcher as a word: not `deepspeed==0.9` or `torch.distributed.launcher`.
bool MentionsLauncher(std::string_view text);
// One of these stands in each file that starts a script without a launcher.
std::span<const std::string> StartWords();
// One of these stands in each configuration that is read.
std::span<const std::string> ConfigWords();
// Whether a notebook, as it is saved, has a line that begins with `!` and starts anything.
bool NotebookStartsAnything(std::string_view json);
// Whether a text of YAML has a key below which commands are read.
bool MayHoldCommands(std::string_view yaml);

// Larger files are data.
constexpr uint64_t kLargestFile = 4u << 20;

struct ReadInput {
  const launch::LauncherTables& tables;
  const source::SourceFile& text;
  source::FileId id;
  std::string path;  // relative to the root of the project
  launch::FileKind kind = launch::FileKind::Shell;
  std::function<std::optional<launch::Word>(const std::string& path)> open;
  ShellTrees* trees = nullptr;  // of scripts that several files use; nullptr: none is kept
  CalledScripts* called = nullptr;  // those that several files start; nullptr: nothing is kept
  std::function<bool(std::string_view)> names_program;  // whether a text names a file of the project; nothing: each may
};

launch::LaunchFile ReadLaunchFile(const ReadInput& input);

}  // namespace allranks::launch_files
