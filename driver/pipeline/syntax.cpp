#include "driver/pipeline/syntax.h"

#include <algorithm>

namespace allranks::pipeline {
namespace {

using ir::StmtKind;

uint32_t EndOf(const ir::Module& module, ir::ExprId expr, uint32_t otherwise) {
  return expr ? std::max(module[expr].end, otherwise) : otherwise;
}

uint32_t FunctionHeaderEnd(const ir::Module& module, const ir::Function& function) {
  uint32_t end = EndOf(module, function.returns_annotation, function.name_end);
  for (const ir::Param& param : function.params) end = std::max(end, param.end);
  return end;
}

uint32_t ClassHeaderEnd(const ir::Module& module, const ir::Class& one) {
  uint32_t end = one.name_end;
  for (const ir::Arg& base : one.bases) end = EndOf(module, base.value, end);
  return end;
}

uint32_t WithHeaderEnd(const ir::Module& module, const ir::Stmt& stmt) {
  uint32_t end = stmt.begin;
  for (const ir::WithItem& item : ir::WithItemsOf(module, stmt)) {
    end = EndOf(module, item.target, EndOf(module, item.context, end));
  }
  return end;
}

// Where the part of a statement ends that comes before its first block.
uint32_t HeaderEnd(const ir::Module& module, const ir::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::If: return EndOf(module, ir::ExprId{stmt.a}, stmt.begin);
    case StmtKind::For: return EndOf(module, ir::ExprId{stmt.b}, stmt.begin);
    case StmtKind::While: return EndOf(module, ir::ExprId{stmt.a}, stmt.begin);
    case StmtKind::Match: return EndOf(module, ir::ExprId{stmt.a}, stmt.begin);
    case StmtKind::Try: return stmt.begin;
    case StmtKind::With: return WithHeaderEnd(module, stmt);
    case StmtKind::FunctionDef: return FunctionHeaderEnd(module, module.functions[ir::FunctionOf(stmt)]);
    case StmtKind::ClassDef: return ClassHeaderEnd(module, module.classes[ir::ClassOf(stmt)]);
    default: return stmt.end;
  }
}

}  // namespace

findings::FileSyntax SyntaxOf(const ir::Module& module) {
  findings::FileSyntax syntax{.file = module.file};
  if (module.language != ir::Language::Python) syntax.comment_mark = "//";
  syntax.statements.reserve(module.stmts.size());
  for (const ir::Stmt& stmt : module.stmts) {
    syntax.statements.push_back({stmt.begin, stmt.end, HeaderEnd(module, stmt)});
  }
  for (const ir::Comment& comment : module.comments) syntax.comments.push_back({comment.begin, comment.end, comment.end});
  return syntax;
}

}  // namespace allranks::pipeline
