#include "analyzer/ir/expr_printer.h"

namespace allranks::ir {
namespace {

std::string_view Text(UnaryOp op) {
  switch (op) {
    case UnaryOp::Not:
      return "not ";
    case UnaryOp::Minus:
      return "-";
    case UnaryOp::Plus:
      return "+";
    case UnaryOp::Invert:
      return "~";
  }
  return "?";
}

std::string_view Text(CompareOp op) {
  switch (op) {
    case CompareOp::Eq:
      return "==";
    case CompareOp::NotEq:
      return "!=";
    case CompareOp::Less:
      return "<";
    case CompareOp::LessEq:
      return "<=";
    case CompareOp::Greater:
      return ">";
    case CompareOp::GreaterEq:
      return ">=";
    case CompareOp::Is:
      return "is";
    case CompareOp::IsNot:
      return "is not";
    case CompareOp::In:
      return "in";
    case CompareOp::NotIn:
      return "not in";
  }
  return "?";
}

}  // namespace

std::string_view TextOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "+";
    case BinaryOp::Sub:
      return "-";
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Div:
      return "/";
    case BinaryOp::FloorDiv:
      return "//";
    case BinaryOp::Mod:
      return "%";
    case BinaryOp::Pow:
      return "**";
    case BinaryOp::MatMul:
      return "@";
    case BinaryOp::LeftShift:
      return "<<";
    case BinaryOp::RightShift:
      return ">>";
    case BinaryOp::BitAnd:
      return "&";
    case BinaryOp::BitOr:
      return "|";
    case BinaryOp::BitXor:
      return "^";
  }
  return "?";
}

void ExprPrinter::PrintName(NameId name) {
  if (name) out_ += interner_.View(name);
}

void ExprPrinter::PrintAround(std::string_view open, ExprId id, std::string_view close) {
  out_ += open;
  Print(id);
  out_ += close;
}

void ExprPrinter::PrintListAround(std::string_view open, const Expr& expr, std::string_view close) {
  out_ += open;
  PrintList(Items(module_, expr));
  out_ += close;
}

void ExprPrinter::Print(ExprId id) {
  if (!id) return;
  const Expr& expr = module_[id];
  switch (expr.kind) {
    case ExprKind::Name:
      return PrintName(NameOf(expr));
    case ExprKind::Constant:
      return PrintConstant(expr);
    case ExprKind::FString:
      return PrintListAround("fstring(", expr, ")");
    case ExprKind::Attribute:
      PrintAround("", ObjectOf(expr), ".");
      return PrintName(AttrOf(expr));
    case ExprKind::Subscript:
      Print(ObjectOf(expr));
      return PrintAround("[", IndexOf(expr), "]");
    case ExprKind::Slice:
      return PrintSlice(expr);
    case ExprKind::Call:
      return PrintCall(expr);
    case ExprKind::Unary:
      out_ += '(';
      out_ += Text(static_cast<UnaryOp>(expr.op));
      return PrintAround("", OperandOf(expr), ")");
    case ExprKind::Binary:
      PrintAround("(", LeftOf(expr), " ");
      out_ += TextOf(static_cast<BinaryOp>(expr.op));
      return PrintAround(" ", RightOf(expr), ")");
    case ExprKind::Bool:
      return PrintBool(expr);
    case ExprKind::Compare:
      return PrintCompare(expr);
    case ExprKind::Conditional:
      PrintAround("(", ThenOf(module_, expr), " if ");
      Print(TestOf(expr));
      return PrintAround(" else ", ElseOf(module_, expr), ")");
    case ExprKind::Tuple:
      return PrintTuple(expr);
    case ExprKind::List:
      return PrintListAround("[", expr, "]");
    case ExprKind::Set:
      return PrintListAround("{", expr, "}");
    case ExprKind::Dict:
      return PrintDict(expr);
    case ExprKind::Lambda:
      return PrintLambda(expr);
    case ExprKind::Comprehension:
      return PrintComprehension(expr);
    case ExprKind::Await:
      return PrintAround("(await ", OperandOf(expr), ")");
    case ExprKind::Yield:
      return PrintAround(OperandOf(expr) ? "(yield " : "(yield", OperandOf(expr), ")");
    case ExprKind::YieldFrom:
      return PrintAround("(yield from ", OperandOf(expr), ")");
    case ExprKind::Walrus:
      PrintAround("(", LeftOf(expr), " := ");
      return PrintAround("", RightOf(expr), ")");
    case ExprKind::Starred:
      return PrintAround("*", OperandOf(expr), "");
    case ExprKind::Opaque:
      return PrintListAround(Items(module_, expr).size() == 0 ? "<opaque" : "<opaque ", expr, ">");
  }
}

void ExprPrinter::PrintList(ExprList items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out_ += ", ";
    Print(items[i]);
  }
}

void ExprPrinter::PrintConstant(const Expr& expr) {
  const NameId text = TextOf(expr);
  switch (ConstantKindOf(expr)) {
    case ConstantKind::None:
      out_ += "None";
      return;
    case ConstantKind::True:
      out_ += "True";
      return;
    case ConstantKind::False:
      out_ += "False";
      return;
    case ConstantKind::Ellipsis:
      out_ += "...";
      return;
    case ConstantKind::Int:
      out_ += (expr.flags & kBigInt) != 0 ? "<big int>" : std::to_string(IntOf(expr));
      return;
    case ConstantKind::Float:
    case ConstantKind::Complex:
      return PrintName(text);
    case ConstantKind::Bytes:
      if (text) out_ += 'b';
      [[fallthrough]];
    case ConstantKind::Str:
      if (!text) {
        out_ += ConstantKindOf(expr) == ConstantKind::Str ? "<long str>" : "<long bytes>";
        return;
      }
      return PrintQuoted(interner_.View(text));
  }
}

void ExprPrinter::PrintQuoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out_ += '\'';
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == '\'') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\r') {
      out_ += "\\r";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out_ += "\\x";
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '\'';
}

void ExprPrinter::PrintSlice(const Expr& expr) {
  const ExprList parts = Items(module_, expr);
  PrintAround("", parts[0], ":");
  Print(parts[1]);
  if (parts[2]) PrintAround(":", parts[2], "");
}

void ExprPrinter::PrintTuple(const Expr& expr) {
  PrintListAround("(", expr, Items(module_, expr).size() == 1 ? ",)" : ")");
}

void ExprPrinter::PrintArg(const Arg& arg) {
  switch (arg.kind) {
    case ArgKind::Positional:
      return Print(arg.value);
    case ArgKind::Star:
      return PrintAround("*", arg.value, "");
    case ArgKind::DoubleStar:
      return PrintAround("**", arg.value, "");
    case ArgKind::Keyword:
      PrintName(arg.keyword);
      return PrintAround("=", arg.value, "");
  }
}

void ExprPrinter::PrintCall(const Expr& expr) {
  PrintAround("", CalleeOf(expr), "(");
  for (uint32_t i = 0; i < ArgCount(module_, expr); ++i) {
    if (i > 0) out_ += ", ";
    PrintArg(ArgAt(module_, expr, i));
  }
  out_ += ')';
}

void ExprPrinter::PrintDict(const Expr& expr) {
  out_ += '{';
  for (uint32_t i = 0; i < DictCount(expr); ++i) {
    if (i > 0) out_ += ", ";
    const DictItem item = DictItemAt(module_, expr, i);
    if (item.key) {
      PrintAround("", item.key, ": ");
    } else {
      out_ += "**";
    }
    Print(item.value);
  }
  out_ += '}';
}

void ExprPrinter::PrintBool(const Expr& expr) {
  const std::string_view op = static_cast<BoolOp>(expr.op) == BoolOp::And ? " and " : " or ";
  const ExprList items = Items(module_, expr);
  out_ += '(';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out_ += op;
    Print(items[i]);
  }
  out_ += ')';
}

void ExprPrinter::PrintCompare(const Expr& expr) {
  PrintAround("(", LeftOf(expr), "");
  for (uint32_t i = 0; i < ComparisonCount(module_, expr); ++i) {
    const Comparison comparison = ComparisonAt(module_, expr, i);
    out_ += ' ';
    out_ += Text(comparison.op);
    PrintAround(" ", comparison.operand, "");
  }
  out_ += ')';
}

void ExprPrinter::PrintClause(const Clause& clause) {
  out_ += clause.is_async ? " async for " : " for ";
  PrintAround("", clause.target, " in ");
  Print(clause.iter);
  for (const ExprId condition : Exprs(module_, clause.conditions)) PrintAround(" if ", condition, "");
}

void ExprPrinter::PrintComprehension(const Expr& expr) {
  const ComprehensionKind kind = static_cast<ComprehensionKind>(expr.op);
  const ExprId element{expr.a};
  const bool pair = kind == ComprehensionKind::Dict && module_[element].kind == ExprKind::Tuple &&
                    Items(module_, module_[element]).size() == 2;
  out_ += kind == ComprehensionKind::List ? '[' : kind == ComprehensionKind::Generator ? '(' : '{';
  if (pair) {
    PrintAround("", Items(module_, module_[element])[0], ": ");
    Print(Items(module_, module_[element])[1]);
  } else {
    Print(element);
  }
  for (const Clause& clause : ClausesOf(module_, expr)) PrintClause(clause);
  out_ += kind == ComprehensionKind::List ? ']' : kind == ComprehensionKind::Generator ? ')' : '}';
}

void ExprPrinter::PrintLambda(const Expr& expr) {
  const Function& function = module_.functions[LambdaOf(expr)];
  out_ += function.params.empty() ? "(lambda" : "(lambda ";
  PrintParams(function);
  out_ += ": ";
  for (const StmtId id : module_.statements(function.body)) {
    if (module_[id].kind == StmtKind::Return) Print(ValueOf(module_[id]));
  }
  out_ += ')';
}

void ExprPrinter::PrintParam(const Param& param) {
  if (param.kind == ParamKind::Star) out_ += '*';
  if (param.kind == ParamKind::DoubleStar) out_ += "**";
  PrintName(param.name);
  if (param.annotation) PrintAround(": ", param.annotation, "");
  if (param.default_value) PrintAround(param.annotation ? " = " : "=", param.default_value, "");
}

void ExprPrinter::PrintParams(const Function& function) {
  bool keyword_only = false;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const Param& param = function.params[i];
    if (i > 0) out_ += ", ";
    const bool after_positional = i > 0 && function.params[i - 1].kind == ParamKind::PositionalOnly;
    if (after_positional && param.kind != ParamKind::PositionalOnly) out_ += "/, ";
    if (param.kind == ParamKind::KeywordOnly && !keyword_only) out_ += "*, ";
    keyword_only = keyword_only || param.kind == ParamKind::KeywordOnly || param.kind == ParamKind::Star;
    PrintParam(param);
  }
  if (!function.params.empty() && function.params.back().kind == ParamKind::PositionalOnly) out_ += ", /";
}

}  // namespace allranks::ir
