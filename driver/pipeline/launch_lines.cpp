#include "driver/pipeline/launch_lines.h"

#include <algorithm>

namespace allranks::pipeline {
namespace {

bool StartsRanks(const launch::Job& job) {
  return job.has_cluster || std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
}

// "pkg.eval" of `python -m pkg.eval` as a path.
std::string PathOf(const launch::Job& job) {
  std::string path = job.script.text();
  if (!job.is_module) return Normalized(path);
  std::ranges::replace(path, '.', '/');
  return path + ".py";
}

}  // namespace

LaunchLineReader::LaunchLineReader(const std::vector<std::string>& code, const PathMap& paths) : paths_(paths) {
  for (const std::string& path : code) by_name_[NameOf(path)].push_back(path);
}

void LaunchLineReader::Add(const launch::LaunchFile& file, objects::LaunchLines& lines) const {
  for (const launch::Job& job : file.jobs) {
    if (job.script.empty() || !job.script.IsKnown()) continue;
    const bool starts_ranks = StartsRanks(job);
    // Somebody else may start one of these on each machine.
    if (!starts_ranks && job.is_remote) continue;
    const std::string_view path = FileOf(job, DirectoryOf(file.path));
    if (!path.empty()) lines.push_back({.path = paths_.Shown(std::string(path)), .starts_ranks = starts_ranks});
  }
}

std::string_view LaunchLineReader::FileOf(const launch::Job& job, std::string_view folder) const {
  const std::string script = PathOf(job);
  const auto named = by_name_.find(NameOf(script));
  if (named == by_name_.end()) return {};
  for (const std::string& path : {Normalized(Join(std::string(folder), script)), script}) {
    const auto found = std::ranges::find(named->second, path);
    if (found != named->second.end()) return *found;
  }
  std::string_view only;
  for (const std::string_view path : named->second) {
    if (!path.ends_with("/" + script)) continue;
    if (!only.empty()) return {};
    only = path;
  }
  return only;
}

}  // namespace allranks::pipeline
