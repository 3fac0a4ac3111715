// Whether a job is run under a strategy (DeepSpeed, FSDP): some calls communicate under that alone.
//
// Which strategy is chosen stands mostly outside of the code: in a configuration of the launcher, on the command line. What
// shows that a program is made for one is knowledge ([[strategy]]): functions, arguments and options of that name in a file
// that belongs to a program with this one, tests left out, an argument or a configuration that chooses it there or in settings that the program
// reads, a line that starts it so, or a configuration that asks for it; one that lines name is not for a file that others start,
// and one that scripts name is for these.
// An argument or a member that is switched off (`sync_dist=False`) shows nothing. Nothing of the kind: nobody runs it so. Of a script that lines start only these lines and the script itself say it.
//
// A file may rule a strategy out: by what cannot be done under it, by a configuration in the code, or named there, that says another one, or where
// each line that starts it, or a file that uses it, says another one. Unsound: a project may be run from a script that is not in it.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/launch/job.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/written_settings.h"

namespace allranks::objects {

enum class StrategyUse : uint8_t { Seen, Unseen, RuledOut };

class Strategies {
 public:
  Strategies(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
             const ProgramIndex& index, std::span<const LaunchLine> lines, const launch::Launches& launches,
             const WrittenSettings& written);

  // Whether a function is run under one of the strategies that an operation names (knowledge::Operation). What the knowledge base
  // does not describe counts as seen.
  StrategyUse Of(ir::ModuleId module, std::span<const base::NameId> named) const;

 private:
  struct Known {
    std::string_view name;
    std::vector<bool> seen;       // by ModuleId
    std::vector<bool> ruled_out;  // by ModuleId
  };

  const Known* Find(base::NameId named) const;

  const binding::Program& program_;
  std::vector<Known> known_;
};

// Found out when the first rule asks for one: to see them all modules are read.
class StrategiesOnDemand {
 public:
  StrategiesOnDemand(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                     const ProgramIndex& index, std::span<const LaunchLine> lines, const launch::Launches& launches,
                     const WrittenSettings& written)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), lines_(lines), launches_(launches), written_(written) {}

  const Strategies& Get() const;

 private:
  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  std::span<const LaunchLine> lines_;
  const launch::Launches& launches_;
  const WrittenSettings& written_;
  mutable std::mutex mutex_;
  mutable std::optional<Strategies> strategies_;
};

}  // namespace allranks::objects
