// One function with the lambdas in it. The member functions are spread over functions.cpp, statements.cpp,
// jumps.cpp, parallel_regions.cpp, switches.cpp, expressions.cpp and calls.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/cpp/clang/unit.h"

namespace allranks::cpp {

void LowerFunction(Unit& unit, const clang::FunctionDecl& function);
// A variable of namespace or class scope: what it is initialised with.
void LowerGlobal(Unit& unit, const clang::VarDecl& variable);

// Of a Name or Subscript of this type.
inline uint16_t NumberFlag(clang::QualType type) { return type.getNonReferenceType()->isArithmeticType() ? ir::kNumber : uint16_t{0}; }

// Whether a `break` or `continue` of the loop or switch around stands in a statement.
bool Leaves(const clang::Stmt* stmt, bool breaks, bool continues);

class FunctionLowering {
 public:
  FunctionLowering(Unit& unit, FileModule& module) : unit_(unit), module_(module), builder_(module.builder) {}

  void Function(const clang::FunctionDecl& function);
  void Global(const clang::VarDecl& variable);

 private:
  using Stmts = std::vector<ir::StmtId>;

  // functions.cpp
  ir::Range At(clang::SourceRange range) const;
  ir::Range At(const clang::Stmt& stmt) const { return At(stmt.getSourceRange()); }
  std::vector<ir::Param> Params(const clang::FunctionDecl& function);
  ir::ExprId TypeName(clang::QualType type, ir::Range range);
  ir::BlockId FunctionBody(const clang::FunctionDecl& function);
  void MemberInitialisers(const clang::CXXConstructorDecl& constructor, Stmts* out);
  ir::ExprId Lambda(const clang::LambdaExpr& lambda);
  ir::NameId LocalName(const clang::ValueDecl& variable);
  const clang::VarDecl* AliasOf(const clang::VarDecl& variable) const;

  // statements.cpp
  ir::BlockId Block(const clang::Stmt* stmt);
  void Sequence(std::span<const clang::Stmt* const> stmts, Stmts* out);
  void Append(const clang::Stmt* stmt, Stmts* out);
  void Dispatch(const clang::Stmt& stmt, Stmts* out);
  void Loop(const clang::Stmt& stmt, Stmts* out);
  void If(const clang::IfStmt& stmt, Stmts* out);
  void While(const clang::WhileStmt& stmt, Stmts* out);
  bool Do(const clang::DoStmt& stmt, Stmts* out);
  void For(const clang::ForStmt& stmt, Stmts* out);
  bool CountingFor(const clang::ForStmt& stmt, Stmts* out);
  void RangeFor(const clang::CXXForRangeStmt& stmt, Stmts* out);
  void Try(const clang::CXXTryStmt& stmt, Stmts* out);
  void Declare(const clang::VarDecl& variable, Stmts* out);
  void DeclareOnce(const clang::VarDecl& variable, Stmts* out);
  void InitialiseFields(const clang::VarDecl& variable, const clang::InitListExpr& items, Stmts* out);
  ir::ExprId DestructorCall(const clang::VarDecl& variable);
  void ExprStmt(const clang::Expr& expr, Stmts* out);
  bool Assignment(const clang::Expr& expr, Stmts* out);
  void Flush(Stmts* out);

  // jumps.cpp
  size_t Section(std::span<const clang::Stmt* const> stmts, size_t at, Stmts* out);
  void RunSection(std::span<const clang::Stmt* const> stmts, const clang::LabelDecl* label, bool is_again, Stmts* out);
  void Goto(const clang::Stmt& stmt, const clang::LabelDecl* label, Stmts* out);
  using Jumps = std::vector<std::pair<const clang::LabelDecl*, ir::Range>>;
  void JumpOn(size_t at, Jumps outer, Stmts* out);
  void Note(const Jumps::value_type& jump);
  void Leave(const clang::LabelDecl& label, ir::Range range, Stmts* out);
  ir::NameId TakenName(const clang::LabelDecl& label);
  bool CopyFrom(const clang::LabelDecl& label, ir::Range jump, Stmts* out);

  // parallel_regions.cpp
  void Directive(const clang::OMPExecutableDirective& directive, Stmts* out);
  void EachThread(const clang::Stmt& body, const clang::Expr* threads, Stmts* out);
  ir::StmtId RoundOfThreads(ir::Range range, const clang::Expr* threads, ir::BlockId body, Stmts* out);

  // switches.cpp
  bool Switch(const clang::SwitchStmt& stmt, Stmts* out);

  // expressions.cpp
  ir::ExprId Expr(const clang::Expr* expr);
  ir::ExprId Plain(const clang::Expr& expr);
  ir::ExprId Literal(const clang::Expr& expr);
  std::optional<ir::ExprId> Constant(const clang::Expr& expr);
  std::optional<ir::ExprId> NamedByMacro(const clang::Expr& expr);
  ir::ExprId Reference(const clang::DeclRefExpr& expr);
  ir::ExprId Member(const clang::MemberExpr& expr);
  ir::ExprId Unary(const clang::UnaryOperator& expr);
  ir::ExprId AddressOf(const clang::Expr& expr);
  ir::ExprId Binary(const clang::BinaryOperator& expr);
  ir::ExprId Step(const clang::UnaryOperator& expr);
  ir::ExprId Conditional(ir::Range range, const clang::Expr* test, const clang::Expr* then_value,
                         const clang::Expr* else_value);
  ir::ExprId Items(const clang::InitListExpr& expr);
  ir::ExprId Parts(const clang::Stmt& expr);
  ir::ExprId Variable(const clang::ValueDecl& variable, ir::Range range);
  ir::ExprId BuiltinName(std::string_view name, ir::Range range);
  ir::ExprId External(std::string_view qualified, ir::Range range);

  // calls.cpp
  ir::ExprId Call(const clang::CallExpr& expr);
  std::optional<ir::ExprId> StandardCall(const clang::CallExpr& expr, const clang::FunctionDecl& callee);
  std::optional<ir::ExprId> ContainerCall(const clang::CXXMemberCallExpr& expr, const clang::CXXMethodDecl& method);
  std::optional<ir::ExprId> FilteringCall(const clang::CallExpr& expr, std::string_view name);
  ir::ExprId Filtered(ir::Range range, ir::ExprId container, const clang::Expr* test);
  std::optional<ir::ExprId> ResizingCall(const clang::CXXMemberCallExpr& expr, const clang::CXXMethodDecl& method,
                                         std::string_view name);
  std::optional<ir::ExprId> ContainerItems(const clang::CXXConstructExpr& expr, llvm::StringRef name);
  ir::ExprId MethodCall(const clang::CXXMemberCallExpr& expr);
  ir::ExprId OperatorCall(const clang::CXXOperatorCallExpr& expr);
  ir::ExprId Construct(const clang::CXXConstructExpr& expr);
  ir::ExprId ConstructRecord(const clang::CXXRecordDecl& record, const clang::CXXConstructorDecl* constructor,
                             ir::Range range, std::span<const clang::Expr* const> args);
  ir::ExprId FunctionName(const clang::FunctionDecl& function, ir::Range range);
  std::vector<ir::Arg> Args(std::span<const clang::Expr* const> args);

  Unit& unit_;
  FileModule& module_;
  ir::Builder& builder_;
  ir::FunctionId current_;          // being lowered: a lambda's within a function's
  ir::Range around_;                // of the function: for what has no place of its own in the file
  uint32_t depth_ = 0;              // of nested statements and expressions
  Stmts pending_;                   // of expressions that hold statements: to run before the one at hand
  // The innermost loop that is being lowered.
  struct Around {
    const clang::Stmt* step = nullptr;        // of a while-like loop: what a `continue` runs first
    const clang::LabelDecl* label = nullptr;  // of a section: where leaving it, or beginning it again, leads
    bool is_again = false;
  };
  Around loop_;
  const clang::Stmt* failure_ = nullptr;    // a `return` or `goto` that hands on the failure of a call
  std::vector<const clang::LabelDecl*> open_;   // labels of the sections around
  Jumps leaving_;                           // to labels further out than the innermost loop, from within it
  uint32_t loops_ = 0;                      // around, sections not counted
  std::span<const clang::Stmt* const> top_level_;   // of the function's body; empty within lambdas
  std::vector<const clang::LabelDecl*> copied_from_;   // labels from which statements are being copied
  size_t copied_ = 0;                       // statements, so far
  uint32_t guarded_ = 0;                    // how many `try` and scopes with destructors are around
  std::unordered_map<const clang::ValueDecl*, ir::NameId> locals_;
  std::unordered_map<std::string, int> used_names_;
  std::unordered_set<const clang::VarDecl*> reseated_;  // pointers that are assigned after they were declared
  std::unordered_set<const clang::VarDecl*> statuses_;  // variables that hold what a call returned
};

}  // namespace allranks::cpp
