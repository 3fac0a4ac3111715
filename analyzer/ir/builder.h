#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analyzer/ir/program.h"

namespace allranks::ir {

// Bytes [begin, end) of the module's file.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Fills a `Module`: one function for each kind of node, children before parents. The only writer of node
// fields; `program.h` says what each field means.
class Builder {
 public:
  // `source_bytes` sizes the arrays ahead of time.
  Builder(source::FileId file, Language language, size_t source_bytes);
  // To add to a module that is there.
  explicit Builder(Module module);

  // Gives the module away, its arrays cut to size.
  Module Finish();

  ExprId Name(Range range, NameId name, uint16_t flags = 0);
  // A name that the front end resolved; `kind` adds kVariable or kConstructor.
  ExprId Resolved(Range range, NameId qualified, NameId symbol, uint16_t kind = 0);
  // None, True, False, Ellipsis.
  ExprId Constant(Range range, ConstantKind kind);
  ExprId Int(Range range, int64_t value);
  ExprId BigInt(Range range);
  // Float, Complex, Str, Bytes; `text` is none for one too long to keep.
  ExprId Text(Range range, ConstantKind kind, NameId text);
  ExprId FString(Range range, std::span<const ExprId> items, uint16_t flags = 0);
  ExprId Tuple(Range range, std::span<const ExprId> items);
  ExprId List(Range range, std::span<const ExprId> items);
  ExprId Set(Range range, std::span<const ExprId> items);
  ExprId Dict(Range range, std::span<const DictItem> items);
  ExprId Slice(Range range, ExprId lower, ExprId upper, ExprId step);
  ExprId Attribute(Range range, ExprId object, NameId attr);
  ExprId Subscript(Range range, ExprId object, ExprId index, uint16_t flags = 0);
  ExprId Call(Range range, ExprId callee, std::span<const Arg> args, uint16_t flags = 0);
  ExprId Unary(Range range, UnaryOp op, ExprId operand);
  ExprId Binary(Range range, BinaryOp op, ExprId left, ExprId right);
  ExprId Bool(Range range, BoolOp op, std::span<const ExprId> operands);
  ExprId Compare(Range range, ExprId first, std::span<const Comparison> rest);
  ExprId Conditional(Range range, ExprId test, ExprId then_value, ExprId else_value);
  ExprId Lambda(Range range, FunctionId function);
  ExprId Comprehension(Range range, ComprehensionKind kind, ExprId element, std::span<const Clause> clauses);
  // What a `Clause` names as its conditions.
  ir::List Conditions(std::span<const ExprId> tests);
  ExprId Await(Range range, ExprId value);
  ExprId Yield(Range range, ExprId value);
  ExprId YieldFrom(Range range, ExprId value);
  ExprId Walrus(Range range, ExprId target, ExprId value);
  ExprId Starred(Range range, ExprId value);
  ExprId Opaque(Range range, std::span<const ExprId> parts);

  StmtId ExprStmt(Range range, ExprId value);
  StmtId Assign(Range range, std::span<const ExprId> targets, ExprId value);
  StmtId AugAssign(Range range, BinaryOp op, ExprId target, ExprId value);
  StmtId AnnAssign(Range range, ExprId target, ExprId annotation, ExprId value);
  StmtId If(Range range, ExprId test, BlockId then_block, BlockId else_block);
  StmtId For(Range range, bool is_async, ExprId target, ExprId iterable, BlockId body, BlockId else_block);
  StmtId While(Range range, ExprId test, BlockId body, BlockId else_block);
  StmtId Try(Range range, bool is_group, BlockId body, std::span<const Handler> handlers, BlockId else_block,
             BlockId finally_block);
  StmtId With(Range range, bool is_async, std::span<const WithItem> items, BlockId body);
  StmtId Match(Range range, ExprId subject, std::span<const MatchCase> cases);
  StmtId Return(Range range, ExprId value, uint16_t flags = 0);
  StmtId Break(Range range, uint16_t flags = 0);
  StmtId Continue(Range range, uint16_t flags = 0);
  StmtId Raise(Range range, ExprId exception, ExprId cause);
  StmtId Assert(Range range, ExprId test, ExprId message);
  StmtId Delete(Range range, std::span<const ExprId> targets);
  StmtId Pass(Range range);
  StmtId Global(Range range, std::span<const NameId> names);
  StmtId Nonlocal(Range range, std::span<const NameId> names);
  StmtId Import(Range range, std::span<const ir::Import> imports);
  StmtId FunctionDef(Range range, FunctionId function);
  StmtId ClassDef(Range range, ClassId defined);
  StmtId OpaqueStmt(Range range, std::span<const ExprId> parts);

  BlockId Block(std::span<const StmtId> stmts);

  // A definition gets its id before what stands inside it, so that inner ones can name it as their parent.
  FunctionId StartFunction(Function head);
  Function& EditFunction(FunctionId id) { return module_.functions[id]; }
  ClassId StartClass(Class head);
  Class& EditClass(ClassId id) { return module_.classes[id]; }

  void AddProblem(ProblemKind kind, Range range, std::string text);
  void AddComment(Range range);
  // Problems and comments come in the order in which the tree is walked; readers want that of the file.
  void SortByPlace();

  // Whether the expression is a string or bytes literal.
  bool IsText(ExprId id) const;

  const Module& module() const { return module_; }

 private:
  ExprId AddExpr(ExprKind kind, uint8_t op, Range range, uint32_t a, uint32_t b, uint16_t flags = 0);
  ExprId AddListExpr(ExprKind kind, uint8_t op, Range range, std::span<const ExprId> items, uint16_t flags = 0);
  StmtId AddStmt(Stmt stmt, Range range);
  ir::List AddWords(std::span<const ExprId> ids);
  ir::List AddWords(std::span<const NameId> names);

  Module module_;
};

}  // namespace allranks::ir
