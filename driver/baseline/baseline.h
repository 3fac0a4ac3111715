// Findings that are known and not reported: a file that a project keeps beside its code.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"
#include "analyzer/findings/finding.h"

namespace allranks::baseline {

// For people who read the file; runs know a finding by its fingerprint alone.
struct Entry {
  std::string fingerprint;
  std::string code;
  std::string path;  // relative to the root of the project
  std::string function;
  std::string message;
  std::string seen = {};  // what a job's traces showed of it; empty: nothing
};

struct Baseline {
  std::vector<Entry> entries;
};

// An error names the file and says how to fix it.
[[nodiscard]] base::Result<Baseline> Parse(const std::string& shown, std::string_view text);
// One line an entry, sorted: two branches that change it merge.
std::string Write(Baseline baseline);

// Takes the findings that the baseline has out of `findings` and returns them.
std::vector<findings::Finding> TakeKnown(const Baseline& baseline, std::vector<findings::Finding>& findings);

// Without the entries that a run could have found again (`was_checked`) and did not.
Baseline WithoutGone(const Baseline& baseline, const std::set<std::string>& found,
                     const std::function<bool(const Entry&)>& was_checked);

}  // namespace allranks::baseline
