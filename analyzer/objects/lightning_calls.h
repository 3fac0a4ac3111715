// The calls that make and run Lightning's trainers, those of tests left out.
#pragma once

#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

struct LightningCalls {
  std::vector<KnownCall> trainers;  // `Trainer(...)`
  std::vector<KnownCall> runs;      // `trainer.fit(...)`, `.validate(...)`, `.test(...)`: what runs the hooks of a module
};

LightningCalls FindLightningCalls(const binding::Program& program, const ProgramIndex& index);

}  // namespace allranks::objects
