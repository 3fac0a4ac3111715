// What a folder holds in which runs keep things (driver/pipeline/cache_folder.h), and nothing else of the project does.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "analyzer/source/file_system.h"

namespace allranks::config {

// In the root of a project, unless it or the user names another.
constexpr std::string_view kCacheFolder = ".allranks_cache";
constexpr std::string_view kCacheIgnore = ".gitignore", kCacheTag = "CACHEDIR.TAG";
// A folder for each kind of entry.
constexpr std::array<std::string_view, 3> kCacheKinds = {"ir", "runs", "units"};

// The first name in the folder that is none of these; empty: it is not there, or all of them are.
std::string OtherThanCache(const std::string& folder, const source::FileSystem& files);

}  // namespace allranks::config
