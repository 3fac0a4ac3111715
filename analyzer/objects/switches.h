// Places that a switch which the program sets itself keeps from ever being reached: `distributed = False`, and below
// `if distributed: init_process_group()`. Who wants the other mode has to edit the file.
#pragma once

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

bool IsSwitchedOff(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Site& site);

}  // namespace allranks::objects
