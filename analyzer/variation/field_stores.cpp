#include "analyzer/variation/field_stores.h"

#include <algorithm>

namespace allranks::variation {
namespace {

class Stores {
 public:
  Stores(const binding::Program& program, const Facts& facts) : program_(program), facts_(facts) {}

  std::vector<FieldStore> Of(FuncId function, ir::ExprId read) const {
    const ir::Module& module = program_.module_of(function);
    const ValueId object = Assumed(facts_.value(program_.funcs[function].module, ir::ObjectOf(module[read])));
    std::vector<FieldStore> found;
    if (!object) return found;
    for (uint32_t m = 0; m < program_.infos.size(); ++m) AddOf(ir::ModuleId{m}, ir::AttrOf(module[read]), object, found);
    std::ranges::stable_partition(found, [&](const FieldStore& store) { return program_.funcs[store.function].owner.has_value(); });
    return found;
  }

 private:
  // What a parameter stands for.
  ValueId Assumed(ValueId value) const {
    constexpr int kMostSteps = 8;
    for (int i = 0; i < kMostSteps && value && facts_.values_store[value].kind == ValueKind::Param; ++i) {
      const Value& param = facts_.values_store[value];
      value = facts_.param(param.function(), param.param_index());
    }
    return value;
  }

  void AddOf(ir::ModuleId module_id, NameId field, ValueId object, std::vector<FieldStore>& found) const {
    const ir::Module& module = program_.modules[module_id];
    for (const ir::Stmt& stmt : module.stmts) {
      if (stmt.kind != ir::StmtKind::Assign) continue;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        if (module[target].kind != ir::ExprKind::Attribute || ir::AttrOf(module[target]) != field) continue;
        const ValueId stored_in = Assumed(facts_.value(module_id, ir::ObjectOf(module[target])));
        if (stored_in && MayBeSame(object, stored_in)) found.push_back({FunctionAround(module_id, stmt), target, ir::AssignedOf(stmt)});
      }
    }
  }

  bool MayBeSame(ValueId left, ValueId right) const {
    if (left == right) return true;
    const Value& a = facts_.values_store[left];
    const Value& b = facts_.values_store[right];
    if (a.kind == ValueKind::Instance && b.kind == ValueKind::Instance) {
      return IsBase(a.class_id(), b.class_id()) || IsBase(b.class_id(), a.class_id());
    }
    // `args` of `argparse.Namespace()`, with one attribute more at each store.
    const bool are_records = a.kind == ValueKind::Dict && b.kind == ValueKind::Dict && a.symbol() == b.symbol();
    if (are_records) return a.dict_kind() == DictKind::Attributes && b.dict_kind() == DictKind::Attributes;
    return a.kind == ValueKind::Object && b.kind == ValueKind::Object && a.name() == b.name();
  }

  bool IsBase(binding::ClassId base, binding::ClassId derived) const {
    return std::ranges::count(program_.classes[derived].mro, base) > 0;
  }

  // The innermost function around a statement.
  FuncId FunctionAround(ir::ModuleId module_id, const ir::Stmt& stmt) const {
    const ir::Module& module = program_.modules[module_id];
    FuncId innermost = program_.func(module_id, ir::kTopLevel);
    for (uint32_t f = 0; f < module.functions.size(); ++f) {
      const FuncId function = program_.func(module_id, ir::FunctionId{f});
      const ir::Function& definition = program_.function(function);
      const bool holds = definition.begin <= stmt.begin && stmt.end <= definition.end;
      if (holds && definition.begin >= program_.function(innermost).begin) innermost = function;
    }
    return innermost;
  }

  const binding::Program& program_;
  const Facts& facts_;
};

}  // namespace

std::vector<FieldStore> StoresOfField(const binding::Program& program, const Facts& facts, FuncId function, ir::ExprId read) {
  return Stores(program, facts).Of(function, read);
}

}  // namespace allranks::variation
