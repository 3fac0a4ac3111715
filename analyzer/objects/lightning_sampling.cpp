#include "analyzer/objects/lightning_sampling.h"

#include <algorithm>
#include <iterator>

namespace allranks::objects {

LightningSampling::LightningSampling(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                     const variation::Facts& facts, const ProgramIndex& index, const Loading& loading, const WrittenSettings& written)
    : program_(program), index_(index), loading_(loading), trainers_(program, knowledge, facts, index, written) {}

bool LightningSampling::EvaluatesShares(ir::ModuleId module) const {
  const auto is_beside = [&](const auto& call) { return program_.funcs[call.function].module == module; };
  const bool has_own = std::ranges::any_of(trainers_.all(), is_beside);
  const auto is_asked = [&](const auto& call) { return !has_own || is_beside(call); };
  bool deals_itself = std::ranges::any_of(trainers_.all(), [&](const LightningTrainer& each) { return is_asked(each) && ToldNotTo(each); });
  for (const KnownCall& sampler : loading_.made_samplers()) {
    if (!is_asked(sampler)) continue;
    if (!IsForTrainingOnly(sampler)) return true;
    deals_itself = true;
  }
  return !deals_itself;
}

std::vector<LightningTrainer> LightningSampling::TrainersWithoutSampler() const {
  std::vector<LightningTrainer> without;
  std::ranges::copy_if(trainers_.all(), std::back_inserter(without), [&](const LightningTrainer& trainer) { return ToldNotTo(trainer).has_value(); });
  return without;
}

std::optional<Told> LightningSampling::ToldNotTo(const LightningTrainer& trainer) const {
  for (const char* param : {"use_distributed_sampler", "replace_sampler_ddp"}) {
    if (Told told = trainers_.Of(trainer, param); told.is_off) return told;
  }
  return std::nullopt;
}

bool LightningSampling::IsForTrainingOnly(const KnownCall& sampler) const {
  bool trains = false;
  for (const Site& way : index_.WaysTo({sampler.function, sampler.expr})) {
    const std::string_view name = program_.text(program_.function(way.function).name);
    if (name == "val_dataloader" || name == "test_dataloader") return false;
    trains = trains || name == "train_dataloader";
  }
  return trains;
}

}  // namespace allranks::objects
