#include "frontends/cpp/clang/read_unit.h"

#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>

#include "frontends/cpp/clang/embedded_headers.h"
#include "frontends/cpp/clang/lower_unit.h"
#include "frontends/cpp/clang/seen_files.h"
#include "frontends/cpp/kernel_launches.h"

namespace allranks::cpp {
namespace {

constexpr size_t kMostErrors = 5;
// What is said of a file outside the project: Clang's own words quote it, and reports end up in public logs.
constexpr std::string_view kOutside = "it does not compile";
// A folder that no machine has.
constexpr std::string_view kHeaderRoot = "/.allranks-headers";

class ErrorList : public clang::DiagnosticConsumer {
 public:
  ErrorList(Reply& reply, const Request& request, SeenFiles& disk) : reply_(reply), request_(request), disk_(disk) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) return;
    ++reply_.error_count;
    if (reply_.errors.size() >= kMostErrors) return;
    ReadError error{.text = TextOf(info)};
    if (info.hasSourceManager() && info.getLocation().isValid()) Locate(info, &error);
    reply_.errors.push_back(std::move(error));
  }

 private:
  std::string TextOf(const clang::Diagnostic& info) const {
    // Its message may be computed from whatever was included or embedded.
    if (info.getID() == clang::diag::err_static_assert_failed) return "static assertion failed";
    if (!MayQuote(info)) return std::string(kOutside);
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    return std::string(text);
  }

  // The name of a header that is not there says what to install, and stands behind `#include`.
  bool MayQuote(const clang::Diagnostic& info) const {
    if (info.getID() == clang::diag::err_pp_file_not_found || !info.hasSourceManager() || info.getLocation().isInvalid()) return true;
    const clang::SourceManager& sources = info.getSourceManager();
    const clang::SourceLocation location = sources.getFileLoc(info.getLocation());
    return sources.isInMainFile(location) || IsOfProject(sources.getFilename(location));
  }

  bool IsOfProject(llvm::StringRef name) const {
    if (name.starts_with(kHeaderRoot)) return true;
    llvm::SmallString<256> absolute(name), resolved;
    llvm::sys::fs::make_absolute(request_.directory, absolute);
    if (disk_.getRealPath(absolute, resolved)) return false;
    return std::ranges::any_of(request_.roots, [&](const std::string& root) {
      llvm::SmallString<256> folder;
      if (disk_.getRealPath(root, folder) || !resolved.starts_with(folder)) return false;
      return folder.ends_with("/") || resolved.size() == folder.size() || resolved[folder.size()] == '/';
    });
  }

  // In the main file: an error in a header is shown where that header comes in.
  void Locate(const clang::Diagnostic& info, ReadError* error) const {
    const clang::SourceManager& sources = info.getSourceManager();
    clang::SourceLocation location = sources.getFileLoc(info.getLocation());
    if (!sources.isInMainFile(location)) {
      error->text += " (in " + sources.getFilename(location).str() + ":" +
                     std::to_string(sources.getExpansionLineNumber(location)) + ")";
    }
    while (location.isValid() && !sources.isInMainFile(location)) {
      location = sources.getIncludeLoc(sources.getFileID(location));
    }
    if (location.isInvalid()) return;
    error->path = request_.path;
    error->offset = sources.getFileOffset(location);
    error->length = 1;
  }

  Reply& reply_;
  const Request& request_;
  SeenFiles& disk_;
};

class LoweringConsumer : public clang::ASTConsumer, public clang::CommentHandler {
 public:
  LoweringConsumer(Reply& reply, const Request& request) : reply_(reply), request_(request) {}

  void Initialize(clang::ASTContext& context) override { unit_ = std::make_unique<Unit>(context, request_, names_); }
  bool HandleComment(clang::Preprocessor&, clang::SourceRange comment) override {
    if (unit_) unit_->AddComment(comment);
    return false;
  }
  void AddSkipped(clang::SourceRange range) {
    if (unit_) unit_->AddSkipped(range);
  }
  // Bodies of others' functions cost half the time and say nothing that a library's description does not.
  // What runs on the device issues nothing that ranks must agree on, and needs headers that only the toolkit has.
  bool shouldSkipFunctionBody(clang::Decl* decl) override {
    // Of a template the attributes are its function's.
    const clang::FunctionDecl* function = decl->getAsFunction();
    const bool is_device = function != nullptr && (function->hasAttr<clang::CUDAGlobalAttr>() ||
                                                   (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>()));
    return is_device || !unit_->IsProject(decl->getLocation());
  }
  void HandleTranslationUnit(clang::ASTContext&) override {
    LowerUnit(*unit_);
    reply_.parts = unit_->Finish();
  }

 private:
  Reply& reply_;
  const Request& request_;
  base::Interner names_;
  std::unique_ptr<Unit> unit_;
};

class SkippedStretches : public clang::PPCallbacks {
 public:
  explicit SkippedStretches(LoweringConsumer& consumer) : consumer_(consumer) {}
  void SourceRangeSkipped(clang::SourceRange range, clang::SourceLocation /*end_directive*/) override { consumer_.AddSkipped(range); }

 private:
  LoweringConsumer& consumer_;
};

class LoweringAction : public clang::ASTFrontendAction {
 public:
  LoweringAction(Reply& reply, const Request& request) : reply_(reply), request_(request) {}

 protected:
  bool BeginInvocation(clang::CompilerInstance& compiler) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    // `#pragma clang __debug` is there to see Clang crash, and takes longer over it than over any file.
    compiler.getPreprocessorOpts().DisablePragmaDebugCrash = true;
    // Reading goes on behind a header that is not there.
    compiler.getDiagnostics().setFatalsAsError(true);
    compiler.getDiagnostics().setErrorLimit(0);
    // Which function configures a launch follows from the version of the installed toolkit. Without one it would be that of
    // CUDA 9.1, and the same source would read differently from machine to machine.
    if (compiler.getTargetOpts().SDKVersion.empty()) compiler.getTargetOpts().SDKVersion = llvm::VersionTuple(12, 0);
    return true;
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    auto consumer = std::make_unique<LoweringConsumer>(reply_, request_);
    compiler.getPreprocessor().addCommentHandler(consumer.get());
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<SkippedStretches>(*consumer));
    return consumer;
  }

 private:
  Reply& reply_;
  const Request& request_;
};

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files(const Request& request, llvm::IntrusiveRefCntPtr<SeenFiles> disk) {
  const auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedHeader& header : EmbeddedHeaders()) {
    const std::string path = std::string(kHeaderRoot) + "/" + header.path;
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBuffer({header.text, header.size}, path, false));
  }
  memory->addFile(request.path, 0, llvm::MemoryBuffer::getMemBufferCopy(WithPlainLaunches(request.text), request.path));
  const auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(disk));
  files->pushOverlay(memory);
  files->setCurrentWorkingDirectory(request.directory);
  return files;
}

std::vector<std::string> CommandLine(const Request& request) {
  const std::string root(kHeaderRoot);
  std::vector<std::string> line = {"clang", "-fsyntax-only", "-resource-dir", root + "/clang"};
  line.insert(line.end(), request.args.begin(), request.args.end());
  for (const char* more : {"-w", "-ferror-limit=0", "-Wno-unknown-cuda-version"}) line.emplace_back(more);
  // After all other folders: what the machine has is used. The first of these is that of the resources; Debian's driver asks
  // the disk for it and, as it is in memory only, takes the machine's, of which there may be none.
  for (const char* last : {"/clang/include", "/standin"}) {
    line.emplace_back("-idirafter");
    line.push_back(root + last);
  }
  line.push_back(request.path);
  return line;
}

}  // namespace

Reply ReadUnit(const Request& request) {
  Reply reply;
  const auto disk = llvm::makeIntrusiveRefCnt<SeenFiles>(llvm::vfs::createPhysicalFileSystem(), kHeaderRoot);
  ErrorList errors(reply, request, *disk);
  const auto files = llvm::makeIntrusiveRefCnt<clang::FileManager>(clang::FileSystemOptions{.WorkingDir = request.directory},
                                                                  Files(request, disk));
  clang::tooling::ToolInvocation invocation(CommandLine(request), std::make_unique<LoweringAction>(reply, request),
                                            files.get());
  invocation.setDiagnosticConsumer(&errors);
  invocation.run();
  disk->MoveTo(reply);
  return reply;
}

}  // namespace allranks::cpp
