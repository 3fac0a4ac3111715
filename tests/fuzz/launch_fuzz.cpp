// The files that start jobs: shell, Makefiles, Dockerfiles, YAML, JSON, pages. They are read, and each place that is named stands in
// the text. Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `launch_fuzz_test.cpp` runs it on mutated files in every build.
#include <array>
#include <cstdint>
#include <string>

#include "analyzer/built_in/built_in.h"
#include "frontends/launch/configured.h"
#include "frontends/launch/read.h"
#include "tests/fuzz/fault.h"

namespace {

using namespace allranks;
using launch::FileKind;

struct Named {
  const char* path;
  FileKind kind;
};
constexpr std::array kFiles = {Named{"run.sh", FileKind::Shell}, Named{"Makefile", FileKind::Make}, Named{"Dockerfile", FileKind::Docker},
                               Named{"job.yaml", FileKind::Yaml}, Named{"ds.json", FileKind::Json}, Named{"README.md", FileKind::Markdown},
                               Named{"run.ipynb", FileKind::Notebook}};

void Expect(source::Span span, size_t size) {
  if (span.file && (span.begin > span.end || span.end > size)) tests::Fault("a place outside of the text");
}

void Read(const Named& named, const std::string& bytes) {
  static const launch::LauncherTables tables = [] {
    launch::LauncherTables all;
    built_in::FillTables(all);
    return all;
  }();
  base::Result<source::SourceFile> file = source::MakeSourceFile(named.path, bytes);
  if (!file || file->has_nul) return;
  const source::FileId id{0};
  const size_t size = file->text.size();
  // Each file that it sources is itself.
  const auto open = [&](const std::string&) {
    return std::optional(launch::Word(launch::Piece{.text = file->text, .origin = {source::FileId{1}, 0, static_cast<uint32_t>(size)}}));
  };
  launch::Launches launches;
  launches.files.push_back(launch_files::ReadLaunchFile({.tables = tables, .text = *file, .id = id, .path = named.path, .kind = named.kind, .open = open}));
  launch_files::AddConfiguredOptions(launches);
  for (const launch::Job& job : launches.files[0].jobs) {
    if (job.layers.empty()) tests::Fault("a job that nothing starts");
    Expect(job.span, size);
    for (const launch::Layer& layer : job.layers) Expect(layer.span, size);
  }
  for (const launch::ReadProblem& problem : launches.files[0].problems) Expect(problem.span, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte says which of them.
  Read(kFiles[data[0] % kFiles.size()], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
