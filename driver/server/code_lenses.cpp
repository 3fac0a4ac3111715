#include <map>

#include "driver/server/requests.h"

namespace allranks::server {
namespace {

struct Counts {
  size_t aligned = 0;
  size_t flagged = 0;
  size_t unknown = 0;
};

std::string Title(const Counts& counts) {
  const size_t all = counts.aligned + counts.flagged + counts.unknown;
  const std::string text = std::to_string(all) + (all == 1 ? " collective" : " collectives");
  if (counts.aligned == all) return text + ", aligned on all ranks";
  std::string parts;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) parts += (parts.empty() ? ": " : ", ") + std::to_string(count) + " " + what;
  };
  add(counts.flagged, "flagged");
  add(counts.aligned, "aligned");
  add(counts.unknown, "not decided");
  return text + parts;
}

}  // namespace

Json CodeLenses(const Target& target) {
  const binding::Program& program = target.snapshot.analysed.program;
  std::map<variation::FuncId, Counts> by_function;
  for (const traces::LedgerEntry& entry : target.snapshot.output.ledger) {
    if (entry.span.file != target.file) continue;
    Counts& counts = by_function[entry.function];
    if (entry.verdict == traces::SiteVerdict::Aligned) ++counts.aligned;
    if (entry.verdict == traces::SiteVerdict::Flagged) ++counts.flagged;
    if (entry.verdict == traces::SiteVerdict::Unknown) ++counts.unknown;
  }
  Json lenses = Json::array();
  for (const auto& [func, counts] : by_function) {
    const ir::Function& function = program.function(func);
    const DocumentRange place = target.places().Of({target.file, function.name_begin, function.name_end});
    if (place.uri != target.uri) continue;
    lenses.push_back({{"range", WriteRange(place.range)},
                      {"command", {{"title", Title(counts)}, {"command", "allranks.showTrace"},
                                   {"arguments", Json::array({target.uri, program.FunctionName(func)})}}}});
  }
  return lenses;
}

}  // namespace allranks::server
