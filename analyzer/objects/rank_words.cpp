#include "analyzer/objects/rank_words.h"

#include <algorithm>
#include <string>

#include "analyzer/base/lowered.h"
#include "analyzer/ir/walk.h"

namespace allranks::objects {

RankWords::RankWords(const binding::Program& program, const ProgramIndex& index) : program_(program), index_(index) {
  // Twice: what is given the name of a test is one as well.
  for (int round = 0; round < 2; ++round) {
    for (uint32_t m = 0; m < program.modules.size(); ++m) NoteStores(ir::ModuleId{m});
  }
}

bool RankWords::IsWord(std::string_view name) {
  const std::string text = base::Lowered(name);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"rank", "main", "master", "primary", "zero", "chief", "leader", "coordinator",
                                              "should_save", "process_index"},
      [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

void RankWords::NoteStores(ir::ModuleId module_id) {
  const ir::Module& module = program_.modules[module_id];
  for (uint32_t i = 0; i < module.stmts.size(); ++i) {
    const ir::Stmt& stmt = module[ir::StmtId{i}];
    if (stmt.kind != ir::StmtKind::Assign) continue;
    const FuncId function = index_.FunctionOf(module_id, ir::StmtId{i});
    if (!function || !IsTest(function, ir::AssignedOf(stmt))) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      if (module[target].kind == ir::ExprKind::Name) variables_.insert({function.index, ir::NameOf(module[target])});
      if (module[target].kind == ir::ExprKind::Attribute) attributes_.insert(ir::AttrOf(module[target]));
    }
  }
}

// `rank == 0`, `args.save and is_master(args)`, `is_master()`; not what is made with a rank.
bool RankWords::IsTest(FuncId function, ir::ExprId value) const {
  // `int size;` of C has none.
  if (!value) return false;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& expr = module[value];
  switch (expr.kind) {
    case ir::ExprKind::Bool:
    case ir::ExprKind::Compare:
    case ir::ExprKind::Unary:
      return Speaks(function, value);
    case ir::ExprKind::Conditional:
      return Speaks(function, ir::TestOf(expr));
    case ir::ExprKind::Call:
      return Speaks(function, ir::CalleeOf(expr));
    default:
      return false;
  }
}

// `config["rank"]`, `config.get("rank")`
bool RankWords::IsWordAsKey(const ir::Module& module, ir::ExprId id) const {
  const ir::Expr& expr = module[id];
  ir::ExprId key;
  if (expr.kind == ir::ExprKind::Subscript) key = ir::IndexOf(expr);
  const bool may_get = expr.kind == ir::ExprKind::Call && ir::ArgCount(module, expr) > 0;
  if (may_get && module[ir::CalleeOf(expr)].kind == ir::ExprKind::Attribute) {
    if (program_.text(ir::AttrOf(module[ir::CalleeOf(expr)])) == "get") key = ir::ArgAt(module, expr, 0).value;
  }
  if (!key || module[key].kind != ir::ExprKind::Constant || ir::ConstantKindOf(module[key]) != ir::ConstantKind::Str) return false;
  const base::NameId text = ir::TextOf(module[key]);
  return text && IsWord(program_.text(text));
}

bool RankWords::Speaks(FuncId function, ir::ExprId test, int depth) const {
  constexpr int kDeepest = 8;
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& expr = module[test];
  if (expr.kind == ir::ExprKind::Name) {
    const base::NameId name = ir::NameOf(expr);
    if (IsWord(program_.text(name)) || variables_.contains({function.index, name})) return true;
  }
  if (expr.kind == ir::ExprKind::Attribute) {
    const base::NameId name = ir::AttrOf(expr);
    if (IsWord(program_.text(name)) || attributes_.contains(name)) return true;
  }
  bool found = IsWordAsKey(module, test);
  if (depth < kDeepest) {
    ir::ForEachPart(module, test, [&](ir::ExprId part) { found = found || Speaks(function, part, depth + 1); });
  }
  return found;
}

}  // namespace allranks::objects
