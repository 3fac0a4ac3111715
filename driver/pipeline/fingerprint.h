#pragma once

#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {

// Gives every finding a name by which another run knows it again: its rule, its file, the function it stands in, the code
// of its place without white space, and which one of equal ones it is. Lines may move and be indented anew.
// In the order of the file, suppressed findings among the others: accepting one does not rename the next.
void NameFindings(const source::SourceFiles& files, const PathMap& paths, std::vector<findings::Finding*> findings);

}  // namespace allranks::pipeline
