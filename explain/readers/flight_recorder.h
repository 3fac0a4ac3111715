// PyTorch's Flight Recorder: one dump a rank, as pickle or JSON.
//
// Versions 2.0 to 2.10 differ by fields that were added, so only the major number is asked for and unknown keys are left
// alone. JSON dumps have no frames. What is where: torch/csrc/distributed/c10d/FlightRecorderDetail.hpp.
#pragma once

#include <optional>

#include "explain/readers/document.h"
#include "explain/readers/recording.h"

namespace allranks::explain {

bool IsFlightRecorder(const Document& document, ValueIndex root);

// Adds a dump to the recording; `rank` is what the name of the file says. One line on what is wrong, or nothing.
[[nodiscard]] std::string AddFlightRecorder(const Document& document, ValueIndex root, std::optional<uint32_t> rank,
                                            Recording& recording);

}  // namespace allranks::explain
