// Which PyTorch a project may be run with, as far as the files say that tell what to install: requirements, environments of conda,
// packaging, Dockerfiles, READMEs, and Makefiles and scripts of the shell. Of several statements in one folder the newest release counts, and a statement without
// an upper bound allows all. A release of another package that is pinned may allow less (knowledge/launch/torch_bounds.toml).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/base/folder.h"
#include "analyzer/launch/launcher_table.h"
#include "analyzer/launch/version.h"

namespace allranks::launch {

// Whether a file of this name may make its folder a package.
bool IsPackagingName(std::string_view name);
// Whether a file may tell what to install. `path` is relative to the root: an environment of conda that its name does not tell stands there.
bool TellsRequirements(std::string_view path);
// Whether it is a Makefile or a script of the shell, which may install, among all else that it does.
bool MayInstall(std::string_view path);

class TorchPins {
 public:
  // Reads what a file says of PyTorch, and of packages that bound it. `path` is relative to the root. A file of YAML that is no environment
  // of conda says nothing.
  void Note(std::string_view path, std::string_view text, std::span<const TorchBound> bounds);
  // The newest release that is allowed, by PyTorch and each package, in the nearest folder that says anything of it; nothing: any.
  std::optional<Version> NewestFor(std::string_view path) const;
  // The newest release that a file names as the one the project is run with, whatever others allow (`PyTorch 1.11.0` beside `torch>=1.7`).
  std::optional<Version> NamedFor(std::string_view path) const { return Nearest(named_, path); }
  // Whether it is run with a release before this one, by either.
  bool AreOlderThan(std::string_view path, Version version) const;
  // The newest release of DeepSpeed that is pinned for it; nothing: any.
  std::optional<Release> DeepSpeedFor(std::string_view path) const { return Nearest(deepspeed_, path); }

 private:
  template <class Newest>
  using NewestByFolder = std::map<std::string, Newest, std::less<>>;
  using ByFolder = NewestByFolder<Version>;

  template <class Newest>
  static void Add(std::string_view path, Newest newest, NewestByFolder<Newest>& by_folder);
  template <class Newest>
  static std::optional<Newest> Nearest(const NewestByFolder<Newest>& newest, std::string_view path);

  std::map<std::string, ByFolder> newest_;  // by package, PyTorch itself included
  ByFolder named_;
  NewestByFolder<Release> deepspeed_;
};

template <class Newest>
std::optional<Newest> TorchPins::Nearest(const NewestByFolder<Newest>& newest, std::string_view path) {
  std::string_view folder = path;
  do {
    folder = base::FolderOf(folder);
    if (const auto known = newest.find(folder); known != newest.end()) return known->second;
  } while (!folder.empty());
  return std::nullopt;
}

}  // namespace allranks::launch
