// What an attribute of an object is, as far as it hangs on the place where it is read.
//
// Asked in this order: what this function stored there (env.h), what the object was made with (own_fields.h), what its class says
// (class_members.h), what its library says, and last what a name like this usually means (`rank`).
//
// Unsound: `__getattr__` of the program's own classes is not run.
#include <algorithm>

#include <fmt/format.h>

#include "analyzer/variation/evaluator.h"
#include "analyzer/variation/records.h"

namespace allranks::variation {
namespace {

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
  const ValueId known = own_fields_.ObjectMeant(object, LookThrough(tables_, object));
  // A parameter is what each caller hands in.
  if (store_[object].kind != ValueKind::Param) {
    if (const ValueId kept = store_.KnownAttribute(known, attr)) return OrStoredByOthers(site, attr, kept);
  }
  const Value value = store_[known];
  switch (value.kind) {
    case ValueKind::Module:
      return MemberOfModule(value.module(), attr);
    case ValueKind::External:
      return MemberOfExternal(site, value.name(), attr);
    case ValueKind::Class: {
      const binding::ClassId class_id = value.class_id();
      if (const ValueId field = members_.Field(class_id, attr, false)) return members_.IsPlainEnum(class_id) ? members_.EnumMember(class_id, attr) : field;
      if (const FuncId method = tables_.program.FindMethod(class_id, attr)) return definitions_.Method(method, known, true);
      if (const ValueId applied = AppliedForward(site, known, attr)) return applied;
      return MemberOfAny(site, object, attr);
    }
    case ValueKind::Instance:
      return MemberOfInstance(site, known, object, attr);
    case ValueKind::Object:
    case ValueKind::Group:
    case ValueKind::Binary:
      if (const knowledge::EntryId entry = members_.Known(known, attr)) {
        // A parameter is what each caller hands in, and a field what the object was made with, whatever these are as a rule.
        const bool is_own = store_[object].kind == ValueKind::Param || store_[object].is_derived(DerivedKind::Field);
        return MemberOfKnown(site, is_own ? object : known, entry);
      }
      break;
    case ValueKind::Select: {
      if (const knowledge::EntryId entry = MemberOfOwnGroup(object, known, attr)) return MemberOfKnown(site, object, entry);
      const auto [condition, then_value, else_value] = store_.ArmsOf(known);
      if (store_[else_value].kind == ValueKind::None) return Member(site, then_value, attr);
      if (store_[then_value].kind == ValueKind::None) return Member(site, else_value, attr);
      const ValueId a = Member(site, then_value, attr);
      const ValueId either = store_.Select(condition, a, Member(site, else_value, attr));
      // A parameter is what each caller hands in: that tells more than a choice between what all of them do.
      if (store_[object].kind == ValueKind::Param && IsUnknownRead(store_, either)) return MemberOfAny(site, object, attr);
      return either;
    }
    case ValueKind::Derived:
      if (const ValueId loaded = MemberOfLoaded(known, attr)) return loaded;
      break;
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

// `kept`: what a namespace was made with (`options = SimpleNamespace(rank=0)`). One that other functions reach as well may hold what one of
// them stored there meanwhile.
ValueId FunctionEvaluator::OrStoredByOthers(ir::ExprId site, NameId attr, ValueId kept) {
  if (!site || module_[site].kind != ir::ExprKind::Attribute) return kept;
  const ir::Expr& object = module_[ir::ObjectOf(module_[site])];
  const bool is_own = object.kind != ir::ExprKind::Name || scope_.slots.contains(ir::NameOf(object));
  const ValueId stored = is_own ? ValueId() : tables_.Read(TableId::LooseFields, func_.module.index, attr.index);
  if (!stored || stored == kept) return kept;
  return store_.Select(store_.Symbol(tables_.NameSymbol(fmt::format("stored {}", Text(attr))), {}, kOfSomeObject), stored, kept);
}

// `self.comm.bcast` of objects that are made with different groups.
knowledge::EntryId FunctionEvaluator::MemberOfOwnGroup(ValueId object, ValueId known, NameId attr) {
  if (!store_[object].is_derived(DerivedKind::Field)) return {};
  std::vector<ValueId> work = {known};
  knowledge::EntryId entry;
  while (!work.empty()) {
    const ValueId one = work.back();
    work.pop_back();
    if (store_[one].kind == ValueKind::Select) {
      work.insert(work.end(), {store_.ArmsOf(one).then_value, store_.ArmsOf(one).else_value});
      continue;
    }
    const knowledge::EntryId own = store_[one].kind == ValueKind::Group ? members_.Known(one, attr) : knowledge::EntryId::None();
    if (!own || (entry && own != entry)) return {};
    entry = own;
  }
  return entry;
}

// `Gather.apply` of a `Gather(torch.autograd.Function)`: its `forward`, which gets a context first.
ValueId FunctionEvaluator::AppliedForward(ir::ExprId site, ValueId of_class, NameId attr) {
  const binding::ClassId class_id = store_[of_class].class_id();
  const bool is_applied = std::ranges::any_of(tables_.known_bases[class_id.index], [&](knowledge::ClassId base) {
    return knowledge_[base].applied_by == attr;
  });
  const FuncId forward = is_applied ? tables_.program.FindMethod(class_id, Intern("forward")) : FuncId::None();
  if (!forward) return {};
  const ValueId parts[] = {definitions_.Method(forward, of_class, true), Unseen(site)};
  return store_.Make(Value::Partial(), parts);
}

ValueId FunctionEvaluator::MemberOfModule(ir::ModuleId module, NameId attr) {
  const binding::Target target = tables_.program.Lookup(module, attr);
  if (target.kind == binding::TargetKind::Variable) {
    if (const ValueId* put = HeapValue(definitions_.VariablesOf(target.module), target.name)) return *put;
  }
  if (target.kind != binding::TargetKind::None) return definitions_.Of(target);
  const std::string& dotted = tables_.program.infos[module].dotted;
  return definitions_.External(Intern(dotted + "." + std::string(Text(attr))));
}

ValueId FunctionEvaluator::MemberOfExternal(ir::ExprId site, NameId qualified, NameId attr) {
  const NameId name = Intern(std::string(Text(qualified)) + "." + std::string(Text(attr)));
  if (const knowledge::ClassId class_id = knowledge_.FindClass(qualified)) {
    if (const knowledge::EntryId entry = knowledge_.FindMember(class_id, attr)) {
      if (knowledge_[entry].is_attribute) return CallKnown(site, entry, definitions_.External(qualified), {});
    }
  }
  if (const knowledge::EntryId entry = knowledge_.FindEntry(name); entry && knowledge_[entry].is_attribute) {
    return CallKnown(site, entry, {}, {});
  }
  return definitions_.External(name);
}

ValueId FunctionEvaluator::MemberOfInstance(ir::ExprId site, ValueId object, ValueId given, NameId attr) {
  const Value& value = store_[object];
  const binding::ClassId class_id = value.class_id();
  const bool is_super = value.origin() == InstanceOrigin::Super;
  if (const knowledge::EntryId entry = members_.Known(object, attr)) {
    const FuncId own = is_super ? members_.Method(object, attr) : tables_.program.FindMethod(class_id, attr);
    if (!own || tables_.known_classes[class_id.index]) return MemberOfKnown(site, object, entry);
  }
  if (const FuncId method = members_.Method(object, attr)) {
    if (!members_.IsProperty(method)) {
      const bool is_exact = value.origin() == InstanceOrigin::Exact && !tables_.MustBeOverridden(method);
      if (is_super) return definitions_.Method(method, OwnObject(class_id), false);
      if (is_exact) return members_.OrReplaced(object, attr, definitions_.Method(method, object, false));
      if (members_.IsOverriddenUnseen(class_id, method, attr)) return MemberOfAny(site, object, attr);
      return members_.OrReplaced(object, attr, own_fields_.OnObject(VirtualMethod(class_id, method, attr, site), object));
    }
    return CallFunction(site, definitions_.Method(method, object, false), method, object, {}, CallKind::Function);
  }
  // `event.value` of an `event: Event`.
  if (Text(attr) == "value" && members_.IsPlainEnum(class_id)) {
    if (const ValueId texts = members_.TextOfEnum(class_id)) return texts;
  }
  const bool may_be_of_subclass = !is_super && value.origin() != InstanceOrigin::Exact;
  ValueId field = members_.Field(class_id, attr, is_super);
  if (field && may_be_of_subclass && IsConstant(store_[field])) field = members_.ConstantOfSome(class_id, attr, field, OfObjectAt(class_id, site));
  // A base's constructor that ran after the own one stored a constant there: what it leaves counts.
  if (const ValueId left = field && IsConstant(store_[field]) ? own_fields_.LeftByConstructor(class_id, attr) : ValueId()) field = left;
  const bool is_own = own_fields_.IsOwnToObjects(class_id, attr);
  if (const ValueId made = store_.KnownField(object, attr); made && (!field || is_own || IsTelling(store_[made]))) return made;
  if (is_own && !is_super) {
    if (const ValueId own = own_fields_.Field(object, attr, field)) return own;
  }
  if (field) return field;
  // A method that this class takes for granted, and that only classes below it have: no base that nobody has read may have it.
  const bool may_be_below = may_be_of_subclass && std::ranges::all_of(tables_.program.classes[class_id].external_bases, [&](NameId base) {
    const std::string_view name = Text(base);
    return name.starts_with("abc.") || name.starts_with("typing.") || static_cast<bool>(knowledge_.FindClass(base));
  });
  if (may_be_below && std::ranges::none_of(tables_.Overrides(class_id, attr), [&](const Override& each) { return members_.IsProperty(each.method); })) {
    if (const ValueId method = VirtualMethod(class_id, {}, attr, site)) return own_fields_.OnObject(method, object);
  }
  if (const knowledge::EntryId entry = members_.Inferred(class_id, attr)) return MemberOfKnown(site, object, entry);
  if (const ValueId hinted = members_.ByName(object, attr, {})) return hinted;
  return MemberOfAny(site, store_[given].kind == ValueKind::Param ? given : object, attr);
}

// `self.on_save` in a base class: the method of this class, if it has one, or of one of few subclasses. All ranks hold an object of
// the same one. `site`: the member as it is written.
ValueId FunctionEvaluator::VirtualMethod(binding::ClassId class_id, FuncId method, NameId name, ir::ExprId site) {
  const std::vector<Override> overrides = members_.Overrides(class_id, name, OfObjectAt(class_id, site));
  ValueId value = method ? definitions_.Method(method, definitions_.Instance(class_id), false) : ValueId::None();
  if (overrides.size() > kMostOverrides) return value;
  bool is_first = !method || tables_.IsAbstract(method);
  for (const auto& [subclass, own_method] : overrides) {
    if (own_method == method) continue;
    const ValueId own = definitions_.Method(own_method, definitions_.Instance(subclass), false);
    const uint32_t is_of_subclass = tables_.NameSymbol("object of class " + std::to_string(subclass.index));
    value = is_first ? own : store_.Select(store_.Symbol(is_of_subclass, {}), own, value);
    is_first = false;
  }
  return value;
}

// `self.save` in a method: the object is of a class for whose objects the method runs.
MayBeOf FunctionEvaluator::OfObjectAt(binding::ClassId class_id, ir::ExprId site) const {
  const bool is_own = func_.owner == class_id && IsOwnMember(site);
  return [this, is_own](binding::ClassId subclass) { return !is_own || MayRunOn(subclass); };
}

bool FunctionEvaluator::IsOwnMember(ir::ExprId site) const {
  if (module_[site].kind != ir::ExprKind::Attribute || function_.params.empty()) return false;
  const ir::Expr& object = module_[ir::ObjectOf(module_[site])];
  return object.kind == ir::ExprKind::Name && ir::NameOf(object) == function_.params[0].name;
}

// Whether this method runs for objects of a class below: not where the class has one of its own that does not call it.
bool FunctionEvaluator::MayRunOn(binding::ClassId subclass) const {
  const FuncId own = tables_.program.FindMethod(subclass, function_.name);
  if (!own || own == id_) return true;
  return tables_.CallsOfOverriddenIn(tables_.program.funcs[own].module).In(tables_.program.function(own));
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
  // `x.shape.rank` of TensorFlow is what others call `x.ndim`, and no rank of a process.
  if (Text(attr) == "rank" && store_[object].is_derived(tables_.NameSymbol("shape"))) attr = tables_.program.names->Intern("ndim");
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
    if (const ValueId hinted = members_.ByName(object, attr, assigned)) return hinted;
  }
  return store_.UnknownMember(tables_.NameSymbol(attr), object);
}

// The same wherever it is asked of one object, if nothing in this file stores an attribute of that name.
ValueId FunctionEvaluator::HasAttribute(ir::ExprId site, std::span<const CallArgument> args) {
  const ValueId name = args.size() == 2 ? args[1].value : ValueId();
  const bool is_fixed = name && store_[name].kind == ValueKind::Str && !tables_.AttributeUsesOf(func_.module).Stores(store_[name].name());
  const ValueId asked[] = {args[0].value, is_fixed ? name : store_.Symbol(Site(site), {})};
  return store_.Derived(tables_.NameSymbol("hasattr"), asked);
}

}  // namespace allranks::variation
