// Patterns as git reads them (gitignore(5)); tests compare every answer with `git check-ignore`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::pipeline {

// The patterns of one .gitignore file.
class IgnoreFile {
 public:
  explicit IgnoreFile(std::string_view text);
  // `path` is relative to the folder of the file. Nothing: no pattern speaks of it.
  std::optional<bool> Ignores(std::string_view path, bool is_directory) const;
  // Whether a pattern speaks of the file or of a folder that it is in.
  bool IgnoresFileOrFolder(std::string_view path) const;
  bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::string glob;
    bool negated = false;
    bool directories_only = false;
    bool anchored = false;  // speaks of the whole path, not of the last name alone
    bool literal = false;   // no wildcard: compared as text
  };
  static std::optional<Pattern> Parse(std::string_view line);
  static bool Matches(const Pattern& pattern, std::string_view path, std::string_view name);

  std::vector<Pattern> patterns_;
};

// `*`, `?`, `[a-z]`, `[!a]`, `[[:alpha:]]`, `\x` against one name; linear in practice, never exponential.
bool MatchName(std::string_view glob, std::string_view name);
// The same for paths: `*` stays within a name, `**` crosses folders.
bool MatchPath(std::string_view glob, std::string_view path);

}  // namespace allranks::pipeline
