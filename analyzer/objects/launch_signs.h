// What a function itself shows of how its program is run: a process group that it makes, a web page that it serves.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// A set of signs. A job of one counts only where nothing makes a larger one; a habit counts where the callers say nothing.
using LaunchSigns = uint16_t;
constexpr LaunchSigns kMakesJob = 1;       // sets a process group up, starts processes, is a framework that does
constexpr LaunchSigns kHasController = 2;  // Ray, RPC
constexpr LaunchSigns kJobOfOne = 4;       // `world_size=1`, `devices=1`, one model over all devices of the process
constexpr LaunchSigns kOneByHabit = 8;     // a web page, a prompt, an export
constexpr LaunchSigns kReadsRanks = 16;    // of its environment: somebody has set them
constexpr LaunchSigns kAsksForOne = 64;    // hands `world_size=1` to whatever makes the job
constexpr LaunchSigns kStartsRanks = 128;  // itself, where no launcher has
constexpr LaunchSigns kSpeaksToRanks = 32; // communicates, or asks for its rank in a group
constexpr LaunchSigns kMakesGroup = 512;   // of processes, itself or in a framework
constexpr LaunchSigns kJoinsJob = 256;     // a framework's trainer that joins the ranks of a launcher, and works alone where there is none

// By FuncId. Of each function alone, not of what it calls.
std::vector<LaunchSigns> FindLaunchSigns(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                         const variation::Facts& facts, const ProgramIndex& index);

}  // namespace allranks::objects
