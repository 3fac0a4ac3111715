// From places of the analysis to those of the protocol and back.
#pragma once

#include <string>

#include "driver/server/positions.h"
#include "driver/server/workspace.h"

namespace allranks::server {

// A range of a document: a file, or one cell of a notebook.
struct DocumentRange {
  std::string uri;
  Range range;
};

class Places {
 public:
  Places(const Snapshot& snapshot, ColumnUnit unit) : snapshot_(snapshot), unit_(unit) {}

  DocumentRange Of(const source::Span& span) const;
  Json Location(const source::Span& span) const;
  // The place of a span in a file that is no notebook, or in a cell.
  Range RangeOf(const source::Span& span) const { return Of(span).range; }
  // The byte of a file's text at a place of one of its documents; `cell` from one, 0: it is no notebook.
  uint32_t OffsetAt(source::FileId file, uint32_t cell, source::LineColumn place) const;
  ColumnUnit unit() const { return unit_; }

 private:
  const Snapshot& snapshot_;
  ColumnUnit unit_;
};

}  // namespace allranks::server
