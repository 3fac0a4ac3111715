#include "analyzer/objects/other_ways.h"

namespace allranks::objects {
namespace {

void AddBlock(const ir::Module& module, ir::BlockId block, std::vector<TextRange>& ways) {
  const auto stmts = block ? module.statements(block) : decltype(module.statements(block))();
  if (!stmts.empty()) ways.push_back({module[stmts.front()].begin, module[stmts.back()].end});
}

bool EndsInReturn(const ir::Module& module, ir::BlockId block) {
  if (!block) return false;
  const auto stmts = module.statements(block);
  return !stmts.empty() && module[stmts.back()].kind == ir::StmtKind::Return;
}

}  // namespace

std::vector<TextRange> WaysBeside(const ir::Module& module, const ir::Tree& tree, ir::StmtId place, uint32_t begin) {
  std::vector<TextRange> ways;
  for (ir::StmtId at = place; at; at = tree.Parent(at)) {
    const ir::BlockId own = tree.BlockOf(at);
    for (const ir::StmtId before : module.statements(own)) {
      if (before == at) break;
      if (module[before].kind != ir::StmtKind::If || module[before].begin < begin) continue;
      for (const ir::BlockId arm : {ir::BodyOf(module[before]), ir::ElseBlockOf(module[before])}) {
        if (EndsInReturn(module, arm)) AddBlock(module, arm, ways);
      }
    }
    const ir::StmtId around = tree.Parent(at);
    if (!around || module[around].kind != ir::StmtKind::If) continue;
    for (const ir::BlockId arm : {ir::BodyOf(module[around]), ir::ElseBlockOf(module[around])}) {
      if (arm != own) AddBlock(module, arm, ways);
    }
  }
  return ways;
}

}  // namespace allranks::objects
