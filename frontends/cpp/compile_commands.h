// How a file is compiled, taken from compile_commands.json as data: nothing of it is ever run, and of its flags only
// those are kept that decide what the source says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"

namespace allranks::cpp {

struct CompileCommand {
  std::string directory;          // absolute
  std::vector<std::string> args;  // kept flags, without the compiler and the file
};

class CompileCommands {
 public:
  // `text` of a compile_commands.json that lies in `folder` (absolute). Entries that make no sense are left out and
  // counted.
  [[nodiscard]] static base::Result<CompileCommands> Parse(std::string_view text, const std::string& folder,
                                                           const source::FileSystem& files);

  // Of an absolute path; null: not listed.
  const CompileCommand* Find(const std::string& path) const;
  // Of the listed file of the same language with which `path` shares most folders, and then most of its name; null: none
  // is listed.
  const CompileCommand* Nearest(const std::string& path) const;
  size_t size() const { return by_path_.size(); }
  size_t skipped() const { return skipped_; }
  // What was wrong with single entries: "flags.rsp, which foo.cpp is compiled with, cannot be read".
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::string, CompileCommand> by_path_;
  std::vector<std::string> problems_;
  size_t skipped_ = 0;
};

// Absolute, without `.`, `..` and doubled slashes; not resolved on disk.
std::string AbsolutePath(const std::string& directory, std::string_view path);

// The words of a shell command, as compile_commands.json writes them.
std::vector<std::string> ShellWords(std::string_view command);

// Flags of gcc, clang and nvcc that decide what a source says, in Clang's spelling.
std::vector<std::string> KeptFlags(const std::vector<std::string>& args);

// For a file that no database lists: its folder and those above it, up to the root, and their `include` folders.
CompileCommand DefaultCommand(const std::string& path, const std::string& root);

// What every file of this kind needs besides: the language, what old C does, CUDA as host code. `cuda_headers`: the
// folder of the toolkit's own (cuda_headers.h); empty: declarations stand in.
std::vector<std::string> LanguageFlags(std::string_view path, const std::vector<std::string>& args,
                                       const std::string& cuda_headers);

}  // namespace allranks::cpp
