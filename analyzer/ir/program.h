// The intermediate representation: the content of a source file, as flat arrays of small nodes addressed by ids.
//
// A `Module` is one file. Its expressions and statements form a structured tree (docs/how-it-works.md). A node's
// fields `a` to `d` are read through the view of its kind below and written only by `Builder` (builder.h).
// Nothing here is resolved: a name is text, and an import is what was written. `analyzer/binding` resolves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/base/interner.h"
#include "analyzer/base/operators.h"
#include "analyzer/source/span.h"

namespace allranks::ir {

using base::BinaryOp;
using base::BoolOp;
using base::CompareOp;
using base::NameId;
using base::UnaryOp;

using ModuleId = base::Id<struct ModuleTag>;
// The following ids count within one module.
using ExprId = base::Id<struct ExprTag>;
using StmtId = base::Id<struct StmtTag>;
using BlockId = base::Id<struct BlockTag>;
using FunctionId = base::Id<struct FunctionTag>;
using ClassId = base::Id<struct ClassTag>;
using ImportId = base::Id<struct ImportTag>;

enum class ExprKind : uint8_t {
#define EXPR(name) name,
#include "analyzer/ir/nodes.def"
};
constexpr size_t kExprKindCount = 0
#define EXPR(name) +1
#include "analyzer/ir/nodes.def"
    ;
enum class StmtKind : uint8_t {
#define STMT(name) name,
#include "analyzer/ir/nodes.def"
};

enum class ConstantKind : uint8_t { None, True, False, Int, Float, Complex, Str, Bytes, Ellipsis };
enum class ComprehensionKind : uint8_t { List, Set, Dict, Generator };

struct Expr {
  ExprKind kind = ExprKind::Opaque;
  uint8_t op = 0;  // the enum of the kind: ConstantKind, UnaryOp, ...
  uint16_t flags = 0;
  uint32_t begin = 0;  // bytes of the file's text
  uint32_t end = 0;
  uint32_t a = 0;
  uint32_t b = 0;
};
static_assert(sizeof(Expr) == 20);

struct Stmt {
  StmtKind kind = StmtKind::Opaque;
  uint8_t op = 0;
  uint16_t flags = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
};
static_assert(sizeof(Stmt) == 28);

constexpr uint16_t kAsync = 1;        // Stmt For, With; Function
constexpr uint16_t kExceptGroup = 2;  // Stmt Try: except*
constexpr uint16_t kJump = 8;         // Stmt Break, Continue, Return: written as a `goto`
constexpr uint16_t kVirtual = 4;      // Function: a method that subclasses may override under the same signature
constexpr uint16_t kWithoutTypes = 16;  // Function: C++ that was read from its text alone (frontends/cpp_syntax)

// A run of words in Module::words.
struct List {
  uint32_t start = 0;
  uint32_t count = 0;
};

struct Block {
  uint32_t start = 0;  // in Module::block_stmts
  uint32_t count = 0;
};

enum class ArgKind : uint32_t { Positional, Keyword, Star, DoubleStar };
struct Arg {
  ArgKind kind = ArgKind::Positional;
  NameId keyword;
  ExprId value;
};

struct DictItem {
  ExprId key;  // none: `**value`
  ExprId value;
};

struct Clause {  // `for target in iter if conditions` of a comprehension
  ExprId target;
  ExprId iter;
  List conditions;  // ExprId
  bool is_async = false;
};

struct Handler {
  ExprId type;  // none: bare `except:`
  NameId name;
  BlockId body;
  uint32_t begin = 0;  // of the `except ...` head
  uint32_t end = 0;
};

struct WithItem {
  ExprId context;
  ExprId target;  // none without `as`
};

struct MatchCase {
  // Captures are Walrus(target, Opaque), `p as x` is Walrus(x, p), values and dotted names are plain expressions, a
  // class pattern is a Call, `p | q` is a Bool Or, `*rest` is Starred, `_` is an Opaque without children; so walking
  // a pattern finds what it binds and what it reads.
  ExprId pattern;
  ExprId guard;
  BlockId body;
  bool irrefutable = false;
};

enum class ParamKind : uint8_t { PositionalOnly, Normal, KeywordOnly, Star, DoubleStar };
struct Param {
  NameId name;
  ExprId default_value;
  ExprId annotation;
  ParamKind kind = ParamKind::Normal;
  bool is_out = false;  // C++: what is assigned to it is assigned to the argument
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Function {
  NameId name;            // none: a lambda; "<module>" for a module's top level
  NameId symbol;          // of a resolved language: the one name of this function in the whole program
  NameId qualified;       // of a resolved language: "gloo.allreduce", as the knowledge base names it
  FunctionId parent;      // the function it is nested in, kTopLevel for one at the top level; none: itself that
  ClassId owner;          // the class whose method it is, if any
  std::vector<Param> params;
  std::vector<ExprId> decorators;
  ExprId returns_annotation;
  BlockId body;           // of a lambda: one Return
  uint16_t flags = 0;     // kAsync, kVirtual, kWithoutTypes
  bool is_generator = false;
  uint32_t begin = 0;     // of the whole definition
  uint32_t end = 0;
  uint32_t name_begin = 0;
  uint32_t name_end = 0;
};

struct Class {
  NameId name;
  NameId symbol;      // of a resolved language: its qualified name; classes of several modules with one symbol are one
  FunctionId parent;  // the function it is nested in, kTopLevel at the top level
  ClassId owner;      // the class it is nested in
  std::vector<Arg> bases;
  std::vector<ExprId> decorators;
  BlockId body;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t name_begin = 0;
  uint32_t name_end = 0;
};

// `import a.b as c`           -> module a.b, name none, as c
// `import a.b`                -> module a.b, name none, as none (binds `a`)
// `from ..m import n as k`    -> level 2, module m, name n, as k
// `from m import *`           -> module m, star
struct Import {
  NameId module;  // dotted; empty text for `from . import x`
  NameId name;
  NameId as_name;
  uint32_t level = 0;
  bool star = false;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// A place that could not be read; becomes AR001 (Syntax) or AR003 (Limit).
enum class ProblemKind : uint8_t { Syntax, Limit };
struct Problem {
  ProblemKind kind = ProblemKind::Syntax;
  std::string text;  // "unexpected `)`", "nesting deeper than 500 levels"
  uint32_t begin = 0;
  uint32_t end = 0;
};

// A comment's place and text without the mark, in order; suppressions and fixtures read them.
struct Comment {
  uint32_t begin = 0;
  uint32_t end = 0;
};

enum class Language : uint8_t { Python, C, Cpp };

struct Module {
  source::FileId file;
  Language language = Language::Python;
  base::IdVector<ExprId, Expr> exprs;
  base::IdVector<StmtId, Stmt> stmts;
  base::IdVector<BlockId, Block> blocks;
  base::IdVector<FunctionId, Function> functions;  // [0] is the module's top level
  base::IdVector<ClassId, Class> classes;
  base::IdVector<ImportId, Import> imports;
  std::vector<uint32_t> words;        // lists of ids and small numbers
  std::vector<StmtId> block_stmts;
  std::vector<Clause> clauses;
  std::vector<Handler> handlers;
  std::vector<WithItem> with_items;
  std::vector<MatchCase> cases;
  std::vector<Problem> problems;
  std::vector<Comment> comments;

  const Expr& operator[](ExprId id) const { return exprs[id]; }
  const Stmt& operator[](StmtId id) const { return stmts[id]; }
  source::Span span(ExprId id) const { return {file, exprs[id].begin, exprs[id].end}; }
  source::Span span(StmtId id) const { return {file, stmts[id].begin, stmts[id].end}; }
  std::span<const StmtId> statements(BlockId id) const {
    if (!id) return {};
    return std::span(block_stmts).subspan(blocks[id].start, blocks[id].count);
  }
  size_t byte_size() const;  // of all arrays, for the memory budget
};

// ---- Views: how the fields of a node are read -------------------------------------------------------------------

inline std::span<const uint32_t> Words(const Module& module, List list) {
  return std::span(module.words).subspan(list.start, list.count);
}
// A list of expressions, as ids.
struct ExprList {
  std::span<const uint32_t> words;
  size_t size() const { return words.size(); }
  ExprId operator[](size_t index) const { return ExprId{words[index]}; }
  struct Iterator {
    const uint32_t* at;
    ExprId operator*() const { return ExprId{*at}; }
    Iterator& operator++() { ++at; return *this; }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {words.data()}; }
  Iterator end() const { return {words.data() + words.size()}; }
};
inline ExprList Exprs(const Module& module, List list) { return {Words(module, list)}; }

// Name: a = NameId. What a front end resolved itself (C++) has kResolvedName: a = qualified name, with dots, b = symbol,
// which is the one of a Function or Class wherever the program defines it; kVariable: it is a variable with static
// storage; kConstructor: a class, b = symbol of the constructor that is called, if there is one.
constexpr uint16_t kResolvedName = 4;
constexpr uint16_t kVariable = 16;
constexpr uint16_t kConstructor = 32;
// Name, Subscript; C++: a variable or item that is a number, and neither a pointer nor an array.
constexpr uint16_t kNumber = 128;
// Name; C++: the address of a number is taken here, `ask(&count)`: who gets it may store another one.
constexpr uint16_t kAddress = 512;
inline NameId SymbolOf(const Expr& expr) { return NameId{expr.b}; }
inline NameId NameOf(const Expr& expr) { return NameId{expr.a}; }
// Constant: op = ConstantKind; Int: a, b = low and high half of the value (kBigInt: it does not fit, value unknown);
// Float, Complex, Str, Bytes: a = NameId of the text (strings decoded, over 256 bytes left out: none).
constexpr uint16_t kBigInt = 8;
inline ConstantKind ConstantKindOf(const Expr& expr) { return static_cast<ConstantKind>(expr.op); }
inline int64_t IntOf(const Expr& expr) { return static_cast<int64_t>((uint64_t{expr.b} << 32) | expr.a); }
inline NameId TextOf(const Expr& expr) { return NameId{expr.a}; }
// FString, Tuple, List, Set, Slice (3, parts may be none), Opaque: a, b = list of expressions. FString, kFormatted: a part is not
// printed as `str` prints it.
constexpr uint16_t kFormatted = 256;
inline ExprList Items(const Module& module, const Expr& expr) { return Exprs(module, {expr.a, expr.b}); }
// Attribute: a = object, b = NameId.
inline ExprId ObjectOf(const Expr& expr) { return ExprId{expr.a}; }
inline NameId AttrOf(const Expr& expr) { return NameId{expr.b}; }
// Subscript: a = object, b = index (a Tuple for several, a Slice for a slice).
inline ExprId IndexOf(const Expr& expr) { return ExprId{expr.b}; }
// Call: a = callee, b = index in words of {count, then count × (kind, keyword, value)}. kMethodCall: the callee is a
// resolved name, and the first argument is the object that it is called on.
constexpr uint16_t kMethodCall = 64;
inline ExprId CalleeOf(const Expr& expr) { return ExprId{expr.a}; }
inline uint32_t ArgCount(const Module& module, const Expr& call) { return module.words[call.b]; }
inline Arg ArgAt(const Module& module, const Expr& call, uint32_t index) {
  const uint32_t* at = &module.words[call.b + 1 + 3 * index];
  return {static_cast<ArgKind>(at[0]), NameId{at[1]}, ExprId{at[2]}};
}
// Unary: op = UnaryOp, a; a minus before an integer literal is part of the Int.
// Await, Yield (a may be none), YieldFrom, Starred: a.
inline ExprId OperandOf(const Expr& expr) { return ExprId{expr.a}; }
// Binary: op = BinaryOp, a, b. Walrus: a = target, b = value.
inline ExprId LeftOf(const Expr& expr) { return ExprId{expr.a}; }
inline ExprId RightOf(const Expr& expr) { return ExprId{expr.b}; }
// Bool: op = BoolOp; a, b = list. (Items)
// Compare: a = first operand, b = index in words of {count, then count × (CompareOp, operand)}.
struct Comparison {
  CompareOp op;
  ExprId operand;
};
inline uint32_t ComparisonCount(const Module& module, const Expr& expr) { return module.words[expr.b]; }
inline Comparison ComparisonAt(const Module& module, const Expr& expr, uint32_t index) {
  const uint32_t* at = &module.words[expr.b + 1 + 2 * index];
  return {static_cast<CompareOp>(at[0]), ExprId{at[1]}};
}
// Conditional: a = test, b = index in words of {then, else}.
inline ExprId TestOf(const Expr& expr) { return ExprId{expr.a}; }
inline ExprId ThenOf(const Module& module, const Expr& expr) { return ExprId{module.words[expr.b]}; }
inline ExprId ElseOf(const Module& module, const Expr& expr) { return ExprId{module.words[expr.b + 1]}; }
// Dict: a, b = list of pairs (key or none, value), two words each; b counts pairs.
inline uint32_t DictCount(const Expr& expr) { return expr.b; }
inline DictItem DictItemAt(const Module& module, const Expr& expr, uint32_t index) {
  return {ExprId{module.words[expr.a + 2 * index]}, ExprId{module.words[expr.a + 2 * index + 1]}};
}
// Lambda: a = FunctionId.
inline FunctionId LambdaOf(const Expr& expr) { return FunctionId{expr.a}; }
// Comprehension: op = ComprehensionKind; a = element (of a dict: a Tuple of key and value);
// b = index in words of {first clause, count}.
inline std::span<const Clause> ClausesOf(const Module& module, const Expr& expr) {
  return std::span(module.clauses).subspan(module.words[expr.b], module.words[expr.b + 1]);
}

// Statements. Blocks may be none where the source has no such part.
// Expr: a. Return: a (may be none). Raise: a, b = exception and cause (may be none). Assert: a = test, b = message.
inline ExprId ValueOf(const Stmt& stmt) { return ExprId{stmt.a}; }
// Assign: a, c = list of targets; b = value. Delete, Opaque: a, c = list of expressions.
inline ExprList TargetsOf(const Module& module, const Stmt& stmt) { return Exprs(module, {stmt.a, stmt.c}); }
inline ExprId AssignedOf(const Stmt& stmt) { return ExprId{stmt.b}; }
// AugAssign: op = BinaryOp; a = target, b = value. AnnAssign: a = target, b = value (may be none), c = annotation.
// If: a = test, b = then, c = else (an `elif` is an else block of one If).
// For: a = target, b = iterable, c = body, d = else. While: a = test, c = body, d = else.
inline BlockId BodyOf(const Stmt& stmt) {
  return BlockId{stmt.kind == StmtKind::If || stmt.kind == StmtKind::With ? stmt.b : stmt.c};
}
inline BlockId ElseBlockOf(const Stmt& stmt) { return BlockId{stmt.kind == StmtKind::If ? stmt.c : stmt.d}; }
// Try: a = body, b = index in words of {first handler, count}, c = else, d = finally.
inline BlockId TriedOf(const Stmt& stmt) { return BlockId{stmt.a}; }
inline BlockId TryElseOf(const Stmt& stmt) { return BlockId{stmt.c}; }
inline BlockId FinallyOf(const Stmt& stmt) { return BlockId{stmt.d}; }
inline std::span<const Handler> HandlersOf(const Module& module, const Stmt& stmt) {
  return std::span(module.handlers).subspan(module.words[stmt.b], module.words[stmt.b + 1]);
}
// With: a = index in words of {first item, count}, b = body.
inline std::span<const WithItem> WithItemsOf(const Module& module, const Stmt& stmt) {
  return std::span(module.with_items).subspan(module.words[stmt.a], module.words[stmt.a + 1]);
}
// Match: a = subject, b = index in words of {first case, count}.
inline std::span<const MatchCase> CasesOf(const Module& module, const Stmt& stmt) {
  return std::span(module.cases).subspan(module.words[stmt.b], module.words[stmt.b + 1]);
}
// Global, Nonlocal: a, c = list of NameId words.
inline std::span<const uint32_t> NamesOf(const Module& module, const Stmt& stmt) {
  return Words(module, {stmt.a, stmt.c});
}
// Import: a = first ImportId, c = count. FunctionDef: a = FunctionId. ClassDef: a = ClassId.
inline FunctionId FunctionOf(const Stmt& stmt) { return FunctionId{stmt.a}; }
inline ClassId ClassOf(const Stmt& stmt) { return ClassId{stmt.a}; }

constexpr FunctionId kTopLevel{0};

// No statement or expression of a module lies deeper than this, counting both, functions and classes included: so a
// recursive walk is safe. Front ends stop at `kMaxLoweredDepth` and leave an Opaque and a Problem there.
constexpr uint32_t kMaxDepth = 512;
constexpr uint32_t kMaxLoweredDepth = 500;

using Modules = base::IdVector<ModuleId, Module>;

}  // namespace allranks::ir
