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

// A file in `folder` that has no name yet: what ends the process ends it too. Below 0: there is no such thing here.
int OpenUnnamed(const std::string& folder, mode_t mode);
// Gives it one that no file has. False: errno says why.
bool GiveName(int descriptor, const std::string& path);

// Both close when another program is executed. False: errno says why.
bool OpenPipe(int (&ends)[2]);
// Two connected ends; sending to one that is closed on the other side raises no signal.
bool OpenStream(int (&ends)[2]);
// As `write` to an end of such a stream.
ssize_t Send(int end, const void* data, size_t size);

}  // namespace allranks::platform
