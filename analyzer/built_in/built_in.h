// What the tool knows before it has read anything: knowledge/, as it was when the tool was built.
#pragma once

#include "analyzer/base/result.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/launch/launcher_table.h"

namespace allranks::built_in {

// All of it, ready for use. `knowledge` is empty.
void FillKnowledge(knowledge::Knowledge& knowledge);
// The same, before Knowledge::Finish: more files may be loaded.
void BeginKnowledge(knowledge::Knowledge& knowledge);

// `tables` are empty.
void FillTables(launch::LauncherTables& tables);

}  // namespace allranks::built_in
