#include "frontends/launch/python_environment.h"

#include <algorithm>

namespace allranks::launch_files {
namespace {

using ir::ExprId;
using ir::ExprKind;
using launch::Setting;

// A dict of dicts of dicts.
constexpr int kDeepestEnvironment = 8;
constexpr int kMostStepsOfEnvironment = 10'000;  // of one environment

}  // namespace

PythonEnvironment::PythonEnvironment(PythonNames names) : in_(std::move(names)) {
  for (uint32_t f = 0; f < in_.module.functions.size(); ++f) NoteStores(ir::FunctionId{f});
  std::ranges::stable_sort(stores_, {}, &Store::at);
}

void PythonEnvironment::NoteStores(ir::FunctionId function) {
  const ir::BlockId body = in_.module.functions[function].body;
  if (!body) return;
  for (const ir::StmtId id : in_.module.statements(body)) {
    const ir::Stmt& stmt = in_.module[id];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    for (const ExprId target : ir::TargetsOf(in_.module, stmt)) NoteStore(function, target, ir::AssignedOf(stmt));
  }
}

void PythonEnvironment::NoteStore(ir::FunctionId function, ExprId target, ExprId value) {
  const ir::Expr& expr = in_.module[target];
  if (expr.kind != ExprKind::Subscript) return;
  const ExprId object = ir::ObjectOf(expr);
  const std::string_view key = KeyOf(ir::IndexOf(expr));
  const std::string_view dict = NameOf(object);
  const bool is_environ = IsEnviron(object);
  if (key.empty() || (!is_environ && dict.empty())) return;
  std::vector<Setting> setting;
  Add(key, value, setting);
  stores_.push_back({function, expr.begin, is_environ ? std::string_view() : dict, std::move(setting[0])});
}

void PythonEnvironment::Add(std::string_view key, ExprId value, std::vector<Setting>& settings) const {
  settings.push_back({std::string(key), in_.text(value), in_.module.span(value)});
}

std::vector<Setting> PythonEnvironment::Of(ExprId call, ExprId env) const {
  std::vector<Setting> settings;
  int steps = 0;
  if (env) AddFrom(call, env, 0, steps, settings);
  else AddStores(call, "", settings);
  return settings;
}

void PythonEnvironment::AddStores(ExprId call, std::string_view dict, std::vector<Setting>& settings) const {
  const ir::FunctionId own = FunctionOf(call);
  for (const Store& store : stores_) {
    const bool is_before = store.at < in_.module[call].begin && (store.function == own || (dict.empty() && store.function == ir::kTopLevel));
    if (store.dict == dict && is_before) settings.push_back(store.setting);
  }
}

void PythonEnvironment::AddFrom(ExprId call, ExprId env, int depth, int& steps, std::vector<Setting>& settings) const {
  if (depth > kDeepestEnvironment || ++steps > kMostStepsOfEnvironment) return;
  const ir::Expr& expr = in_.module[env];
  if (IsEnviron(env)) return AddStores(call, "", settings);
  if (expr.kind == ExprKind::Dict) {
    for (uint32_t i = 0; i < ir::DictCount(expr); ++i) {
      const ir::DictItem item = ir::DictItemAt(in_.module, expr, i);
      if (!item.key) AddFrom(call, item.value, depth + 1, steps, settings);
      else if (const std::string_view key = KeyOf(item.key); !key.empty()) Add(key, item.value, settings);
    }
  } else if (expr.kind == ExprKind::Name) {
    const auto assigned = in_.assigned.find(NameOf(env));
    const bool is_seen = assigned != in_.assigned.end() && assigned->second && !IsInside(env, assigned->second);
    if (is_seen) AddFrom(call, assigned->second, depth + 1, steps, settings);
    AddStores(call, NameOf(env), settings);
  } else if (expr.kind == ExprKind::Binary) {
    AddFrom(call, ir::LeftOf(expr), depth + 1, steps, settings);
    AddFrom(call, ir::RightOf(expr), depth + 1, steps, settings);
  } else if (expr.kind == ExprKind::Call) {
    // `os.environ.copy()`, `dict(os.environ, NAME="1")`
    const ir::Expr& callee = in_.module[ir::CalleeOf(expr)];
    if (callee.kind == ExprKind::Attribute && in_.names.View(ir::AttrOf(callee)) == "copy") AddFrom(call, ir::ObjectOf(callee), depth + 1, steps, settings);
    if (NameOf(ir::CalleeOf(expr)) != "dict") return;
    for (uint32_t i = 0; i < ir::ArgCount(in_.module, expr); ++i) {
      const ir::Arg arg = ir::ArgAt(in_.module, expr, i);
      if (arg.kind == ir::ArgKind::Keyword) Add(in_.names.View(arg.keyword), arg.value, settings);
      else AddFrom(call, arg.value, depth + 1, steps, settings);
    }
  }
}

// `env = {**env, "NAME": "1"}`
bool PythonEnvironment::IsInside(ExprId part, ExprId whole) const {
  return in_.module[whole].begin <= in_.module[part].begin && in_.module[part].end <= in_.module[whole].end;
}

// The innermost one that it stands in.
ir::FunctionId PythonEnvironment::FunctionOf(ExprId id) const {
  const uint32_t at = in_.module[id].begin;
  ir::FunctionId found = ir::kTopLevel;
  uint32_t shortest = UINT32_MAX;
  for (uint32_t f = 0; f < in_.module.functions.size(); ++f) {
    const ir::Function& function = in_.module.functions[ir::FunctionId{f}];
    if (ir::FunctionId{f} == ir::kTopLevel || at < function.begin || at >= function.end || function.end - function.begin >= shortest) continue;
    shortest = function.end - function.begin;
    found = ir::FunctionId{f};
  }
  return found;
}

bool PythonEnvironment::IsEnviron(ExprId id) const {
  const ir::Expr& expr = in_.module[id];
  const bool is_attribute = expr.kind == ExprKind::Attribute && in_.names.View(ir::AttrOf(expr)) == "environ";
  const auto bound = in_.imported.find(NameOf(is_attribute ? ir::ObjectOf(expr) : id));
  return bound != in_.imported.end() && bound->second == (is_attribute ? "os" : "os.environ");
}

std::string_view PythonEnvironment::NameOf(ExprId id) const {
  return in_.module[id].kind == ExprKind::Name ? in_.names.View(ir::NameOf(in_.module[id])) : std::string_view();
}

std::string_view PythonEnvironment::KeyOf(ExprId id) const {
  const ir::Expr& expr = in_.module[id];
  const bool is_text = expr.kind == ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str && ir::TextOf(expr);
  return is_text ? in_.names.View(ir::TextOf(expr)) : std::string_view();
}

}  // namespace allranks::launch_files
