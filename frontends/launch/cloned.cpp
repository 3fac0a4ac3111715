#include "frontends/launch/cloned.h"

#include <algorithm>

namespace allranks::launch_files {
namespace {

constexpr std::string_view kGitEnding = ".git";

std::string_view LastPart(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.find_last_of("/:") + 1);
}

// The folder that is made for a repository.
std::string NameOfUrl(std::string_view url) {
  std::string_view name = LastPart(url);
  if (name.ends_with(kGitEnding)) name.remove_suffix(kGitEnding.size());
  return std::string(name);
}

}  // namespace

void ClonedFolders::Follow(const ShellCommand& command) {
  const std::vector<Word>& words = command.words;
  if (words.empty()) return;
  const std::string& name = words[0].text();
  if (name == "popd") Enter({});
  if (words.size() < 2) return;
  if (name == "cd" || name == "pushd") return Enter(words.back());
  if (name != "git" || words[1].text() != "clone") return;
  const auto is_url = [](const Word& word) { return word.text().find("://") != std::string::npos || word.text().find('@') != std::string::npos; };
  const auto url = std::ranges::find_if(words, is_url);
  if (url == words.end()) return;
  const bool has_folder = url + 1 != words.end() && !(url + 1)->text().starts_with('-');
  std::string folder = has_folder ? std::string(LastPart((url + 1)->text())) : NameOfUrl(url->text());
  if (!folder.empty() && folder != ".") names_.insert(std::move(folder));
}

void ClonedFolders::Enter(const Word& folder) {
  std::string_view rest = folder.text();
  if (rest.empty() || rest[0] == '/' || rest[0] == '~' || rest[0] == '-' || !folder.IsKnown()) path_.clear();
  here_.clear();
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part == "..") path_.erase(std::min(path_.rfind('/'), path_.size()));
    else if (!part.empty() && part != ".") path_.append("/").append(part);
  }
  for (std::string_view left = path_; !left.empty() && here_.empty();) {
    left.remove_prefix(1);
    const std::string_view part = left.substr(0, left.find('/'));
    if (names_.contains(part)) here_ = part;
    left.remove_prefix(part.size());
  }
}

std::string PageClones::Before(std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kCommand = "git clone ";
  if (begin != begin_ || end < read_to_) *this = {};
  // A command may have begun where the last question ended.
  const size_t from = std::max(begin, read_to_ - std::min(read_to_, kCommand.size()));
  const size_t found = text.substr(from, end - from).rfind(kCommand);
  if (found != std::string_view::npos) last_ = from + found;
  begin_ = begin;
  read_to_ = end;
  if (last_ == std::string_view::npos) return {};
  const std::string_view line = text.substr(last_, std::min(text.find('\n', last_), end) - last_);
  const size_t scheme = std::min(line.find("://"), line.find('@'));
  if (scheme == std::string_view::npos) return {};
  return NameOfUrl(line.substr(0, line.find_first_of(" \t\r`;&", scheme)));
}

}  // namespace allranks::launch_files
