#include "analyzer/source/source_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyzer/source/notebook.h"
#include "analyzer/source/utf8.h"

namespace allranks::source {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kNotebookSuffix = ".ipynb";

// Offsets are 32 bits wide, and the highest one means "none" in places.
constexpr size_t kLargestText = std::numeric_limits<uint32_t>::max() - 1;

bool StripByteOrderMark(std::string* bytes) {
  if (!bytes->starts_with(kByteOrderMark)) return false;
  bytes->erase(0, kByteOrderMark.size());
  return true;
}

std::vector<uint32_t> LineStarts(std::string_view text) {
  std::vector<uint32_t> starts = {0};
  const bool has_return = text.find('\r') != std::string_view::npos;
  if (!has_return) {
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      starts.push_back(static_cast<uint32_t>(at + 1));
    }
    return starts;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\n' && text[at] != '\r') continue;
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
    starts.push_back(static_cast<uint32_t>(at + 1));
  }
  return starts;
}

void NoteEncoding(SourceFile* file) {
  file->valid_utf8 = IsValidUtf8(file->text);
  file->has_nul = file->text.find('\0') != std::string::npos;
  file->line_starts = LineStarts(file->text);
}

// How far a code point moves the column.
uint32_t WidthOf(const DecodedPoint& point, ColumnUnit unit) {
  switch (unit) {
    case ColumnUnit::Utf8:
      return point.length;
    case ColumnUnit::CodePoints:
      return 1;
    case ColumnUnit::Utf16:
      return point.valid && point.code_point >= 0x10000 ? 2 : 1;
  }
  return 1;
}

}  // namespace

base::Result<SourceFile> MakeSourceFile(std::string path, std::string bytes) {
  if (bytes.size() > kLargestText) {
    return base::Fail(path + ": " + std::to_string(bytes.size()) +
                      " bytes are too many: a source file may have 4 GB");
  }
  SourceFile file;
  file.path = std::move(path);
  file.has_bom = StripByteOrderMark(&bytes);
  if (file.path.ends_with(kNotebookSuffix)) {
    base::Result<NotebookText> notebook = ReadNotebook(bytes);
    if (!notebook) return base::Fail(file.path + ": " + notebook.error().message);
    file.text = std::move(notebook->text);
    file.cells = std::move(notebook->cells);
  } else {
    file.text = std::move(bytes);
  }
  NoteEncoding(&file);
  return file;
}

LineColumn Locate(const SourceFile& file, uint32_t offset, ColumnUnit unit) {
  const auto after = std::upper_bound(file.line_starts.begin(), file.line_starts.end(), offset);
  if (after == file.line_starts.begin()) return {};
  const uint32_t line = static_cast<uint32_t>(after - file.line_starts.begin()) - 1;
  const std::string_view text = LineText(file, line);
  const size_t stop = std::min<size_t>(offset - file.line_starts[line], text.size());
  uint32_t column = 0;
  for (size_t at = 0; at < stop;) {
    const DecodedPoint point = DecodeUtf8(text, at);
    // An offset inside a code point means that code point.
    if (at + point.length > stop) break;
    column += WidthOf(point, unit);
    at += point.length;
  }
  return {.line = line, .column = column};
}

std::string_view LineText(const SourceFile& file, uint32_t line) {
  if (line >= file.line_starts.size()) return {};
  const size_t begin = file.line_starts[line];
  const size_t end = line + 1 < file.line_starts.size() ? file.line_starts[line + 1] : file.text.size();
  std::string_view text = std::string_view(file.text).substr(begin, end - begin);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

uint32_t OffsetOf(const SourceFile& file, LineColumn place, ColumnUnit unit) {
  if (place.line >= file.line_starts.size()) return static_cast<uint32_t>(file.text.size());
  const std::string_view text = LineText(file, place.line);
  size_t at = 0;
  uint32_t column = 0;
  while (at < text.size()) {
    const DecodedPoint point = DecodeUtf8(text, at);
    const uint32_t next_column = column + WidthOf(point, unit);
    if (next_column > place.column) break;
    column = next_column;
    at += point.length;
  }
  return file.line_starts[place.line] + static_cast<uint32_t>(at);
}

}  // namespace allranks::source
