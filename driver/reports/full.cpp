// The format for people: an excerpt with labels, the ranks' timeline, what was taken for granted, and how to fix it.
#include <algorithm>
#include <map>

#include "driver/reports/excerpt.h"
#include "driver/reports/headline.h"
#include "driver/reports/place.h"
#include "driver/reports/text_width.h"
#include "driver/reports/timeline.h"

namespace allranks::reports {
namespace {

using findings::Finding;
using findings::Label;
using findings::LabelRole;

// Notes are broken before this column, where the terminal allows.
constexpr uint32_t kNoteWidth = 100;

uint32_t DigitsOf(uint32_t number) { return static_cast<uint32_t>(std::to_string(number).size()); }

class FindingDrawer {
 public:
  FindingDrawer(const Report& report, const Finding& finding, const TextStyle& style)
      : report_(report), finding_(finding), style_(style), headline_(HeadlineOf(OneLine(findings::Render(finding.message)))) {
    GroupMarks();
  }

  std::string Draw() const {
    std::string out = Head();
    bool first = true;
    for (const auto& [file, marks] : groups_) {
      out += Arrow(file, marks, first) + Gutter(margin_, style_) + "\n";
      out += DrawExcerpt(report_.files[file], marks, margin_, style_);
      first = false;
    }
    return out + Notes();
  }

 private:
  // The finding's own file comes first, then the others in the order in which labels name them.
  void GroupMarks() {
    Group(finding_.span.file).push_back(PrimaryMark());
    for (const Label& label : finding_.labels) {
      if (label.role == LabelRole::Primary && label.span == finding_.span) continue;
      Group(label.span.file).push_back({label.span, OneLine(findings::Render(label.text)),
                                        InkOf(label.role, finding_.severity),
                                        label.role == LabelRole::Primary ? '^' : '-'});
    }
    for (const auto& [file, marks] : groups_) {
      for (const Mark& mark : marks) {
        const source::SourceFile& source = report_.files[file];
        margin_ = std::max(margin_, DigitsOf(ShownLine(source, source::Locate(source, mark.span.begin).line)));
      }
    }
  }
  std::vector<Mark>& Group(source::FileId file) {
    for (auto& [known, marks] : groups_) {
      if (known == file) return marks;
    }
    return groups_.emplace_back(file, std::vector<Mark>()).second;
  }
  Mark PrimaryMark() const {
    Mark mark{finding_.span, "", InkOf(finding_.severity), '^'};
    for (const Label& label : finding_.labels) {
      if (label.role == LabelRole::Primary && label.span == finding_.span) {
        mark.text = OneLine(findings::Render(label.text));
      }
    }
    return mark;
  }

  std::string Head() const {
    const std::string kind = std::string(findings::ToString(finding_.severity)) + "[" + std::string(finding_.code) + "]";
    return Paint(style_, InkOf(finding_.severity), kind) +
           Paint(style_, Ink::Bold, ": " + headline_.head) + "\n";
  }
  std::string Arrow(source::FileId file, const std::vector<Mark>& marks, bool first) const {
    const uint32_t offset = first ? finding_.span.begin : marks.front().span.begin;
    std::string out = std::string(margin_, ' ') + Paint(style_, Ink::Margin, first ? "--> " : "::: ") +
                      ToString(PlaceAt(report_.files, file, offset));
    if (first && !finding_.function.empty()) out += ", in `" + OneLine(finding_.function) + "`";
    if (first && finding_.confidence != findings::Confidence::Certain) {
      out += " (" + std::string(findings::ToString(finding_.confidence)) + ")";
    }
    return out + "\n";
  }

  std::string Notes() const {
    std::string out;
    const bool has_lanes = finding_.witness && ShowsDifference(*finding_.witness);
    const std::string help = HelpBesideFixes();
    const std::string_view category = ToString(finding_.flight_record);
    const bool has_notes = has_lanes || !headline_.rest.empty() || !help.empty() || !category.empty() || !finding_.assumptions.empty();
    if (has_notes) out += Gutter(margin_, style_) + "\n";
    if (!headline_.rest.empty()) out += Note("why", headline_.rest);
    if (has_lanes) out += Timeline(*finding_.witness);
    if (!category.empty()) {
      out += Note("note", "PyTorch's Flight Recorder will call this \"" + std::string(category) + "\"");
    }
    if (!finding_.assumptions.empty()) out += Note("assumed", findings::Clauses(finding_.assumptions));
    if (!help.empty()) out += Note("help", help);
    if (const Verification* seen = VerificationOf(report_, finding_)) out += Note("verified", seen->Text());
    for (const findings::Fix& fix : finding_.fixes) out += Note("fix", FixText(fix));
    return out;
  }
  // A fix that does what the help says is said once.
  std::string HelpBesideFixes() const {
    std::string help = findings::Render(finding_.help);
    const bool is_fix = std::ranges::any_of(finding_.fixes, [&](const findings::Fix& fix) { return fix.title == help; });
    return is_fix ? std::string() : help;
  }
  static std::string FixText(const findings::Fix& fix) {
    switch (fix.applicability) {
      case findings::Applicability::Safe: return fix.title + " (`--fix`)";
      case findings::Applicability::Unsafe: return fix.title + " (`--unsafe-fixes`)";
      case findings::Applicability::DisplayOnly: return fix.title;
    }
    return fix.title;
  }
  std::string Timeline(const witness::Witness& witness) const {
    std::string title = std::to_string(witness.world) + " ranks";
    if (witness.nodes > 1) title += " on " + std::to_string(witness.nodes) + " nodes";
    return Note("timeline", title) +
           DrawTimeline(witness, report_.files[finding_.span.file].path, report_.files, margin_ + 5, style_);
  }

  // " = help: text", broken at spaces, the rest under the text's start.
  std::string Note(std::string_view name, const std::string& text) const {
    std::string out = Gutter(margin_, style_, "=") + " " + Paint(style_, Ink::Bold, std::string(name) + ":");
    const uint32_t indent = margin_ + 5 + static_cast<uint32_t>(name.size());
    const uint32_t room = std::max(std::min(style_.width, kNoteWidth), indent + 40) - indent;
    uint32_t used = room;
    bool first = true;
    const std::string line = OneLine(text);
    for (size_t at = 0; at < line.size();) {
      const size_t space = std::min(line.find(' ', at), line.size());
      const std::string word = line.substr(at, space - at);
      at = space + 1;
      const uint32_t width = Width(word);
      if (!first && used + 1 + width > room) {
        out += "\n" + std::string(indent, ' ') + word;
        used = width;
      } else {
        out += " " + word;
        used = first ? width : used + 1 + width;
      }
      first = false;
    }
    return out + "\n";
  }

  const Report& report_;
  const Finding& finding_;
  const TextStyle& style_;
  const Headline headline_;
  std::vector<std::pair<source::FileId, std::vector<Mark>>> groups_;
  uint32_t margin_ = 1;
};

// What the word behind a place in the report stands for.
std::string ConfidenceText(const Report& report) {
  const auto explained = [&](findings::Confidence wanted, std::string_view meaning, std::string_view assumed) {
    const auto is_it = [&](const Finding& finding) { return finding.confidence == wanted; };
    const auto assumes = [&](const Finding& finding) { return is_it(finding) && !finding.assumptions.empty(); };
    if (std::ranges::none_of(report.findings, is_it)) return std::string();
    const bool has_assumed = std::ranges::any_of(report.findings, assumes);
    return "(" + std::string(findings::ToString(wanted)) + "): " + std::string(meaning) + (has_assumed ? std::string(assumed) : "") + ".\n";
  };
  return explained(findings::Confidence::Likely, "expected to happen, but not proven", "; `assumed` lists what it rests on") +
         explained(findings::Confidence::Possible, "may well be wrong", "; `assumed` lists what would have to be true");
}

}  // namespace

std::string RenderFull(const Report& report, const TextStyle& style) {
  std::string out;
  for (const Finding& finding : report.findings) out += FindingDrawer(report, finding, style).Draw() + "\n";
  if (!style.quiet) out += RenderSummary(report, style) + ConfidenceText(report);
  return out;
}

}  // namespace allranks::reports
