#include "driver/reports/coverage.h"

#include <algorithm>
#include <map>

#include "driver/reports/paint.h"
#include "driver/reports/place.h"

namespace allranks::reports {
namespace {

// More reasons than this are each rare; `-v` lists every site.
constexpr size_t kReasonsShown = 15;

std::string Share(std::string_view name, size_t count, size_t all) {
  const size_t per_mille = all == 0 ? 0 : (count * 1000 + all / 2) / all;
  std::string percent = std::to_string(per_mille / 10) + "." + std::to_string(per_mille % 10) + " %";
  std::string number = std::to_string(count);
  number.insert(0, 8 - std::min<size_t>(8, number.size()), ' ');
  percent.insert(0, 10 - std::min<size_t>(10, percent.size()), ' ');
  return "  " + std::string(name) + number + percent + "\n";
}

Ink InkOf(Verdict verdict) {
  return verdict == Verdict::Aligned ? Ink::Good : verdict == Verdict::Flagged ? Ink::Error : Ink::Warning;
}

std::string SiteLine(const Report& report, const Site& site, const TextStyle& style) {
  std::string out = ToString(PlaceAt(report.files, site.span.file, site.span.begin)) + ": ";
  out += Paint(style, InkOf(site.verdict), ToString(site.verdict)) + " `" + OneLine(site.name) + "`";
  if (!site.reason.empty()) out += ": " + OneLine(site.reason);
  return out + "\n";
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::Aligned: return "aligned";
    case Verdict::Flagged: return "flagged";
    case Verdict::Unknown: return "unknown";
  }
  return "unknown";
}

CoverageTotals Totals(const Report& report) {
  CoverageTotals totals;
  std::map<std::string, size_t> reasons;
  for (const Site& site : report.ledger) {
    if (site.verdict == Verdict::Aligned) ++totals.aligned;
    if (site.verdict == Verdict::Flagged) ++totals.flagged;
    if (site.verdict != Verdict::Unknown) continue;
    ++totals.unknown;
    ++reasons[site.reason.empty() ? "no reason given" : site.reason];
  }
  totals.reasons.assign(reasons.begin(), reasons.end());
  std::stable_sort(totals.reasons.begin(), totals.reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return totals;
}

std::string RenderCoverage(const Report& report, const TextStyle& style, bool sites) {
  const CoverageTotals totals = Totals(report);
  const size_t all = totals.aligned + totals.flagged + totals.unknown;
  std::string out;
  if (sites) {
    for (const Site& site : report.ledger) out += SiteLine(report, site, style);
    if (!report.ledger.empty()) out += "\n";
  }
  out += Paint(style, Ink::Bold, "Collective calls: " + std::to_string(all)) + "\n";
  out += Share("proven aligned", totals.aligned, all);
  out += Share("flagged       ", totals.flagged, all);
  out += Share("unknown       ", totals.unknown, all);
  if (!totals.reasons.empty()) out += Paint(style, Ink::Bold, "Unknown because of") + "\n";
  for (size_t i = 0; i < totals.reasons.size() && i < kReasonsShown; ++i) {
    std::string count = std::to_string(totals.reasons[i].second);
    count.insert(0, 8 - std::min<size_t>(8, count.size()), ' ');
    out += count + "  " + OneLine(totals.reasons[i].first) + "\n";
  }
  if (totals.reasons.size() > kReasonsShown) {
    out += "          and " + std::to_string(totals.reasons.size() - kReasonsShown) + " rarer reasons\n";
  }
  return out;
}

}  // namespace allranks::reports
