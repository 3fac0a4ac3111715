// Rounds over all functions until fields, globals and parameters no longer change.
//
// A round evaluates every function once; a callee that this round has not seen yet is evaluated first, so results
// flow bottom-up within a round, and through fields and parameters from one round to the next.
#include <algorithm>
#include <limits>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/failures.h"

namespace allranks::variation {
namespace {

// Chains constructor argument -> field -> argument of another constructor are seen this far.
constexpr uint32_t kMostRounds = 4;
// Deeper chains of calls are met from above in the next round.
constexpr uint32_t kDeepestDemand = 60;

// Definitions of the project that the knowledge base describes: their own code is not consulted.
void FindKnownDefinitions(Tables& tables) {
  const binding::Program& program = tables.program;
  const auto qualified = [&](ir::ModuleId module, NameId name) {
    return program.names->Find(program.infos[module].dotted + "." + std::string(program.text(name)));
  };
  for (uint32_t i = 0; i < program.funcs.size(); ++i) {
    const binding::Func& func = program.funcs[FuncId{i}];
    const ir::Function& function = program.function(FuncId{i});
    if (function.qualified) tables.known_functions[i] = tables.knowledge.FindEntry(function.qualified);
    if (function.qualified || func.owner || func.parent || !function.name || func.function == ir::kTopLevel) continue;
    if (const NameId name = qualified(func.module, function.name)) {
      tables.known_functions[i] = tables.knowledge.FindEntry(name);
    }
  }
  for (uint32_t i = 0; i < program.classes.size(); ++i) {
    const binding::ClassInfo& info = program.classes[binding::ClassId{i}];
    if (const NameId name = qualified(info.module, program.ir_class(binding::ClassId{i}).name)) {
      tables.known_classes[i] = tables.knowledge.FindClass(name);
    }
  }
  const auto resolve = [&](NameId name) {
    const std::string_view text = program.text(name);
    const size_t dot = text.rfind('.');
    if (dot == std::string_view::npos) return binding::Target{};
    const ir::ModuleId module = program.FindModule(text.substr(0, dot));
    if (!module) return binding::Target{};
    return program.Lookup(module, program.names->Intern(text.substr(dot + 1)));
  };
  // The same through re-exports: `accelerate.Accelerator` is defined in accelerate/accelerator.py.
  for (uint32_t i = 0; i < tables.knowledge.entries().size(); ++i) {
    const binding::Target target = resolve(tables.knowledge[knowledge::EntryId{i}].name);
    if (target.kind == binding::TargetKind::Function) {
      tables.known_functions[target.function.index] = knowledge::EntryId{i};
    }
  }
  for (uint32_t i = 0; i < tables.knowledge.class_count(); ++i) {
    const binding::Target target = resolve(tables.knowledge[knowledge::ClassId{i}].name);
    if (target.kind == binding::TargetKind::Class) tables.known_classes[target.class_id.index] = knowledge::ClassId{i};
  }
}

void FindKnownBases(Tables& tables) {
  for (uint32_t i = 0; i < tables.program.classes.size(); ++i) {
    const binding::ClassInfo& info = tables.program.classes[binding::ClassId{i}];
    auto& bases = tables.known_bases[i];
    for (const binding::ClassId base : info.mro) {
      if (const knowledge::ClassId known = tables.known_classes[base.index]) bases.push_back(known);
    }
    for (const NameId name : info.external_bases) {
      if (const knowledge::ClassId known = tables.knowledge.FindClass(name)) bases.push_back(known);
    }
  }
}

// All ranks hold the same modules in the same modes.
void FindModes(Tables& tables) {
  for (const knowledge::Entry& entry : tables.knowledge.entries()) {
    if (!entry.Has(knowledge::Role::TrainingMode)) continue;
    const uint32_t symbol = tables.NameSymbol(entry.name);
    tables.store.SetMode(symbol);
    tables.store.SetUniform(symbol);
  }
}

// What callers, the default and the name say of each parameter, once the rounds are over.
void FillParams(Tables& tables) {
  Facts& facts = tables.facts;
  facts.first_param.clear();
  facts.params.clear();
  facts.param_has_callers.clear();
  for (uint32_t f = 0; f < tables.program.funcs.size(); ++f) {
    facts.first_param.push_back(static_cast<uint32_t>(facts.params.size()));
    const auto count = static_cast<uint32_t>(tables.program.function(FuncId{f}).params.size());
    for (uint32_t i = 0; i < count; ++i) {
      const ValueId from_calls = tables.ReadParam(FuncId{f}, i);
      ValueId value = tables.AssumedParam(FuncId{f}, i);
      // Callers that disagree answer for themselves; their data axes hold for all of them.
      if (tables.IsParamJoined(FuncId{f}, i) && value) {
        const Axes data = tables.store.axes(value) & knowledge::kSoftAxes;
        const ValueKind kind = tables.store[LookThrough(tables, value)].kind;
        const bool is_object = kind == ValueKind::Object || kind == ValueKind::Instance || kind == ValueKind::Group;
        if (!is_object) value = data.empty() ? ValueId::None() : tables.store.Symbol(
              tables.SiteSymbol(FuncId{f}, tables.program.function(FuncId{f}).params[i].begin, SiteUse::Unseen), data,
              kByNameOnly);
      }
      const binding::ClassId owner = i == 0 ? tables.program.funcs[FuncId{f}].owner : binding::ClassId();
      const bool is_object = owner && binding::ReceiverOf(tables.program, FuncId{f}) == binding::ReceiverKind::Instance;
      if (is_object && tables.HasOwnFields(owner)) {
        const bool is_one = value && tables.store[value].kind == ValueKind::Instance && !tables.store.has_param(value);
        if (!is_one) value = tables.store.Make(Value::Instance(owner), {});
      }
      facts.params.push_back(value);
      facts.param_has_callers.push_back(from_calls.has_value());
    }
  }
}

// Lists of arguments of facts that are gone stay behind; this leaves those that facts name.
void KeepArgumentsInUse(Facts& facts) {
  std::vector<ValueId> kept;
  for (FunctionFacts& function : facts.functions) {
    for (auto* list : {&function.calls, &function.enters, &function.leaves, &function.iterations}) {
      for (auto& [expr, call] : *list) {
        const auto args = facts.args(call);
        call.args = static_cast<uint32_t>(kept.size());
        kept.insert(kept.end(), args.begin(), args.end());
      }
    }
  }
  facts.values = std::move(kept);
}

// Of a function that was given up nothing is known: what the round before found refers to arguments that are gone.
void NoteCut(Tables& tables, FuncId function, base::CutKind kind) {
  tables.facts.functions[function] = {};
  tables.effects[function.index].clear();
  tables.calls_to_file[function.index] = kNoFile;
  const ir::ModuleId module = tables.program.funcs[function].module;
  const bool is_known = std::ranges::any_of(tables.cut, [&](const CutFunction& cut) { return tables.program.funcs[cut.function].module == module; });
  if (!is_known) tables.cut.push_back({function, kind});
}

}  // namespace

void EvaluateFunction(Tables& tables, FuncId function) {
  if (tables.round_of[function.index] == tables.round || tables.depth >= kDeepestDemand) return;
  tables.round_of[function.index] = tables.round;
  const uint32_t depth = tables.depth++;
  try {
    const base::Watch::Turn turn(tables.watch, tables.program.funcs[function].module.index);
    if (tables.recording != nullptr) tables.recording->Evaluate(tables, function);
    else FunctionEvaluator(tables, function).Run();
  } catch (const base::Cut& cut) {
    if (cut.kind == base::CutKind::Stopped) throw;
    NoteCut(tables, function, cut.kind);
  }
  tables.depth = depth;
}

void RunRounds(Tables& tables) {
  const binding::Program& program = tables.program;
  for (tables.round = 1; tables.round <= kMostRounds; ++tables.round) {
    tables.store.ForgetClosed();
    for (uint32_t m = 0; m < program.modules.size(); ++m) {
      EvaluateFunction(tables, program.func(ir::ModuleId{m}, ir::kTopLevel));
    }
    for (uint32_t f = 0; f < program.funcs.size(); ++f) EvaluateFunction(tables, FuncId{f});
    if (!tables.NextRound()) break;
  }
  ++tables.round;
  KeepArgumentsInUse(tables.facts);
  FillParams(tables);
}

void Prepare(Tables& tables) {
  Facts& facts = tables.facts;
  facts.functions.resize(tables.program.funcs.size());
  for (const ir::Module& module : tables.program.modules) facts.exprs.emplace_back().resize(module.exprs.size());
  tables.ragged_mark = tables.knowledge.FindMark(tables.program.names->Intern("ragged"));
  tables.store.SetShapeMark(tables.ragged_mark);
  tables.process_group_class = tables.program.names->Intern("torch.distributed.ProcessGroup");
  tables.module_class = tables.knowledge.FindClass(tables.program.names->Intern("torch.nn.Module"));
  FindKnownDefinitions(tables);
  FindKnownBases(tables);
  FindModes(tables);
  for (const auto& [variable, formula] : tables.knowledge.environment()) {
    tables.store.SetVariable(variable, FormulaValue(tables, formula, nullptr, {}, {}));
  }
}

Facts ComputeVariation(const binding::Program& program, const knowledge::Knowledge& knowledge) {
  base::Watch watch({});
  std::vector<CutFunction> cut;
  return ComputeVariation(program, knowledge, watch, cut);
}

Facts ComputeVariation(const binding::Program& program, const knowledge::Knowledge& knowledge, base::Watch& watch,
                       std::vector<CutFunction>& cut) {
  Facts facts;
  Tables tables(program, knowledge, facts);
  tables.watch = &watch;
  Recording recording(program.funcs.size(), false);
  tables.recording = &recording;
  Prepare(tables);
  RunRounds(tables);
  cut = std::move(tables.cut);
  return facts;
}

const FunctionFacts& FunctionEvaluator::Evaluated(FuncId callee) {
  EvaluateFunction(tables_, callee);
  if (tables_.log != nullptr) {
    tables_.log->Note({.kind = EventKind::Evaluated, .table = {}, .owner = callee.index,
                       .key = tables_.recording->NumberOf(callee), .value = {}});
  }
  return tables_.facts.functions[callee];
}

FunctionEvaluator::FunctionEvaluator(Tables& tables, FuncId function)
    : tables_(tables),
      store_(tables.store),
      knowledge_(tables.knowledge),
      id_(function),
      func_(tables.program.funcs[function]),
      module_(tables.program.module_of(function)),
      function_(tables.program.function(function)),
      scope_(tables.ScopeOf(function)),
      definitions_(tables),
      members_(tables),
      own_fields_(tables),
      containers_(tables, module_.language),
      chosen_(tables, containers_),
      arguments_(tables, containers_, definitions_, function),
      built_ins_(tables, module_.language),
      results_(tables, containers_),
      iterations_(tables, containers_, members_, function, [this](ir::ExprId site, ValueId iterable) { return IterateByRunning(site, iterable); }),
      broadcasts_(tables, containers_),
      yields_(tables),
      path_(store_),
      returns_(tables) {}

void FunctionEvaluator::Run() {
  env_.slots.resize(scope_.names.size());
  if (module_.language == ir::Language::Python) env_.passed.resize(function_.params.size());
  for (uint32_t i = 0; i < function_.params.size(); ++i) {
    const ValueId value = definitions_.Param(id_, i);
    env_.slots[scope_.slots.at(function_.params[i].name)] = value;
  }
  if (const ValueId comes = tables_.Read(TableId::Handlers, id_.index, 0)) path_.Enter(comes);
  EvalBlock(function_.body);
  facts_.returns = ReturnValue();
  facts_.yields = function_.is_generator ? yields_.Count(containers_, function_exit_axes_) : ItemsUntilStop();
  facts_.stored = StoredValues();
  NoteFieldsMade();
  tables_.effects[id_.index] = returns_.LeftBehind(env_.reachable ? &env_.effects : nullptr);
  facts_.evaluated = true;
  const auto keep_last = [](auto& list) {
    // A loop body is evaluated more than once; its last evaluation counts.
    std::ranges::stable_sort(list, {}, [](const auto& item) { return item.first; });
    const auto last = std::unique(list.rbegin(), list.rend(), [](const auto& a, const auto& b) {
      return a.first == b.first;
    });
    list.erase(list.begin(), last.base());
    list.shrink_to_fit();
  };
  keep_last(facts_.calls);
  keep_last(facts_.enters);
  keep_last(facts_.leaves);
  keep_last(facts_.iterations);
  keep_last(facts_.trip_counts);
  tables_.calls_to_file[id_.index] = CallsToFile(tables_, id_, facts_.calls);
  // Set where the function is defined, in the evaluation of what is around it.
  facts_.decorators = std::move(tables_.facts.functions[id_].decorators);
  tables_.facts.functions[id_] = std::move(facts_);
}

ValueId FunctionEvaluator::ReturnValue() {
  if (function_.is_generator) return yields_.ItemValue();
  if (returns_.empty()) return store_.NoneValue();
  return returns_.Value(env_.reachable ? store_.NoneValue() : ValueId::None(), function_exit_axes_);
}

void FunctionEvaluator::NoteReturn(ValueId value) {
  std::vector<ValueId> held;
  for (uint32_t i = 0; i < function_.params.size(); ++i) held.push_back(HeldBy(i));
  returns_.Note(path_.Condition(), value, std::move(held), env_.effects);
}

// What the caller finds in what it handed in for a parameter; none if nothing is stored there.
ValueId FunctionEvaluator::HeldBy(uint32_t param) const {
  if (function_.params[param].is_out) return env_.slots[param];
  return param < env_.passed.size() ? env_.passed[param].content : ValueId::None();
}

std::vector<ValueId> FunctionEvaluator::StoredValues() {
  std::vector<ValueId> values;
  for (uint32_t i = 0; i < function_.params.size(); ++i) {
    if (!HeldBy(i) && !returns_.IsStoredIn(i)) continue;
    const ValueId as_passed = definitions_.Param(id_, i);
    const ValueId at_end = HeldBy(i) ? HeldBy(i) : as_passed;
    const ValueId value = returns_.Held(i, as_passed, env_.reachable ? at_end : ValueId::None(), function_exit_axes_);
    if (!value || value == as_passed) continue;
    values.resize(function_.params.size());
    values[i] = function_.params[i].is_out ? value : tables_.Kept(value, Axes::Of(Axis::Data));
  }
  return values;
}

}  // namespace allranks::variation
