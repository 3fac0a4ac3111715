// Programs that Lightning trains on several ranks, as far as a seed has to do with them: `Trainer.fit`, and what that runs.
#pragma once

#include <vector>

#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/lightning_trainers.h"
#include "rules/program_calls.h"
#include "rules/rule.h"

namespace allranks::rules {

class LightningRuns {
 public:
  explicit LightningRuns(const Context& context);

  // The call of `fit` that some function comes to as well as to this place, where the trainer may have several ranks; none: nullptr.
  const objects::KnownCall* FitAfter(const objects::Site& place) const;
  // Whether a function is the step of a module that this call trains. Where the call does not say of which class its module is
  // (one out of a settings file), that of any module which no call is seen to train.
  bool IsStep(objects::FuncId function, const objects::KnownCall& fit) const;
  // Whether the call says of which class its module is.
  bool KnowsModule(const objects::KnownCall& fit) const { return !ModulesOf(fit).empty(); }
  // Whether the functions that come to it make objects of classes that settings name, and so may train a module of a file that it does not import.
  bool MayBeOfSettings(const objects::KnownCall& fit) const;

 private:
  bool MayHaveRanks(const objects::LightningTrainer& trainer) const;
  std::vector<binding::ClassId> ModulesOf(const objects::KnownCall& fit) const;
  bool Trains(const objects::KnownCall& fit, binding::ClassId owner) const;

  const Context& context_;
  objects::LightningTrainers trainers_;
  std::vector<objects::KnownCall> fits_;  // on several ranks
};

}  // namespace allranks::rules
