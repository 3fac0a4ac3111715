#include "driver/pipeline/submodules.h"

#include <algorithm>

#include "driver/pipeline/paths.h"

namespace allranks::pipeline {
namespace {

constexpr std::string_view kSpaces = " \t\r\"";

std::string_view Bare(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

}  // namespace

std::vector<std::string> SubmodulesIn(std::string_view gitmodules) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin < gitmodules.size();) {
    const size_t end = std::min(gitmodules.find('\n', begin), gitmodules.size());
    const std::string_view line = gitmodules.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || Bare(line.substr(0, equals)) != "path") continue;
    const std::string folder = Normalized(Bare(line.substr(equals + 1)));
    if (!folder.empty() && !folder.starts_with('/') && !folder.starts_with("..")) folders.push_back(folder);
  }
  return folders;
}

}  // namespace allranks::pipeline
