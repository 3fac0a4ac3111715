// Rules about launch files. They look at jobs and configurations, and at what the scripts of jobs take on their command lines: no
// program is needed.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "analyzer/launch/job.h"
#include "analyzer/objects/script_options.h"
#include "rules/rule.h"

namespace allranks::rules {

struct LaunchContext {
  const source::SourceFiles& files;
  const launch::Launches& launches;
  const std::map<std::string, objects::ScriptOptions>& scripts;  // by path, relative to the root
  const std::set<std::string>& failing_scripts;  // paths of those that end before: their parsers are not asked

  // Of the script that a job starts; nullptr: it is not known.
  const objects::ScriptOptions* ScriptOf(const launch::Job& job) const {
    const auto script = scripts.find(job.script_path);
    return script == scripts.end() ? nullptr : &script->second;
  }
  bool FailsBeforeParsing(const launch::Job& job) const { return failing_scripts.contains(job.script_path); }
};

// Of these rules, those about launch files.
void CheckLaunchFiles(const LaunchContext& context, std::span<const Rule* const> wanted, FindingSink& sink);

}  // namespace allranks::rules
