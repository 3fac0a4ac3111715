// The calls that make and run Lightning's trainers, those of tests left out.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

inline constexpr std::string_view kLightningModule = "lightning.pytorch.LightningModule";
inline constexpr std::string_view kLightningTrainer = "lightning.pytorch.Trainer";
inline constexpr std::string_view kLightningTrainerInit = "lightning.pytorch.Trainer.__init__";
inline constexpr std::string_view kLightningFit = "lightning.pytorch.Trainer.fit";
inline constexpr std::string_view kLightningLog = "lightning.pytorch.LightningModule.log";

struct LightningCalls {
  std::vector<KnownCall> trainers;  // `Trainer(...)`
  std::vector<KnownCall> runs;      // `trainer.fit(...)`, `.validate(...)`, `.test(...)`: what runs the hooks of a module
};

LightningCalls FindLightningCalls(const binding::Program& program, const ProgramIndex& index);

}  // namespace allranks::objects
