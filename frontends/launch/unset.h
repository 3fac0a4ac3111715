// Options of a job whose value is a variable that nothing sets: `--layers $model_layers` where the script sets `layers`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "analyzer/launch/job.h"
#include "frontends/launch/shell.h"

namespace allranks::launch_files {

// Whether a text names a variable other than by `$name` and `${name}`: whoever does may give it a value, or say that the caller has to.
bool MayGive(std::string_view text, std::string_view name);

// Whether it gives the variable a value, or may have somebody do so: `name=4`.
bool Assigns(std::string_view text, std::string_view name);

// Adds those of the jobs of a script. `variables`: as the script leaves them.
void AddUnset(const std::map<std::string, ShellVariable>& variables, const Word& text, launch::LaunchFile& file);

}  // namespace allranks::launch_files
