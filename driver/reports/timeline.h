#pragma once

#include <string>

#include "driver/reports/lanes.h"
#include "driver/reports/paint.h"
#include "witness/witness.h"

namespace allranks::reports {

// The witness rank by rank: one lane a rank class, operations in their order, and where each lane waits.
//
//     rank 0     ──● all_reduce :12 ──■ barrier :42     waits for ranks 1-3
//     ranks 1-3  ──● all_reduce :12 ──■ all_reduce :45  wait for rank 0
//
// `path` is the finding's file: operations in it are named by their line alone.
// `files` knows the cells of notebooks.
std::string DrawTimeline(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files,
                         uint32_t indent, const TextStyle& style);

}  // namespace allranks::reports
