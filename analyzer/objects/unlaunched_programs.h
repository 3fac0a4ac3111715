// Programs that the commands of a project pass over: launchers start another one beside it, or in a folder above, while none starts this one,
// and it starts no ranks itself.
//
//   README: torchrun --nproc_per_node=8 train.py      train_old.py, tools/convert.py: no line names them
//
// Often a variant that was left behind, or one that a single process runs. It may be started on ranks all the same, so that this is no more than a
// doubt: of the AR1 findings in such programs 4 of 10 were right, in others 8 of 10 (docs/precision.md). A file that no program uses is
// a library's, for others to run, and not meant.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/launch_lines.h"

namespace allranks::objects {

// By ModuleId: whether all programs with a file are of that kind. `starts_ranks`: whether a file does so itself.
std::vector<bool> FindUnlaunchedPrograms(const binding::Program& program, const binding::Neighbourhood& neighbourhood,
                                         std::span<const LaunchLine> lines, const std::function<bool(ir::ModuleId)>& starts_ranks);

}  // namespace allranks::objects
