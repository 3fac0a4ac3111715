// One HTML file that needs nothing beside it. All that comes from the analysed code is escaped; besides, the page forbids
// itself every script but its own, and every connection.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>

#include "driver/reports/coverage.h"
#include "driver/reports/html_page.h"
#include "driver/reports/lanes.h"
#include "driver/reports/links.h"
#include "driver/reports/markup.h"
#include "driver/reports/place.h"

namespace allranks::reports {
namespace {

using findings::Finding;
using findings::Label;
using findings::LabelRole;

// Lines of code around what a finding speaks of; longer lines are cut.
constexpr uint32_t kLinesAround = 2;
constexpr size_t kLongestLine = 400;

std::string_view ClassOf(LabelRole role) {
  switch (role) {
    case LabelRole::Primary: return "primary";
    case LabelRole::Condition: return "condition";
    case LabelRole::Why: return "why";
    case LabelRole::Victim: return "victim";
    case LabelRole::Call: return "call";
    case LabelRole::Note: return "note-role";
  }
  return "note-role";
}

// The code between backticks in its own typeface.
std::string Prose(const std::string& text) {
  std::string out;
  bool in_code = false;
  for (const char c : OneLine(text)) {
    if (c == '`') {
      out += in_code ? "</code>" : "<code>";
      in_code = !in_code;
    } else {
      out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
    }
  }
  return in_code ? out + "</code>" : out;
}

struct Mark {
  source::Span span;
  LabelRole role = LabelRole::Note;
  std::string text;
};

// The lines of one file with their marks.
class Excerpt {
 public:
  Excerpt(const source::SourceFile& file, std::vector<Mark> marks) : file_(file), marks_(std::move(marks)) {
    std::ranges::stable_sort(marks_, {}, [](const Mark& m) { return m.span.begin; });
  }

  std::string Draw() const {
    std::string out = "<div class=\"excerpt\"><div class=\"file\">" + Escaped(OneLine(file_.path)) + "</div><pre>";
    uint32_t next = 0;
    const auto lines = static_cast<uint32_t>(file_.line_starts.size());
    for (const Mark& mark : marks_) {
      const uint32_t line = source::Locate(file_, mark.span.begin).line;
      const uint32_t from = std::max(next, line > kLinesAround ? line - kLinesAround : 0);
      if (next > 0 && from > next) out += "<span class=\"n\">⋮</span>\n";
      for (next = std::max(next, from); next < std::min(line + kLinesAround + 1, lines); ++next) out += DrawLine(next);
    }
    return out + "</pre></div>";
  }

 private:
  std::string DrawLine(uint32_t line) const {
    const std::string_view text = source::LineText(file_, line);
    const uint32_t start = file_.line_starts[line];
    const auto end = start + static_cast<uint32_t>(std::min(text.size(), kLongestLine));
    std::string out = "<span class=\"n\">" + std::to_string(ShownLine(file_, line)) + "</span>";
    std::string notes;
    uint32_t at = start;
    for (const Mark& mark : marks_) {
      if (mark.span.begin < start || mark.span.begin > start + text.size() || source::Locate(file_, mark.span.begin).line != line) continue;
      const std::string style(ClassOf(mark.role));
      if (!mark.text.empty()) notes += "<span class=\"note " + style + "\">↳ " + Prose(mark.text) + "</span>";
      // Of marks that overlap the first is drawn; the others have their notes.
      if (mark.span.begin < at || mark.span.begin >= end) continue;
      const uint32_t stop = std::clamp(mark.span.end, mark.span.begin, end);
      out += Escaped(Between(at, mark.span.begin)) + "<mark class=\"" + style + "\">" + Escaped(Between(mark.span.begin, stop)) + "</mark>";
      at = stop;
    }
    out += Escaped(Between(at, std::max(at, end))) + (text.size() > kLongestLine ? "…" : "");
    return out + (notes.empty() ? "\n" : notes);
  }
  std::string_view Between(uint32_t begin, uint32_t end) const {
    return std::string_view(file_.text).substr(begin, end - begin);
  }

  const source::SourceFile& file_;
  std::vector<Mark> marks_;
};

// The finding's own file first, then the others in the order in which labels name them.
std::string Excerpts(const Report& report, const Finding& finding) {
  std::vector<std::pair<source::FileId, std::vector<Mark>>> groups;
  const auto group = [&](source::FileId file) -> std::vector<Mark>& {
    const auto known = std::ranges::find(groups, file, [](const auto& g) { return g.first; });
    return known == groups.end() ? groups.emplace_back(file, std::vector<Mark>()).second : known->second;
  };
  group(finding.span.file).push_back({finding.span, LabelRole::Primary, ""});
  for (const Label& label : finding.labels) group(label.span.file).push_back({label.span, label.role, findings::Render(label.text)});
  std::string out;
  for (auto& [file, marks] : groups) out += Excerpt(report.files[file], std::move(marks)).Draw();
  return out;
}

std::string Facts(const Report& report, const Finding& finding) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& html) {
    out += "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>";
  };
  if (const std::string help = findings::Render(finding.help); !help.empty()) add("help", Prose(help));
  for (const findings::Fix& fix : finding.fixes) {
    const bool safe = fix.applicability == findings::Applicability::Safe;
    const bool shown_only = fix.applicability == findings::Applicability::DisplayOnly;
    add("fix", Prose(fix.title + (shown_only ? "" : safe ? " (`--fix`)" : " (`--unsafe-fixes`)")));
  }
  if (const std::string_view category = ToString(finding.flight_record); !category.empty()) {
    add("at run time", "PyTorch's Flight Recorder: " + Escaped(category));
  }
  if (const Verification* seen = VerificationOf(report, finding)) add("verified", Escaped(seen->Text()));
  if (finding.confidence != findings::Confidence::Certain) add("confidence", std::string(findings::ToString(finding.confidence)));
  if (!finding.assumptions.empty()) add("assumed", Escaped(findings::Clauses(finding.assumptions)));
  return out.empty() ? out : "<dl>" + out + "</dl>";
}

std::string Article(const Report& report, const Finding& finding) {
  const std::string severity(findings::ToString(finding.severity));
  const rules::Rule* rule = rules::FindRule(finding.code);
  std::string code = "<span class=\"code\">" + std::string(finding.code) + "</span>";
  if (rule != nullptr) {
    code = "<a class=\"code\" rel=\"noreferrer\" href=\"" + Escaped(RuleUrl(*rule)) + "\" title=\"" + Escaped(rule->summary) + "\">" +
           std::string(finding.code) + "</a>";
  }
  std::string out = "<article tabindex=\"0\" class=\"" + severity + "\" data-severity=\"" + severity + "\" data-code=\"" +
                    std::string(finding.code) + "\" id=\"f" + Escaped(finding.fingerprint) + "\">";
  out += "<h2>" + code + " " + Prose(findings::Render(finding.message)) + "</h2><div class=\"place\">" +
         Escaped(ToString(PlaceAt(report.files, finding.span.file, finding.span.begin)));
  if (!finding.function.empty()) out += " in " + Escaped(finding.function);
  out += "</div>";
  if (finding.witness && ShowsDifference(*finding.witness)) {
    out += HtmlLanes(*finding.witness, report.files[finding.span.file].path, report.files);
  }
  return out + Excerpts(report, finding) + Facts(report, finding) + "</article>\n";
}

std::map<std::string_view, size_t> CountByRule(const Report& report) {
  std::map<std::string_view, size_t> counts;
  for (const Finding& finding : report.findings) ++counts[finding.code];
  return counts;
}

std::string RuleTable(const Report& report) {
  std::string out;
  for (const auto& [code, count] : CountByRule(report)) {
    const rules::Rule* rule = rules::FindRule(code);
    out += "<tr><td>" + std::string(code) + "</td><td>" + std::to_string(count) + "</td><td>" +
           (rule == nullptr ? "" : Escaped(rule->name) + "</td><td class=\"dim\">" + Escaped(rule->summary)) + "</td></tr>";
  }
  return out.empty() ? out : "<table><tr><th>rule</th><th>findings</th><th>name</th><th>what it finds</th></tr>" + out + "</table>";
}

std::string Filters(const Report& report) {
  std::string out = "<div class=\"filters\" role=\"search\"><input type=\"search\" id=\"search\" placeholder=\"Search\" "
                    "aria-label=\"Search in findings\"><select id=\"rule\" aria-label=\"Rule\"><option value=\"\">All rules</option>";
  for (const auto& [code, count] : CountByRule(report)) {
    out += "<option value=\"" + std::string(code) + "\">" + std::string(code) + " (" + std::to_string(count) + ")</option>";
  }
  out += "</select>";
  for (const char* severity : {"error", "warning", "info"}) {
    out += "<label><input type=\"checkbox\" name=\"severity\" value=\"" + std::string(severity) + "\" checked> " + severity + "</label>";
  }
  return out + "<span id=\"shown\" class=\"dim\" role=\"status\"></span><span class=\"dim\"><kbd>j</kbd> <kbd>k</kbd> next, previous; "
               "<kbd>/</kbd> search</span></div>";
}

std::string Summary(const Report& report) {
  TextStyle plain;
  std::string out = "<p>" + Escaped(RenderSummary(report, plain)) + "</p>";
  for (const std::string& error : report.errors) out += "<p class=\"primary\">" + Escaped(OneLine(error)) + "</p>";
  return out + RuleTable(report);
}

// Told to the browser before anything else: what runs is marked with a number that analysed code cannot know, because it
// depends on that code.
std::string NonceOf(const std::string& body) {
  std::array<char, 20> digits{};
  std::snprintf(digits.data(), digits.size(), "%zx", std::hash<std::string>{}(body));
  return digits.data();
}

}  // namespace

std::string RenderHtml(const Report& report) {
  std::string body = "<header><h1>allranks</h1>" + Summary(report) + "</header><main>" + Filters(report);
  for (const Finding& finding : report.findings) body += Article(report, finding);
  if (report.findings.empty()) body += "<p>No findings.</p>";
  body += "<p class=\"dim\">allranks " + Escaped(report.version) + "</p></main>";
  const std::string nonce = NonceOf(body);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-" + nonce +
         "'; script-src 'nonce-" + nonce + "'; base-uri 'none'; form-action 'none'\">";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"referrer\" content=\"no-referrer\">";
  out += "<title>allranks: " + std::to_string(report.findings.size()) + (report.findings.size() == 1 ? " finding" : " findings") + "</title><style nonce=\"" + nonce + "\">" +
         std::string(HtmlStyle()) + "</style></head><body>\n";
  return out + body + "<script nonce=\"" + nonce + "\">" + std::string(HtmlScript()) + "</script></body></html>\n";
}

}  // namespace allranks::reports
