#include "driver/pipeline/copies.h"

#include <algorithm>
#include <array>

#include "analyzer/base/lowered.h"
#include "driver/pipeline/copyright.h"
#include "frontends/cpp/includes.h"

namespace allranks::pipeline {
namespace {

using source::DirectoryEntry;
using source::EntryKind;

// Folders of other people's code by convention; GitHub's linguist leaves the same ones out of its counts
// (https://github.com/github-linguist/linguist/blob/main/lib/linguist/vendor.yml).
constexpr std::array<std::string_view, 10> kVendored = {"3rd_party", "3rdparty", "_vendor", "third-party", "third_parties",
                                                        "third_party", "thirdparty", "vendor", "vendored", "vendors"};
// These are also names of packages that a project writes itself.
constexpr std::array<std::string_view, 5> kVendoredUnlessPackage = {"deps", "extern", "external", "externals", "submodules"};

// Frameworks that projects carry whole copies of, by the name of the package.
constexpr std::array<std::string_view, 28> kFrameworks = {
    "accelerate", "apex", "clip", "colossalai", "deepspeed", "detectron2", "detrex", "diffusers", "dinov2", "fairseq",
    "lightning", "megatron", "mmcv", "mmdet", "mmengine", "mmf", "nemo", "open_clip", "peft", "pytorch_lightning",
    "sam2", "timm", "torchtune", "transformers", "trl", "verl", "vllm", "xformers"};

// Where a project in several languages keeps its own package.
constexpr std::array<std::string_view, 5> kOwnPackage = {"lib", "py", "python", "python-package", "src"};

constexpr std::string_view kInit = "__init__.py";

template <size_t N>
bool IsAmong(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool HasEntry(const std::vector<DirectoryEntry>& entries, std::string_view name) {
  return std::ranges::any_of(entries, [&](const DirectoryEntry& entry) { return entry.name == name; });
}

bool IsCode(const DirectoryEntry& entry) {
  return entry.kind == EntryKind::File && (entry.name.ends_with(".py") || cpp::IsSourceName(entry.name) || cpp::IsHeaderName(entry.name));
}

bool ShareHolder(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& word) { return b.contains(word); });
}

}  // namespace

bool IsPackagingFile(std::string_view name) {
  return name == "pyproject.toml" || name == "setup.py" || name == "setup.cfg";
}

bool Copies::IsCopy(const std::string& folder, const std::vector<DirectoryEntry>& entries) {
  if (folder.empty() || folder.starts_with('/')) return false;
  const std::string_view name = NameOf(folder);
  if (IsAmong(kVendored, name) || (IsAmong(kVendoredUnlessPackage, name) && !HasEntry(entries, kInit))) return true;
  const bool is_packaged = std::ranges::any_of(entries, [](const DirectoryEntry& e) { return IsPackagingFile(e.name); });
  return (is_packaged && IsCheckoutOfFramework(folder)) || HasOtherLicence(folder, entries) || IsPackageOfFramework(folder, entries);
}

// Of a folder with a packaging file.
bool Copies::IsCheckoutOfFramework(const std::string& folder) const {
  if (IsAmong(kOwnPackage, NameOf(folder))) return false;
  return std::ranges::any_of(kFrameworks, [&](std::string_view name) {
    return std::ranges::any_of(std::array<std::string_view, 2>{"", "src"}, [&](std::string_view home) {
      return files_.Kind(paths_.Shown(Join(Join(folder, home), Join(name, kInit)))).has_value();
    });
  });
}

// Whether the licence of a folder names other holders than that of the project. Where no code lies beside it in the root, the project is
// made of such folders: programs of others that it has changed.
bool Copies::HasOtherLicence(const std::string& folder, const std::vector<DirectoryEntry>& entries) {
  const bool is_part = folder.find('/') == std::string::npos && !project().has_code;
  const std::set<std::string> own = is_part ? std::set<std::string>() : HoldersOfLicence(folder, entries);
  return !own.empty() && !project().of_licence.empty() && !ShareHolder(own, project().of_licence);
}

// Whether a folder is the package of a framework and not the project itself, or a fork of it, by whom its files name.
bool Copies::IsPackageOfFramework(const std::string& folder, const std::vector<DirectoryEntry>& entries) {
  const std::string_view name = NameOf(folder);
  if (!IsAmong(kFrameworks, name) || !HasEntry(entries, kInit) || IsPackagedByProject(name)) return false;
  bool names_root = false;
  const std::set<std::string> holders = HoldersOfPackage(folder, entries, &names_root);
  // Nobody writes several of these in one project.
  if (holders.empty()) return project().frameworks > 1 && folder.find('/') == std::string::npos;
  if (!project().holders.empty()) return !ShareHolder(holders, project().holders);
  // Their licence lies in the root of their source tree, which is another one than this.
  return names_root && !project().has_licence && project().parts > 1;
}

// `name="megatron_core"` is said of the package `megatron`.
bool Copies::IsPackagedByProject(std::string_view package) {
  return std::ranges::any_of(project().packaging, [&](const std::string& text) {
    return std::ranges::any_of(std::array<std::string_view, 3>{"name=", "name=\"", "name='"}, [&](std::string_view key) {
      return text.find(std::string(key) + std::string(package)) != std::string::npos;
    });
  });
}

const Copies::Project& Copies::project() {
  if (project_) return *project_;
  // Not `emplace()`: within Copies, Clang does not take Project for a class that can be made of nothing.
  project_ = Project();
  const base::Result<std::vector<DirectoryEntry>> entries = files_.List(paths_.Shown(""));
  if (!entries) return *project_;
  project_->of_licence = HoldersOfLicence("", *entries);
  bool names_root = false;
  project_->holders = HoldersOfCode("", *entries, &names_root);
  project_->holders.insert(project_->of_licence.begin(), project_->of_licence.end());
  for (const DirectoryEntry& entry : *entries) {
    project_->has_licence |= entry.kind == EntryKind::File && IsLicenceName(entry.name);
    project_->has_code |= IsCode(entry) || (entry.kind == EntryKind::File && IsPackagingFile(entry.name));
    const bool is_framework = entry.kind == EntryKind::Directory && IsAmong(kFrameworks, entry.name) && files_.Kind(paths_.Shown(Join(entry.name, kInit)));
    project_->frameworks += is_framework ? 1 : 0;
    project_->parts += IsCode(entry) || (entry.kind == EntryKind::Directory && !entry.name.starts_with('.')) ? 1 : 0;
    if (entry.kind != EntryKind::File || !IsPackagingFile(entry.name)) continue;
    std::string text = base::Lowered(TextOf("", entry));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
    project_->packaging.push_back(std::move(text));
  }
  return *project_;
}

std::set<std::string> Copies::HoldersOfLicence(const std::string& folder, const std::vector<DirectoryEntry>& entries) const {
  std::set<std::string> holders;
  for (const DirectoryEntry& entry : entries) {
    if (entry.kind == EntryKind::File && IsLicenceName(entry.name)) holders.merge(CopyrightHolders(TextOf(folder, entry)));
  }
  return holders;
}

// Where the files of a package say nothing, those of the folders in it do.
std::set<std::string> Copies::HoldersOfPackage(const std::string& folder, const std::vector<DirectoryEntry>& entries, bool* names_root) const {
  std::set<std::string> holders = HoldersOfCode(folder, entries, names_root);
  for (const DirectoryEntry& entry : entries) {
    if (!holders.empty()) break;
    if (entry.kind != EntryKind::Directory) continue;
    const std::string inner = Join(folder, entry.name);
    const base::Result<std::vector<DirectoryEntry>> below = files_.List(paths_.Shown(inner));
    if (below) holders = HoldersOfCode(inner, *below, names_root);
  }
  return holders;
}

// By the first lines of the files of a folder. `names_root`: they point to a licence "in the root directory of this source tree".
std::set<std::string> Copies::HoldersOfCode(const std::string& folder, const std::vector<DirectoryEntry>& entries, bool* names_root) const {
  constexpr size_t kMostFiles = 16;
  constexpr size_t kHeadOfFile = 2 << 10;
  std::set<std::string> holders;
  size_t seen = 0;
  for (const DirectoryEntry& entry : entries) {
    if (!IsCode(entry) || ++seen > kMostFiles) continue;
    const std::string head = TextOf(folder, entry).substr(0, kHeadOfFile);
    holders.merge(CopyrightHolders(head));
    *names_root |= head.find("root directory of this source tree") != std::string::npos;
  }
  return holders;
}

std::string Copies::TextOf(const std::string& folder, const DirectoryEntry& entry) const {
  base::Result<std::string> text = files_.Read(paths_.Shown(Join(folder, entry.name)));
  return text ? std::move(*text) : std::string();
}

}  // namespace allranks::pipeline
