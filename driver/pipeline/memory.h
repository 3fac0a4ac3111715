// What a run leaves for the next one of the same project, in a process that stays: the language server. A file whose
// bytes are the same is neither scanned nor parsed again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/program.h"
#include "analyzer/ir/program.h"
#include "analyzer/source/source_file.h"
#include "analyzer/traces/session.h"
#include "analyzer/variation/session.h"
#include "driver/pipeline/enumerate.h"
#include "driver/pipeline/selection.h"
#include "frontends/cpp/exchange.h"
#include "frontends/python/lower.h"

namespace allranks::pipeline {

class Memory {
 public:
  std::stop_token stop;            // of the run to come: a run that is stopped has no output
  bool disk_is_unchanged = false;  // only overlays differ from the run before: nothing else is looked at
  // Of the program that the last run left in `Analysed`.
  variation::Session variation;
  traces::Session traces;

  // Whether the files to parse are, byte for byte, what the last whole run parsed: then it would find the same.
  bool IsSame(const Selection& selection) const;
  void NoteWhole(const Selection& selection);

  // Of a run that was left in its midst.
  void ForgetAnalysis() {
    variation = variation::Session();
    traces = traces::Session();
  }

  // Takes back what a run was given, once nobody looks at its results any more. `names` and knowledge stay in use.
  void Recall(binding::Program& program, source::SourceFiles& files);

  // The files of the project; what was scanned is forgotten where they are others than before.
  const ProjectFiles& SetProject(ProjectFiles project);
  const ProjectFiles* project() const { return project_ ? &*project_ : nullptr; }

  // What the last run found in a file, by index of ProjectFiles::all; nullptr: nothing.
  const ScannedFile* Scanned(uint32_t index) const;
  void SetScanned(const std::vector<ScannedFile>& files);

  bool HasModule(const std::string& path, const Content& content) const;
  // The IR of a file with these bytes, given away. Any thread may ask, for different files.
  struct Module {
    Content content;
    source::SourceFile file;
    ir::Module module;
  };
  std::optional<Module> TakeModule(const std::string& path, const Content& content);
  void NoteContent(const std::string& path, const Content& content);

  // Of an open file. Any thread may ask, for different files.
  python::LastParse& LastParseOf(const std::string& path);
  // Those of files that are no longer open are let go.
  void KeepParsesOf(const std::map<std::string, std::string>& open);

  // What Clang said of a translation unit whose text and project headers were these.
  std::shared_ptr<const cpp::Reply> Unit(const std::string& path, const Content& content) const;
  void SetUnit(const std::string& path, const Content& content, std::shared_ptr<const cpp::Reply> reply);

 private:
  struct KnownUnit {
    Content content;
    std::shared_ptr<const cpp::Reply> reply;
  };
  // Everything that a run depends on besides the project's paths.
  static std::vector<Content> ContentsOf(const Selection& selection);

  std::vector<Content> whole_;       // of the last run that was not stopped; empty: there is none
  std::optional<ProjectFiles> project_;
  std::vector<ScannedFile> scanned_;
  std::unordered_map<std::string, Content> contents_;  // of the modules that are with the analysis now
  std::unordered_map<std::string, Module> modules_;    // by path
  std::unordered_map<std::string, KnownUnit> units_;
  std::map<std::string, python::LastParse> parses_;  // by path
};

}  // namespace allranks::pipeline
