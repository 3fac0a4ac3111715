#include "frontends/cpp/includes.h"

#include <algorithm>

namespace allranks::cpp {
namespace {

constexpr std::string_view kSourceEndings[] = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu"};
constexpr std::string_view kHeaderEndings[] = {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl"};

std::string_view SkipBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return text.substr(std::min(first, text.size()));
}

}  // namespace

bool IsSourceName(std::string_view path) {
  return std::ranges::any_of(kSourceEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

bool IsHeaderName(std::string_view path) {
  return std::ranges::any_of(kHeaderEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

std::vector<std::string_view> ScanIncludes(std::string_view text) {
  std::vector<std::string_view> includes;
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::string_view rest = SkipBlanks(text.substr(at + 1));
    constexpr std::string_view kInclude = "include";
    if (!rest.starts_with(kInclude)) continue;
    rest = SkipBlanks(rest.substr(kInclude.size()));
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) continue;
    const size_t end = rest.find(rest[0] == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos || rest.substr(0, end).find('\n') != std::string_view::npos) continue;
    includes.push_back(rest.substr(1, end - 1));
  }
  return includes;
}

}  // namespace allranks::cpp
