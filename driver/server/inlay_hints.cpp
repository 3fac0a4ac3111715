#include "analyzer/traces/difference.h"
#include "driver/server/requests.h"

namespace allranks::server {
namespace {

using traces::RankSet;

std::string NameOfJob(const traces::World& world) {
  const std::string processes = world.per_node == 1 ? "one process" : std::to_string(world.per_node) + " processes";
  if (world.nodes == 1) return "one node with " + processes;
  return std::to_string(world.nodes) + " nodes with " + processes + " each";
}

// Walks the blocks of each function; where the ranks that get to a statement are fewer than those that got to the one
// before it, that statement's line gets a hint.
class HintWriter {
 public:
  HintWriter(const Target& target, const Range& range)
      : target_(target), indices_(target.workspace.indices()), module_(target.ir()), world_(objects::SmallJob(target.snapshot.analysed.facts.job)),
        begin_(target.OffsetAt(range.start)), end_(target.OffsetAt(range.end)) {
    first_expr_.resize(module_.stmts.size());
    const ir::Tree& tree = indices_.index.tree(target.module);
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      const ir::StmtId stmt = tree.StatementOf(ir::ExprId{i});
      if (stmt && !first_expr_[stmt]) first_expr_[stmt] = ir::ExprId{i};
    }
  }

  Json Run() {
    for (uint32_t i = 0; i < module_.functions.size(); ++i) {
      const ir::Function& function = module_.functions[ir::FunctionId{i}];
      const bool is_far = i != 0 && (function.end < begin_ || function.begin > end_);
      if (is_far || !function.name) continue;
      function_ = target_.snapshot.analysed.program.func(target_.module, ir::FunctionId{i});
      AddBlock(function.body, RankSet::All(world_.size()));
    }
    return std::move(hints_);
  }

 private:
  // Depth is bounded (ir::kMaxDepth).
  void AddBlock(ir::BlockId block, RankSet ranks) {
    for (const ir::StmtId id : module_.statements(block)) {
      const ir::Stmt& stmt = module_[id];
      if (stmt.begin > end_) return;
      if (stmt.end < begin_ || stmt.kind == ir::StmtKind::FunctionDef || stmt.kind == ir::StmtKind::ClassDef) continue;
      if (first_expr_[id]) {
        const RankSet here = indices_.ranks.At({function_, first_expr_[id]}, world_);
        if (here != ranks && here != RankSet::All(world_.size()) && !here.empty()) AddHint(stmt, here);
        ranks = here;
      }
      AddParts(stmt, ranks);
    }
  }

  void AddParts(const ir::Stmt& stmt, RankSet ranks) {
    switch (stmt.kind) {
      case ir::StmtKind::If:
      case ir::StmtKind::For:
      case ir::StmtKind::While:
        AddBlock(ir::BodyOf(stmt), ranks);
        AddBlock(ir::ElseBlockOf(stmt), ranks);
        break;
      case ir::StmtKind::With:
        AddBlock(ir::BodyOf(stmt), ranks);
        break;
      case ir::StmtKind::Try:
        AddBlock(ir::TriedOf(stmt), ranks);
        for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) AddBlock(handler.body, ranks);
        AddBlock(ir::TryElseOf(stmt), ranks);
        AddBlock(ir::FinallyOf(stmt), ranks);
        break;
      default:
        break;
    }
  }

  void AddHint(const ir::Stmt& stmt, RankSet ranks) {
    const std::string_view text = target_.snapshot.analysed.files[target_.file].text;
    const auto end_of_line = static_cast<uint32_t>(std::min(text.find_first_of("\r\n", stmt.begin), text.size()));
    const DocumentRange place = target_.places().Of({target_.file, end_of_line, end_of_line});
    if (place.uri != target_.uri) return;
    std::string name = traces::NameOfRanks(world_, ranks);
    const std::string tooltip = "reached only by " + name + ", in a job of " + NameOfJob(world_);
    for (const std::string_view word : {"ranks ", "rank "}) {
      if (name.starts_with(word)) name = name.substr(word.size());
    }
    hints_.push_back({{"position", WritePosition(place.range.start)}, {"label", "ranks: " + name},
                      {"paddingLeft", true}, {"tooltip", tooltip}});
  }

  const Target& target_;
  const Indices& indices_;
  const ir::Module& module_;
  const traces::World world_;
  uint32_t begin_;
  uint32_t end_;
  base::IdVector<ir::StmtId, ir::ExprId> first_expr_;
  variation::FuncId function_;
  Json hints_ = Json::array();
};

}  // namespace

Json InlayHints(const Target& target, const Range& range) {
  if (!target.module) return Json::array();
  return HintWriter(target, range).Run();
}

}  // namespace allranks::server
