// Folders with other people's code inside of a project: `third_party/`, a checkout of a framework, a package of one that was
// copied without its packaging file, a folder with a licence of its own.
//
// Not complete, and meant to err towards the project's own code: a copy without a licence, a copyright line or a telling name
// is judged like all else.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/file_system.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {

bool IsPackagingFile(std::string_view name);

class Copies {
 public:
  Copies(const PathMap& paths, const source::FileSystem& files) : paths_(paths), files_(files) {}

  // `entries`: of the folder, which is relative to the root.
  bool IsCopy(const std::string& folder, const std::vector<source::DirectoryEntry>& entries);

 private:
  // Who holds the rights in the project, and what else tells whether a package in it is its own.
  struct Project {
    std::set<std::string> of_licence;
    std::set<std::string> holders;  // of the licence, and of the files beside it
    bool has_licence = false;
    bool has_code = false;          // in its root
    std::vector<std::string> packaging;  // texts, in lower case and without spaces
    size_t parts = 0;                    // folders and files of code
    size_t frameworks = 0;               // packages with the names of such
  };

  const Project& project();
  bool IsCheckoutOfFramework(const std::string& folder) const;
  bool HasOtherLicence(const std::string& folder, const std::vector<source::DirectoryEntry>& entries);
  bool IsPackageOfFramework(const std::string& folder, const std::vector<source::DirectoryEntry>& entries);
  bool IsPackagedByProject(std::string_view package);
  std::set<std::string> HoldersOfLicence(const std::string& folder, const std::vector<source::DirectoryEntry>& entries) const;
  std::set<std::string> HoldersOfPackage(const std::string& folder, const std::vector<source::DirectoryEntry>& entries, bool* names_root) const;
  std::set<std::string> HoldersOfCode(const std::string& folder, const std::vector<source::DirectoryEntry>& entries, bool* names_root) const;
  std::string TextOf(const std::string& folder, const source::DirectoryEntry& entry) const;

  const PathMap& paths_;
  const source::FileSystem& files_;
  std::optional<Project> project_;  // once somebody asks
};

}  // namespace allranks::pipeline
