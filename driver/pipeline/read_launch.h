// What the files that start jobs say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/launch/job.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/source/file_system.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/parse.h"

namespace allranks::pipeline {

// Each gets a FileId behind those that `parsed` has. `lines`: which scripts they start.
void ReadLaunchFiles(const LaunchInput& input, const LaunchScan& scan, Parsed& parsed, launch::Launches& launches,
                     objects::LaunchLines& lines);

}  // namespace allranks::pipeline
