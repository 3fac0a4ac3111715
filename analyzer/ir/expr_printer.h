#pragma once

#include <string>
#include <string_view>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"

namespace allranks::ir {

// As Python writes it.
std::string_view TextOf(BinaryOp op);

// Appends expressions to a text. The depth of the IR is bounded, so it may recurse.
class ExprPrinter {
 public:
  ExprPrinter(const Module& module, const base::Interner& interner, std::string* out)
      : module_(module), interner_(interner), out_(*out) {}

  void Print(ExprId id);
  void PrintList(ExprList items);
  void PrintArg(const Arg& arg);
  void PrintParams(const Function& function);
  void PrintName(NameId name);

 private:
  void PrintConstant(const Expr& expr);
  void PrintQuoted(std::string_view text);
  void PrintCall(const Expr& expr);
  void PrintDict(const Expr& expr);
  void PrintSlice(const Expr& expr);
  void PrintTuple(const Expr& expr);
  void PrintBool(const Expr& expr);
  void PrintCompare(const Expr& expr);
  void PrintComprehension(const Expr& expr);
  void PrintClause(const Clause& clause);
  void PrintLambda(const Expr& expr);
  void PrintParam(const Param& param);
  // `open`, the expression, `close`.
  void PrintAround(std::string_view open, ExprId id, std::string_view close);
  void PrintListAround(std::string_view open, const Expr& expr, std::string_view close);

  const Module& module_;
  const base::Interner& interner_;
  std::string& out_;
};

}  // namespace allranks::ir
