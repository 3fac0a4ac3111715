#include "rules/data/lightning_runs.h"

#include <algorithm>

#include "analyzer/objects/test_files.h"

namespace allranks::rules {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

LightningRuns::LightningRuns(const Context& context)
    : context_(context), trainers_(context.program, context.knowledge, context.facts, context.index, context.settings) {
  ProgramCalls calls(context);
  for (const KnownCall& run : objects::FindLightningCalls(context.program, context.index).runs) {
    if (context.program.text(run.entry->name) != objects::kLightningFit) continue;
    const ir::ModuleId module = context.program.funcs[run.function].module;
    const auto makes = [&](const objects::LightningTrainer& trainer) {
      return calls.IsOneProgram(module, context.program.funcs[trainer.function].module) && MayHaveRanks(trainer);
    };
    if (std::ranges::any_of(trainers_.all(), makes)) fits_.push_back(run);
  }
}

// Told of devices or nodes, and not of one alone, or of how ranks work together. What is told nothing is one process before
// Lightning 2.0.
bool LightningRuns::MayHaveRanks(const objects::LightningTrainer& trainer) const {
  bool is_told = false;
  for (const std::string_view param : {"devices", "gpus", "num_nodes", "strategy"}) {
    const objects::Told told = trainers_.Of(trainer, param);
    const bool is_one = told.number == 1;
    if ((param == "devices" || param == "gpus") && is_one) return false;
    is_told = is_told || (told.is_given && !is_one);
  }
  return is_told;
}

const KnownCall* LightningRuns::FitAfter(const Site& place) const {
  const std::vector<Site> to_place = context_.index.WaysTo(place);
  const auto fit = std::ranges::find_if(fits_, [&](const KnownCall& each) {
    return std::ranges::any_of(context_.index.WaysTo({each.function, each.expr}), [&](const Site& site) {
      return std::ranges::find(to_place, site.function, &Site::function) != to_place.end();
    });
  });
  return fit == fits_.end() ? nullptr : &*fit;
}

std::vector<binding::ClassId> LightningRuns::ModulesOf(const KnownCall& fit) const {
  std::vector<binding::ClassId> classes;
  const ValueId model = context_.index.Arg(fit, "model");
  if (!model) return classes;
  for (const ValueId leaf : context_.values.Leaves(model)) {
    if (context_.values[leaf].kind == ValueKind::Instance) classes.push_back(context_.values[leaf].class_id());
  }
  return classes;
}

bool LightningRuns::MayBeOfSettings(const KnownCall& fit) const {
  std::vector<objects::FuncId> functions;
  for (const Site& site : context_.index.WaysTo({fit.function, fit.expr})) functions.push_back(site.function);
  const std::vector<objects::FuncId> run = context_.index.RunBy(std::move(functions));
  return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
    const bool builds = call.entry->Has(knowledge::Role::Builds) || call.entry->Has(knowledge::Role::LoadsUnseen);
    return builds && std::ranges::binary_search(run, call.function);
  });
}

bool LightningRuns::Trains(const KnownCall& fit, binding::ClassId owner) const {
  return std::ranges::any_of(ModulesOf(fit), [&](binding::ClassId made) { return std::ranges::count(context_.program.classes[made].mro, owner) > 0; });
}

bool LightningRuns::IsStep(objects::FuncId function, const KnownCall& fit) const {
  const binding::ClassId owner = context_.program.funcs[function].owner;
  if (!owner || context_.program.text(context_.program.function(function).name) != "training_step") return false;
  if (KnowsModule(fit)) return Trains(fit, owner);
  if (objects::IsTestFile(context_.program, context_.program.funcs[function].module)) return false;
  return objects::DerivesFrom(context_.program, context_.knowledge, owner, objects::kLightningModule) &&
         std::ranges::none_of(fits_, [&](const KnownCall& other) { return Trains(other, owner); });
}

}  // namespace allranks::rules
