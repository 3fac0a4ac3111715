// What trainers of Lightning are told: as arguments of the call, or in a file of settings whose values stand in the call
// (`devices=cfg.devices`), are handed over together (`Trainer(**cfg.trainer)`), or make the trainer
// (`hydra.utils.instantiate(cfg.trainer)`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/values.h"
#include "analyzer/objects/written_settings.h"

namespace allranks::objects {

// What one argument is.
struct Told {
  bool is_given = false;
  std::optional<int64_t> number;
  bool is_off = false;             // False
  source::Span span = {};          // where it stands
  bool is_setting = false;         // in a file, where a job may have another
};

struct LightningTrainer {
  FuncId function;
  ir::ExprId expr;                   // the call that makes it
  std::optional<KnownCall> call;     // of its constructor; none: it is made from settings alone
  std::vector<ValueId> settings;     // maps whose members are arguments, too
};

class LightningTrainers {
 public:
  LightningTrainers(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                    const ProgramIndex& index, const WrittenSettings& written);

  const std::vector<LightningTrainer>& all() const { return trainers_; }
  Told Of(const LightningTrainer& trainer, std::string_view param) const;

 private:
  void AddBuilt(const KnownCall& build);
  Told Written(const LightningTrainer& trainer, std::string_view param) const;
  std::vector<ValueId> SpreadIn(const KnownCall& call) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const WrittenSettings& written_;
  Values values_;
  std::vector<LightningTrainer> trainers_;
};

}  // namespace allranks::objects
