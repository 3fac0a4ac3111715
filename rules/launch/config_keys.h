// Configurations whose keys and types nobody checks before the job runs: those of Accelerate, and of FSDP for the Trainer.
#pragma once

#include "rules/launch/launch_rules.h"

namespace allranks::rules {

// Of AR908: keys that are misspelt by a letter, and values of another type than is read.
void CheckConfigKeys(const LaunchContext& context, FindingSink& sink);
// Keys of DeepSpeed in a configuration of Accelerate, which reads its own there.
void CheckDeepSpeedKeys(const LaunchContext& context, FindingSink& sink);

}  // namespace allranks::rules
