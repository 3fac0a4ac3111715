#include "analyzer/variation/own_fields.h"

#include <algorithm>

#include "analyzer/variation/records.h"

namespace allranks::variation {
namespace {

// An object has no more fields of its own.
constexpr size_t kMostOwnFields = 24;

// Says whether something is done, or on which ranks: `True`, `rank`, `world_size > 1`, a group; also an object that has such fields.
bool IsSwitch(const ValueStore& store, ValueId id, int depth = 0) {
  constexpr int kDeepest = 4;
  const Value& value = store[id];
  switch (value.kind) {
    case ValueKind::Bool:
    case ValueKind::Coordinate:
    case ValueKind::Group:
      return true;
    case ValueKind::Instance:
      return value.kid_count > 0;
    case ValueKind::Unary:
    case ValueKind::Binary:
    case ValueKind::Compare:
    case ValueKind::And:
    case ValueKind::Or:
    case ValueKind::Select:
      return depth < kDeepest && std::ranges::any_of(store.Kids(id), [&](ValueId kid) { return IsSwitch(store, kid, depth + 1); });
    default:
      return false;
  }
}

}  // namespace

void AddField(Fields& fields, NameId name, ValueId value) {
  if (std::ranges::find(fields, name, &Fields::value_type::first) == fields.end()) fields.emplace_back(name, value);
}

bool OwnFields::IsReplaced(binding::ClassId class_id, NameId attr) const {
  const NameId any = AnyField();
  for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
    if (tables_.Read(TableId::Replaced, base.index, attr.index) || tables_.Read(TableId::Replaced, base.index, any.index)) return true;
  }
  return tables_.Read(TableId::Replaced, tables_.program.classes[class_id].module.index | kOfUnknownClass, attr.index).has_value();
}

ValueId OwnFields::LeftByConstructor(binding::ClassId class_id, NameId attr) const {
  const auto left = tables_.Read(TableId::Made, class_id.index, attr.index);
  const bool is_one = left && !tables_.IsJoined(TableId::Made, class_id.index, attr.index) && !IsReplaced(class_id, attr);
  return is_one && !store_.axes(left).empty() ? ValueId(left) : ValueId();
}

bool OwnFields::IsOwnToObjects(binding::ClassId class_id, NameId attr) const {
  if (!tables_.HasOwnFields(class_id)) return false;
  const bool differs = std::ranges::any_of(tables_.program.classes[class_id].mro, [&](binding::ClassId base) {
    return tables_.IsJoined(TableId::Made, base.index, attr.index);
  });
  return differs && !IsReplaced(class_id, attr);
}

ValueId OwnFields::ObjectMeant(ValueId object, ValueId known) const {
  if (object == known || store_[known].kind != ValueKind::Instance) return known;
  const Value of = store_[object];
  const bool is_open = of.kind == ValueKind::Param || of.kind == ValueKind::Select || (of.is_derived(DerivedKind::Field));
  if (!is_open || !tables_.HasOwnFields(store_[known].class_id())) return known;
  const Value seen = store_[known];
  return store_.SameObject(seen, object);
}

ValueId OwnFields::OnObject(ValueId method, ValueId object) const {
  if (!method || store_[object].kid_count == 0) return method;
  const Value value = store_[method];
  if (value.kind == ValueKind::Select) return store_.OfArms(method, [&](ValueId arm) { return OnObject(arm, object); });
  std::vector<ValueId> kids(store_.Kids(method).begin(), store_.Kids(method).end());
  if (value.kind != ValueKind::Function || kids.empty() || !kids[0] || store_[kids[0]].kind != ValueKind::Instance) return method;
  const Value receiver = store_[kids[0]];
  const bool is_same = store_[object].is_same_object();
  kids[0] = is_same ? store_.SameObject(Value::Instance(receiver.class_id(), receiver.origin()), object) : object;
  return store_.Make(Value::Function(value.function()), kids);
}

ValueId OwnFields::Field(ValueId object, NameId attr, ValueId usual) const {
  const Value& value = store_[object];
  if (!usual) usual = tables_.Read(TableId::Made, value.class_id().index, attr.index);
  if (!usual || !value.is_same_object()) return usual;
  const Value seen = store_[LookThrough(tables_, usual)];
  if (seen.kind != ValueKind::Instance && IsObjectLike(seen.kind)) return {};
  const ValueId field = store_.Field(tables_.NameSymbol(attr), store_.MeantBy(object), usual);
  if (seen.kind != ValueKind::Instance) return field;
  return store_.SameObject(seen, field);
}

bool OwnFields::MayBeOfProject(ValueId object) const {
  const Value& value = store_[object];
  if (value.kind == ValueKind::Unknown || value.kind == ValueKind::Param) return true;
  if (value.kind == ValueKind::Select) return MayBeOfProject(store_.ArmsOf(object).then_value) || MayBeOfProject(store_.ArmsOf(object).else_value);
  if (value.kind != ValueKind::Derived) return false;
  const NameId operation = store_.DerivedBy(value);
  return !operation || Text(operation).find('.') == std::string_view::npos;
}

void OwnFields::AddDefaults(binding::ClassId class_id, Fields& fields) const {
  for (const NameId name : RecordFields(tables_.program, class_id)) {
    const binding::ClassId declaring = DeclaringClass(tables_.program, class_id, name);
    const ValueId usual = declaring ? tables_.Read(TableId::Usual, declaring.index, name.index) : ValueId();
    // What differs between ranks by default does so unless something else is passed.
    if (usual && (IsConstant(store_[usual]) || !store_.axes(usual).empty())) AddField(fields, name, usual);
  }
}

void OwnFields::AddConstants(binding::ClassId class_id, Fields& fields) const {
  for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
    const ir::Module& module = tables_.program.modules[tables_.program.classes[base].module];
    for (const ir::StmtId id : module.statements(tables_.program.ir_class(base).body)) {
      if (module[id].kind != ir::StmtKind::Assign || module[ir::AssignedOf(module[id])].kind != ir::ExprKind::Constant) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, module[id])) {
        if (module[target].kind != ir::ExprKind::Name) continue;
        const NameId name = ir::NameOf(module[target]);
        const ValueId value = tables_.Read(TableId::Fields, base.index, name.index);
        if (value && IsConstant(store_[value])) AddField(fields, name, value);
      }
    }
  }
}

ValueId OwnFields::MadeObject(binding::ClassId class_id, const Fields& fields, bool is_record, FuncId by) {
  for (const auto& [name, value] : fields) NoteMade(class_id, name, value, by);
  std::vector<ValueId> kids;
  for (const auto& [name, value] : fields) {
    const bool is_kept = is_record ? !IsReplaced(class_id, name) : IsOwnToObjects(class_id, name);
    if (is_kept && (is_record || kids.size() < 2 * kMostOwnFields)) kids.insert(kids.end(), {store_.Str(name), value});
  }
  return store_.WithFields(Value::Instance(class_id, InstanceOrigin::Exact), kids);
}

// For the class and those above it, whose methods look at the object too.
void OwnFields::NoteMade(binding::ClassId class_id, NameId name, ValueId value, FuncId by) {
  // Sizes, names and paths differ everywhere, and seldom decide what an object does.
  const auto noted = [&](ValueId one) { return IsSwitch(store_, one) ? one : store_.Symbol(tables_.NameSymbol("some object"), {}); };
  const ValueId closed = tables_.Close(value, by);
  // `True` of one caller and `False` of another make a choice that is nothing but the unknown that chooses.
  const ValueId asked = store_[closed].kind == ValueKind::Unary ? store_.OperandOf(closed) : closed;
  const bool is_either = store_.has_param(value) && store_[asked].kind == ValueKind::Unknown && (store_[asked].flags & kOfSomeObject) != 0;
  const auto record = [&](binding::ClassId base, ValueId made) { tables_.Record(TableId::Made, base.index, name.index, made); };
  for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
    if (is_either) record(base, store_.False());
    if (is_either) record(base, store_.True());
    // What callers pass is another thing for each object.
    ValueId rest = noted(closed);
    while (store_.has_param(value) && store_[rest].kind == ValueKind::Select) {
      record(base, noted(store_.ArmsOf(rest).then_value));
      rest = store_.ArmsOf(rest).else_value;
    }
    record(base, rest);
    if (tables_.IsJoined(TableId::Made, base.index, name.index)) tables_.Record(TableId::Made, base.index, AnyField().index, store_.True());
  }
}

}  // namespace allranks::variation
