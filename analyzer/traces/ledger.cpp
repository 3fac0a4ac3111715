// The ledger: each collective site is proven aligned, aligned as far as read, different, or unknown.
//
// Idea: whatever no difference names was found to agree; what remains is to say what that rests on. A walk over the trace of
// each function that nothing calls (an entry) carries along what is assumed on the way to each operation: the conditions
// around it, the conditions of exits before it, unknown groups, functions cut off by a bound. Callees stand in
// their callers' traces with the callers' arguments, so a site is judged in every context in which it is reached, and
// the assumptions of all contexts add up. A site that no entry's trace holds (recursion) is judged in its own function.
//
// Invariant: proven means that the set of assumptions is empty and no difference of any confidence names the site. Where a
// bound was reached on the way, or in the function itself, the site is unknown.
// Unsound where the traces are: what a call that was not followed issues is not in them (the call has its own line in
// the ledger, as unknown).
#include "analyzer/traces/ledger.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/knowledge/words.h"
#include "analyzer/traces/callers.h"
#include "analyzer/traces/conditions.h"
#include "analyzer/traces/evaluate.h"
#include "analyzer/traces/mentions.h"
#include "analyzer/traces/shapes.h"

namespace allranks::traces {
namespace {

using findings::Assumption;
using findings::Assumptions;
using variation::ValueKind;

// Whether it is known which ranks are members, as far as a small job tells.
bool HasKnownMembers(const State& state, ValueId group) {
  const World world{.nodes = 2, .per_node = 2, .mesh = {}};
  const Assignment nothing;
  Evaluator evaluator(state.values, state.knowledge, world, nothing);
  const GroupInfo& info = evaluator.group(evaluator.Group(group, 0));
  return !info.is_guess && (info.kind != variation::GroupKind::Created || info.has_known_ranks);
}

// Whether a tensor is of one size and type on all ranks, as far as a small job tells.
bool HasKnownSize(const State& state, ValueId tensor) {
  if (!MayDifferInSize(state.values, tensor)) return true;
  const World world{.nodes = 2, .per_node = 2, .mesh = {}};
  const Assignment nothing;
  Evaluator evaluator(state.values, state.knowledge, world, nothing);
  const std::optional<int64_t> elements = ElementsOf(evaluator, tensor, 0);
  if (!elements) return false;
  const ValueId type = ElementTypeOf(evaluator, tensor, 0);
  // Of one of two tensors whose types are not said nothing tells that they are alike.
  if (!type && MayBeOfSeveralTypes(state.values, tensor)) return false;
  for (uint32_t rank = 1; rank < world.size(); ++rank) {
    if (ElementsOf(evaluator, tensor, rank) != elements || ElementTypeOf(evaluator, tensor, rank) != type) return false;
  }
  return true;
}

// What a group takes for granted: its members, or that it is one of several that a field may hold.
Assumptions OfGroup(const State& state, ValueId group) {
  Assumptions assumed;
  const variation::ValueStore& values = state.values;
  if (!group || values[group].kind == ValueKind::None) return assumed;
  if (!HasKnownMembers(state, group)) assumed.Add(Assumption::GroupUnknown);
  if (IsOfSomeObject(values, group)) assumed.Add(Assumption::SeveralStores);
  return assumed;
}

// The innermost function of a module around a place.
FuncId FunctionAround(const binding::Program& program, ir::ModuleId module, uint32_t at) {
  const auto& functions = program.modules[module].functions;
  ir::FunctionId around = ir::kTopLevel;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const ir::Function& function = functions[ir::FunctionId{i}];
    const bool is_around = function.begin <= at && at < function.end;
    // Those inside come after those around them.
    if (is_around) around = ir::FunctionId{i};
  }
  return program.func(module, around);
}

// Functions that a bound kept from being read, evaluated or compared.
std::set<uint32_t> FunctionsWithLimits(const State& state) {
  std::set<uint32_t> limited;
  for (const LimitHit& limit : state.limits) limited.insert(limit.function.index);
  for (uint32_t m = 0; m < state.program.modules.size(); ++m) {
    for (const ir::Problem& problem : state.program.modules[ir::ModuleId{m}].problems) {
      if (problem.kind != ir::ProblemKind::Limit) continue;
      limited.insert(FunctionAround(state.program, ir::ModuleId{m}, problem.begin).index);
    }
  }
  return limited;
}

// Functions that call themselves on some ranks and not on others, as the rank decides (`if n > 0: walk(n - 1)` of `walk(rank)`): how
// deep each rank gets is not compared.
std::set<uint32_t> FunctionsOfOwnDepth(const State& state) {
  std::set<uint32_t> functions;
  for (const TraceId call : state.own_depth) {
    // Of one that was followed as far as a bound lets it a projection says whether any rank gets there.
    if (!state.cut_recursion.contains(call.index)) functions.insert(state.traces[call].payload);
  }
  return functions;
}

// Functions that these call: on the way to them something was not looked at.
std::set<uint32_t> CalledBy(const State& state, const std::set<uint32_t>& callers) {
  std::set<uint32_t> called;
  for (const uint32_t caller : callers) {
    for (const auto& [expr, call] : state.facts.functions[FuncId{caller}].calls) {
      if (call.function) called.insert(call.function.index);
    }
  }
  return called;
}

// Functions that were read without types, and those that call one of them, through any number of calls: what it returns or stores goes on.
std::set<uint32_t> FunctionsOfText(const State& state) {
  std::unordered_map<uint32_t, std::vector<uint32_t>> callers;
  std::vector<uint32_t> work;
  for (uint32_t i = 0; i < state.program.funcs.size(); ++i) {
    if ((state.program.function(FuncId{i}).flags & ir::kWithoutTypes) != 0) work.push_back(i);
  }
  if (work.empty()) return {};
  for (uint32_t i = 0; i < state.program.funcs.size(); ++i) {
    for (const auto& [expr, call] : state.facts.functions[FuncId{i}].calls) {
      if (call.function) callers[call.function.index].push_back(i);
    }
  }
  std::set<uint32_t> of_text(work.begin(), work.end());
  while (!work.empty()) {
    const uint32_t called = work.back();
    work.pop_back();
    for (const uint32_t caller : callers[called]) {
      if (of_text.insert(caller).second) work.push_back(caller);
    }
  }
  return of_text;
}

class LedgerWalk {
 public:
  LedgerWalk(const State& state, const Standing& standing, const std::set<uint32_t>& limited, const std::set<uint32_t>& of_text)
      : state_(state), standing_(standing), traces_(state.traces), limited_(limited), of_text_(of_text), beyond_(CalledBy(state, limited)) {}

  void Entry(FuncId func) {
    const TraceId trace = state_.trace_of[func.index];
    if (!trace) return;
    Assumptions assumed;
    if (!IsProgram(state_, func)) assumed.Add(Assumption::CallerUnknown);
    if (limited_.contains(func.index) || beyond_.contains(func.index)) assumed.Add(Assumption::BoundReached);
    if (of_text_.contains(func.index)) assumed.Add(Assumption::WithoutTypes);
    const bool names_all_ranks = IsBeyondWorlds({.named = NamedIn(trace)});
    const knowledge::Axes unclear = state_.meshes.Unclear(state_.program.funcs[func].module);
    // What was noted counts for such functions alone, or for all others.
    const bool is_other_kind = names_all_ranks != names_all_ranks_ || unclear != unclear_;
    names_all_ranks_ = names_all_ranks;
    unclear_ = unclear;
    if (is_other_kind) {
      seen_.clear();
      exits_.clear();
    }
    Visit(trace, assumed);
  }

  // None: the walk did not get there.
  const Assumptions* Of(SiteId site) const {
    const auto found = by_site_.find(site.index);
    return found == by_site_.end() ? nullptr : &found->second;
  }

 private:
  // The ranks that the conditions of a trace ask for one by one, bit n for rank n. Taken together they may say what each rank of a job
  // of one size does (`case 0:`, `case 1 | 2:`), and larger jobs are not looked at.
  uint64_t NamedIn(TraceId id) {
    const auto [found, is_new] = named_in_.try_emplace(id.index);
    if (!is_new) return found->second;
    const TraceKind kind = traces_[id].kind;
    uint64_t named = kind == TraceKind::Choice || kind == TraceKind::Loop ? NamedBy(traces_[id].value) : 0;
    for (const TraceId kid : traces_.Kids(id)) named |= NamedIn(kid);
    return named_in_[id.index] = named;
  }

  uint64_t NamedBy(ValueId condition) const {
    Mentions mentions;
    if (condition) MentionCollector(state_.values, &mentions).Collect(condition);
    return mentions.named;
  }

  // Each node once for each set of assumptions that leads to it: sets are few, so this ends soon.
  void Visit(TraceId id, Assumptions assumed) {
    const Trace& trace = traces_[id];
    if ((trace.flags & (kHasOp | kLeavesMask)) == 0 || !seen_.emplace(id.index, assumed.bits()).second) return;
    switch (trace.kind) {
      case TraceKind::Op:
        by_site_[trace.site.index].Add(assumed | OfOperation(id));
        return;
      case TraceKind::Seq:
        for (const TraceId kid : traces_.Kids(id)) {
          Visit(kid, assumed);
          assumed.Add(OfExits(kid));
          assumed.Add(OfFailures(kid));
          if (Differs(kid)) assumed.Add(Assumption::DifferenceBefore);
        }
        return;
      case TraceKind::Loop:
        // What differs in one round comes before all of the next.
        if (Differs(id)) assumed.Add(Assumption::DifferenceBefore);
        // An exit inside decides who comes to the next round.
        assumed.Add(OfExits(traces_.Kids(id)[0]));
        [[fallthrough]];
      case TraceKind::Choice:
        assumed.Add(OfCondition(trace.value));
        if (trace.kind == TraceKind::Choice && IsToldApart(trace.value)) return VisitArms(id, assumed);
        break;
      case TraceKind::Try:
        assumed.Add(OfFailures(id));
        break;
      case TraceKind::Scope:
      case TraceKind::Rec:
        if (limited_.contains(trace.payload)) assumed.Add(Assumption::BoundReached);
        if (of_text_.contains(trace.payload)) assumed.Add(Assumption::WithoutTypes);
        break;
      default:
        break;
    }
    for (const TraceId kid : traces_.Kids(id)) Visit(kid, assumed);
  }

  bool IsToldApart(ValueId condition) const { return condition && !state_.values.axes(condition).empty(); }

  // Some ranks go one way while others go another: where those of one way differ from all others, those of another may be the others.
  void VisitArms(TraceId choice, Assumptions assumed) {
    const auto arms = traces_.Kids(choice);
    for (size_t i = 0; i < arms.size(); ++i) {
      Assumptions here = assumed;
      for (size_t j = 0; j < arms.size(); ++j) {
        if (j != i && Differs(arms[j])) here.Add(Assumption::DifferenceBefore);
      }
      Visit(arms[i], here);
    }
  }

  // Whether ranks differ at an operation in there, with any confidence.
  bool Differs(TraceId id) {
    const Trace& trace = traces_[id];
    if ((trace.flags & kHasOp) == 0) return false;
    if (trace.kind == TraceKind::Op) return standing_.flagged_sites.contains(trace.site.index) || standing_.unexplained_sites.contains(trace.site.index);
    if (const auto known = differs_.find(id.index); known != differs_.end()) return known->second;
    const auto kids = traces_.Kids(id);
    return differs_[id.index] = std::ranges::any_of(kids, [&](TraceId kid) { return Differs(kid); });
  }

  Assumptions OfOperation(TraceId op) const {
    const Operation& operation = traces_.operation(op);
    Assumptions assumed = OfGroup(state_, operation.group);
    if (IsAlong(operation.group, unclear_)) assumed.Add(Assumption::GroupUnknown);
    const knowledge::OpClass op_class = traces_.entry(op).operation.op_class;
    // Halves are matched within one function; what other functions issue is not searched.
    if (knowledge::IsMessage(op_class)) assumed.Add(Assumption::PartnerElsewhere);
    // Ranks are compared by what evaluates on each of them; of the rest it is assumed that it is one value.
    for (const ValueId part : {operation.root, operation.reduce_op}) {
      if (!part) continue;
      const bool varies = !state_.values.axes(part).empty();
      // `SUM if loss < limit else MAX`
      const bool is_chosen = state_.values[part].kind == ValueKind::Select && !IsPredicate(state_.values, state_.values.ArmsOf(part).condition);
      if (is_chosen || (varies && !IsPredicate(state_.values, part))) assumed.Add(Assumption::ValueNotTraced);
    }
    if (operation.tensor && MayBeInHashOrder(operation.tensor)) assumed.Add(Assumption::HashSeedDiffers);
    if (traces_.entry(op).operation.fixed_shape && !HasKnownSize(state_, operation.tensor)) assumed.Add(Assumption::ValueNotTraced);
    return assumed;
  }

  bool IsAlong(ValueId group, knowledge::Axes axes) const {
    return group && state_.values[group].is_group(variation::GroupKind::AxisGroup) && axes.has(state_.values[group].axis());
  }

  // Whether which tensor it is may hang on the order of a set, of texts or of what is not known.
  bool MayBeInHashOrder(ValueId tensor, int depth = 0) const {
    constexpr int kDeepest = 8;
    if (!tensor || depth > kDeepest) return false;
    const variation::ValueStore& values = state_.values;
    if (values.axes(tensor).has(knowledge::Axis::HashOrder)) return true;
    const auto kids = values.Kids(tensor);
    const auto is = [&](ValueId value, std::string_view operation) {
      const base::NameId name = value ? values.DerivedBy(value) : base::NameId::None();
      return name && state_.program.text(name) == operation;
    };
    if (is(tensor, "element") && kids.size() == 1) return is(kids[0], "builtins.set") || is(kids[0], "builtins.frozenset");
    return std::ranges::any_of(kids, [&](ValueId kid) { return MayBeInHashOrder(kid, depth + 1); });
  }

  // A condition that coordinates and constants decide is exact; of any other it is assumed that it is one value.
  Assumptions OfCondition(ValueId condition) {
    if (!condition) return {};
    Assumptions assumed = OfItself(condition);
    if (names_all_ranks_ && NamedBy(condition) != 0) assumed.Add(Assumption::BoundReached);
    if (!(state_.values.axes(condition) & unclear_).empty()) assumed.Add(Assumption::GroupUnknown);
    return assumed;
  }

  Assumptions OfItself(ValueId condition) {
    const auto [found, is_new] = of_conditions_.try_emplace(condition.index);
    if (!is_new) return found->second;
    Assumptions assumed;
    const variation::ValueStore& values = state_.values;
    if (values.by_name_only(condition)) assumed.Add(Assumption::ByNameOnly);
    if (IsOfSomeObject(values, condition)) assumed.Add(Assumption::SeveralStores);
    if (!IsPredicate(values, condition)) assumed.Add(Assumption::ValueNotTraced);
    // A dimension without a name of its own may lie within any group: FSDP shards over all those of the mesh that it is given.
    if (values.axes(condition).has(knowledge::Axis::OtherMesh)) assumed.Add(Assumption::GroupUnknown);
    Mentions mentions;
    MentionCollector(values, &mentions).Collect(condition);
    if (IsBeyondWorlds(mentions)) assumed.Add(Assumption::BoundReached);
    return found->second = assumed;
  }

  // What decides whether a rank gets past `id`. (A raise ends the job for all.)
  Assumptions OfExits(TraceId id) {
    constexpr uint16_t kEnds = kLeavesMask & static_cast<uint16_t>(~kLeavesRaise);
    const Trace& trace = traces_[id];
    if ((trace.flags & kEnds) == 0) return {};
    const auto [found, is_new] = exits_.try_emplace(id.index);
    if (!is_new) return found->second;
    Assumptions assumed;
    if (trace.kind == TraceKind::Choice || trace.kind == TraceKind::Loop) assumed = OfCondition(trace.value);
    for (const TraceId kid : traces_.Kids(id)) assumed.Add(OfExits(kid));
    return exits_[id.index] = assumed;
  }

  // Where a rank goes on after an error, whether the others had the same one: of errors a trace says no more than where some are raised.
  Assumptions OfFailures(TraceId id) {
    const auto kids = traces_.Kids(id);
    const auto [found, is_new] = failures_.try_emplace(id.index);
    if (!is_new) return found->second;
    Assumptions assumed;
    const auto handlers = kids.subspan(traces_[id].kind == TraceKind::Try ? kTryHandlers : kids.size());
    if (!std::ranges::all_of(handlers, [&](TraceId handler) { return AlwaysRaises(handler); })) assumed.Add(Assumption::ValueNotTraced);
    for (const TraceId kid : kids) assumed.Add(OfFailures(kid));
    return failures_[id.index] = assumed;
  }

  bool AlwaysRaises(TraceId id) const {
    const Trace& trace = traces_[id];
    if ((trace.flags & kLeavesRaise) == 0) return false;
    const auto kids = traces_.Kids(id);
    const auto raises = [&](TraceId kid) { return AlwaysRaises(kid); };
    if (trace.kind == TraceKind::Exit) return true;
    if (trace.kind == TraceKind::Choice) return std::ranges::all_of(kids, raises);
    return (trace.kind == TraceKind::Seq || trace.kind == TraceKind::Scope) && std::ranges::any_of(kids, raises);
  }

  const State& state_;
  const Standing& standing_;
  const TraceStore& traces_;
  const std::set<uint32_t>& limited_;
  const std::set<uint32_t>& of_text_;
  std::set<uint32_t> beyond_;
  std::unordered_map<uint32_t, bool> differs_;   // by trace
  std::set<std::pair<uint32_t, uint64_t>> seen_;
  std::unordered_map<uint32_t, Assumptions> by_site_;
  std::unordered_map<uint32_t, Assumptions> of_conditions_;
  std::unordered_map<uint32_t, Assumptions> exits_;
  std::unordered_map<uint32_t, Assumptions> failures_;
  std::unordered_map<uint32_t, uint64_t> named_in_;   // by trace
  // Of the function that the walk began in.
  bool names_all_ranks_ = false;
  knowledge::Axes unclear_;
};

class LedgerBuilder {
 public:
  LedgerBuilder(const State& state, const CallGraph& graph, const Standing& standing)
      : state_(state), standing_(standing), limited_(Limited(state)), of_text_(FunctionsOfText(state)),
        from_entries_(state, standing, limited_, of_text_), from_anywhere_(state, standing, limited_, of_text_) {
    for (const FuncId func : graph.order) {
      if (!state.is_used[func.index]) from_entries_.Entry(func);
      else from_anywhere_.Entry(func);
    }
  }

  std::vector<LedgerEntry> Build() const {
    std::vector<LedgerEntry> ledger;
    for (const OperationSite& place : state_.sites) {
      const Site& site = state_.traces.site(place.site);
      if (state_.program.infos[state_.program.funcs[site.function].module].requested) ledger.push_back(EntryOf(place, site));
    }
    std::ranges::stable_sort(ledger, {}, [](const LedgerEntry& entry) { return entry.span; });
    const auto repeated = std::ranges::unique(ledger, {}, [](const LedgerEntry& entry) { return entry.span; });
    ledger.erase(repeated.begin(), repeated.end());
    return ledger;
  }

 private:
  static std::set<uint32_t> Limited(const State& state) {
    std::set<uint32_t> limited = FunctionsWithLimits(state);
    limited.merge(FunctionsOfOwnDepth(state));
    return limited;
  }

  LedgerEntry EntryOf(const OperationSite& place, const Site& site) const {
    LedgerEntry entry{.span = site.span, .function = site.function, .name = place.unresolved,
                      .verdict = SiteVerdict::Unknown, .assumptions = {}, .reason = {}};
    if (!place.entry) {
      entry.reason = "unresolved call `" + place.unresolved + "`";
      return entry;
    }
    const knowledge::Entry& call = state_.knowledge[place.entry];
    entry.name = knowledge::WordsOfCall(state_.program.text(call.name), state_.program.text(call.operation.kind), call.operation.op_class);
    if (const auto found = standing_.flagged_sites.find(place.site.index); found != standing_.flagged_sites.end()) {
      entry.verdict = SiteVerdict::Differs;
      entry.assumptions = found->second;
    } else if (standing_.unexplained_sites.contains(place.site.index)) {
      entry.reason = "ranks differ here, and it was not found why";
    } else if (limited_.contains(site.function.index)) {
      entry.reason = "bound reached";
    } else {
      const Assumptions* assumed = from_entries_.Of(place.site);
      if (assumed == nullptr) assumed = from_anywhere_.Of(place.site);
      if (assumed != nullptr) entry.assumptions = *assumed;
      if (entry.assumptions.has(Assumption::BoundReached)) {
        entry.reason = "bound reached";
        return entry;
      }
      entry.verdict = entry.assumptions.empty() ? SiteVerdict::Proven : SiteVerdict::Aligned;
    }
    return entry;
  }

  const State& state_;
  const Standing& standing_;
  std::set<uint32_t> limited_;
  std::set<uint32_t> of_text_;
  LedgerWalk from_entries_;
  LedgerWalk from_anywhere_;
};

}  // namespace

std::vector<LedgerEntry> MakeLedger(const State& state, const CallGraph& graph, const Standing& standing) {
  return LedgerBuilder(state, graph, standing).Build();
}

}  // namespace allranks::traces
