#include "rules/data/worker_seeds.h"

#include <algorithm>

#include "analyzer/launch/job.h"
#include "analyzer/objects/open_params.h"
#include "analyzer/objects/rank_words.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kWorkerInfo = "get_worker_info";

ValueId SeedOf(const Context& context, const KnownCall& call) {
  for (const knowledge::RoleOf& role : call.entry->roles) {
    if (role.role == knowledge::Role::Seed) return context.index.Arg(call, context.program.text(role.param));
  }
  return ValueId::None();
}

// The name behind a value that a call or an attribute made: `initial_seed` of `torch.initial_seed()`.
std::string_view OperationOf(const Context& context, ValueId part) {
  const variation::Value& value = context.values[part];
  if (value.kind == ValueKind::External) return context.values.External(part);
  if (value.kind != ValueKind::Derived) return {};
  const base::NameId name = context.facts.values_store.OperationOf(value);
  return name ? context.program.text(name) : std::string_view();
}

}  // namespace

WorkerSeed WorkerSeeds::Of(ValueId worker_init_fn, Site& seed) const {
  std::vector<FuncId> functions;
  context_.values.AnyPart(worker_init_fn, [&](ValueId part) {
    if (context_.values[part].kind == ValueKind::Function) functions.push_back(context_.values[part].function());
    return false;
  });
  if (functions.size() != 1) return WorkerSeed::Unknown;
  WorkerSeed found = WorkerSeed::Unknown;
  for (const KnownCall& call : context_.index.known_calls()) {
    if (call.function != functions[0] || !call.entry->Has(knowledge::Role::Seed)) continue;
    const ValueId number = SeedOf(context_, call);
    if (!number || CountsRanks(number)) return WorkerSeed::Unknown;
    const WorkerSeed kind = KindOf(call, number);
    if (kind == WorkerSeed::Unknown) return kind;
    if (kind == WorkerSeed::OfLoader) {
      found = found == WorkerSeed::Unknown ? kind : found;
    } else if (found != WorkerSeed::OfWorker && found != kind) {
      found = kind;
      seed = {call.function, call.expr};
    }
  }
  return found;
}

WorkerSeed WorkerSeeds::KindOf(const KnownCall& call, ValueId number) const {
  const FuncId function = call.function;
  if (IsOfLoader(number)) return WorkerSeed::OfLoader;
  if (CountsFromState(call) && !KeepsNumPy(context_.program.funcs[function].module)) return WorkerSeed::OfWorker;
  const bool has_number = context_.values.AnyPart(number, [&](ValueId part) {
    return context_.values[part].kind == ValueKind::Param && context_.values[part].function() == function;
  });
  if (has_number && IsNumberOfWorker(number, function)) return WorkerSeed::OfWorker;
  return IsOneNumber(number, function, 0) ? WorkerSeed::OneForAll : WorkerSeed::Unknown;
}

// A parameter of a function around it counts if every call passes one number.
bool WorkerSeeds::IsOneNumber(ValueId seed, FuncId function, int depth) const {
  constexpr int kMostCalls = 4;
  if (!seed || depth > kMostCalls || CountsRanks(seed) || IsOfLoader(seed)) return false;
  const variation::Value& value = context_.values[seed];
  if (value.kind != ValueKind::Param) return settings_.AreAllOrConstant(seed, nullptr);
  const FuncId owner = value.function();
  const auto callers = context_.index.CallersOf(owner);
  return owner != function && !callers.empty() && std::ranges::all_of(callers, [&](const Site& caller) {
    return IsOneNumber(context_.index.PassedBy(caller, owner, value.param_index()), function, depth + 1);
  });
}

bool WorkerSeeds::KeepsNumPy(ir::ModuleId module) const {
  constexpr launch::Version kSeedsNumPy{1, 9};
  return context_.launches.pins.AreOlderThan(context_.program.infos[module].path, kSeedsNumPy);
}

bool WorkerSeeds::ReachesDraw(const Site& seed, WorkerSeed kind, std::string_view draw) const {
  bool torch = false, numpy = false, python = false;
  for (const KnownCall& call : context_.index.known_calls()) {
    if (call.function != seed.function || !call.entry->Has(knowledge::Role::Seed)) continue;
    const ValueId number = SeedOf(context_, call);
    if (!number || KindOf(call, number) != kind) continue;
    const std::string_view name = context_.program.text(call.entry->name);
    // A helper of a library seeds all three.
    const bool is_own = name.starts_with("numpy.") || name.starts_with("random.") || name.starts_with("torch.");
    numpy = numpy || !is_own || name.starts_with("numpy.");
    python = python || !is_own || name.starts_with("random.");
    torch = torch || !is_own || name.starts_with("torch.");
  }
  if (draw.starts_with("numpy.")) return numpy;
  if (draw.starts_with("random.")) return python;
  return draw.starts_with("torch.") || draw.starts_with("torchvision.") ? torch : torch && numpy && python;
}

bool WorkerSeeds::IsOfWorkerInfo(const KnownCall& call) const {
  const ValueId number = call.entry->Has(knowledge::Role::Seed) ? SeedOf(context_, call) : ValueId::None();
  if (!number || CountsRanks(number)) return false;
  const bool is_id = OperationOf(context_, number) == "id";
  return is_id && context_.values.AnyPart(number, [&](ValueId part) { return OperationOf(context_, part).ends_with(kWorkerInfo); });
}

bool WorkerSeeds::CountsRanks(ValueId seed) const {
  return context_.values.AnyPart(seed, [&](ValueId part) {
    if (!context_.facts.values_store[part].axes.empty()) return true;
    const variation::Value& value = context_.values[part];
    base::NameId name;
    if (value.kind == ValueKind::Derived) name = context_.facts.values_store.OperationOf(value);
    if (value.kind == ValueKind::Param) name = objects::NameOfOpenParam(context_.program, context_.facts, part);
    return name && objects::RankWords::IsWord(context_.program.text(name));
  });
}

bool WorkerSeeds::IsOfLoader(ValueId seed) const {
  return context_.values.AnyPart(seed, [&](ValueId part) { return OperationOf(context_, part).ends_with("initial_seed"); });
}

// `np.random.get_state()[1][0] + number`: NumPy puts the same word there for whatever list of numbers it is seeded with, and loaders seed it
// with such a list. A number that it was seeded with before would stand there.
bool WorkerSeeds::CountsFromState(const KnownCall& call) const {
  const ir::ModuleId module_id = context_.program.funcs[call.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::ExprId seed = context_.index.ArgExpr(call, "seed");
  if (!seed || module[seed].kind != ir::ExprKind::Binary) return false;
  const bool is_seeded_before = std::ranges::any_of(context_.index.KnownCallsIn(call.function), [&](const KnownCall& other) {
    return other.entry == call.entry && module[other.expr].end <= module[call.expr].begin;
  });
  if (is_seeded_before) return false;
  const auto is_state = [&](ir::ExprId side) {
    return module[side].kind == ir::ExprKind::Subscript && std::ranges::any_of(context_.index.KnownCallsIn(call.function), [&](const KnownCall& other) {
      return other.entry->Has(knowledge::Role::KeepRandomState) && module[other.expr].begin >= module[side].begin &&
             module[other.expr].end <= module[side].end;
    });
  };
  const auto is_number = [&](ir::ExprId side) {
    const ValueId value = context_.facts.value(module_id, side);
    return value && IsNumberOfWorker(value, call.function);
  };
  const ir::ExprId left = ir::LeftOf(module[seed]), right = ir::RightOf(module[seed]);
  return (is_state(left) && is_number(right)) || (is_state(right) && is_number(left));
}

// The first parameter, with numbers added to it.
bool WorkerSeeds::IsNumberOfWorker(ValueId seed, FuncId function) const {
  const variation::Value& value = context_.values[seed];
  const auto kids = context_.facts.values_store.Kids(seed);
  const auto is_it = [&](ValueId kid) { return IsNumberOfWorker(kid, function); };
  switch (value.kind) {
    case ValueKind::Int:
      return true;
    case ValueKind::Param:
      return value.function() == function;
    case ValueKind::Binary:
    case ValueKind::Unary:
      return std::ranges::all_of(kids, is_it);
    default:
      return false;
  }
}

namespace {

class SeededWorkers {
 public:
  SeededWorkers(const Context& context, std::string_view code, FindingSink& sink) : context_(context), code_(code), sink_(sink), seeds_(context) {}

  void Run() {
    for (const objects::LoaderLoop& loop : context_.loading.loops()) {
      if (!context_.loading.IsDealtOut(loop.loader) || !context_.training.TrainsOn(loop)) continue;
      const ValueId data = context_.values.MadeWith(loop.loader, "dataset");
      if (data) VisitSamples(data, loop);
    }
  }

 private:
  // Where a sample is made: `if not self.is_seeded: random.seed(get_worker_info().id)`.
  void VisitSamples(ValueId data, const objects::LoaderLoop& loop) {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::Seed) || !seeds_.IsOfWorkerInfo(call)) continue;
      const binding::ClassId owner = context_.program.funcs[call.function].owner;
      const bool is_of_data = owner && context_.values.AnyPart(data, [&](ValueId part) {
        const variation::Value& value = context_.values[part];
        return value.kind == ValueKind::Instance && std::ranges::count(context_.program.classes[value.class_id()].mro, owner) > 0;
      });
      if (is_of_data) Report({call.function, call.expr}, loop);
    }
  }

  void Report(const Site& seed, const objects::LoaderLoop& loop) {
    if (std::ranges::count(seen_, seed.function) > 0) return;
    seen_.push_back(seed.function);
    sink_.push_back(SeededByNumber(context_, code_, seed, loop.iterable));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  WorkerSeeds seeds_;
  std::vector<FuncId> seen_;
};

}  // namespace

findings::Finding SeededByNumber(const Context& context, std::string_view code, const Site& seed, const Site& iterable) {
  Finding finding = FindingAt(context, code, Severity::Warning, Confidence::Likely, seed,
                              {"workers are seeded by their number alone, so those of all ranks draw the same random numbers", {}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"the same on every rank", {}});
  AddLabel(finding, SpanOf(context, iterable), LabelRole::Why, {"each rank has such workers for its part of the data", {}});
  finding.help = {"add the rank, or use `torch.initial_seed()` with another seed on each rank", {}};
  return finding;
}

void CheckWorkerSeeds(const Context& context, std::string_view code, FindingSink& sink) { SeededWorkers(context, code, sink).Run(); }

}  // namespace allranks::rules
