#include "driver/reports/place.h"

#include <algorithm>

#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

// The cell that holds a line of the joined text; nullptr for other files.
const source::NotebookCell* CellOf(const source::SourceFile& file, uint32_t line) {
  const auto after = std::upper_bound(file.cells.begin(), file.cells.end(), line,
                                      [](uint32_t l, const source::NotebookCell& cell) { return l < cell.first_line; });
  return after == file.cells.begin() ? nullptr : &*(after - 1);
}

}  // namespace

Place PlaceAt(const source::SourceFiles& files, source::FileId file, uint32_t offset, source::ColumnUnit unit) {
  const source::SourceFile& source = files[file];
  const source::LineColumn at = source::Locate(source, offset, unit);
  const source::NotebookCell* cell = CellOf(source, at.line);
  Place place{source.path, at.line + 1, at.column + 1, 0};
  if (cell != nullptr) {
    place.line -= cell->first_line;
    place.cell = cell->number;
  }
  return place;
}

std::string ToString(const Place& place) {
  std::string text = OneLine(place.path) + ":";
  if (place.cell != 0) text += "cell " + std::to_string(place.cell) + ":";
  return text + std::to_string(place.line) + ":" + std::to_string(place.column);
}

uint32_t ShownLine(const source::SourceFile& file, uint32_t line) {
  const source::NotebookCell* cell = CellOf(file, line);
  return line + 1 - (cell == nullptr ? 0 : cell->first_line);
}

std::string OneLine(std::string_view text) {
  constexpr std::string_view kCommand = "::", kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (const Glyph& glyph : Glyphs(text)) out += glyph.text;
  const size_t begin = out.find_first_not_of(' ');
  if (begin != std::string::npos && std::string_view(out).substr(begin).starts_with(kCommand)) out.replace(begin, 1, kReplacement);
  return out;
}

std::string CleanLines(std::string_view text) {
  std::string out;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += OneLine(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  return out + OneLine(text);
}

}  // namespace allranks::reports
