// What git tracks: the paths in the index file of a checkout, read as gitformat-index(5) describes it (versions 2 to 4, of
// SHA-1 and SHA-256 repositories). git ignores nothing that it tracks, whatever a pattern says.
//
// A split index keeps most paths in a second file and is not read, nor is one whose names are longer than those of any
// checkout; then the ignore files alone decide, and the summary says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/source/file_system.h"

namespace allranks::pipeline {

struct GitIndex {
  std::vector<std::string> files;       // in byte order
  std::vector<std::string> submodules;  // checkouts of other repositories, in byte order
  bool is_of_checkout = false;          // else there is none, and nothing is tracked

  bool Tracks(std::string_view path) const;
  bool TracksBelow(std::string_view directory) const;
  bool IsSubmodule(std::string_view directory) const;
};

base::Result<GitIndex> ReadGitIndex(std::string_view bytes);

// The index of the checkout that a folder lies in, with paths relative to that folder: those outside of it are left away.
// Without a checkout it is empty; an error says why one could not be read.
base::Result<GitIndex> FindGitIndex(const std::string& folder, const source::FileSystem& files);

}  // namespace allranks::pipeline
