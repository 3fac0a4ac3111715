#include "driver/fixes/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "analyzer/base/write_file.h"

namespace allranks::fixes {
namespace {

std::string ErrorText(int error) { return std::strerror(error); }

}  // namespace

base::Result<bool> ReplaceFile(const std::string& path, const std::string& before, const std::string& after) {
  std::vector<char> resolved(PATH_MAX);
  if (realpath(path.c_str(), resolved.data()) == nullptr) return base::Fail(path + ": not fixed: " + ErrorText(errno));
  const std::string target = resolved.data();
  struct stat status = {};
  if (stat(target.c_str(), &status) != 0) return base::Fail(path + ": not fixed: " + ErrorText(errno));
  constexpr mode_t kAnyWrite = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((status.st_mode & kAnyWrite) == 0 || access(target.c_str(), W_OK) != 0) {
    return base::Fail(path + ": not fixed: the file is read-only; make it writable and run again");
  }
  std::ifstream in(target, std::ios::binary);
  std::ostringstream now;
  now << in.rdbuf();
  if (!in || now.str() != before) {
    return base::Fail(path + ": not fixed: the file changed while it was checked; run again");
  }
  std::string temporary = target + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return base::Fail(path + ": not fixed: cannot write beside it: " + ErrorText(errno));
  int error = base::WriteAll(descriptor, after);
  if (error == 0 && fsync(descriptor) != 0) error = errno;
  if (error == 0 && fchmod(descriptor, status.st_mode & 07777) != 0) error = errno;
  // Only root may give files away; for all others the owner is the same one anyway.
  const bool is_other = status.st_uid != geteuid() || status.st_gid != getegid();
  if (error == 0 && is_other && fchown(descriptor, status.st_uid, status.st_gid) != 0 && geteuid() == 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return true;
  unlink(temporary.c_str());
  return base::Fail(path + ": not fixed: " + ErrorText(error));
}

}  // namespace allranks::fixes
