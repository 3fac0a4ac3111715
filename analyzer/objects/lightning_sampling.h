// Whether the ranks of a Lightning job evaluate shares of the data or all of it, each for itself.
//
// Lightning gives loaders a distributed sampler where they have none, unless a trainer is told not to. Who makes such
// samplers itself has told it, if not in Python then in a file of settings: then those loaders are dealt out that some
// sampler is made for, and one made for training only says nothing of an evaluation.
//
// Trainers and samplers beside the module are asked, or those of the whole program where no trainer stands beside it.
#pragma once

#include "analyzer/objects/lightning_trainers.h"
#include "analyzer/objects/loading.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class LightningSampling {
 public:
  LightningSampling(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                    const ProgramIndex& index, const Loading& loading, const WrittenSettings& written);

  // Of a module whose hooks stand in this file.
  bool EvaluatesShares(ir::ModuleId module) const;
  // Trainers that are told to give loaders no sampler.
  std::vector<LightningTrainer> TrainersWithoutSampler() const;
  // What a trainer is told of it, if it is told not to.
  std::optional<Told> ToldNotTo(const LightningTrainer& trainer) const;
  const LightningTrainers& trainers() const { return trainers_; }
  // Whether a hook for the training hands a loader over, and none for an evaluation.
  bool IsForTraining(const KnownCall& loader) const { return IsForTrainingOnly(loader); }

 private:
  bool IsForTrainingOnly(const KnownCall& sampler) const;

  const binding::Program& program_;
  const ProgramIndex& index_;
  const Loading& loading_;
  LightningTrainers trainers_;
};

}  // namespace allranks::objects
