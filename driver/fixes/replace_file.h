#pragma once

#include <string>

#include "analyzer/base/result.h"

namespace allranks::fixes {

// What to say of a file that is not of the project.
std::string LiesOutside(const std::string& path);

// Puts `after` in the place of the file's bytes, at once: a reader sees the old file or the new one. Mode and owner
// stay, a symbolic link goes on pointing to the file. Refused, with nothing written, if the file no longer holds
// `before`, may not be written or is not below `root`: where a folder on the way is swapped for a link meanwhile, too.
[[nodiscard]] base::Result<bool> ReplaceFile(const std::string& root, const std::string& path, const std::string& before,
                                             const std::string& after);

}  // namespace allranks::fixes
