#include "driver/reports/timeline.h"

#include <algorithm>

#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

std::string Padded(std::string text, uint32_t width) {
  const uint32_t used = Width(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string Repeat(std::string_view sign, uint32_t count) {
  std::string out;
  for (uint32_t i = 0; i < count; ++i) out += sign;
  return out;
}

}  // namespace

std::string DrawTimeline(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files,
                         uint32_t indent, const TextStyle& style) {
  const auto [lanes, hidden] = LanesOf(witness, path, files);
  uint32_t name_width = 0;
  std::vector<uint32_t> columns;
  for (const Lane& lane : lanes) {
    name_width = std::max(name_width, Width(lane.name));
    columns.resize(std::max(columns.size(), lane.steps.size()));
    for (size_t i = 0; i < lane.steps.size(); ++i) columns[i] = std::max(columns[i], Width(lane.steps[i].text));
  }
  const std::string_view line = style.ascii ? "-" : "─";
  const std::string_view dot = style.ascii ? "*" : "●", wait = style.ascii ? "#" : "■";
  std::string out;
  if (hidden > 0) {
    out += std::string(indent, ' ') +
           Paint(style, Ink::Dim, "after " + std::to_string(hidden) + (hidden == 1 ? " step" : " steps") + " that all ranks share:") + "\n";
  }
  for (const Lane& lane : lanes) {
    out += std::string(indent, ' ') + Paint(style, Ink::Bold, Padded(lane.name, name_width)) + "  ";
    for (size_t i = 0; i < columns.size(); ++i) {
      const bool here = i < lane.steps.size();
      const bool waits = here && lane.steps[i].waits;
      const Ink ink = waits ? Ink::Error : here ? Ink::Good : Ink::Dim;
      if (!here && lane.waits) {
        out += std::string(columns[i] + 5, ' ');
        continue;
      }
      out += Paint(style, Ink::Dim, Repeat(line, 2));
      out += here ? Paint(style, ink, waits ? wait : dot) : Paint(style, Ink::Dim, line);
      out += here ? " " + Paint(style, waits ? Ink::Error : Ink::Plain, Padded(lane.steps[i].text, columns[i])) + " "
                  : Paint(style, Ink::Dim, Repeat(line, columns[i] + 1)) + " ";
    }
    if (!lane.ending.empty()) out += " " + Paint(style, lane.waits ? Ink::Error : Ink::Dim, lane.ending);
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  return out;
}

}  // namespace allranks::reports
