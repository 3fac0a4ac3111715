// What the scripts that launch files start take on their command lines.
#pragma once

#include <map>
#include <string>

#include "analyzer/launch/job.h"
#include "analyzer/objects/script_options.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/pipeline/parse.h"
#include "driver/pipeline/selection.h"

namespace allranks::pipeline {

// By path, relative to the root. Of the files that they import, those that `parsed` lacks and that speak of arguments are
// parsed here: most mention nothing else of interest. What a file imports is known of those that were looked into.
using Scripts = std::map<std::string, objects::ScriptOptions>;
Scripts ReadScripts(const LaunchInput& input, const binding::ModuleGraph& graph, const Selection& selection, const Parsed& parsed,
                    const launch::Launches& launches, base::Interner& names);

}  // namespace allranks::pipeline
