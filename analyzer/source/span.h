#pragma once

#include <compare>
#include <cstdint>

#include "analyzer/base/id.h"

namespace allranks::source {

using FileId = base::Id<struct FileTag>;

// A range of bytes [begin, end) of one file's text.
struct Span {
  FileId file;
  uint32_t begin = 0;
  uint32_t end = 0;
  friend constexpr auto operator<=>(const Span&, const Span&) = default;
};
static_assert(sizeof(Span) == 12);

// A place as people and protocols write it, counted from zero.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;  // code points, unless the function that made it says otherwise
};

}  // namespace allranks::source
