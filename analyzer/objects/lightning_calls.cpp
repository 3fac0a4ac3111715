#include "analyzer/objects/lightning_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

constexpr std::array<std::string_view, 2> kTrainers = {kLightningTrainerInit, "lightning.pytorch.Trainer.from_argparse_args"};
constexpr std::array<std::string_view, 3> kRuns = {kLightningFit, "lightning.pytorch.Trainer.validate", "lightning.pytorch.Trainer.test"};

}  // namespace

LightningCalls FindLightningCalls(const binding::Program& program, const ProgramIndex& index) {
  LightningCalls calls;
  for (const KnownCall& call : index.known_calls()) {
    const std::string_view name = program.text(call.entry->name);
    const bool makes = std::ranges::find(kTrainers, name) != kTrainers.end();
    const bool runs = std::ranges::find(kRuns, name) != kRuns.end();
    if (!(makes || runs) || IsTestFile(program, program.funcs[call.function].module)) continue;
    (makes ? calls.trainers : calls.runs).push_back(call);
  }
  return calls;
}

}  // namespace allranks::objects
