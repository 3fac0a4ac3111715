#include "frontends/cpp/clang/naming.h"

#include <llvm/Support/raw_ostream.h>

namespace allranks::cpp {
namespace {

std::string ScopeOf(const clang::DeclContext* scope) {
  std::string text;
  for (; scope != nullptr && !scope->isTranslationUnit(); scope = scope->getParent()) {
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(scope)) {
      if (space->isInline() || space->isAnonymousNamespace()) continue;
    }
    // The names of a plain enumeration stand in the scope around it.
    const auto* names = llvm::dyn_cast<clang::EnumDecl>(scope);
    if (names != nullptr && !names->isScoped()) continue;
    const auto* named = llvm::dyn_cast<clang::NamedDecl>(scope);
    if (named == nullptr || llvm::isa<clang::LinkageSpecDecl>(scope)) continue;
    text = ShortName(*named) + "." + text;
  }
  return text;
}

bool IsOfOneFile(const clang::NamedDecl& decl) {
  return !decl.isExternallyVisible() && !llvm::isa<clang::TagDecl>(decl);
}

}  // namespace

std::string ShortName(const clang::NamedDecl& decl) {
  std::string name = decl.getNameAsString();
  // A constructor of a template's instance is called `Job<T>`.
  if (llvm::isa<clang::CXXConstructorDecl>(decl) || llvm::isa<clang::CXXDestructorDecl>(decl)) {
    name = name.substr(0, name.find('<'));
  }
  return name.empty() ? "(unnamed)" : name;
}

std::string QualifiedName(const clang::NamedDecl& decl) { return ScopeOf(decl.getDeclContext()) + ShortName(decl); }

std::string SymbolOf(const clang::NamedDecl& decl) {
  const clang::ASTContext& context = decl.getASTContext();
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  std::string text;
  llvm::raw_string_ostream out(text);
  decl.getNameForDiagnostic(out, policy, /*Qualified=*/true);
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&decl);
  if (function != nullptr && context.getLangOpts().CPlusPlus && !function->isExternC()) {
    out << '(';
    for (const clang::ParmVarDecl* param : function->parameters()) {
      out << param->getType().getCanonicalType().getAsString(policy) << ',';
    }
    out << ')';
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (method != nullptr && method->isConst()) out << "const";
  }
  if (IsOfOneFile(decl)) {
    const clang::SourceManager& sources = context.getSourceManager();
    out << '@' << sources.getFilename(sources.getExpansionLoc(decl.getLocation()));
  }
  return out.str();
}

}  // namespace allranks::cpp
