// `switch` as a chain of tests: each group of labels is a test of the subject, its body what runs up to a `break`, what
// it falls through to included.
#include "frontends/cpp/clang/lower_function.h"

namespace allranks::cpp {
namespace {

// Labels and the statements behind them, up to the next label.
struct Group {
  std::vector<const clang::Expr*> labels;
  bool is_default = false;
  std::vector<const clang::Stmt*> stmts;
};

void AddLabels(const clang::Stmt* stmt, std::vector<Group>* groups) {
  bool is_new = true;
  while (const auto* label = llvm::dyn_cast_or_null<clang::SwitchCase>(stmt)) {
    if (is_new) groups->emplace_back();
    is_new = false;
    Group& group = groups->back();
    if (const auto* one = llvm::dyn_cast<clang::CaseStmt>(label)) group.labels.push_back(one->getLHS());
    else group.is_default = true;
    stmt = label->getSubStmt();
  }
  if (stmt != nullptr && !groups->empty()) groups->back().stmts.push_back(stmt);
}

std::vector<Group> GroupsOf(const clang::SwitchStmt& stmt) {
  std::vector<Group> groups;
  const auto* body = llvm::dyn_cast_or_null<clang::CompoundStmt>(stmt.getBody());
  if (body == nullptr) {
    AddLabels(stmt.getBody(), &groups);
    return groups;
  }
  for (const clang::Stmt* child : body->body()) AddLabels(child, &groups);
  return groups;
}

bool HasBreak(const clang::Stmt* stmt) {
  if (stmt == nullptr || llvm::isa<clang::Expr>(stmt)) return false;
  if (llvm::isa<clang::BreakStmt>(stmt)) return true;
  const bool owns_breaks = llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt,
                                     clang::SwitchStmt>(stmt);
  return !owns_breaks && llvm::any_of(stmt->children(), HasBreak);
}

// Statements of a group with those it falls through to, without the `break` at their end.
std::vector<const clang::Stmt*> RunFrom(const std::vector<Group>& groups, size_t at, bool* breaks_inside) {
  std::vector<const clang::Stmt*> run;
  for (; at < groups.size(); ++at) {
    for (const clang::Stmt* stmt : groups[at].stmts) {
      const auto* block = llvm::dyn_cast<clang::CompoundStmt>(stmt);
      const bool ends = block != nullptr && !block->body_empty() && llvm::isa<clang::BreakStmt>(block->body_back());
      if (llvm::isa<clang::BreakStmt>(stmt)) return run;
      if (ends) {
        for (const clang::Stmt* inner : block->body()) {
          if (inner != block->body_back()) run.push_back(inner);
          *breaks_inside = *breaks_inside || (inner != block->body_back() && HasBreak(inner));
        }
        return run;
      }
      *breaks_inside = *breaks_inside || HasBreak(stmt);
      run.push_back(stmt);
      if (llvm::isa<clang::ReturnStmt, clang::ContinueStmt, clang::GotoStmt>(stmt)) return run;
    }
  }
  return run;
}

}  // namespace

// False: it is a chain of tests, and no loop around one.
bool FunctionLowering::Switch(const clang::SwitchStmt& stmt, Stmts* out) {
  Append(stmt.getInit(), out);
  Append(stmt.getConditionVariableDeclStmt(), out);
  const ir::Range range = At(stmt);
  const ir::Range head = At(*stmt.getCond());
  const ir::NameId subject = unit_.Name("switch#" + std::to_string(++used_names_["switch"]));
  const ir::ExprId targets[] = {builder_.Name(head, subject)};
  const ir::ExprId value = Expr(stmt.getCond());
  Flush(out);
  out->push_back(builder_.Assign(head, targets, value));
  const std::vector<Group> groups = GroupsOf(stmt);
  // Each test lies in the `else` of the one before.
  constexpr size_t kMostGroups = 60;
  if (groups.size() > kMostGroups) {
    builder_.AddProblem(ir::ProblemKind::Limit, range, "switch with more than " + std::to_string(kMostGroups) + " arms");
    out->push_back(builder_.OpaqueStmt(range, {}));
    return false;
  }
  bool breaks_inside = false;
  for (size_t i = 0; i < groups.size(); ++i) RunFrom(groups, i, &breaks_inside);
  // A `break` means the switch then.
  const clang::LabelDecl* outer_label = loop_.label;
  if (breaks_inside) loop_.label = nullptr;
  else --loops_;
  ir::BlockId rest;
  ir::ExprId test_of_rest;
  // Each chain is the `else` of the one before; the default comes last, wherever it is written.
  std::vector<size_t> order;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].is_default) order.push_back(i);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].is_default) order.push_back(i);
  }
  for (size_t i = order.size(); i-- > 0;) {
    const Group& group = groups[order[i]];
    Stmts body;
    Sequence(RunFrom(groups, order[i], &breaks_inside), &body);
    if (body.empty()) body.push_back(builder_.Pass(range));
    if (group.is_default) {
      rest = builder_.Block(body);
      continue;
    }
    std::vector<ir::ExprId> tests;
    for (const clang::Expr* label : group.labels) {
      const ir::Range at = At(*label);
      const ir::Comparison same[] = {{ir::CompareOp::Eq, Expr(label)}};
      tests.push_back(builder_.Compare(at, builder_.Name(head, subject), same));
    }
    test_of_rest = tests.size() == 1 ? tests[0] : builder_.Bool(head, ir::BoolOp::Or, tests);
    const ir::StmtId chain[] = {builder_.If(range, test_of_rest, builder_.Block(body), rest)};
    rest = builder_.Block(chain);
  }
  loop_.label = outer_label;
  if (!breaks_inside) ++loops_;
  if (!rest) return false;
  if (!breaks_inside) {
    for (const ir::StmtId inner : builder_.module().statements(rest)) out->push_back(inner);
    return false;
  }
  // A `break` within an arm leaves the switch: a loop that runs once.
  Stmts once(builder_.module().statements(rest).begin(), builder_.module().statements(rest).end());
  once.push_back(builder_.Break(range));
  out->push_back(builder_.While(range, builder_.Constant(range, ir::ConstantKind::True), builder_.Block(once), {}));
  return true;
}

}  // namespace allranks::cpp
