// Lines of a script that the shell, or the scheduler, takes for something else than was meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/launch/job.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

struct Misread {
  launch::MisreadAs as;
  std::string text;  // what was meant
};

// What a command is that was to be something else. `text`: from its first word on; `length`: of that word; `is_behind_empty`: `NAME=` stands
// before it, with nothing behind the sign.
std::optional<Misread> MisreadOf(std::string_view text, size_t length, bool is_behind_empty);
// The name in `NAME==4`, which gets the value `=4`. Small letters may be the name of a package with its version. Empty: it is none.
std::string DoublySigned(std::string_view assignment);
// The variable of `$NAME` or `${NAME}`, where the text is nothing else; empty: it is.
std::string PlainVariable(std::string_view text);

// What was found while a script was read, and what its text as a whole shows; one line of each kind.
void AddMisread(ShellScript script, const Word& text, launch::LaunchFile& file);

}  // namespace allranks::launch_files
