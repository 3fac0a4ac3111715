#include "rules/memory/written_content.h"

#include <algorithm>
#include <string_view>

namespace allranks::rules {

using objects::FileUse;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

std::vector<ValueId> WrittenContent::Of(const FileUse& use) const {
  std::vector<ValueId> written;
  if (!use.call->entry->Has(knowledge::Role::OpenFile)) {
    for (size_t i = 0; i < use.call->args.size(); ++i) {
      if (use.call->entry->params[i] != use.param && use.call->args[i]) written.push_back(use.call->args[i]);
    }
    // `tokenizer.save_pretrained(path)`
    if (written.empty() && use.call->receiver) written.push_back(use.call->receiver);
    return written;
  }
  for (const Site& write : context_.file_uses.WritesInto(use)) {
    const ir::ModuleId module_id = context_.program.funcs[write.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < ir::ArgCount(module, module[write.expr]); ++i) {
      written.push_back(context_.facts.value(module_id, ir::ArgAt(module, module[write.expr], i).value));
    }
  }
  return written;
}

bool WrittenContent::IsTrained(const FileUse& use) const {
  return std::ranges::any_of(Of(use), [&](ValueId value) { return IsTrained(value, use.frame, 0); }) || IsFilledWithTrained(use);
}

// `record = {}`, `record["model"] = model.state_dict()`, and then `torch.save(record, path)`.
bool WrittenContent::IsFilledWithTrained(const FileUse& use) const {
  const ir::ModuleId module_id = context_.program.funcs[use.site().function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::Expr& call = module[use.site().expr];
  if (call.kind != ir::ExprKind::Call) return false;
  std::vector<base::NameId> names;
  for (uint32_t i = 0; i < ir::ArgCount(module, call); ++i) {
    const ir::Expr& arg = module[ir::ArgAt(module, call, i).value];
    if (arg.kind == ir::ExprKind::Name) names.push_back(ir::NameOf(arg));
  }
  const auto is_filled = [&](ir::ExprId target) {
    const ir::ExprId object = module[target].kind == ir::ExprKind::Subscript ? ir::LeftOf(module[target]) : target;
    return module[object].kind == ir::ExprKind::Name && std::ranges::count(names, ir::NameOf(module[object])) > 0;
  };
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign || context_.index.FunctionOf(module_id, ir::StmtId{i}) != use.site().function) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const ValueId value = is_filled(target) ? context_.facts.value(module_id, ir::AssignedOf(stmt)) : ValueId::None();
      if (value && IsTrained(value, use.frame, 0)) return true;
    }
  }
  return false;
}

// A loss is made by a model as well, so that only what records and lists hold counts.
bool WrittenContent::IsTrained(ValueId value, const objects::CallFrame* frame, int depth) const {
  constexpr int kDeepest = 3;
  const ValueId written = context_.file_uses.paths().Resolved(value, frame);
  if (!written || depth > kDeepest) return false;
  return std::ranges::any_of(context_.values.Leaves(written), [&](ValueId leaf) {
    const ValueKind kind = context_.values[leaf].kind;
    if (kind != ValueKind::Dict && kind != ValueKind::Tuple) return IsState(leaf) || context_.values.IsA(leaf, "torch.nn.Module");
    return std::ranges::any_of(context_.facts.values_store.Kids(leaf), [&](ValueId kid) { return kid && IsTrained(kid, frame, depth + 1); });
  });
}

// Not by a setting that says what is to be loaded: `ckpt_path=path if config.load_state_dict else None`.
bool WrittenContent::IsState(ValueId value) const {
  return context_.values.AnyPart(value, [&](ValueId part) {
    const base::NameId name = context_.facts.values_store.DerivedBy(context_.values[part]);
    const std::string_view text = name ? context_.program.text(name) : std::string_view();
    return text.ends_with("state_dict") && text.find("load") == std::string_view::npos;
  });
}

bool WrittenContent::IsText(const FileUse& use) const {
  const std::vector<Site> writes = context_.file_uses.WritesInto(use);
  return !writes.empty() && std::ranges::all_of(writes, [&](const Site& write) { return IsWriteOfText(write); });
}

bool WrittenContent::IsOneText(const FileUse& use) const {
  const std::vector<Site> writes = context_.file_uses.WritesInto(use);
  return writes.empty() ? IsEmptied(use) : std::ranges::all_of(writes, [&](const Site& write) { return IsOneText(write); });
}

bool WrittenContent::IsOneText(const Site& write) const {
  const ir::ModuleId module_id = context_.program.funcs[write.function].module;
  const ir::Module& module = context_.program.modules[module_id];
  return IsWriteOfText(write) && IsConstantText(context_.facts.value(module_id, ir::ArgAt(module, module[write.expr], 0).value));
}

bool WrittenContent::IsWriteOfText(const Site& write) const {
  const ir::Module& module = context_.program.module_of(write.function);
  const ir::Expr& call = module[write.expr];
  const ir::Expr& callee = module[ir::CalleeOf(call)];
  const bool is_write = callee.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(callee)) == "write";
  return is_write && ir::ArgCount(module, call) == 1;
}

// Texts and the time of day, put together; also one out of a list of texts, whichever it is.
bool WrittenContent::IsConstantText(ValueId text) const {
  if (!text) return false;
  const variation::Value& value = context_.values[text];
  const auto kids = context_.facts.values_store.Kids(text);
  const auto is_constant = [&](ValueId kid) { return IsConstantText(kid); };
  const bool is_time = kids.empty() && value.axes == knowledge::Axes::Of(knowledge::Axis::Clock);
  if (value.kind == ValueKind::Str || is_time) return true;
  if (value.kind == ValueKind::Binary || value.kind == ValueKind::Tuple) return !kids.empty() && std::ranges::all_of(kids, is_constant);
  const base::NameId name = context_.facts.values_store.DerivedBy(value);
  if (!name || kids.empty() || context_.program.text(name) != "element") return false;
  return std::ranges::all_of(context_.values.Leaves(kids[0]), is_constant);
}

// `with open(path, "w"): pass`
bool WrittenContent::IsEmptied(const FileUse& use) const {
  const ir::ModuleId module_id = context_.program.funcs[use.site().function].module;
  const ir::Module& module = context_.program.modules[module_id];
  const ir::StmtId opening = context_.index.StatementOf(use.site());
  if (!opening || !use.call->entry->Has(knowledge::Role::OpenFile)) return false;
  if (module[opening].kind == ir::StmtKind::With) {
    const auto body = module.statements(ir::BodyOf(module[opening]));
    return std::ranges::all_of(body, [&](ir::StmtId stmt) { return module[stmt].kind == ir::StmtKind::Pass; });
  }
  // `open(path, "w")` for nothing but that, or `open(path, "w").close()`
  const ir::Tree& tree = context_.index.tree(module_id);
  const ir::ExprId method = tree.Parent(use.site().expr);
  if (!method) return module[opening].kind == ir::StmtKind::Expr;
  const ir::ExprId call = tree.Parent(method);
  const ir::Expr* callee = call && module[call].kind == ir::ExprKind::Call ? &module[ir::CalleeOf(module[call])] : nullptr;
  return callee != nullptr && callee->kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(*callee)) == "close";
}

}  // namespace allranks::rules
