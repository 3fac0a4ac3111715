#pragma once

#include <string>

#include "analyzer/base/result.h"

namespace allranks::fixes {

// Puts `after` in the place of the file's bytes, at once: a reader sees the old file or the new one. Mode and owner
// stay, a symbolic link goes on pointing to the file. Refused, with nothing written, if the file no longer holds
// `before` or may not be written.
[[nodiscard]] base::Result<bool> ReplaceFile(const std::string& path, const std::string& before,
                                             const std::string& after);

}  // namespace allranks::fixes
