#include "analyzer/objects/filled_places.h"

#include <algorithm>

#include "analyzer/ir/bindings.h"

namespace allranks::objects {
namespace {

// `None`, `False`.
bool IsNothing(const ir::Module& module, ir::ExprId value) {
  if (module[value].kind != ir::ExprKind::Constant) return false;
  const ir::ConstantKind kind = ir::ConstantKindOf(module[value]);
  return kind == ir::ConstantKind::None || kind == ir::ConstantKind::False;
}

// `name = value`, not `name, other = value`.
bool IsTarget(const ir::Module& module, const ir::Stmt& stmt, base::NameId name) {
  for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
    if (module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == name) return true;
  }
  return false;
}

// The other side of `x is not None` that holds, or of `x is None` that does not.
std::optional<ir::ExprId> ComparedToNone(const ir::Module& module, ir::ExprId test, bool& holds) {
  const ir::Expr& expr = module[test];
  if (ir::ComparisonCount(module, expr) != 1) return std::nullopt;
  const ir::Comparison comparison = ir::ComparisonAt(module, expr, 0);
  const bool asks = comparison.op == ir::CompareOp::Is || comparison.op == ir::CompareOp::IsNot;
  if (!asks || !IsNothing(module, comparison.operand)) return std::nullopt;
  if (comparison.op == ir::CompareOp::Is) holds = !holds;
  return ir::LeftOf(expr);
}

// A parameter of `__init__` that may be left out, and that a field of the object holds from then on.
struct FilledField {
  FuncId init;
  size_t param = 0;
};

// The statements of a method that assign to a field of its object.
std::vector<ir::ExprId> AssignedToField(const ir::Module& module, const ir::Function& method, base::NameId field) {
  std::vector<ir::ExprId> values;
  if (method.params.empty()) return values;
  ir::ForEachStmtIn(module, method.body, [&](const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Assign) return;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_field = module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == field;
      const ir::Expr* object = is_field ? &module[ir::ObjectOf(module[target])] : nullptr;
      if (object && object->kind == ir::ExprKind::Name && ir::NameOf(*object) == method.params[0].name) values.push_back(ir::AssignedOf(stmt));
    }
  });
  return values;
}

// `self.path = path` in `__init__(self, path=None)` and nowhere else.
std::optional<FilledField> FilledBy(const binding::Program& program, FuncId function, ir::ExprId tested) {
  const ir::Module& asking = program.module_of(function);
  const ir::Expr& object = asking[ir::ObjectOf(asking[tested])];
  const base::NameId field = ir::AttrOf(asking[tested]);
  const auto& own = program.function(function).params;
  const bool is_own = object.kind == ir::ExprKind::Name && !own.empty() && ir::NameOf(object) == own[0].name;
  const binding::ClassId owner = program.funcs[function].owner;
  const base::NameId name = program.names->Find("__init__");
  const FuncId init = is_own && owner && name ? program.FindMethod(owner, name) : FuncId::None();
  if (!init) return std::nullopt;
  for (const auto& [_, method] : program.classes[owner].methods) {
    if (method != init && !AssignedToField(program.module_of(method), program.function(method), field).empty()) return std::nullopt;
  }
  const ir::Module& module = program.module_of(init);
  const std::vector<ir::ExprId> values = AssignedToField(module, program.function(init), field);
  if (values.size() != 1 || module[values[0]].kind != ir::ExprKind::Name) return std::nullopt;
  const auto& params = program.function(init).params;
  for (size_t i = 0; i < params.size(); ++i) {
    const bool may_be_left_out = params[i].default_value && IsNothing(module, params[i].default_value);
    if (may_be_left_out && params[i].name == ir::NameOf(module[values[0]])) return FilledField{init, i};
  }
  return std::nullopt;
}

}  // namespace

FilledPlaces::FilledPlaces(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index, const Guards& guards)
    : program_(program), facts_(facts), index_(index), guards_(guards) {
  for (uint32_t f = 0; f < program.funcs.size(); ++f) NoteFunction(FuncId{f});
}

// Where its variables are set.
void FilledPlaces::NoteFunction(FuncId function) {
  if (program_.funcs[function].function == ir::kTopLevel) return;
  const ir::Module& module = program_.module_of(function);
  std::vector<base::NameId> bound_otherwise;
  ir::ForEachStmtIn(module, program_.function(function).body, [&](const ir::Stmt& stmt) {
    ir::ForEachBinding(module, stmt, [&](const ir::Binding& binding) {
      if (!binding.name) return;
      const bool is_plain = stmt.kind == ir::StmtKind::Assign && IsTarget(module, stmt, binding.name);
      if (is_plain) set_[{function.index, binding.name}].push_back(ir::AssignedOf(stmt));
      else bound_otherwise.push_back(binding.name);
    });
  });
  for (const base::NameId name : bound_otherwise) set_.erase({function.index, name});
}

std::optional<Filling> FilledPlaces::AskedBy(const Guard& guard) const {
  const ir::Module& module = program_.module_of(guard.function);
  ir::ExprId tested = guard.test;
  bool holds = guard.holds;
  if (module[tested].kind == ir::ExprKind::Compare) {
    const std::optional<ir::ExprId> compared = ComparedToNone(module, tested, holds);
    if (!compared) return std::nullopt;
    tested = *compared;
  }
  if (!holds) return std::nullopt;
  if (module[tested].kind == ir::ExprKind::Attribute) return OfField(guard.function, tested);
  if (module[tested].kind == ir::ExprKind::Name) return OfVariable(guard, ir::NameOf(module[tested]));
  return std::nullopt;
}

// `Saver(path)` on one rank and `Saver()` on the others: the calls of the first kind. None if nobody leaves it out.
std::optional<Filling> FilledPlaces::OfField(FuncId function, ir::ExprId tested) const {
  const std::optional<FilledField> filled = FilledBy(program_, function, tested);
  if (!filled) return std::nullopt;
  Filling filling{{filled->init.index, ir::AttrOf(program_.module_of(function)[tested])}, true, {}};
  bool is_left_out = false;
  for (const Site& caller : index_.CallersOf(filled->init)) {
    const variation::CallFact* call = facts_.call(caller.function, caller.expr);
    const auto args = call != nullptr ? facts_.args(*call) : std::span<const ValueId>();
    const ValueId passed = filled->param < args.size() ? args[filled->param] : ValueId::None();
    if (passed && facts_.values_store[passed].kind != variation::ValueKind::None) filling.places.push_back(caller);
    else is_left_out = true;
  }
  return is_left_out ? std::optional(std::move(filling)) : std::nullopt;
}

std::optional<Filling> FilledPlaces::OfVariable(const Guard& guard, base::NameId name) const {
  const ir::Module& module = program_.module_of(guard.function);
  Filling filling{{guard.function.index, name}, false, {}};
  const auto found = set_.find(filling.thing);
  if (found == set_.end()) return std::nullopt;
  bool starts_empty = false;
  for (const ir::ExprId value : found->second) {
    if (IsNothing(module, value)) {
      starts_empty = true;
      continue;
    }
    const Site place{guard.function, value};
    // What is set under a test of itself is set already.
    const bool asks_itself = std::ranges::any_of(guards_.Of(place), [&](const Guard& other) { return other.test == guard.test; });
    if (asks_itself) return std::nullopt;
    filling.places.push_back(place);
  }
  return starts_empty ? std::optional(std::move(filling)) : std::nullopt;
}

}  // namespace allranks::objects
