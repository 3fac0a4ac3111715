#pragma once

namespace allranks::cli {

// As ruff has them.
constexpr int kExitClean = 0;
constexpr int kExitFindings = 1;
constexpr int kExitError = 2;

}  // namespace allranks::cli
