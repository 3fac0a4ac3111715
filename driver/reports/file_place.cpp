#include "driver/reports/file_place.h"

#include <algorithm>

namespace allranks::reports {

uint32_t LineInFile(const Report& report, source::FileId file, uint32_t line) {
  const auto lines = report.notebook_lines.find(file);
  return lines != report.notebook_lines.end() && line < lines->second.size() ? lines->second[line] : line + 1;
}

Place PlaceInFile(const Report& report, source::FileId file, uint32_t offset, source::ColumnUnit unit) {
  Place place = PlaceAt(report.files, file, offset, unit);
  const source::SourceFile& source = report.files[file];
  if (!source.is_notebook()) return place;
  place.line = LineInFile(report, file, source::Locate(source, offset).line);
  place.column = 1;
  return place;
}

std::string LineName(const source::SourceFiles& files, std::string_view path, uint32_t line) {
  if (!path.ends_with(".ipynb") || line == 0) return std::to_string(line);
  for (const source::SourceFile& file : files) {
    if (file.path != path || line > file.line_starts.size()) continue;
    const Place place = PlaceAt(files, source::FileId{static_cast<uint32_t>(&file - &*files.begin())}, file.line_starts[line - 1]);
    return "cell " + std::to_string(place.cell) + ", line " + std::to_string(place.line);
  }
  return std::to_string(line);
}

}  // namespace allranks::reports
