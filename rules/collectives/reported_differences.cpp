#include "rules/collectives/reported_differences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "analyzer/objects/gradient_mode.h"
#include "analyzer/objects/module_buffers.h"
#include "rules/collectives/callback_operations.h"
#include "rules/collectives/difference_finding.h"
#include "rules/collectives/file_tests.h"
#include "rules/collectives/first_step.h"
#include "rules/counted_loops.h"

namespace allranks::rules {
namespace {

using traces::DifferenceKind;

// Of the others, ranks are told apart by more than what they find, or the disk says nothing about who comes.
bool MayBeFileTest(DifferenceKind kind) {
  return kind == DifferenceKind::DataBranch || kind == DifferenceKind::TripCount || kind == DifferenceKind::GroupCreation;
}

// `known`: by place, where in `looks` it is.
void AddTo(std::vector<FileLook>& looks, std::map<std::pair<uint32_t, uint32_t>, size_t>& known, const objects::Site& site,
           const traces::Difference& difference) {
  const auto [look, is_new] = known.try_emplace({site.function.index, site.expr.index}, looks.size());
  if (is_new) looks.push_back({site, {}});
  looks[look->second].differences.push_back(&difference);
}

using objects::StrategyUse;

constexpr std::string_view kBufferBroadcast = "buffer_broadcast";

std::string_view KindOf(const Context& context, const traces::OpPlace& op) { return context.program.text(OperationAt(context, op).kind); }

// The model that a wrapper holds, or that Accelerate wraps in DDP; none of anything else.
variation::ValueId Wrapped(const Context& context, variation::ValueId model) {
  if (context.values.IsA(model, "torch.nn.parallel.DistributedDataParallel")) return context.values.MadeWith(model, "module");
  const bool is_prepared = context.values.IsA(model, "accelerate.Prepared") && context.facts.values_store[model].kid_count > 0;
  return is_prepared ? context.facts.values_store.Kids(model)[0] : variation::ValueId::None();
}

// Whether a forward through DDP, or through what becomes DDP, sends anything: the buffers of the model inside, unless the
// wrapper was told not to.
StrategyUse UseOfBuffers(const Context& context, const traces::OpPlace& forward) {
  const objects::ModuleBuffers buffers(context.program, context.knowledge, context.facts);
  const ir::ModuleId module_id = context.program.funcs[forward.function].module;
  const ir::Expr& call = context.program.modules[module_id][forward.expr];
  if (call.kind != ir::ExprKind::Call) return StrategyUse::Unseen;
  std::optional<objects::HasBuffers> has;
  bool is_told = false;
  for (const variation::ValueId model : context.values.Leaves(context.facts.value(module_id, ir::CalleeOf(call)))) {
    const variation::ValueId wrapped = Wrapped(context, model);
    if (!wrapped && !context.values.IsA(model, "torch.nn.parallel.DistributedDataParallel")) continue;
    has = std::max(has.value_or(objects::HasBuffers::No), buffers.Of(wrapped));
    const variation::ValueId sends = context.values.MadeWith(model, "broadcast_buffers");
    is_told = is_told || (sends && !context.values.IsTrue(sends));
  }
  if (has == objects::HasBuffers::No) return StrategyUse::RuledOut;
  return has == objects::HasBuffers::Yes && !is_told ? StrategyUse::Seen : StrategyUse::Unseen;
}

bool IsWithoutGradients(const Context& context, std::span<const objects::Site> ways) {
  return std::ranges::any_of(ways, [&](const objects::Site& site) {
    return objects::AreGradientsOff(context.program, context.values, context.facts, context.index, site);
  });
}

// Whether the second forward to train agrees on the order of the buckets: not where parameters may be left unused.
bool AgreesOnBuckets(const Context& context, const traces::OpPlace& forward) {
  const ir::ModuleId module_id = context.program.funcs[forward.function].module;
  const ir::Expr& call = context.program.modules[module_id][forward.expr];
  if (call.kind != ir::ExprKind::Call) return false;
  return std::ranges::all_of(context.values.Leaves(context.facts.value(module_id, ir::CalleeOf(call))), [&](variation::ValueId model) {
    const variation::ValueId may_be_unused = context.values.MadeWith(model, "find_unused_parameters");
    return !may_be_unused || context.values.IsFalse(may_be_unused);
  });
}

// A forward without gradients that stands in a loop which trains. DDP sends buffers only if the forward before was made to train, so the
// first of these sends them and the next one to train does not (require_forward_param_sync in torch/nn/parallel/distributed.py): what
// one rank sends while it evaluates is what the others wait for in their next step. Right behind the first step they wait for the order
// of the buckets before that.
bool IsMadeUpFor(const Context& context, const traces::Difference& difference) {
  const traces::OpPlace& forward = difference.culprit;
  if (KindOf(context, forward) != kBufferBroadcast) return false;
  const std::vector<objects::Site> ways = context.index.WaysTo({forward.function, forward.expr});
  const bool is_between_steps = IsWithoutGradients(context, ways) && std::ranges::any_of(ways, [&](const objects::Site& site) {
    const ir::ModuleId module = context.program.funcs[site.function].module;
    return std::ranges::any_of(context.index.LoopsAround(site), [&](ir::StmtId loop) { return context.training.Trains(module, loop); });
  });
  if (!is_between_steps) return false;
  const bool is_too_early = std::ranges::any_of(ways, [&](const objects::Site& site) {
    return site.function == difference.condition_function && IsBehindFirstStep(context, site);
  });
  return !is_too_early || !AgreesOnBuckets(context, forward);
}

// A loop under `with model.no_sync():`, whose backwards reduce nothing.
bool IsWithoutSync(const Context& context, ir::ModuleId module_id, ir::StmtId loop) {
  const ir::Module& module = context.program.modules[module_id];
  const ir::Tree& tree = context.index.tree(module_id);
  for (ir::StmtId at = tree.Parent(loop); at; at = tree.Parent(at)) {
    if (module[at].kind != ir::StmtKind::With) continue;
    for (const ir::WithItem& item : ir::WithItemsOf(module, module[at])) {
      if (module[item.context].kind != ir::ExprKind::Call) continue;
      const ir::Expr& callee = module[ir::CalleeOf(module[item.context])];
      if (callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "no_sync") return true;
    }
  }
  return false;
}

// Rounds that differ in number and do no harm: they send nothing, or a count makes up for it in the loop around.
bool DoesNotMatter(const Context& context, const traces::Difference& difference) {
  if (difference.kind != DifferenceKind::TripCount) return false;
  // Of forwards without gradients DDP sends buffers in the first alone (see IsMadeUpFor), whatever the number of rounds.
  const traces::OpPlace& culprit = difference.culprit;
  if (KindOf(context, culprit) == kBufferBroadcast && IsWithoutGradients(context, context.index.WaysTo({culprit.function, culprit.expr}))) return true;
  if (!difference.condition_expr || !difference.condition_function) return false;
  const ir::ModuleId module_id = context.program.funcs[difference.condition_function].module;
  const ir::StmtId loop = context.index.tree(module_id).StatementOf(difference.condition_expr);
  if (!loop || context.program.modules[module_id][loop].kind != ir::StmtKind::For) return false;
  if (EndsByCount(context, module_id, loop)) return true;
  const bool is_backward = KindOf(context, culprit) == "gradient_reduction";
  return is_backward && culprit.function == difference.condition_function && IsWithoutSync(context, module_id, loop);
}

// The one that makes it likelier that the operation is there.
StrategyUse Likelier(StrategyUse a, StrategyUse b) {
  for (const StrategyUse each : {StrategyUse::Seen, StrategyUse::Unseen}) {
    if (a == each || b == each) return each;
  }
  return StrategyUse::RuledOut;
}

// Whether the loaders that are gone over there may shuffle: those of which it is seen how they are made, and none of which does, send nothing.
bool GoInOrder(const Context& context, const traces::OpPlace& place) {
  const variation::ValueId iterable = context.facts.value(context.program.funcs[place.function].module, place.expr);
  bool has_loader = false;
  const bool may_shuffle = iterable && context.values.AnyPart(iterable, [&](variation::ValueId part) {
    if (!context.loading.IsLoader(part)) return false;
    has_loader = true;
    const variation::ValueId shuffles = context.values.MadeWith(part, "shuffle");
    return (shuffles && !context.values.IsFalse(shuffles)) || context.values.MadeWith(part, "sampler") || context.values.MadeWith(part, "batch_sampler");
  });
  return has_loader && !may_shuffle;
}

StrategyUse UseOfStrategies(const Context& context, const traces::Difference& difference) {
  constexpr std::string_view kWithBuffers = "DDP with buffers";
  if (difference.strategies.empty()) return StrategyUse::Seen;
  const std::string_view kind = KindOf(context, difference.culprit);
  if (kind == kBufferBroadcast) return UseOfBuffers(context, difference.culprit);
  if (kind == "rng_state_broadcast" && GoInOrder(context, difference.culprit)) return StrategyUse::RuledOut;
  const ir::ModuleId module = context.program.funcs[FunctionOf(context, difference)].module;
  const std::span<const base::NameId> named = difference.strategies;
  const bool may_be_of_buffers = named.size() > 1 && context.program.text(named.back()) == kWithBuffers;
  if (!may_be_of_buffers) return context.strategies.Get().Of(module, named);
  return Likelier(context.strategies.Get().Of(module, named.first(named.size() - 1)), UseOfBuffers(context, difference.culprit));
}

// Only one rank gets to the function at all: none is there to do otherwise. That it is there alone its callers show.
bool IsOfOneRank(const Context& context, const traces::Difference& difference) {
  // A decorator's condition stands around the function.
  if (difference.condition_function && difference.condition_function != difference.function) return false;
  return context.ranks.ThatCall(difference.function, objects::SmallJob(context.facts.job)).count() <= 1;
}

// Of `rank == 2` the coordinate and the number, as values; none of any other condition.
struct Numbered {
  variation::ValueId rank;
  variation::ValueId number;
};

Numbered NumberedIn(const Context& context, const traces::Difference& difference) {
  if (difference.kind != DifferenceKind::Guard || !difference.condition_function || !difference.condition_expr) return {};
  const variation::ValueId condition = context.facts.value(context.program.funcs[difference.condition_function].module, difference.condition_expr);
  if (!condition || context.values[condition].kind != variation::ValueKind::Compare) return {};
  if (context.values[condition].compare_op() != ir::CompareOp::Eq) return {};
  const auto sides = context.facts.values_store.Kids(condition);
  const auto is = [&](size_t side, variation::ValueKind kind) { return context.values[sides[side]].kind == kind; };
  for (const size_t side : {size_t{0}, size_t{1}}) {
    if (is(side, variation::ValueKind::Coordinate) && is(1 - side, variation::ValueKind::Int)) return {sides[side], sides[1 - side]};
  }
  return {};
}

// What a reader has to change to be rid of a difference: the condition and the exit that it takes, or, where ranks agree on
// whether to come but not on what they do, the operation. Where ranks have branches of their own (`if rank == 0:`, `elif rank == 1:`)
// that do the same, it is these; and where a variable is the whole test, that variable, wherever the function tests it.
struct Cause {
  DifferenceKind kind{};
  traces::Detail detail{};
  source::Span culprit, condition, exit;
  uint32_t function = 0;
  uint32_t rank = 0;
  bool is_implied = false;
  knowledge::EntryId entry;
  traces::OpGroup group;
  base::NameId decider;
  auto operator<=>(const Cause&) const = default;
};

// The variable or field that is the whole test, `main` of `if main:`, and what a loop goes over: where it is asked again, the ranks part by the
// same; none of anything else.
base::NameId DeciderOf(const Context& context, const traces::Difference& difference) {
  const bool is_of_kind = difference.kind == DifferenceKind::Guard || difference.kind == DifferenceKind::TripCount;
  if (!is_of_kind || difference.exit.span.file || !difference.condition_function || !difference.condition_expr) return {};
  const ir::Expr& test = context.program.module_of(difference.condition_function)[difference.condition_expr];
  if (test.kind == ir::ExprKind::Name) return ir::NameOf(test);
  return test.kind == ir::ExprKind::Attribute ? ir::AttrOf(test) : base::NameId::None();
}

Cause CauseOf(const Context& context, const traces::Difference& difference, const Numbered& numbered) {
  if (const base::NameId decider = DeciderOf(context, difference)) {
    const variation::ValueId value = context.facts.value(context.program.funcs[difference.condition_function].module, difference.condition_expr);
    const bool is_implied = IsImplied(OperationAt(context, difference.culprit).op_class);
    return {.kind = difference.kind, .detail = difference.detail, .culprit = {}, .condition = {}, .exit = {}, .function = difference.condition_function.index,
            .rank = value.index, .is_implied = is_implied, .entry = {}, .group = {}, .decider = decider};
  }
  if (!numbered.rank) {
    return {.kind = difference.kind, .detail = difference.detail, .culprit = difference.culprit.span, .condition = difference.condition,
            .exit = difference.exit.span, .entry = {}, .group = {}, .decider = {}};
  }
  return {.kind = difference.kind, .culprit = {}, .condition = {}, .exit = {}, .function = difference.function.index,
          .rank = numbered.rank.index, .entry = difference.culprit.entry, .group = difference.culprit.group, .decider = {}};
}

// The surest difference of a cause stays, among equals the first; the others are its repeats.
void JoinRepeats(const Context& context, ReportedDifferences& reported) {
  struct Joined {
    std::vector<const traces::Difference*> differences;
    // Of the ranks that have a branch of their own.
    std::set<variation::ValueId> numbers;
  };
  std::vector<Joined> causes;
  std::map<Cause, size_t> known;
  for (const traces::Difference& difference : reported.each) {
    const Numbered numbered = NumberedIn(context, difference);
    const Cause cause = CauseOf(context, difference, numbered);
    const auto [at, is_new] = known.emplace(cause, causes.size());
    // The next branch of a rank that has had one stands for itself.
    const bool is_next = !is_new && numbered.rank && !cause.decider && causes[at->second].numbers.contains(numbered.number);
    if (is_next) at->second = causes.size();
    if (is_new || is_next) causes.emplace_back();
    causes[at->second].differences.push_back(&difference);
    causes[at->second].numbers.insert(numbered.number);
  }
  reported.each.clear();
  for (Joined& joined : causes) {
    std::vector<const traces::Difference*>& repeats = joined.differences;
    const auto is_before = [](const traces::Difference* a, const traces::Difference* b) {
      const auto of_a = findings::ConfidenceOf(a->assumptions), of_b = findings::ConfidenceOf(b->assumptions);
      return of_a != of_b ? of_a > of_b : a->place.file == b->place.file && a->place.begin < b->place.begin;
    };
    const auto surest = std::ranges::min_element(repeats, is_before);
    std::rotate(repeats.begin(), surest, surest + 1);
    reported.each.push_back(*repeats.front());
    if (repeats.size() > 1) reported.repeats.emplace(repeats.front(), std::vector(repeats.begin() + 1, repeats.end()));
  }
}

}  // namespace

ReportedDifferences ReportedDifferencesOf(const Context& context) {
  const FileTests file_tests(context);
  CallbackOperations callbacks(context);
  ReportedDifferences reported;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known_looks;
  for (const traces::Difference& difference : context.analysis.differences) {
    if (IsOfOneRank(context, difference) || context.launch.NeverMakesGroup(context.program.funcs[difference.function].module)) continue;
    const StrategyUse use = UseOfStrategies(context, difference);
    if (use == StrategyUse::RuledOut || DoesNotMatter(context, difference)) continue;
    if (IsMadeUpFor(context, difference)) reported.made_up_for.insert(&difference);
    if (callbacks.MayHold(difference)) reported.beside_callbacks.insert(&difference);
    if (use == StrategyUse::Unseen) reported.of_unseen_strategies.insert(&difference);
    const std::optional<objects::Site> look = MayBeFileTest(difference.kind) ? file_tests.Of(difference) : std::nullopt;
    if (look) AddTo(reported.of_files, known_looks, *look, difference);
    else reported.each.push_back(difference);
    if (difference.axes.has(knowledge::Axis::Files) && file_tests.AnswersChange(difference)) reported.of_changing_files.insert(&difference);
  }
  JoinRepeats(context, reported);
  return reported;
}

}  // namespace allranks::rules
