// Feeds the fuzz target with mutated indexes of git: the same ones every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/feed.h"

namespace allranks::tests {
namespace {

std::string Number(uint32_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
  return text;
}

// As git writes them: three files, of which version 4 writes how many bytes of the last name do not go on, and what does.
std::string Index(uint32_t version) {
  constexpr std::array<std::string_view, 3> kNames = {"lib/a.py", "lib/b.py", "lib/bc/train.py"};
  std::string bytes = "DIRC" + Number(version, 4) + Number(kNames.size(), 4);
  std::string_view last;
  for (const std::string_view name : kNames) {
    const size_t begin = bytes.size();
    bytes += std::string(24, '\0') + Number(0100644, 4) + std::string(32, 'x') + Number(static_cast<uint32_t>(name.size()), 2);
    if (version == 4) {
      const size_t same = static_cast<size_t>(std::ranges::mismatch(last, name).in1 - last.begin());
      bytes += Number(static_cast<uint32_t>(last.size() - same), 1) + std::string(name.substr(same)) + std::string(1, '\0');
    } else {
      bytes += std::string(name) + std::string(1, '\0');
      while ((bytes.size() - begin) % 8 != 0) bytes.push_back('\0');
    }
    last = name;
  }
  return bytes + "TREE" + Number(4, 4) + "tree" + std::string(20, 'c');
}

constexpr std::array<std::string_view, 6> kPieces = {"DIRC", "link", "a/", "\xff\xff\xff\xf8", "\x7f", "x"};

TEST(GitIndexFuzzTest, Mutated) {
  constexpr int kRounds = 3000;
  for (const uint32_t version : {2u, 3u, 4u}) FeedMutated(Index(version), kPieces, kRounds);
}

TEST(GitIndexFuzzTest, Cut) {
  for (const uint32_t version : {2u, 4u}) FeedCut(Index(version));
}

}  // namespace
}  // namespace allranks::tests
