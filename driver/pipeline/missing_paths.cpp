#include "driver/pipeline/missing_paths.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/base/folder.h"
#include "analyzer/base/lowered.h"
#include "analyzer/knowledge/spelling.h"
#include "driver/pipeline/paths.h"

namespace allranks::pipeline {
namespace {

using launch::Word;

bool HasEnding(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.size() > ending.size() && path.ends_with(ending); });
}

// Files of JSON are data as a rule.
bool MayBeRead(std::string_view path, std::string_view option) {
  if (HasEnding(path, {".yaml", ".yml", ".py", ".sh"})) return true;
  const std::string name = base::Lowered(option);
  return HasEnding(path, {".json"}) && (name.find("config") != std::string::npos || name.find("cfg") != std::string::npos);
}

// `--output_path`, `--save_as`: what the program makes.
bool NamesResult(std::string_view option) {
  constexpr std::array<std::string_view, 8> kResults = {"out", "output", "save", "dump", "export", "log", "write", "dest"};
  const std::string name = base::Lowered(option);
  for (size_t at = 0; at < name.size();) {
    const size_t begin = std::min(name.find_first_not_of("-_.", at), name.size());
    const size_t end = std::min(name.find_first_of("-_.", begin), name.size());
    if (std::ranges::count(kResults, std::string_view(name).substr(begin, end - begin)) > 0) return true;
    at = end;
  }
  return false;
}

// `train.yml` for `train.yaml`, or a slip. Of names that differ in their numbers one may be still to come.
bool MayBeMeant(std::string_view name, std::string_view other) {
  const std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
  const std::string_view stem = name.substr(0, name.size() - ending.size());
  const bool is_yaml = ending == ".yaml" || ending == ".yml";
  if (is_yaml && other == std::string(stem) + (ending == ".yml" ? ".yaml" : ".yml")) return true;
  const auto digits = [](std::string_view text) {
    std::string all;
    std::ranges::copy_if(text, std::back_inserter(all), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    return all;
  };
  return other.ends_with(ending) && digits(name) == digits(other) && knowledge::IsSlip(stem, other.substr(0, other.size() - ending.size()));
}

// `large-v2.yml` for `large.yml`: its name, and more behind the end of a word.
bool GoesOn(std::string_view name, std::string_view other) {
  constexpr size_t kShortest = 5;
  const std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
  const std::string_view stem = name.substr(0, name.size() - ending.size());
  const bool goes_on = stem.size() >= kShortest && other.starts_with(stem) && other.ends_with(ending) && other.size() > name.size();
  return goes_on && std::islower(static_cast<unsigned char>(other[stem.size()])) == 0;
}

// A path from the folder in which the command is run, without a pattern or a place to fill in; empty: it is none.
std::string PlainPath(std::string_view path) {
  constexpr std::string_view kOfPatterns = "{}*?[]()<>$~,;:=\\\"' \x1a";
  const bool is_plain = !path.empty() && path.find_first_of(kOfPatterns) == std::string_view::npos && path[0] != '/' && path[0] != '-';
  const std::string normal = is_plain ? Normalized(path) : std::string();
  return normal.starts_with("..") ? std::string() : normal;
}

}  // namespace

MissingPaths::MissingPaths(const std::vector<std::string>& launch, const std::vector<std::string>& code) {
  std::vector<std::string_view> paths(launch.begin(), launch.end());
  paths.insert(paths.end(), code.begin(), code.end());
  std::ranges::sort(paths);
  paths.erase(std::ranges::unique(paths).begin(), paths.end());
  for (const std::string_view path : paths) {
    by_name_[NameOf(path)].push_back(path);
    by_folder_[DirectoryOf(path)].push_back(NameOf(path));
  }
}

std::string MissingPaths::MeantBy(std::string_view path, std::string_view from, bool goes_elsewhere) const {
  const std::string normal = PlainPath(path);
  if (normal.empty() || EndsAny(normal)) return {};
  std::string moved = Moved(normal, from);
  return moved.empty() && !goes_elsewhere ? Beside(normal, from, [&](std::string_view one) { return MayBeMeant(NameOf(normal), one); }) : moved;
}

std::string MissingPaths::LongerThan(std::string_view path, std::string_view from) const {
  const std::string normal = PlainPath(path);
  if (normal.empty() || EndsAny(normal) || DirectoryOf(normal).empty() || !HasEnding(normal, {".yaml", ".yml", ".json"})) return {};
  return Beside(normal, from, [&](std::string_view one) { return GoesOn(NameOf(normal), one); });
}

std::string_view MissingPaths::OnlyNamed(std::string_view name) const {
  const auto named = by_name_.find(name);
  return named != by_name_.end() && named->second.size() == 1 ? named->second.front() : std::string_view();
}

bool MissingPaths::EndsAny(const std::string& path) const {
  const auto named = by_name_.find(NameOf(path));
  if (named == by_name_.end()) return false;
  return std::ranges::any_of(named->second, [&](std::string_view one) { return one == path || one.ends_with("/" + path); });
}

// The folder that the path begins with lies in the root, or beside or above the file that names it.
std::string MissingPaths::Moved(const std::string& path, std::string_view from) const {
  const size_t slash = path.find('/');
  const auto named = by_name_.find(NameOf(path));
  if (slash == std::string::npos || named == by_name_.end() || named->second.size() != 1) return {};
  const std::string_view only = named->second.front();
  const std::string top = path.substr(0, slash);
  for (std::string_view above = from;; above = base::FolderOf(above)) {
    if (base::IsBelow(only, Join(std::string(above), top))) return std::string(only.substr(above.empty() ? 0 : above.size() + 1));
    if (above.empty()) return {};
  }
}

template <class IsMeant>
std::string MissingPaths::Beside(const std::string& path, std::string_view from, const IsMeant& may_be) const {
  if (by_name_.contains(NameOf(path))) return {};
  for (std::string_view above = from;; above = base::FolderOf(above)) {
    const std::string folder = Join(std::string(above), std::string(DirectoryOf(path)));
    const auto beside = by_folder_.find(folder);
    if (beside != by_folder_.end()) {
      const auto meant = std::ranges::find_if(beside->second, may_be);
      if (meant != beside->second.end() && std::none_of(meant + 1, beside->second.end(), may_be)) return Join(std::string(DirectoryOf(path)), *meant);
    }
    if (above.empty()) return {};
  }
}

std::vector<Word> ReadBy(const std::vector<Word>& args) {
  std::vector<Word> read;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& text = args[i].text();
    const bool has_equals = text.find('=') != std::string::npos;
    const bool has_name = has_equals || launch::IsArgumentName(text);
    const Word value = has_name ? launch::ValueOf(args, i) : args[i];
    const std::string name = has_name ? text.substr(0, text.find('=')) : std::string();
    if (value.IsKnown() && !value.text().starts_with('-') && MayBeRead(value.text(), name) && !NamesResult(name)) read.push_back(value);
    // The next word is its value.
    if (has_name && !has_equals && !value.text().empty()) ++i;
  }
  return read;
}

}  // namespace allranks::pipeline
