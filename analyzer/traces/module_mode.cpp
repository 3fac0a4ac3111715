#include "analyzer/traces/module_mode.h"

#include <algorithm>

namespace allranks::traces {
namespace {

using knowledge::Role;
using variation::CallFact;
using variation::CallKind;
using variation::FuncId;
using variation::Value;
using variation::ValueKind;

// The module whose mode is asked for; none where nobody knows.
ValueId ModuleOf(const variation::ValueStore& values, ValueId mode) {
  return values.Kids(mode).empty() ? ValueId::None() : values.Kids(mode)[0];
}

// Constructors that call more functions than this are not read to their end.
constexpr size_t kMostFunctions = 500;

}  // namespace

void ModuleModes::Find(const std::vector<bool>& relevant) {
  asked_.clear();
  made_with_.clear();
  parts_.clear();
  std::vector<bool> is_read(program_->modules.size());
  for (uint32_t f = 0; f < relevant.size(); ++f) {
    if (relevant[f]) is_read[program_->funcs[FuncId{f}].module.index] = true;
  }
  for (uint32_t m = 0; m < is_read.size(); ++m) {
    if (!is_read[m]) continue;
    for (const ValueId value : facts_->exprs[m]) {
      if (value && facts_->values_store.IsMode(value)) asked_.merge(ClassesOf(ModuleOf(facts_->values_store, value)));
    }
  }
  if (asked_.empty()) return;
  for (uint32_t f = 0; f < program_->funcs.size(); ++f) {
    for (const auto& [expr, call] : facts_->functions[FuncId{f}].calls) {
      const bool is_made = call.kind == CallKind::Construct && call.callee &&
                           facts_->values_store[call.callee].kind == ValueKind::Class;
      if (!is_made) continue;
      std::set<ClassId>& with = made_with_[facts_->values_store[call.callee].class_id()];
      for (const ValueId arg : facts_->args(call)) AddClasses(arg, 0, &with);
    }
  }
}

std::vector<ModeChange> ModuleModes::SetBy(const CallFact& call) const {
  std::vector<ModeChange> changes;
  if (asked_.empty()) return changes;
  if (call.kind == CallKind::Known && call.receiver) AddChange(call.entry, call.receiver, facts_->args(call), &changes);
  if (call.kind == CallKind::Deferred) AddChanges(call.callee, facts_->args(call), &changes);
  return changes;
}

// `model.eval()` of one of several models, some of which nobody knows.
void ModuleModes::AddChanges(ValueId callee, std::span<const ValueId> args, std::vector<ModeChange>* changes) const {
  const Value& value = facts_->values_store[callee];
  const auto kids = facts_->values_store.Kids(callee);
  if (value.kind == ValueKind::BoundExternal) AddChange(value.entry(), kids[0], args, changes);
  if (value.kind != ValueKind::Select) return;
  AddChanges(kids[1], args, changes);
  AddChanges(kids[2], args, changes);
}

void ModuleModes::AddChange(knowledge::EntryId entry_id, ValueId module, std::span<const ValueId> args,
                            std::vector<ModeChange>* changes) const {
  const knowledge::Entry& entry = (*knowledge_)[entry_id];
  const auto sets = std::ranges::find_if(entry.roles, [](const knowledge::RoleOf& each) {
    return each.role == Role::SetTraining || each.role == Role::SetEvaluation;
  });
  if (sets == entry.roles.end() || !module) return;
  const std::set<ClassId> classes = ClassesOf(module);
  // Of what module a parameter is, each caller says.
  const bool is_open = facts_->values_store.has_param(module);
  if (!is_open && std::ranges::none_of(classes, [&](ClassId each) { return IsAsked(each); })) return;
  if (sets->role == Role::SetEvaluation) return changes->push_back({module, facts_->values_store.False()});
  const auto index = static_cast<size_t>(std::ranges::find(entry.params, sets->param) - entry.params.begin());
  changes->push_back({module, index < args.size() && args[index] ? args[index] : facts_->values_store.True()});
}

bool ModuleModes::IsMadeBy(const CallFact& call) const {
  if (asked_.empty() || call.kind != CallKind::Construct || !call.callee) return false;
  const Value& made = facts_->values_store[call.callee];
  return made.kind == ValueKind::Class && IsAsked(made.class_id());
}

// Whether the mode of such a module or of a part of it is asked for.
bool ModuleModes::IsAsked(ClassId class_id) const {
  return std::ranges::any_of(PartsOf(class_id), [&](ClassId part) {
    return std::ranges::any_of(asked_, [&](ClassId asked) { return IsBaseOf(asked, part) || IsBaseOf(part, asked); });
  });
}

std::set<ClassId> ModuleModes::ClassesOf(ValueId module) const {
  std::set<ClassId> classes;
  AddClasses(module, 0, &classes);
  return classes;
}

void ModuleModes::AddClasses(ValueId value, int depth, std::set<ClassId>* classes) const {
  constexpr int kDeepest = 8;
  if (!value || depth > kDeepest) return;
  const Value& known = facts_->values_store[value];
  switch (known.kind) {
    case ValueKind::Instance:
      classes->insert(known.class_id());
      break;
    case ValueKind::Param:
      AddClasses(facts_->param(known.function(), known.param_index()), depth + 1, classes);
      break;
    case ValueKind::Select:
    case ValueKind::Object:
    case ValueKind::Tuple:
      for (const ValueId kid : facts_->values_store.Kids(value)) AddClasses(kid, depth + 1, classes);
      break;
    default:
      break;
  }
}

bool ModuleModes::IsBaseOf(ClassId base, ClassId derived) const {
  return std::ranges::count(program_->classes[derived].mro, base) > 0;
}

const std::set<ClassId>& ModuleModes::PartsOf(ClassId class_id) const {
  const auto [known, is_new] = parts_.try_emplace(class_id);
  if (!is_new) return known->second;
  std::set<ClassId> parts;
  std::set<FuncId> seen;
  AddParts(class_id, &parts, &seen);
  return parts_[class_id] = std::move(parts);
}

void ModuleModes::AddParts(ClassId class_id, std::set<ClassId>* parts, std::set<FuncId>* seen) const {
  if (!parts->insert(class_id).second) return;
  if (const auto with = made_with_.find(class_id); with != made_with_.end()) {
    for (const ClassId each : with->second) AddParts(each, parts, seen);
  }
  const base::NameId init = program_->names->Find("__init__");
  const FuncId constructor = init ? program_->FindMethod(class_id, init) : FuncId::None();
  if (constructor) AddMade(constructor, parts, seen);
}

void ModuleModes::AddMade(FuncId function, std::set<ClassId>* parts, std::set<FuncId>* seen) const {
  if (seen->size() > kMostFunctions || !seen->insert(function).second) return;
  for (const auto& [expr, call] : facts_->functions[function].calls) {
    const bool is_made = call.kind == CallKind::Construct && call.callee &&
                         facts_->values_store[call.callee].kind == ValueKind::Class;
    if (is_made) AddParts(facts_->values_store[call.callee].class_id(), parts, seen);
    else if (call.kind == CallKind::Function && call.function) AddMade(call.function, parts, seen);
  }
}

bool ModuleModes::Same(const ModuleModes& other) const {
  return asked_ == other.asked_ && std::ranges::all_of(other.parts_, [&](const auto& known) {
           return PartsOf(known.first) == known.second;
         });
}

void ModeMemory::Make(const ModuleModes& modes, ValueId module) {
  for (const ClassId each : modes.ClassesOf(module)) {
    trains.erase(each);
    ++made[each];
  }
}

// The classes that `module` and its parts are known by here: one that is a base of another may be the same object.
std::vector<ClassId> ModeMemory::Affected(const ModuleModes& modes, ValueId module) const {
  std::set<ClassId> affected;
  for (const ClassId each : modes.ClassesOf(module)) affected.insert(modes.PartsOf(each).begin(), modes.PartsOf(each).end());
  std::vector<ClassId> all(affected.begin(), affected.end());
  for (const auto& [known, whether] : trains) {
    const bool is_same = !affected.contains(known) && std::ranges::any_of(affected, [&](ClassId part) {
      return modes.IsBaseOf(known, part) || modes.IsBaseOf(part, known);
    });
    if (is_same) all.push_back(known);
  }
  return all;
}

void ModeMemory::Set(const ModuleModes& modes, ValueId module, ValueId whether) {
  const std::set<ClassId> of = modes.ClassesOf(module);
  for (const ClassId part : Affected(modes, module)) {
    if (IsOneOfSeveral(modes, part, of)) trains.erase(part);
    else trains[part] = whether;
  }
}

// Whether another module than the one at hand, of one of the classes `of`, is such a part or has one.
bool ModeMemory::IsOneOfSeveral(const ModuleModes& modes, ClassId part, const std::set<ClassId>& of) const {
  return std::ranges::any_of(made, [&](const auto& known) {
    const auto& [other, count] = known;
    if (!modes.PartsOf(other).contains(part)) return false;
    if (of.contains(other)) return count > 1;
    // A part of the module, or what it is a part of itself.
    return std::ranges::none_of(of, [&](ClassId each) {
      return modes.PartsOf(each).contains(other) || modes.PartsOf(other).contains(each) || modes.IsBaseOf(each, other) ||
             modes.IsBaseOf(other, each);
    });
  });
}

void ModeMemory::Forget(const ModuleModes& modes, ValueId module, ValueId whether) {
  for (const ClassId part : Affected(modes, module)) {
    const auto known = trains.find(part);
    if (known != trains.end() && known->second != whether) trains.erase(known);
  }
}

ValueId ModeMemory::Known(const ModuleModes& modes, const variation::ValueStore& values, ValueId mode) const {
  std::set<ValueId> answers;
  for (const ClassId asked : modes.ClassesOf(ModuleOf(values, mode))) {
    std::set<ValueId> exact;
    std::set<ValueId> of_bases;
    for (const auto& [known, whether] : trains) {
      if (modes.IsBaseOf(asked, known)) exact.insert(whether);
      else if (modes.IsBaseOf(known, asked)) of_bases.insert(whether);
    }
    if (exact.empty() && of_bases.empty()) return mode;
    answers.merge(exact.empty() ? of_bases : exact);
  }
  return answers.size() == 1 ? *answers.begin() : mode;
}

}  // namespace allranks::traces
