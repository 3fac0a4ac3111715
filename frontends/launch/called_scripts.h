// Scripts that others start with arguments, and whether it is worth to read one of them once more for what it is told.
//
// One that names neither a launcher nor Python nor anything of the project starts nothing of it, unless it is told what to start.
// Both arms of a branch are read whatever a script is told. So one that started nothing of the project starts nothing of it when it is
// told something else, unless that is part of a command. And a script that many others start is read for the first ones alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "analyzer/launch/job.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

class CalledScripts {
 public:
  // `names_program`: whether a text names a file of the project.
  explicit CalledScripts(std::function<bool(std::string_view)> names_program) : names_program_(std::move(names_program)) {}

  // `at`: the word of the command that names the script; `text`: what it holds.
  bool IsWorthReading(source::FileId script, std::string_view text, const ShellCommand& command, size_t at);
  // `jobs`: what the script has started.
  void Note(source::FileId script, std::span<const launch::Job> jobs);

 private:
  struct Known {
    uint32_t reads = 0;
    std::optional<bool> is_idle;  // nothing: nobody asked
  };
  bool IsOfInterest(const launch::Job& job) const;
  bool MayStartAnything(std::string_view text) const;

  std::function<bool(std::string_view)> names_program_;
  std::map<uint32_t, Known> known_;  // by index of the file
};

}  // namespace allranks::launch_files
