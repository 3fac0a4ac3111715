// Ignore comments that allranks adds for the user: `--add-ignore`, and the action of an editor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/suppression.h"

namespace allranks::findings {

// The edit that makes a comment accept all of `codes` at `offset`: joins the list of a comment that is there, else
// adds one at the end of the statement's first line, else, where that line goes on in a string or a backslash, on a
// line above. Nothing if no statement is around the place.
std::optional<Edit> IgnoreEdit(const source::SourceFile& file, const FileSyntax& syntax, uint32_t offset,
                               std::vector<std::string_view> codes, std::string_view reason);

// For each finding that `syntax` has a statement around: findings of one statement share one edit.
struct IgnoreEdits {
  std::vector<Edit> edits;
  std::vector<size_t> missed;  // by index: findings that no comment can be written for
};
IgnoreEdits IgnoreAll(const source::SourceFile& file, const FileSyntax& syntax, const std::vector<const Finding*>& findings,
                      std::string_view reason);

}  // namespace allranks::findings
