#include "frontends/cpp/cuda_headers.h"

#include <cstdlib>

#include "frontends/cpp/compile_commands.h"

namespace allranks::cpp {
namespace {

// A folder with this file is a toolkit's: no library that brings declarations of its own has it.
constexpr std::string_view kMark = "/crt/host_config.h";

constexpr const char* kVariables[] = {"CUDA_HOME", "CUDA_PATH"};

bool IsToolkit(const std::string& folder, const source::FileSystem& files) {
  const auto kind = files.Kind(folder + std::string(kMark));
  return kind && *kind == source::EntryKind::File;
}

}  // namespace

std::string InstalledCudaHeaders(const source::FileSystem& files) {
  std::vector<std::string> folders;
  for (const char* variable : kVariables) {
    if (const char* home = std::getenv(variable)) folders.push_back(std::string(home) + "/include");
  }
  if (folders.empty()) folders = {"/usr/local/cuda/include", "/usr/include"};
  for (const std::string& folder : folders) {
    if (IsToolkit(folder, files)) return folder;
  }
  return {};
}

std::string CudaSettings() {
  std::string settings;
  for (const char* variable : kVariables) {
    const char* home = std::getenv(variable);
    settings += (home == nullptr ? "-" : "=" + std::string(home)) + '\0';
  }
  return settings;
}

std::string CudaHeadersOf(const std::string& directory, const std::vector<std::string>& args,
                          const std::string& installed, const source::FileSystem& files) {
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    if (args[i] != "-I" && args[i] != "-isystem" && args[i] != "-idirafter") continue;
    const std::string folder = AbsolutePath(directory, args[i + 1]);
    if (IsToolkit(folder, files)) return folder;
  }
  return installed;
}

}  // namespace allranks::cpp
