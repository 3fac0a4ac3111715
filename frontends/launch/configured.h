// A configuration of Accelerate is part of the job of the command that names it: its keys stand for the options of the launcher
// without their dashes (`num_processes` for `--num_processes`), and what the command says itself counts more.
//
// An option that comes from there is named as its key, its value has its place in the configuration, and its word is the one by
// which the command names the file. Nothing is added where an unknown word may hold options, and types of jobs that do not start
// a process for each GPU say nothing here.
#pragma once

#include "analyzer/launch/job.h"

namespace allranks::launch_files {

// All files have been read.
void AddConfiguredOptions(launch::Launches& launches);

}  // namespace allranks::launch_files
