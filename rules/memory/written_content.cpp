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
