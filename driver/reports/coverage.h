#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/reports/report.h"

namespace allranks::reports {

struct CoverageTotals {
  size_t aligned = 0;
  size_t flagged = 0;
  size_t unknown = 0;
  std::vector<std::pair<std::string, size_t>> reasons;  // why sites are unknown, most frequent first
};

CoverageTotals Totals(const Report& report);
std::string_view ToString(Verdict verdict);

}  // namespace allranks::reports
