#include "driver/pipeline/unread_files.h"

#include <algorithm>
#include <array>

#include "analyzer/launch/torch_pins.h"
#include "frontends/launch/yaml.h"
#include "frontends/python/text_scanner.h"

namespace allranks::pipeline {
namespace {

// What an import calls it: a package has the name of its folder.
std::string_view ImportedName(std::string_view path) {
  std::string_view name = NameOf(path);
  name = name.substr(0, name.rfind('.'));
  return name == "__init__" ? NameOf(DirectoryOf(path)) : name;
}

// Those of tools, which many projects have that nobody installs, do not count.
bool DescribesPackage(std::string_view path, std::string_view text) {
  constexpr std::array<std::string_view, 5> kTables = {"[metadata]", "[project]", "[build-system]", "[tool.poetry]", "[tool.flit"};
  if (NameOf(path) == "setup.py") return true;
  return std::ranges::any_of(kTables, [&](std::string_view table) { return text.find(table) != std::string_view::npos; });
}

}  // namespace

UnreadFiles::UnreadFiles(const LaunchInput& input, const LaunchFiles& launch_files, const Selection& selection) : in_(input) {
  for (uint32_t i = 0; i < input.code.size(); ++i) {
    if (IsPythonName(input.code[i]) && !std::ranges::binary_search(selection.parse, i)) unread_.push_back(input.code[i]);
  }
  // JSON holds data, and much of it.
  std::ranges::copy_if(launch_files.all, std::back_inserter(unread_), [](const std::string& path) { return !path.ends_with(".json"); });
  std::ranges::copy_if(launch_files.requirements, std::back_inserter(packaging_),
                       [](const std::string& path) { return launch::IsPackagingName(NameOf(path)); });
  std::ranges::copy_if(launch_files.all, std::back_inserter(settings_), [](const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); });
  // `[project.scripts]` names functions, too.
  unread_.insert(unread_.end(), packaging_.begin(), packaging_.end());
}

bool UnreadFiles::Name(std::string_view path, std::string_view name) const {
  were_asked_ = true;
  const auto [known, is_new] = named_.try_emplace({std::string(ImportedName(path)), std::string(name)});
  if (is_new) known->second = Names(known->first.first, known->first.second);
  return known->second;
}

bool UnreadFiles::Names(std::string_view module, std::string_view name) const {
  const std::string file = std::string(module) + ".py";
  return std::ranges::any_of(unread_, [&](const std::string& other) {
    std::string text = TextOf(other);
    // A page lists files, which says nothing of what is in them.
    for (size_t at = other.ends_with(".md") ? text.find(file) : std::string::npos; at != std::string::npos; at = text.find(file, at)) text.erase(at, file.size());
    return python::HasWord(text, name) && python::HasWord(text, module);
  });
}

bool UnreadFiles::IsPackaged(std::string_view path) const {
  were_asked_ = true;
  const auto [known, is_new] = packaged_.try_emplace(std::string(DirectoryOf(path)));
  if (is_new) known->second = IsOfPackage(known->first);
  return known->second;
}

bool UnreadFiles::IsOfPackage(std::string_view folder) const {
  return std::ranges::any_of(packaging_, [&](const std::string& packaging) {
    return IsInside(folder, DirectoryOf(packaging)) && DescribesPackage(packaging, TextOf(packaging));
  });
}

bool UnreadFiles::NameAsPart(std::string_view class_name) const {
  were_asked_ = true;
  const auto [known, is_new] = parts_.try_emplace(std::string(class_name));
  if (!is_new) return known->second;
  Mentions found;
  for (const std::string& path : settings_) FindMentions(path, class_name, found);
  known->second = found.as_part && !found.otherwise;
  return known->second;
}

void UnreadFiles::FindMentions(const std::string& path, std::string_view class_name, Mentions& found) const {
  std::string text = TextOf(path);
  if (!python::HasWord(text, class_name)) return;
  base::Result<source::SourceFile> file = source::MakeSourceFile(path, std::move(text));
  if (!file) return;
  const launch::ConfigTree tree = launch_files::ReadYaml(*file, source::FileId{0}).tree;
  const std::string ending = "." + std::string(class_name);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const launch::ConfigNode& node = tree[launch::ConfigId{i}];
    if (node.kind != launch::ConfigKind::Text || (node.text != class_name && !node.text.ends_with(ending))) continue;
    bool is_part = false;
    const launch::ConfigId own = node.parent;
    for (launch::ConfigId at = own ? tree[own].parent : own; at && !is_part; at = tree[at].parent) {
      is_part = !node.key.empty() && tree[at].kind == launch::ConfigKind::Map && tree.Member(at, node.key);
    }
    (is_part ? found.as_part : found.otherwise) = true;
  }
}

std::string UnreadFiles::TextOf(const std::string& path) const {
  base::Result<std::string> text = in_.Read(path);
  return text && text->size() <= kLargestSource ? std::move(*text) : std::string();
}

}  // namespace allranks::pipeline
