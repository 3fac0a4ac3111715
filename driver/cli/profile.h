#pragma once

#include <string>

#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

// `--profile`: phases and their times, what was read, and what it cost.
std::string ProfileText(const pipeline::Output& out);

}  // namespace allranks::cli
