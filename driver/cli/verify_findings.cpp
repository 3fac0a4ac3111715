#include "driver/cli/verify_findings.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "driver/cli/commands.h"
#include "driver/cli/terminal.h"
#include "driver/cli/verdicts.h"
#include "runtime-verify/program/verify.h"

namespace allranks::cli {
namespace {

namespace fs = std::filesystem;

// A folder of its own that goes when the work is done.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "allranks-verify.XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// While it lives, what is printed goes to stderr: stdout is for the report.
class StdoutToStderr {
 public:
  StdoutToStderr() : saved_(dup(STDOUT_FILENO)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~StdoutToStderr() {
    std::fflush(stdout);
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }
  StdoutToStderr(const StdoutToStderr&) = delete;
  StdoutToStderr& operator=(const StdoutToStderr&) = delete;

 private:
  int saved_;
};

constexpr int kVerifyError = 2;

}  // namespace

base::Result<std::string> VerifyFindings(reports::Report& report) {
  const Folder folder;
  const std::string found = (folder.path() / "found.sarif").string(), verified = (folder.path() / "verified.sarif").string();
  if (folder.path().empty() || !WriteFile(found, reports::Render("sarif", report, {}), "")) return base::Fail("--verify: no place for a temporary file");
  int code = 0;
  {
    const StdoutToStderr redirected;
    const char* const argv[] = {"verify", "--output-format", "concise", "-o", verified.c_str(), found.c_str()};
    code = verify::RunVerify(static_cast<int>(std::size(argv)), argv, Version());
  }
  const source::RealFileSystem files;
  base::Result<std::string> text = files.Read(verified);
  if (code == kVerifyError || !text) return base::Fail("--verify: the findings were not replayed");
  // A report without anything to replay has no verdicts.
  if (base::Result<Verdicts> verdicts = ReadVerdicts(verified, files)) report.verdicts = std::move(*verdicts);
  return text;
}

}  // namespace allranks::cli
