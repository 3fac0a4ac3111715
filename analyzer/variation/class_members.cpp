#include "analyzer/variation/class_members.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzer/variation/records.h"

namespace allranks::variation {

ValueId ClassMembers::Field(binding::ClassId class_id, NameId attr, bool skip_first) const {
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

ValueId ClassMembers::ConstantOfSome(binding::ClassId class_id, NameId attr, ValueId own, const MayBeOf& may_be_of) const {
  ValueId value = own;
  size_t count = 0;
  for (const binding::ClassId subclass : tables_.program.classes[class_id].subclasses) {
    const ValueId other = tables_.Read(TableId::Fields, subclass.index, attr.index);
    if (!other || other == own || !may_be_of(subclass)) continue;
    if (++count > kMostOverrides) return store_.Symbol(tables_.NameSymbol(fmt::format("{} of some class", Text(attr))), {});
    value = store_.Select(store_.Symbol(tables_.NameSymbol("object of class " + std::to_string(subclass.index)), {}), other, value);
  }
  return value;
}

ValueId ClassMembers::ByName(ValueId object, NameId attr, ValueId assigned) const {
  const knowledge::Hint* hint = tables_.knowledge.FindHint(attr);
  if (hint == nullptr || tables_.IsNoRank(assigned)) return {};
  const Value& known = store_[LookThrough(tables_, object)];
  if (known.kind == ValueKind::Instance) {
    const binding::ClassId declaring = DeclaringClass(tables_.program, known.class_id(), attr);
    if (declaring && tables_.IsNoRank(tables_.Read(TableId::Usual, declaring.index, attr.index))) return {};
  }
  return tables_.HintValue(*hint);
}

std::vector<Override> ClassMembers::Overrides(binding::ClassId class_id, NameId name, const MayBeOf& may_be_of) const {
  std::vector<Override> overrides = tables_.Overrides(class_id, name);
  std::erase_if(overrides, [&](const Override& each) { return !may_be_of(each.class_id); });
  return overrides;
}

FuncId ClassMembers::Method(ValueId object, NameId attr) const {
  const Value& value = store_[object];
  const binding::ClassId class_id = value.class_id();
  if (value.origin() != InstanceOrigin::Super) {
    const FuncId method = tables_.program.FindMethod(class_id, attr);
    const bool is_meant = value.origin() == InstanceOrigin::Exact && method && !tables_.MustBeOverridden(method);
    return is_meant ? method : tables_.MostSpecific(class_id, method, attr);
  }
  const auto& mro = tables_.program.classes[class_id].mro;
  for (size_t i = 1; i < mro.size(); ++i) {
    for (const auto& [name, method] : tables_.program.classes[mro[i]].methods) {
      if (name == attr) return method;
    }
  }
  return FuncId::None();
}

ValueId ClassMembers::OrReplaced(ValueId object, NameId attr, ValueId method) const {
  const binding::ClassId class_id = store_[object].class_id();
  for (const binding::ClassId base : tables_.program.classes[class_id].mro) {
    const ValueId put = tables_.Read(TableId::Fields, base.index | kInClassItself, attr.index);
    if (!put || store_[put].kind != ValueKind::Function) continue;
    const ValueId kids[] = {object};
    const ValueId bound = store_.Make(Value::Function(store_[put].function()), kids);
    return store_.Select(store_.Symbol(tables_.NameSymbol(fmt::format("{} put into class {}", Text(attr), base.index)), {}), bound, method);
  }
  return method;
}

bool ClassMembers::IsProperty(FuncId method) const {
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

bool ClassMembers::IsOverriddenUnseen(binding::ClassId class_id, FuncId method, NameId name) const {
  if (!tables_.IsAbstract(method)) return false;
  const size_t overrides = tables_.Overrides(class_id, name).size();
  return overrides > kMostOverrides || (overrides == 0 && tables_.MustBeOverridden(method));
}

knowledge::EntryId ClassMembers::Known(ValueId object, NameId attr) const {
  const Value& value = store_[object];
  switch (value.kind) {
    case ValueKind::Object: {
      const knowledge::ClassId class_id = tables_.knowledge.FindClass(value.name());
      return class_id ? tables_.knowledge.FindMember(class_id, attr) : knowledge::EntryId::None();
    }
    case ValueKind::Group: {
      const NameId communicator = value.communicator();
      const knowledge::ClassId class_id = tables_.knowledge.FindClass(communicator ? communicator : tables_.process_group_class);
      return class_id ? tables_.knowledge.FindMember(class_id, attr) : knowledge::EntryId::None();
    }
    case ValueKind::Binary:
      // `folder / name`: what a path is joined with is a path again.
      return value.is_binary(ir::BinaryOp::Div) ? Known(store_.OperandsOf(object).left, attr) : knowledge::EntryId::None();
    case ValueKind::Instance:
      return KnownOfBases(value.class_id(), attr);
    default:
      return knowledge::EntryId::None();
  }
}

knowledge::EntryId ClassMembers::KnownOfBases(binding::ClassId class_id, NameId attr) const {
  for (const knowledge::ClassId base : tables_.known_bases[class_id.index]) {
    if (const knowledge::EntryId entry = tables_.knowledge.FindMember(base, attr)) return entry;
  }
  return knowledge::EntryId::None();
}

knowledge::EntryId ClassMembers::Inferred(binding::ClassId class_id, NameId attr) const {
  for (const binding::ClassId subclass : tables_.program.classes[class_id].subclasses) {
    if (const knowledge::EntryId entry = KnownOfBases(subclass, attr)) return entry;
  }
  // A module whose own base nobody knows: that much is the same for all.
  if (!tables_.module_class || !tables_.IsModuleClass(class_id)) return knowledge::EntryId::None();
  const knowledge::EntryId entry = tables_.knowledge.FindMember(tables_.module_class, attr);
  constexpr knowledge::Role kOfModes[] = {knowledge::Role::TrainingMode, knowledge::Role::SetTraining,
                                          knowledge::Role::SetEvaluation};
  const bool is_of_mode = entry && std::ranges::any_of(kOfModes, [&](knowledge::Role role) { return tables_.knowledge[entry].Has(role); });
  return is_of_mode ? entry : knowledge::EntryId::None();
}

bool ClassMembers::IsPlainEnum(binding::ClassId class_id) const {
  const std::vector<NameId>& bases = tables_.program.classes[class_id].external_bases;
  return bases.size() == 1 && Text(bases[0]) == "enum.Enum";
}

ValueId ClassMembers::EnumMember(binding::ClassId class_id, NameId attr) const {
  const binding::ClassInfo& info = tables_.program.classes[class_id];
  const std::string_view name = Text(tables_.program.ir_class(class_id).name);
  return store_.Str(tables_.program.names->Intern(tables_.program.infos[info.module].dotted + "." + std::string(name) + "." + std::string(Text(attr))));
}

ValueId ClassMembers::TextOfEnum(binding::ClassId class_id) const {
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

}  // namespace allranks::variation
