#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/result.h"
#include "analyzer/source/span.h"

namespace allranks::source {

enum class ColumnUnit : uint8_t { Utf8, CodePoints, Utf16 };

// One code cell of a notebook; its lines are a stretch of the file's concatenated `text`.
struct NotebookCell {
  uint32_t first_line = 0;  // line of `text`, from zero
  uint32_t number = 0;      // of the cell among all cells, from one, as editors show it
};

// A file as read: its text without a byte order mark, and what is needed to speak of places in it.
// For a notebook `text` is the source of its code cells, one after the other.
struct SourceFile {
  std::string
      path;  // as shown: relative to the working directory where possible, '/' as separator
  std::string text;
  std::vector<uint32_t> line_starts;  // byte offsets; "\n", "\r\n" and "\r" end a line
  std::vector<NotebookCell> cells;    // empty unless a notebook
  bool has_bom = false;
  bool valid_utf8 = true;
  bool has_nul = false;

  bool is_notebook() const { return !cells.empty(); }
};

// Takes the bytes of a file; for a path that ends in ".ipynb" reads the notebook's JSON (an error names what
// is wrong with it). Invalid UTF-8 and NUL bytes are noted, never refused.
[[nodiscard]] base::Result<SourceFile> MakeSourceFile(std::string path, std::string bytes);

LineColumn Locate(const SourceFile& file, uint32_t offset, ColumnUnit unit = ColumnUnit::CodePoints);
// The text of a line, without its end. `line` from zero.
std::string_view LineText(const SourceFile& file, uint32_t line);
// Byte offset of a place; columns past the end of the line give the line's end.
uint32_t OffsetOf(const SourceFile& file, LineColumn place, ColumnUnit unit = ColumnUnit::CodePoints);

using SourceFiles = base::IdVector<FileId, SourceFile>;

}  // namespace allranks::source
