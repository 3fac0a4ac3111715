// Options of a launcher that a configuration says otherwise, which the command names as well: one of them has no effect.
#pragma once

#include "rules/launch/job_facts.h"

namespace allranks::rules {

// Whether a value of a configuration and one of a command line are the same: `true` and `True`, `1` and `1.0`.
bool Agree(const launch::ConfigNode& node, const std::string& argument);
// The same of what a pair puts beside each other; of settings that exclude one another, not both are on.
bool Agree(const launch::PairEntry& pair, const launch::ConfigNode& node, const std::string& argument);

void CompareLauncherOptions(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink);

}  // namespace allranks::rules
