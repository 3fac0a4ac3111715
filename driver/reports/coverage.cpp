#include "driver/reports/coverage.h"

#include <algorithm>
#include <map>

#include "analyzer/knowledge/words.h"
#include "driver/reports/paint.h"
#include "driver/reports/place.h"

namespace allranks::reports {
namespace {

// More reasons than this are each rare; `-v` lists every site.
constexpr size_t kReasonsShown = 15;

std::string Grouped(size_t count) {
  std::string number = std::to_string(count);
  number.insert(0, 8 - std::min<size_t>(8, number.size()), ' ');
  return number;
}

std::string Share(std::string_view name, size_t count, size_t all) {
  constexpr size_t kNameWidth = 22;
  const size_t per_mille = all == 0 ? 0 : (count * 1000 + all / 2) / all;
  std::string percent = std::to_string(per_mille / 10) + "." + std::to_string(per_mille % 10) + " %";
  percent.insert(0, 10 - std::min<size_t>(10, percent.size()), ' ');
  std::string padded(name);
  padded.resize(kNameWidth, ' ');
  return "  " + padded + Grouped(count) + percent + "\n";
}

Ink InkOfVerdict(Verdict verdict) {
  return verdict == Verdict::Proven ? Ink::Good : verdict == Verdict::Flagged ? Ink::Error : Ink::Warning;
}

std::string Counts(std::string_view title, const std::vector<std::pair<std::string, size_t>>& counts,
                   const TextStyle& style) {
  if (counts.empty()) return {};
  std::string out = Paint(style, Ink::Bold, title) + "\n";
  for (size_t i = 0; i < counts.size() && i < kReasonsShown; ++i) {
    out += Grouped(counts[i].second) + "  " + OneLine(counts[i].first) + "\n";
  }
  if (counts.size() > kReasonsShown) {
    out += "          and " + std::to_string(counts.size() - kReasonsShown) + " rarer reasons\n";
  }
  return out;
}

std::string SiteLine(const Report& report, const Site& site, const TextStyle& style) {
  std::string out = ToString(PlaceAt(report.files, site.span.file, site.span.begin)) + ": ";
  out += Paint(style, InkOfVerdict(site.verdict), ToString(site.verdict)) + " " + knowledge::AsCode(OneLine(site.name));
  if (!site.reason.empty()) out += ": " + OneLine(site.reason);
  else if (!site.assumptions.empty()) out += ": assumed: " + findings::Clauses(site.assumptions);
  return out + "\n";
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::Proven: return "proven aligned";
    case Verdict::Aligned: return "aligned as far as read";
    case Verdict::Flagged: return "flagged";
    case Verdict::Unknown: return "unknown";
  }
  return "unknown";
}

CoverageTotals Totals(const Report& report) {
  CoverageTotals totals;
  std::map<std::string, size_t> reasons;
  std::map<findings::Assumption, size_t> assumptions;
  for (const Site& site : report.ledger) {
    if (site.verdict == Verdict::Proven) ++totals.proven;
    if (site.verdict == Verdict::Aligned) ++totals.aligned;
    if (site.verdict == Verdict::Flagged) ++totals.flagged;
    if (site.verdict == Verdict::Aligned) {
      for (const findings::Assumption assumption : site.assumptions.List()) ++assumptions[assumption];
    }
    if (site.verdict != Verdict::Unknown) continue;
    ++totals.unknown;
    ++reasons[site.reason.empty() ? "no reason given" : site.reason];
  }
  const auto by_count = [](const auto& a, const auto& b) { return a.second > b.second; };
  totals.reasons.assign(reasons.begin(), reasons.end());
  std::ranges::stable_sort(totals.reasons, by_count);
  totals.assumptions.assign(assumptions.begin(), assumptions.end());
  std::ranges::stable_sort(totals.assumptions, by_count);
  return totals;
}

void WriteLedger(JsonWriter& json, const Report& report, bool brief) {
  const CoverageTotals totals = Totals(report);
  json.Key("ledger").BeginObject();
  json.Member("proven", totals.proven).Member("aligned", totals.aligned);
  json.Member("flagged", totals.flagged).Member("unknown", totals.unknown);
  if (!brief) {
    json.Key("assumptions").BeginArray();
    for (const auto& [assumption, count] : totals.assumptions) {
      json.BeginObject().Member("kind", findings::NameOf(assumption)).Member("count", count).EndObject();
    }
    json.EndArray().Key("unknownReasons").BeginArray();
    for (const auto& [reason, count] : totals.reasons) {
      json.BeginObject().Member("reason", reason).Member("count", count).EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

std::string RenderCoverage(const Report& report, const TextStyle& style, bool sites) {
  const CoverageTotals totals = Totals(report);
  std::string out;
  if (sites) {
    for (const Site& site : report.ledger) out += SiteLine(report, site, style);
    if (!report.ledger.empty()) out += "\n";
  }
  out += Paint(style, Ink::Bold, "Collective calls: " + std::to_string(totals.all())) + "\n";
  out += Share("proven aligned", totals.proven, totals.all());
  out += Share("aligned as far as read", totals.aligned, totals.all());
  out += Share("flagged", totals.flagged, totals.all());
  out += Share("unknown", totals.unknown, totals.all());
  std::vector<std::pair<std::string, size_t>> clauses;
  for (const auto& [assumption, count] : totals.assumptions) clauses.emplace_back(findings::ClauseOf(assumption), count);
  return out + Counts("Aligned calls assume that", clauses, style) + Counts("Unknown because of", totals.reasons, style);
}

}  // namespace allranks::reports
