#include "analyzer/objects/launch_lines.h"

#include <algorithm>
#include <set>
#include <utility>

namespace allranks::objects {

StartedFiles::StartedFiles(std::span<const LaunchLine> lines, bool (*counts)(const LaunchLine&)) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const LaunchLine& line : lines) {
    if (!counts(line)) continue;
    if (!line.unknown_below) named_.insert(line.path);
    else if (seen.emplace(*line.unknown_below, line.unknown_name).second) unknown_.push_back(&line);
  }
}

bool StartedFiles::MayHold(std::string_view file) const {
  return named_.contains(file) || std::ranges::any_of(unknown_, [&](const LaunchLine* line) { return line->MayBeOf(file); });
}

}  // namespace allranks::objects
