#pragma once

#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"

namespace allranks::pipeline {

// Names each witness after its finding, "AR101/3f9c2b7d": a number made of code, file, function and message, so that
// it stays while lines move.
void NameWitnesses(const source::SourceFiles& files, std::vector<findings::Finding>& findings);

}  // namespace allranks::pipeline
