// The lines of a file that a finding speaks of, with its labels drawn under them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/source/source_file.h"
#include "driver/reports/paint.h"

namespace allranks::reports {

struct Mark {
  source::Span span;
  std::string text;
  Ink ink = Ink::Plain;
  char sign = '-';  // '^' under the finding's own place
};

// All marks lie in `file`. `margin` is the width of the line numbers.
std::string DrawExcerpt(const source::SourceFile& file, const std::vector<Mark>& marks, uint32_t margin,
                        const TextStyle& style);

// "   |" in the margin's colour.
std::string Gutter(uint32_t margin, const TextStyle& style, std::string_view sign = "|");

}  // namespace allranks::reports
