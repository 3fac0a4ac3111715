#include "analyzer/objects/missing_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {
namespace {

using variation::ValueKind;

// What sets fields by names that no text shows.
constexpr std::array<std::string_view, 4> kSetFields = {"setattr", "vars", "__dict__", "__setattr__"};
// What a class answers by itself.
constexpr std::array<std::string_view, 4> kAnswer = {"__getattr__", "__getattribute__", "__slots__", "__init_subclass__"};

uint64_t KeyOf(binding::ClassId class_id, base::NameId name) { return (uint64_t{class_id.index} << 32) | name.index; }

}  // namespace

bool MissingFields::IsReadBy(ir::ModuleId module_id, ir::ExprId id) const {
  const ir::Module& module = program_.modules[module_id];
  if (module[id].kind != ir::ExprKind::Attribute) return false;
  const base::NameId name = ir::AttrOf(module[id]);
  const variation::ValueId object = facts_.value(module_id, ir::ObjectOf(module[id]));
  if (!object || program_.text(name).starts_with("__")) return false;
  const variation::Value& value = facts_.values_store[object];
  if (value.kind != ValueKind::Instance || value.origin() == variation::InstanceOrigin::Super) return false;
  const binding::ClassId of = value.class_id();
  const auto lacks = [&](binding::ClassId each) { return IsClosed(each) && !Has(each, name); };
  const bool is_exact = value.origin() == variation::InstanceOrigin::Exact;
  return !IsSpokenOf(name) && lacks(of) && (is_exact || std::ranges::all_of(program_.classes[of].subclasses, lacks));
}

bool MissingFields::MayBeSet(binding::ClassId id, base::NameId name) const {
  const auto is_set = [&](binding::ClassId each) { return stored().of_class.contains(KeyOf(each, name)); };
  const binding::ClassInfo& info = program_.classes[id];
  return stored().of_any.contains(name) || std::ranges::any_of(info.mro, is_set) || std::ranges::any_of(info.subclasses, is_set);
}

// All that gives objects of a class fields and methods is seen.
bool MissingFields::IsClosed(binding::ClassId id) const {
  const auto [known, is_new] = closed_.try_emplace(id.index, false);
  if (!is_new) return known->second;
  const binding::ClassInfo& info = program_.classes[id];
  const auto is_closed = [&](binding::ClassId each) { return IsClosedByItself(each); };
  return closed_[id.index] = info.external_bases.empty() && std::ranges::all_of(info.mro, is_closed);
}

// The same of what stands in its own body.
bool MissingFields::IsClosedByItself(binding::ClassId id) const {
  const auto [known, is_new] = closed_by_itself_.try_emplace(id.index, false);
  if (!is_new) return known->second;
  const auto answers = [&](std::string_view answer) {
    const base::NameId name = program_.names->Find(answer);
    return name && BindsInBody(id, name);
  };
  return closed_by_itself_[id.index] = program_.ir_class(id).decorators.empty() && AreBasesKnown(id) &&
                                       !SetsFieldsByName(program_.classes[id].module) && std::ranges::none_of(kAnswer, answers);
}

// Each is a class of the project, or `object`: not what a function was handed, nor a metaclass.
bool MissingFields::AreBasesKnown(binding::ClassId id) const {
  const binding::ClassInfo& info = program_.classes[id];
  return std::ranges::all_of(program_.ir_class(id).bases, [&](const ir::Arg& base) {
    const variation::ValueId value = base.kind == ir::ArgKind::Positional ? facts_.value(info.module, base.value) : variation::ValueId::None();
    if (!value) return false;
    const variation::Value& node = facts_.values_store[value];
    if (node.kind == ValueKind::External) return program_.text(node.name()) == "builtins.object";
    return node.kind == ValueKind::Class && std::ranges::count(info.mro, node.class_id()) > 0;
  });
}

bool MissingFields::Has(binding::ClassId id, base::NameId name) const {
  return std::ranges::any_of(program_.classes[id].mro, [&](binding::ClassId each) { return stored().of_class.contains(KeyOf(each, name)) || BindsInBody(each, name); });
}

bool MissingFields::BindsInBody(binding::ClassId id, base::NameId name) const {
  const ir::Module& module = program_.modules[program_.classes[id].module];
  bool binds = false;
  ir::ForEachBindingIn(module, program_.ir_class(id).body, [&](const ir::Binding& binding) {
    binds = binds || (binding.import ? ir::BoundName(module.imports[binding.import], *program_.names) : binding.name) == name;
  });
  return binds;
}

const MissingFields::Stored& MissingFields::stored() const {
  if (stored_) return *stored_;
  stored_.emplace();
  for (uint32_t m = 0; m < program_.modules.size(); ++m) AddStores(ir::ModuleId{m}, *stored_);
  return *stored_;
}

void MissingFields::AddStores(ir::ModuleId module_id, Stored& stored) const {
  const ir::Module& module = program_.modules[module_id];
  for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Constant)) {
    const bool is_text = ir::ConstantKindOf(module[id]) == ir::ConstantKind::Str;
    if (is_text && ir::TextOf(module[id])) stored.texts.insert(ir::TextOf(module[id]));
  }
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::Delete) {
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) AddTarget(module_id, target, stored);
    } else if (stmt.kind == ir::StmtKind::AnnAssign || stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::AugAssign) {
      AddTarget(module_id, ir::ValueOf(stmt), stored);
    } else if (stmt.kind == ir::StmtKind::With) {
      for (const ir::WithItem& item : ir::WithItemsOf(module, stmt)) AddTarget(module_id, item.target, stored);
    }
  }
}

// `self.width`, and each part of `self.width, self.height`.
void MissingFields::AddTarget(ir::ModuleId module_id, ir::ExprId target, Stored& stored) const {
  if (!target) return;
  const ir::Module& module = program_.modules[module_id];
  const ir::Expr& expr = module[target];
  if (expr.kind == ir::ExprKind::Tuple || expr.kind == ir::ExprKind::List) {
    for (const ir::ExprId part : ir::Items(module, expr)) AddTarget(module_id, part, stored);
  } else if (expr.kind == ir::ExprKind::Starred) {
    AddTarget(module_id, ir::OperandOf(expr), stored);
  } else if (expr.kind == ir::ExprKind::Attribute) {
    const variation::ValueId object = facts_.value(module_id, ir::ObjectOf(expr));
    const ValueKind kind = object ? facts_.values_store[object].kind : ValueKind::Unknown;
    const bool is_of_class = kind == ValueKind::Instance || kind == ValueKind::Class;
    if (is_of_class) stored.of_class.insert(KeyOf(facts_.values_store[object].class_id(), ir::AttrOf(expr)));
    else stored.of_any.insert(ir::AttrOf(expr));
  }
}

bool MissingFields::SetsFieldsByName(ir::ModuleId module_id) const {
  const auto [known, is_new] = sets_by_name_.try_emplace(module_id.index, false);
  if (!is_new) return known->second;
  const ir::Module& module = program_.modules[module_id];
  const auto is_named = [&](base::NameId name) { return std::ranges::count(kSetFields, program_.text(name)) > 0; };
  const auto by_name = [&](ir::ExprId id) { return is_named(ir::NameOf(module[id])); };
  const auto by_attribute = [&](ir::ExprId id) { return is_named(ir::AttrOf(module[id])); };
  return sets_by_name_[module_id.index] = std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Name), by_name) ||
                                          std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Attribute), by_attribute);
}

}  // namespace allranks::objects
