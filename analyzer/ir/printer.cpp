#include "analyzer/ir/printer.h"

#include <string_view>

#include "analyzer/ir/expr_printer.h"

namespace allranks::ir {
namespace {

constexpr size_t kIndentWidth = 2;

class Printer {
 public:
  Printer(const Module& module, const base::Interner& interner, const source::SourceFile* file)
      : module_(module), interner_(interner), file_(file), exprs_(module, interner, &out_) {}

  std::string Run(FunctionId only) {
    if (only) {
      PrintFunction(module_.functions[only]);
      return std::move(out_);
    }
    PrintBlock(module_.functions[kTopLevel].body);
    for (const Problem& problem : module_.problems) PrintProblem(problem);
    return std::move(out_);
  }

 private:
  void Indent() { out_.append(indent_ * kIndentWidth, ' '); }

  void EndLine(uint32_t offset) {
    if (file_ != nullptr) {
      out_ += "  @";
      out_ += std::to_string(source::Locate(*file_, offset).line + 1);
    }
    out_ += '\n';
  }

  // `head`, an expression, `tail`, line end.
  void PrintLine(std::string_view head, ExprId expr, std::string_view tail, uint32_t offset) {
    Indent();
    out_ += head;
    exprs_.Print(expr);
    out_ += tail;
    EndLine(offset);
  }

  void PrintBlock(BlockId id) {
    for (const StmtId stmt : module_.statements(id)) PrintStmt(module_[stmt]);
  }

  void PrintIndented(BlockId id) {
    ++indent_;
    PrintBlock(id);
    --indent_;
  }

  void PrintElse(std::string_view head, BlockId id) {
    if (!id) return;
    Indent();
    out_ += head;
    out_ += '\n';
    PrintIndented(id);
  }

  void PrintStmt(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::Expr:
        return PrintLine("", ValueOf(stmt), "", stmt.begin);
      case StmtKind::Assign:
        return PrintAssign(stmt);
      case StmtKind::AugAssign:
        return PrintAugAssign(stmt);
      case StmtKind::AnnAssign:
        return PrintAnnAssign(stmt);
      case StmtKind::If:
        PrintLine("if ", ValueOf(stmt), ":", stmt.begin);
        PrintIndented(BodyOf(stmt));
        return PrintElse("else:", ElseBlockOf(stmt));
      case StmtKind::For:
        return PrintFor(stmt);
      case StmtKind::While:
        PrintLine("while ", ValueOf(stmt), ":", stmt.begin);
        PrintIndented(BodyOf(stmt));
        return PrintElse("else:", ElseBlockOf(stmt));
      case StmtKind::Try:
        return PrintTry(stmt);
      case StmtKind::With:
        return PrintWith(stmt);
      case StmtKind::Match:
        return PrintMatch(stmt);
      case StmtKind::Return:
        return PrintLine(ValueOf(stmt) ? "return " : "return", ValueOf(stmt), "", stmt.begin);
      case StmtKind::Break:
        return PrintLine("break", {}, "", stmt.begin);
      case StmtKind::Continue:
        return PrintLine("continue", {}, "", stmt.begin);
      case StmtKind::Raise:
        return PrintPair("raise", ValueOf(stmt), " from ", ExprId{stmt.b}, stmt.begin);
      case StmtKind::Assert:
        return PrintPair("assert", ValueOf(stmt), ", ", ExprId{stmt.b}, stmt.begin);
      case StmtKind::Delete:
        return PrintTargets("del ", stmt, "");
      case StmtKind::Pass:
        return PrintLine("pass", {}, "", stmt.begin);
      case StmtKind::Global:
        return PrintNames("global ", stmt);
      case StmtKind::Nonlocal:
        return PrintNames("nonlocal ", stmt);
      case StmtKind::Import:
        return PrintImports(stmt);
      case StmtKind::FunctionDef:
        return PrintFunction(module_.functions[FunctionOf(stmt)]);
      case StmtKind::ClassDef:
        return PrintClass(module_.classes[ClassOf(stmt)]);
      case StmtKind::Opaque:
        return PrintTargets(TargetsOf(module_, stmt).size() == 0 ? "<opaque" : "<opaque ", stmt, ">");
    }
  }

  void PrintPair(std::string_view head, ExprId first, std::string_view between, ExprId second,
                 uint32_t offset) {
    Indent();
    out_ += head;
    if (first) out_ += ' ';
    exprs_.Print(first);
    if (second) out_ += between;
    exprs_.Print(second);
    EndLine(offset);
  }

  void PrintTargets(std::string_view head, const Stmt& stmt, std::string_view tail) {
    Indent();
    out_ += head;
    exprs_.PrintList(TargetsOf(module_, stmt));
    out_ += tail;
    EndLine(stmt.begin);
  }

  void PrintNames(std::string_view head, const Stmt& stmt) {
    Indent();
    out_ += head;
    std::string_view comma;
    for (const uint32_t name : NamesOf(module_, stmt)) {
      out_ += comma;
      exprs_.PrintName(NameId{name});
      comma = ", ";
    }
    EndLine(stmt.begin);
  }

  void PrintAssign(const Stmt& stmt) {
    Indent();
    for (const ExprId target : TargetsOf(module_, stmt)) {
      exprs_.Print(target);
      out_ += " = ";
    }
    exprs_.Print(AssignedOf(stmt));
    EndLine(stmt.begin);
  }

  void PrintAugAssign(const Stmt& stmt) {
    Indent();
    exprs_.Print(ExprId{stmt.a});
    out_ += ' ';
    out_ += TextOf(static_cast<BinaryOp>(stmt.op));
    out_ += "= ";
    exprs_.Print(ExprId{stmt.b});
    EndLine(stmt.begin);
  }

  void PrintAnnAssign(const Stmt& stmt) {
    Indent();
    exprs_.Print(ExprId{stmt.a});
    out_ += ": ";
    exprs_.Print(ExprId{stmt.c});
    if (AssignedOf(stmt)) out_ += " = ";
    exprs_.Print(AssignedOf(stmt));
    EndLine(stmt.begin);
  }

  void PrintFor(const Stmt& stmt) {
    Indent();
    out_ += (stmt.flags & kAsync) != 0 ? "async for " : "for ";
    exprs_.Print(ExprId{stmt.a});
    out_ += " in ";
    exprs_.Print(ExprId{stmt.b});
    out_ += ':';
    EndLine(stmt.begin);
    PrintIndented(BodyOf(stmt));
    PrintElse("else:", ElseBlockOf(stmt));
  }

  void PrintTry(const Stmt& stmt) {
    PrintLine("try:", {}, "", stmt.begin);
    PrintIndented(TriedOf(stmt));
    for (const Handler& handler : HandlersOf(module_, stmt)) {
      Indent();
      out_ += (stmt.flags & kExceptGroup) != 0 ? "except*" : "except";
      if (handler.type) out_ += ' ';
      exprs_.Print(handler.type);
      if (handler.name) out_ += " as ";
      exprs_.PrintName(handler.name);
      out_ += ':';
      EndLine(handler.begin);
      PrintIndented(handler.body);
    }
    PrintElse("else:", TryElseOf(stmt));
    PrintElse("finally:", FinallyOf(stmt));
  }

  void PrintWith(const Stmt& stmt) {
    Indent();
    out_ += (stmt.flags & kAsync) != 0 ? "async with " : "with ";
    std::string_view comma;
    for (const WithItem& item : WithItemsOf(module_, stmt)) {
      out_ += comma;
      exprs_.Print(item.context);
      if (item.target) out_ += " as ";
      exprs_.Print(item.target);
      comma = ", ";
    }
    out_ += ':';
    EndLine(stmt.begin);
    PrintIndented(BodyOf(stmt));
  }

  void PrintMatch(const Stmt& stmt) {
    PrintLine("match ", ValueOf(stmt), ":", stmt.begin);
    ++indent_;
    for (const MatchCase& match_case : CasesOf(module_, stmt)) {
      Indent();
      out_ += match_case.irrefutable && !match_case.guard ? "case always " : "case ";
      exprs_.Print(match_case.pattern);
      if (match_case.guard) out_ += " if ";
      exprs_.Print(match_case.guard);
      out_ += ":\n";
      PrintIndented(match_case.body);
    }
    --indent_;
  }

  void PrintImports(const Stmt& stmt) {
    for (uint32_t i = 0; i < stmt.c; ++i) PrintImport(module_.imports[ImportId{stmt.a + i}]);
  }

  void PrintImport(const Import& import) {
    Indent();
    if (import.name || import.star) {
      out_ += "from ";
      out_.append(import.level, '.');
      exprs_.PrintName(import.module);
      out_ += import.star ? " import *" : " import ";
      exprs_.PrintName(import.name);
    } else {
      out_ += "import ";
      exprs_.PrintName(import.module);
    }
    if (import.as_name) out_ += " as ";
    exprs_.PrintName(import.as_name);
    EndLine(import.begin);
  }

  void PrintDecorators(const std::vector<ExprId>& decorators) {
    for (const ExprId decorator : decorators) PrintLine("@", decorator, "", module_[decorator].begin);
  }

  void PrintFunction(const Function& function) {
    PrintDecorators(function.decorators);
    Indent();
    if (function.is_generator) out_ += "generator ";
    out_ += (function.flags & kAsync) != 0 ? "async def " : "def ";
    exprs_.PrintName(function.name);
    out_ += '(';
    exprs_.PrintParams(function);
    out_ += ')';
    if (function.returns_annotation) out_ += " -> ";
    exprs_.Print(function.returns_annotation);
    out_ += ':';
    EndLine(function.name_begin);
    PrintIndented(function.body);
  }

  void PrintClass(const Class& defined) {
    PrintDecorators(defined.decorators);
    Indent();
    out_ += "class ";
    exprs_.PrintName(defined.name);
    out_ += '(';
    for (size_t i = 0; i < defined.bases.size(); ++i) {
      if (i > 0) out_ += ", ";
      exprs_.PrintArg(defined.bases[i]);
    }
    out_ += "):";
    EndLine(defined.name_begin);
    PrintIndented(defined.body);
  }

  void PrintProblem(const Problem& problem) {
    out_ += problem.kind == ProblemKind::Syntax ? "problem syntax: " : "problem limit: ";
    out_ += problem.text;
    EndLine(problem.begin);
  }

  const Module& module_;
  const base::Interner& interner_;
  const source::SourceFile* file_;
  std::string out_;
  ExprPrinter exprs_;
  size_t indent_ = 0;
};

}  // namespace

std::string Print(const Module& module, const base::Interner& interner, const PrintOptions& options) {
  return Printer(module, interner, options.file).Run(options.function);
}

std::string PrintExpr(const Module& module, const base::Interner& interner, ExprId id) {
  std::string text;
  ExprPrinter(module, interner, &text).Print(id);
  return text;
}

}  // namespace allranks::ir
