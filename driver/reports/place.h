#pragma once

#include <string>

#include "analyzer/source/source_file.h"

namespace allranks::reports {

// A place as people write it: line and column from one; of a notebook the line counts within its cell.
struct Place {
  std::string path;
  uint32_t line = 1;
  uint32_t column = 1;
  uint32_t cell = 0;  // 0: not a notebook
};

Place PlaceAt(const source::SourceFiles& files, source::FileId file, uint32_t offset,
              source::ColumnUnit unit = source::ColumnUnit::CodePoints);

// "train.py:42:9", "train.ipynb:cell 3:2:5".
std::string ToString(const Place& place);

// The line as the excerpt's margin shows it: in a notebook within its cell.
uint32_t ShownLine(const source::SourceFile& file, uint32_t line);

// One line that a terminal shows as it is, and that speaks to no runner that reads it in a log: what Glyphs replaces becomes U+FFFD,
// and so does the first of two colons that it begins with.
std::string OneLine(std::string_view text);

// The same of a text that has lines on purpose: where they end stays.
std::string CleanLines(std::string_view text);

}  // namespace allranks::reports
