#include "analyzer/ir/outline.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace allranks::ir {
namespace {

class Outline {
 public:
  Outline(const Module& module, std::string_view text) : module_(module), text_(text) {}

  uint64_t Run() {
    AddTextOutside();
    for (const Function& function : module_.functions) AddFunction(function);
    for (const Class& one : module_.classes) AddClass(one);
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
    Add((uint64_t{function.flags} << 2) | (function.is_generator ? 2u : 0u) | (IsStub(module_, function) ? 1u : 0u));
    for (const ExprId decorator : function.decorators) Add(module_[decorator].begin, module_[decorator].end);
    // The text outside holds the heads of those that are nested in none.
    if (function.parent && function.parent != kTopLevel) Add(function.begin, BodyBegin(module_, function));
  }

  void AddClass(const Class& one) {
    Add((uint64_t{one.parent.index} << 32) | one.owner.index);
    const auto statements = module_.statements(one.body);
    Add(one.begin, statements.empty() ? one.end : module_[statements.front()].begin);
  }

  const Module& module_;
  std::string_view text_;
  uint64_t sum_ = 0;
};

}  // namespace

uint64_t OutlineOf(const Module& module, std::string_view text) { return Outline(module, text).Run(); }

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
