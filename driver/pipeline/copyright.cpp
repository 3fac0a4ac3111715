#include "driver/pipeline/copyright.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "analyzer/base/lowered.h"

namespace allranks::pipeline {
namespace {

constexpr std::string_view kMark = "copyright";
// A licence names its holders at the top, or at the end of a text that is known.
constexpr size_t kLongestLicence = 64 << 10;
// Words of a line that belong to the name; what follows is a sentence.
constexpr size_t kMostWords = 4;

// Words that tell no holder from another.
constexpr std::array<std::string_view, 34> kCommon = {
    "affiliates", "all", "and", "author", "authors", "by", "c", "co", "company", "contributors", "copyright", "corp", "corporation", "group",
    "holding", "holders", "inc", "is", "its", "lab", "license", "licensed", "limited", "llc", "ltd", "of", "platforms", "present", "research",
    "reserved", "rights", "team", "the", "university"};

// The same firm under another name.
constexpr std::pair<std::string_view, std::string_view> kRenamed = {"facebook", "meta"};

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80u) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool HasYear(std::string_view text) {
  for (size_t i = 0; i + 4 <= text.size(); ++i) {
    const std::string_view year = text.substr(i, 4);
    if ((year.starts_with("19") || year.starts_with("20")) && std::ranges::all_of(year, IsDigit)) return true;
  }
  return false;
}

// What a line says behind `copyright`, without addresses in `<...>`.
std::string WithoutAddresses(std::string_view text) {
  std::string rest;
  int depth = 0;
  for (const char c : text) {
    if (c == '<') ++depth;
    if (depth == 0) rest += c;
    if (c == '>' && depth > 0) --depth;
  }
  return rest;
}

void AddHolder(std::string_view rest, std::set<std::string>& holders) {
  size_t words = 0;
  for (size_t begin = 0; begin < rest.size() && words < kMostWords;) {
    while (begin < rest.size() && !IsLetter(rest[begin])) ++begin;
    size_t end = begin;
    while (end < rest.size() && IsLetter(rest[end])) ++end;
    std::string word(rest.substr(begin, end - begin));
    begin = end;
    if (word.empty() || word == "\xC2\xA9" || std::ranges::find(kCommon, word) != kCommon.end()) continue;
    holders.insert(word == kRenamed.first ? std::string(kRenamed.second) : std::move(word));
    ++words;
  }
}

}  // namespace

std::set<std::string> CopyrightHolders(std::string_view licence) {
  std::set<std::string> holders;
  const std::string text = base::Lowered(licence.substr(0, kLongestLicence));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const size_t mark = line.find(kMark);
    if (mark == std::string_view::npos) continue;
    const std::string rest = WithoutAddresses(line.substr(mark + kMark.size()));
    const bool names_holder = HasYear(rest) || rest.find("(c)") != std::string::npos || rest.find("\xC2\xA9") != std::string::npos;
    if (names_holder && rest.find_first_of("[]{}") == std::string::npos) AddHolder(rest, holders);
  }
  return holders;
}

bool IsLicenceName(std::string_view name) {
  // Asked of each file there is: no more than the beginning.
  const std::string begin = base::Lowered(name.substr(0, 7));
  return begin == "license" || begin == "licence" || begin == "copying";
}

}  // namespace allranks::pipeline
