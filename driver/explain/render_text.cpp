// The answer as text for a terminal, and as Markdown for an issue.
#include <algorithm>

#include "analyzer/source/source_file.h"
#include "driver/explain/answer.h"
#include "driver/reports/place.h"
#include "witness/ranks_text.h"

namespace allranks::explain {
namespace {

using witness::RanksText;

constexpr size_t kWidth = 110;
constexpr size_t kMostShown = 6;

std::string PlaceOf(const Call& call) { return call.path + ":" + std::to_string(call.line) + " in `" + call.function + "`"; }
std::string Short(const Call& call) {
  const size_t slash = call.path.rfind('/');
  return (slash == std::string::npos ? call.path : call.path.substr(slash + 1)) + ":" + std::to_string(call.line);
}

// Lines of at most kWidth columns.
std::string Wrapped(const std::string& text, const std::string& indent) {
  std::string out, line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out + (line.empty() ? "" : indent + line + "\n");
}

// "called at train.py:67, train.py:71": the way there, innermost call first.
std::string Way(const std::vector<Call>& calls) {
  std::string way;
  for (size_t i = calls.size(); i-- > 1 && calls.size() - i <= kMostShown;) {
    way += (way.empty() ? ", called at " : ", ") + Short(calls[i - 1]);
  }
  return way;
}

std::string OfCrowd(const Crowd& crowd) {
  std::string text;
  if (crowd.state == "waits") text = "waits in " + crowd.kind;
  else if (crowd.state == "last seen") text = "last seen in " + crowd.kind + " (" + crowd.detail + ")";
  else if (crowd.state == "stands") text = "stands";
  else if (crowd.state == "nothing") text = "issued nothing that is recorded";
  else text = crowd.detail;
  if (!crowd.shapes.empty()) text += " " + crowd.shapes;
  if (!crowd.calls.empty()) text += " at " + PlaceOf(crowd.calls.back()) + Way(crowd.calls);
  return text;
}

std::string OfParting(const Parting& parting) {
  std::string text = parting.place.path + ":" + std::to_string(parting.place.line) + " `" + parting.place.text + "` (" + parting.kind;
  if (parting.exit_line > 0) text += " that leaves at line " + std::to_string(parting.exit_line);
  if (!parting.varies.empty()) text += ", " + parting.varies;
  if (parting.is_observed) text += parting.varies.empty() ? ", taken differently here" : ", and was taken differently here";
  return text + ")";
}

std::string_view Headline(const Answer& answer) {
  switch (answer.cause) {
    case Cause::None: return "nothing is stuck";
    case Cause::Mismatch: return "ranks issued different operations";
    case Cause::Circle: return "ranks wait for each other in a circle";
    case Cause::AllArrived: return "all ranks came, and the operation does not end";
    case Cause::Ended: return "a rank left, and the others wait for it";
    case Cause::Absent: return "some ranks never came";
  }
  return "";
}

// Dumps and logs are not ours: a row is one line, and none of it steers a terminal.
struct Row {
  std::string name;
  std::string text;
};

std::vector<Row> RowsOf(const Answer& answer) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::string text) { rows.push_back({std::move(name), reports::OneLine(text)}); };
  for (size_t i = 0; i < answer.waiting.size() && i < kMostShown; ++i) add(RanksText(answer.waiting[i].ranks, answer.world), OfCrowd(answer.waiting[i]));
  if (answer.waiting.size() > kMostShown) add("", std::to_string(answer.waiting.size() - kMostShown) + " more places");
  for (size_t i = 0; i < answer.missing.size() && i < kMostShown; ++i) add(RanksText(answer.missing[i].ranks, 0), "never came: " + OfCrowd(answer.missing[i]));
  if (!answer.unheard.empty()) add(RanksText(answer.unheard, 0), "no record");
  if (answer.last_common) add("together last", "at " + PlaceOf(*answer.last_common));
  for (size_t i = 0; i < answer.partings.size() && i < 3; ++i) {
    add(i == 0 ? "diverged at" : "or at", OfParting(answer.partings[i]));
    if (i == 0) {
      for (const Spot& why : answer.partings[i].why) add("", "because " + why.path + ":" + std::to_string(why.line) + " " + why.text);
    }
  }
  if (answer.foretold) {
    const Foretold& finding = answer.foretold->finding;
    add("foretold by", finding.code + " " + finding.place.path + ":" + std::to_string(finding.place.line) + ": " + finding.message);
    add("", "seen in a job: " + answer.foretold->because + " agree");
    if (!finding.help.empty()) add("fix", finding.help);
  }
  if (answer.following > 0) add("follows", std::to_string(answer.following) + (answer.following == 1 ? " operation that waits because of it" : " operations that wait because of it"));
  for (const std::string& evidence : answer.evidence) add("evidence", evidence);
  for (const std::string& note : answer.notes) add("note", note);
  return rows;
}

// A lane a group of ranks: where all were together, then where each waits or was last.
std::vector<Row> Lanes(const Answer& answer) {
  std::vector<Row> lanes;
  const std::string together = answer.last_common ? "──● " + Short(*answer.last_common) + " " : "";
  for (size_t i = 0; i < answer.waiting.size() && i < kMostShown; ++i) {
    const Crowd& crowd = answer.waiting[i];
    lanes.push_back({RanksText(crowd.ranks, answer.world), together + "──■ " + crowd.kind + (crowd.calls.empty() ? "" : " " + Short(crowd.calls.back())) + "  waits"});
  }
  for (size_t i = 0; i < answer.missing.size() && i < kMostShown; ++i) {
    const Crowd& crowd = answer.missing[i];
    std::string text = together + "──";
    if (crowd.state == "last seen") text += "● " + crowd.kind + " ";
    else text += "◌ ";
    if (!crowd.calls.empty()) text += Short(crowd.calls.back()) + "  ";
    lanes.push_back({RanksText(crowd.ranks, 0), text + (crowd.state == "killed" || crowd.state == "left" ? crowd.detail : "never came")});
  }
  for (Row& lane : lanes) lane.text = reports::OneLine(lane.text);
  return lanes;
}

size_t Widest(const std::vector<Row>& rows) {
  size_t widest = 0;
  for (const Row& row : rows) widest = std::max(widest, row.name.size());
  return std::min<size_t>(widest, 24);
}

std::string Padded(const std::string& text, size_t width) { return text.size() >= width ? text : text + std::string(width - text.size(), ' '); }

}  // namespace

std::string RenderText(const Answer& answer) {
  std::string out = "hang: " + std::string(Headline(answer)) + "\n\n" + Wrapped(reports::OneLine(answer.summary), "  ") + "\n";
  if (answer.cause == Cause::None) out = std::string(Headline(answer)) + "\n\n" + Wrapped(reports::OneLine(answer.summary), "  ") + "\n";
  const std::vector<Row> lanes = Lanes(answer);
  for (const Row& lane : lanes) out += "  " + Padded(lane.name, Widest(lanes)) + "  " + lane.text + "\n";
  if (!lanes.empty()) out += "\n";
  const std::vector<Row> rows = RowsOf(answer);
  const size_t width = Widest(rows);
  for (const Row& row : rows) {
    const std::string wrapped = Wrapped(row.text, std::string(width + 4, ' '));
    out += "  " + Padded(row.name, width) + "  " + (wrapped.size() > width + 4 ? wrapped.substr(width + 4) : "\n");
  }
  return out;
}

std::string RenderMarkdown(const Answer& answer) {
  const auto cell = [](std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  std::string out = "## " + std::string(Headline(answer)) + "\n\n" + reports::OneLine(answer.summary) + "\n\n";
  const std::vector<Row> lanes = Lanes(answer);
  if (!lanes.empty()) {
    out += "```text\n";
    for (const Row& lane : lanes) out += Padded(lane.name, Widest(lanes)) + "  " + lane.text + "\n";
    out += "```\n\n";
  }
  const std::vector<Row> rows = RowsOf(answer);
  if (rows.empty()) return out;
  out += "| | |\n|---|---|\n";
  for (const Row& row : rows) out += "| " + cell(row.name) + " | " + cell(row.text) + " |\n";
  return out;
}

}  // namespace allranks::explain
