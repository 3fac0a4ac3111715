#include "driver/reports/excerpt.h"

#include <algorithm>
#include <map>

#include "driver/reports/place.h"
#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

// Fewer columns of code than this are of no use, however narrow the terminal is.
constexpr uint32_t kLeastColumns = 40;
// Labels that hang below one line; of more nobody follows the lines to their places.
constexpr size_t kMostHanging = 20;
// Columns of code kept to the left of the first mark when a long line is cut.
constexpr uint32_t kColumnsBefore = 24;

// A mark on one line, in columns of the terminal.
struct Stroke {
  uint32_t begin = 0;
  uint32_t end = 0;
  const Mark* mark = nullptr;
};

uint32_t ColumnAt(const std::vector<Glyph>& glyphs, uint32_t offset) {
  const auto at = std::lower_bound(glyphs.begin(), glyphs.end(), offset,
                                   [](const Glyph& g, uint32_t value) { return g.offset < value; });
  if (at != glyphs.end()) return at->column;
  return glyphs.empty() ? 0 : glyphs.back().column + glyphs.back().width;
}

Stroke StrokeOf(const source::SourceFile& file, uint32_t line, const std::vector<Glyph>& glyphs, const Mark& mark) {
  const uint32_t start = file.line_starts[line];
  const auto length = static_cast<uint32_t>(source::LineText(file, line).size());
  const uint32_t begin = std::min(mark.span.begin - start, length);
  // Of a place of several lines the first is underlined.
  const uint32_t end = std::clamp(mark.span.end - start, begin, length);
  Stroke stroke{ColumnAt(glyphs, begin), ColumnAt(glyphs, end), &mark};
  stroke.end = std::max(stroke.end, stroke.begin + 1);
  return stroke;
}

// A row of cells that are written to any place and printed once.
class Row {
 public:
  void Put(uint32_t column, std::string_view text, Ink ink) {
    Cell* last = nullptr;
    for (const Glyph& glyph : Glyphs(text)) {
      if (glyph.width == 0 && last != nullptr) {
        last->text += glyph.text;
        continue;
      }
      last = &cells_[column + glyph.column];
      *last = {glyph.text, glyph.width, ink};
    }
  }
  // Cells behind a wide one are part of it.
  std::string Text(const TextStyle& style) const {
    std::string out, run;
    Ink ink = Ink::Plain;
    uint32_t column = 0;
    auto flush = [&] {
      out += Paint(style, ink, run);
      run.clear();
    };
    for (const auto& [at, cell] : cells_) {
      if (cell.ink != ink || at > column) {
        flush();
        if (at > column) out.append(at - column, ' ');
        ink = cell.ink;
      }
      run += cell.text;
      column = at + std::max<uint32_t>(cell.width, 1);
    }
    flush();
    return out;
  }

 private:
  struct Cell {
    std::string text;
    uint32_t width = 1;
    Ink ink = Ink::Plain;
  };
  std::map<uint32_t, Cell> cells_;
};

// The columns of a long line that are shown.
struct Window {
  uint32_t begin = 0;
  uint32_t end = 0;
};

Window WindowFor(uint32_t width, const std::vector<Stroke>& strokes, uint32_t room) {
  if (width <= room) return {0, width};
  uint32_t first = width, last = 0;
  for (const Stroke& stroke : strokes) {
    first = std::min(first, stroke.begin);
    last = std::max(last, stroke.end);
  }
  // From the start of the line if the marks are seen so, else from shortly before the first mark.
  if (strokes.empty() || last <= room) return {0, room};
  const uint32_t begin = first > kColumnsBefore ? first - kColumnsBefore : 0;
  return {begin, std::min(begin + room, width)};
}

class LineDrawer {
 public:
  LineDrawer(const source::SourceFile& file, uint32_t margin, const TextStyle& style)
      : file_(file), margin_(margin), style_(style) {
    const uint32_t used = margin + 4;
    room_ = std::max(style.width > used ? style.width - used : 0, kLeastColumns);
  }

  std::string Draw(uint32_t line, const std::vector<const Mark*>& marks) const {
    const std::vector<Glyph> glyphs = Glyphs(source::LineText(file_, line));
    std::vector<Stroke> strokes;
    for (const Mark* mark : marks) strokes.push_back(StrokeOf(file_, line, glyphs, *mark));
    const uint32_t width = glyphs.empty() ? 0 : glyphs.back().column + glyphs.back().width;
    const Window window = WindowFor(width, strokes, room_);
    std::string number = std::to_string(ShownLine(file_, line));
    number.insert(0, margin_ - std::min<size_t>(margin_, number.size()), ' ');
    std::string out = Paint(style_, Ink::Margin, number + " |");
    const std::string code = Code(glyphs, window, width);
    if (!code.empty()) out += " " + code;
    out += "\n";
    for (Stroke& stroke : strokes) Shift(stroke, window);
    return out + Labels(std::move(strokes));
  }

 private:
  std::string Code(const std::vector<Glyph>& glyphs, Window window, uint32_t width) const {
    std::string out;
    for (const Glyph& glyph : glyphs) {
      if (glyph.column < window.begin || glyph.column + glyph.width > window.end) continue;
      const bool cut_here = (window.begin > 0 && glyph.column == window.begin) ||
                            (window.end < width && glyph.column + glyph.width == window.end);
      out += cut_here ? (style_.ascii ? "." : "…") : glyph.text;
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  }

  static void Shift(Stroke& stroke, Window window) {
    stroke.begin = std::clamp(stroke.begin, window.begin, std::max(window.end, window.begin + 1) - 1) - window.begin;
    stroke.end = std::max(std::min(stroke.end, window.end), window.begin + stroke.begin + 1) - window.begin;
  }

  // Underlines first; the label that ends last stands behind its own, the others hang below theirs.
  std::string Labels(std::vector<Stroke> strokes) const {
    if (strokes.empty()) return {};
    std::stable_sort(strokes.begin(), strokes.end(), [](const Stroke& a, const Stroke& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    Row underline;
    for (const bool own : {false, true}) {
      for (const Stroke& stroke : strokes) {
        if ((stroke.mark->sign == '^') == own) {
          underline.Put(stroke.begin, std::string(stroke.end - stroke.begin, stroke.mark->sign), stroke.mark->ink);
        }
      }
    }
    std::vector<const Stroke*> hanging;
    for (const Stroke& stroke : strokes) {
      if (!stroke.mark->text.empty()) hanging.push_back(&stroke);
    }
    const auto last = std::max_element(hanging.begin(), hanging.end(),
                                       [](const Stroke* a, const Stroke* b) { return a->end < b->end; });
    if (last != hanging.end() && IsRightmost(**last, strokes)) {
      underline.Put((*last)->end + 1, (*last)->mark->text, (*last)->mark->ink);
      hanging.erase(last);
    }
    hanging.resize(std::min(hanging.size(), kMostHanging));
    std::string out = Line(underline);
    if (!hanging.empty()) out += Line(Connectors(hanging, hanging.size()));
    for (; !hanging.empty(); hanging.pop_back()) {
      Row row = Connectors(hanging, hanging.size() - 1);
      row.Put(hanging.back()->begin, hanging.back()->mark->text, hanging.back()->mark->ink);
      out += Line(row);
    }
    return out;
  }
  static bool IsRightmost(const Stroke& stroke, const std::vector<Stroke>& strokes) {
    return std::all_of(strokes.begin(), strokes.end(), [&](const Stroke& s) { return s.end <= stroke.end; });
  }
  static Row Connectors(const std::vector<const Stroke*>& strokes, size_t count) {
    Row row;
    for (size_t i = 0; i < count; ++i) row.Put(strokes[i]->begin, "|", strokes[i]->mark->ink);
    return row;
  }
  std::string Line(const Row& row) const { return Gutter(margin_, style_) + " " + row.Text(style_) + "\n"; }

  const source::SourceFile& file_;
  uint32_t margin_;
  const TextStyle& style_;
  uint32_t room_;
};

}  // namespace

std::string Gutter(uint32_t margin, const TextStyle& style, std::string_view sign) {
  return std::string(margin + 1, ' ') + Paint(style, Ink::Margin, sign);
}

std::string DrawExcerpt(const source::SourceFile& file, const std::vector<Mark>& marks, uint32_t margin,
                        const TextStyle& style) {
  std::map<uint32_t, std::vector<const Mark*>> by_line;
  for (const Mark& mark : marks) by_line[source::Locate(file, mark.span.begin).line].push_back(&mark);
  const LineDrawer drawer(file, margin, style);
  std::string out;
  uint32_t next = by_line.empty() ? 0 : by_line.begin()->first;
  for (const auto& [line, here] : by_line) {
    // One line left out would take as much room as a sign that says so.
    if (line == next + 1) out += drawer.Draw(next, {});
    if (line > next + 1) out += Paint(style, Ink::Margin, "...") + "\n";
    out += drawer.Draw(line, here);
    next = line + 1;
  }
  return out;
}

}  // namespace allranks::reports
