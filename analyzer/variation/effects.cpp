// Effects as data (effects.h says what they are), and what the evaluator does with them: the names and containers that
// are not its own, what it leaves behind at its end, and what a call leaves behind for it.
#include "analyzer/variation/effects.h"

#include <algorithm>

#include "analyzer/variation/entry_index.h"
#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

Effect* FindEffect(Effects& effects, ValueId object, NameId attr) {
  const auto found = std::ranges::find_if(effects, [&](const Effect& effect) { return effect.object == object && effect.attr == attr; });
  return found == effects.end() ? nullptr : &*found;
}

ValueId Both(ValueStore& store, ValueId first, ValueId second) {
  if (!first || !second) return first ? first : second;
  const ValueId kids[] = {first, second};
  return store.And(kids);
}

void AddEffect(ValueStore& store, Effects& effects, const Effect& effect) {
  Effect* const before = FindEffect(effects, effect.object, effect.attr);
  if (before == nullptr) {
    effects.push_back(effect);
  } else if (!effect.when) {
    *before = effect;
  } else {
    before->value = store.Select(effect.when, effect.value, before->value);
    const ValueId either[] = {before->when, effect.when};
    if (before->when) before->when = store.Or(either);
  }
}

Effects EitherOf(ValueStore& store, ValueId condition, const Effects& then_effects, const Effects& else_effects) {
  if (then_effects == else_effects) return then_effects;
  const ValueId otherwise = store.Not(condition);
  Effects either;
  EntryIndex<Effect> in_else(else_effects);
  std::vector<bool> is_of_both(else_effects.size());
  for (size_t i = 0; i < then_effects.size(); ++i) {
    Effect effect = then_effects[i];
    const size_t place = in_else.Find(effect, i);
    if (place == in_else.size()) {
      effect.when = Both(store, condition, effect.when);
    } else {
      const Effect& other = else_effects[place];
      is_of_both[place] = true;
      if (effect.value != other.value) effect.value = store.Select(condition, effect.value, other.value);
      if (effect.when != other.when) {
        const ValueId ways[] = {Both(store, condition, effect.when), Both(store, otherwise, other.when)};
        effect.when = store.Or(ways);
      }
    }
    either.push_back(effect);
  }
  for (size_t i = 0; i < else_effects.size(); ++i) {
    if (is_of_both[i]) continue;
    either.push_back(else_effects[i]);
    either.back().when = Both(store, otherwise, either.back().when);
  }
  return either;
}

// Where a name stands that is a variable of a function around or of a module; the object is none of any other name.
VariablePlace FunctionEvaluator::OuterPlace(NameId name) {
  const bool is_global = std::ranges::count(scope_.globals, name) > 0;
  for (FuncId outer = func_.parent; outer && !is_global; outer = tables_.program.funcs[outer].parent) {
    if (tables_.ScopeOf(outer).slots.contains(name)) return {definitions_.VariablesOf(outer), TableId::Captured, outer.index, name};
  }
  const binding::Target target = tables_.program.Lookup(func_.module, name);
  if (target.kind != binding::TargetKind::Variable) return {};
  return {definitions_.VariablesOf(target.module), TableId::Globals, target.module.index, target.name};
}

// What holds in a place from here on, for this function and for those that call it.
void FunctionEvaluator::Put(ValueId object, NameId attr, ValueId value) {
  KeepOnHeap(object, attr, value);
  const ValueKind kind = store_[object].kind;
  const bool is_one = kind != ValueKind::Instance && !IsConstant(store_[object]);
  if (!is_one || module_.language != ir::Language::Python) return;
  const bool is_variable = kind == ValueKind::Module || kind == ValueKind::Function;
  const ValueId kept = is_variable ? value : tables_.Kept(value, Axes::Of(Axis::Data));
  AddEffect(store_, env_.effects, {.object = object, .attr = attr, .value = kept, .when = {}});
}

// What `name` names is the same container or number as before, with other contents.
void FunctionEvaluator::ChangeName(NameId name, ValueId changed) {
  const auto slot = scope_.slots.find(name);
  if (slot != scope_.slots.end() || module_.language != ir::Language::Python) {
    const bool is_passed = slot != scope_.slots.end() && slot->second < env_.passed.size();
    const bool is_rebound = is_passed && env_.passed[slot->second].is_rebound;
    AssignName(name, changed);
    if (!is_passed) return;
    env_.passed[slot->second].is_rebound = is_rebound;
    if (!is_rebound) env_.passed[slot->second].content = changed;
    return;
  }
  const bool is_of_clause = std::ranges::any_of(env_.extra, [&](const auto& extra) { return extra.first == name; });
  const VariablePlace place = is_of_clause ? VariablePlace{} : OuterPlace(name);
  if (!place.object) return AssignName(name, changed);
  const ValueId kept = tables_.Kept(Closed(changed), Axes::Of(Axis::Data));
  tables_.Record(place.table, place.owner, place.name.index, kept);
  KeepOnHeap(place.object, place.name, changed);
  const Effect effect{.object = place.object, .attr = place.name, .value = tables_.Kept(changed, Axes::Of(Axis::Data)), .when = {}};
  AddEffect(store_, env_.effects, effect);
}

// What others find that read the variable: the object that it stands for has got an attribute.
void FunctionEvaluator::NoteContents(NameId name, ValueId now) {
  if (const auto slot = scope_.slots.find(name); slot != scope_.slots.end()) return RecordSlot(name, slot->second, now);
  const VariablePlace place = OuterPlace(name);
  if (place.object) tables_.Record(place.table, place.owner, place.name.index, tables_.Kept(Closed(now), Axes::Of(Axis::Data)));
}

// A variable of this function that somebody else stored in.
void FunctionEvaluator::ChangeSlot(uint32_t slot, ValueId value, ValueId when) {
  const ValueId before = env_.slots[slot];
  if (!when) env_.slots[slot] = value;
  else env_.slots[slot] = before ? store_.Select(when, value, before) : store_.WithAxes(value, store_.axes(when));
  for (const ir::Stmt* loop : loops_) {
    LoopSlots& slots = slots_in_[loop];
    for (std::vector<uint32_t>* each : {&slots.assigned, &slots.carried}) {
      if (std::ranges::count(*each, slot) == 0) each->push_back(slot);
    }
  }
}

void FunctionEvaluator::TakeOver(const Effect& effect) {
  const Value& object = store_[effect.object];
  const bool is_own_module = object.kind == ValueKind::Module && func_.function == ir::kTopLevel && object.module() == func_.module;
  const bool is_own = is_own_module || effect.object == definitions_.VariablesOf(id_);
  if (const auto slot = scope_.slots.find(effect.attr); is_own && slot != scope_.slots.end()) {
    return ChangeSlot(slot->second, effect.value, effect.when);
  }
  const ValueId* before = HeapValue(effect.object, effect.attr);
  if (!effect.when) KeepOnHeap(effect.object, effect.attr, effect.value);
  else if (before != nullptr) KeepOnHeap(effect.object, effect.attr, store_.Select(effect.when, effect.value, *before));
  // A test of what is this function's own is no matter to its callers.
  if (effect.attr || store_.has_param(effect.object)) AddEffect(store_, env_.effects, effect);
}

bool FunctionEvaluator::IsKnownByAttributes(ValueId object) const {
  return store_[object].is_dict(DictKind::Attributes);
}

// An object that is known by its attributes, with what they were assigned since it was made.
ValueId FunctionEvaluator::AsItIsNow(ValueId object) {
  if (!object || !IsKnownByAttributes(object)) return object;
  std::vector<ValueId> kids(store_.Kids(object).begin(), store_.Kids(object).end());
  for (const HeapEntry& entry : env_.heap) {
    if (!entry.attr || !entry.value || entry.object != AsItWasMade(object) || kids.size() > kMostItemKids) continue;
    const ValueId key = store_.Str(entry.attr);
    const Items items{kids};
    const size_t place = items.PlaceOf(key);
    if (place == items.size()) kids.insert(kids.end(), {key, entry.value});
    else kids[2 * place + 1] = entry.value;
  }
  const ValueId now = store_.Make(Value::Dict(DictKind::Attributes, store_[object].symbol()), kids);
  if (now != object) made_as_.emplace(now, AsItWasMade(object));
  return now;
}

const ValueId* FunctionEvaluator::HeapValue(ValueId object, NameId attr) const { return FindStored(env_.heap, AsItWasMade(object), attr); }

void FunctionEvaluator::KeepOnHeap(ValueId object, NameId attr, ValueId value) { StoreOn(env_.heap, AsItWasMade(object), attr, value); }

// The object that stands for it on the heap.
ValueId FunctionEvaluator::AsItWasMade(ValueId object) const {
  const auto made = made_as_.find(object);
  return made == made_as_.end() ? object : made->second;
}

// After a call: what the function left behind, with the arguments that it was given. `when`: none if it surely ran.
void FunctionEvaluator::TakeOver(FuncId function, CallSubstitution& substitution, ValueId when) {
  for (const Effect& effect : tables_.effects[function.index]) {
    const ValueId object = AsItWasMade(substitution(effect.object));
    const bool is_foreign = store_[object].kind == ValueKind::Param && store_[object].function() == function;
    const bool is_one = store_[object].kind != ValueKind::Instance && !IsConstant(store_[object]);
    if (is_foreign || !is_one) continue;
    const ValueId condition = Both(store_, when, effect.when ? substitution(effect.when) : ValueId());
    if (condition == store_.False()) continue;
    TakeOver({.object = object, .attr = effect.attr, .value = substitution(effect.value),
              .when = condition == store_.True() ? ValueId() : condition});
  }
}

// A function that is handed to one of which nothing is known may be called by it, with arguments nobody knows.
void FunctionEvaluator::MayCall(ir::ExprId site, std::span<const CallArgument> args) {
  for (const CallArgument& arg : args) {
    const ValueId known = arg.value ? LookThrough(tables_, arg.value) : ValueId();
    if (!known || store_[known].kind != ValueKind::Function) continue;
    const FuncId function = store_[known].function();
    Evaluated(function);
    if (tables_.effects[function.index].empty()) continue;
    std::vector<ValueId> unknown;
    for (uint32_t i = 0; i < tables_.program.function(function).params.size(); ++i) unknown.push_back(Unseen(arg.expr, i + 1));
    CallSubstitution substitution(tables_, known, function, unknown);
    TakeOver(function, substitution, store_.Symbol(Site(site, SiteUse::Called), {}));
  }
}

}  // namespace allranks::variation
