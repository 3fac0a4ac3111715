#include "analyzer/objects/lightning_trainers.h"

#include <algorithm>

#include "analyzer/objects/test_files.h"

namespace allranks::objects {
namespace {

// Under which Hydra finds the class that it makes an object of.
constexpr std::string_view kTarget = "_target_";

Told Said(const launch::WrittenSetting& written) {
  return {.is_given = true, .number = written.Integer(), .is_off = written.IsFalse(), .span = written.span, .is_setting = true};
}

}  // namespace

LightningTrainers::LightningTrainers(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                                     const ProgramIndex& index, const WrittenSettings& written)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), written_(written), values_(program, knowledge, facts) {
  for (const KnownCall& call : FindLightningCalls(program, index).trainers) {
    trainers_.push_back({.function = call.function, .expr = call.expr, .call = call, .settings = SpreadIn(call)});
  }
  if (written.empty()) return;
  for (const KnownCall& call : index.known_calls()) {
    if (call.entry->Has(knowledge::Role::Builds)) AddBuilt(call);
  }
}

// `instantiate(cfg.trainer)`, where the file says `_target_: lightning.Trainer`.
void LightningTrainers::AddBuilt(const KnownCall& build) {
  const ir::ModuleId module = program_.funcs[build.function].module;
  if (IsTestFile(program_, module)) return;
  const auto role = std::ranges::find(build.entry->roles, knowledge::Role::Builds, &knowledge::RoleOf::role);
  const ValueId settings = index_.Arg(build, program_.text(role->param));
  const std::optional<launch::WrittenSetting> target = written_.Member(module, settings, kTarget);
  const base::NameId name = target ? program_.names->Find(target->text) : base::NameId();
  const knowledge::ClassId made = name ? knowledge_.FindClass(name) : knowledge::ClassId();
  if (!made || program_.text(knowledge_[made].name) != kLightningTrainer) return;
  trainers_.push_back({.function = build.function, .expr = build.expr, .call = std::nullopt, .settings = {settings}});
}

// `**cfg.trainer`
std::vector<ValueId> LightningTrainers::SpreadIn(const KnownCall& call) const {
  const ir::ModuleId module_id = program_.funcs[call.function].module;
  const ir::Module& module = program_.modules[module_id];
  std::vector<ValueId> spread;
  if (module[call.expr].kind != ir::ExprKind::Call) return spread;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call.expr], i);
    if (arg.kind == ir::ArgKind::DoubleStar) spread.push_back(facts_.value(module_id, arg.value));
  }
  return spread;
}

Told LightningTrainers::Of(const LightningTrainer& trainer, std::string_view param) const {
  const ir::ModuleId module_id = program_.funcs[trainer.function].module;
  const ir::Module& module = program_.modules[module_id];
  ir::ExprId expr = trainer.call ? index_.ArgExpr(*trainer.call, param) : ir::ExprId();
  ValueId value = trainer.call ? index_.Arg(*trainer.call, param) : ValueId();
  // `instantiate(cfg.trainer, devices=2)`
  for (uint32_t i = 0; !trainer.call && i < ir::ArgCount(module, module[trainer.expr]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[trainer.expr], i);
    if (arg.kind != ir::ArgKind::Keyword || program_.text(arg.keyword) != param) continue;
    expr = arg.value;
    value = facts_.value(module_id, arg.value);
  }
  if (!expr && !value) return Written(trainer, param);
  if (const std::optional<launch::WrittenSetting> written = written_.Of(module_id, value)) return Said(*written);
  Told told{.is_given = true, .number = values_.CountGiven(value), .is_off = values_.IsFalse(value)};
  if (expr) told.span = {module.file, module[expr].begin, module[expr].end};
  return told;
}

Told LightningTrainers::Written(const LightningTrainer& trainer, std::string_view param) const {
  const ir::ModuleId module = program_.funcs[trainer.function].module;
  bool is_open = false;
  for (const ValueId settings : trainer.settings) {
    if (const std::optional<launch::WrittenSetting> written = written_.Member(module, settings, param)) return Said(*written);
    is_open = is_open || !written_.IsAbsent(module, settings, param);
  }
  // What is not known may be given.
  return {.is_given = is_open};
}

}  // namespace allranks::objects
