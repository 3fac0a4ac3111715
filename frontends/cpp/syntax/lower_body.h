// The body of one function, lowered from its text as far as that goes without types: a name is what is written, a macro is a
// function or a variable of its name, and of a conditional of the preprocessor either branch may be the one that is compiled, the same on all
// ranks. The member functions are spread over statements.cpp, control_flow.cpp, expressions.cpp and calls.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/builder.h"
#include "frontends/cpp/syntax/outline.h"

namespace allranks::cpp::syntax {

// Of statements and expressions in each other. A level of C++ makes at most three of the IR: the statement, its expression, a call in it.
constexpr uint32_t kDeepestNesting = ir::kMaxLoweredDepth / 4;

// What the program and the libraries define, by qualified name.
struct Definitions {
  struct Function {
    ir::NameId symbol;
    size_t params = 0;  // its own object included
  };
  std::map<Qualified, std::vector<Function>, std::less<>> functions;
  std::map<Qualified, ir::NameId, std::less<>> classes;  // their symbols
  std::function<bool(std::string_view)> is_of_library = [](std::string_view) { return false; };
};

class BodyLowering {
 public:
  BodyLowering(ir::Builder& builder, base::Interner& names, std::string_view text, const Outline& outline, const Definitions& definitions,
               const TextFunction& function)
      : builder_(builder), names_(names), text_(text), outline_(outline), definitions_(definitions), function_(function) {}

  // Without the parameter for the object.
  std::vector<ir::Param> Params(Node declarator);
  // Call it once the parameters are known. `id`: the function that is filled.
  ir::BlockId Body(ir::FunctionId id);

 private:
  using Stmts = std::vector<ir::StmtId>;
  struct Local {
    ir::NameId name;
    bool is_number = false;
    bool is_status = false;    // it holds what a call returned
    bool is_container = false;  // one of the standard library
  };
  // What a name means, looked up from the innermost scope outwards.
  struct Meaning {
    Qualified name;
    ir::NameId symbol;
    bool is_class = false;
    bool is_found = false;
  };

  // statements.cpp
  ir::BlockId Block(Node stmt);
  void Sequence(Node compound, Stmts* out);
  void Append(Node stmt, Stmts* out);
  void Dispatch(Node stmt, Stmts* out);
  void Declare(Node declaration, Stmts* out);
  void DeclareOne(Node declarator, Node type, Stmts* out);
  void Initialise(ir::Range range, ir::ExprId target, Node type, Node value, Stmts* out);
  void FieldInitialisers(Stmts* out);
  void ExprStmt(Node expr, Stmts* out);
  bool Assignment(Node expr, Stmts* out);
  void Conditionally(Node directive, Stmts* out);
  void TooDeep(ir::Range range);

  // control_flow.cpp
  ir::ExprId Test(Node condition, Stmts* out);
  void If(Node stmt, Stmts* out);
  void While(Node stmt, Stmts* out);
  void Do(Node stmt, Stmts* out);
  void For(Node stmt, Stmts* out);
  bool CountingFor(Node stmt, Stmts* out);
  void RangeFor(Node stmt, Stmts* out);
  void Try(Node stmt, Stmts* out);
  void Switch(Node stmt, Stmts* out);
  void ArmOf(std::span<const Node> arms, size_t at, Stmts* out);
  bool HandsFailureOn(Node if_stmt);

  // expressions.cpp
  ir::ExprId Expr(Node expr);
  ir::ExprId Dispatch(Node expr);
  ir::ExprId Name(Node expr);
  ir::ExprId Number(Node expr);
  ir::ExprId Text(Node expr);
  ir::ExprId Unary(Node expr);
  ir::ExprId AddressOf(Node operand, ir::Range range);
  ir::ExprId Step(Node expr);
  ir::ExprId Binary(Node expr);
  ir::ExprId Assigned(Node expr);
  ir::ExprId Operation(ir::Range range, std::string_view op, ir::ExprId left, ir::ExprId right);
  ir::ExprId Parts(Node expr);
  ir::ExprId Items(Node list);
  ir::ExprId Lambda(Node lambda);
  ir::ExprId External(std::string_view qualified, ir::Range range);
  ir::ExprId Resolved(const Meaning& meaning, ir::Range range);
  ir::ExprId TypeName(Node type);

  // calls.cpp
  ir::ExprId Call(Node call);
  ir::ExprId MethodCall(Node call, Node callee);
  std::optional<ir::ExprId> StandardCall(Node call, std::string_view name);
  ir::ExprId Construct(ir::Range range, Node type, Node arguments);
  std::vector<ir::Arg> Args(Node list);

  // names.cpp
  Meaning Find(const Qualified& written, size_t arguments) const;
  Meaning FindType(const Qualified& written) const;
  Qualified WithoutAlias(const Qualified& written) const;
  const Local* FindLocal(std::string_view name) const;
  Local& AddLocal(std::string_view name);
  bool IsField(std::string_view name) const;
  bool IsNumberType(Node type) const;
  std::string_view In(Node node) const { return node.TextIn(text_); }
  ir::NameId NameOf(std::string_view text) { return names_.Intern(text); }

  ir::Builder& builder_;
  base::Interner& names_;
  std::string_view text_;
  const Outline& outline_;
  const Definitions& definitions_;
  const TextFunction& function_;
  ir::FunctionId current_;     // being lowered: a lambda's within a function's
  uint32_t depth_ = 0;         // of nested statements and expressions
  Node step_;                  // of the innermost loop, a while-like one: what a `continue` runs first
  size_t arms_ = 0;            // of switches, so far
  bool fails_ = false;         // the `return` at hand hands on the failure of a call
  std::vector<std::unordered_map<std::string, Local>> scopes_ = {{}};
  std::unordered_map<std::string, int> used_names_;
};

// Puts back what a variable held.
template <class T>
class Restored {
 public:
  explicit Restored(T& value) : value_(value), before_(value) {}
  ~Restored() { value_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& value_;
  T before_;
};

}  // namespace allranks::cpp::syntax
