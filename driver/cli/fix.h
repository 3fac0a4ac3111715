// `allranks check --fix` and `--diff`: rounds of checking and fixing, until nothing more can be fixed.
#pragma once

#include <functional>
#include <memory>

#include "driver/cli/arguments.h"
#include "driver/fixes/apply.h"
#include "driver/pipeline/pipeline.h"

namespace allranks::cli {

struct Fixed {
  std::map<std::string, std::string> before;  // by path: bytes of files that fixes change
  std::map<std::string, std::string> after;
  std::vector<fixes::AppliedFix> applied;
  std::vector<std::string> errors;
  size_t unsafe_left = 0;                      // findings that --unsafe-fixes would fix
  std::string stopped_in;                      // where the run was to end before all was fixed; empty: it was not
  std::shared_ptr<pipeline::Output> unfixed;   // what was found before; none: nothing was fixed
  std::string input;                           // the name of standard input, which no file is written for; empty: none
  std::string done = "Fixed";                  // what was done, in the past tense, and to what
  std::string what = "finding";
};

// Fixes what `out` found, in memory; `out` is the result of the last round afterwards. `keep` drops the findings that are
// not shown and so not fixed.
[[nodiscard]] base::Result<Fixed> FixAll(const CheckArguments& arguments, pipeline::Options options,
                                         const source::FileSystem& files, pipeline::Output& out,
                                         const std::function<void(pipeline::Output&)>& keep);

// One round only: the first fix of each of these findings, and what is found then in `out`.
[[nodiscard]] base::Result<Fixed> FixRound(const std::vector<findings::Finding>& findings, pipeline::Options options,
                                           const source::FileSystem& files, pipeline::Output& out,
                                           const std::function<void(pipeline::Output&)>& keep);

// Writes the files, below the root alone; what could not be written is an error and left as it was.
void WriteFixed(const pipeline::Options& options, Fixed& fixed);

// "Fixed 3 findings in 2 files", each of them if `each`, and what --unsafe-fixes would do as well.
std::string FixedText(const Fixed& fixed, bool each);
std::string DiffText(const Fixed& fixed);
// "2 more can be fixed with `--unsafe-fixes`."; empty: none can.
std::string UnsafeText(const Fixed& fixed);

}  // namespace allranks::cli
