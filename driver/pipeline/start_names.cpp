#include "driver/pipeline/start_names.h"

#include <algorithm>
#include <array>

#include "driver/pipeline/paths.h"
#include "frontends/python/text_scanner.h"

namespace allranks::pipeline {
namespace {

// No file has such a name, and a filter without any name lets everything through.
const std::array<std::string, 1> kNoName = {std::string("\0/", 2)};

constexpr std::string_view kEnding = ".py";

}  // namespace

StartNames::StartNames(const std::vector<std::string>& code) : scripts_(kNoName) {
  for (const std::string& path : code) {
    if (!path.ends_with(kEnding)) continue;
    std::string_view name = NameOf(path);
    // `python -m package`
    if (name == "__main__.py") names_.insert(NameOf(DirectoryOf(path)));
    name.remove_suffix(kEnding.size());
    names_.insert(name);
    longest_ = std::max(longest_, name.size());
  }
}

void StartNames::SetScripts(const std::vector<std::string>& names) {
  if (!names.empty()) scripts_ = Prefilter(names);
}

bool StartNames::NamesProgram(std::string_view text) const { return NamesFile(text) || NamesModule(text); }

// `train.py` is no part of `pretrain.py`. What stands before it may be a variable.
bool StartNames::NamesFile(std::string_view text) const {
  for (size_t end = text.find(kEnding); end != std::string_view::npos; end = text.find(kEnding, end + 1)) {
    const size_t behind = end + kEnding.size();
    if (behind < text.size() && python::IsWordByte(text[behind])) continue;
    const size_t least = end - std::min(end, longest_);
    for (size_t begin = end; begin > least && text[begin - 1] != '/' && text[begin - 1] != '\n'; --begin) {
      const bool begins = begin - 1 == 0 || !python::IsWordByte(text[begin - 2]);
      if (begins && names_.contains(text.substr(begin - 1, end - begin + 1))) return true;
    }
  }
  return false;
}

bool StartNames::NamesModule(std::string_view text) const {
  // There are far more blanks than dashes.
  constexpr std::string_view kOption = "-m ";
  for (size_t at = text.find(kOption, 1); at != std::string_view::npos; at = text.find(kOption, at + 1)) {
    if (text[at - 1] != ' ') continue;
    std::string_view rest = text.substr(at + kOption.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \"'"), rest.size()));
    size_t end = 0;
    while (end < rest.size() && (python::IsWordByte(rest[end]) || rest[end] == '.')) ++end;
    const bool is_put_together = end < rest.size() && (rest[end] == '$' || rest[end] == '{');
    const std::string_view module = rest.substr(0, end);
    if (is_put_together || names_.contains(module.substr(module.rfind('.') + 1))) return true;
  }
  return false;
}

}  // namespace allranks::pipeline
