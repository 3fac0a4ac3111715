#include "frontends/cpp/kernel_launches.h"

namespace allranks::cpp {
namespace {

constexpr std::string_view kOpen = "<<<";
constexpr std::string_view kClose = ">>>";
constexpr std::string_view kBlanks = " \t\r\n\\";

// Where the list that begins at `open` ends; npos if it does not.
size_t EndOfList(std::string_view launch, size_t open) {
  int depth = 0;
  for (size_t at = open; at < launch.size(); ++at) {
    if (launch[at] == '{') ++depth;
    if (launch[at] == '}' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool BeginsArgument(std::string_view launch, size_t at) {
  const size_t before = launch.substr(0, at).find_last_not_of(kBlanks);
  return before == std::string_view::npos || launch[before] == ',';
}

bool EndsArgument(std::string_view launch, size_t at) {
  const size_t after = launch.find_first_not_of(kBlanks, at + 1);
  return after == std::string_view::npos || launch[after] == ',';
}

// `launch`: what stands between the angle brackets, from `begin` on in `text`.
void RewriteLists(std::string_view launch, size_t begin, std::string* text) {
  for (size_t at = launch.find('{'); at != std::string_view::npos; at = launch.find('{', at + 1)) {
    const size_t end = EndOfList(launch, at);
    if (end == std::string_view::npos || !BeginsArgument(launch, at) || !EndsArgument(launch, end)) continue;
    const bool is_empty = launch.find_first_not_of(kBlanks, at + 1) == end;
    (*text)[begin + at] = is_empty ? '0' : '(';
    (*text)[begin + end] = is_empty ? ' ' : ')';
    at = end;
  }
}

}  // namespace

std::string WithPlainLaunches(std::string_view text) {
  std::string rewritten(text);
  for (size_t open = text.find(kOpen); open != std::string_view::npos; open = text.find(kOpen, open + 1)) {
    const size_t begin = open + kOpen.size();
    const size_t close = text.find(kClose, begin);
    if (close == std::string_view::npos) break;
    const std::string_view launch = text.substr(begin, close - begin);
    // What looks like a launch in a comment may end far away.
    if (launch.find(';') == std::string_view::npos) RewriteLists(launch, begin, &rewritten);
  }
  return rewritten;
}

}  // namespace allranks::cpp
