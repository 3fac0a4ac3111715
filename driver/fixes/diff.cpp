// Lines that both texts share are found by their longest common subsequence between the first and the last line that
// differ: fixes touch few lines, so the table is small.
#include "driver/fixes/diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace allranks::fixes {
namespace {

constexpr size_t kContext = 3;
// Beyond this the stretch in between counts as replaced whole: a table of its size would take a second to fill.
constexpr size_t kLargestTable = 4'000'000;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Line {
  char mark;  // ' ', '-' or '+'
  std::string_view text;
};

class Differ {
 public:
  Differ(std::vector<std::string_view> before, std::vector<std::string_view> after)
      : before_(std::move(before)), after_(std::move(after)) {}

  std::vector<Line> Run() {
    size_t first = 0;
    while (first < before_.size() && first < after_.size() && before_[first] == after_[first]) ++first;
    size_t tail = 0;
    while (tail < before_.size() - first && tail < after_.size() - first &&
           before_[before_.size() - 1 - tail] == after_[after_.size() - 1 - tail]) {
      ++tail;
    }
    for (size_t i = 0; i < first; ++i) lines_.push_back({' ', before_[i]});
    Middle(first, before_.size() - tail, after_.size() - tail);
    for (size_t i = before_.size() - tail; i < before_.size(); ++i) lines_.push_back({' ', before_[i]});
    return std::move(lines_);
  }

 private:
  void Middle(size_t first, size_t before_end, size_t after_end) {
    const size_t rows = before_end - first;
    const size_t columns = after_end - first;
    if (rows * columns > kLargestTable) {
      Replace(first, before_end, first, after_end);
      return;
    }
    // length[i][j]: of the longest common subsequence of what follows row i and column j.
    std::vector<uint32_t> length((rows + 1) * (columns + 1));
    const auto at = [&](size_t i, size_t j) -> uint32_t& { return length[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;) {
      for (size_t j = columns; j-- > 0;) {
        at(i, j) = before_[first + i] == after_[first + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
    size_t i = 0, j = 0;
    while (i < rows || j < columns) {
      if (i < rows && j < columns && before_[first + i] == after_[first + j]) {
        lines_.push_back({' ', before_[first + i]});
        ++i, ++j;
      } else if (j >= columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) {
        lines_.push_back({'-', before_[first + i++]});
      } else {
        lines_.push_back({'+', after_[first + j++]});
      }
    }
  }

  void Replace(size_t before_begin, size_t before_end, size_t after_begin, size_t after_end) {
    for (size_t i = before_begin; i < before_end; ++i) lines_.push_back({'-', before_[i]});
    for (size_t i = after_begin; i < after_end; ++i) lines_.push_back({'+', after_[i]});
  }

  std::vector<std::string_view> before_, after_;
  std::vector<Line> lines_;
};

std::string Range(size_t first, size_t count) {
  // A stretch of no lines is named by the line before it.
  if (count == 0) return std::to_string(first) + ",0";
  return std::to_string(first + 1) + (count == 1 ? std::string() : "," + std::to_string(count));
}

std::string Hunk(const std::vector<Line>& lines, size_t begin, size_t end, size_t before_line, size_t after_line) {
  size_t before_count = 0, after_count = 0;
  std::string body;
  for (size_t i = begin; i < end; ++i) {
    before_count += lines[i].mark != '+' ? 1 : 0;
    after_count += lines[i].mark != '-' ? 1 : 0;
    body += lines[i].mark;
    body += lines[i].text;
    if (!lines[i].text.ends_with('\n')) body += "\n\\ No newline at end of file\n";
  }
  return "@@ -" + Range(before_line, before_count) + " +" + Range(after_line, after_count) + " @@\n" + body;
}

bool IsPrintable(char c) { return c >= 0x20 && c < 0x7f; }

// Whether a name could end its line or steer a terminal; a control character may also be C2 and a byte below A0.
bool IsPlain(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool is_control = byte < 0x20 || byte == 0x7f || (byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0);
    if (is_control || byte == '"' || byte == '\\') return false;
  }
  return true;
}

// As git and patch write and read names that do not stand for themselves: `"x\033.py"`.
std::string NameInPatch(std::string_view name) {
  if (IsPlain(name)) return std::string(name);
  std::string out = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const auto digit = [byte](int shift) { return static_cast<char>('0' + (byte >> shift & 7)); };
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (IsPrintable(c)) out += c;
    else out += {'\\', digit(6), digit(3), digit(0)};
  }
  return out + "\"";
}

}  // namespace

std::string UnifiedDiff(std::string_view path, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Line> lines = Differ(LinesOf(before), LinesOf(after)).Run();
  const std::string name = NameInPatch(path);
  std::string out = "--- " + name + "\n+++ " + name + "\n";
  size_t before_line = 0, after_line = 0, counted = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const size_t begin = i < kContext ? 0 : i - kContext;
    // Changes with little in between share a hunk.
    size_t end = i + 1;
    for (size_t j = i; j < lines.size() && j < end + 2 * kContext; ++j) {
      if (lines[j].mark != ' ') end = j + 1;
    }
    end = std::min(end + kContext, lines.size());
    for (; counted < begin; ++counted) {
      before_line += lines[counted].mark != '+' ? 1 : 0;
      after_line += lines[counted].mark != '-' ? 1 : 0;
    }
    out += Hunk(lines, begin, end, before_line, after_line);
    i = end - 1;
  }
  return out;
}

}  // namespace allranks::fixes
