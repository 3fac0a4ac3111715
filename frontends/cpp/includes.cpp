#include "frontends/cpp/includes.h"

#include <algorithm>

namespace allranks::cpp {
namespace {

constexpr std::string_view kSourceEndings[] = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu"};
constexpr std::string_view kHeaderEndings[] = {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl"};

// ISO C23 7.1.2, and POSIX.1-2024. Sorted.
constexpr std::string_view kStandardHeaders[] = {
    "aio.h",       "assert.h",    "complex.h",   "cpio.h",        "ctype.h",    "devctl.h",  "dirent.h",    "dlfcn.h",
    "endian.h",    "errno.h",     "fcntl.h",     "fenv.h",        "float.h",    "fmtmsg.h",  "fnmatch.h",   "ftw.h",
    "glob.h",      "grp.h",       "iconv.h",     "inttypes.h",    "iso646.h",   "langinfo.h", "libgen.h",   "libintl.h",
    "limits.h",    "locale.h",    "math.h",      "monetary.h",    "mqueue.h",   "ndbm.h",    "netdb.h",     "nl_types.h",
    "poll.h",      "pthread.h",   "pwd.h",       "regex.h",       "sched.h",    "search.h",  "semaphore.h", "setjmp.h",
    "signal.h",    "spawn.h",     "stdalign.h",  "stdarg.h",      "stdatomic.h", "stdbit.h", "stdbool.h",   "stdckdint.h",
    "stddef.h",    "stdint.h",    "stdio.h",     "stdlib.h",      "stdnoreturn.h", "string.h", "strings.h", "sys/ipc.h",
    "sys/mman.h",  "sys/msg.h",   "sys/resource.h", "sys/select.h", "sys/sem.h", "sys/shm.h", "sys/socket.h", "sys/stat.h",
    "sys/statvfs.h", "sys/time.h", "sys/times.h", "sys/types.h",  "sys/uio.h",  "sys/un.h",  "sys/utsname.h", "sys/wait.h",
    "syslog.h",    "tar.h",       "termios.h",   "tgmath.h",      "threads.h",  "time.h",    "uchar.h",     "unistd.h",
    "utmpx.h",     "wchar.h",     "wctype.h",    "wordexp.h",
};
static_assert(std::ranges::is_sorted(kStandardHeaders));

std::string_view SkipBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return text.substr(std::min(first, text.size()));
}

}  // namespace

bool IsSourceName(std::string_view path) {
  return std::ranges::any_of(kSourceEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

bool IsHeaderName(std::string_view path) {
  return std::ranges::any_of(kHeaderEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

bool IsStandardHeader(std::string_view path) { return std::ranges::binary_search(kStandardHeaders, path); }

std::vector<std::string_view> ScanIncludes(std::string_view text) {
  std::vector<std::string_view> includes;
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::string_view rest = SkipBlanks(text.substr(at + 1));
    constexpr std::string_view kInclude = "include";
    if (!rest.starts_with(kInclude)) continue;
    rest = SkipBlanks(rest.substr(kInclude.size()));
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) continue;
    const size_t end = rest.find(rest[0] == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos || rest.substr(0, end).find('\n') != std::string_view::npos) continue;
    includes.push_back(rest.substr(1, end - 1));
  }
  return includes;
}

}  // namespace allranks::cpp
