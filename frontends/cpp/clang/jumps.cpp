// `goto`, by structure. The IR has no labels, so what lies between a jump and its label becomes a loop that runs once, and
// the jump leaves it; from the label back to the last jump to it, a loop that the jump begins again:
//
//   if (a) goto done;            while True:                       again:               while True:
//   work();                        if a: break                     work();                work()
//   done:                          work()                          if (a) goto again;     if a: continue
//                                  break                                                  break
//
// A jump out of a loop or another section, where `break` would mean that one, notes that it was taken and leaves it; behind it
// the jump is made again if that was noted. One to a label whose section does not lie around it runs a copy of what follows the
// label in the body of the function, and returns. Of any other (into a block, say) it is said that the function was not read to
// its end.
#include <algorithm>

#include "frontends/cpp/clang/lower_function.h"

namespace allranks::cpp {
namespace {

// Statements that are copied for one jump, and for all of a function.
constexpr size_t kLongestCopy = 60;
constexpr size_t kMostCopied = 600;

const clang::LabelDecl* LabelOf(const clang::Stmt* stmt) {
  const auto* labelled = llvm::dyn_cast<clang::LabelStmt>(stmt);
  return labelled == nullptr ? nullptr : labelled->getDecl();
}

// Whether a jump to the label stands in a statement.
bool JumpsTo(const clang::Stmt* stmt, const clang::LabelDecl* label) {
  if (stmt == nullptr || llvm::isa<clang::LambdaExpr>(stmt)) return false;
  if (const auto* jump = llvm::dyn_cast<clang::GotoStmt>(stmt)) return jump->getLabel() == label;
  return llvm::any_of(stmt->children(), [&](const clang::Stmt* child) { return JumpsTo(child, label); });
}

const clang::Stmt* Unlabelled(const clang::Stmt* stmt) {
  while (const auto* labelled = llvm::dyn_cast<clang::LabelStmt>(stmt)) stmt = labelled->getSubStmt();
  return stmt;
}

size_t Statements(const clang::Stmt* stmt) {
  if (stmt == nullptr || llvm::isa<clang::Expr>(stmt)) return 1;
  size_t count = 1;
  for (const clang::Stmt* child : stmt->children()) count += Statements(child);
  return count;
}

bool IsLeft(std::span<const clang::Stmt* const> stmts) {
  return std::ranges::any_of(stmts, [](const clang::Stmt* stmt) { return Leaves(stmt, true, true); });
}

}  // namespace

// Lowers what begins at a statement and is left by jumps to one label, or begun again by them. Returns the first statement
// behind it; `at` where nothing of that kind begins here.
size_t FunctionLowering::Section(std::span<const clang::Stmt* const> stmts, size_t at, Stmts* out) {
  for (size_t end = stmts.size(); end-- > at + 1;) {
    const clang::LabelDecl* label = LabelOf(stmts[end]);
    if (label == nullptr || !JumpsTo(stmts[at], label) || IsLeft(stmts.subspan(at, end - at))) continue;
    RunSection(stmts.subspan(at, end - at), label, false, out);
    return end;
  }
  const clang::LabelDecl* label = LabelOf(stmts[at]);
  if (label == nullptr || (loop_.label == label && loop_.is_again)) return at;
  size_t end = stmts.size();
  while (end > at && !JumpsTo(stmts[end - 1], label)) --end;
  if (end == at || IsLeft(stmts.subspan(at, end - at))) return at;
  RunSection(stmts.subspan(at, end - at), label, true, out);
  return end;
}

void FunctionLowering::RunSection(std::span<const clang::Stmt* const> stmts, const clang::LabelDecl* label, bool is_again,
                                  Stmts* out) {
  const ir::Range range = At(*stmts[0]);
  const Around outer_loop = std::exchange(loop_, {.label = label, .is_again = is_again});
  const size_t at = out->size();
  Jumps outer = std::exchange(leaving_, {});
  Stmts body;
  ++depth_;
  open_.push_back(label);
  Sequence(stmts, &body);
  open_.pop_back();
  --depth_;
  loop_ = outer_loop;
  body.push_back(builder_.Break(range));
  out->push_back(builder_.While(range, builder_.Constant(range, ir::ConstantKind::True), builder_.Block(body), {}));
  JumpOn(at, std::move(outer), out);
}

// Behind a loop that stands in `out` from `at` on: the jumps that it was left by, made again.
void FunctionLowering::JumpOn(size_t at, Jumps outer, Stmts* out) {
  const Jumps jumps = std::exchange(leaving_, std::move(outer));
  for (const auto& [label, range] : jumps) {
    const ir::ExprId reset[] = {builder_.Name(range, TakenName(*label))};
    out->insert(out->begin() + static_cast<ptrdiff_t>(at),
                builder_.Assign(range, reset, builder_.Constant(range, ir::ConstantKind::False)));
    Stmts again;
    Leave(*label, range, &again);
    const ir::ExprId is_taken = builder_.Name(range, TakenName(*label));
    out->push_back(builder_.If(range, is_taken, builder_.Block(again), {}));
  }
}

ir::NameId FunctionLowering::TakenName(const clang::LabelDecl& label) { return unit_.Name("goto " + label.getNameAsString()); }

// To the label of a section around.
void FunctionLowering::Leave(const clang::LabelDecl& label, ir::Range range, Stmts* out) {
  if (loop_.label == &label) {
    out->push_back(loop_.is_again ? builder_.Continue(range, ir::kJump) : builder_.Break(range, ir::kJump));
    return;
  }
  const ir::ExprId taken[] = {builder_.Name(range, TakenName(label))};
  out->push_back(builder_.Assign(range, taken, builder_.Constant(range, ir::ConstantKind::True)));
  out->push_back(builder_.Break(range, ir::kJump));
  Note({&label, range});
}

void FunctionLowering::Note(const Jumps::value_type& jump) {
  const bool is_known = std::ranges::any_of(leaving_, [&](const auto& known) { return known.first == jump.first; });
  if (!is_known) leaving_.push_back(jump);
}

void FunctionLowering::Goto(const clang::Stmt& stmt, const clang::LabelDecl* label, Stmts* out) {
  const ir::Range range = At(stmt);
  if (&stmt == failure_) {
    out->push_back(builder_.Raise(range, {}, {}));
    return;
  }
  if (std::ranges::find(open_, label) != open_.end()) return Leave(*label, range, out);
  if (label != nullptr && CopyFrom(*label, range, out)) return;
  builder_.AddProblem(ir::ProblemKind::Limit, range, "a `goto` that is neither forward out of blocks nor a loop of its own");
  out->push_back(builder_.OpaqueStmt(range, {}));
}

// What follows the label, down to the end of the function.
bool FunctionLowering::CopyFrom(const clang::LabelDecl& label, ir::Range jump, Stmts* out) {
  const auto found = std::ranges::find(top_level_, &label, LabelOf);
  if (found == top_level_.end() || guarded_ > 0 || loops_ > 0) return false;
  const auto leaves = [](const clang::Stmt* stmt) { return llvm::isa<clang::ReturnStmt>(Unlabelled(stmt)); };
  const auto last = std::find_if(found, top_level_.end(), leaves);
  size_t count = 0;
  bool comes_back = std::ranges::find(copied_from_, &label) != copied_from_.end();
  for (auto stmt = found; stmt != last; ++stmt) {
    count += Statements(*stmt);
    comes_back = comes_back || JumpsTo(*stmt, &label);
  }
  if (comes_back || count > kLongestCopy || copied_ + count > kMostCopied) return false;
  copied_ += count;
  copied_from_.push_back(&label);
  const Around outer_loop = std::exchange(loop_, {});
  Sequence({found, last}, out);
  const auto* result = last == top_level_.end() ? nullptr : llvm::cast<clang::ReturnStmt>(Unlabelled(*last));
  const ir::ExprId value = result && result->getRetValue() ? Expr(result->getRetValue()) : ir::ExprId();
  Flush(out);
  out->push_back(builder_.Return(jump, value, ir::kJump));
  loop_ = outer_loop;
  copied_from_.pop_back();
  return true;
}

}  // namespace allranks::cpp
