#include <fcntl.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <mach/mach.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "analyzer/platform/platform.h"

namespace allranks::platform {
namespace {

// Another thread that starts a program in between would hand these on; that one closes them by ending.
bool CloseOnExec(const int (&ends)[2]) {
  return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace

std::string ProgramPath() {
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  // Without links: the helper stands beside the program itself.
  char* const whole = realpath(path.c_str(), nullptr);
  std::string resolved = whole != nullptr ? whole : "";
  std::free(whole);
  return resolved;
}

std::string BuildId() {
  // The first image is the program.
  const mach_header* const image = _dyld_get_image_header(0);
  if (image == nullptr || image->magic != MH_MAGIC_64) return {};
  const char* at = reinterpret_cast<const char*>(image) + sizeof(mach_header_64);
  for (uint32_t i = 0; i < image->ncmds; ++i) {
    load_command command;
    std::memcpy(&command, at, sizeof(command));
    if (command.cmd == LC_UUID) {
      uuid_command identity;
      std::memcpy(&identity, at, sizeof(identity));
      return {reinterpret_cast<const char*>(identity.uuid), sizeof(identity.uuid)};
    }
    at += command.cmdsize;
  }
  return {};
}

uint64_t PeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  // Counted in bytes.
  return static_cast<uint64_t>(usage.ru_maxrss);
}

uint64_t MemoryNow() {
  mach_task_basic_info info = {};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  const auto at = reinterpret_cast<task_info_t>(&info);
  return task_info(mach_task_self(), MACH_TASK_BASIC_INFO, at, &count) == KERN_SUCCESS ? info.resident_size : 0;
}

int OpenFolder(int at, const std::string& name, Links links) {
  return openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (links == Links::Refuse ? O_NOFOLLOW : 0));
}

int OpenUnnamed(int, mode_t) { return -1; }

bool GiveName(int, int, const std::string&) {
  errno = ENOTSUP;
  return false;
}

bool OpenPipe(int (&ends)[2]) { return pipe(ends) == 0 && CloseOnExec(ends); }

bool OpenStream(int (&ends)[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  const int on = 1;
  for (const int end : ends) {
    if (setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)) != 0) return false;
  }
  return CloseOnExec(ends);
}

ssize_t Send(int end, const void* data, size_t size) { return send(end, data, size, 0); }

}  // namespace allranks::platform
