#include "driver/pipeline/parse.h"

#include <algorithm>

#include "driver/pipeline/parallel.h"
#include "frontends/python/lower.h"

namespace allranks::pipeline {
namespace {

std::string WhyFaulty(const ScannedFile& file) {
  switch (file.state) {
    case ReadState::Binary: return "it contains NUL bytes, so it is binary or not UTF-8; save it as UTF-8";
    case ReadState::TooLarge:
      return "its " + std::to_string(file.bytes) + " bytes are over the limit of " +
             std::to_string(kLargestSource >> 20) + " MiB; split it or exclude it";
    default: return file.problem;
  }
}

source::SourceFile EmptyFile(std::string path) {
  source::SourceFile file;
  file.path = std::move(path);
  file.line_starts = {0};
  return file;
}

// The files that get a FileId: those to parse and those to complain about, in the order of their paths.
std::vector<uint32_t> Kept(const Selection& selection) {
  std::vector<uint32_t> kept;
  std::merge(selection.parse.begin(), selection.parse.end(), selection.faulty.begin(), selection.faulty.end(),
             std::back_inserter(kept));
  return kept;
}

}  // namespace

Parsed ParseFiles(const ProjectFiles& project, const PathMap& paths, const binding::ModuleGraph& graph,
                  Selection& selection, base::Interner& names, unsigned jobs) {
  Parsed out;
  const std::vector<uint32_t> kept = Kept(selection);
  out.files.resize(kept.size());
  std::vector<ir::Module> modules(kept.size());
  std::vector<std::string> problems(kept.size());
  ParallelFor(kept.size(), jobs, [&](size_t i) {
    ScannedFile& scanned = selection.files[kept[i]];
    const source::FileId id{static_cast<uint32_t>(i)};
    const std::string shown = paths.Shown(project.all[kept[i]]);
    out.files[id] = EmptyFile(shown);
    if (scanned.state != ReadState::Read) {
      problems[i] = WhyFaulty(scanned);
      return;
    }
    base::Result<source::SourceFile> file = source::MakeSourceFile(shown, std::move(scanned.text));
    if (!file) {
      problems[i] = file.error().message;
      return;
    }
    out.files[id] = std::move(*file);
    modules[i] = python::Lower(out.files[id], id, names);
  });
  for (uint32_t i = 0; i < kept.size(); ++i) {
    const std::string& relative = project.all[kept[i]];
    const bool requested = project.requested[kept[i]];
    out.requested.push_back(requested);
    if (!problems[i].empty()) {
      out.faulty.emplace_back(source::FileId{i}, std::move(problems[i]));
      continue;
    }
    out.bytes += out.files[source::FileId{i}].text.size();
    out.modules.Add(std::move(modules[i]));
    out.infos.Add({.path = relative,
                   .dotted = graph.DottedName(relative),
                   .is_package = NameOf(relative) == "__init__.py",
                   .requested = requested});
  }
  return out;
}

}  // namespace allranks::pipeline
