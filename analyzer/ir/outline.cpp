#include "analyzer/ir/outline.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "analyzer/ir/bindings.h"

namespace allranks::ir {
namespace {

class Outline {
 public:
  Outline(const Module& module, std::string_view text, const base::Interner& names)
      : module_(module), text_(text), names_(names), calls_of_overridden_(module, names) {}

  uint64_t Run() {
    AddTextOutside();
    for (const Function& function : module_.functions) AddFunction(function);
    for (const Class& one : module_.classes) AddClass(one);
    for (const Stmt& stmt : module_.stmts) {
      if (stmt.kind == StmtKind::Import || stmt.kind == StmtKind::Global) Add(stmt.begin, stmt.end);
    }
    return sum_;
  }

 private:
  void Add(uint64_t number) { sum_ = (sum_ ^ number) * 0x9e3779b97f4a7c15ull + (sum_ >> 29); }
  void Add(std::string_view text) { Add(std::hash<std::string_view>()(text)); }
  void Add(uint32_t begin, uint32_t end) {
    if (begin < end && end <= text_.size()) Add(text_.substr(begin, end - begin));
  }

  // Functions stand in the order in which they end or begin: neither matters here.
  void AddTextOutside() {
    std::vector<std::pair<uint32_t, uint32_t>> bodies;
    for (const Function& function : module_.functions) {
      if (function.parent == kTopLevel) bodies.emplace_back(BodyBegin(module_, function), function.end);
    }
    std::ranges::sort(bodies);
    uint32_t at = 0;
    for (const auto& [begin, end] : bodies) {
      Add(at, begin);
      at = std::max(at, end);
    }
    Add(at, static_cast<uint32_t>(text_.size()));
  }

  void AddFunction(const Function& function) {
    Add((uint64_t{function.parent.index} << 32) | function.owner.index);
    const bool is_stub = IsStub(module_, function);
    const bool calls_overridden = function.owner && calls_of_overridden_.In(function);
    Add((uint64_t{function.flags} << 3) | (function.is_generator ? 4u : 0u) | (calls_overridden ? 2u : 0u) | (is_stub ? 1u : 0u));
    if (is_stub) Add(BodyBegin(module_, function), function.end);
    for (const ExprId decorator : function.decorators) Add(module_[decorator].begin, module_[decorator].end);
    // The text outside holds the heads of those that are nested in none.
    if (function.parent && function.parent != kTopLevel) Add(function.begin, BodyBegin(module_, function));
  }

  void AddClass(const Class& one) {
    Add((uint64_t{one.parent.index} << 32) | one.owner.index);
    const auto statements = module_.statements(one.body);
    Add(one.begin, statements.empty() ? one.end : module_[statements.front()].begin);
    // The text outside holds all of those that are nested in none.
    if (one.parent == kTopLevel) return;
    AddNamesAround(one);
    for (const StmtId id : statements) {
      if (module_[id].kind != StmtKind::FunctionDef) Add(module_[id].begin, module_[id].end);
    }
  }

  // A variable of a function around hides what a base would be else.
  void AddNamesAround(const Class& one) {
    for (FunctionId around = one.parent; around && around != kTopLevel; around = module_.functions[around].parent) {
      ForEachBindingIn(module_, module_.functions[around].body, [&](const Binding& binding) {
        if (binding.name) Add(names_.View(binding.name));
      });
    }
  }

  const Module& module_;
  std::string_view text_;
  const base::Interner& names_;
  CallsOfOverridden calls_of_overridden_;
  uint64_t sum_ = 0;
};

}  // namespace

uint64_t OutlineOf(const Module& module, std::string_view text, const base::Interner& names) { return Outline(module, text, names).Run(); }

CallsOfOverridden::CallsOfOverridden(const Module& module, const base::Interner& names) : super_(names.Find("super")) {
  for (const Expr& expr : module.exprs) {
    if (expr.kind == ExprKind::Attribute) places_[AttrOf(expr)].push_back(expr.begin);
    if (expr.kind == ExprKind::Name && super_ && NameOf(expr) == super_) places_[super_].push_back(expr.begin);
  }
  for (auto& [name, places] : places_) std::ranges::sort(places);
}

bool CallsOfOverridden::In(const Function& method) const {
  const auto stands_in = [&](NameId name) {
    const auto places = name ? places_.find(name) : places_.end();
    if (places == places_.end()) return false;
    const auto first = std::ranges::lower_bound(places->second, method.begin);
    return first != places->second.end() && *first < method.end;
  };
  return stands_in(super_) || stands_in(method.name);
}

uint32_t BodyBegin(const Module& module, const Function& function) {
  const auto statements = module.statements(function.body);
  return statements.empty() ? function.end : module[statements.front()].begin;
}

bool IsStub(const Module& module, const Function& function) {
  return std::ranges::all_of(module.statements(function.body), [&](StmtId id) {
    const Stmt& stmt = module[id];
    const bool is_constant = stmt.kind == StmtKind::Expr && ValueOf(stmt) &&
                             module[ValueOf(stmt)].kind == ExprKind::Constant;
    return stmt.kind == StmtKind::Raise || stmt.kind == StmtKind::Pass || is_constant;
  });
}

}  // namespace allranks::ir
