// What the settings say of findings once they are made: severities, and rules that are ignored in some files.
#pragma once

#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"
#include "driver/pipeline/options.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {

void ApplyPolicy(const Options& options, const PathMap& paths, const source::SourceFiles& files,
                 std::vector<findings::Finding>& findings);

// Whether a finding is sure enough, and not in preview where previews are not shown.
bool IsShown(const Policy& policy, const findings::Finding& finding);

// Whether the findings of a rule count.
bool Runs(const Policy& policy, std::string_view code);
// All that some policy wants, in the order of the registry.
std::vector<const rules::Rule*> RulesOf(const Policies& policies);

}  // namespace allranks::pipeline
