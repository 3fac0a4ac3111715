#include "analyzer/source/notebook_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace allranks::source {
namespace {

// Walks over JSON that is known to be well formed. Strings, brackets and commas are all that it looks at, so outputs of
// megabytes cost one pass; nesting is a stack, whatever its depth.
class Scanner {
 public:
  explicit Scanner(std::string_view json) : json_(json) {}

  std::vector<CellJson> Run() {
    while (at_ < json_.size()) Step();
    return std::move(cells_);
  }

 private:
  struct Level {
    bool is_list = false;
    bool is_cell = false;   // an element of a list called `cells`
    bool is_code = false;
    std::string key;        // of the member that is read
    bool after_colon = false;
    CellJson source;
    bool has_source = false;
  };

  void Step() {
    const char c = json_[at_];
    if (c == '"') return String();
    if (c == '{' || c == '[') Open(c == '[');
    if ((c == '}' || c == ']') && !levels_.empty()) Close();
    if (c == ':' && !levels_.empty()) levels_.back().after_colon = true;
    if (c == ',' && !levels_.empty()) levels_.back().after_colon = false;
    ++at_;
  }

  void Open(bool is_list) {
    Level level{.is_list = is_list, .key = {}, .source = {}};
    level.is_cell = !is_list && IsListOfCells();
    if (is_list && IsSource()) levels_.back().source = {.value = {at_, at_}, .strings = {}, .is_list = true};
    levels_.push_back(std::move(level));
  }

  // `cells` of the notebook, or of a worksheet of nbformat 3; what an output may hold is none.
  bool IsListOfCells() const {
    const size_t depth = levels_.size();
    const bool is_sheet = depth == 4 && levels_[0].key == "worksheets";
    return (depth == 2 || is_sheet) && levels_[depth - 1].is_list && levels_[depth - 2].key == "cells";
  }

  // Whether what begins here is the source of a cell.
  bool IsSource() const {
    return !levels_.empty() && levels_.back().is_cell && levels_.back().after_colon &&
           (levels_.back().key == "source" || levels_.back().key == "input");
  }

  void Close() {
    const Level closed = std::move(levels_.back());
    levels_.pop_back();
    if (closed.is_cell && closed.is_code) {
      cells_.push_back(closed.source);
      // A cell without a source: nothing stands anywhere.
      if (!closed.has_source) cells_.back() = {.value = {at_, at_}, .strings = {}};
    }
    if (closed.is_list && IsSource()) {
      levels_.back().source.value.end = at_ + 1;
      levels_.back().has_source = true;
    }
  }

  void String() {
    const size_t begin = at_;
    for (++at_; at_ < json_.size() && json_[at_] != '"'; ++at_) {
      if (json_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, json_.size());
    if (levels_.empty()) return;
    const JsonExtent extent{begin, at_};
    Level& level = levels_.back();
    if (!level.is_list && !level.after_colon) {
      level.key = json_.substr(begin + 1, at_ - begin - 2);
    } else if (IsSource()) {
      level.source = {.value = extent, .strings = {extent}};
      level.has_source = true;
    } else if (level.is_cell && level.key == "cell_type") {
      level.is_code = json_.substr(begin, at_ - begin) == "\"code\"";
    } else if (level.is_list && levels_.size() >= 2) {
      AddLine(extent);
    }
  }

  // A string in a list that may be the source of the cell around it.
  void AddLine(const JsonExtent& extent) {
    Level& cell = levels_[levels_.size() - 2];
    if (cell.is_cell && (cell.key == "source" || cell.key == "input")) cell.source.strings.push_back(extent);
  }

  std::string_view json_;
  size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<CellJson> cells_;
};

}  // namespace

std::vector<CellJson> LocateCells(std::string_view json) { return Scanner(json).Run(); }

std::string DecodedString(std::string_view json) {
  const nlohmann::json text = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  return text.is_string() ? text.get<std::string>() : std::string();
}

std::vector<uint32_t> LinesInJson(std::string_view json) {
  std::vector<uint32_t> lines;
  size_t counted = 0;
  uint32_t line = 1;
  const auto line_of = [&](size_t at) {
    line += static_cast<uint32_t>(std::count(json.begin() + static_cast<std::ptrdiff_t>(counted), json.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    return line;
  };
  for (const CellJson& cell : LocateCells(json)) {
    bool at_start = true;
    lines.push_back(line_of(cell.value.begin));
    for (const JsonExtent& extent : cell.strings) {
      const uint32_t here = line_of(extent.begin);
      const std::string text = DecodedString(json.substr(extent.begin, extent.end - extent.begin));
      if (at_start && !text.empty()) lines.back() = here;
      for (size_t i = 0; i < text.size(); ++i) {
        const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
        at_start = text[i] == '\n' || (text[i] == '\r' && !pair);
        if (at_start) lines.push_back(here);
      }
    }
    // The line after the last line end belongs to the next cell.
    if (at_start && lines.size() > 1 && !cell.strings.empty()) lines.pop_back();
  }
  lines.push_back(lines.empty() ? 1 : lines.back());
  return lines;
}

}  // namespace allranks::source
