// Which files are worth parsing. Most files of a project mention no distributed API; of those only the ones that a file
// that does imports, itself or from a package that hands them on, and those through which it reaches another one that does,
// are parsed. In C, C++ and CUDA, where a header
// names more than its includers use, functions decide instead (cpp_reach.h).
//
// A source of C or C++ that the user names may call what it, or a header of it, declares, and a source out of its sight defines: where there
// is such a call, the sources of the project are scanned for it, and the few that define it are read.
//
// What a file means depends on who calls it. A script is parsed if it reaches one that mentions an API through any number of
// files, as are those between: how it is started says who runs them. Where the user names single files, the Python files that import these, through
// any number of files, are read as well, so that a file alone and the whole project agree; unless they are so many that the
// whole project would have to be read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/watch.h"
#include "analyzer/binding/program.h"
#include "analyzer/source/file_system.h"
#include "driver/pipeline/enumerate.h"
#include "driver/pipeline/include_graph.h"
#include "driver/pipeline/paths.h"
#include "driver/pipeline/prefilter.h"
#include "frontends/cpp/function_names.h"

namespace allranks::pipeline {

enum class ReadState : uint8_t { Unread, Read, Unreadable, Binary, TooLarge };

// Tells texts apart: 128 bits of their hash.
struct Content {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Content&, const Content&) = default;
};
Content ContentOf(std::string_view text);

class Memory;

struct ScannedFile {
  ReadState state = ReadState::Unread;
  bool mentions = false;           // names something of the knowledge base
  bool starts_commands = false;    // may start launchers: `subprocess.run(["torchrun", ...])`
  bool wraps = false;              // wraps a model for data-parallel training: its classes are of interest
  bool is_cpp = false;             // C, C++ or CUDA
  bool is_header = false;          // of these
  bool says_generated = false;     // that a program wrote it
  bool has_models = false;         // defines modules that may be wrapped
  bool is_script = false;          // Python that does something where it is started: `if __name__ == "__main__"`
  uint64_t bytes = 0;
  Content content;
  std::string text;                // kept only of files that will be parsed
  std::string problem;             // of a file that cannot be parsed
  std::vector<uint32_t> imports;   // files of the project, as indices of ProjectFiles::all
  std::vector<cpp::NamedFunction> functions;  // of C, C++ or CUDA
  std::vector<uint32_t> declared;  // hashes of names of functions without a body, sorted
  std::vector<std::string> include_folders;  // relative: where a compiler finds the headers among them
};

struct Selection {
  std::vector<ScannedFile> files;  // by index of ProjectFiles::all
  std::vector<uint32_t> parse;     // sorted; of headers those that come with no other file
  std::vector<uint32_t> faulty;    // requested files that cannot be parsed, sorted
  std::vector<bool> requested;     // by index of ProjectFiles::all: those without what a generator wrote
  std::vector<uint32_t> generated; // the latter, sorted
  size_t unread_importers = 0;     // of the files that the user named; 0: all of them are read
  uint64_t bytes_scanned = 0;
  uint32_t files_scanned = 0;
};

// Larger files are generated data: a parser's tree would need gigabytes.
constexpr uint64_t kLargestSource = 16u << 20;

// So many files are read because they import what the user named.
constexpr size_t kMostImporters = 200;

struct SelectionInput {
  const ProjectFiles& project;
  const PathMap& paths;
  const binding::ModuleGraph& graph;
  const IncludeGraph& includes;
  const Prefilter& prefilter;      // of Python files
  const Prefilter& cpp_prefilter;  // of C, C++ and CUDA files
  const source::FileSystem& files;
  const std::map<std::string, std::string>& overlays;  // by path relative to the root
  unsigned jobs = 0;
  const Memory* memory = nullptr;  // of the run before; none: everything is read
  const base::Watch* watch = nullptr;  // what is not read when it stops stays unread; none: everything is read
};

Selection SelectFiles(const SelectionInput& input);

}  // namespace allranks::pipeline
