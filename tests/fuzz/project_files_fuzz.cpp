// The files that a project brings besides its code: configuration, knowledge, baseline, compile commands, ignored files, attributes,
// submodules, verdicts, and what is read of C and C++ as text. They are refused in words, or read. Built for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `project_files_fuzz_test.cpp` runs it on
// mutated files in every build.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/users_file.h"
#include "analyzer/launch/launcher_table.h"
#include "driver/baseline/baseline.h"
#include "driver/cli/verdicts.h"
#include "driver/config/resolve.h"
#include "driver/pipeline/git_attributes.h"
#include "driver/pipeline/gitignore.h"
#include "driver/pipeline/submodules.h"
#include "frontends/cpp/compile_commands.h"
#include "frontends/cpp/function_names.h"
#include "frontends/cpp/includes.h"
#include "frontends/cpp/kernel_launches.h"
#include "frontends/cpp/nesting.h"
#include "tests/fuzz/fault.h"

namespace {

using namespace allranks;

void Expect(bool is_read, const std::string& problem) {
  if (is_read == problem.empty()) return;
  tests::Fault("neither read nor refused");
}

template <class T>
void Expect(const base::Result<T>& result) {
  Expect(result.has_value(), result ? "" : result.error().message);
}

void ReadSettings(const std::string& text) {
  for (const char* name : {"allranks.toml", "pyproject.toml"}) {
    const source::MemoryFileSystem files(std::map<std::string, std::string>{{std::string("/p/") + name, text}});
    Expect(config::Resolve({.paths = {"."}, .working_directory = "/p", .config = {}, .isolated = false, .above = {}}, files));
  }
}

void ReadKnowledge(const std::string& text) {
  base::Interner names;
  knowledge::Knowledge knowledge(names);
  const base::Result<bool> loaded = knowledge::LoadUsersFile(knowledge, "ours.toml", text);
  Expect(loaded);
  if (loaded) Expect(knowledge.Finish());
  launch::LauncherTables tables;
  Expect(tables.Load("launch.toml", text));
}

void ReadBaseline(const std::string& text) {
  const base::Result<baseline::Baseline> known = baseline::Parse("known.json", text);
  Expect(known);
  if (known) Expect(baseline::Parse("known.json", baseline::Write(*known)));
}

void ReadCommands(const std::string& text) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{"/p/flags", text}});
  Expect(cpp::CompileCommands::Parse(text, "/p", files));
  cpp::KeptFlags(cpp::ShellWords(text));
}

void ReadAttributes(const std::string& text) {
  const pipeline::AttributesFile attributes(text);
  for (const char* path : {"a", "a/b.py", "a/a/a/a/a/a/a/aaaaaaaaaaaaaaaa"}) {
    attributes.generated.Ignores(path, false);
    attributes.vendored.Ignores(path, false);
  }
}

void ReadSubmodules(const std::string& text) {
  for (const std::string& folder : pipeline::SubmodulesIn(text)) {
    if (folder.size() > text.size()) tests::Fault("a folder longer than the file");
  }
}

void ReadVerdictsOf(const std::string& text) {
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{"/p/verdicts.json", text}});
  Expect(cli::ReadVerdicts("/p/verdicts.json", files));
}

// Of any text, whether or not it is C++.
void ReadCppText(const std::string& text) {
  for (const std::string_view name : cpp::ScanIncludes(text)) {
    if (name.data() < text.data() || name.data() + name.size() > text.data() + text.size()) tests::Fault("a name that is not in the text");
  }
  std::vector<uint32_t> declared;
  const auto mentions = [](std::string_view body) { return body.find("MPI") != std::string_view::npos; };
  for (const cpp::NamedFunction& function : cpp::ScanFunctions(text, mentions, &declared)) {
    if (!std::ranges::is_sorted(function.uses)) tests::Fault("uses out of order");
  }
  if (!std::ranges::is_sorted(declared)) tests::Fault("declarations out of order");
  if (cpp::WithPlainLaunches(text).size() != text.size()) tests::Fault("a text of another length");
  if (cpp::NestingOf(text) > text.size()) tests::Fault("more statements than characters");
}

void ReadPatterns(const std::string& text) {
  const pipeline::IgnoreFile patterns(text);
  for (const char* path : {"a", "a/b.py", ".git/x", "a/a/a/a/a/a/a/aaaaaaaaaaaaaaaa"}) {
    patterns.Ignores(path, false);
    patterns.IgnoresFileOrFolder(path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::array kReaders = {ReadSettings,   ReadKnowledge,  ReadBaseline,   ReadCommands, ReadPatterns,
                                  ReadAttributes, ReadSubmodules, ReadVerdictsOf, ReadCppText};
  if (size == 0) return 0;
  // The first byte says which of them.
  kReaders[data[0] % kReaders.size()](std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
