// `# allranks: ignore[AR101] reason`: comments with which people accept a finding.
//
// At the end of a line, the comment covers every statement that starts on that line, or else the innermost one that
// the line belongs to. On a line of its own, it covers the next statement. A compound statement is covered with its body.
// `ignore-file[...]` covers the file. A code is always required, because a blanket comment would hide later findings.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"

namespace allranks::findings {

struct Extent {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t header_end = 0;  // where the body of a compound statement may start; `end` for a simple one
};

// What suppressions need to know of a parsed file.
struct FileSyntax {
  source::FileId file;
  std::vector<Extent> statements;  // in any order
  std::vector<Extent> comments;    // header_end unused
  std::string_view comment_mark = "#";
};

// The rules that exist, and those that ran: only they can tell a suppression that is unused.
struct KnownRules {
  // The code of a rule given by code or name; empty: there is none.
  std::function<std::string_view(std::string_view)> code_of;
  // The nearest code or name to a misspelt one; empty: none is near.
  std::function<std::string_view(std::string_view)> nearest;
  std::function<bool(source::FileId, std::string_view)> ran;
  // Whether comments of the file must give a reason; empty: none must.
  std::function<bool(source::FileId)> require_reason = {};
};

// A finding that a comment accepts.
struct Suppressed {
  Finding finding;
  std::string reason;    // as the comment gives it; may be empty
  source::Span comment;
};

// Takes out what is suppressed and appends an AR002 for every comment that silenced nothing, names an unknown
// code or none, misspells the directive, or lacks a reason that is asked for; with fixes. Returns what was taken out.
std::vector<Suppressed> ApplySuppressions(const source::SourceFiles& files, std::span<const FileSyntax> syntax,
                         const KnownRules& rules, std::vector<Finding>& findings);

}  // namespace allranks::findings
