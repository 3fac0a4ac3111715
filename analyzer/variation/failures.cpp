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

// The calls on the way from this one to a file, this one included; kNoFile if it leads to none, or only through more functions than are followed.
uint8_t CallsToFile(const Tables& tables, const ir::Module& module, ir::ExprId site, const CallFact& call) {
  constexpr uint8_t kMostCalls = 3;
  constexpr knowledge::Role kOfFiles[] = {knowledge::Role::ReadFile, knowledge::Role::OpenFile, knowledge::Role::LoadTensors};
  if (module[site].kind != ir::ExprKind::Call) return kNoFile;
  if (call.kind == CallKind::Known) {
    const knowledge::Entry& entry = tables.knowledge[call.entry];
    return std::ranges::any_of(kOfFiles, [&](knowledge::Role role) { return entry.Has(role); }) ? 1 : kNoFile;
  }
  const bool is_own = call.kind == CallKind::Function || call.kind == CallKind::Construct;
  if (!is_own || !call.function) return kNoFile;
  const uint8_t calls = tables.calls_to_file[call.function.index];
  return calls < kMostCalls ? static_cast<uint8_t>(calls + 1) : kNoFile;
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
    return site.begin >= begin && site.end <= end && CallsToFile(tables, module, call.first, call.second) != kNoFile;
  });
}

uint8_t CallsToFile(const Tables& tables, FuncId function, Calls calls) {
  const ir::Module& module = tables.program.module_of(function);
  uint8_t fewest = kNoFile;
  for (const auto& [site, call] : calls) fewest = std::min(fewest, CallsToFile(tables, module, site, call));
  return fewest;
}

}  // namespace allranks::variation
