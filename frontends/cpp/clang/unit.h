// One translation unit on its way to the IR: which files are the project's own, and the module of each of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/builder.h"
#include "frontends/cpp/clang/clang_headers.h"
#include "frontends/cpp/exchange.h"

namespace allranks::cpp {

// One file of the project, being filled.
struct FileModule {
  FileModule(clang::FileID id, std::string file_path, uint32_t size, uint32_t bom, ir::Language language)
      : file(id), path(std::move(file_path)), bytes(size), bom_bytes(bom), builder(source::FileId{0}, language, size) {}

  clang::FileID file;
  std::string path;
  uint32_t bytes;      // of its text, a byte order mark left out
  uint32_t bom_bytes;  // 3 if the text begins with one
  ir::Builder builder;
  std::vector<ir::StmtId> body;  // of the top level
  std::vector<Stretch> skipped;  // by the preprocessor
  std::map<const clang::CXXRecordDecl*, ir::ClassId> classes;
};

// Where project code lies and how it is named, for one translation unit.
class Unit {
 public:
  Unit(clang::ASTContext& context, const Request& request, base::Interner& names);

  clang::ASTContext& context() const { return context_; }
  clang::SourceManager& sources() const { return sources_; }
  base::Interner& names() const { return names_; }
  ir::NameId Name(std::string_view text) const { return names_.Intern(text); }

  // Whether a place lies in the main file or in a header below one of the roots.
  bool IsProject(clang::SourceLocation location);
  // Whether it lies in a header that the compiler takes for the system's, stand-ins included.
  bool IsSystem(clang::SourceLocation location) const;
  // The module of the file that `location` expands in; null outside the project.
  FileModule* ModuleOf(clang::SourceLocation location);
  // Bytes of the module's text; a place in another file gives none.
  std::optional<ir::Range> RangeIn(const FileModule& module, clang::SourceRange range) const;
  // The class as the module of a definition mentions it.
  ir::ClassId ClassIn(FileModule& module, const clang::CXXRecordDecl* record);

  // Comments are what suppressions stand in.
  void AddComment(clang::SourceRange range) { comments_.push_back(range); }
  // What a conditional of the preprocessor leaves out.
  void AddSkipped(clang::SourceRange range) { skipped_.push_back(range); }

  std::vector<FilePart> Finish();

 private:
  uint32_t EndOffset(const FileModule& module, clang::SourceLocation location, bool* inside) const;
  std::string PathOf(clang::FileID file) const;

  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  const Request& request_;
  base::Interner& names_;
  std::vector<clang::SourceRange> comments_;
  std::vector<clang::SourceRange> skipped_;
  std::map<clang::FileID, std::unique_ptr<FileModule>> modules_;  // null: not the project's
};

}  // namespace allranks::cpp
