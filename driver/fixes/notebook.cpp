#include "driver/fixes/notebook.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/source/notebook_json.h"

namespace allranks::fixes {
namespace {

using findings::Edit;
using source::CellJson;
using source::JsonExtent;

std::string_view Slice(std::string_view json, const JsonExtent& extent) { return json.substr(extent.begin, extent.end - extent.begin); }

// With their line ends, as notebooks keep them.
std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// One cell: its source as written, and as it was read, which differs in lines of magic.
class Cell {
 public:
  Cell(std::string_view json, const CellJson& place, std::string_view read) : json_(json), place_(place), read_(read) {
    for (const JsonExtent& extent : place.strings) source_ += source::DecodedString(Slice(json, extent));
  }

  // `edits` count from the start of the cell.
  base::Result<std::string> Edited(std::span<const Edit> edits) const {
    std::string text = source_;
    const bool had_end = text.ends_with('\n');
    if (!had_end) text += '\n';
    const std::vector<std::string> written = Lines(text), read = Lines(read_);
    if (written.size() != read.size()) return base::Fail("its lines end in an unusual way");
    for (size_t i = edits.size(); i > 0; --i) {
      const base::Result<std::pair<size_t, size_t>> at = InSource(edits[i - 1], written, read);
      if (!at) return base::Fail(at.error().message);
      text.replace(at->first, at->second - at->first, edits[i - 1].replacement);
    }
    if (!had_end && text.ends_with('\n')) text.pop_back();
    return InJson(text);
  }

 private:
  // The bytes of the source that an edit of what was read replaces.
  static base::Result<std::pair<size_t, size_t>> InSource(const Edit& edit, const std::vector<std::string>& written,
                                                          const std::vector<std::string>& read) {
    std::pair<size_t, size_t> found{std::string::npos, std::string::npos};
    size_t at_written = 0, at_read = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      const size_t end = at_read + read[i].size();
      const bool is_touched = edit.span.begin < end && edit.span.end > at_read;
      const bool is_inside = at_read <= edit.span.begin && edit.span.begin < end;
      if ((is_touched || is_inside) && written[i] != read[i]) return base::Fail("it has a magic in a line that the fix changes");
      if (is_inside) found.first = at_written + (edit.span.begin - at_read);
      if (at_read <= edit.span.end && edit.span.end <= end && found.second == std::string::npos) found.second = at_written + (edit.span.end - at_read);
      at_written += written[i].size();
      at_read = end;
    }
    if (found.first == std::string::npos) found.first = at_written;
    if (found.second == std::string::npos) return base::Fail("the fix goes on in the next cell");
    return found;
  }

  std::string Quoted(const std::string& text) const {
    const bool is_ascii = std::ranges::none_of(json_, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    return nlohmann::json(text).dump(-1, ' ', is_ascii, nlohmann::json::error_handler_t::replace);
  }

  // Lines that stay are written as they were, and with what stood between them.
  std::string InJson(const std::string& text) const {
    if (!place_.is_list) return Quoted(text);
    std::map<std::string, std::string_view> known;
    for (const JsonExtent& extent : place_.strings) known.emplace(source::DecodedString(Slice(json_, extent)), Slice(json_, extent));
    const std::vector<JsonExtent>& strings = place_.strings;
    std::string_view before, between, after;
    if (!strings.empty()) {
      before = json_.substr(place_.value.begin + 1, strings.front().begin - place_.value.begin - 1);
      after = json_.substr(strings.back().end, place_.value.end - 1 - strings.back().end);
    }
    if (strings.size() > 1) between = json_.substr(strings[0].end, strings[1].begin - strings[0].end);
    const std::string separator = between.empty() ? "," + std::string(before.empty() ? " " : before) : std::string(between);
    std::string out = "[" + std::string(before);
    bool is_first = true;
    for (const std::string& line : Lines(text)) {
      if (!is_first) out += separator;
      is_first = false;
      const auto same = known.find(line);
      out += same != known.end() ? std::string(same->second) : Quoted(line);
    }
    return out + std::string(after) + "]";
  }

  std::string_view json_;
  const CellJson& place_;
  std::string_view read_;
  std::string source_;
};

uint32_t BeginOf(const source::SourceFile& notebook, size_t cell) {
  if (cell >= notebook.cells.size()) return static_cast<uint32_t>(notebook.text.size());
  return notebook.line_starts[notebook.cells[cell].first_line];
}

}  // namespace

base::Result<std::string> EditNotebook(std::string_view json, const source::SourceFile& notebook, std::span<const Edit> edits) {
  const std::vector<CellJson> places = source::LocateCells(json);
  if (places.size() != notebook.cells.size()) return base::Fail("its JSON has changed since it was read");
  std::string out;
  size_t kept = 0;
  for (size_t c = 0; c < places.size(); ++c) {
    const uint32_t begin = BeginOf(notebook, c), end = BeginOf(notebook, c + 1);
    std::vector<Edit> own;
    for (const Edit& edit : edits) {
      if (edit.span.begin < begin || edit.span.begin >= end) continue;
      if (edit.span.end > end) return base::Fail("the fix goes on in the next cell");
      own.push_back(edit);
      own.back().span.begin -= begin;
      own.back().span.end -= begin;
    }
    if (own.empty()) continue;
    base::Result<std::string> source = Cell(json, places[c], std::string_view(notebook.text).substr(begin, end - begin)).Edited(own);
    if (!source) return base::Fail("cell " + std::to_string(notebook.cells[c].number) + ": " + source.error().message);
    out += json.substr(kept, places[c].value.begin - kept);
    out += *source;
    kept = places[c].value.end;
  }
  return out + std::string(json.substr(kept));
}

}  // namespace allranks::fixes
