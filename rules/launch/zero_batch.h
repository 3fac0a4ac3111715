// The batch of a configuration of DeepSpeed against the ranks that a command starts with it.
//
// train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks. DeepSpeed computes what is left out, and ends
// where there is no whole number. Not sound where the script makes a model parallel without a word of it in the command.
#pragma once

#include "rules/launch/job_facts.h"

namespace allranks::rules {

void CheckBatchOfJobs(const LaunchContext& context, FindingSink& sink);

}  // namespace allranks::rules
