// What a call of something that the knowledge base has an entry for issues: the operation of the entry, with what is passed for each of its parts.
#include <algorithm>

#include "analyzer/traces/build.h"
#include "analyzer/traces/messages.h"
#include "analyzer/variation/group_behind.h"

namespace allranks::traces {

using variation::ValueKind;

ValueId ParamOf(const knowledge::Entry& entry, std::span<const ValueId> args, base::NameId name) {
  if (!name) return ValueId::None();
  const auto param = std::ranges::find(entry.params, name);
  const auto index = static_cast<size_t>(param - entry.params.begin());
  return index < args.size() ? args[index] : ValueId::None();
}

namespace {

// Of a parameter what callers hand in for it, anything else itself.
ValueId HandedIn(const State& state, ValueId value) {
  if (!value || state.values[value].kind != ValueKind::Param) return value;
  return state.facts.param(state.values[value].function(), state.values[value].param_index());
}

// The group that a tensor is spread over (variation/library_groups.h); none of anything else.
ValueId SpreadOver(const State& state, ValueId object) {
  object = HandedIn(state, object);
  if (!object || state.values[object].kind != ValueKind::Object) return {};
  const knowledge::ClassId known = state.knowledge.FindClass(state.values[object].name());
  const auto parts = state.values.Kids(object);
  const bool is_spread = known && state.knowledge[known].is_tensor && !parts.empty() && parts.back();
  return is_spread && state.values[parts.back()].kind == ValueKind::Group ? parts.back() : ValueId::None();
}

// A group, a parameter that callers hand one in for, or a field in which each object has one.
bool IsGroup(const State& state, ValueId value) {
  ValueId passed = HandedIn(state, value);
  if (passed && state.values[passed].is_derived(variation::DerivedKind::Field)) passed = state.values.FieldOf(passed).usual;
  while (passed && state.values[passed].kind == ValueKind::Select) passed = state.values.ArmsOf(passed).then_value;
  return passed && state.values[passed].kind == ValueKind::Group;
}

ValueId GroupOf(State& state, const knowledge::Entry& entry, ValueId receiver, std::span<const ValueId> args) {
  if (const ValueId shared_by = SpreadOver(state, receiver)) return shared_by;
  const ValueId group = ParamOf(entry, args, entry.operation.group_param);
  if (group && group != state.values.NoneValue()) return variation::GroupBehind(state.knowledge, state.values, group);
  if (entry.operation.has_fixed_axis) return state.values.AxisGroup(entry.operation.axis);
  if (receiver && IsGroup(state, receiver)) return receiver;
  if (receiver && state.values[receiver].kind == ValueKind::Object) {
    const knowledge::ClassId known = state.knowledge.FindClass(state.values[receiver].name());
    if (known && state.knowledge[known].is_group) return variation::GroupBehind(state.knowledge, state.values, receiver);
  }
  // `if (rank < 2) ncclCommInitRank(&comm, 2, id, rank)`
  const ValueId ranks = ParamOf(entry, args, entry.operation.ranks_param);
  if (ranks && state.values[ranks].kind == ValueKind::Int) {
    return state.values.Make(variation::Value::Group(variation::GroupKind::Unknown), {&ranks, 1});
  }
  return ValueId::None();
}

// `prepare(loader, optimizer)` of Accelerate: what compares the parameters of a module leaves other objects alone.
bool ConcernsNoModule(const State& state, SiteId site_id, const knowledge::Entry& entry) {
  if (state.program.text(entry.operation.kind) != "module_broadcast" || !entry.params.empty()) return false;
  const Site& site = state.traces.site(site_id);
  const ir::ModuleId module_id = state.program.funcs[site.function].module;
  const ir::Module& module = state.program.modules[module_id];
  if (!site.expr || module[site.expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[site.expr]) == 0) return false;
  for (uint32_t i = 0; i < ir::ArgCount(module, module[site.expr]); ++i) {
    const ValueId arg = state.facts.value(module_id, ir::ArgAt(module, module[site.expr], i).value);
    if (!arg || state.values[arg].kind != ValueKind::Object) return false;
    const knowledge::ClassId known = state.knowledge.FindClass(state.values[arg].name());
    if (!known || state.knowledge[known].is_module) return false;
  }
  return true;
}

// What an object of a library was made with; none if that was not passed or its making was not seen.
ValueId OptionOf(const State& state, ValueId object, base::NameId option) {
  object = HandedIn(state, object);
  if (!object || state.values[object].kind != ValueKind::Object) return {};
  const knowledge::ClassId known = state.knowledge.FindClass(state.values[object].name());
  const base::NameId init = state.program.names->Find("__init__");
  const knowledge::EntryId made = known && init ? state.knowledge.FindMember(known, init) : knowledge::EntryId::None();
  return made ? ParamOf(state.knowledge[made], state.values.Kids(object), option) : ValueId::None();
}

// An operation that is issued where all of these options of its object, by comma, are true. What an object is not told it does.
TraceId IssuedIfMadeWith(State& state, SiteId site, ValueId object, std::string_view options, TraceId op) {
  for (size_t at = 0; at < options.size();) {
    const size_t end = std::min(options.find(',', at), options.size());
    const base::NameId option = state.program.names->Find(options.substr(at, end - at));
    if (const ValueId condition = option ? OptionOf(state, object, option) : ValueId::None()) {
      op = state.traces.Choice(site, condition, op, state.traces.Empty());
    }
    at = end + 1;
  }
  return op;
}

// The ranks that a new group is made of, as its caller lists them; none: all, or made in another way.
ValueId MembersOf(const knowledge::Entry& entry, std::span<const ValueId> args) {
  return entry.yield.kind == knowledge::YieldKind::NewGroup ? ParamOf(entry, args, entry.yield.argument) : ValueId::None();
}

// `handle = isend(...)`, `MPI_Isend(..., &request)`; `handle.wait()`, `MPI_Wait(&request)`.
ValueId HandleOf(const State& state, SiteId site_id, const knowledge::Entry& entry, ValueId receiver, std::span<const ValueId> args) {
  const knowledge::Operation& operation = entry.operation;
  const bool waits = operation.op_class == knowledge::OpClass::Wait;
  if (operation.handle_param) return ParamOf(entry, args, operation.handle_param);
  if (waits) return receiver;
  const Site& site = state.traces.site(site_id);
  return operation.always_async && site.expr ? state.facts.value(state.program.funcs[site.function].module, site.expr) : ValueId::None();
}

}  // namespace

TraceId KnownOperation(State& state, SiteId site, knowledge::EntryId entry_id, ValueId receiver,
                       std::span<const ValueId> args, Batched batched) {
  const knowledge::Entry& entry = state.knowledge[entry_id];
  const knowledge::Operation& operation = entry.operation;
  if (!entry.has_operation || ConcernsNoModule(state, site, entry)) return state.traces.Empty();
  if (operation.messages_param) {
    if (const std::optional<TraceId> messages = MessagesOf(state, site, ParamOf(entry, args, operation.messages_param))) return *messages;
  }
  if (operation.op_class == knowledge::OpClass::Start) {
    if (const std::optional<TraceId> started = StartedBy(state, site, ParamOf(entry, args, operation.handle_param))) return *started;
  }
  if (operation.local_if_param) {
    const ValueId local = ParamOf(entry, args, operation.local_if_param);
    if (local && local != state.values.False() && local != state.values.NoneValue()) return state.traces.Empty();
  }
  // `op=SUM if loss > limit else MAX`: two operations, of which each rank's own data decides.
  const ValueId reduce_op = ParamOf(entry, args, operation.reduce_op_param);
  if (reduce_op && state.values[reduce_op].kind == ValueKind::Select) {
    const std::vector<ValueId> chosen(state.values.Kids(reduce_op).begin(), state.values.Kids(reduce_op).end());
    if (!(state.values.axes(chosen[0]) & knowledge::kSoftAxes).empty()) {
      const auto place = static_cast<size_t>(std::ranges::find(entry.params, operation.reduce_op_param) - entry.params.begin());
      std::vector<ValueId> given(args.begin(), args.end());
      given[place] = chosen[1];
      const TraceId then_op = KnownOperation(state, site, entry_id, receiver, given, batched);
      given[place] = chosen[2];
      return state.traces.Choice(site, chosen[0], then_op, KnownOperation(state, site, entry_id, receiver, given, batched));
    }
  }
  const ValueId group_root = ParamOf(entry, args, operation.group_root_param);
  const bool is_of_group = group_root && group_root != state.values.NoneValue();
  const TraceId op = state.traces.Op(site, {.entry = entry_id, .group = GroupOf(state, entry, receiver, args),
                                            .root = is_of_group ? group_root : ParamOf(entry, args, operation.root_param),
                                            .reduce_op = reduce_op,
                                            .tensor = ParamOf(entry, args, operation.tensor_param),
                                            .peer = ParamOf(entry, args, operation.peer_param),
                                            .dtype = ParamOf(entry, args, operation.dtype_param),
                                            .other_dtype = ParamOf(entry, args, operation.other_dtype_param),
                                            .count = ParamOf(entry, args, operation.count_param),
                                            .members = MembersOf(entry, args),
                                            .tag = ParamOf(entry, args, operation.tag_param),
                                            .from = ParamOf(entry, args, operation.from_param),
                                            .from_tag = ParamOf(entry, args, operation.from_tag_param),
                                            .handle = HandleOf(state, site, entry, receiver, args),
                                            .batched = batched,
                                            .root_in_group = is_of_group || operation.root_is_group_rank});
  if (!operation.only_if_param) return op;
  if (std::ranges::find(entry.params, operation.only_if_param) == entry.params.end()) {
    return IssuedIfMadeWith(state, site, receiver, state.program.names->View(operation.only_if_param), op);
  }
  const ValueId condition = ParamOf(entry, args, operation.only_if_param);
  return condition ? state.traces.Choice(site, condition, op, state.traces.Empty()) : state.traces.Empty();
}

ValueId ValueOfFormula(State& state, knowledge::FormulaId id) {
  const knowledge::Formula& formula = state.knowledge[id];
  variation::ValueStore& values = state.values;
  switch (formula.kind) {
    case knowledge::FormulaKind::Int:
      return values.Int(formula.number);
    case knowledge::FormulaKind::Bool:
      return values.Bool(formula.number != 0);
    case knowledge::FormulaKind::Coordinate:
      if (formula.coordinate == knowledge::Coordinate::GroupRank) return values.Coordinate(knowledge::Coordinate::Rank);
      return values.Coordinate(formula.coordinate, formula.axis);
    case knowledge::FormulaKind::Not:
      return values.Not(ValueOfFormula(state, formula.left));
    case knowledge::FormulaKind::Negate:
      return values.Unary(ir::UnaryOp::Minus, ValueOfFormula(state, formula.left));
    case knowledge::FormulaKind::Binary: {
      const ValueId left = ValueOfFormula(state, formula.left);
      return values.Binary(static_cast<ir::BinaryOp>(formula.op), left, ValueOfFormula(state, formula.right));
    }
    case knowledge::FormulaKind::Compare: {
      const ValueId left = ValueOfFormula(state, formula.left);
      return values.Compare(static_cast<ir::CompareOp>(formula.op), left, ValueOfFormula(state, formula.right));
    }
    case knowledge::FormulaKind::And:
    case knowledge::FormulaKind::Or: {
      const ValueId kids[] = {ValueOfFormula(state, formula.left), ValueOfFormula(state, formula.right)};
      return formula.kind == knowledge::FormulaKind::And ? values.And(kids) : values.Or(kids);
    }
    case knowledge::FormulaKind::Param:
      return values.Fresh({});
  }
  return values.Fresh({});
}

}  // namespace allranks::traces
