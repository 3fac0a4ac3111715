#include "driver/pipeline/cache_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "analyzer/files/write_file.h"

namespace allranks::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigits = 32;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path KeyFile() {
  if (const std::string state = Variable("XDG_STATE_HOME"); state.starts_with('/')) return fs::path(state) / "allranks/cache-key";
  const std::string home = Variable("HOME");
  return home.starts_with('/') ? fs::path(home) / ".local/state/allranks/cache-key" : fs::path();
}

// A file of this user's that nobody else may read or write.
std::optional<std::string> ReadKey(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct stat about {};
  std::array<char, kDigits> digits{};
  const bool is_own = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() && (about.st_mode & 077) == 0;
  const bool is_whole = is_own && read(file, digits.data(), digits.size()) == static_cast<ssize_t>(digits.size());
  close(file);
  return is_whole ? std::optional(std::string(digits.data(), digits.size())) : std::nullopt;
}

// Two runs may make one at once: what is there in the end counts for both.
void MakeKey(const fs::path& path) {
  // The system's own source.
  std::random_device random;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return;
  // One that others may read would give its mode to what replaces it.
  fs::remove(path, error);
  const std::string digits = fmt::format("{:08x}{:08x}{:08x}{:08x}\n", random(), random(), random(), random());
  (void)files::ReplaceWhole(path.string(), digits, files::Sync::No, files::kSecretFile);
}

}  // namespace

std::string CacheKey() {
  if (std::string given = Variable("ALLRANKS_CACHE_KEY"); !given.empty()) return given;
  const fs::path path = KeyFile();
  if (path.empty()) return {};
  if (const std::optional<std::string> key = ReadKey(path)) return *key;
  MakeKey(path);
  return ReadKey(path).value_or("");
}

}  // namespace allranks::pipeline
