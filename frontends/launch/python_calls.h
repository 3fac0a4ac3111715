// Commands that Python starts: `subprocess.run(["torchrun", ...])`, `os.system("torchrun ...")`, `os.execvp("torchrun", [...])`.
//
// A command is read where it is written as a list, as a text, as a variable that is assigned once, or as a list that the function
// builds up (built_lists.h). Its environment: python_environment.h. What a program puts in is unknown, as variables of a caller are in a shell.
#pragma once

#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/launch/job.h"
#include "analyzer/source/source_file.h"

namespace allranks::launch_files {

// Whether a text may start a process, and whether it may hold such a command.
bool StartsProcesses(std::string_view text);
bool StartsCommands(std::string_view text);

struct PythonInput {
  const launch::LauncherTables& tables;
  const ir::Module& module;
  const base::Interner& names;
  const source::SourceFile& text;
  std::string path;  // relative to the root of the project
};

launch::LaunchFile ReadPythonCalls(const PythonInput& input);

}  // namespace allranks::launch_files
