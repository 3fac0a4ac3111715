#include "driver/server/places.h"

#include <algorithm>

#include "driver/reports/place.h"
#include "driver/reports/uri.h"

namespace allranks::server {

DocumentRange Places::Of(const source::Span& span) const {
  const source::SourceFiles& files = snapshot_.analysed.files;
  const reports::Place start = reports::PlaceAt(files, span.file, span.begin, unit_);
  reports::Place end = reports::PlaceAt(files, span.file, span.end, unit_);
  // Only what begins in a cell can be shown in it.
  if (end.cell != start.cell) end = start;
  const std::string path = snapshot_.PathOf(span.file);
  DocumentRange out{.uri = {}, .range = {{start.line - 1, start.column - 1}, {end.line - 1, end.column - 1}}};
  const auto cells = snapshot_.open.cells.find(path);
  const auto known = snapshot_.open.uris.find(path);
  if (start.cell != 0 && cells != snapshot_.open.cells.end() && start.cell <= cells->second.size()) {
    out.uri = cells->second[start.cell - 1];
  } else if (known != snapshot_.open.uris.end()) {
    out.uri = known->second;
  } else {
    out.uri = reports::UriOf(path);
  }
  return out;
}

Json Places::Location(const source::Span& span) const {
  const DocumentRange place = Of(span);
  return {{"uri", place.uri}, {"range", WriteRange(place.range)}};
}

uint32_t Places::OffsetAt(source::FileId file, uint32_t cell, source::LineColumn place) const {
  const source::SourceFile& source = snapshot_.analysed.files[file];
  if (cell != 0) {
    const auto found = std::ranges::find(source.cells, cell, &source::NotebookCell::number);
    if (found == source.cells.end()) return 0;
    place.line += found->first_line;
  }
  return source::OffsetOf(source, place, unit_);
}

}  // namespace allranks::server
