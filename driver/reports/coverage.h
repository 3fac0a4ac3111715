#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/reports/json_writer.h"
#include "driver/reports/report.h"

namespace allranks::reports {

struct CoverageTotals {
  size_t proven = 0;
  size_t aligned = 0;
  size_t flagged = 0;
  size_t unknown = 0;
  std::vector<std::pair<std::string, size_t>> reasons;  // why sites are unknown, most frequent first
  // What aligned sites rest on: at how many of them, most frequent first.
  std::vector<std::pair<findings::Assumption, size_t>> assumptions;
  size_t all() const { return proven + aligned + flagged + unknown; }
};

CoverageTotals Totals(const Report& report);
std::string_view ToString(Verdict verdict);
// "ledger": the numbers, and unless `brief` the reasons and assumptions behind them.
void WriteLedger(JsonWriter& json, const Report& report, bool brief);

}  // namespace allranks::reports
