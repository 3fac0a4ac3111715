// What imports of Python find nowhere: neither a file nor a folder, also none that git leaves alone or that a compiler made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/pipeline/launch_scan.h"

namespace allranks::pipeline {

class MissingModules {
 public:
  MissingModules(const LaunchInput& input, const ProjectFiles& project) : in_(input), project_(project) {}

  // Whether nothing lies where `from ..data.sets import x` (level 2, "data.sets") in a file looks, and nothing that builds the project
  // speaks of it. `import data` (level 0) looks in the folder of the file, those around it, and where imports of the project start; more
  // than one part is found in no such way.
  bool Lacks(std::string_view path, uint32_t level, std::string_view dotted) const;
  // Whether `name.py`, or a package of that name with an `__init__.py`, lies where a relative import in a file looks.
  bool HoldsModule(std::string_view path, uint32_t level, std::string_view name) const;
  bool AnySetsPythonPath() const;
  // Whether a file of requirements names a package.
  bool AreRequired(std::string_view package) const;
  // Whether what lies on the disk was of any importance.
  bool WereAsked() const { return were_asked_; }

 private:
  bool MayHold(const std::string& folder, std::string_view part) const;
  bool MayBeBuilt(std::string_view part) const;
  bool IsBuilt(std::string_view part) const;
  bool LacksBelow(std::string folder, std::string_view dotted) const;
  bool IsFolder(const std::string& path) const;
  bool IsFile(const std::string& path) const;
  static std::optional<std::string> FolderAt(std::string_view path, uint32_t level);
  bool Names(const std::string& path, std::string_view word) const;

  const LaunchInput& in_;
  const ProjectFiles& project_;
  mutable bool were_asked_ = false;
  mutable std::map<std::string, bool, std::less<>> built_;  // by part
  mutable std::optional<bool> sets_path_;  // what was found, once it was looked for
};

}  // namespace allranks::pipeline
