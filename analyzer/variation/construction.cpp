// Where objects are made, and what is stored in their attributes: what the constructor at hand leaves in its object, and what is noted
// for others of fields that the function stores. What objects of one class have of their own is said by own_fields.h.
#include <algorithm>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/records.h"

namespace allranks::variation {

// `is_made`: the constructor of the object does it.
void FunctionEvaluator::StoreAttribute(ValueId object, NameId attr, ValueId value, bool is_made) {
  const ValueId known = LookThrough(tables_, object);
  const auto kept = [&](ValueId what) { return tables_.Kept(Closed(what), Axes::Of(Axis::Data)); };
  const bool is_python = module_.language == ir::Language::Python;
  const bool is_of_class = store_[known].kind == ValueKind::Class && is_python;
  if (store_[known].kind == ValueKind::Instance || is_of_class) {
    tables_.Record(TableId::Fields, store_[known].class_id().index, attr.index, kept(Guarded(value)));
    if (is_python && !is_made) tables_.Record(TableId::Replaced, store_[known].class_id().index, attr.index, store_.True());
    const bool is_function = value && store_[value].kind == ValueKind::Function && !store_.ReceiverOf(value);
    if (is_of_class && is_function) tables_.Record(TableId::Fields, store_[known].class_id().index | kInClassItself, attr.index, value);
  } else if (store_[known].kind == ValueKind::Module) {
    // `comm.LOCAL_GROUP = group`: a variable of another file.
    const binding::Target variable = tables_.program.Lookup(store_[known].module(), attr);
    if (variable.kind == binding::TargetKind::Variable) {
      tables_.Record(TableId::Globals, variable.module.index, variable.name.index, Closed(Guarded(value)));
      return Put(definitions_.VariablesOf(variable.module), variable.name, value);
    }
  } else {
    // Many unrelated objects have attributes of one name: the way to one assignment says nothing of the others.
    tables_.Record(TableId::LooseFields, func_.module.index, attr.index, kept(value));
    if (is_python && own_fields_.MayBeOfProject(known)) {
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

bool FunctionEvaluator::IsConstructor() const {
  if (!func_.owner || module_.language != ir::Language::Python) return false;
  const std::string_view name = Text(function_.name);
  return name == "__init__" || name == "__post_init__";
}

// What a method of the class is called on.
ValueId FunctionEvaluator::OwnObject(binding::ClassId class_id) {
  const bool is_method = func_.owner == class_id && !function_.params.empty() &&
                         binding::ReceiverOf(tables_.program, id_) == binding::ReceiverKind::Instance;
  return is_method ? definitions_.Param(id_, 0) : definitions_.Instance(class_id);
}

// What the constructor put in its object, and no call can have replaced.
bool FunctionEvaluator::IsOwnField(const HeapEntry& entry) {
  if (!IsConstructor() || entry.object != OwnObject(func_.owner)) return false;
  const auto is_replaced = [&](binding::ClassId class_id) { return own_fields_.IsReplaced(class_id, entry.attr); };
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

// The methods that a constructor calls look at what it leaves in the object, as all others do.
void FunctionEvaluator::HandToConstructor(ir::ExprId site, ValueId made) {
  if (store_[made].kid_count == 0) return;
  const auto call = std::find_if(facts_.calls.rbegin(), facts_.calls.rend(), [&](const auto& each) { return each.first == site; });
  if (call == facts_.calls.rend()) return;
  call->second.receiver = made;
  if (call->second.arg_count > 0) tables_.facts.values[call->second.args] = made;
}

ValueId FunctionEvaluator::Construct(ir::ExprId site, ValueId callee, binding::ClassId class_id, std::span<const CallArgument> args) {
  const ValueId object = definitions_.Instance(class_id);
  const ValueId some = store_.Make(Value::Instance(class_id, InstanceOrigin::Exact), {});
  Fields fields;
  if (const FuncId init = tables_.program.FindMethod(class_id, Intern("__init__"))) {
    CallFunction(site, callee, init, object, args, CallKind::Construct);
    if (module_.language != ir::Language::Python || tables_.IsModuleClass(class_id)) return some;
    if (!tables_.facts.functions[init].made.empty()) fields = FieldsMade(site, callee, init, BindFunction(init, object, args));
    own_fields_.AddConstants(class_id, fields);
    const ValueId made = own_fields_.MadeObject(class_id, fields, false, id_);
    HandToConstructor(site, made);
    return made;
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
  if (!names.empty()) NoteRecord(class_id, fields);
  own_fields_.AddDefaults(class_id, fields);
  if (const FuncId after = tables_.program.FindMethod(class_id, Intern("__post_init__")); after && !names.empty()) {
    Evaluated(after);
    std::vector<ValueId> kids;
    for (const auto& [name, value] : fields) kids.insert(kids.end(), {store_.Str(name), value});
    const ValueId bound[] = {store_.WithFields(store_[some], kids)};
    Fields made = FieldsMade(site, {}, after, bound);
    for (const auto& [name, value] : fields) AddField(made, name, value);
    fields = std::move(made);
  }
  own_fields_.AddConstants(class_id, fields);
  return own_fields_.MadeObject(class_id, fields, !names.empty(), id_);
}

// The objects that a record is made with are what its methods find in its fields. Numbers, texts and what is not known are not noted: a
// library that makes the record of arguments or of a file is not seen, and would pass others.
void FunctionEvaluator::NoteRecord(binding::ClassId class_id, const Fields& fields) {
  for (const auto& [name, value] : fields) {
    const ValueId closed = Closed(value);
    if (HasObject(closed)) tables_.Record(TableId::Fields, class_id.index, name.index, closed);
  }
}

// Whether it is, or may be, an object.
bool FunctionEvaluator::HasObject(ValueId value) const {
  if (store_[value].kind != ValueKind::Select) return IsObjectLike(store_[value].kind);
  return HasObject(store_.ArmsOf(value).then_value) || HasObject(store_.ArmsOf(value).else_value);
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
    if (own_fields_.IsOwnToObjects(class_id, name)) AddField(fields, name, Member({}, object, name));
  }
  return own_fields_.MadeObject(class_id, fields, true, id_);
}

}  // namespace allranks::variation
