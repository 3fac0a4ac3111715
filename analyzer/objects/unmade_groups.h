// Programs whose process group nobody makes: the functions that would are there, and no program comes to them; or the program speaks to other
// ranks, and it is only other programs of the project that make a group.
//
//   def setup(rank, world_size): dist.init_process_group("nccl", rank=rank, world_size=world_size)
//   def main(rank, world_size):
//       # setup(rank, world_size)
//       model = DDP(model)          # raises: no rank gets further
//
//   train.py: dist.init_process_group("nccl")      finetune.py: loader_of(dist.get_world_size())
//
// A library that is called with nothing where the file is started (`fire.Fire()`) may look for the functions itself: nothing is said.
// Unsound where a function is called by a name that is put together, or a file outside of the project makes the group.
#pragma once

#include <span>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/launch_signs.h"
#include "analyzer/objects/named_functions.h"

namespace allranks::objects {

// By ModuleId: whether all programs with a file are of that kind. `signs`: of FindLaunchSigns.
std::vector<bool> FindUnmadeGroups(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index,
                                   const binding::Neighbourhood& neighbourhood, const NamedFunctions& named, std::span<const LaunchSigns> signs);

// By ModuleId: whether files are started that use it, by hand or by commands (`lines_for`: those of each file), and none of these programs has
// a function that makes a group or starts or joins a job in another way, run or not.
std::vector<bool> FindJoblessFiles(const binding::Program& program, const binding::Neighbourhood& neighbourhood, std::span<const LaunchSigns> signs,
                                   std::span<const std::vector<uint32_t>> lines_for);

}  // namespace allranks::objects
