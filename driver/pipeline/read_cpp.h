// C, C++ and CUDA: translation units through the helper program, and what they say of the project's headers.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/unit_cache.h"
#include "frontends/cpp/compile_commands.h"
#include "frontends/cpp/helper.h"

namespace allranks::pipeline {

// How the translation units of one run are read. Any thread may call Read.
class CppReader {
 public:
  // `database`: the folder that `-p` names, or empty: compile_commands.json is looked for in the root, its `build`
  // folder, and the folders above.
  // `extra_args`: of the compiler, behind those of every file.
  CppReader(const PathMap& paths, const source::FileSystem& files, const std::string& database,
            const std::vector<std::string>& extra_args, const cpp::Limits& limits, UnitCache* cache = nullptr);

  // `relative`: to the root. `folders`, relative as well: where the project's headers are that it includes, for a file
  // that no compile command names. An error is one line on why the file was not read, and `reached` what it came to. What is
  // `open` in an editor is not kept.
  base::Result<cpp::Reply> Read(const std::string& relative, const std::string& text, const std::vector<std::string>& folders,
                                bool is_open = false, const std::function<bool()>& is_stopped = {}, cpp::Reached* reached = nullptr) const;
  // Whether another run is told the same of all that was read, if the disk is the same.
  bool IsRepeatable() const { return is_repeatable_; }
  // Whether a compile command names the file.
  bool IsListed(const std::string& relative) const;
  // One line for each thing that is wrong with the compile commands themselves.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  bool Load(const std::string& folder);
  void LeaveToUser(std::vector<std::string>& args, const std::string& directory) const;
  cpp::CompileCommand Unlisted(const std::string& path, const std::vector<std::string>& folders) const;

  const PathMap& paths_;
  const source::FileSystem& files_;
  std::string root_;  // absolute
  base::Result<std::unique_ptr<cpp::Helpers>> helpers_;
  std::vector<std::string> extra_args_;
  std::string cuda_headers_;  // of this machine; empty: none
  std::optional<cpp::CompileCommands> commands_;
  std::vector<std::string> problems_;
  UnitCache* cache_;  // none: what is read is not kept
  mutable std::atomic<bool> is_repeatable_ = true;
};

}  // namespace allranks::pipeline
