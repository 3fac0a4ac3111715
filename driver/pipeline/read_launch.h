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

// Python files that may start commands.
struct LaunchingCode {
  std::vector<std::string> paths;   // relative to the root
  const std::vector<bool>& requested;  // by index in `LaunchInput::code`
  base::Interner& names;
};

// Each gets a FileId behind those that `parsed` has. `lines`: which scripts they start.
void ReadLaunchFiles(const LaunchInput& input, const LaunchScan& scan, const LaunchingCode& code, Parsed& parsed,
                     launch::Launches& launches, objects::LaunchLines& lines);

}  // namespace allranks::pipeline
