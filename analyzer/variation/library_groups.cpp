#include "analyzer/variation/library_groups.h"

#include "analyzer/knowledge/formula.h"
#include "analyzer/variation/group_behind.h"

namespace allranks::variation {
namespace {

// The dimension of a mesh that a call names: `mesh.get_group("tp")`, `mesh["tp"].get_local_rank()`, or the only one there is.
// None where no name is known.
NameId MeshDimension(Tables& tables, std::span<const ValueId> by_param, ValueId mesh) {
  const ValueStore& store = tables.store;
  const auto name_of = [&](ValueId value) {
    return value && store[value].kind == ValueKind::Str ? store[value].name() : NameId::None();
  };
  const ValueId asked = by_param.empty() || !by_param[0] ? ValueId::None() : LookThrough(tables, by_param[0]);
  if (const NameId name = name_of(asked)) return name;
  if (!mesh || store[mesh].kind != ValueKind::Object) return NameId::None();
  const auto made_with = store.Kids(mesh);
  // What `mesh["tp"]` gives was made with the name alone, a whole mesh with device, sizes and names.
  constexpr size_t kNames = 2;
  if (made_with.size() == 1) return name_of(made_with[0]);
  if (made_with.size() <= kNames || !made_with[kNames]) return NameId::None();
  const ValueId names = LookThrough(tables, made_with[kNames]);
  if (store[names].kind != ValueKind::Tuple) return NameId::None();
  const auto dimensions = store.Kids(names);
  const bool by_number = asked && store[asked].kind == ValueKind::Int;
  const size_t index = by_number ? static_cast<size_t>(*store[asked].integer()) : 0;
  return index < dimensions.size() && (by_number || dimensions.size() == 1) ? name_of(dimensions[index]) : NameId::None();
}

// The ranks of a group, and what each loop around goes through whose variable they mention: it is one of a family (group_families.cpp).
std::vector<ValueId> RanksInLoops(const LibraryCall& call, const ValueStore& store, ValueId ranks) {
  std::vector<ValueId> kids = {ranks};
  for (const LoopVariable& loop : call.around) {
    if (store.Mentions(ranks, loop.variable)) kids.insert(kids.end(), {loop.variable, loop.sequence});
  }
  return kids;
}

// A group of the ranks that it has, or of the negation of the ranks that it lacks, if these are known. Ranks of a part of the job are
// not those of the job.
ValueId SubGroup(Tables& tables, const LibraryCall& call, const knowledge::Yield& yield) {
  ValueStore& store = tables.store;
  const Value group = Value::Group(GroupKind::Created, call.site);
  const ValueId parent = tables.program.text(yield.of) == "self" ? call.receiver : call.Passed(yield.of);
  const ValueId list = yield.argument ? call.Passed(yield.argument) : ValueId();
  ValueId ranks;
  if (list && parent && store[LookThrough(tables, parent)].is_group(GroupKind::World)) {
    const ValueId known = LookThrough(tables, list);
    const auto items = store.Kids(known);
    const ValueId count = yield.count ? call.Passed(yield.count) : store.Int(static_cast<int64_t>(items.size()));
    const std::optional<uint32_t> number = count ? store[LookThrough(tables, count)].count() : std::nullopt;
    // `int root = 0; MPI_Group_incl(group, 1, &root, &part)`
    const bool is_one = store[known].kind == ValueKind::Int && number == 1u;
    if (is_one) ranks = store.Tuple({&known, 1});
    else if (store[known].kind == ValueKind::Tuple && number && *number <= items.size()) ranks = store.Tuple(items.first(*number));
  }
  if (!ranks) return store.Make(group, {});
  if (yield.is_rest) ranks = store.Make(Value::Unary(ir::UnaryOp::Not), {&ranks, 1});
  return store.Make(group, {&ranks, 1});
}

// Of groups that lists of their ranks make (`new_subgroups_by_enumeration([[0, 1], [2, 3]])`) the one that each rank is in; none if
// these are not such lists.
ValueId GroupListing(Tables& tables, const LibraryCall& call, ValueId lists, ValueId parent) {
  ValueStore& store = tables.store;
  const auto kids = store.Kids(lists);
  const ValueId rank = store.Coordinate(knowledge::Coordinate::GroupRank, {}, parent);
  const bool is_made = store[lists].is_derived(tables.NameSymbol(kComprehended));
  if (is_made && kids.size() == kKnownParts && kids[3] == store.True()) {
    const ValueId parts[] = {kids[0], kids[2], kids[1]};
    const ValueId group = store.Make(Value::Group(GroupKind::Created, call.site), parts);
    return store.Select(store.Compare(ir::CompareOp::In, rank, kids[0]), group, store.NoneValue());
  }
  if (store[lists].kind != ValueKind::Tuple || kids.empty()) return {};
  ValueId color = store.Int(-1);
  for (size_t i = kids.size(); i-- > 0;) {
    if (!store.axes(kids[i]).empty()) return {};
    color = store.Select(store.Compare(ir::CompareOp::In, rank, kids[i]), store.Int(static_cast<int64_t>(i)), color);
  }
  const ValueId parts[] = {parent, color};
  return store.Make(Value::Group(GroupKind::Split, call.site), parts);
}

ValueId SplitGroup(Tables& tables, const LibraryCall& call, const knowledge::Yield& yield) {
  ValueStore& store = tables.store;
  const ValueId color = yield.formula ? FormulaValue(tables, yield.formula, &call.entry, call.by_param, call.receiver) : call.Passed(yield.argument);
  const ValueId parent = GroupOf(tables, call);
  if (yield.argument && color) {
    if (const ValueId listed = GroupListing(tables, call, LookThrough(tables, color), parent)) return listed;
  }
  const ValueId parts[] = {parent, color ? color : store.Int(0)};
  return store.Make(Value::Group(GroupKind::Split, call.site), parts);
}

}  // namespace

ValueId GroupOf(Tables& tables, const LibraryCall& call) {
  ValueStore& store = tables.store;
  const knowledge::Operation& operation = call.entry.operation;
  const ValueId group = call.Passed(operation.group_param);
  if (group && store[group].kind != ValueKind::None) return GroupBehind(tables.knowledge, store, LookThrough(tables, group));
  if (operation.has_fixed_axis) return store.AxisGroup(operation.axis);
  const ValueId own = call.receiver ? GroupBehind(tables.knowledge, store, call.receiver) : ValueId::None();
  return own && store[LookThrough(tables, own)].kind == ValueKind::Group ? own : store.World();
}

Axes SpannedBy(const ValueStore& store, ValueId group) {
  const Value& value = store[group];
  if (!value.is_group(GroupKind::AxisGroup)) return kAllAxes;
  const Axes own = Axes::Of(value.axis()) | knowledge::kSurroundings;
  return value.axis() == Axis::DataParallel ? own | Axes::Of(Axis::Data) : own;
}

Axis MeshAxis(Tables& tables, std::span<const ValueId> by_param, ValueId mesh) {
  const NameId name = MeshDimension(tables, by_param, mesh);
  if (!name) return Axis::OtherMesh;
  return knowledge::AxisOfDimension(tables.knowledge, name).value_or(Axis::OtherMesh);
}

namespace {

ValueId PlainGroupMade(Tables& tables, const LibraryCall& call, const knowledge::Yield& yield) {
  ValueStore& store = tables.store;
  switch (yield.kind) {
    case knowledge::YieldKind::Group: {
      // A dimension of another name is some group of this mesh, of which no more is known.
      const Axis axis = yield.axis != Axis::OtherMesh ? yield.axis : MeshAxis(tables, call.by_param, call.receiver);
      return axis != Axis::OtherMesh ? store.AxisGroup(axis) : ValueId();
    }
    case knowledge::YieldKind::NewGroup: {
      const ValueId ranks = call.Passed(yield.argument);
      const bool is_everyone = !ranks || store[ranks].kind == ValueKind::None;
      if (!is_everyone) return store.Make(Value::Group(GroupKind::Created, call.site), RanksInLoops(call, store, ranks));
      // `new_group()` makes another group of all ranks; what takes no list, as `group.WORLD`, is the default group itself.
      return yield.argument ? store.Make(Value::Group(GroupKind::World, call.site), {}) : store.World();
    }
    case knowledge::YieldKind::SplitGroup:
      return SplitGroup(tables, call, yield);
    case knowledge::YieldKind::SelfGroup:
      return store.Make(Value::Group(GroupKind::Self), {});
    case knowledge::YieldKind::SubGroup:
      return SubGroup(tables, call, yield);
    default:
      return {};
  }
}

}  // namespace

ValueId GroupMade(Tables& tables, const LibraryCall& call, const knowledge::Yield& yield) {
  const ValueId group = PlainGroupMade(tables, call, yield);
  if (!group || !yield.type || tables.store[group].kind != ValueKind::Group) return group;
  const std::vector<ValueId> kids(tables.store.Kids(group).begin(), tables.store.Kids(group).end());
  return tables.store.Make(tables.store[group].AsCommunicator(yield.type), kids);
}

ValueId SpreadOverMesh(Tables& tables, const LibraryCall& call, ValueId object) {
  ValueStore& store = tables.store;
  const knowledge::ClassId class_id = tables.knowledge.FindClass(store[object].name());
  const bool is_over_mesh = call.entry.operation.has_fixed_axis && call.entry.operation.axis == Axis::OtherMesh;
  if (!is_over_mesh || !class_id || !tables.knowledge[class_id].is_tensor) return object;
  ValueId group = store.Make(Value::Group(GroupKind::Unknown), call.by_param);
  for (const ValueId given : call.by_param) {
    const ValueId mesh = given ? LookThrough(tables, given) : ValueId();
    if (!mesh || store[mesh].kind != ValueKind::Object) continue;
    if (const Axis axis = MeshAxis(tables, {}, mesh); axis != Axis::OtherMesh) group = store.AxisGroup(axis);
  }
  std::vector<ValueId> parts(store.Kids(object).begin(), store.Kids(object).end());
  parts.push_back(group);
  return store.Make(Value::Object(store[object].name()), parts);
}

}  // namespace allranks::variation
