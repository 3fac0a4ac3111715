#include "driver/pipeline/git_attributes.h"

#include <algorithm>
#include <string>
#include <vector>

namespace allranks::pipeline {
namespace {

std::vector<std::string_view> AttributeWords(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpace, end);
  }
  return words;
}

// The lines that set or unset an attribute, as patterns of a .gitignore. A pattern for a folder alone speaks of no file.
std::string PatternsWith(std::string_view text, std::string_view attribute) {
  const std::string name(attribute);
  std::string patterns;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string_view> words = AttributeWords(text.substr(begin, end - begin));
    begin = end + 1;
    if (words.empty() || words[0].starts_with('#') || words[0].starts_with('[') || words[0].starts_with('!') || words[0].ends_with('/')) continue;
    for (size_t i = 1; i < words.size(); ++i) {
      const bool sets = words[i] == attribute || words[i] == name + "=true";
      const bool unsets = words[i] == "-" + name || words[i] == name + "=false";
      if (sets || unsets) patterns += (sets ? "" : "!") + std::string(words[0]) + "\n";
    }
  }
  return patterns;
}

// `*.ipynb linguist-vendored` keeps a language out of GitHub's counts, and says nothing of who wrote the files.
std::string OfFolders(const std::string& patterns) {
  std::string kept;
  for (size_t begin = 0; begin < patterns.size();) {
    const size_t end = patterns.find('\n', begin);
    const std::string_view line = std::string_view(patterns).substr(begin, end - begin);
    begin = end + 1;
    const bool is_of_language = line.starts_with("*.") && line.find('/') == std::string_view::npos;
    if (!is_of_language) kept += std::string(line) + "\n";
  }
  return kept;
}

}  // namespace

AttributesFile::AttributesFile(std::string_view text)
    : generated(PatternsWith(text, "linguist-generated")), vendored(OfFolders(PatternsWith(text, "linguist-vendored"))) {}

}  // namespace allranks::pipeline
