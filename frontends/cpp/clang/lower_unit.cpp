#include "frontends/cpp/clang/lower_unit.h"

#include "frontends/cpp/clang/lower_function.h"

namespace allranks::cpp {
namespace {

// Instances of one template beyond these say nothing new; calls of the others stay unresolved.
constexpr int kMostInstances = 8;

class UnitWalk {
 public:
  explicit UnitWalk(Unit& unit) : unit_(unit) {}

  void Scope(const clang::DeclContext& scope) {
    for (const clang::Decl* decl : scope.decls()) Declaration(*decl);
  }

 private:
  void Declaration(const clang::Decl& decl) {
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&decl)) return Scope(*space);
    if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(&decl)) return Scope(*linkage);
    if (decl.isInvalidDecl() && !llvm::isa<clang::FunctionDecl>(decl)) return;
    if (!unit_.IsProject(decl.getLocation())) return;
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&decl)) return Function(*function);
    if (const auto* functions = llvm::dyn_cast<clang::FunctionTemplateDecl>(&decl)) return Instances(*functions);
    if (const auto* records = llvm::dyn_cast<clang::ClassTemplateDecl>(&decl)) return Instances(*records);
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&decl)) return Record(*record);
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&decl)) LowerGlobal(unit_, *variable);
  }

  void Record(const clang::CXXRecordDecl& record) {
    if (record.isDependentContext() || !record.isThisDeclarationADefinition()) return;
    Scope(record);
  }

  void Function(const clang::FunctionDecl& function) {
    const bool is_there = function.doesThisDeclarationHaveABody() || function.isPureVirtual();
    if (function.isDependentContext() || !is_there) return;
    LowerFunction(unit_, function);
  }

  void Instances(const clang::FunctionTemplateDecl& functions) {
    int seen = 0;
    for (const clang::FunctionDecl* instance : functions.specializations()) {
      // An explicit one stands in the scope by itself.
      if (instance->getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization) continue;
      if (instance->doesThisDeclarationHaveABody() && ++seen <= kMostInstances) Function(*instance);
    }
  }

  void Instances(const clang::ClassTemplateDecl& records) {
    int seen = 0;
    for (const clang::ClassTemplateSpecializationDecl* instance : records.specializations()) {
      if (instance->getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization) continue;
      if (instance->getDefinition() == instance && ++seen <= kMostInstances) Record(*instance);
    }
  }

  Unit& unit_;
};

}  // namespace

void LowerUnit(Unit& unit) { UnitWalk(unit).Scope(*unit.context().getTranslationUnitDecl()); }

}  // namespace allranks::cpp
