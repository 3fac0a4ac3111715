// Modes of a program that its commands start on one process only.
//
//   torchrun --nproc_per_node=8 run.py --do_train        python run.py --do_test
//
// A command leads to a place unless a test on the way fails for an option: for what the command gives it, or for its default
// (launched_options.h). A place is of such a mode if a command for one process leads there and no command that starts ranks does. Where none
// starts ranks, and the program does not start them itself, all that lead there are for one process.
//
// So is a place to which only those callers lead that one process runs: others leave a parameter at what the test on the way does not let
// through.
//
// Not sound where the options that matter stand in a variable of a shell script, or where people start the mode on ranks all the same.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/objects/launch.h"
#include "analyzer/objects/launched_options.h"
#include "analyzer/objects/guards.h"

namespace allranks::objects {

struct Claim;

class OneProcessModes {
 public:
  OneProcessModes(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards,
                  const Launch& launch, const LaunchedOptions& options);

  // `way`: sites each of which calls the function of the next.
  bool AreMeantAt(std::span<const Site> way) const;
  // Whether commands start the program, and none of them leads to the place: it takes an option that all of them leave out.
  bool IsLeftOut(std::span<const Site> way) const;
  // What has to be taken for granted for several ranks to come there, by either.
  findings::Assumptions AssumedAt(std::span<const Site> way) const;

 private:
  std::vector<Site> FromTheTop(std::span<const Site> way) const;
  std::vector<const LaunchLine*> LinesForOne(ir::ModuleId module) const;
  bool AreCallersForOne(const Site& site) const;
  bool LeadsTo(const LaunchLine& line, std::span<const Site> way) const;
  bool Fails(const Claim& claim, const LaunchLine& line, std::span<const Site> way) const;
  std::optional<bool> IsTextIn(ValueId test, const LaunchLine& line, ir::ModuleId module) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  const Launch& launch_;
  const LaunchedOptions& options_;
  binding::Neighbourhood neighbourhood_;
};

}  // namespace allranks::objects
