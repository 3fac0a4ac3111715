#include "analyzer/variation/library_results.h"

#include <algorithm>

#include "analyzer/variation/library_groups.h"
#include "analyzer/variation/made_with.h"

namespace allranks::variation {

ValueId LibraryResults::Of(const LibraryCall& call, const knowledge::Yield& yield) const {
  // One of the tensors that several elements are drawn for.
  if (yield.kind == knowledge::YieldKind::Varies && call.entry.of_one && !HasOneElement(call.args)) {
    return DerivedCall(store_, tables_.NameSymbol(call.entry.name), call.receiver, call.args);
  }
  ValueId result = Known(call, yield);
  if (!result) {
    result = DerivedCall(store_, tables_.NameSymbol(call.entry.name), call.receiver, call.args);
    const bool is_shared = std::ranges::any_of(call.args, [&](const CallArgument& arg) { return arg.value && IsShared(arg.value, 0); });
    if (!is_shared) result = store_.WithAxes(result, yield.axes);
  }
  const ValueId first = call.args.empty() ? ValueId::None() : call.args[0].value;
  if (call.entry.joins_sizes && first && !yield.mark && containers_.HoldsRagged(first)) {
    return store_.WithMark(store_.WithAxes(result, store_.axes(first)), tables_.RaggedMark());
  }
  return yield.mark ? store_.WithMark(result, yield.mark) : result;
}

// None where the entry says no more than that it is called.
ValueId LibraryResults::Known(const LibraryCall& call, const knowledge::Yield& yield) const {
  const knowledge::Entry& entry = call.entry;
  switch (yield.kind) {
    case knowledge::YieldKind::Formula:
      return OfFormula(call, yield);
    case knowledge::YieldKind::Uniform:
      if (yield.shape) return NewTensor(call, yield);
      // Without arguments every call gives the same answer.
      return store_.Symbol(call.args.empty() && !call.receiver ? tables_.NameSymbol(entry.name) : call.site, {});
    case knowledge::YieldKind::Varies:
      return Varying(call, yield);
    case knowledge::YieldKind::Object: {
      const ValueId object = SpreadOverMesh(tables_, call, Object(yield.type, call.by_param, call.args));
      // What waits for one operation does not wait for another.
      return entry.has_operation && entry.operation.always_async ? MadeHere(object, call.site) : object;
    }
    case knowledge::YieldKind::Argument: {
      const bool is_receiver = tables_.program.text(yield.argument) == "self";
      const ValueId argument = is_receiver ? call.receiver : call.Passed(yield.argument);
      // `x.half()`, `x.to(device)`: of a type that is the same wherever that is called like this.
      return entry.changes_type ? store_.OfType(argument, DerivedCall(store_, tables_.NameSymbol(entry.name), {}, call.args)) : argument;
    }
    case knowledge::YieldKind::Copy: {
      const ValueId copied = call.Passed(yield.argument);
      return copied && store_[copied].kind == ValueKind::Object ? MadeHere(copied, call.site) : ValueId();
    }
    case knowledge::YieldKind::Arguments: {
      std::vector<ValueId> parts;
      for (const CallArgument& arg : call.args) {
        if (arg.kind == ir::ArgKind::Positional) parts.push_back(Object(yield.type, {&arg.value, 1}, {}));
      }
      return parts.size() == 1 ? parts[0] : store_.Tuple(parts);
    }
    case knowledge::YieldKind::Prepared:
      return Prepared(call, yield);
    case knowledge::YieldKind::MadeWith:
      return MadeWith(tables_, call.receiver, yield.argument);
    case knowledge::YieldKind::None:
      return store_.NoneValue();
    case knowledge::YieldKind::Nothing:
      return {};
    case knowledge::YieldKind::Group:
    case knowledge::YieldKind::NewGroup:
    case knowledge::YieldKind::SplitGroup:
    case knowledge::YieldKind::SelfGroup:
    case knowledge::YieldKind::SubGroup:
      return GroupMade(tables_, call, yield);
  }
  return {};
}

// `MPI_Send_init(buffer, ..., &request)`: a call of MPI_Isend with the arguments that have the names of its parameters.
ValueId LibraryResults::Prepared(const LibraryCall& call, const knowledge::Yield& yield) const {
  const knowledge::EntryId entry = tables_.knowledge.FindEntry(yield.type);
  if (!entry) return {};
  std::vector<ValueId> args;
  for (const NameId param : tables_.knowledge[entry].params) args.push_back(call.Passed(param));
  return store_.Make(Value::Object(tables_.knowledge[entry].name, call.site), args);
}

ValueId LibraryResults::OfFormula(const LibraryCall& call, const knowledge::Yield& yield) const {
  const ValueId result = FormulaValue(tables_, yield.formula, &call.entry, call.by_param, call.receiver);
  const Value& value = store_[result];
  if (value.kind != ValueKind::Coordinate || value.axis() != Axis::OtherMesh) return result;
  const Axis axis = MeshAxis(tables_, call.by_param, call.receiver);
  // How many ranks there are along all dimensions, or along one of another name, is some number.
  const bool is_any_size = IsCoordinate(value, knowledge::Coordinate::AxisSize) && axis == Axis::OtherMesh;
  return is_any_size ? store_.Symbol(call.site, {}) : store_.Coordinate(value.coordinate(), axis);
}

ValueId LibraryResults::Varying(const LibraryCall& call, const knowledge::Yield& yield) const {
  Axes axes;
  for (const CallArgument& arg : call.args) axes = axes | (arg.value ? store_.axes(arg.value) : Axes{});
  const bool is_made_to_vary = IsMadeToVary(tables_, call.entry, call.receiver);
  if (axes.empty() && !is_made_to_vary) {
    const ValueId kids[] = {call.receiver, store_.Symbol(call.site, {})};
    return store_.Derived(tables_.NameSymbol(call.entry.name), kids);
  }
  const uint8_t flags = axes.empty() ? 0 : kOfArguments;
  return store_.Make(Value::Unknown(call.site, is_made_to_vary ? axes | yield.axes : axes, flags), {});
}

// `torch.zeros(2, 3, dtype=t)`, `torch.zeros((2, 3))`. How large it is where `*sizes` are passed is not known.
ValueId LibraryResults::NewTensor(const LibraryCall& call, const knowledge::Yield& yield) const {
  std::vector<ValueId> sizes;
  ValueId type;
  for (const CallArgument& arg : call.args) {
    const bool is_size = arg.kind == ir::ArgKind::Positional || (arg.kind == ir::ArgKind::Keyword && arg.keyword == yield.shape);
    if (arg.kind == ir::ArgKind::Star || arg.kind == ir::ArgKind::DoubleStar) return store_.Symbol(call.site, {});
    if (is_size) sizes.push_back(arg.value);
    else if (arg.keyword == yield.element_type) type = arg.value;
  }
  return store_.NewTensor(call.site, store_.Tuple(sizes), type);
}

ValueId LibraryResults::MadeHere(ValueId object, uint32_t site) const {
  const Value& made = store_[object];
  return made.kind == ValueKind::Object ? store_.Make(made.MadeAt(site), store_.Kids(object)) : object;
}

ValueId LibraryResults::Object(NameId type, std::span<const ValueId> by_param, std::span<const CallArgument> args) const {
  std::vector<ValueId> kids(by_param.begin(), by_param.end());
  if (kids.empty()) {
    for (const CallArgument& arg : args) kids.push_back(arg.value);
  }
  while (!kids.empty() && !kids.back()) kids.pop_back();
  return store_.Make(Value::Object(type), kids);
}

// Whether it comes of something that could vary and was seen to be the same on all ranks: a batch of a loader without a sampler.
bool LibraryResults::IsShared(ValueId value, int depth) const {
  constexpr int kDeepest = 8;
  const ValueId known = LookThrough(tables_, value);
  if (!known || depth == kDeepest || !store_.axes(known).empty()) return false;
  if ((store_[known].flags & kReduced) != 0) return true;
  const NameId operation = store_.DerivedBy(known);
  const knowledge::EntryId entry = operation ? tables_.knowledge.FindEntry(operation) : knowledge::EntryId::None();
  if (entry && !tables_.knowledge[entry].varies_with.empty()) return true;
  return std::ranges::any_of(store_.Kids(known), [&](ValueId kid) { return kid && IsShared(kid, depth + 1); });
}

// `rand(1)`, `rand(())`, `randint(0, 10, (1,))`: whether the sizes that are passed make a tensor of one element. With a generator it
// is drawn from a stream of which something is said elsewhere, and on a device for what is computed there.
bool LibraryResults::HasOneElement(std::span<const CallArgument> args) const {
  std::vector<ValueId> sizes;
  bool is_said = false;
  for (const CallArgument& arg : args) {
    const std::string_view keyword = arg.kind == ir::ArgKind::Keyword ? tables_.program.text(arg.keyword) : std::string_view();
    if (keyword == "generator" || keyword == "device") return false;
    if (arg.kind != ir::ArgKind::Positional && keyword != "size") continue;
    const ValueId known = arg.value ? LookThrough(tables_, arg.value) : ValueId();
    if (!known) return false;
    if (store_[known].kind == ValueKind::Tuple) {
      sizes.assign(store_.Kids(known).begin(), store_.Kids(known).end());
      is_said = true;
    } else if (!is_said) {
      sizes.push_back(known);
    }
  }
  return (is_said || !sizes.empty()) && std::ranges::all_of(sizes, [&](ValueId size) { return size == store_.Int(1); });
}

}  // namespace allranks::variation
