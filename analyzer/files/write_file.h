// Files written for others to read. Errors are numbers of errno; 0: it is done.
#pragma once

#include <string>
#include <string_view>

namespace allranks::files {

[[nodiscard]] int WriteAll(int descriptor, std::string_view text);

// Whether the bytes must be on the disk before the name leads to them.
enum class Sync { No, Yes };

// Puts a file with this text at `path`, at once: whoever reads the path sees what was there or the new file. Several
// processes may do so at once. A file that was there gives its mode and owner; a link is replaced, never followed, and
// so is one that was laid where the text is written first.
[[nodiscard]] int ReplaceWhole(const std::string& path, std::string_view text, Sync sync = Sync::No);

// For a path that the user names: as above where a file is or none; what else is there (a device, a pipe, a link) stays and
// is written to.
[[nodiscard]] int WriteTo(const std::string& path, std::string_view text);

}  // namespace allranks::files
