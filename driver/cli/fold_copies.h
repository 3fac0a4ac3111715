#pragma once

#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"

namespace allranks::cli {

// Tells once what three or more copies of one function share: backups of a script, one model file in each experiment's folder. The first by path
// stands for all, and says where the others are. For reports only: fixes, baselines and editors know each.
// Expects and keeps the order of reports.
void FoldCopies(const source::SourceFiles& files, std::vector<findings::Finding>& findings);

}  // namespace allranks::cli
