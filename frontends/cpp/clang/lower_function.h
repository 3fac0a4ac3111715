// One function with the lambdas in it. The member functions are spread over functions.cpp, statements.cpp,
// parallel_regions.cpp, switches.cpp, expressions.cpp and calls.cpp.
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
  void If(const clang::IfStmt& stmt, Stmts* out);
  void While(const clang::WhileStmt& stmt, Stmts* out);
  void Do(const clang::DoStmt& stmt, Stmts* out);
  void For(const clang::ForStmt& stmt, Stmts* out);
  bool CountingFor(const clang::ForStmt& stmt, Stmts* out);
  void RangeFor(const clang::CXXForRangeStmt& stmt, Stmts* out);
  void Try(const clang::CXXTryStmt& stmt, Stmts* out);
  void Declare(const clang::VarDecl& variable, Stmts* out);
  void InitialiseFields(const clang::VarDecl& variable, const clang::InitListExpr& items, Stmts* out);
  ir::ExprId DestructorCall(const clang::VarDecl& variable);
  void ExprStmt(const clang::Expr& expr, Stmts* out);
  bool Assignment(const clang::Expr& expr, Stmts* out);
  void Flush(Stmts* out);

  // parallel_regions.cpp
  void Directive(const clang::OMPExecutableDirective& directive, Stmts* out);
  void EachThread(const clang::Stmt& body, const clang::Expr* threads, Stmts* out);
  ir::StmtId RoundOfThreads(ir::Range range, const clang::Expr* threads, ir::BlockId body, Stmts* out);

  // switches.cpp
  void Switch(const clang::SwitchStmt& stmt, Stmts* out);

  // expressions.cpp
  ir::ExprId Expr(const clang::Expr* expr);
  ir::ExprId Plain(const clang::Expr& expr);
  ir::ExprId Literal(const clang::Expr& expr);
  std::optional<ir::ExprId> Constant(const clang::Expr& expr);
  std::optional<ir::ExprId> NamedByMacro(const clang::Expr& expr);
  ir::ExprId Reference(const clang::DeclRefExpr& expr);
  ir::ExprId Member(const clang::MemberExpr& expr);
  ir::ExprId Unary(const clang::UnaryOperator& expr);
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
  const clang::Stmt* loop_step_ = nullptr;  // what a `continue` of the innermost while-like loop runs first
  const clang::Stmt* failure_ = nullptr;    // a `return` that hands on the failure of a call
  std::unordered_map<const clang::ValueDecl*, ir::NameId> locals_;
  std::unordered_map<std::string, int> used_names_;
  std::unordered_set<const clang::VarDecl*> reseated_;  // pointers that are assigned after they were declared
};

}  // namespace allranks::cpp
