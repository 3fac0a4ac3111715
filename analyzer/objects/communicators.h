// When the communicators of a program's groups are made, as its calls that set the job up say.
#pragma once

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"
#include "witness/witness.h"

namespace allranks::objects {

// Unknown where nothing here sets the job up, or one call does so with a device and another without.
witness::Communicators CommunicatorsOf(const binding::Program& program, const ProgramIndex& index, const Values& values);

}  // namespace allranks::objects
