#include "driver/reports/text_width.h"

#include <algorithm>
#include <iterator>

#include "witness/steering_characters.h"

namespace allranks::reports {
namespace {

constexpr char32_t kReplacement = 0xfffd;

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15 East Asian Width W and F, with the gaps between neighbouring blocks left out where nothing is assigned.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
    {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
    {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
    {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
    {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7}, {0x1f6dc, 0x1f6df},
    {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a},
    {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};

// Combining marks and joiners that take no cell, of the scripts that occur in code.
constexpr Range kNoWidth[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
                              {0x064b, 0x065f}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948},
                              {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},
                              {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20f0},
                              {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0x1f3fb, 0x1f3ff},
                              {0xe0100, 0xe01ef}};

template <size_t N>
bool IsIn(const Range (&ranges)[N], char32_t c) {
  const Range* range = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                        [](const Range& r, char32_t value) { return r.last < value; });
  return range != std::end(ranges) && range->first <= c;
}

// The character that starts at `at`; a byte that starts none counts as U+FFFD.
Decoded Decode(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const auto offset = static_cast<uint32_t>(at);
  const Decoded invalid{kReplacement, offset, 1, false};
  const uint32_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || at + length > text.size()) return invalid;
  char32_t c = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (size_t k = 1; k < length; ++k) {
    const auto byte = static_cast<unsigned char>(text[at + k]);
    if ((byte & 0xc0) != 0x80) return invalid;
    c = (c << 6) | (byte & 0x3f);
  }
  const bool is_surrogate = c >= 0xd800 && c <= 0xdfff;
  const bool is_overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  if (is_surrogate || is_overlong || c > 0x10ffff) return invalid;
  return {c, offset, length, true};
}

// Whoever compares as people read sees nothing in these.
constexpr char32_t kSoftHyphen = 0xad;
bool IsSkipped(const Decoded& c) { return c.value == kSoftHyphen || IsIn(kNoWidth, c.value); }

char32_t Lower(char32_t c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

// Whether the word follows, in capitals or not.
bool Follows(std::span<const Decoded> text, std::string_view word) {
  size_t matched = 0;
  for (const Decoded& c : text) {
    if (matched == word.size()) break;
    if (IsSkipped(c)) continue;
    if (Lower(c.value) != static_cast<char32_t>(word[matched])) return false;
    ++matched;
  }
  return matched == word.size();
}

}  // namespace

bool IsOfCommand(std::span<const Decoded> text, size_t at) {
  if (text[at].value != '#') return false;
  size_t before = at;
  while (before > 0 && IsSkipped(text[before - 1])) --before;
  const std::span<const Decoded> behind = text.subspan(at + 1);
  return before > 0 && text[before - 1].value == '#' && (Follows(behind, "[") || Follows(behind, "vso["));
}

std::vector<Decoded> DecodeAll(std::string_view text) {
  std::vector<Decoded> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += characters.back().length) characters.push_back(Decode(text, at));
  return characters;
}

std::vector<Glyph> Glyphs(std::string_view line) {
  std::vector<Glyph> glyphs;
  glyphs.reserve(line.size());
  uint32_t column = 0;
  const std::vector<Decoded> characters = DecodeAll(line);
  for (size_t i = 0; i < characters.size(); ++i) {
    const Decoded& character = characters[i];
    const char32_t c = character.value;
    Glyph glyph{.offset = character.offset, .column = column, .text = {}};
    if (c == '\t') {
      glyph.width = kTabStop - column % kTabStop;
      glyph.text.assign(glyph.width, ' ');
    } else if (!character.valid || witness::SteersText(c) || IsOfCommand(characters, i)) {
      glyph.text = "\xef\xbf\xbd";
    } else {
      glyph.width = IsIn(kNoWidth, c) ? 0 : IsIn(kWide, c) ? 2 : 1;
      glyph.text = line.substr(character.offset, character.length);
    }
    column += glyph.width;
    glyphs.push_back(std::move(glyph));
  }
  return glyphs;
}

uint32_t Width(std::string_view text) {
  const std::vector<Glyph> glyphs = Glyphs(text);
  return glyphs.empty() ? 0 : glyphs.back().column + glyphs.back().width;
}

}  // namespace allranks::reports
