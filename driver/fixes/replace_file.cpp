#include "driver/fixes/replace_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "analyzer/files/write_file.h"

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
  if (const int error = files::ReplaceWhole(target, after, files::Sync::Yes)) return base::Fail(path + ": not fixed: " + ErrorText(error));
  return true;
}

}  // namespace allranks::fixes
