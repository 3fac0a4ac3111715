#include "driver/baseline/revision.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "driver/baseline/git.h"

namespace allranks::baseline {
namespace {

namespace fs = std::filesystem;

// What is analysed, by the end of its name. The rest of a repository may be large and is not fetched.
constexpr std::array<std::string_view, 14> kCode = {".py", ".ipynb", ".c",   ".cc", ".cpp", ".cxx", ".cu",
                                                    ".h",  ".hh",    ".hpp", ".hxx", ".cuh", ".inl", ".inc"};

bool IsCode(std::string_view path) {
  return std::ranges::any_of(kCode, [&](std::string_view ending) { return path.ends_with(ending); });
}

std::string Trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

struct Blob {
  std::string path;  // relative to the repository
  std::string object;
};

// `git ls-tree -r -z`: "100644 blob <object>\t<path>\0". Links and submodules are left out.
std::vector<Blob> BlobsOf(const std::string& listing) {
  std::vector<Blob> blobs;
  for (size_t at = 0; at < listing.size();) {
    const size_t end = std::min(listing.find('\0', at), listing.size());
    const std::string_view line = std::string_view(listing).substr(at, end - at);
    at = end + 1;
    const size_t tab = line.find('\t');
    const size_t object = line.find(" blob ");
    if (tab == std::string_view::npos || object == std::string_view::npos || line.starts_with("120000")) continue;
    blobs.push_back({std::string(line.substr(tab + 1)), std::string(line.substr(object + 6, tab - object - 6))});
  }
  return blobs;
}

// `git cat-file --batch`: "<object> blob <size>\n<bytes>\n" for each object, in their order.
bool Split(const std::string& batch, std::vector<std::string>& texts) {
  for (size_t at = 0; at < batch.size();) {
    const size_t line_end = batch.find('\n', at);
    const size_t space = batch.rfind(' ', line_end);
    if (line_end == std::string::npos || space == std::string::npos || space < at) return false;
    // "<object> missing" of a clone that has not all of them.
    if (!std::string_view(batch).substr(at, space - at).ends_with(" blob")) return false;
    const size_t size = std::strtoull(batch.c_str() + space, nullptr, 10);
    if (line_end + 1 + size + 1 > batch.size()) return false;
    texts.push_back(batch.substr(line_end + 1, size));
    at = line_end + 1 + size + 1;
  }
  return true;
}

// What to do about a commit that git does not give.
std::string Advice(const std::string& problem, const std::string& repository) {
  if (problem.find("dubious ownership") == std::string::npos) return "in CI, fetch the history that it is in";
  return "the repository belongs to another user: run `git config --global --add safe.directory " + repository + "`";
}

// The commit that the very first commit starts from: `HEAD` of a repository without any. Git knows the empty tree by its name.
base::Result<std::string> BeforeTheFirst(const std::string& repository, const std::string& revision) {
  if (revision != "HEAD" || !RunGit(repository, {"symbolic-ref", "-q", "HEAD"})) return base::Fail("there are commits");
  return RunGit(repository, {"hash-object", "-t", "tree", "--stdin"});
}

}  // namespace

base::Result<std::string> BaseCommit(const std::string& repository, const std::string& revision) {
  const base::Result<std::string> commit = RunGit(repository, {"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
  if (!commit) {
    if (const base::Result<std::string> empty = BeforeTheFirst(repository, revision)) return Trimmed(*empty);
    const std::string& problem = commit.error().message;
    return base::Fail("--diff-base: no commit `" + revision + "` (" + problem + "); " + Advice(problem, repository));
  }
  const base::Result<std::string> common = RunGit(repository, {"merge-base", Trimmed(*commit), "HEAD"});
  return Trimmed(common ? *common : *commit);
}

base::Result<RevisionFiles> RevisionFiles::At(const std::string& commit, const std::string& repository,
                                              const std::string& working_directory) {
  const base::Result<std::string> listing = RunGit(repository, {"ls-tree", "-r", "-z", "--full-tree", commit});
  if (!listing) return base::Fail("--diff-base: " + listing.error().message);
  std::map<std::string, std::string> files;
  std::vector<std::string> wanted;
  std::string objects;
  for (const Blob& blob : BlobsOf(*listing)) {
    const std::string path = (fs::path(repository) / blob.path).string();
    files.emplace(path, "");
    if (!IsCode(blob.path)) continue;
    wanted.push_back(path);
    objects += blob.object + "\n";
  }
  const base::Result<std::string> batch = RunGit(repository, {"cat-file", "--batch"}, objects);
  if (!batch) return base::Fail("--diff-base: " + batch.error().message);
  std::vector<std::string> texts;
  if (!Split(*batch, texts) || texts.size() != wanted.size()) {
    return base::Fail("--diff-base: git left out files of " + commit + "; in a partial clone, fetch them first");
  }
  for (size_t i = 0; i < wanted.size(); ++i) files[wanted[i]] = std::move(texts[i]);
  return RevisionFiles(std::move(files), repository, working_directory);
}

RevisionFiles::RevisionFiles(std::map<std::string, std::string> files, std::string repository, std::string working_directory)
    : repository_(std::move(repository)),
      working_directory_(std::move(working_directory)),
      then_(std::make_shared<source::MemoryFileSystem>(std::move(files))) {}

std::string RevisionFiles::Absolute(const std::string& path) const {
  std::string absolute = (fs::path(working_directory_) / path).lexically_normal().string();
  while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}
bool RevisionFiles::IsInside(const std::string& absolute) const {
  return absolute == repository_ || absolute.starts_with(repository_ + "/");
}

base::Result<std::string> RevisionFiles::Read(const std::string& path) const {
  const std::string absolute = Absolute(path);
  return IsInside(absolute) && IsCode(absolute) ? then_->Read(absolute) : now_.Read(path);
}
base::Result<std::vector<source::DirectoryEntry>> RevisionFiles::List(const std::string& path) const {
  const std::string absolute = Absolute(path);
  return IsInside(absolute) ? then_->List(absolute) : now_.List(path);
}
base::Result<source::EntryKind> RevisionFiles::Kind(const std::string& path) const {
  const std::string absolute = Absolute(path);
  return IsInside(absolute) ? then_->Kind(absolute) : now_.Kind(path);
}
base::Result<std::string> RevisionFiles::Canonical(const std::string& path) const {
  const std::string absolute = Absolute(path);
  return IsInside(absolute) ? then_->Canonical(absolute) : now_.Canonical(path);
}

}  // namespace allranks::baseline
