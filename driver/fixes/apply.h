// Fixes of findings, put into the texts of their files.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/source/source_file.h"

namespace allranks::fixes {

struct AppliedFix {
  std::string code;
  std::string path;
  uint32_t line = 0;  // from one
  std::string title;
};

struct Application {
  std::map<std::string, std::string> texts;  // by path: the whole new file, byte order mark included
  std::map<std::string, std::vector<findings::Edit>> edits;  // by path, sorted and disjoint: what leads to `texts`
  std::vector<AppliedFix> applied;
  size_t postponed = 0;                      // they overlap with one that was applied: another round may do them
  std::vector<std::string> refused;          // sentences: why a fix cannot be applied at all
};

// Applies the first fix of each finding that is at least so applicable, in the order of the findings. A fix is applied
// whole or not at all; of two that touch the same bytes the first wins, unless both make the same edit there.
// Of a notebook `bytes_of` gives the JSON; without it the edits alone come out, and no text.
using BytesOfPath = std::function<base::Result<std::string>(const std::string& path)>;
Application ApplyFixes(const source::SourceFiles& files, std::span<const findings::Finding> findings,
                       findings::Applicability least, const BytesOfPath& bytes_of = {});

// The bytes of a file that is no notebook, as they are on disk.
std::string BytesOf(const source::SourceFile& file);

}  // namespace allranks::fixes
