// What the files that start jobs say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/launch/job.h"
#include "analyzer/source/file_system.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/parse.h"

namespace allranks::pipeline {

// Each gets a FileId behind those that `parsed` has.
void ReadLaunchFiles(const LaunchInput& input, const LaunchScan& scan, Parsed& parsed, launch::Launches& launches);

}  // namespace allranks::pipeline
