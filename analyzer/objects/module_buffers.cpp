#include "analyzer/objects/module_buffers.h"

#include <algorithm>
#include <string_view>

namespace allranks::objects {

using variation::CallFact;
using variation::CallKind;
using variation::Value;
using variation::ValueKind;

namespace {

// Constructors that call more functions than this are not read to their end.
constexpr size_t kMostFunctions = 500;

HasBuffers Join(HasBuffers a, HasBuffers b) { return std::max(a, b); }

}  // namespace

struct ModuleBuffers::Visit {
  std::unordered_set<uint32_t> functions;
  std::unordered_set<uint32_t> classes;
  std::unordered_set<uint32_t> parts;
};

HasBuffers ModuleBuffers::Of(ValueId model) const {
  if (!model) return HasBuffers::Unknown;
  Visit visit;
  HasBuffers has = HasBuffers::No;
  for (const ValueId leaf : values_.Leaves(model)) has = Join(has, OfOne(leaf, visit));
  return has;
}

HasBuffers ModuleBuffers::OfOne(ValueId model, Visit& visit) const {
  const Value& value = facts_.values_store[model];
  if (value.kind == ValueKind::None) return HasBuffers::No;
  if (value.kind == ValueKind::Instance) return OfClass(value.class_id(), visit);
  if (value.kind != ValueKind::Object) return HasBuffers::Unknown;
  HasBuffers has = OfLibraryClass(values_.ClassOf(model));
  for (const ValueId part : facts_.values_store.Kids(model)) has = Join(has, OfPart(part, visit));
  return has;
}

// What a library's module was made with: layers, also in lists, and numbers and the like, which have none.
HasBuffers ModuleBuffers::OfPart(ValueId part, Visit& visit) const {
  HasBuffers has = HasBuffers::No;
  if (!part || !visit.parts.insert(part.index).second) return has;
  for (const ValueId leaf : values_.Leaves(part)) {
    const Value& value = facts_.values_store[leaf];
    const bool is_layer = value.kind == ValueKind::Instance || (value.kind == ValueKind::Object && values_.IsA(leaf, "torch.nn.Module"));
    const base::NameId operation = facts_.values_store.DerivedBy(value);
    const bool is_made_of_items = operation && (program_.text(operation) == "{}" || program_.text(operation) == "for");
    if (is_layer) has = Join(has, OfOne(leaf, visit));
    if (value.kind != ValueKind::Tuple && value.kind != ValueKind::Dict && !is_made_of_items) continue;
    for (const ValueId item : facts_.values_store.Kids(leaf)) has = Join(has, OfPart(item, visit));
  }
  return has;
}

HasBuffers ModuleBuffers::OfClass(binding::ClassId class_id, Visit& visit) const {
  if (!visit.classes.insert(class_id.index).second) return HasBuffers::No;
  HasBuffers has = OfBases(class_id);
  const base::NameId init = program_.names->Find("__init__");
  for (const binding::ClassId base : program_.classes[class_id].mro) {
    for (const auto& [name, method] : program_.classes[base].methods) {
      if (name == init) has = Join(has, OfFunction(method, visit));
    }
  }
  return has;
}

HasBuffers ModuleBuffers::OfBases(binding::ClassId class_id) const {
  HasBuffers has = HasBuffers::No;
  for (const binding::ClassId base : program_.classes[class_id].mro) {
    for (const base::NameId name : program_.classes[base].external_bases) has = Join(has, OfLibraryName(name));
  }
  return has;
}

HasBuffers ModuleBuffers::OfFunction(FuncId function, Visit& visit) const {
  if (visit.functions.size() > kMostFunctions) return HasBuffers::Unknown;
  if (!visit.functions.insert(function.index).second) return HasBuffers::No;
  HasBuffers has = IsHandedLayerWithBuffers(function) || MakesLayerWithBuffers(function) ? HasBuffers::Yes : HasBuffers::No;
  for (const auto& [expr, call] : facts_.functions[function].calls) {
    if (has != HasBuffers::Yes) has = Join(has, OfCall(function, expr, call, visit));
  }
  return has;
}

// `def __init__(self, norm_layer=nn.BatchNorm2d)`: what is handed over is made there.
bool ModuleBuffers::IsHandedLayerWithBuffers(FuncId function) const {
  const auto count = static_cast<uint32_t>(program_.function(function).params.size());
  for (uint32_t i = 0; i < count; ++i) {
    const ValueId handed = facts_.param(function, i);
    for (const ValueId leaf : handed ? values_.Leaves(handed) : std::vector<ValueId>()) {
      const Value& value = facts_.values_store[leaf];
      if (value.kind == ValueKind::External && OfLibraryName(value.name()) == HasBuffers::Yes) return true;
    }
  }
  return false;
}

// `self.norm = nn.BatchNorm2d(64)`
bool ModuleBuffers::MakesLayerWithBuffers(FuncId function) const {
  const ir::ModuleId module_id = program_.funcs[function].module;
  const ir::Module& module = program_.modules[module_id];
  const ir::Function& definition = program_.function(function);
  for (uint32_t i = 0; i < module.exprs.size(); ++i) {
    const ir::ExprId id{i};
    const ir::Expr& expr = module[id];
    if (expr.kind != ir::ExprKind::Call || expr.begin < definition.begin || expr.end > definition.end) continue;
    const ValueId made = facts_.value(module_id, id);
    const bool is_object = made && facts_.values_store[made].kind == ValueKind::Object;
    if (is_object && OfLibraryClass(values_.ClassOf(made)) == HasBuffers::Yes) return true;
  }
  return false;
}

HasBuffers ModuleBuffers::OfCall(FuncId caller, ir::ExprId expr, const CallFact& call, Visit& visit) const {
  const ValueId made = facts_.value(program_.funcs[caller].module, expr);
  if (const knowledge::ClassId known = made ? values_.ClassOf(made) : knowledge::ClassId{}) {
    if (facts_.values_store[made].kind == ValueKind::Object && OfLibraryClass(known) == HasBuffers::Yes) return HasBuffers::Yes;
  }
  switch (call.kind) {
    case CallKind::Known:
      return knowledge_[call.entry].Has(knowledge::Role::RegisterBuffer) ? HasBuffers::Yes : HasBuffers::No;
    case CallKind::Function:
      return OfFunction(call.function, visit);
    case CallKind::Construct:
      return call.callee && facts_.values_store[call.callee].kind == ValueKind::Class
                 ? OfClass(facts_.values_store[call.callee].class_id(), visit)
                 : HasBuffers::Unknown;
    case CallKind::External:
    case CallKind::Deferred:
    case CallKind::Unresolved:
      break;
  }
  if (!call.callee) return HasBuffers::Unknown;
  HasBuffers has = HasBuffers::No;
  for (const ValueId leaf : values_.Leaves(call.callee)) {
    const Value& callee = facts_.values_store[leaf];
    if (callee.kind == ValueKind::External) has = Join(has, OfLibraryName(callee.name()));
    else if (callee.kind == ValueKind::Class) has = Join(has, OfClass(callee.class_id(), visit));
    else if (callee.kind == ValueKind::Function) has = Join(has, OfFunction(callee.function(), visit));
    else if (!IsConstructorOfBase(callee)) has = Join(has, HasBuffers::Unknown);
  }
  return has;
}

// `super().__init__()`: what the bases have is asked of them.
bool ModuleBuffers::IsConstructorOfBase(const Value& callee) const {
  const base::NameId name = facts_.values_store.DerivedBy(callee);
  return name && program_.text(name) == "__init__";
}

HasBuffers ModuleBuffers::OfLibraryClass(knowledge::ClassId known) const {
  if (!known) return HasBuffers::Unknown;
  return knowledge_[known].has_buffers ? HasBuffers::Yes : HasBuffers::No;
}

HasBuffers ModuleBuffers::OfLibraryName(base::NameId name) const {
  if (const knowledge::ClassId known = knowledge_.FindClass(name)) return OfLibraryClass(known);
  const std::string_view text = program_.text(name);
  const base::NameId package = program_.names->Find(text.substr(0, text.find('.')));
  return package && knowledge_.ListsBuffers(package) ? HasBuffers::No : HasBuffers::Unknown;
}

}  // namespace allranks::objects
