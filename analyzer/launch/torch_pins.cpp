#include "analyzer/launch/torch_pins.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "analyzer/base/folder.h"
#include "analyzer/base/lowered.h"

namespace allranks::launch {
namespace {

constexpr std::string_view kTorch = "torch";
constexpr Version kAny{.major = 1000, .minor = 0};
constexpr std::array<std::string_view, 4> kPinned = {"===", "==", "<=", "="};
// The last of a series: what `<2` allows.
constexpr int kLast = 99;

bool IsPartOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }

void SkipBlanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); }

Version Before(Version version) {
  if (version.minor > 0) return {version.major, version.minor - 1};
  return {version.major - 1, kLast};
}

// `1.13.1`: whether a third number follows.
bool HasPatch(std::string_view text) {
  const std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
  return std::ranges::count(number, '.') > 1;
}

// The upper bound that one comparison sets; nothing: it sets none. Cuts the comparison off.
std::optional<Version> TakeBound(std::string_view& text) {
  constexpr std::array<std::string_view, 8> kOperators = {"===", "==", "<=", "~=", ">=", "!=", "<", "="};
  SkipBlanks(text);
  const auto op = std::ranges::find_if(kOperators, [&](std::string_view one) { return text.starts_with(one); });
  if (op == kOperators.end()) return std::nullopt;
  std::string_view number = text.substr(op->size());
  SkipBlanks(number);
  text = number.substr(std::min(number.find_first_not_of("0123456789.*"), number.size()));
  const std::optional<Version> version = VersionIn(number);
  if (!version || *op == ">=" || *op == "!=") return std::nullopt;
  if (*op == "<") return HasPatch(number) ? *version : Before(*version);
  if (*op == "~=") return HasPatch(number) ? *version : Version{version->major, kLast};
  return version;
}

// Images of NVIDIA are numbered by year and month: `pytorch:20.11-py3`. Nothing: it is no release of PyTorch.
std::optional<Version> TorchIn(std::string_view text) {
  constexpr int kFirstYear = 17;
  const std::optional<Version> version = VersionIn(text);
  return version && version->major < kFirstYear ? version : std::nullopt;
}

// `$(TORCH_VERSION)`, `${TORCH_VERSION}` or `$TORCH_VERSION` at the beginning of a text; empty: it begins otherwise.
std::string_view VariableAt(std::string_view text) {
  if (!text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('(') || text.starts_with('{')) text.remove_prefix(1);
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return text.substr(0, static_cast<size_t>(std::ranges::find_if_not(text, is_part) - text.begin()));
}

// What a file gives a variable, the first time: `NAME := 1.8.1`, `NAME=1.8`, `ARG NAME="1.8"`.
std::optional<Version> ValueIn(std::string_view file, std::string_view variable) {
  for (size_t at = file.find(variable); !variable.empty() && at != std::string_view::npos; at = file.find(variable, at + 1)) {
    if (at > 0 && file[at - 1] != '\n' && file[at - 1] != ' ') continue;
    std::string_view rest = file.substr(at + variable.size());
    SkipBlanks(rest);
    if (rest.starts_with(':') || rest.starts_with('?')) rest.remove_prefix(1);
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    SkipBlanks(rest);
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    if (const std::optional<Version> version = TorchIn(rest)) return version;
  }
  return std::nullopt;
}

// What follows the name of the package in a file: `==1.7.1`, ` >= 1.8, < 1.10`, `:1.7.1-cuda11.0` of an image, `==$(TORCH_VERSION)`.
std::optional<Version> Newest(std::string_view rest, bool is_image, std::string_view file) {
  const std::string_view variable = VariableAt(rest.substr(std::min(rest.find_first_not_of("=: "), rest.size())));
  // Of a variable that nothing in the file sets nothing is known.
  if (!variable.empty()) return ValueIn(file, variable);
  if (is_image) return rest.starts_with(":") ? TorchIn(rest.substr(1)) : std::nullopt;
  std::string_view start = rest;
  SkipBlanks(start);
  if (start.empty() || std::string_view("=<>~!").find(start[0]) == std::string_view::npos) return std::nullopt;
  std::optional<Version> newest = TakeBound(rest);
  SkipBlanks(rest);
  while (rest.starts_with(",")) {
    rest.remove_prefix(1);
    const std::optional<Version> next = TakeBound(rest);
    if (next) newest = newest ? std::min(*newest, *next) : *next;
    SkipBlanks(rest);
  }
  return newest.value_or(kAny);
}

// The release that a requirement names as the only or the last one: `==1.3.13`, `>=0.3.1,<=0.3.4`, `=0.8.2` of conda, `:20.11-py3` of an image.
std::optional<Release> LastAllowed(std::string_view rest, bool is_image) {
  if (is_image) return rest.starts_with(':') ? ReleaseIn(rest.substr(1)) : std::nullopt;
  SkipBlanks(rest);
  if (rest.starts_with(">=")) rest.remove_prefix(std::min(rest.find_first_not_of("0123456789. ", 2), rest.size()));
  if (rest.starts_with(",")) rest.remove_prefix(1);
  SkipBlanks(rest);
  const auto op = std::ranges::find_if(kPinned, [&](std::string_view one) { return rest.starts_with(one); });
  if (op == kPinned.end()) return std::nullopt;
  rest.remove_prefix(op->size());
  SkipBlanks(rest);
  return ReleaseIn(rest);
}

// Calls `visit` with each release that a text names as the only or the last one of a package.
template <class Visit>
void ForEachLastAllowed(std::string_view text, std::string_view package, const Visit& visit) {
  for (size_t at = text.find(package); at != std::string_view::npos; at = text.find(package, at + 1)) {
    if (at > 0 && IsPartOfName(text[at - 1])) continue;
    const bool is_image = package.find('/') != std::string_view::npos;
    if (const std::optional<Release> release = LastAllowed(text.substr(at + package.size(), 80), is_image)) visit(*release);
  }
}

bool IsDocument(std::string_view name) { return name.ends_with(".md"); }
bool IsYaml(std::string_view name) { return name.ends_with(".yml") || name.ends_with(".yaml"); }

// An environment of conda has any name: `vsum.yaml` of the project of that name. What it installs stands under this key.
bool IsEnvironment(std::string_view text) {
  constexpr std::string_view kDependencies = "dependencies:";
  return text.starts_with(kDependencies) || text.find("\ndependencies:") != std::string_view::npos;
}

// Cuts off what may stand between the name and the release: the end of a link, `](https://pytorch.org)`, and ` install = `.
void SkipToRelease(std::string_view& rest) {
  constexpr std::array<std::string_view, 2> kWords = {"version ", "install "};
  if (rest.starts_with("](")) rest.remove_prefix(std::min(rest.find(')'), rest.size() - 1) + 1);
  std::string_view behind = rest;
  SkipBlanks(behind);
  const auto word = std::ranges::find_if(kWords, [&](std::string_view one) { return behind.starts_with(one); });
  if (word != kWords.end()) rest.remove_prefix(rest.size() - behind.size() + word->size() - 1);
  behind = rest;
  SkipBlanks(behind);
  if (behind.starts_with("= ")) rest = behind.substr(1);
}

// `PyTorch 1.4.0` in prose; `PyTorch 1.4+` and `PyTorch 1.4 or later` allow all behind it. Nothing: no version follows.
std::optional<Version> NewestInProse(std::string_view rest) {
  // `PyTorch 1.8 and CUDA 11` is no range.
  constexpr std::array<std::string_view, 12> kOpen = {"+", "or ", "(or ", "and above", "and later", "and higher", "and newer", "and up", "above", "to ", "- ", ">"};
  constexpr std::string_view kAtLeast = "≥";
  SkipToRelease(rest);
  const size_t digit = rest.find_first_not_of(" (v:`*");
  if (digit != std::string_view::npos && rest.substr(digit).starts_with(kAtLeast)) return kAny;
  if (digit == 0 || digit == std::string_view::npos || rest.substr(0, digit).find(' ') == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(digit);
  std::string_view behind = rest.substr(std::min(rest.find_first_not_of("0123456789.x"), rest.size()));
  const std::optional<Version> version = TorchIn(rest);
  std::string_view number = rest.substr(0, rest.size() - behind.size());
  while (number.ends_with('.')) number.remove_suffix(1);
  if (!version || number.find('.') == std::string_view::npos) return std::nullopt;
  SkipBlanks(behind);
  // `PyTorch 1.10+cu111` is a build of one release.
  const bool is_build = behind.starts_with("+cu") || behind.starts_with("+cpu") || behind.starts_with("+rocm");
  const bool is_open = !is_build && std::ranges::any_of(kOpen, [&](std::string_view word) { return behind.starts_with(word); });
  return is_open ? kAny : *version;
}

// Pages about a project often have a folder of their own, and so has what its environment is made by, or what installs it.
bool IsAside(std::string_view part, std::string_view path) {
  constexpr std::array<std::string_view, 2> kOfDocuments = {"docs", "doc"};
  constexpr std::array<std::string_view, 4> kOfInstalling = {"tools", "scripts", "install", "setup"};
  constexpr std::array<std::string_view, 7> kOfEnvironments = {"docker", "dockers", "conda", "env", "envs", "environment", "environments"};
  return std::ranges::count(kOfEnvironments, part) > 0 || (IsDocument(path) && std::ranges::count(kOfDocuments, part) > 0) ||
         (MayInstall(path) && std::ranges::count(kOfInstalling, part) > 0);
}

std::string_view FolderToldOf(std::string_view path) {
  std::string_view folder = base::FolderOf(path);
  for (size_t begin = 0; begin < folder.size();) {
    const size_t end = std::min(folder.find('/', begin), folder.size());
    const std::string_view part = folder.substr(begin, end - begin);
    if (IsAside(part, path)) return folder.substr(0, begin == 0 ? 0 : begin - 1);
    begin = end + 1;
  }
  return folder;
}

// A README, or a page about how to install.
bool IsAboutInstalling(std::string_view path) {
  const std::string name = base::Lowered(path.substr(path.rfind('/') + 1));
  return name.starts_with("readme") || name.starts_with("install");
}

}  // namespace

bool IsPackagingName(std::string_view name) {
  constexpr std::array<std::string_view, 3> kPackaging = {"setup.py", "setup.cfg", "pyproject.toml"};
  return std::ranges::count(kPackaging, name) > 0;
}

bool TellsRequirements(std::string_view path) {
  const std::string name = base::Lowered(path.substr(path.rfind('/') + 1));
  const bool is_text = name.ends_with(".txt") && (name.find("requirement") != std::string_view::npos || name.starts_with("req"));
  const bool is_of_project = path.find('/') == std::string_view::npos;
  const bool is_conda = IsYaml(name) && (is_of_project || name.find("env") != std::string_view::npos || name.find("conda") != std::string_view::npos);
  return is_text || is_conda || IsDocument(name) || name.starts_with("dockerfile") || IsPackagingName(name);
}

bool MayInstall(std::string_view path) {
  const std::string name = base::Lowered(path.substr(path.rfind('/') + 1));
  return name.ends_with(".sh") || name.ends_with(".mk") || name == "makefile";
}

void TorchPins::Note(std::string_view path, std::string_view written, std::span<const TorchBound> bounds) {
  if (IsYaml(path) && !IsEnvironment(written)) return;
  const bool is_document = IsDocument(path);
  // Other documents than a README tell of much: what counts is a release that they install.
  const bool is_aside = is_document && !IsAboutInstalling(path);
  const std::string text_of_document = is_document ? base::Lowered(written) : std::string();
  const std::string_view text = is_document ? std::string_view(text_of_document) : written;
  for (size_t at = text.find(kTorch); at != std::string_view::npos; at = text.find(kTorch, at + 1)) {
    const size_t begin = at >= 2 && text.substr(at - 2, 2) == "py" ? at - 2 : at;
    const char before = begin == 0 ? '\n' : text[begin - 1];
    const bool is_image = before == '/';
    if (IsPartOfName(before)) continue;
    const std::string_view rest = text.substr(at + kTorch.size(), 80);
    std::optional<Version> newest = Newest(rest, is_image, text);
    if (is_aside && newest == kAny) continue;
    if (!newest && is_document && !is_aside) newest = NewestInProse(rest);
    if (newest) Add(path, *newest, newest_[std::string(kTorch)]);
    if (newest && *newest != kAny) Add(path, *newest, named_);
  }
  for (const TorchBound& bound : bounds) {
    for (const std::string& name : bound.names) {
      ForEachLastAllowed(text, name, [&](Release release) { Add(path, bound.NewestTorch(release).value_or(kAny), newest_[bound.names.front()]); });
    }
  }
  ForEachLastAllowed(text, "deepspeed", [&](Release release) { Add(path, release, deepspeed_); });
}

template <class Newest>
void TorchPins::Add(std::string_view path, Newest newest, NewestByFolder<Newest>& by_folder) {
  const auto [known, is_new] = by_folder.try_emplace(std::string(FolderToldOf(path)), newest);
  if (!is_new) known->second = std::max(known->second, newest);
}

std::optional<Version> TorchPins::NewestFor(std::string_view path) const {
  Version newest = kAny;
  for (const auto& [package, by_folder] : newest_) newest = std::min(newest, Nearest(by_folder, path).value_or(kAny));
  return newest == kAny ? std::nullopt : std::optional(newest);
}

bool TorchPins::AreOlderThan(std::string_view path, Version version) const {
  const std::optional<Version> newest = NewestFor(path), named = NamedFor(path);
  return (newest && *newest < version) || (named && *named < version);
}

}  // namespace allranks::launch
