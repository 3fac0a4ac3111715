#include "frontends/cpp/clang/unit.h"

#include <llvm/Support/Path.h>

#include "analyzer/ir/serialize.h"
#include "frontends/cpp/clang/naming.h"

namespace allranks::cpp {
namespace {

bool IsBelow(llvm::StringRef path, llvm::StringRef root) {
  return path.starts_with(root) && (root.ends_with("/") || path.size() == root.size() || path[root.size()] == '/');
}

}  // namespace

Unit::Unit(clang::ASTContext& context, const Request& request, base::Interner& names)
    : context_(context), sources_(context.getSourceManager()), request_(request), names_(names) {}

std::string Unit::PathOf(clang::FileID file) const {
  const clang::OptionalFileEntryRef entry = sources_.getFileEntryRefForID(file);
  if (!entry) return {};
  llvm::SmallString<256> path(entry->getName());
  if (llvm::sys::path::is_relative(path)) {
    llvm::SmallString<256> absolute(request_.directory);
    llvm::sys::path::append(absolute, path);
    path = absolute;
  }
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return std::string(path);
}

FileModule* Unit::ModuleOf(clang::SourceLocation location) {
  if (location.isInvalid()) return nullptr;
  const clang::FileID file = sources_.getFileID(sources_.getExpansionLoc(location));
  const auto [found, is_new] = modules_.try_emplace(file);
  if (!is_new) return found->second.get();
  const std::string path = PathOf(file);
  const bool is_main = file == sources_.getMainFileID();
  const bool is_below = std::any_of(request_.roots.begin(), request_.roots.end(),
                                    [&](const std::string& root) { return IsBelow(path, root); });
  const bool is_system = sources_.isInSystemHeader(sources_.getLocForStartOfFile(file));
  if (path.empty() || (!is_main && (!is_below || is_system))) return nullptr;
  const llvm::StringRef text = sources_.getBufferData(file);
  const uint32_t bom = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const ir::Language language = context_.getLangOpts().CPlusPlus ? ir::Language::Cpp : ir::Language::C;
  found->second = std::make_unique<FileModule>(file, path, static_cast<uint32_t>(text.size()) - bom, bom, language);
  FileModule& module = *found->second;
  module.builder.StartFunction({.name = Name("<module>")});
  return &module;
}

bool Unit::IsProject(clang::SourceLocation location) { return ModuleOf(location) != nullptr; }

bool Unit::IsSystem(clang::SourceLocation location) const {
  return location.isValid() && sources_.isInSystemHeader(sources_.getExpansionLoc(location));
}

std::optional<ir::Range> Unit::RangeIn(const FileModule& module, clang::SourceRange range) const {
  if (range.isInvalid()) return std::nullopt;
  const clang::SourceLocation begin = sources_.getFileLoc(range.getBegin());
  const auto [file, offset] = sources_.getDecomposedLoc(begin);
  bool inside = file == module.file;
  const uint32_t end = EndOffset(module, range.getEnd(), &inside);
  if (!inside || offset < module.bom_bytes) return std::nullopt;
  const uint32_t first = offset - module.bom_bytes;
  // Parts of a macro's body and of its arguments may stand in any order.
  return ir::Range{first, std::max(end, first)};
}

// Where the token at `location` ends; in a macro's body, where the macro's use ends.
uint32_t Unit::EndOffset(const FileModule& module, clang::SourceLocation location, bool* inside) const {
  while (location.isMacroID()) {
    location = sources_.isMacroArgExpansion(location) ? sources_.getImmediateSpellingLoc(location)
                                                      : sources_.getImmediateExpansionRange(location).getEnd();
  }
  const auto [file, offset] = sources_.getDecomposedLoc(location);
  *inside = *inside && file == module.file;
  const uint32_t length = clang::Lexer::MeasureTokenLength(location, sources_, context_.getLangOpts());
  const uint32_t end = offset + length;
  return std::min(end > module.bom_bytes ? end - module.bom_bytes : 0, module.bytes);
}

ir::ClassId Unit::ClassIn(FileModule& module, const clang::CXXRecordDecl* record) {
  record = record->getCanonicalDecl();
  if (const auto known = module.classes.find(record); known != module.classes.end()) return known->second;
  ir::Builder& builder = module.builder;
  const ir::ClassId id = builder.StartClass({.name = Name(ShortName(*record)), .symbol = Name(SymbolOf(*record)),
                                             .parent = ir::kTopLevel});
  module.classes.emplace(record, id);
  const clang::CXXRecordDecl* definition = record->getDefinition();
  const ir::Range range = RangeIn(module, (definition ? definition : record)->getSourceRange()).value_or(ir::Range{});
  const ir::StmtId pass[] = {builder.Pass(range)};
  const ir::BlockId body = builder.Block(pass);
  std::vector<ir::Arg> bases;
  if (definition != nullptr) {
    for (const clang::CXXBaseSpecifier& base : definition->bases()) {
      const clang::CXXRecordDecl* base_record = base.getType()->getAsCXXRecordDecl();
      if (base_record == nullptr) continue;
      const ir::NameId symbol = Name(SymbolOf(*base_record));
      bases.push_back({.value = builder.Resolved(range, Name(QualifiedName(*base_record)), symbol)});
    }
  }
  ir::Class& defined = builder.EditClass(id);
  defined.body = body;
  defined.bases = std::move(bases);
  defined.begin = defined.name_begin = range.begin;
  defined.end = defined.name_end = range.end;
  module.body.push_back(builder.ClassDef(range, id));
  return id;
}

std::vector<FilePart> Unit::Finish() {
  std::vector<FilePart> parts;
  // A file in which nothing is left after the preprocessor was read all the same.
  ModuleOf(sources_.getLocForStartOfFile(sources_.getMainFileID()));
  for (const clang::SourceRange& comment : comments_) {
    FileModule* module = ModuleOf(comment.getBegin());
    if (module == nullptr) continue;
    const uint32_t begin = sources_.getFileOffset(comment.getBegin());
    const uint32_t end = sources_.getFileOffset(comment.getEnd());
    if (begin >= module->bom_bytes && begin <= end) {
      module->builder.AddComment({begin - module->bom_bytes, std::min(end - module->bom_bytes, module->bytes)});
    }
  }
  for (const clang::SourceRange& skipped : skipped_) {
    FileModule* module = ModuleOf(skipped.getBegin());
    if (module == nullptr) continue;
    const uint32_t begin = sources_.getFileOffset(skipped.getBegin());
    const uint32_t end = sources_.getFileOffset(skipped.getEnd());
    if (begin < module->bom_bytes || begin > end) continue;
    module->skipped.push_back({.begin = begin - module->bom_bytes, .end = std::min(end - module->bom_bytes, module->bytes)});
  }
  for (auto& [file, module] : modules_) {
    const bool is_main = file == sources_.getMainFileID();
    if (!module || (module->body.empty() && !is_main)) continue;
    module->builder.EditFunction(ir::kTopLevel).body = module->builder.Block(module->body);
    module->builder.EditFunction(ir::kTopLevel).end = module->bytes;
    module->builder.SortByPlace();
    parts.push_back({.path = module->path, .bytes = module->bytes,
                     .module = ir::Serialize(module->builder.Finish(), names_), .skipped = std::move(module->skipped)});
  }
  return parts;
}

}  // namespace allranks::cpp
