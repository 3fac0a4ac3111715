#include "analyzer/objects/lightning_validation.h"

#include <algorithm>

namespace allranks::objects {

LightningValidation::LightningValidation(const binding::Program& program, const knowledge::Knowledge& knowledge,
                                         const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), index_(index), values_(program, knowledge, facts), calls_(FindLightningCalls(program, index)) {}

bool LightningValidation::MayRun(FuncId hook) const {
  const binding::ClassId owner = program_.funcs[hook].owner;
  if (!owner || calls_.runs.empty()) return true;
  const bool is_seen = std::ranges::any_of(calls_.runs, [&](const KnownCall& run) { return IsOf(run, owner); });
  return std::ranges::any_of(calls_.runs, [&](const KnownCall& run) { return (!is_seen || IsOf(run, owner)) && Validates(run, owner); });
}

// Of the class itself or of one that derives from it.
bool LightningValidation::IsOf(const KnownCall& run, binding::ClassId owner) const {
  return std::ranges::any_of(values_.Leaves(index_.Arg(run, "model")), [&](ValueId leaf) {
    const variation::Value& value = facts_.values_store[leaf];
    if (value.kind != variation::ValueKind::Instance) return false;
    const auto& mro = program_.classes[value.class_id()].mro;
    return std::ranges::find(mro, owner) != mro.end();
  });
}

bool LightningValidation::Validates(const KnownCall& run, binding::ClassId owner) const {
  if (program_.text(run.entry->name) != kLightningFit) return true;
  if (IsSwitchedOff(program_.funcs[run.function].module)) return false;
  const auto is_given = [&](std::string_view param) {
    return index_.ArgExpr(run, param) && !values_.IsNone(index_.Arg(run, param));
  };
  if (is_given("val_dataloaders") || is_given("datamodule")) return true;
  const base::NameId own = program_.names->Find("val_dataloader");
  if (own && program_.FindMethod(owner, own)) return true;
  // A loader for training alone. Anything else may be a data module.
  const std::vector<ValueId> data = values_.Leaves(index_.Arg(run, "train_dataloaders"));
  return data.empty() || !std::ranges::all_of(data, [&](ValueId leaf) { return values_.IsA(leaf, "torch.utils.data.DataLoader"); });
}

// Every trainer of a file is told to validate on nothing.
bool LightningValidation::IsSwitchedOff(ir::ModuleId module) const {
  bool is_off = false;
  for (const KnownCall& trainer : calls_.trainers) {
    if (program_.funcs[trainer.function].module != module) continue;
    const ValueId limit = index_.Arg(trainer, "limit_val_batches");
    if (!limit || values_.Int(limit) != 0) return false;
    is_off = true;
  }
  return is_off;
}

}  // namespace allranks::objects
