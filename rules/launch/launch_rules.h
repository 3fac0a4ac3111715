// Rules about launch files. They look at jobs and configurations, not at code, so they need no program and run without one.
#pragma once

#include <span>

#include "analyzer/launch/job.h"
#include "rules/rule.h"

namespace allranks::rules {

struct LaunchContext {
  const source::SourceFiles& files;
  const launch::Launches& launches;
};

// Of these rules, those about launch files.
void CheckLaunchFiles(const LaunchContext& context, std::span<const Rule* const> wanted, FindingSink& sink);

}  // namespace allranks::rules
