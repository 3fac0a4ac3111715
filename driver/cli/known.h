// Which findings are shown: those that are sure enough and neither in the baseline nor as old as --diff-base.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/baseline/baseline.h"
#include "driver/cli/arguments.h"
#include "driver/cli/verdicts.h"
#include "driver/config/resolve.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

// How many findings are not shown: less sure than what is asked for, or in preview.
struct Hidden {
  size_t likely = 0;
  size_t possible = 0;
  size_t in_preview = 0;
  std::set<uint32_t> files_with_previews;  // by index, that hold some of these
};

class Known {
 public:
  // What the last output was kept for, and what it lost.
  struct Kept {
    std::set<std::string> found;  // fingerprints, shown or not
    std::vector<findings::Finding> known;
    Hidden hidden;
  };

  // Reads the baseline file and checks the code of --diff-base, where they are asked for.
  static base::Result<Known> Load(const CheckArguments& arguments, const config::Resolved& resolved,
                                  const pipeline::Options& options, const source::FileSystem& files);

  // Whether the run was to end before all of it was read.
  bool was_stopped() const { return was_stopped_; }

  // Keeps in `out` only what will be shown.
  void Keep(pipeline::Output& out);
  // Of the last output; one may go back to what an earlier one left.
  const Kept& kept() const { return kept_; }
  void GoBackTo(Kept kept) { kept_ = std::move(kept); }
  // What is known, of the last output.
  const std::vector<findings::Finding>& findings() const { return kept_.known; }
  const Hidden& hidden() const { return kept_.hidden; }
  bool compares() const { return baseline_.has_value() || old_.has_value(); }

  // What the baseline keeps of findings that a job has shown, where nothing newer is told.
  void AddSeen(Verdicts& verdicts) const;
  // --update-baseline: everything that was found becomes known, with what was seen of it in a job. Returns what to say.
  [[nodiscard]] base::Result<std::string> Update(pipeline::Output& out, const Verdicts& verdicts);
  // Takes what is fixed out of the baseline file, but not where files must stay as they are (CI, hooks). Returns what to
  // say; empty: nothing.
  [[nodiscard]] base::Result<std::string> Shrink(const pipeline::Output& out) const;

 private:
  void CountHidden(const pipeline::Output& out);
  const pipeline::Policy& PolicyOf(const pipeline::Output& out, const findings::Finding& finding) const;
  bool IsShown(const pipeline::Output& out, const findings::Finding& finding) const;
  bool WasChecked(const baseline::Entry& entry, const pipeline::Output& out) const;
  baseline::Entry EntryOf(const pipeline::Output& out, const findings::Finding& finding) const;

  // Into the baseline; of whatever is wrong with the file, an error.
  base::Result<bool> WriteBaseline(const baseline::Baseline& next) const;

  std::string file_;                            // of the baseline
  std::string project_;                         // what the file has to lie in, if the project's own configuration names it; empty: it may be any
  std::string root_, working_directory_;
  pipeline::Policies policies_;
  std::optional<baseline::Baseline> baseline_;
  std::optional<std::set<std::string>> old_;    // fingerprints of --diff-base
  bool was_stopped_ = false;
  Kept kept_;  // of the last output
};

}  // namespace allranks::cli
