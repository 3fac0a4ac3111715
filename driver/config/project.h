// Where a project begins: imports start there, and its configuration stands there.
#pragma once

#include <string>
#include <vector>

#include "analyzer/source/file_system.h"

namespace allranks::config {

// The folder that holds the project of `paths`, absolute. In this order: the nearest folder around all of them with
// a .git; the working directory, if it has a pyproject.toml, setup.py or setup.cfg; the nearest folder with one; the
// working directory, if the paths lie in it; the folder around the paths.
std::string FindRoot(const std::vector<std::string>& paths, const std::string& working_directory,
                     const source::FileSystem& files);

// Where the paths of reports start: the nearest folder around `folder`, or itself, with a .git; none: the working
// directory, if `folder` lies in it, else `folder`.
std::string FindRepository(const std::string& folder, const std::string& working_directory,
                           const source::FileSystem& files);

// The folder around all of the paths, absolute.
std::string FolderAround(const std::vector<std::string>& paths, const std::string& working_directory,
                         const source::FileSystem& files);

// A configuration file of the folder itself, empty if there is none: .allranks.toml, allranks.toml, or pyproject.toml with a
// table [tool.allranks].
std::string ConfigIn(const std::string& folder, const source::FileSystem& files);

// The configuration file nearest to the paths, from the folder around them up to the root; empty: there is none.
std::string FindConfig(const std::vector<std::string>& paths, const std::string& root,
                       const std::string& working_directory, const source::FileSystem& files);

}  // namespace allranks::config
