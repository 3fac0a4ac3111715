// Reads the files of settings that a program names, beside its own file or from the root, where most programs are started.
//
// A file that was read as a launch file is taken as it is. Any other becomes one of the run's files, so that findings may show
// places in it, and what is wrong with it is said if the user asked for a program that reads it.
#pragma once

#include "analyzer/launch/job.h"
#include "analyzer/objects/written_settings.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/parse.h"

namespace allranks::pipeline {

// Files are added to `files` and `launches`, and to those of `parsed` that are asked for.
objects::SettingsFiles ReadSettingsFiles(const LaunchInput& input, std::span<const objects::SettingsRead> reads, const binding::Program& program,
                                         source::SourceFiles& files, Parsed& parsed, launch::Launches& launches);

}  // namespace allranks::pipeline
