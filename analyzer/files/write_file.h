// Files written for others to read. Errors are numbers of errno; 0: it is done.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "analyzer/files/folder.h"

namespace allranks::files {

[[nodiscard]] int WriteAll(int descriptor, std::string_view text);

// Whether the bytes must be on the disk before the name leads to them.
enum class Sync { No, Yes };

// Who may use a new file, less what the umask takes.
constexpr mode_t kNewFile = 0666;
constexpr mode_t kSecretFile = 0600;

// Puts a file with this text at `path`, at once: whoever reads the path sees what was there or the new file. Several
// processes may do so at once. A file that was there gives its mode and owner; a link is replaced, never followed, and
// so is one that was laid where the text is written first.
[[nodiscard]] int ReplaceWhole(const std::string& path, std::string_view text, Sync sync = Sync::No, mode_t new_mode = kNewFile);
// The same in an open folder.
[[nodiscard]] int ReplaceIn(const Folder& folder, const std::string& name, std::string_view text, Sync sync = Sync::No,
                            mode_t new_mode = kNewFile);

// For a path that the user names: as above where a file is or none; a device or a pipe that is there stays and is written to. A pipe
// that nobody opens to read within two seconds is an error (ENXIO). A link stays: the file that it leads to is put in the place of the
// one there, at once. A path in the folder `inside` that leads out of it, by whatever link, is an error (EXDEV); empty: there is none.
[[nodiscard]] int WriteTo(const std::string& path, std::string_view text, const std::string& inside = {});

}  // namespace allranks::files
