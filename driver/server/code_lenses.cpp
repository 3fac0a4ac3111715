#include <algorithm>
#include <map>

#include "driver/server/requests.h"

namespace allranks::server {
namespace {

struct Counts {
  size_t proven = 0;
  size_t aligned = 0;
  size_t flagged = 0;
  size_t unknown = 0;
  size_t findings = 0;   // that ranks part in the function, elsewhere than at a collective of its own
};

std::string Title(const Counts& counts) {
  const size_t all = counts.proven + counts.aligned + counts.flagged + counts.unknown;
  const std::string findings = std::to_string(counts.findings) + (counts.findings == 1 ? " finding" : " findings");
  if (all == 0) return findings;
  const std::string text = std::to_string(all) + (all == 1 ? " collective" : " collectives");
  if (counts.proven + counts.aligned == all && counts.findings == 0) {
    return text + (counts.aligned == 0 ? ", aligned on all ranks" : ", aligned as far as read");
  }
  std::string parts;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) parts += (parts.empty() ? ": " : ", ") + std::to_string(count) + " " + what;
  };
  add(counts.flagged, "flagged");
  add(counts.proven, "aligned");
  add(counts.aligned, "aligned as far as read");
  add(counts.unknown, "not decided");
  return text + parts + (counts.findings == 0 ? "" : "; " + findings);
}

// The innermost one around a place.
variation::FuncId FunctionAround(const Target& target, const source::Span& span) {
  const ir::Module& module = target.ir();
  ir::FunctionId innermost = ir::kTopLevel;
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 1; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[ir::FunctionId{i}];
    const bool is_around = function.begin <= span.begin && span.end <= function.end && function.name;
    if (!is_around || function.end - function.begin >= least) continue;
    innermost = ir::FunctionId{i};
    least = function.end - function.begin;
  }
  return target.snapshot.analysed.program.func(target.module, innermost);
}

// A collective that a function issues through another one stands in the ledger of that one; that ranks part at the call
// is said by a finding here.
void CountFindings(const Target& target, std::map<variation::FuncId, Counts>& by_function) {
  const pipeline::Output& output = target.snapshot.output;
  for (const findings::Finding& finding : output.findings) {
    if (finding.span.file != target.file || !finding.code.starts_with("AR1")) continue;
    const bool is_site = std::ranges::any_of(output.ledger, [&](const traces::LedgerEntry& entry) { return entry.span == finding.span; });
    if (is_site) continue;
    ++by_function[FunctionAround(target, finding.span)].findings;
  }
}

}  // namespace

Json CodeLenses(const Target& target) {
  if (!target.module) return Json::array();
  const binding::Program& program = target.snapshot.analysed.program;
  std::map<variation::FuncId, Counts> by_function;
  for (const traces::LedgerEntry& entry : target.snapshot.output.ledger) {
    if (entry.span.file != target.file) continue;
    Counts& counts = by_function[entry.function];
    if (entry.verdict == traces::SiteVerdict::Proven) ++counts.proven;
    if (entry.verdict == traces::SiteVerdict::Aligned) ++counts.aligned;
    if (entry.verdict == traces::SiteVerdict::Differs) ++counts.flagged;
    if (entry.verdict == traces::SiteVerdict::Unknown) ++counts.unknown;
  }
  CountFindings(target, by_function);
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
