#include "analyzer/base/json_problem.h"

namespace allranks::base {

std::string JsonProblem(std::string_view what) {
  constexpr size_t kLongest = 160;
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...; last read: '...'"
  if (const size_t close = what.find("] "); what.starts_with('[') && close != std::string_view::npos) what.remove_prefix(close + 2);
  if (what.size() <= kLongest) return std::string(what);
  if (const size_t quoted = what.find("; last read: "); quoted <= kLongest) return std::string(what.substr(0, quoted));
  size_t end = kLongest;
  while ((what[end] & 0xC0) == 0x80) --end;
  return std::string(what.substr(0, end)) + "...";
}

}  // namespace allranks::base
