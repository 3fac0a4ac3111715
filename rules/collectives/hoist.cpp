#include "rules/collectives/hoist.h"

#include <algorithm>
#include <optional>

#include "analyzer/ir/walk.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using findings::Edit;

class Hoist {
 public:
  Hoist(const Context& context, const traces::Difference& difference)
      : context_(context), difference_(difference), module_id_(context.program.funcs[difference.condition_function].module),
        module_(context.program.modules[module_id_]) {}

  std::vector<Edit> Edits() const {
    const std::optional<ir::StmtId> branch = Branch();
    // Of a file that could not be read whole it is not known what stands around the branch.
    if (!branch || !module_.problems.empty()) return {};
    const auto body = module_.statements(ir::BodyOf(module_[*branch]));
    const auto at = std::ranges::find_if(body, [&](ir::StmtId stmt) { return HoldsPlace(stmt); });
    if (at == body.end() || !IsOneLine(*at)) return {};
    const std::string line(TextOf(context_, module_.span(*at)));
    if (body.size() == 1) return {Edit{.span = module_.span(*branch), .replacement = line}};
    if (at == body.begin()) return {InsertBefore(context_, module_id_, *branch, line), RemoveLine(context_, module_id_, *at)};
    if (std::next(at) != body.end() || UsesNamesOf(body, *at)) return {};
    return {RemoveLine(context_, module_id_, *at), InsertAfter(context_, module_id_, *branch, line)};
  }

 private:
  // The `if` whose test differs between ranks: with no other arm, on a line of its own.
  std::optional<ir::StmtId> Branch() const {
    if (module_.language != ir::Language::Python || !difference_.condition_expr) return std::nullopt;
    if (difference_.function != difference_.condition_function) return std::nullopt;
    const ir::StmtId stmt = context_.index.tree(module_id_).StatementOf(difference_.condition_expr);
    if (!stmt || module_[stmt].kind != ir::StmtKind::If || ir::ElseBlockOf(module_[stmt])) return std::nullopt;
    const bool is_test = ir::ValueOf(module_[stmt]) == difference_.condition_expr;
    return is_test && BeginsLine(context_, module_id_, stmt) && !IsElif(stmt) ? std::optional(stmt) : std::nullopt;
  }

  bool IsElif(ir::StmtId stmt) const { return TextOf(context_, module_.span(stmt)).starts_with("elif"); }

  bool HoldsPlace(ir::StmtId stmt) const {
    return module_[stmt].begin <= difference_.place.begin && difference_.place.end <= module_[stmt].end;
  }

  // The call is all that the line does: `torch.save(model.state_dict(), path)` writes as well.
  bool IsOneLine(ir::StmtId stmt) const {
    const ir::StmtKind kind = module_[stmt].kind;
    if (kind != ir::StmtKind::Expr && kind != ir::StmtKind::Assign) return false;
    const ir::ExprId value = kind == ir::StmtKind::Expr ? ir::ValueOf(module_[stmt]) : ir::AssignedOf(module_[stmt]);
    const bool is_call = module_.span(value) == difference_.place;
    return is_call && BeginsLine(context_, module_id_, stmt) && TextOf(context_, module_.span(stmt)).find('\n') == std::string_view::npos;
  }

  // What the other ranks would not have.
  bool UsesNamesOf(std::span<const ir::StmtId> body, ir::StmtId moved) const {
    std::vector<base::NameId> made;
    for (const ir::StmtId stmt : body) {
      // Names that are bound deeper down are not looked for.
      if (module_[stmt].kind != ir::StmtKind::Expr && module_[stmt].kind != ir::StmtKind::Assign) return true;
      if (module_[stmt].kind != ir::StmtKind::Assign) continue;
      for (const ir::ExprId target : ir::TargetsOf(module_, module_[stmt])) AddNames(target, made);
    }
    bool uses = false;
    ir::ForEachExpr(module_, module_[moved], [&](ir::ExprId expr) { uses = uses || ir::Mentions(module_, expr, made); });
    return uses;
  }

  void AddNames(ir::ExprId expr, std::vector<base::NameId>& names) const {
    if (module_[expr].kind == ir::ExprKind::Name) names.push_back(ir::NameOf(module_[expr]));
    ir::ForEachPart(module_, expr, [&](ir::ExprId part) { AddNames(part, names); });
  }

  const Context& context_;
  const traces::Difference& difference_;
  ir::ModuleId module_id_;
  const ir::Module& module_;
};

}  // namespace

void AddHoist(const Context& context, const traces::Difference& difference, findings::Finding& finding) {
  if (!difference.condition_function) return;
  std::vector<Edit> edits = Hoist(context, difference).Edits();
  if (edits.empty()) return;
  finding.fixes.push_back(MakeFix("let every rank make this call", Applicability::Unsafe, std::move(edits)));
}

}  // namespace allranks::rules
