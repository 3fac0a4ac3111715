// Scripts that started nothing of the project when they were called with arguments. Both arms of a branch are read whatever a script is
// told, so told something else it starts nothing either, unless that is part of a command.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>

#include "analyzer/launch/job.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

class IdleScripts {
 public:
  // `names_program`: whether a text names a file of the project.
  explicit IdleScripts(std::function<bool(std::string_view)> names_program) : names_program_(std::move(names_program)) {}

  // `at`: the word of the command that names the script.
  bool StaysIdle(source::FileId script, const ShellCommand& command, size_t at) const;
  // `jobs`: what a call of it has started.
  void Note(source::FileId script, std::span<const launch::Job> jobs);

 private:
  bool IsOfInterest(const launch::Job& job) const;

  std::function<bool(std::string_view)> names_program_;
  std::set<uint32_t> idle_;  // by index of the file
};

}  // namespace allranks::launch_files
