#include "rules/launch/python_config.h"

#include <algorithm>

namespace allranks::rules {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigNode;
using variation::Value;
using variation::ValueId;
using variation::ValueKind;

constexpr int kDeepest = 8;

class DictReader {
 public:
  DictReader(const Context& context, ir::ModuleId module) : context_(context), module_id_(module), module_(context.program.modules[module]) {}

  std::optional<launch::ConfigTree> Read(ValueId value) {
    const ir::ExprId dict = Display(value);
    if (!dict) return std::nullopt;
    Add(dict, {}, {}, {}, 0);
    return std::move(tree_);
  }

 private:
  // `{...}` that makes this very value, in this file.
  ir::ExprId Display(ValueId value) const {
    const std::vector<ValueId> leaves = context_.values.Leaves(value);
    if (leaves.size() != 1 || context_.values[leaves[0]].kind != ValueKind::Dict || IsChanged(leaves[0])) return {};
    for (const ir::ExprId id : context_.index.ExprsOf(module_id_, ir::ExprKind::Dict)) {
      if (context_.facts.value(module_id_, id) == leaves[0]) return id;
    }
    return {};
  }

  // `settings["zero_optimization"]["stage"] = 3`, `settings.update(...)`
  bool IsChanged(ValueId dict) const {
    const auto is_store = [&](const ir::Stmt& stmt) {
      if (stmt.kind == ir::StmtKind::AugAssign) return IsPartOf(ir::ValueOf(stmt), dict);
      if (stmt.kind != ir::StmtKind::Assign) return false;
      for (const ir::ExprId target : ir::TargetsOf(module_, stmt)) {
        if (IsPartOf(target, dict)) return true;
      }
      return false;
    };
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
      if (is_store(module_[ir::StmtId{i}])) return true;
    }
    const auto calls = context_.index.ExprsOf(module_id_, ir::ExprKind::Call);
    return std::ranges::any_of(calls, [&](ir::ExprId call) {
      const ir::Expr& callee = module_[ir::CalleeOf(module_[call])];
      if (callee.kind != ir::ExprKind::Attribute) return false;
      const std::string_view method = context_.program.text(ir::AttrOf(callee));
      return (method == "update" || method == "setdefault" || method == "pop") && (IsOf(ir::ObjectOf(callee), dict) || IsPartOf(ir::ObjectOf(callee), dict));
    });
  }
  // Whether an expression is an item of the dict, or of an item of it.
  bool IsPartOf(ir::ExprId id, ValueId dict) const {
    bool is_item = false;
    while (module_[id].kind == ir::ExprKind::Subscript) {
      id = ir::ObjectOf(module_[id]);
      is_item = true;
    }
    return is_item && IsOf(id, dict);
  }
  bool IsOf(ir::ExprId id, ValueId dict) const {
    const ValueId value = context_.facts.value(module_id_, id);
    const std::vector<ValueId> leaves = value ? context_.values.Leaves(value) : std::vector<ValueId>();
    return std::ranges::count(leaves, dict) > 0;
  }

  void Add(ir::ExprId id, ConfigId parent, std::string key, source::Span key_span, int depth) {
    ConfigNode node{.kind = ConfigKind::Null, .key = std::move(key), .text = "", .is_quoted = false, .key_span = key_span, .span = module_.span(id), .parent = parent, .children = {}};
    const ir::Expr& expr = module_[id];
    if (expr.kind == ir::ExprKind::Dict && depth < kDeepest) {
      node.kind = ConfigKind::Map;
      const ConfigId map = tree_.Add(std::move(node));
      for (uint32_t i = 0; i < ir::DictCount(expr); ++i) {
        const ir::DictItem item = ir::DictItemAt(module_, expr, i);
        const std::string_view name = item.key ? context_.values.Str(context_.facts.value(module_id_, item.key)) : std::string_view();
        if (!name.empty()) Add(item.value, map, std::string(name), module_.span(item.key), depth + 1);
      }
      return;
    }
    SetScalar(id, node);
    tree_.Add(std::move(node));
  }

  void SetScalar(ir::ExprId id, ConfigNode& node) const {
    const ValueId value = context_.facts.value(module_id_, id);
    const std::vector<ValueId> leaves = value ? context_.values.Leaves(value) : std::vector<ValueId>();
    if (leaves.size() != 1) return;
    const Value& leaf = context_.values[leaves[0]];
    if (leaf.kind == ValueKind::Bool) {
      node.kind = ConfigKind::Bool;
      node.text = *leaf.integer() != 0 ? "true" : "false";
    } else if (const std::optional<int64_t> number = context_.values.Int(leaves[0])) {
      node.kind = ConfigKind::Number;
      node.text = std::to_string(*number);
    } else if (leaf.kind == ValueKind::Float) {
      node.kind = ConfigKind::Number;
      node.text = context_.program.text(leaf.name());
    } else if (leaf.kind == ValueKind::Str) {
      node.kind = ConfigKind::Text;
      node.text = context_.values.Str(leaves[0]);
    } else if (leaf.kind == ValueKind::Tuple) {
      node.kind = ConfigKind::List;
    }
  }

  const Context& context_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
  launch::ConfigTree tree_;
};

}  // namespace

std::optional<launch::ConfigTree> DictConfig(const Context& context, ir::ModuleId module, ValueId value) {
  return value ? DictReader(context, module).Read(value) : std::nullopt;
}

const launch::LaunchFile* NamedConfig(const Context& context, ir::ModuleId module, ValueId value) {
  return value ? context.launches.FileNamed(context.program.infos[module].path, context.values.Str(value)) : nullptr;
}

}  // namespace allranks::rules
