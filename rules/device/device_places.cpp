#include "rules/device/device_places.h"

#include <algorithm>

#include "analyzer/knowledge/member_names.h"
#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kDeviceTypes[] = {"cuda:", "xpu:", "npu:", "hpu:", "musa:", "mlu:"};

bool EndsWithDeviceType(std::string_view text) {
  return std::ranges::any_of(kDeviceTypes, [&](std::string_view type) { return text.ends_with(type); });
}

class Search {
 public:
  explicit Search(const Context& context) : context_(context) {}

  std::vector<DevicePlace> Run() {
    for (const objects::KnownCall& call : context_.index.known_calls()) AddArguments(call);
    for (uint32_t i = 0; i < context_.program.modules.size(); ++i) AddTexts(ir::ModuleId{i});
    return std::move(places_);
  }

 private:
  void AddArguments(const objects::KnownCall& call) {
    for (const knowledge::RoleOf& role : call.entry->roles) {
      if (role.role != knowledge::Role::SelectDevice) continue;
      const std::string_view param = context_.program.text(role.param);
      const ir::ExprId expr = context_.index.ArgExpr(call, param);
      if (!expr) continue;
      const ir::Module& module = context_.program.module_of(call.function);
      const ir::Expr& callee = module[ir::CalleeOf(module[call.expr])];
      const bool is_method = callee.kind == ir::ExprKind::Attribute;
      const std::string called = is_method ? knowledge::NameWithMethod(context_.knowledge, *call.entry, ir::AttrOf(callee))
                                           : std::string(context_.program.text(call.entry->name));
      std::string_view sink = called;
      // A method of any object is called by its own name.
      if (sink.starts_with('*')) sink.remove_prefix(1);
      constexpr std::string_view kConstructor = ".__init__";
      if (sink.ends_with(kConstructor)) sink.remove_suffix(kConstructor.size());
      const ir::ExprKind kind = module[expr].kind;
      // From parts of a model to devices: `{"": rank}`.
      for (uint32_t i = 0; kind == ir::ExprKind::Dict && i < ir::DictCount(module[expr]); ++i) {
        Add({call.function, ir::DictItemAt(module, module[expr], i).value}, std::string(sink));
      }
      if (kind == ir::ExprKind::Dict) continue;
      if (kind != ir::ExprKind::List && kind != ir::ExprKind::Tuple) {
        Add({call.function, expr}, std::string(sink));
        continue;
      }
      for (const ir::ExprId item : ir::Items(module, module[expr])) Add({call.function, item}, std::string(sink));
    }
  }

  void AddTexts(ir::ModuleId module_id) {
    for (const ir::ExprKind kind : {ir::ExprKind::FString, ir::ExprKind::Call, ir::ExprKind::Binary}) {
      for (const ir::ExprId id : context_.index.ExprsOf(module_id, kind)) {
        const ir::ExprId number = NumberOfText(module_id, id);
        const FuncId function = number ? FunctionAround(context_, module_id, number) : FuncId::None();
        if (function) Add({function, number}, "`" + Quoted(context_, {function, id}) + "`");
      }
    }
  }

  // f"cuda:{n}", "cuda:{}".format(n), "cuda:%d" % n, "cuda:" + str(n).
  ir::ExprId NumberOfText(ir::ModuleId module_id, ir::ExprId id) const {
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& expr = module[id];
    switch (expr.kind) {
      case ir::ExprKind::FString: {
        for (const ir::ExprId item : ir::Items(module, expr)) {
          if (module[item].kind == ir::ExprKind::Constant) continue;
          std::string_view before = TextOf(context_, {module.file, expr.begin, module[item].begin});
          before = before.substr(0, before.rfind('{'));
          return EndsWithDeviceType(before) ? item : ir::ExprId::None();
        }
        return {};
      }
      case ir::ExprKind::Call: {
        const ir::Expr& callee = module[ir::CalleeOf(expr)];
        if (callee.kind != ir::ExprKind::Attribute || ir::ArgCount(module, expr) != 1) return {};
        if (context_.program.text(ir::AttrOf(callee)) != "format") return {};
        return IsText(module, ir::ObjectOf(callee), "{}") ? ir::ArgAt(module, expr, 0).value : ir::ExprId::None();
      }
      case ir::ExprKind::Binary: {
        const auto op = static_cast<ir::BinaryOp>(expr.op);
        if (op == ir::BinaryOp::Mod && IsText(module, ir::LeftOf(expr), "%d")) return ir::RightOf(expr);
        if (op != ir::BinaryOp::Add || !IsText(module, ir::LeftOf(expr), "")) return {};
        const ir::Expr& right = module[ir::RightOf(expr)];
        const bool is_call = right.kind == ir::ExprKind::Call && ir::ArgCount(module, right) == 1;
        return is_call ? ir::ArgAt(module, right, 0).value : ir::ExprId::None();
      }
      default:
        return {};
    }
  }

  // A text such as "cuda:{}": a type of device, then the mark where the number goes.
  bool IsText(const ir::Module& module, ir::ExprId expr, std::string_view mark) const {
    const ir::Expr& node = module[expr];
    if (node.kind != ir::ExprKind::Constant || ir::ConstantKindOf(node) != ir::ConstantKind::Str || !ir::TextOf(node)) {
      return false;
    }
    std::string_view text = context_.program.text(ir::TextOf(node));
    if (!text.ends_with(mark)) return false;
    text.remove_suffix(mark.size());
    return EndsWithDeviceType(text);
  }

  void Add(const objects::Site& site, std::string sink) {
    const ValueId value = context_.facts.value(context_.program.funcs[site.function].module, site.expr);
    if (value) places_.push_back({.site = site, .ordinal = value, .sink = std::move(sink)});
  }

  const Context& context_;
  std::vector<DevicePlace> places_;
};

}  // namespace

std::vector<DevicePlace> DevicePlaces(const Context& context) { return Search(context).Run(); }

}  // namespace allranks::rules
