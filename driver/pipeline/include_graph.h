// Which files of the project an `#include` may mean; made from paths alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace allranks::pipeline {

class IncludeGraph {
 public:
  // `paths`: all files of the project, relative to one root. They must outlive the graph.
  explicit IncludeGraph(const std::vector<std::string>& paths);

  // Files, as indices of `paths`, that the includes in a text of `paths[from]` may reach: the headers, and the sources
  // that define what these declare, which bear the same name (`comm.h`, `comm.cpp`). Sorted.
  struct Included {
    std::vector<uint32_t> files;
    std::vector<std::string> folders;  // in which the compiler finds those that do not lie beside `from`
  };
  Included Targets(uint32_t from, std::string_view text) const;

 private:
  void AddHeaders(uint32_t from, std::string_view include, Included* targets) const;
  void AddSourcesOf(uint32_t header, std::vector<uint32_t>* targets) const;

  const std::vector<std::string>& paths_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> headers_;  // by name: "comm.h"
  std::unordered_map<std::string_view, std::vector<uint32_t>> sources_;  // by name without ending: "comm"
};

}  // namespace allranks::pipeline
