#include "driver/pipeline/include_graph.h"

#include <algorithm>

#include "driver/pipeline/paths.h"
#include "frontends/cpp/includes.h"

namespace allranks::pipeline {
namespace {

// Of so many files of one name none is meant more than the others.
constexpr size_t kMostNamesakes = 4;

std::string_view Stem(std::string_view path) {
  const std::string_view name = NameOf(path);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

IncludeGraph::IncludeGraph(const std::vector<std::string>& paths) : paths_(paths) {
  for (uint32_t i = 0; i < paths.size(); ++i) {
    if (cpp::IsSourceName(paths[i])) sources_[Stem(paths[i])].push_back(i);
    if (cpp::IsHeaderName(paths[i])) headers_[NameOf(paths[i])].push_back(i);
  }
}

IncludeGraph::Included IncludeGraph::Targets(uint32_t from, std::string_view text) const {
  Included targets;
  for (const std::string_view include : cpp::ScanIncludes(text)) AddHeaders(from, include, &targets);
  std::vector<uint32_t>& files = targets.files;
  for (size_t i = 0, count = files.size(); i < count; ++i) AddSourcesOf(files[i], &files);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::erase(files, from);
  return targets;
}

// Beside the file that includes it, else wherever the project has that path; but a header of the system is the system's.
void IncludeGraph::AddHeaders(uint32_t from, std::string_view include, Included* targets) const {
  const auto found = headers_.find(NameOf(include));
  if (found == headers_.end()) return;
  const std::string beside = Normalized(Join(DirectoryOf(paths_[from]), include));
  const std::string below = "/" + Normalized(include);
  std::vector<uint32_t> fitting;
  for (const uint32_t index : found->second) {
    const std::string& path = paths_[index];
    if (path == beside) {
      targets->files.push_back(index);
      return;
    }
    if (path.ends_with(below) || path == include) fitting.push_back(index);
  }
  if (fitting.size() > kMostNamesakes || cpp::IsStandardHeader(include)) return;
  for (const uint32_t index : fitting) {
    targets->files.push_back(index);
    const std::string& path = paths_[index];
    targets->folders.push_back(path.ends_with(below) ? path.substr(0, path.size() - below.size()) : std::string());
  }
}

void IncludeGraph::AddSourcesOf(uint32_t header, std::vector<uint32_t>* targets) const {
  const auto found = sources_.find(Stem(paths_[header]));
  if (found == sources_.end()) return;
  const auto is_beside = [&](uint32_t index) { return DirectoryOf(paths_[index]) == DirectoryOf(paths_[header]); };
  const bool any_beside = std::ranges::any_of(found->second, is_beside);
  if (!any_beside && found->second.size() > kMostNamesakes) return;
  for (const uint32_t index : found->second) {
    if (!any_beside || is_beside(index)) targets->push_back(index);
  }
}

}  // namespace allranks::pipeline
