#include "analyzer/objects/wrapped_members.h"

#include <algorithm>

namespace allranks::objects {

using variation::ValueKind;

constexpr std::string_view kWrapper = "torch.nn.parallel.DistributedDataParallel";

bool WrappedMembers::IsWrapped(ValueId object) const {
  const std::vector<ValueId> leaves = values_.Leaves(object);
  return !leaves.empty() && std::ranges::all_of(leaves, [&](ValueId leaf) { return values_.IsA(leaf, kWrapper); });
}

ValueId WrappedMembers::InnerOf(ValueId wrapper) const {
  const std::vector<ValueId> leaves = values_.Leaves(wrapper);
  return leaves.size() == 1 ? values_.MadeWith(leaves[0], "module") : ValueId::None();
}

bool WrappedMembers::AreLacking(ValueId wrapper, ValueId inner, base::NameId name) const {
  const ValueId model = OnlyModel(inner);
  const knowledge::ClassId known = values_.ClassOf(values_.Leaves(wrapper)[0]);
  if (!model || !known || knowledge_.FindMember(known, name) || program_.text(name).starts_with("__")) return false;
  if (IsOfEveryModule(program_.text(name))) return false;
  if (IsOfLibrary(model, name)) return true;
  if (values_[model].kind != ValueKind::Instance) return false;
  const binding::ClassId class_id = values_[model].class_id();
  return program_.FindMethod(class_id, name) || IsSetBy(class_id, name);
}

// The one model that is wrapped, also where callers pass it: `def train(model): model = accelerator.prepare(model)`.
ValueId WrappedMembers::OnlyModel(ValueId inner) const {
  const std::vector<ValueId> leaves = inner ? values_.Leaves(inner) : std::vector<ValueId>();
  return leaves.size() == 1 ? leaves[0] : ValueId();
}

bool WrappedMembers::IsOfLibrary(ValueId inner, base::NameId name) const {
  if (values_[inner].kind != ValueKind::Object) return false;
  const knowledge::ClassId class_id = values_.ClassOf(inner);
  return class_id && knowledge_.FindMember(class_id, name);
}

bool WrappedMembers::IsSetBy(binding::ClassId class_id, base::NameId name) const {
  return std::ranges::any_of(program_.classes[class_id].mro, [&](binding::ClassId base) {
    const ir::Module& module = program_.modules[program_.classes[base].module];
    const ir::Class& node = program_.ir_class(base);
    return std::ranges::any_of(module.stmts, [&](const ir::Stmt& stmt) {
      if (stmt.kind != ir::StmtKind::Assign || stmt.begin < node.begin || stmt.end > node.end) return false;
      for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
        const bool is_field = module[target].kind == ir::ExprKind::Attribute && ir::AttrOf(module[target]) == name;
        if (is_field && IsSelf(program_, module, ir::ObjectOf(module[target]))) return true;
      }
      return false;
    });
  });
}

bool WrappedMembers::IsOfEveryModule(std::string_view name) {
  constexpr std::string_view kOwn[] = {"forward",   "training", "device",         "device_ids", "output_device", "process_group",
                                       "reducer",   "module",   "broadcast_buffers", "dim",     "find_unused_parameters",
                                       "require_backward_grad_sync", "static_graph", "logger", "dump_patches"};
  return std::ranges::count(kOwn, name) > 0 || name.starts_with("_") || name.starts_with("register_") || name.starts_with("get_extra");
}

bool IsSelf(const binding::Program& program, const ir::Module& module, ir::ExprId expr) {
  return module[expr].kind == ir::ExprKind::Name && program.text(ir::NameOf(module[expr])) == "self";
}

}  // namespace allranks::objects
