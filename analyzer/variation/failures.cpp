#include "analyzer/variation/failures.h"

#include <algorithm>

namespace allranks::variation {
namespace {

bool Strikes(const knowledge::Knowledge& knowledge, const ir::Expr& type, knowledge::Strikes whom) {
  const NameId name = type.kind == ir::ExprKind::Name        ? ir::NameOf(type)
                      : type.kind == ir::ExprKind::Attribute ? ir::AttrOf(type)
                                                             : NameId::None();
  return name && knowledge.FindException(name) == whom;
}

bool ReadsAFile(const Tables& tables, FuncId function, const CallFact& call, ir::ExprId site, int depth) {
  constexpr int kDeepest = 2;
  constexpr knowledge::Role kOfFiles[] = {knowledge::Role::ReadFile, knowledge::Role::OpenFile, knowledge::Role::LoadTensors};
  if (tables.program.module_of(function)[site].kind != ir::ExprKind::Call) return false;
  if (call.kind == CallKind::Known) {
    const knowledge::Entry& entry = tables.knowledge[call.entry];
    return std::ranges::any_of(kOfFiles, [&](knowledge::Role role) { return entry.Has(role); });
  }
  const bool is_own = call.kind == CallKind::Function || call.kind == CallKind::Construct;
  if (!is_own || !call.function || depth >= kDeepest) return false;
  return std::ranges::any_of(tables.facts.functions[call.function].calls, [&](const auto& inner) {
    return ReadsAFile(tables, call.function, inner.second, inner.first, depth + 1);
  });
}

}  // namespace

bool StrikesAll(const knowledge::Knowledge& knowledge, const ir::Module& module, ir::ExprId type) {
  if (!type) return false;
  const ir::Expr& expr = module[type];
  if (expr.kind != ir::ExprKind::Tuple) return Strikes(knowledge, expr, knowledge::Strikes::AllRanks);
  for (const ir::ExprId item : ir::Items(module, expr)) {
    if (!StrikesAll(knowledge, module, item)) return false;
  }
  return true;
}

bool StrikesOne(const knowledge::Knowledge& knowledge, const ir::Module& module, ir::ExprId type) {
  if (!type) return true;
  const ir::Expr& expr = module[type];
  if (expr.kind != ir::ExprKind::Tuple) return Strikes(knowledge, expr, knowledge::Strikes::OneRank);
  for (const ir::ExprId item : ir::Items(module, expr)) {
    if (StrikesOne(knowledge, module, item)) return true;
  }
  return false;
}

bool MayFailAlone(const Tables& tables, FuncId function, ir::BlockId block, Calls calls) {
  const ir::Module& module = tables.program.module_of(function);
  const auto stmts = module.statements(block);
  if (stmts.empty() || module.language != ir::Language::Python) return false;
  const uint32_t begin = module[stmts.front()].begin;
  const uint32_t end = module[stmts.back()].end;
  return std::ranges::any_of(calls, [&](const auto& call) {
    const ir::Expr& site = module[call.first];
    return site.begin >= begin && site.end <= end && ReadsAFile(tables, function, call.second, call.first, 0);
  });
}

}  // namespace allranks::variation
