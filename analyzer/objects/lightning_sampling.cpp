#include "analyzer/objects/lightning_sampling.h"

#include <algorithm>
#include <iterator>

#include "analyzer/objects/lightning_calls.h"

namespace allranks::objects {

LightningSampling::LightningSampling(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                     const variation::Facts& facts, const ProgramIndex& index, const Loading& loading)
    : program_(program), index_(index), loading_(loading), values_(program, knowledge, facts),
      trainers_(FindLightningCalls(program, index).trainers) {}

bool LightningSampling::EvaluatesShares(ir::ModuleId module) const {
  const auto is_beside = [&](const KnownCall& call) { return program_.funcs[call.function].module == module; };
  const bool has_own = std::ranges::any_of(trainers_, is_beside);
  const auto is_asked = [&](const KnownCall& call) { return !has_own || is_beside(call); };
  bool deals_itself = std::ranges::any_of(trainers_, [&](const KnownCall& each) { return is_asked(each) && IsToldNotTo(each); });
  for (const KnownCall& sampler : loading_.made_samplers()) {
    if (!is_asked(sampler)) continue;
    if (!IsForTrainingOnly(sampler)) return true;
    deals_itself = true;
  }
  return !deals_itself;
}

std::vector<KnownCall> LightningSampling::TrainersWithoutSampler() const {
  std::vector<KnownCall> told;
  std::ranges::copy_if(trainers_, std::back_inserter(told), [&](const KnownCall& trainer) { return IsToldNotTo(trainer); });
  return told;
}

bool LightningSampling::IsToldNotTo(const KnownCall& trainer) const {
  return values_.IsFalse(index_.Arg(trainer, "use_distributed_sampler")) || values_.IsFalse(index_.Arg(trainer, "replace_sampler_ddp"));
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
