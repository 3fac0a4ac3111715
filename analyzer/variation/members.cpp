#include <algorithm>

#include <fmt/format.h>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/records.h"

namespace allranks::variation {
namespace {

// Of a method, by subclasses: more are not followed.
constexpr size_t kMostOverrides = 6;

// What is read of objects of which nothing more is known, whichever of them it is.
bool IsUnknownRead(const ValueStore& store, ValueId id) {
  const Value& value = store[id];
  if (value.kind == ValueKind::Unknown || value.kind == ValueKind::Derived) return true;
  return value.kind == ValueKind::Select && IsUnknownRead(store, store.ArmsOf(id).then_value) && IsUnknownRead(store, store.ArmsOf(id).else_value);
}

// Says more than the type that a field is declared with.
bool IsTelling(const Value& value) {
  const bool is_unknown = value.kind == ValueKind::Unknown || value.kind == ValueKind::Derived;
  return !is_unknown || !value.axes.empty() || (value.flags & kHasParam) != 0;
}

}  // namespace

ValueId FunctionEvaluator::Member(ir::ExprId site, ValueId object, NameId attr) {
  if (!object) return Unseen(site);
  if (const ValueId* assigned = HeapValue(object, attr)) return *assigned;
  const ValueId known = ObjectMeant(object, LookThrough(tables_, object));
  // A parameter is what each caller hands in.
  if (store_[object].kind != ValueKind::Param) {
    if (const ValueId kept = store_.KnownAttribute(known, attr)) return kept;
  }
  const Value value = store_[known];
  switch (value.kind) {
    case ValueKind::Module:
      return MemberOfModule(value.module(), attr);
    case ValueKind::External:
      return MemberOfExternal(site, value.name(), attr);
    case ValueKind::Class: {
      const binding::ClassId class_id = value.class_id();
      if (const ValueId field = FieldOf(class_id, attr, false)) return IsPlainEnum(class_id) ? EnumMember(class_id, attr) : field;
      if (const FuncId method = tables_.program.FindMethod(class_id, attr)) return MethodValue(method, known, true);
      if (const ValueId applied = AppliedForward(site, known, attr)) return applied;
      return MemberOfAny(site, object, attr);
    }
    case ValueKind::Instance:
      return MemberOfInstance(site, known, object, attr);
    case ValueKind::Object:
    case ValueKind::Group:
      if (const knowledge::EntryId entry = KnownMember(known, attr)) {
        // A parameter is what each caller hands in, whatever it is as a rule.
        return MemberOfKnown(site, store_[object].kind == ValueKind::Param ? object : known, entry);
      }
      break;
    case ValueKind::Select: {
      const auto [condition, then_value, else_value] = store_.ArmsOf(known);
      if (store_[else_value].kind == ValueKind::None) return Member(site, then_value, attr);
      if (store_[then_value].kind == ValueKind::None) return Member(site, else_value, attr);
      const ValueId a = Member(site, then_value, attr);
      const ValueId either = store_.Select(condition, a, Member(site, else_value, attr));
      // A parameter is what each caller hands in: that tells more than a choice between what all of them do.
      if (store_[object].kind == ValueKind::Param && IsUnknownRead(store_, either)) return MemberOfAny(site, object, attr);
      return either;
    }
    default:
      break;
  }
  if (value.mark) {
    if (const knowledge::EntryId entry = knowledge_.FindMarkMember(value.mark, attr)) {
      return MemberOfKnown(site, known, entry);
    }
  }
  return MemberOfAny(site, object, attr);
}

// `Gather.apply` of a `Gather(torch.autograd.Function)`: its `forward`, which gets a context first.
ValueId FunctionEvaluator::AppliedForward(ir::ExprId site, ValueId of_class, NameId attr) {
  const binding::ClassId class_id = store_[of_class].class_id();
  const bool is_applied = std::ranges::any_of(tables_.known_bases[class_id.index], [&](knowledge::ClassId base) {
    return knowledge_[base].applied_by == attr;
  });
  const FuncId forward = is_applied ? tables_.program.FindMethod(class_id, Intern("forward")) : FuncId::None();
  if (!forward) return {};
  const ValueId parts[] = {MethodValue(forward, of_class, true), Unseen(site)};
  return store_.Make(Value::Partial(), parts);
}

ValueId FunctionEvaluator::MemberOfModule(ir::ModuleId module, NameId attr) {
  const binding::Target target = tables_.program.Lookup(module, attr);
  if (target.kind == binding::TargetKind::Variable) {
    if (const ValueId* put = HeapValue(VariablesOf(target.module), target.name)) return *put;
  }
  if (target.kind != binding::TargetKind::None) return TargetValue(target);
  const std::string& dotted = tables_.program.infos[module].dotted;
  return ExternalValue(Intern(dotted + "." + std::string(Text(attr))));
}

ValueId FunctionEvaluator::MemberOfExternal(ir::ExprId site, NameId qualified, NameId attr) {
  const NameId name = Intern(std::string(Text(qualified)) + "." + std::string(Text(attr)));
  if (const knowledge::ClassId class_id = knowledge_.FindClass(qualified)) {
    if (const knowledge::EntryId entry = knowledge_.FindMember(class_id, attr)) {
      if (knowledge_[entry].is_attribute) return CallKnown(site, entry, ExternalValue(qualified), {});
    }
  }
  if (const knowledge::EntryId entry = knowledge_.FindEntry(name); entry && knowledge_[entry].is_attribute) {
    return CallKnown(site, entry, {}, {});
  }
  return ExternalValue(name);
}

ValueId FunctionEvaluator::MemberOfInstance(ir::ExprId site, ValueId object, ValueId given, NameId attr) {
  const Value& value = store_[object];
  const binding::ClassId class_id = value.class_id();
  const bool is_super = value.origin() == InstanceOrigin::Super;
  if (const knowledge::EntryId entry = KnownMember(object, attr)) {
    const FuncId own = is_super ? FindMethodOf(object, attr) : tables_.program.FindMethod(class_id, attr);
    if (!own || tables_.known_classes[class_id.index]) return MemberOfKnown(site, object, entry);
  }
  if (const FuncId method = FindMethodOf(object, attr)) {
    if (!IsProperty(method)) {
      const bool is_exact = value.origin() == InstanceOrigin::Exact && !tables_.IsAbstract(method);
      if (is_super || is_exact) return MethodValue(method, is_super ? OwnObject(class_id) : object, false);
      if (IsOverriddenUnseen(class_id, method, attr)) return MemberOfAny(site, object, attr);
      return OnObject(VirtualMethod(class_id, method, attr, site), object);
    }
    return CallFunction(site, MethodValue(method, object, false), method, object, {}, CallKind::Function);
  }
  // `event.value` of an `event: Event`.
  if (Text(attr) == "value" && IsPlainEnum(class_id)) {
    if (const ValueId texts = TextsOfEnum(class_id)) return texts;
  }
  const bool may_be_of_subclass = !is_super && value.origin() != InstanceOrigin::Exact;
  ValueId field = FieldOf(class_id, attr, is_super);
  if (field && may_be_of_subclass && IsConstant(store_[field])) field = ConstantOfSome(class_id, attr, field, site);
  const bool is_own = IsOwnToObjects(class_id, attr);
  if (const ValueId made = store_.KnownField(object, attr); made && (!field || is_own || IsTelling(store_[made]))) return made;
  if (is_own && !is_super) {
    if (const ValueId own = FieldOfObject(object, attr, field)) return own;
  }
  if (field) return field;
  // A method that this class takes for granted, and that only classes below it have: no base that nobody has read may have it.
  const bool may_be_below = may_be_of_subclass && std::ranges::all_of(tables_.program.classes[class_id].external_bases, [&](NameId base) {
    const std::string_view name = Text(base);
    return name.starts_with("abc.") || name.starts_with("typing.") || static_cast<bool>(knowledge_.FindClass(base));
  });
  if (may_be_below && std::ranges::none_of(tables_.Overrides(class_id, attr), [&](const Override& each) { return IsProperty(each.method); })) {
    if (const ValueId method = VirtualMethod(class_id, {}, attr, site)) return OnObject(method, object);
  }
  if (const knowledge::EntryId entry = InferredMember(class_id, attr)) return MemberOfKnown(site, object, entry);
  if (const ValueId hinted = ByName(object, attr, {})) return hinted;
  return MemberOfAny(site, store_[given].kind == ValueKind::Param ? given : object, attr);
}

FuncId FunctionEvaluator::FindMethodOf(ValueId object, NameId attr) {
  const Value& value = store_[object];
  const binding::ClassId class_id = value.class_id();
  if (value.origin() != InstanceOrigin::Super) return tables_.MostSpecific(class_id, tables_.program.FindMethod(class_id, attr), attr);
  const auto& mro = tables_.program.classes[class_id].mro;
  for (size_t i = 1; i < mro.size(); ++i) {
    for (const auto& [name, method] : tables_.program.classes[mro[i]].methods) {
      if (name == attr) return method;
    }
  }
  return FuncId::None();
}

bool FunctionEvaluator::IsProperty(FuncId method) {
  const ir::Module& module = tables_.program.module_of(method);
  for (const ir::ExprId decorator : tables_.program.function(method).decorators) {
    const ir::Expr& expr = module[decorator];
    const NameId name = expr.kind == ir::ExprKind::Name        ? ir::NameOf(expr)
                        : expr.kind == ir::ExprKind::Attribute ? ir::AttrOf(expr)
                                                               : NameId::None();
    const std::string_view text = Text(name);
    if (text == "property" || text == "cached_property") return true;
  }
  return false;
}

// A method that only subclasses have: code elsewhere makes them, or there are too many to follow each.
bool FunctionEvaluator::IsOverriddenUnseen(binding::ClassId class_id, FuncId method, NameId name) {
  if (!tables_.IsAbstract(method)) return false;
  const size_t overrides = tables_.Overrides(class_id, name).size();
  return overrides > kMostOverrides || (overrides == 0 && tables_.MustBeOverridden(method));
}

// `self.on_save` in a base class: the method of this class, if it has one, or of one of few subclasses. All ranks hold an object of
// the same one. `site`: the member as it is written.
ValueId FunctionEvaluator::VirtualMethod(binding::ClassId class_id, FuncId method, NameId name, ir::ExprId site) {
  std::vector<Override> overrides = tables_.Overrides(class_id, name);
  if (func_.owner == class_id && IsOwnMember(site)) {
    std::erase_if(overrides, [&](const Override& each) { return !MayRunOn(each.class_id); });
  }
  ValueId value = method ? MethodValue(method, InstanceValue(class_id), false) : ValueId::None();
  if (overrides.size() > kMostOverrides) return value;
  bool is_first = !method || tables_.IsAbstract(method);
  for (const auto& [subclass, own_method] : overrides) {
    if (own_method == method) continue;
    const ValueId own = MethodValue(own_method, InstanceValue(subclass), false);
    const uint32_t is_of_subclass = tables_.NameSymbol("object of class " + std::to_string(subclass.index));
    value = is_first ? own : store_.Select(store_.Symbol(is_of_subclass, {}), own, value);
    is_first = false;
  }
  return value;
}

// `self.save` in a method.
bool FunctionEvaluator::IsOwnMember(ir::ExprId site) const {
  if (module_[site].kind != ir::ExprKind::Attribute || function_.params.empty()) return false;
  const ir::Expr& object = module_[ir::ObjectOf(module_[site])];
  return object.kind == ir::ExprKind::Name && ir::NameOf(object) == function_.params[0].name;
}

// Whether this method runs for objects of a class below: not where the class has one of its own that does not call it.
bool FunctionEvaluator::MayRunOn(binding::ClassId subclass) const {
  const FuncId own = tables_.program.FindMethod(subclass, function_.name);
  if (!own || own == id_) return true;
  const ir::Function& function = tables_.program.function(own);
  const auto calls_it = [&](const ir::Expr& expr) {
    if (expr.begin < function.begin || expr.end > function.end) return false;
    return (expr.kind == ir::ExprKind::Name && Text(ir::NameOf(expr)) == "super") || (expr.kind == ir::ExprKind::Attribute && ir::AttrOf(expr) == function_.name);
  };
  return std::ranges::any_of(tables_.program.module_of(own).exprs, calls_it);
}

// A method looked up on an object or class: decorated ones stand for what the decorator made of them.
ValueId FunctionEvaluator::MethodValue(FuncId method, ValueId receiver, bool on_class) {
  using binding::ReceiverKind;
  const ReceiverKind kind = binding::ReceiverOf(tables_.program, method);
  ValueId bound = receiver;
  if (kind == ReceiverKind::None || (on_class && kind == ReceiverKind::Instance)) bound = {};
  const ValueId decorated = tables_.Decorated(method);
  if (decorated && store_[decorated].kind == ValueKind::Function && store_[decorated].function() != method) {
    std::vector<ValueId> kids(store_.Kids(decorated).begin(), store_.Kids(decorated).end());
    kids[0] = bound;
    return store_.Make(Value::Function(store_[decorated].function()), kids);
  }
  return FunctionValue(method, bound);
}

// Values assigned to an attribute anywhere in the classes of the mro, or, failing these, in subclasses. A constant in a base class
// is the default that a class below replaces.
ValueId FunctionEvaluator::FieldOf(binding::ClassId class_id, NameId attr, bool skip_first) {
  const binding::ClassInfo& info = tables_.program.classes[class_id];
  ValueId field;
  for (size_t i = skip_first ? 1 : 0; i < info.mro.size(); ++i) {
    const ValueId value = tables_.Read(TableId::Fields, info.mro[i].index, attr.index);
    if (!value || value == field || (field && (IsConstant(store_[value]) || IsConstant(store_[field])))) continue;
    if (!field) {
      field = value;
      continue;
    }
    const ValueId whose = store_.Symbol(tables_.NameSymbol(fmt::format("class {} of {}", i, Text(attr))), {}, kOfSomeObject);
    field = store_.Select(whose, field, value);
  }
  if (field) return field;
  for (const binding::ClassId subclass : info.subclasses) {
    if (const ValueId value = tables_.Read(TableId::Fields, subclass.index, attr.index)) return value;
  }
  return ValueId::None();
}

// `distributed = True` of a class, where one below says `distributed = False`: the one of whatever class the object is.
ValueId FunctionEvaluator::ConstantOfSome(binding::ClassId class_id, NameId attr, ValueId own, ir::ExprId site) {
  ValueId value = own;
  size_t count = 0;
  for (const binding::ClassId subclass : tables_.program.classes[class_id].subclasses) {
    const ValueId other = tables_.Read(TableId::Fields, subclass.index, attr.index);
    if (!other || other == own || (func_.owner == class_id && IsOwnMember(site) && !MayRunOn(subclass))) continue;
    if (++count > kMostOverrides) return store_.Symbol(tables_.NameSymbol(fmt::format("{} of some class", Text(attr))), {});
    value = store_.Select(store_.Symbol(tables_.NameSymbol("object of class " + std::to_string(subclass.index)), {}), other, value);
  }
  return value;
}

// An enumeration whose members are equal to themselves alone, and not to the number or text that they were given.
bool FunctionEvaluator::IsPlainEnum(binding::ClassId class_id) const {
  const std::vector<NameId>& bases = tables_.program.classes[class_id].external_bases;
  return bases.size() == 1 && Text(bases[0]) == "enum.Enum";
}

// One of the texts that the members were given, the same on all ranks; none if there are too many or others among them.
ValueId FunctionEvaluator::TextsOfEnum(binding::ClassId class_id) {
  const ir::Module& module = tables_.program.modules[tables_.program.classes[class_id].module];
  std::vector<ValueId> texts;
  for (const ir::StmtId id : module.statements(tables_.program.ir_class(class_id).body)) {
    const ir::Stmt& stmt = module[id];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    const ir::Expr& value = module[ir::AssignedOf(stmt)];
    const bool is_text = value.kind == ir::ExprKind::Constant && ir::ConstantKindOf(value) == ir::ConstantKind::Str && ir::TextOf(value);
    if (!is_text || texts.size() >= kMostOverrides) return {};
    texts.push_back(store_.Str(ir::TextOf(value)));
  }
  ValueId one = texts.empty() ? ValueId::None() : texts[0];
  for (size_t i = 1; i < texts.size(); ++i) {
    const uint32_t which = tables_.NameSymbol(fmt::format("member {} of class {}", i, class_id.index));
    one = store_.Select(store_.Symbol(which, {}), texts[i], one);
  }
  return one;
}

// A constant like no other: it stands as its qualified name.
ValueId FunctionEvaluator::EnumMember(binding::ClassId class_id, NameId attr) {
  const binding::ClassInfo& info = tables_.program.classes[class_id];
  const std::string_view name = Text(tables_.program.ir_class(class_id).name);
  return store_.Str(Intern(tables_.program.infos[info.module].dotted + "." + std::string(name) + "." + std::string(Text(attr))));
}

const ValueId* FunctionEvaluator::HeapValue(ValueId object, NameId attr) const {
  object = AsItWasMade(object);
  for (const HeapEntry& entry : env_.heap) {
    if (entry.object == object && entry.attr == attr) return &entry.value;
  }
  return nullptr;
}

// The entry of the knowledge base for a member of an object, through its class or its known bases.
knowledge::EntryId FunctionEvaluator::KnownMember(ValueId object, NameId attr) {
  const Value& value = store_[object];
  switch (value.kind) {
    case ValueKind::Object: {
      const knowledge::ClassId class_id = knowledge_.FindClass(value.name());
      return class_id ? knowledge_.FindMember(class_id, attr) : knowledge::EntryId::None();
    }
    case ValueKind::Group: {
      const knowledge::ClassId class_id = knowledge_.FindClass(tables_.process_group_class);
      return class_id ? knowledge_.FindMember(class_id, attr) : knowledge::EntryId::None();
    }
    case ValueKind::Instance:
      return KnownMemberOfBases(value.class_id(), attr);
    default:
      return knowledge::EntryId::None();
  }
}

knowledge::EntryId FunctionEvaluator::KnownMemberOfBases(binding::ClassId class_id, NameId attr) const {
  for (const knowledge::ClassId base : tables_.known_bases[class_id.index]) {
    if (const knowledge::EntryId entry = knowledge_.FindMember(base, attr)) return entry;
  }
  return knowledge::EntryId::None();
}

// The object of a mixin is one of its subclasses, which have bases that it lacks.
knowledge::EntryId FunctionEvaluator::InferredMember(binding::ClassId class_id, NameId attr) const {
  for (const binding::ClassId subclass : tables_.program.classes[class_id].subclasses) {
    if (const knowledge::EntryId entry = KnownMemberOfBases(subclass, attr)) return entry;
  }
  // A module whose own base nobody knows: that much is the same for all.
  if (!tables_.module_class || !tables_.IsModuleClass(class_id)) return knowledge::EntryId::None();
  const knowledge::EntryId entry = knowledge_.FindMember(tables_.module_class, attr);
  constexpr knowledge::Role kOfModes[] = {knowledge::Role::TrainingMode, knowledge::Role::SetTraining,
                                          knowledge::Role::SetEvaluation};
  const bool is_of_mode = entry && std::ranges::any_of(kOfModes, [&](knowledge::Role role) { return knowledge_[entry].Has(role); });
  return is_of_mode ? entry : knowledge::EntryId::None();
}

ValueId FunctionEvaluator::MemberOfKnown(ir::ExprId site, ValueId object, knowledge::EntryId entry) {
  if (knowledge_[entry].is_attribute) return CallKnown(site, entry, object, {});
  return store_.Make(Value::BoundExternal(entry), {&object, 1});
}

// Decided by coordinates alone: `int(os.environ["RANK"]) == 0`.
bool FunctionEvaluator::IsRankFormula(ValueId value) const {
  switch (store_[value].kind) {
    case ValueKind::Coordinate:
    case ValueKind::Int:
    case ValueKind::Bool:
    case ValueKind::None:
      return true;
    case ValueKind::Unary:
    case ValueKind::Binary:
    case ValueKind::Compare:
    case ValueKind::And:
    case ValueKind::Or:
      return std::ranges::all_of(store_.Kids(value), [&](ValueId kid) { return IsRankFormula(kid); });
    case ValueKind::Select:
      return IsRankFormula(store_.ArmsOf(value).then_value) && IsRankFormula(store_.ArmsOf(value).else_value);
    default:
      return false;
  }
}

ValueId FunctionEvaluator::MemberOfAny(ir::ExprId site, ValueId object, NameId attr) {
  if (const knowledge::EntryId entry = knowledge_.FindAnyMember(attr)) {
    if (knowledge_[entry].is_attribute) return CallKnown(site, entry, object, {});
    return store_.Make(Value::BoundExternal(entry), {&object, 1});
  }
  const Value& value = store_[object];
  const bool is_unknown = value.kind == ValueKind::Unknown || value.kind == ValueKind::Derived ||
                          value.kind == ValueKind::Param || value.kind == ValueKind::Instance ||
                          value.kind == ValueKind::Select;
  if (is_unknown) {
    // Only what somebody computes says more than the name does.
    const ValueId assigned = tables_.Read(TableId::LooseFields, func_.module.index, attr.index);
    if (assigned && !store_.axes(assigned).empty() && IsRankFormula(assigned)) return assigned;
    if (const ValueId hinted = ByName(object, attr, assigned)) return hinted;
  }
  return store_.UnknownMember(tables_.NameSymbol(attr), object);
}

// What a field is by its name, unless somebody stores a number there that says otherwise, or its class declares it with one.
ValueId FunctionEvaluator::ByName(ValueId object, NameId attr, ValueId assigned) {
  const knowledge::Hint* hint = knowledge_.FindHint(attr);
  if (hint == nullptr || tables_.IsNoRank(assigned)) return {};
  const Value& known = store_[LookThrough(tables_, object)];
  if (known.kind == ValueKind::Instance) {
    const DeclaredField declared = DeclarationOf(tables_.program, known.class_id(), attr);
    if (declared.value && tables_.IsNoRank(tables_.facts.value(declared.module, declared.value))) return {};
  }
  return tables_.HintValue(*hint);
}

// The same wherever it is asked of one object, if nothing in this file stores an attribute of that name.
ValueId FunctionEvaluator::HasAttribute(ir::ExprId site, std::span<const CallArgument> args) {
  const ValueId name = args.size() == 2 ? args[1].value : ValueId();
  const bool is_fixed = name && store_[name].kind == ValueKind::Str && !tables_.AttributeUsesOf(func_.module).Stores(store_[name].name());
  const ValueId asked[] = {args[0].value, is_fixed ? name : store_.Symbol(Site(site), {})};
  return store_.Derived(tables_.NameSymbol("hasattr"), asked);
}

}  // namespace allranks::variation
