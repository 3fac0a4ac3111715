#include "frontends/launch/python_values.h"

#include "analyzer/ir/bindings.h"

namespace allranks::launch_files {
namespace {

using ir::ExprId;
using ir::ExprKind;
using ir::FunctionId;

void Say(std::map<std::string_view, ExprId>& values, std::string_view name, ExprId value) {
  const auto [known, is_new] = values.try_emplace(name, value);
  if (!is_new) known->second = ExprId::None();
}

ExprId Known(const std::map<std::string_view, ExprId>& values, std::string_view name, ExprId otherwise) {
  const auto known = values.find(name);
  return known != values.end() && known->second ? known->second : otherwise;
}

}  // namespace

PythonValues::PythonValues(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& function = module_.functions[FunctionId{i}];
    if (function.owner && !function.params.empty()) selves_.insert(Text(function.params[0].name));
  }
  NoteClassBodies();
  for (uint32_t i = 0; i < module_.stmts.size(); ++i) {
    if (!of_class_.contains(i)) NoteStatement(module_.stmts[ir::StmtId{i}]);
  }
  NoteCalls();
}

ExprId PythonValues::Followed(ExprId id) const {
  const ir::Expr& expr = module_[id];
  if (expr.kind == ExprKind::Attribute) {
    return selves_.contains(NameOf(ir::ObjectOf(expr))) ? Known(attributes_, Text(ir::AttrOf(expr)), id) : id;
  }
  FunctionId function;
  if (NameOf(id).empty() || ParamNamed(id, function) == nullptr) return Known(variables_, NameOf(id), id);
  const std::vector<ExprId> handed = HandedTo(id);
  return handed.size() == 1 ? handed.front() : id;
}

std::vector<ExprId> PythonValues::HandedTo(ExprId name) const {
  FunctionId id;
  const ir::Param* param = NameOf(name).empty() ? nullptr : ParamNamed(name, id);
  if (param == nullptr) return {};
  const ir::Function& function = module_.functions[id];
  // A parameter that is assigned is another value from then on.
  if (const auto assigned = variables_.find(NameOf(name)); assigned != variables_.end()) {
    const bool is_elsewhere = assigned->second && (module_[assigned->second].begin < function.begin || module_[assigned->second].begin >= function.end);
    if (!is_elsewhere) return {};
  }
  std::vector<ExprId> values;
  for (const ExprId call : CallsOf(function)) {
    const ExprId value = Handed(module_[call], function, *param);
    if (value) values.push_back(value);
  }
  return values;
}

std::string_view PythonValues::Text(base::NameId name) const { return name ? names_.View(name) : std::string_view(); }

std::string_view PythonValues::NameOf(ExprId id) const {
  return id && module_[id].kind == ExprKind::Name ? Text(ir::NameOf(module_[id])) : std::string_view();
}

// What a class says is each object's, unless a decorator makes arguments of it.
void PythonValues::NoteClassBodies() {
  for (uint32_t i = 0; i < module_.classes.size(); ++i) {
    const ir::Class& one = module_.classes[ir::ClassId{i}];
    for (const ir::StmtId id : module_.statements(one.body)) {
      const ir::Stmt& stmt = module_[id];
      of_class_.insert(id.index);
      if (stmt.kind != ir::StmtKind::Assign && stmt.kind != ir::StmtKind::AnnAssign) continue;
      const ExprId value = one.decorators.empty() && stmt.kind == ir::StmtKind::Assign ? ir::AssignedOf(stmt) : ExprId::None();
      ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) { Say(attributes_, Text(binding.name), value); });
    }
  }
}

void PythonValues::NoteStatement(const ir::Stmt& stmt) {
  if (stmt.kind == ir::StmtKind::Assign) {
    for (const ExprId target : ir::TargetsOf(module_, stmt)) NoteTarget(target, ir::AssignedOf(stmt));
    return;
  }
  if (stmt.kind == ir::StmtKind::AugAssign) {
    // Lists and texts that grow are followed step by step (built_lists.h).
    if (module_[ir::ValueOf(stmt)].kind == ExprKind::Attribute) NoteTarget(ir::ValueOf(stmt), ExprId::None());
    return;
  }
  // `for x in ...`, `with ... as x`
  ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) {
    if (binding.name && !binding.function && !binding.class_id) variables_[Text(binding.name)] = ExprId::None();
  });
}

void PythonValues::NoteTarget(ExprId target, ExprId value) {
  const ir::Expr& expr = module_[target];
  if (expr.kind == ExprKind::Name) return Say(variables_, NameOf(target), value);
  if (expr.kind == ExprKind::Attribute) {
    return Say(attributes_, Text(ir::AttrOf(expr)), selves_.contains(NameOf(ir::ObjectOf(expr))) ? value : ExprId::None());
  }
  ir::ForEachTargetName(module_, target, [&](base::NameId name) { variables_[Text(name)] = ExprId::None(); });
}

// A function whose name is used for more than calls of it may be called by anybody.
void PythonValues::NoteCalls() {
  for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
    const std::string_view name = NameOf(ExprId{i});
    if (!name.empty()) ++uses_[name];
    const ir::Expr& expr = module_[ExprId{i}];
    if (expr.kind != ExprKind::Call) continue;
    const std::string_view callee = NameOf(ir::CalleeOf(expr));
    if (!callee.empty()) calls_[callee].push_back(ExprId{i});
  }
}

// Of the innermost function around a name.
const ir::Param* PythonValues::ParamNamed(ExprId name, FunctionId& function) const {
  const ir::Param* found = nullptr;
  uint32_t begin = 0;
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& one = module_.functions[FunctionId{i}];
    if (one.begin > module_[name].begin || one.end < module_[name].end || (found != nullptr && one.begin < begin)) continue;
    for (const ir::Param& param : one.params) {
      if (param.name != ir::NameOf(module_[name])) continue;
      found = &param;
      function = FunctionId{i};
      begin = one.begin;
    }
  }
  return found;
}

// Those by its name, and of a constructor those by the name of its class; of other methods none is known.
std::vector<ExprId> PythonValues::CallsOf(const ir::Function& function) const {
  const bool is_method = static_cast<bool>(function.owner);
  if (!function.decorators.empty() || (is_method && Text(function.name) != "__init__")) return {};
  const std::string_view name = is_method ? Text(module_.classes[function.owner].name) : Text(function.name);
  const auto calls = calls_.find(name);
  const bool is_called_only = calls != calls_.end() && uses_.at(name) == calls->second.size();
  return is_called_only ? calls->second : std::vector<ExprId>();
}

ExprId PythonValues::Handed(const ir::Expr& call, const ir::Function& function, const ir::Param& param) const {
  if (param.kind == ir::ParamKind::Star || param.kind == ir::ParamKind::DoubleStar) return {};
  const auto index = static_cast<size_t>(&param - function.params.data()) - (function.owner ? 1 : 0);
  for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
    const ir::Arg arg = ir::ArgAt(module_, call, i);
    if (arg.kind != ir::ArgKind::Positional && arg.kind != ir::ArgKind::Keyword) return {};
    const bool is_meant = arg.kind == ir::ArgKind::Keyword ? arg.keyword == param.name : i == index && param.kind != ir::ParamKind::KeywordOnly;
    if (is_meant) return arg.value;
  }
  return param.default_value;
}

}  // namespace allranks::launch_files
