// OpenMP: what the threads of one rank run. A region is run by each of its threads, so by the code alone nobody knows how
// often; what one of them runs (`single`, `master`), and rounds that they share out (`for`, `sections`), run once.
#include <clang/Basic/OpenMPKinds.h>

#include <utility>

#include "frontends/cpp/clang/lower_function.h"

namespace allranks::cpp {
namespace {

const clang::Stmt* BodyOf(const clang::OMPExecutableDirective& directive) {
  if (!directive.hasAssociatedStmt()) return nullptr;
  const clang::Stmt* body = directive.getAssociatedStmt();
  while (const auto* captured = llvm::dyn_cast_or_null<clang::CapturedStmt>(body)) body = captured->getCapturedStmt();
  return body;
}

bool IsRunByEachThread(llvm::omp::Directive kind) {
  using llvm::omp::Directive;
  return kind == Directive::OMPD_parallel || kind == Directive::OMPD_teams || kind == Directive::OMPD_target_parallel ||
         kind == Directive::OMPD_target_teams;
}

// What one thread runs, or all threads a share of; `critical` and the like are run by each.
bool IsShared(llvm::omp::Directive kind) {
  const bool is_of_one = kind == llvm::omp::OMPD_master || kind == llvm::omp::OMPD_masked;
  return is_of_one || clang::isOpenMPWorksharingDirective(kind) || clang::isOpenMPDistributeDirective(kind);
}

// Whether threads share out something in it.
bool HasSharedPart(const clang::Stmt* stmt) {
  if (stmt == nullptr) return false;
  const auto* directive = llvm::dyn_cast<clang::OMPExecutableDirective>(stmt);
  if (directive != nullptr && IsShared(directive->getDirectiveKind())) return true;
  for (const clang::Stmt* child : stmt->children()) {
    if (HasSharedPart(child)) return true;
  }
  return false;
}

bool HasCall(const clang::Stmt* stmt) {
  if (stmt == nullptr) return false;
  if (llvm::isa<clang::CallExpr>(stmt)) return true;
  for (const clang::Stmt* child : stmt->children()) {
    if (HasCall(child)) return true;
  }
  return false;
}

// `num_threads(2)`; null: nobody says.
const clang::Expr* NumberOfThreads(const clang::OMPExecutableDirective& directive) {
  const auto* clause = directive.getSingleClause<clang::OMPNumThreadsClause>();
  return clause == nullptr ? nullptr : clause->getNumThreads();
}

}  // namespace

void FunctionLowering::Directive(const clang::OMPExecutableDirective& directive, Stmts* out) {
  const clang::Stmt* body = BodyOf(directive);
  if (body == nullptr) return;
  if (!IsRunByEachThread(directive.getDirectiveKind())) return Append(body, out);
  EachThread(*body, NumberOfThreads(directive), out);
}

void FunctionLowering::EachThread(const clang::Stmt& body, const clang::Expr* threads, Stmts* out) {
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&body);
  const clang::Stmt* const alone[] = {&body};
  const std::span<const clang::Stmt* const> stmts =
      block ? std::span<const clang::Stmt* const>(block->body_begin(), block->size()) : std::span<const clang::Stmt* const>(alone);
  for (size_t i = 0; i < stmts.size();) {
    size_t end = i;
    while (end < stmts.size() && HasCall(stmts[end]) && !HasSharedPart(stmts[end])) ++end;
    if (end == i) {
      Append(stmts[i++], out);
      continue;
    }
    const ir::Range range = At(*stmts[i]);
    Stmts by_each;
    const Around outer_loop = std::exchange(loop_, {});
    Sequence(stmts.subspan(i, end - i), &by_each);
    loop_ = outer_loop;
    if (!by_each.empty()) out->push_back(RoundOfThreads(range, threads, builder_.Block(by_each), out));
    i = end;
  }
}

ir::StmtId FunctionLowering::RoundOfThreads(ir::Range range, const clang::Expr* threads, ir::BlockId body, Stmts* out) {
  if (threads == nullptr) return builder_.While(range, builder_.Opaque(range, {}), body, {});
  const ir::Arg count[] = {{.value = Expr(threads)}};
  Flush(out);
  const ir::ExprId rounds = builder_.Call(range, BuiltinName("range", range), count);
  return builder_.For(range, false, builder_.Name(range, unit_.Name("(thread)")), rounds, body, {});
}

}  // namespace allranks::cpp
