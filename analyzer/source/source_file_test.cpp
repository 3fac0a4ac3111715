#include "analyzer/source/source_file.h"

#include <gtest/gtest.h>

namespace allranks::source {
namespace {

SourceFile FileOf(std::string text) { return MakeSourceFile("a.py", std::move(text)).value(); }

std::string Place(const SourceFile& file, uint32_t offset, ColumnUnit unit = ColumnUnit::CodePoints) {
  const LineColumn place = Locate(file, offset, unit);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

TEST(SourceFileTest, NotesWhatTheBytesAre) {
  const SourceFile plain = FileOf("a = 1\n");
  EXPECT_FALSE(plain.has_bom);
  EXPECT_TRUE(plain.valid_utf8);
  EXPECT_FALSE(plain.has_nul);
  EXPECT_FALSE(plain.is_notebook());
  const SourceFile odd =
      FileOf(std::string("\xef\xbb\xbf"
                         "a\0\xff",
                         6));
  EXPECT_TRUE(odd.has_bom);
  EXPECT_FALSE(odd.valid_utf8);
  EXPECT_TRUE(odd.has_nul);
  EXPECT_EQ(odd.text, std::string("a\0\xff", 3));
}

TEST(SourceFileTest, LineEnds) {
  EXPECT_EQ(FileOf("").line_starts, std::vector<uint32_t>({0}));
  EXPECT_EQ(FileOf("a").line_starts, std::vector<uint32_t>({0}));
  EXPECT_EQ(FileOf("a\nb\n").line_starts, std::vector<uint32_t>({0, 2, 4}));
  EXPECT_EQ(FileOf("a\r\nb\rc\n\rd").line_starts, std::vector<uint32_t>({0, 3, 5, 7, 8}));
  const SourceFile file = FileOf("a\r\nb\rc\n\rd");
  EXPECT_EQ(LineText(file, 0), "a");
  EXPECT_EQ(LineText(file, 1), "b");
  EXPECT_EQ(LineText(file, 2), "c");
  EXPECT_EQ(LineText(file, 3), "");
  EXPECT_EQ(LineText(file, 4), "d");
  EXPECT_EQ(LineText(file, 5), "");
}

TEST(SourceFileTest, ColumnsInEveryUnit) {
  // One, two, three and four bytes; the last takes two UTF-16 units.
  const SourceFile file = FileOf(
      "x\n"
      "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\n");
  const uint32_t z = 2 + 1 + 2 + 3 + 4;
  EXPECT_EQ(Place(file, z), "1:4");
  EXPECT_EQ(Place(file, z, ColumnUnit::Utf16), "1:5");
  EXPECT_EQ(Place(file, z, ColumnUnit::Utf8), "1:10");
  EXPECT_EQ(OffsetOf(file, {1, 4}), z);
  EXPECT_EQ(OffsetOf(file, {1, 5}, ColumnUnit::Utf16), z);
  EXPECT_EQ(OffsetOf(file, {1, 10}, ColumnUnit::Utf8), z);
}

TEST(SourceFileTest, PlacesInsideACodePoint) {
  const SourceFile file = FileOf("a\xf0\x9f\x98\x80z");
  EXPECT_EQ(Place(file, 3), "0:1");
  // Between the two halves of a surrogate pair.
  EXPECT_EQ(OffsetOf(file, {0, 2}, ColumnUnit::Utf16), 1u);
}

TEST(SourceFileTest, InvalidBytesCountOne) {
  const SourceFile file = FileOf("\xff\xe2\x82z\xc3\n\xed\xa0\x80y");
  EXPECT_EQ(Place(file, 3), "0:3");
  EXPECT_EQ(Place(file, 5), "0:5");
  // An encoded surrogate is no code point.
  EXPECT_EQ(Place(file, 9), "1:3");
  EXPECT_EQ(OffsetOf(file, {0, 3}), 3u);
}

TEST(SourceFileTest, PlacesOutside) {
  const SourceFile file = FileOf("ab\r\ncd");
  EXPECT_EQ(Place(file, 3), "0:2");
  EXPECT_EQ(Place(file, 6), "1:2");
  EXPECT_EQ(Place(file, 100), "1:2");
  EXPECT_EQ(OffsetOf(file, {0, 50}), 2u);
  EXPECT_EQ(OffsetOf(file, {1, 50}), 6u);
  EXPECT_EQ(OffsetOf(file, {7, 0}), 6u);
  EXPECT_EQ(Place(FileOf(""), 0), "0:0");
}

TEST(SourceFileTest, PlacesAreInverse) {
  const SourceFile file = FileOf("a\xc3\xa9 = '\xf0\x9f\x98\x80'\r\n\tb\rc\n");
  for (const ColumnUnit unit : {ColumnUnit::CodePoints, ColumnUnit::Utf16, ColumnUnit::Utf8}) {
    for (uint32_t offset = 0; offset <= file.text.size(); ++offset) {
      const LineColumn place = Locate(file, offset, unit);
      const LineColumn again = Locate(file, OffsetOf(file, place, unit), unit);
      EXPECT_EQ(again.line, place.line);
      EXPECT_EQ(again.column, place.column);
    }
  }
}

}  // namespace
}  // namespace allranks::source
