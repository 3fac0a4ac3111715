// What objects of one class have of their own. What a constructor leaves in the fields of an object, and nobody replaces later,
// stands in the value of the object where objects of the class differ in it: an Instance with kids (value.h). A method looks at its
// object as a parameter like any: its fields are told by the object that a call is made on, and are what all objects have
// together (TableId::Fields) where that is not known.
//
// Not sound where a field is replaced by code that is not seen, or by a name that is not.
#include <algorithm>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/records.h"

namespace allranks::variation {
namespace {

using Fields = std::vector<std::pair<NameId, ValueId>>;

// An object has no more fields of its own.
constexpr size_t kMostOwnFields = 24;

// Says whether something is done, or on which ranks: `True`, `rank`, `world_size > 1`; also an object that has such fields.
bool IsSwitch(const ValueStore& store, ValueId id, int depth = 0) {
  constexpr int kDeepest = 4;
  const Value& value = store[id];
  switch (value.kind) {
    case ValueKind::Bool:
    case ValueKind::Coordinate:
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

void AddField(Fields& fields, NameId name, ValueId value) {
  if (std::ranges::find(fields, name, &Fields::value_type::first) == fields.end()) fields.emplace_back(name, value);
}

}  // namespace

// `is_made`: the constructor of the object does it.
void FunctionEvaluator::StoreAttribute(ValueId object, NameId attr, ValueId value, bool is_made) {
  const ValueId known = LookThrough(tables_, object);
  const auto kept = [&](ValueId what) { return tables_.Kept(Closed(what), Axes::Of(Axis::Data)); };
  const bool is_python = module_.language == ir::Language::Python;
  const bool is_of_class = store_[known].kind == ValueKind::Class && is_python;
  if (store_[known].kind == ValueKind::Instance || is_of_class) {
    tables_.Record(TableId::Fields, store_[known].class_id().index, attr.index, kept(Guarded(value)));
    if (is_python && !is_made) tables_.Record(TableId::Replaced, store_[known].class_id().index, attr.index, store_.True());
  } else if (store_[known].kind == ValueKind::Module) {
    // `comm.LOCAL_GROUP = group`: a variable of another file.
    const binding::Target variable = tables_.program.Lookup(store_[known].module(), attr);
    if (variable.kind == binding::TargetKind::Variable) {
      tables_.Record(TableId::Globals, variable.module.index, variable.name.index, Closed(Guarded(value)));
      return Put(VariablesOf(variable.module), variable.name, value);
    }
  } else {
    // Many unrelated objects have attributes of one name: the way to one assignment says nothing of the others.
    tables_.Record(TableId::LooseFields, func_.module.index, attr.index, kept(value));
    if (is_python && MayBeOfProject(known)) {
      tables_.Record(TableId::Replaced, func_.module.index | kOfUnknownClass, attr.index, store_.True());
    }
  }
  Put(object, attr, value);
}

// `setattr(object, name, value)` with some name or other.
void FunctionEvaluator::NoteAnyReplaced(ValueId object) {
  const ValueId known = LookThrough(tables_, object);
  if (store_[known].kind != ValueKind::Instance || module_.language != ir::Language::Python) return;
  tables_.Record(TableId::Replaced, store_[known].class_id().index, Intern(kFieldTable).index, store_.True());
}

// `self.__dict__.update(options)`
void FunctionEvaluator::NoteTableChanged(ir::ExprId table) {
  const ir::Expr& expr = module_[table];
  if (expr.kind == ir::ExprKind::Attribute && Text(ir::AttrOf(expr)) == kFieldTable) NoteAnyReplaced(Eval(ir::ObjectOf(expr)));
}

// An object of unknown class; what a library yields (`parser.parse_args()`) is none of the project's classes.
bool FunctionEvaluator::MayBeOfProject(ValueId object) const {
  const Value& value = store_[object];
  if (value.kind == ValueKind::Unknown || value.kind == ValueKind::Param) return true;
  if (value.kind == ValueKind::Select) return MayBeOfProject(store_.ArmsOf(object).then_value) || MayBeOfProject(store_.ArmsOf(object).else_value);
  if (value.kind != ValueKind::Derived) return false;
  const NameId operation = store_.DerivedBy(value);
  return !operation || Text(operation).find('.') == std::string_view::npos;
}

bool FunctionEvaluator::IsConstructor() const {
  if (!func_.owner || module_.language != ir::Language::Python) return false;
  const std::string_view name = Text(function_.name);
  return name == "__init__" || name == "__post_init__";
}

// Whether something stores there in objects that are made already.
bool FunctionEvaluator::IsReplaced(binding::ClassId class_id, NameId attr) {
  const NameId any = Intern(kFieldTable);
  for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
    if (tables_.Read(TableId::Replaced, base.index, attr.index) || tables_.Read(TableId::Replaced, base.index, any.index)) return true;
  }
  return tables_.Read(TableId::Replaced, tables_.program.classes[class_id].module.index | kOfUnknownClass, attr.index).has_value();
}

// Whether objects of the class differ in a field, and each keeps what it was made with.
bool FunctionEvaluator::IsOwnToObjects(binding::ClassId class_id, NameId attr) {
  if (!HasOwnFields(class_id)) return false;
  const bool differs = std::ranges::any_of(tables_.program.classes[class_id].mro, [&](binding::ClassId base) {
    return tables_.IsJoined(TableId::Made, base.index, attr.index);
  });
  return differs && !IsReplaced(class_id, attr);
}

bool FunctionEvaluator::HasOwnFields(binding::ClassId class_id) {
  const NameId any = Intern(kFieldTable);
  return std::ranges::any_of(tables_.program.classes[class_id].mro, [&](binding::ClassId base) {
    return tables_.Read(TableId::Made, base.index, any.index).has_value();
  });
}

// What a method of the class is called on.
ValueId FunctionEvaluator::OwnObject(binding::ClassId class_id) {
  const bool is_method = func_.owner == class_id && !function_.params.empty() &&
                         binding::ReceiverOf(tables_.program, id_) == binding::ReceiverKind::Instance;
  return is_method ? ParamValue(id_, 0) : InstanceValue(class_id);
}

// `known`: what `object` is seen to be. A parameter, or a field, is the one that callers hand in.
ValueId FunctionEvaluator::ObjectMeant(ValueId object, ValueId known) {
  if (object == known || store_[known].kind != ValueKind::Instance) return known;
  const Value of = store_[object];
  const bool is_open = of.kind == ValueKind::Param || of.kind == ValueKind::Select || (of.is_derived(DerivedKind::Field));
  if (!is_open || !HasOwnFields(store_[known].class_id())) return known;
  const Value seen = store_[known];
  return store_.SameObject(seen, object);
}

// A method, or one of several, called on this object.
ValueId FunctionEvaluator::OnObject(ValueId method, ValueId object) {
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

// `usual`: what objects of the class have there. None: nothing is known that this one has of its own.
ValueId FunctionEvaluator::FieldOfObject(ValueId object, NameId attr, ValueId usual) {
  const Value& value = store_[object];
  if (!usual) usual = tables_.Read(TableId::Made, value.class_id().index, attr.index);
  if (!usual || !value.is_same_object()) return usual;
  const Value seen = store_[LookThrough(tables_, usual)];
  if (seen.kind != ValueKind::Instance && IsObjectLike(seen.kind)) return {};
  const ValueId field = store_.Field(tables_.NameSymbol(attr), store_.MeantBy(object), usual);
  if (seen.kind != ValueKind::Instance) return field;
  return store_.SameObject(seen, field);
}

// What the constructor put in its object, and no call can have replaced.
bool FunctionEvaluator::IsOwnField(const HeapEntry& entry) {
  if (!IsConstructor() || entry.object != OwnObject(func_.owner)) return false;
  const auto is_replaced = [&](binding::ClassId class_id) { return IsReplaced(class_id, entry.attr); };
  return !is_replaced(func_.owner) && std::ranges::none_of(tables_.program.classes[func_.owner].subclasses, is_replaced);
}

// `super().__init__(rank)`: what the constructor of a base leaves in the object at hand.
void FunctionEvaluator::TakeOverFields(ir::ExprId site, ValueId callee, FuncId function, std::span<const ValueId> bound) {
  if (!IsConstructor() || bound.empty() || bound[0] != OwnObject(func_.owner) || tables_.facts.functions[function].made.empty()) return;
  for (const auto& [name, value] : FieldsMade(site, callee, function, bound)) KeepOnHeap(bound[0], name, value);
}

// What a constructor leaves in the fields, with the arguments that it is given.
Fields FunctionEvaluator::FieldsMade(ir::ExprId site, ValueId callee, FuncId function, std::span<const ValueId> bound) {
  std::vector<ValueId> given(bound.begin(), bound.end());
  for (uint32_t i = 0; i < given.size(); ++i) {
    if (!given[i]) given[i] = Unseen(site, i + 1);
  }
  CallSubstitution substitution(tables_, callee, function, given);
  Fields made = tables_.facts.functions[function].made;
  for (auto& [name, value] : made) value = substitution(value);
  return made;
}

// At the end of a constructor. A module is made of parts, and does not differ from others of its class in more than these.
void FunctionEvaluator::NoteFieldsMade() {
  if (!IsConstructor() || !returns_.empty() || !env_.reachable || tables_.IsModuleClass(func_.owner)) return;
  const ValueId own = OwnObject(func_.owner);
  for (const HeapEntry& entry : env_.heap) {
    if (entry.object != own || !entry.attr) continue;
    facts_.made.emplace_back(entry.attr, tables_.Kept(entry.value, Axes::Of(Axis::Data) | knowledge::kSurroundings));
  }
}

// What fields of a record are that nothing is passed for.
void FunctionEvaluator::AddRecordFields(binding::ClassId class_id, Fields& fields) {
  for (const NameId name : RecordFields(tables_.program, class_id)) {
    const DeclaredField declared = DeclarationOf(tables_.program, class_id, name);
    const ValueId usual = declared.value ? tables_.facts.value(declared.module, declared.value) : ValueId();
    if (usual && IsConstant(store_[usual])) AddField(fields, name, usual);
  }
}

// `distributed = False` in the body of a class.
void FunctionEvaluator::AddConstants(binding::ClassId class_id, Fields& fields) {
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

// An object that is made here; of what it is made with that is kept in which objects of the class differ.
ValueId FunctionEvaluator::MadeObjectOf(binding::ClassId class_id, Fields fields, bool is_record) {
  const Value object = Value::Instance(class_id, InstanceOrigin::Exact);
  const NameId any = Intern(kFieldTable);
  for (const auto& [name, value] : fields) {
    // Sizes, names and paths differ everywhere, and seldom decide what an object does.
    const ValueId closed = Closed(value);
    const ValueId noted = IsSwitch(store_, closed) ? closed : store_.Symbol(tables_.NameSymbol("some object"), {});
    // `True` of one caller and `False` of another make a choice that is nothing but the unknown that chooses.
    const ValueId asked = store_[closed].kind == ValueKind::Unary ? store_.OperandOf(closed) : closed;
    const bool is_either = store_.has_param(value) && store_[asked].kind == ValueKind::Unknown && (store_[asked].flags & kOfSomeObject) != 0;
    for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
      if (is_either) tables_.Record(TableId::Made, base.index, name.index, store_.False());
      if (is_either) tables_.Record(TableId::Made, base.index, name.index, store_.True());
      // What callers pass is another thing for each object.
      ValueId rest = noted;
      while (store_.has_param(value) && store_[rest].kind == ValueKind::Select) {
        const ValueId one = store_.ArmsOf(rest).then_value;
        tables_.Record(TableId::Made, base.index, name.index, IsSwitch(store_, one) ? one : store_.Symbol(tables_.NameSymbol("some object"), {}));
        rest = store_.ArmsOf(rest).else_value;
      }
      tables_.Record(TableId::Made, base.index, name.index, rest);
      if (tables_.IsJoined(TableId::Made, base.index, name.index)) tables_.Record(TableId::Made, base.index, any.index, store_.True());
    }
  }
  std::vector<ValueId> kids;
  for (const auto& [name, value] : fields) {
    const bool is_kept = is_record ? !IsReplaced(class_id, name) : IsOwnToObjects(class_id, name);
    if (is_kept && (is_record || kids.size() < 2 * kMostOwnFields)) kids.insert(kids.end(), {store_.Str(name), value});
  }
  return store_.WithFields(object, kids);
}

ValueId FunctionEvaluator::Construct(ir::ExprId site, ValueId callee, binding::ClassId class_id, std::span<const CallArgument> args) {
  const ValueId object = InstanceValue(class_id);
  const ValueId some = store_.Make(Value::Instance(class_id, InstanceOrigin::Exact), {});
  Fields fields;
  if (const FuncId init = tables_.program.FindMethod(class_id, Intern("__init__"))) {
    CallFunction(site, callee, init, object, args, CallKind::Construct);
    if (module_.language != ir::Language::Python || tables_.IsModuleClass(class_id)) return some;
    if (!tables_.facts.functions[init].made.empty()) fields = FieldsMade(site, callee, init, BindFunction(init, object, args));
    AddConstants(class_id, fields);
    return MadeObjectOf(class_id, fields, false);
  }
  std::vector<ValueId> values;
  for (const CallArgument& arg : args) values.push_back(arg.value);
  RecordCall(facts_.calls, site, CallKind::Construct, values).callee = callee;
  if (module_.language != ir::Language::Python || tables_.IsModuleClass(class_id)) return some;
  const std::vector<NameId> names = RecordFields(tables_.program, class_id);
  size_t next = 0;
  for (const CallArgument& arg : args) {
    const bool is_positional = arg.kind == ir::ArgKind::Positional && next < names.size();
    const NameId field = is_positional ? names[next++] : arg.keyword;
    const bool is_known = is_positional || (arg.kind == ir::ArgKind::Keyword && std::ranges::find(names, field) != names.end());
    // `Output(*parts)`
    if (!is_known || !arg.value) return some;
    fields.emplace_back(field, arg.value);
  }
  AddRecordFields(class_id, fields);
  if (const FuncId after = tables_.program.FindMethod(class_id, Intern("__post_init__")); after && !names.empty()) {
    Evaluated(after);
    std::vector<ValueId> kids;
    for (const auto& [name, value] : fields) kids.insert(kids.end(), {store_.Str(name), value});
    const ValueId bound[] = {store_.WithFields(store_[some], kids)};
    Fields made = FieldsMade(site, {}, after, bound);
    for (const auto& [name, value] : fields) AddField(made, name, value);
    fields = std::move(made);
  }
  AddConstants(class_id, fields);
  return MadeObjectOf(class_id, fields, !names.empty());
}

// `dataclasses.replace(options, sync=False)`; none if it is not known what that is done to.
ValueId FunctionEvaluator::WithOthers(ValueId object, std::span<const CallArgument> args) {
  const ValueId known = LookThrough(tables_, object);
  if (store_[known].kind != ValueKind::Instance) return {};
  const binding::ClassId class_id = store_[known].class_id();
  Fields fields;
  for (const CallArgument& arg : args.subspan(1)) {
    if (arg.kind != ir::ArgKind::Keyword || !arg.value) return store_.SomeObject(known);
    fields.emplace_back(arg.keyword, arg.value);
  }
  for (const NameId name : RecordFields(tables_.program, class_id)) {
    if (IsOwnToObjects(class_id, name)) AddField(fields, name, Member({}, object, name));
  }
  return MadeObjectOf(class_id, fields, true);
}

}  // namespace allranks::variation
