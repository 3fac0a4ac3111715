#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "analyzer/platform/platform.h"

namespace allranks::platform {
namespace {

constexpr char kOwner[] = "GNU";

// A note is its header, the owner's name and the text, each padded to four bytes.
size_t Padded(size_t size) { return (size + 3) & ~size_t{3}; }

std::string BuildIdIn(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof(header));
    const size_t whole = sizeof(header) + Padded(header.n_namesz) + Padded(header.n_descsz);
    if (whole > size) return "";
    const char* owner = notes + sizeof(header);
    const bool is_build_id = header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof(kOwner) &&
                             std::memcmp(owner, kOwner, sizeof(kOwner)) == 0;
    if (is_build_id) return std::string(owner + Padded(header.n_namesz), header.n_descsz);
    notes += whole;
    size -= whole;
  }
  return "";
}

// Called for the program itself first.
int Visit(dl_phdr_info* info, size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    std::string id = BuildIdIn(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
    if (id.empty()) continue;
    *static_cast<std::string*>(found) = std::move(id);
    break;
  }
  return 1;
}

}  // namespace

std::string ProgramPath() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<size_t>(length) : 0};
}

std::string BuildId() {
  std::string found;
  dl_iterate_phdr(Visit, &found);
  return found;
}

uint64_t PeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  // Counted in units of 1024 bytes.
  return uint64_t{1024} * static_cast<uint64_t>(usage.ru_maxrss);
}

uint64_t MemoryNow() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const bool is_read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
  std::fclose(file);
  return is_read ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

int OpenFolder(int at, const std::string& name, Links links) {
  return openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | (links == Links::Refuse ? O_NOFOLLOW : 0));
}

int OpenUnnamed(int folder, mode_t mode) { return openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode); }

bool GiveName(int descriptor, int folder, const std::string& name) {
  const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor);
  return linkat(AT_FDCWD, open_file.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool OpenPipe(int (&ends)[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

bool OpenStream(int (&ends)[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0; }

ssize_t Send(int end, const void* data, size_t size) { return send(end, data, size, MSG_NOSIGNAL); }

}  // namespace allranks::platform
