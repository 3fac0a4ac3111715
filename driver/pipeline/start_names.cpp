#include "driver/pipeline/start_names.h"

#include <array>

#include "driver/pipeline/paths.h"
#include "frontends/python/text_scanner.h"

namespace allranks::pipeline {
namespace {

// No file has such a name, and a filter without any name lets everything through.
const std::array<std::string, 1> kNoName = {std::string("\0/", 2)};

std::vector<std::string> NamesOfPrograms(const std::vector<std::string>& code) {
  std::vector<std::string> names(kNoName.begin(), kNoName.end());
  for (const std::string& path : code) {
    if (path.ends_with(".py")) names.emplace_back(NameOf(path));
  }
  return names;
}

}  // namespace

StartNames::StartNames(const std::vector<std::string>& code) : programs_(NamesOfPrograms(code)), scripts_(kNoName) {
  constexpr std::string_view kEnding = ".py";
  for (const std::string& path : code) {
    if (!path.ends_with(kEnding)) continue;
    std::string_view name = NameOf(path);
    // `python -m package`
    if (name == "__main__.py") modules_.emplace(NameOf(DirectoryOf(path)));
    name.remove_suffix(kEnding.size());
    modules_.emplace(name);
  }
}

void StartNames::SetScripts(const std::vector<std::string>& names) {
  if (!names.empty()) scripts_ = Prefilter(names);
}

bool StartNames::NamesProgram(std::string_view text) const { return programs_.Mentions(text) || NamesModule(text); }

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
    if (is_put_together || modules_.contains(module.substr(module.rfind('.') + 1))) return true;
  }
  return false;
}

}  // namespace allranks::pipeline
