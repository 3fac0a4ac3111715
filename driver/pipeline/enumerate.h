// Which files there are: those whose findings are wanted, and those of the project that they may import.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {

struct PathError {
  std::string path;
  std::string message;
};

struct EnumerateOptions {
  std::vector<std::string> paths;    // as the user gives them
  std::vector<std::string> exclude;  // gitignore patterns, relative to the root
  std::vector<std::string> import_roots;  // of the user, as the working directory sees them
  bool respect_gitignore = true;
  bool force_exclude = false;        // `exclude` holds for files among `paths` as well
  std::vector<std::string> overlays; // files that exist only in memory
  // A root that nothing marks as a project may be a whole home directory: the walk ends after so many entries.
  size_t most_entries = 500000;
};

// Why files of the project were not checked.
enum class LeftOut : uint8_t {
  Ignored,       // named by a .gitignore, and not tracked
  Submodule,     // a checkout of another repository
  NotCheckedOut, // the empty folder of one
  Vendored,      // a copy of somebody else's code: `third_party/`, `vendor/`, a folder with a licence of others
  Built,         // what a build made: `build/lib/`, `dist/`
  Generated,     // a file that a program wrote, as it says itself or `linguist-generated` does
  Installed,     // packages that were installed: `.venv/`, `node_modules/`; not even read
};
struct LeftOutPath {
  std::string path;   // of a file, or of a folder with all that is in it; relative to the root
  bool is_folder = false;
  LeftOut why{};
};

// Of launch files and what tells with what a project is run.
struct LaunchFiles {
  std::vector<std::string> all;      // relative to the root, sorted
  std::vector<bool> requested;       // by index in `all`
  std::vector<std::string> requirements;  // that may tell what to install
};

struct ProjectFiles {
  std::vector<std::string> all;         // Python, C, C++ and CUDA, headers too; relative to the root, sorted
  std::vector<bool> requested;          // by index in `all`
  std::vector<bool> named;              // by index: the user gave this very file
  std::vector<bool> is_own;             // by index: judged whatever its text says of a generator
  LaunchFiles launch;
  std::vector<std::string> import_roots;  // folders from which imports start besides the importing file's own
  std::vector<LeftOutPath> left_out;    // of what was asked for, sorted
  bool knows_tracked = false;           // there is a checkout of git, and its index was read
  std::string index_problem;            // why it is not known what git tracks; empty: it is, or there is no checkout
  size_t excluded = 0;                  // files among the paths that `force_exclude` left out
  std::vector<PathError> errors;        // requested paths that are not there or cannot be listed

  // Whether findings in a file are wanted, once it is known what its text says (SaysGenerated).
  bool IsJudged(size_t index, bool says_generated) const;
};

// Whether a file's name says that it holds Python, a notebook, C, C++ or CUDA.
bool IsCodeName(std::string_view name);
// Whether it says Python or a notebook.
bool IsPythonName(std::string_view name);

ProjectFiles Enumerate(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files);

// The folders of the files whose findings are wanted, and those around them up to the root, which is not among them.
// Relative to the root, sorted.
std::vector<std::string> RequestedFolders(const EnumerateOptions& options, const PathMap& paths, const source::FileSystem& files);

}  // namespace allranks::pipeline
