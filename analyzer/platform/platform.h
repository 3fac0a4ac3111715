// What each operating system has to be asked in its own way. One source a system: linux.cpp, darwin.cpp. All other code is
// plain POSIX, and no other source of `check` and `server` includes a header that only one system has.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace allranks::platform {

// The running program, absolute; empty: not known.
std::string ProgramPath();

// The bytes by which the linker tells this very program from any other build of it (GNU's build id, Apple's UUID); empty
// if it was linked without.
std::string BuildId();

// The most memory the process has held, in bytes.
uint64_t PeakMemory();

// What of the process is in memory now, in bytes; 0: not known.
uint64_t MemoryNow();

// A folder, to reach what is in it, though its names may not be asked for. `at` is another such folder or AT_FDCWD. Below 0:
// errno says why.
enum class Links : uint8_t { Follow, Refuse };
int OpenFolder(int at, const std::string& name, Links links);
// A file in such a folder that has no name yet: what ends the process ends it too. Below 0: there is no such thing here.
int OpenUnnamed(int folder, mode_t mode);
// Gives it one that no file has. False: errno says why.
bool GiveName(int descriptor, int folder, const std::string& name);

// Both close when another program is executed. False: errno says why.
bool OpenPipe(int (&ends)[2]);
// Two connected ends; sending to one that is closed on the other side raises no signal.
bool OpenStream(int (&ends)[2]);
// As `write` to an end of such a stream.
ssize_t Send(int end, const void* data, size_t size);

}  // namespace allranks::platform
