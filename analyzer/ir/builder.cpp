#include "analyzer/ir/builder.h"

#include <algorithm>
#include <utility>

namespace allranks::ir {
namespace {

// Measured on training code: bytes of source for each element. Low figures, so that arrays seldom grow.
constexpr size_t kSourceBytesPerExpr = 12;
constexpr size_t kSourceBytesPerStmt = 60;
constexpr size_t kSourceBytesPerWord = 10;

template <class E>
uint8_t Op(E value) {
  return static_cast<uint8_t>(value);
}

template <class T>
ir::List Append(std::span<const T> items, std::vector<T>* array) {
  const ir::List list = {static_cast<uint32_t>(array->size()), static_cast<uint32_t>(items.size())};
  array->insert(array->end(), items.begin(), items.end());
  return list;
}

}  // namespace

Builder::Builder(source::FileId file, Language language, size_t source_bytes) {
  module_.file = file;
  module_.language = language;
  module_.exprs.reserve(source_bytes / kSourceBytesPerExpr);
  module_.stmts.reserve(source_bytes / kSourceBytesPerStmt);
  module_.block_stmts.reserve(source_bytes / kSourceBytesPerStmt);
  module_.words.reserve(source_bytes / kSourceBytesPerWord);
}

Builder::Builder(Module module) : module_(std::move(module)) {}

Module Builder::Finish() {
  module_.exprs.shrink_to_fit();
  module_.stmts.shrink_to_fit();
  module_.blocks.shrink_to_fit();
  module_.functions.shrink_to_fit();
  module_.classes.shrink_to_fit();
  module_.imports.shrink_to_fit();
  module_.words.shrink_to_fit();
  module_.block_stmts.shrink_to_fit();
  module_.clauses.shrink_to_fit();
  module_.handlers.shrink_to_fit();
  module_.with_items.shrink_to_fit();
  module_.cases.shrink_to_fit();
  module_.problems.shrink_to_fit();
  module_.comments.shrink_to_fit();
  return std::move(module_);
}

ExprId Builder::AddExpr(ExprKind kind, uint8_t op, Range range, uint32_t a, uint32_t b, uint16_t flags) {
  return module_.exprs.Add(
      {.kind = kind, .op = op, .flags = flags, .begin = range.begin, .end = range.end, .a = a, .b = b});
}

ir::List Builder::AddWords(std::span<const ExprId> ids) {
  const ir::List list = {static_cast<uint32_t>(module_.words.size()), static_cast<uint32_t>(ids.size())};
  for (const ExprId id : ids) module_.words.push_back(id.index);
  return list;
}

ir::List Builder::AddWords(std::span<const NameId> names) {
  const ir::List list = {static_cast<uint32_t>(module_.words.size()), static_cast<uint32_t>(names.size())};
  for (const NameId name : names) module_.words.push_back(name.index);
  return list;
}

ExprId Builder::AddListExpr(ExprKind kind, uint8_t op, Range range, std::span<const ExprId> items, uint16_t flags) {
  const ir::List list = AddWords(items);
  return AddExpr(kind, op, range, list.start, list.count, flags);
}

// ---- Expressions
// ------------------------------------------------------------------------------------------------

ExprId Builder::Name(Range range, NameId name, uint16_t flags) {
  return AddExpr(ExprKind::Name, 0, range, name.index, 0, flags);
}

ExprId Builder::Resolved(Range range, NameId qualified, NameId symbol, uint16_t kind) {
  return AddExpr(ExprKind::Name, 0, range, qualified.index, symbol.index, static_cast<uint16_t>(kResolvedName | kind));
}

ExprId Builder::Constant(Range range, ConstantKind kind) {
  return AddExpr(ExprKind::Constant, Op(kind), range, NameId::kNoneIndex, 0);
}

ExprId Builder::Int(Range range, int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  const uint32_t low = static_cast<uint32_t>(bits);
  const uint32_t high = static_cast<uint32_t>(bits >> 32);
  return AddExpr(ExprKind::Constant, Op(ConstantKind::Int), range, low, high);
}

ExprId Builder::BigInt(Range range) {
  return AddExpr(ExprKind::Constant, Op(ConstantKind::Int), range, 0, 0, kBigInt);
}

ExprId Builder::Text(Range range, ConstantKind kind, NameId text) {
  return AddExpr(ExprKind::Constant, Op(kind), range, text.index, 0);
}

ExprId Builder::FString(Range range, std::span<const ExprId> items, uint16_t flags) {
  return AddListExpr(ExprKind::FString, 0, range, items, flags);
}

ExprId Builder::Tuple(Range range, std::span<const ExprId> items) {
  return AddListExpr(ExprKind::Tuple, 0, range, items);
}

ExprId Builder::List(Range range, std::span<const ExprId> items) {
  return AddListExpr(ExprKind::List, 0, range, items);
}

ExprId Builder::Set(Range range, std::span<const ExprId> items) {
  return AddListExpr(ExprKind::Set, 0, range, items);
}

ExprId Builder::Dict(Range range, std::span<const DictItem> items) {
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  for (const DictItem& item : items) {
    module_.words.push_back(item.key.index);
    module_.words.push_back(item.value.index);
  }
  return AddExpr(ExprKind::Dict, 0, range, start, static_cast<uint32_t>(items.size()));
}

ExprId Builder::Slice(Range range, ExprId lower, ExprId upper, ExprId step) {
  const ExprId parts[] = {lower, upper, step};
  return AddListExpr(ExprKind::Slice, 0, range, parts);
}

ExprId Builder::Attribute(Range range, ExprId object, NameId attr) {
  return AddExpr(ExprKind::Attribute, 0, range, object.index, attr.index);
}

ExprId Builder::Subscript(Range range, ExprId object, ExprId index, uint16_t flags) {
  return AddExpr(ExprKind::Subscript, 0, range, object.index, index.index, flags);
}

ExprId Builder::Call(Range range, ExprId callee, std::span<const Arg> args, uint16_t flags) {
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(static_cast<uint32_t>(args.size()));
  for (const Arg& arg : args) {
    module_.words.push_back(static_cast<uint32_t>(arg.kind));
    module_.words.push_back(arg.keyword.index);
    module_.words.push_back(arg.value.index);
  }
  return AddExpr(ExprKind::Call, 0, range, callee.index, start, flags);
}

ExprId Builder::Unary(Range range, UnaryOp op, ExprId operand) {
  return AddExpr(ExprKind::Unary, Op(op), range, operand.index, 0);
}

ExprId Builder::Binary(Range range, BinaryOp op, ExprId left, ExprId right) {
  return AddExpr(ExprKind::Binary, Op(op), range, left.index, right.index);
}

ExprId Builder::Bool(Range range, BoolOp op, std::span<const ExprId> operands) {
  return AddListExpr(ExprKind::Bool, Op(op), range, operands);
}

ExprId Builder::Compare(Range range, ExprId first, std::span<const Comparison> rest) {
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(static_cast<uint32_t>(rest.size()));
  for (const Comparison& comparison : rest) {
    module_.words.push_back(static_cast<uint32_t>(comparison.op));
    module_.words.push_back(comparison.operand.index);
  }
  return AddExpr(ExprKind::Compare, 0, range, first.index, start);
}

ExprId Builder::Conditional(Range range, ExprId test, ExprId then_value, ExprId else_value) {
  const ExprId values[] = {then_value, else_value};
  return AddExpr(ExprKind::Conditional, 0, range, test.index, AddWords(values).start);
}

ExprId Builder::Lambda(Range range, FunctionId function) {
  return AddExpr(ExprKind::Lambda, 0, range, function.index, 0);
}

ExprId Builder::Comprehension(Range range, ComprehensionKind kind, ExprId element,
                              std::span<const Clause> clauses) {
  const ir::List list = Append(clauses, &module_.clauses);
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(list.start);
  module_.words.push_back(list.count);
  return AddExpr(ExprKind::Comprehension, Op(kind), range, element.index, start);
}

ir::List Builder::Conditions(std::span<const ExprId> tests) { return AddWords(tests); }

ExprId Builder::Await(Range range, ExprId value) {
  return AddExpr(ExprKind::Await, 0, range, value.index, 0);
}

ExprId Builder::Yield(Range range, ExprId value) {
  return AddExpr(ExprKind::Yield, 0, range, value.index, 0);
}

ExprId Builder::YieldFrom(Range range, ExprId value) {
  return AddExpr(ExprKind::YieldFrom, 0, range, value.index, 0);
}

ExprId Builder::Walrus(Range range, ExprId target, ExprId value) {
  return AddExpr(ExprKind::Walrus, 0, range, target.index, value.index);
}

ExprId Builder::Starred(Range range, ExprId value) {
  return AddExpr(ExprKind::Starred, 0, range, value.index, 0);
}

ExprId Builder::Opaque(Range range, std::span<const ExprId> parts) {
  return AddListExpr(ExprKind::Opaque, 0, range, parts);
}

// ---- Statements
// -------------------------------------------------------------------------------------------------

StmtId Builder::AddStmt(Stmt stmt, Range range) {
  stmt.begin = range.begin;
  stmt.end = range.end;
  return module_.stmts.Add(stmt);
}

StmtId Builder::ExprStmt(Range range, ExprId value) {
  return AddStmt({.kind = StmtKind::Expr, .a = value.index}, range);
}

StmtId Builder::Assign(Range range, std::span<const ExprId> targets, ExprId value) {
  const ir::List list = AddWords(targets);
  return AddStmt({.kind = StmtKind::Assign, .a = list.start, .b = value.index, .c = list.count}, range);
}

StmtId Builder::AugAssign(Range range, BinaryOp op, ExprId target, ExprId value) {
  return AddStmt({.kind = StmtKind::AugAssign, .op = Op(op), .a = target.index, .b = value.index}, range);
}

StmtId Builder::AnnAssign(Range range, ExprId target, ExprId annotation, ExprId value) {
  return AddStmt({.kind = StmtKind::AnnAssign, .a = target.index, .b = value.index, .c = annotation.index},
                 range);
}

StmtId Builder::If(Range range, ExprId test, BlockId then_block, BlockId else_block) {
  return AddStmt({.kind = StmtKind::If, .a = test.index, .b = then_block.index, .c = else_block.index},
                 range);
}

StmtId Builder::For(Range range, bool is_async, ExprId target, ExprId iterable, BlockId body,
                    BlockId else_block) {
  return AddStmt({.kind = StmtKind::For,
                  .flags = is_async ? kAsync : uint16_t{0},
                  .a = target.index,
                  .b = iterable.index,
                  .c = body.index,
                  .d = else_block.index},
                 range);
}

StmtId Builder::While(Range range, ExprId test, BlockId body, BlockId else_block) {
  return AddStmt({.kind = StmtKind::While, .a = test.index, .c = body.index, .d = else_block.index}, range);
}

StmtId Builder::Try(Range range, bool is_group, BlockId body, std::span<const Handler> handlers,
                    BlockId else_block, BlockId finally_block) {
  const ir::List list = Append(handlers, &module_.handlers);
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(list.start);
  module_.words.push_back(list.count);
  return AddStmt({.kind = StmtKind::Try,
                  .flags = is_group ? kExceptGroup : uint16_t{0},
                  .a = body.index,
                  .b = start,
                  .c = else_block.index,
                  .d = finally_block.index},
                 range);
}

StmtId Builder::With(Range range, bool is_async, std::span<const WithItem> items, BlockId body) {
  const ir::List list = Append(items, &module_.with_items);
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(list.start);
  module_.words.push_back(list.count);
  return AddStmt(
      {.kind = StmtKind::With, .flags = is_async ? kAsync : uint16_t{0}, .a = start, .b = body.index}, range);
}

StmtId Builder::Match(Range range, ExprId subject, std::span<const MatchCase> cases) {
  const ir::List list = Append(cases, &module_.cases);
  const uint32_t start = static_cast<uint32_t>(module_.words.size());
  module_.words.push_back(list.start);
  module_.words.push_back(list.count);
  return AddStmt({.kind = StmtKind::Match, .a = subject.index, .b = start}, range);
}

StmtId Builder::Return(Range range, ExprId value, uint16_t flags) {
  return AddStmt({.kind = StmtKind::Return, .flags = flags, .a = value.index}, range);
}

StmtId Builder::Break(Range range, uint16_t flags) { return AddStmt({.kind = StmtKind::Break, .flags = flags}, range); }

StmtId Builder::Continue(Range range, uint16_t flags) { return AddStmt({.kind = StmtKind::Continue, .flags = flags}, range); }

StmtId Builder::Raise(Range range, ExprId exception, ExprId cause) {
  return AddStmt({.kind = StmtKind::Raise, .a = exception.index, .b = cause.index}, range);
}

StmtId Builder::Assert(Range range, ExprId test, ExprId message) {
  return AddStmt({.kind = StmtKind::Assert, .a = test.index, .b = message.index}, range);
}

StmtId Builder::Delete(Range range, std::span<const ExprId> targets) {
  const ir::List list = AddWords(targets);
  return AddStmt({.kind = StmtKind::Delete, .a = list.start, .c = list.count}, range);
}

StmtId Builder::Pass(Range range) { return AddStmt({.kind = StmtKind::Pass}, range); }

StmtId Builder::Global(Range range, std::span<const NameId> names) {
  const ir::List list = AddWords(names);
  return AddStmt({.kind = StmtKind::Global, .a = list.start, .c = list.count}, range);
}

StmtId Builder::Nonlocal(Range range, std::span<const NameId> names) {
  const ir::List list = AddWords(names);
  return AddStmt({.kind = StmtKind::Nonlocal, .a = list.start, .c = list.count}, range);
}

StmtId Builder::Import(Range range, std::span<const ir::Import> imports) {
  const uint32_t first = static_cast<uint32_t>(module_.imports.size());
  for (const ir::Import& import : imports) module_.imports.Add(import);
  return AddStmt({.kind = StmtKind::Import, .a = first, .c = static_cast<uint32_t>(imports.size())}, range);
}

StmtId Builder::FunctionDef(Range range, FunctionId function) {
  return AddStmt({.kind = StmtKind::FunctionDef, .a = function.index}, range);
}

StmtId Builder::ClassDef(Range range, ClassId defined) {
  return AddStmt({.kind = StmtKind::ClassDef, .a = defined.index}, range);
}

StmtId Builder::OpaqueStmt(Range range, std::span<const ExprId> parts) {
  const ir::List list = AddWords(parts);
  return AddStmt({.kind = StmtKind::Opaque, .a = list.start, .c = list.count}, range);
}

// ---- The rest
// ---------------------------------------------------------------------------------------------------

BlockId Builder::Block(std::span<const StmtId> stmts) {
  const ir::List list = Append(stmts, &module_.block_stmts);
  return module_.blocks.Add({.start = list.start, .count = list.count});
}

FunctionId Builder::StartFunction(Function head) { return module_.functions.Add(std::move(head)); }

ClassId Builder::StartClass(Class head) { return module_.classes.Add(std::move(head)); }

void Builder::AddProblem(ProblemKind kind, Range range, std::string text) {
  module_.problems.push_back({.kind = kind, .text = std::move(text), .begin = range.begin, .end = range.end});
}

void Builder::AddComment(Range range) {
  module_.comments.push_back({.begin = range.begin, .end = range.end});
}

bool Builder::IsText(ExprId id) const {
  const Expr& expr = module_[id];
  if (expr.kind != ExprKind::Constant) return false;
  return ConstantKindOf(expr) == ConstantKind::Str || ConstantKindOf(expr) == ConstantKind::Bytes;
}

void Builder::SortByPlace() {
  const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  std::stable_sort(module_.problems.begin(), module_.problems.end(), earlier);
  std::stable_sort(module_.comments.begin(), module_.comments.end(), earlier);
}

}  // namespace allranks::ir
