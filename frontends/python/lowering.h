#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/builder.h"
#include "frontends/python/cursor.h"
#include "frontends/python/name_cache.h"
#include "frontends/python/scratch.h"
#include "frontends/python/string_literal.h"

namespace allranks::python {

using ir::BlockId;
using ir::ExprId;
using ir::NameId;
using ir::Range;
using ir::StmtId;

// Turns one syntax tree into IR. A method named after a construct expects the cursor on its node and leaves
// it there.
//
// Recursion follows the depth of the IR, which is capped: what nests deeper becomes an `Opaque` with a
// problem. What real programs nest without bound (operator, call and `elif` chains, parentheses) is walked in
// loops.
class Lowering {
 public:
  // `is_over`: whether to give up, and must live as long; then GivenUp is thrown (lower.h).
  Lowering(ir::Builder* builder, base::Interner* interner, const std::function<bool()>& is_over)
      : builder_(*builder), interner_(*interner), names_(interner), is_over_(is_over) {}

  // Lowers a tree's statements to the end of the module's top level. `text` is what was parsed: as long as
  // the file's text, and equal to it but for what was hidden from the parser. It must outlive the object.
  void Tree(TSNode root, std::string_view text);
  // Something that cannot be read was hidden here, behind code that means nothing.
  void AddMasked(Range range) { masked_.push_back(range); }
  bool IsMasked(uint32_t offset) const;
  // Stars that were blanked before elements of tuples.
  void AddStars(const std::vector<uint32_t>& stars) {
    stars_.insert(stars_.end(), stars.begin(), stars.end());
  }
  // Adds an opaque statement and a problem for a stretch that has no tree.
  void Unreadable(Range range, std::string why);
  // Ends the module's top level.
  void FinishTopLevel();

 private:
  // Throws GivenUp when the time is over.
  void Look();

  using ExprList = Scratch<ExprId>;
  using StmtList = Scratch<StmtId>;

  // What surrounds a node.
  struct Scope {
    ir::FunctionId function = ir::kTopLevel;
    // The class whose body the node stands in directly.
    ir::ClassId owner;
    bool has_yield = false;
  };
  // One more level of the IR while it lives.
  class Deeper {
   public:
    explicit Deeper(Lowering* lowering) : depth_(lowering->depth_) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    uint32_t& depth_;
  };
  // A link of a left-recursive chain such as `a.b(c) + d`, outermost first.
  struct Link {
    Kind kind;
    // Of a boolean operator.
    ir::BoolOp op;
    // Of a boolean operator: the operands join those of the link outside.
    bool joins;
    uint32_t begin;
    uint32_t end;
    // Levels of the IR between the chain's top and what stands under this link.
    uint32_t level;
  };

  // ---- statements.cpp
  void Statement(StmtList* out);
  StmtId StatementHere();
  void ErrorNode(StmtList* out, bool is_marked);
  void BlockStatements(StmtList* out);
  BlockId Block();
  // The block that the node has as a child.
  BlockId BlockInside();
  StmtId ExpressionStatement();
  bool IsDocstring();
  StmtId Assignment(Range range);
  StmtId AugmentedAssignment(Range range);
  StmtId Return();
  StmtId Delete();
  StmtId Raise();
  StmtId Assert();
  StmtId Names(bool global);
  StmtId TypeAlias();
  StmtId PythonTwoStatement(std::string_view what);
  StmtId OpaqueStatement();

  // ---- compound_statements.cpp
  struct IfPart {
    ExprId test;
    BlockId block;
    uint32_t begin;
  };
  StmtId If();
  void IfPartOf(Kind child, Scratch<IfPart>* parts);
  BlockId TooDeepBlock(Range range);
  StmtId For();
  StmtId While();
  StmtId Try();
  ir::Handler ExceptClause(bool* is_group);
  NameId NameOfExpr(ExprId id) const;
  StmtId With();
  void WithClause(Scratch<ir::WithItem>* items);
  ir::WithItem WithItem();
  // An expression, and the target of an `as` in it.
  ir::WithItem ExpressionAs();

  // ---- definitions.cpp
  StmtId Decorated();
  StmtId FunctionDefinition(Range range, std::vector<ExprId> decorators);
  StmtId ClassDefinition(Range range, std::vector<ExprId> decorators);
  std::vector<ir::Param> Parameters();
  void Parameter(ir::ParamKind* kind_now, std::vector<ir::Param>* params);
  ir::Param OneParameter();
  ExprId Lambda();

  // ---- imports_lowering.cpp
  StmtId Import();
  StmtId ImportFrom();
  ir::Import ImportedName(const ir::Import& common, bool from);
  void RelativeModule(ir::Import* common);
  NameId DottedName();

  // ---- match.cpp
  struct Pattern {
    ExprId expr;
    bool irrefutable = false;
  };
  StmtId Match();
  ir::MatchCase Case();
  Pattern CasePattern();
  // The pattern that the node itself is.
  Pattern SimplePattern();
  Pattern SimplePatternHere();
  Pattern DottedNamePattern();
  ExprId DottedValue();
  Pattern Capture(Range range, NameId name);
  Pattern AsPatternOfCase();
  Pattern Union();
  Pattern SequencePattern();
  ExprId ClassPattern();
  ir::Arg PatternArgument();
  ir::Arg KeywordPattern();
  ExprId DictPattern();
  ExprId SplatPattern(bool in_dict);
  ExprId ComplexPattern();
  // A literal with a minus before it; as in expressions, the minus becomes part of an integer.
  ExprId Negated(Range range, ExprId literal);

  // ---- expressions.cpp
  ExprId Expression();
  ExprId CompoundExpression();
  ExprId Name();
  ExprId Number();
  ExprId Comparison();
  ExprId Unary();
  ExprId Not();
  ExprId Conditional();
  ExprId NamedExpression();
  ExprId Yield();
  ExprId Slice();
  ExprId Starred();
  ExprId Type();
  ExprId GenericType();
  ExprId OnlyChild();
  // A sequence in parentheses or without: a tuple, unless it is one target in parentheses.
  ExprId TupleOf();
  // An element of a tuple, with the star that was blanked before it.
  ExprId Element();
  ExprId AsPattern();
  ExprId CallOfType(Range range, std::span<const ExprId> values);
  ExprId Comprehension(ir::ComprehensionKind kind);
  void ForInClause(Scratch<ir::Clause>* clauses);
  ExprId Dictionary();
  ir::DictItem Pair();
  ExprId Opaque();
  // Stops at the greatest depth: an opaque expression and a problem.
  ExprId TooDeep();
  void AddTooDeep(Range range);
  void AddSyntaxProblem(Range range, std::string text);
  // The expressions among a node's children, and among those of children that are none themselves.
  void CollectExpressions(ExprList* out);
  ExprId MissingExpr(uint32_t offset);

  // ---- chains.cpp
  ExprId Chain();
  bool EnterLeftOperand();
  uint32_t PushLinks();
  ExprId ChainBase(bool* starred);
  ExprId FinishLink(const Link& link, ExprId left, ExprList* bool_operands);
  void CollectLink(const Link& link, ExprList* parts);
  ExprId IndexOfSubscript();
  void Arguments(Scratch<ir::Arg>* args);
  void ArgumentList(Scratch<ir::Arg>* args);
  ir::Arg Argument(Kind argument);
  ir::Arg KeywordArgument();

  // ---- strings.cpp
  struct StringParts;
  ExprId String();
  void StringPiece(StringParts* parts);
  void AddText(Range range, StringPrefix prefix, StringParts* parts);
  void AddSelfDocumentation(StringParts* parts);
  void InterpolationOf(StringParts* parts);
  ExprId TextConstant(Range range, ir::ConstantKind kind, const LiteralText& text);

  // ---- helpers
  std::string_view TextHere() const {
    return text_.substr(cursor_->begin(), cursor_->end() - cursor_->begin());
  }
  NameId NameHere() { return names_.Intern(TextHere()); }
  bool at_limit() const { return depth_ >= ir::kMaxLoweredDepth; }
  Kind kind() const { return cursor_->kind(); }
  Range range() const { return cursor_->range(); }
  // Damage is looked for only in files that have any.
  bool IsDamaged() { return has_errors_ && cursor_->HasErrorChild(); }

  std::string_view text_;
  ir::Builder& builder_;
  base::Interner& interner_;
  NameCache names_;
  const std::function<bool()>& is_over_;
  uint32_t looks_ = 0;
  Cursor* cursor_ = nullptr;
  bool has_errors_ = false;
  // Of the node at hand, in levels of the IR.
  uint32_t depth_ = 0;
  Scope scope_;
  // Where the target of an `as` goes; null where there is none to expect.
  ExprId* as_target_ = nullptr;
  // `type(x).y = z`, which the grammar takes for a type alias: where the statement and its parentheses begin.
  struct TypeCall {
    uint32_t statement = UINT32_MAX;
    uint32_t begin = UINT32_MAX;
  };
  TypeCall type_call_;

  std::vector<Range> masked_;
  std::vector<uint32_t> stars_;

  std::vector<StmtId> top_level_;
  std::vector<ExprId> expr_store_;
  std::vector<StmtId> stmt_store_;
  std::vector<ir::Arg> arg_store_;
  std::vector<ir::Comparison> comparison_store_;
  std::vector<ir::DictItem> dict_store_;
  std::vector<ir::Clause> clause_store_;
  std::vector<ir::Handler> handler_store_;
  std::vector<ir::WithItem> with_store_;
  std::vector<ir::MatchCase> case_store_;
  std::vector<ir::Import> import_store_;
  std::vector<NameId> name_store_;
  std::vector<IfPart> if_store_;
  std::vector<Link> links_;
};

}  // namespace allranks::python
