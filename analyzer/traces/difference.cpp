// A difference described: operations, condition, exit, ranks, place, and everything that it takes for granted. `Assumed` is
// the one place where assumptions of a difference are collected; nothing else decides how sure it is.
#include "analyzer/traces/difference.h"

#include <algorithm>
#include <unordered_set>

#include "analyzer/traces/conditions.h"
#include "analyzer/traces/peer_loops.h"

namespace allranks::traces {
namespace {

using findings::Assumption;
using findings::Assumptions;
using knowledge::Axes;
using variation::GroupKind;
using variation::ValueKind;

class Describer {
 public:
  Describer(const State& state, Scene& scene, const SequenceStore& sequences, const Evidence& evidence)
      : state_(state), traces_(state.traces), scene_(scene), sequences_(sequences), evidence_(evidence) {}

  Difference Run() {
    Difference result;
    result.kind = evidence_.kind;
    result.function = evidence_.function;
    result.detail = evidence_.detail;
    result.culprit = Place(evidence_.culprit);
    if (evidence_.victim && evidence_.victim != evidence_.culprit) {
      result.has_victim = true;
      result.victim = Place(evidence_.victim);
    }
    if (evidence_.issuing == Issuing::UnderStrategy) result.strategies = StrategiesOf(result);
    SetCondition(&result);
    SetExit(&result);
    SetRanks(&result);
    result.place = FindingPlace(result);
    if (const FuncId decorated = Decorated()) result.function = decorated;
    result.settings = SettingsOnTheWay();
    result.asks_for_job = AsksForJob();
    result.assumptions = Assumed(result);
    result.witness = MakeWitness(state_, scene_, sequences_, evidence_, GuardText(result));
    return result;
  }

 private:
  OpPlace Place(TraceId id) {
    OpPlace place;
    const Site& site = traces_.site(traces_[id].site);
    place.function = site.function;
    place.expr = site.expr;
    place.span = site.span;
    place.entry = traces_.operation(id).entry;
    place.group = GroupOf(traces_.operation(id).group);
    place.call_chain = CallSpans(WayTo(id));
    return place;
  }

  // By way of what separates the ranks, where that leads there: the same call may stand elsewhere as well.
  std::vector<TraceId> WayTo(TraceId id) const {
    const std::vector<TraceId> below = PathTo(traces_, evidence_.node, id);
    if (below.empty()) return PathTo(traces_, evidence_.root, id);
    std::vector<TraceId> way = PathTo(traces_, evidence_.root, evidence_.node);
    way.insert(way.end(), below.begin(), below.end());
    return way;
  }

  OpGroup GroupOf(ValueId group) const {
    if (!group || group == state_.values.NoneValue()) return {};
    const variation::Value& value = state_.values[group];
    if (value.kind != ValueKind::Group) return {.kind = GroupKind::Unknown};
    return {.kind = value.group_kind(), .axis = value.is_group(GroupKind::AxisGroup) ? value.axis() : knowledge::Axis{}};
  }

  const std::vector<base::NameId>& StrategiesOf(const Difference& result) const {
    const std::vector<base::NameId>& own = OperationOf(result.culprit).strategies;
    return own.empty() && result.has_victim ? OperationOf(result.victim).strategies : own;
  }

  // Of a witness.
  std::string GuardText(const Difference& result) const {
    return result.condition_value ? state_.values.Print(result.condition_value, state_.program, state_.knowledge) : std::string();
  }

  const knowledge::Operation& OperationOf(const OpPlace& place) const { return state_.knowledge[place.entry].operation; }

  std::vector<source::Span> CallSpans(const std::vector<TraceId>& path) const {
    std::vector<source::Span> spans;
    for (const TraceId node : path) {
      if (traces_[node].kind != TraceKind::Scope) continue;
      const Site& site = traces_.site(traces_[node].site);
      // Without an expression it is a decorator around the function's own body.
      if (!site.expr) continue;
      if (spans.empty() || spans.back() != site.span) spans.push_back(site.span);
    }
    return spans;
  }

  void SetCondition(Difference* result) {
    if (evidence_.kind == DifferenceKind::Shape) return SetCount(result);
    if (!evidence_.node) {
      result->axes = evidence_.axes;
      return;
    }
    const Trace& node = traces_[evidence_.node];
    const Site& site = traces_.site(node.site);
    result->condition = site.span;
    result->condition_expr = site.expr;
    result->condition_function = site.function;
    if (node.kind == TraceKind::Try) {
      result->condition = traces_.try_info(evidence_.node).handlers[evidence_.handler].span;
      result->axes = Axes::Of(knowledge::Axis::Environment);
      return;
    }
    if (!node.value) return;
    if (IsPredicate(state_.values, node.value)) result->condition_value = node.value;
    result->axes = evidence_.by_presence ? Axes::Of(knowledge::Axis::Data) : state_.values.axes(node.value);
  }

  // The argument that says how many elements there are.
  void SetCount(Difference* result) const {
    result->axes = evidence_.axes;
    const Site& site = traces_.site(traces_[evidence_.culprit].site);
    const knowledge::Entry& entry = traces_.entry(evidence_.culprit);
    const ir::Module& module = state_.program.module_of(site.function);
    if (evidence_.axes.empty() || !site.expr || module[site.expr].kind != ir::ExprKind::Call) return;
    const auto index = static_cast<uint32_t>(std::ranges::find(entry.params, entry.operation.count_param) -
                                             entry.params.begin());
    if (index >= ir::ArgCount(module, module[site.expr])) return;
    result->condition_expr = ir::ArgAt(module, module[site.expr], index).value;
    result->condition_function = site.function;
    result->condition = {module.file, module[result->condition_expr].begin, module[result->condition_expr].end};
  }

  void SetExit(Difference* result) {
    if (!evidence_.exit) return;
    const Trace& exit = traces_[evidence_.exit];
    const Site& site = traces_.site(exit.site);
    const ExitWord word = exit.op != 0 ? ExitWord::Goto : IsBreak(site) ? ExitWord::Break : WordOf(static_cast<ExitKind>(exit.payload));
    result->exit = {.span = site.span, .word = word, .call = {}};
    const variation::CallFact* call = site.expr ? state_.facts.call(site.function, site.expr) : nullptr;
    if (call != nullptr) result->exit.call = call->entry;
  }

  static ExitWord WordOf(ExitKind kind) {
    switch (kind) {
      case ExitKind::Return: return ExitWord::Return;
      case ExitKind::Break: return ExitWord::Break;
      case ExitKind::Continue: return ExitWord::Continue;
      case ExitKind::Raise: return ExitWord::Raise;
      case ExitKind::Process: return ExitWord::Process;
    }
    return ExitWord::Process;
  }

  // One that leaves a loop over a generator is a return of the generator as well.
  bool IsBreak(const Site& site) const {
    const auto is_there = [&](const ir::Stmt& stmt) { return stmt.kind == ir::StmtKind::Break && stmt.begin == site.span.begin; };
    return !site.expr && std::ranges::any_of(state_.program.module_of(site.function).stmts, is_there);
  }

  void SetRanks(Difference* result) const {
    result->is_own = evidence_.own && !evidence_.keeps_others_out;
    result->world = scene_.world();
    result->reached = evidence_.reached;
    result->not_reached = evidence_.not_reached;
  }

  // In the function that shows it, so that who reads there sees it and can suppress it there.
  source::Span FindingPlace(const Difference& result) {
    if (result.kind == DifferenceKind::Handler) return result.condition;
    if (evidence_.exit) {
      const Site& site = traces_.site(traces_[evidence_.exit].site);
      if (site.function == evidence_.function) return site.span;
    }
    const std::vector<source::Span>& chain = result.culprit.call_chain;
    if (chain.empty()) return result.culprit.span;
    if (!Decorated()) return chain.front();
    return chain.size() == 1 ? result.culprit.span : chain[1];
  }

  // A decorator of the project calls what it decorates: the defect stands there, and not in the decorator.
  FuncId Decorated() const {
    if (!evidence_.node) return FuncId::None();
    const FuncId wrapper = traces_.site(traces_[evidence_.node].site).function;
    const FuncId decorator = state_.program.funcs[wrapper].parent;
    if (wrapper != evidence_.function || !decorator) return FuncId::None();
    for (const TraceId node : PathTo(traces_, evidence_.node, evidence_.culprit)) {
      if (traces_[node].kind != TraceKind::Scope) continue;
      const Site& site = traces_.site(traces_[node].site);
      const bool handed = site.function == wrapper && site.expr && CallsParam(decorator, site);
      return handed ? FuncId{traces_[node].payload} : FuncId::None();
    }
    return FuncId::None();
  }

  bool CallsParam(FuncId func, const Site& site) const {
    const ir::Module& module = state_.program.module_of(site.function);
    const ir::Expr& call = module[site.expr];
    if (call.kind != ir::ExprKind::Call) return false;
    const ir::Expr& callee = module[ir::CalleeOf(call)];
    if (callee.kind != ir::ExprKind::Name) return false;
    return std::ranges::any_of(state_.program.function(func).params,
                               [&](const ir::Param& param) { return param.name == ir::NameOf(callee); });
  }

  // Everything that the difference rests on. Confidence follows from this alone.
  Assumptions Assumed(const Difference& result) const {
    Assumptions assumed = evidence_.assumptions;
    AddOfOperation(&assumed);
    if (IsMadeOnce(result)) assumed.Add(Assumption::FirstArrival);
    if (IsOfSomeClass(result)) assumed.Add(Assumption::ClassUnknown);
    if (IsOfOwnJob()) assumed.Add(Assumption::OwnJob);
    if (!evidence_.own && (!result.settings.empty() || HasOpenOperands())) assumed.Add(Assumption::SettingUnknown);
    if (EndsBySetting()) assumed.Add(Assumption::SettingAdmitsAll);
    if (result.kind == DifferenceKind::Mismatch && IsToldWhatToDo()) assumed.Add(Assumption::OtherSideUnknown);
    if (IsOfSomeObject()) assumed.Add(Assumption::SeveralStores);
    if (result.kind == DifferenceKind::Handler) assumed.Add(Assumption::FailsOnOneRank);
    else AddOfCondition(result, &assumed);
    return assumed;
  }

  void AddOfOperation(Assumptions* assumed) const {
    if (evidence_.issuing >= Issuing::InPassing) assumed->Add(Assumption::ImpliedOperation);
    if (evidence_.issuing < Issuing::UnderStrategy) return;
    assumed->Add(Assumption::StrategyElsewhere);
    // Under that setting it communicates, and then all ranks pass.
    if (evidence_.admits_all) assumed->Add(Assumption::SettingAdmitsAll);
  }

  void AddOfCondition(const Difference& result, Assumptions* assumed) const {
    const ValueId decided_by = evidence_.node ? traces_[evidence_.node].value : ValueId::None();
    if (decided_by && state_.values.by_name_only(decided_by)) assumed->Add(Assumption::ByNameOnly);
    if (!evidence_.own && decided_by && HangsOnFailure(decided_by)) assumed->Add(Assumption::FailsOnOneRank);
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, scene_.world(), nothing);
    if (HasOpenList(evaluator, decided_by)) assumed->Add(Assumption::SettingUnknown);
    // `reduce(x, dst=rank)` in a helper: the parameter names the root, and not who runs it.
    const ValueId root = result.detail == Detail::Root ? traces_.operation(evidence_.culprit).root : ValueId::None();
    if (root && state_.values.by_name_only(root)) assumed->Add(Assumption::RankUnproven);
    // Files of one name and clocks: that the ranks found something of different sizes is possible, no more.
    const bool is_of_surroundings = !result.axes.empty() && Without(result.axes, knowledge::kSurroundings).empty();
    if (result.kind == DifferenceKind::Shape && is_of_surroundings) assumed->Add(Assumption::SizeDiffers);
    // Where the world tells the ranks apart, what else a condition hangs on may be the same for all.
    if (!evidence_.own) return;
    if (evidence_.keeps_others_out) return assumed->Add(Assumption::SettingUnknown);
    if (decided_by && HangsOnOneOfStores(state_.values, decided_by)) assumed->Add(Assumption::SeveralStores);
    if (result.axes.has(knowledge::Axis::Data)) AddOfBatch(result, decided_by, assumed);
    if (result.axes.has(knowledge::Axis::Files)) assumed->Add(Assumption::FilesDiffer);
    if (result.axes.has(knowledge::Axis::Clock)) assumed->Add(Assumption::ClocksDiffer);
    if (result.axes.has(knowledge::Axis::HashOrder)) assumed->Add(Assumption::HashSeedDiffers);
    if (result.axes.has(knowledge::Axis::Signals)) assumed->Add(Assumption::SignalsDiffer);
    const Axes elsewhere = Axes::Of(knowledge::Axis::Environment) | Axes::Of(knowledge::Axis::Chance);
    if (!(result.axes & elsewhere).empty()) assumed->Add(Assumption::EnvironmentDiffers);
    const bool of_rank = !is_of_surroundings && !result.axes.has(knowledge::Axis::Data);
    if (of_rank && IsMadeByListed(decided_by)) {
      assumed->Add(Assumption::SettingUnknown);
    } else if (of_rank && !ListsOtherRanks()) {
      if (result.kind != DifferenceKind::TripCount && decided_by && IsKnownOnSomeRanks(decided_by)) assumed->Add(Assumption::SettingUnknown);
      else AddOfRank(decided_by, assumed);
    }
    const bool counts = of_rank && result.kind == DifferenceKind::TripCount && decided_by;
    if (counts && IsShareOfEqualParts(state_.values, decided_by)) assumed->Add(Assumption::SharesDiffer);
    // `"labels" in batch`, `mask is not None`: what a batch holds is mostly a matter of settings, whatever its values.
    if (decided_by && VariesByPresence(state_.values, decided_by) && !MakesUpForAbsence()) assumed->Add(Assumption::PresenceDiffers);
  }

  // Beside it the code takes part whether its batch has something or not: `features = vision(batch["image"]) if has_image else vision(blank) * 0`.
  // So batches do differ in what they have.
  bool MakesUpForAbsence() const {
    if (!evidence_.by_presence) return false;
    std::unordered_set<uint32_t> seen = {evidence_.root.index};
    std::vector<TraceId> work = {evidence_.root};
    while (!work.empty()) {
      const TraceId id = work.back();
      work.pop_back();
      const auto kids = traces_.Kids(id);
      const bool is_choice = id != evidence_.node && traces_[id].kind == TraceKind::Choice;
      const bool takes_part = is_choice && std::ranges::all_of(kids, [&](TraceId kid) { return (traces_[kid].flags & kIssues) != 0; });
      if (takes_part && AsksForPartOfBatch(state_.values, state_.knowledge, traces_[id].value)) return true;
      for (const TraceId kid : kids) {
        if (seen.insert(kid.index).second) work.push_back(kid);
      }
    }
    return false;
  }

  // `except OSError: pipe = None`, in a branch of rank 0 and in another one of the others: where it fails on all, all find the same.
  bool HangsOnFailure(ValueId condition) const {
    const auto& failures = state_.facts.functions[traces_.site(traces_[evidence_.node].site).function].failures;
    return std::ranges::any_of(failures, [&](const auto& each) { return each.second && IsChosenBy(condition, each.second, 0); });
  }

  // Not what else a handler left in some data that the condition is computed from.
  bool IsChosenBy(ValueId id, ValueId failure, int depth) const {
    constexpr int kDeepest = 8;
    if (!id || depth > kDeepest) return false;
    if (id == failure) return true;
    const variation::ValueKind kind = state_.values[id].kind;
    const bool is_test = kind == variation::ValueKind::Select || kind == variation::ValueKind::Compare || kind == variation::ValueKind::Unary ||
                         kind == variation::ValueKind::And || kind == variation::ValueKind::Or;
    return is_test && std::ranges::any_of(state_.values.Kids(id), [&](ValueId kid) { return IsChosenBy(kid, failure, depth + 1); });
  }

  // Whether the condition asks for a place in a list of ranks whose numbers are not known in this world.
  bool HasOpenList(Evaluator& evaluator, ValueId id, int depth = 0) const {
    constexpr int kDeepest = 12;
    if (!id || depth > kDeepest || state_.values.axes(id).empty()) return false;
    const variation::Value& value = state_.values[id];
    const auto kids = state_.values.Kids(id);
    const bool may_be_rank = value.is_membership() && state_.values[kids[0]].kind != variation::ValueKind::Str;
    if (may_be_rank && IsUniformUnknown(state_.values, kids[1]) && !evaluator.ListOf(kids[1], 0)) return true;
    return std::ranges::any_of(kids, [&](ValueId kid) { return HasOpenList(evaluator, kid, depth + 1); });
  }

  // `for ranks in [[0, 1], [2, 3]]: if rank in ranks: new_group(ranks)`: a list that all ranks have alike, and not all of them are in.
  bool IsMadeByListed(ValueId decided_by) const {
    if (evidence_.kind != DifferenceKind::GroupCreation || !decided_by || !state_.values[decided_by].is_membership()) return false;
    const variation::Operands operands = state_.values.OperandsOf(decided_by);
    return variation::IsCoordinate(state_.values[operands.left], knowledge::Coordinate::Rank) && state_.values.axes(operands.right).empty();
  }

  // `new_group([rank, (rank + 1) % world_size])`: the list follows from the rank by a formula, and is another one on each.
  bool ListsOtherRanks() const {
    const ValueId members = traces_.operation(evidence_.culprit).members;
    if (evidence_.kind != DifferenceKind::GroupCreation || evidence_.detail != Detail::Member || !members) return false;
    const World world{.nodes = 1, .per_node = 4, .mesh = {}};
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, world, nothing);
    std::vector<std::vector<int64_t>> lists;
    for (uint32_t rank = 0; rank < world.size(); ++rank) {
      std::optional<std::vector<int64_t>> list = evaluator.ListOf(members, rank);
      if (!list) return false;
      std::ranges::sort(*list);
      lists.push_back(std::move(*list));
    }
    return std::ranges::any_of(lists, [&](const auto& list) { return list != lists[0]; });
  }

  // `done = patience > 3 if rank == 0 else False`: on the other ranks it is known, and on this one it may come out otherwise. Of a test of
  // both (`rank == 0 and n > 1`) others may ask the same again elsewhere: `rank != 0 and n > 1`.
  bool IsKnownOnSomeRanks(ValueId decided_by) const {
    while (state_.values[decided_by].is_not()) decided_by = state_.values.OperandOf(decided_by);
    if (state_.values[decided_by].kind != ValueKind::Select) return false;
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, scene_.world(), nothing);
    uint32_t known = 0;
    for (uint32_t rank = 0; rank < scene_.world().size(); ++rank) known += evaluator.Truth(decided_by, rank) ? 1 : 0;
    return known > 0 && known < scene_.world().size();
  }

  // Somebody made it of a rank, far from here, or it hangs on settings as well: that it still tells ranks apart is hearsay.
  void AddOfRank(ValueId decided_by, Assumptions* assumed) const {
    assumed->Add(IsPartTakenByRank(state_.values, decided_by) ? Assumption::PartsUneven : Assumption::OwnValue);
    if (!decided_by) return;
    const bool is_known = !HangsOnSettings(state_.values, decided_by) && IsMadeOfRanks(state_.values, decided_by);
    if (!is_known) assumed->Add(Assumption::RankUnproven);
  }

  // What a batch holds is each rank's own. How large it is, and what it consists of, is mostly a matter of settings.
  void AddOfBatch(const Difference& result, ValueId decided_by, Assumptions* assumed) const {
    assumed->Add(Assumption::BatchDiffers);
    if (result.kind == DifferenceKind::Shape || !decided_by) return;
    if (!ReadsContents(state_.values, state_.knowledge, decided_by) && !MakesUpForAbsence()) assumed->Add(Assumption::BatchFormDiffers);
  }

  // `if not is_initialized(): init_process_group(world_size=1)`: what comes next mostly runs in that one process.
  bool IsOfOwnJob() const {
    const std::vector<TraceId> path = WayTo(evidence_.culprit);
    return std::ranges::any_of(path, [&](TraceId id) {
      const SiteId site = traces_[id].site;
      return site && state_.sets_up_own_job.contains(traces_.site(site).function.index);
    });
  }

  bool AsksForJob() const {
    const std::vector<TraceId> path = WayTo(evidence_.culprit);
    return std::ranges::any_of(path, [&](TraceId id) { return traces_[id].kind == TraceKind::Choice && HangsOnJob(state_.values, traces_[id].value); });
  }

  // From what separates the ranks to the operation, and to the exit that skips it. What stands around both leads to neither.
  std::vector<source::Span> SettingsOnTheWay() const {
    if (evidence_.own || !evidence_.node) return {};
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, scene_.world(), nothing);
    std::vector<source::Span> settings;
    const auto add = [&](TraceId id) {
      const Trace& node = traces_[id];
      if (node.kind != TraceKind::Choice && node.kind != TraceKind::Loop) return;
      if (id != evidence_.node && Contains(traces_, id, evidence_.node)) return;
      const source::Span span = traces_.site(node.site).span;
      if (node.value && evaluator.Evaluate(node.value, 0).kind != OutcomeKind::Unknown) return;
      if (id == evidence_.node && node.kind == TraceKind::Choice && SomeItemTellsApart(node.value)) return;
      if (std::ranges::find(settings, span) == settings.end()) settings.push_back(span);
    };
    std::ranges::for_each(WayTo(evidence_.culprit), add);
    std::ranges::for_each(PathTo(traces_, evidence_.node, evidence_.exit), add);
    return settings;
  }

  // Whether a loop on the way has an item with which a value is known and another one on some ranks: `for r in range(world): if r <= rank`.
  bool SomeItemTellsApart(ValueId value) const {
    const auto tells = [&](const Assignment& round) {
      Evaluator evaluator(state_.values, state_.knowledge, scene_.world(), round);
      bool differs = false;
      for (uint32_t rank = 0; rank < scene_.world().size(); ++rank) {
        const Outcome first = evaluator.Evaluate(value, 0);
        const Outcome own = evaluator.Evaluate(value, rank);
        if (own.kind != OutcomeKind::Number || first.kind != OutcomeKind::Number) return false;
        differs = differs || own.number != first.number;
      }
      return differs;
    };
    return std::ranges::any_of(WayTo(evidence_.culprit), [&](TraceId id) {
      const PeerLoop loop = PeerLoopOf(state_, id);
      if (!loop.element || !loop.items || !state_.values.axes(loop.items).empty()) return false;
      const Assignment nothing;
      const auto items = Evaluator(state_.values, state_.knowledge, scene_.world(), nothing).ListOf(loop.items, 0);
      return items && std::ranges::any_of(*items, [&](int64_t item) { return tells({{loop.element.index, item}}); });
    });
  }

  // Whether the root or the size of an operation at which the ranks differ is not known.
  bool HasOpenOperands() const {
    if (evidence_.node) return false;
    const Assignment nothing;
    Evaluator evaluator(state_.values, state_.knowledge, scene_.world(), nothing);
    const auto is_unknown = [&](ValueId value) {
      return value && evaluator.Evaluate(value, 0).kind == OutcomeKind::Unknown && !SomeItemTellsApart(value);
    };
    const Operation& operation = traces_.operation(evidence_.culprit);
    return is_unknown(operation.root) || is_unknown(operation.count);
  }

  // The process ends where a setting is none of the values that the program knows: as a rule it is one of them.
  bool EndsBySetting() const {
    if (!evidence_.exit || static_cast<ExitKind>(traces_[evidence_.exit].payload) != ExitKind::Process) return false;
    const std::vector<TraceId> path = PathTo(traces_, evidence_.node, evidence_.exit);
    for (size_t i = 1; i + 1 < path.size(); ++i) {
      const Trace& choice = traces_[path[i]];
      if (choice.kind != TraceKind::Choice || !NodeAxes(state_, path[i]).empty()) continue;
      const bool is_then = traces_.Kids(path[i])[0] == path[i + 1];
      if (EqualityOf(state_.values, choice.value, !is_then)) return true;
    }
    return false;
  }

  // One arm goes by what a rank in the other arm sends it, until that one says that it is over: which of its ways belongs
  // to which message, the order of operations does not tell.
  bool IsToldWhatToDo() const {
    std::unordered_set<uint32_t> seen;
    const auto goes_by_message = [&](auto&& self, TraceId id) -> bool {
      if (!seen.insert(id.index).second) return false;
      const Trace& node = traces_[id];
      const bool decides = node.kind == TraceKind::Choice || node.kind == TraceKind::Loop;
      if (decides && id != evidence_.node && IsReceived(state_.values, node.value)) return true;
      return std::ranges::any_of(traces_.Kids(id), [&](TraceId kid) { return self(self, kid); });
    };
    return evidence_.node && goes_by_message(goes_by_message, evidence_.node);
  }

  bool IsOfSomeObject() const {
    if (evidence_.own) return false;
    const auto keeps_group = [&](TraceId op) {
      return op && traces::IsOfSomeObject(state_.values, traces_.operation(op).group);
    };
    if (keeps_group(evidence_.culprit) || keeps_group(evidence_.victim)) return true;
    const std::vector<TraceId> path = WayTo(evidence_.culprit);
    return std::ranges::any_of(path, [&](TraceId id) {
      return traces_[id].kind == TraceKind::Choice && HangsOnObject(state_.values, traces_[id].value);
    });
  }

  // `if isinstance(x, DTensor): x = x.full_tensor()` or `if hasattr(x, "full_tensor")`, of an object whose class is not
  // known; or the rank that holds the tensor sends it, and all others hold that rank's number.
  bool IsOfSomeClass(const Difference& result) const {
    if (evidence_.issuing == Issuing::Always && result.detail != Detail::Root) return false;
    const std::vector<TraceId> path = WayTo(evidence_.culprit);
    return std::ranges::any_of(path, [&](TraceId id) {
      return traces_[id].kind == TraceKind::Choice && AsksForClass(state_.values, traces_[id].value);
    });
  }

  // `if key not in groups: groups[key] = new_group(...)`: mostly all ranks came by before.
  bool IsMadeOnce(const Difference& result) const {
    if (OperationOf(result.culprit).op_class != knowledge::OpClass::GroupCreate) return false;
    if (evidence_.culprit && traces_.entry(evidence_.culprit).operation.is_kept) return true;
    const std::vector<TraceId> path = WayTo(evidence_.culprit);
    return std::ranges::any_of(path, [&](TraceId id) {
      const Trace& node = traces_[id];
      return id != evidence_.node && node.kind == TraceKind::Choice && IsPresenceTest(state_.values, node.value);
    });
  }

  const State& state_;
  const TraceStore& traces_;
  Scene& scene_;
  const SequenceStore& sequences_;
  const Evidence& evidence_;
};

bool SearchPath(const TraceStore& traces, TraceId at, TraceId to, std::unordered_set<uint32_t>* seen,
            std::vector<TraceId>* path) {
  if (at == to) {
    path->push_back(at);
    return true;
  }
  // A call that issues nothing holds nothing worth a way.
  if (!seen->insert(at.index).second) return false;
  path->push_back(at);
  for (const TraceId kid : traces.Kids(at)) {
    if (SearchPath(traces, kid, to, seen, path)) return true;
  }
  path->pop_back();
  return false;
}

}  // namespace

std::string_view ToString(ExitWord word) {
  switch (word) {
    case ExitWord::Return: return "return";
    case ExitWord::Break: return "break";
    case ExitWord::Continue: return "continue";
    case ExitWord::Raise: return "raise";
    case ExitWord::Goto: return "goto";
    case ExitWord::Process: return "sys.exit";
  }
  return "sys.exit";
}

std::string NameOf(const OpGroup& group) { return variation::NameOfGroup(group.kind, group.axis); }

bool AreOfOneKind(const knowledge::Knowledge& knowledge, const OpPlace& a, const OpPlace& b) {
  return knowledge[a.entry].operation.kind == knowledge[b.entry].operation.kind;
}

Difference Describe(const State& state, Scene& scene, const SequenceStore& sequences, const Evidence& evidence) {
  return Describer(state, scene, sequences, evidence).Run();
}

std::vector<TraceId> PathTo(const TraceStore& traces, TraceId from, TraceId to) {
  std::vector<TraceId> path;
  if (!from || !to) return path;
  std::unordered_set<uint32_t> seen;
  SearchPath(traces, from, to, &seen, &path);
  return path;
}

bool Contains(const TraceStore& traces, TraceId from, TraceId to) { return !PathTo(traces, from, to).empty(); }

TraceId FirstExit(const TraceStore& traces, TraceId id, uint16_t kinds) {
  const Trace& trace = traces[id];
  if ((trace.flags & kinds) == 0) return TraceId::None();
  if (trace.kind == TraceKind::Exit) return id;
  for (const TraceId kid : traces.Kids(id)) {
    if (const TraceId exit = FirstExit(traces, kid, kinds)) return exit;
  }
  return TraceId::None();
}

}  // namespace allranks::traces
