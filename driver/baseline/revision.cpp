#include "driver/baseline/revision.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
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

// Names of files: those of the largest repositories that are public are a quarter of it.
constexpr uint64_t kMostOfNames = uint64_t{128} << 20;
// All code of one of those together is a quarter of it. Objects of git are made small for nothing, and any number of names may share one.
constexpr uint64_t kMostOfCode = uint64_t{2} << 30;
// What is asked for at once.
constexpr uint64_t kPart = uint64_t{32} << 20;
// Of the memory of a run: of names, of what is read, and what git has to have in any case.
constexpr uint64_t kShareOfNames = 16, kShareOfCode = 2, kLeastForGit = uint64_t{64} << 20;
// Long answers of git, about many files.
constexpr std::chrono::minutes kTimeForFiles{10};

GitBounds BoundsOf(const RevisionBounds& bounds) {
  GitBounds git{.is_stopped = bounds.is_stopped};
  if (bounds.memory_bytes > 0) git.memory_bytes = std::min(git.memory_bytes, std::max(kLeastForGit, bounds.memory_bytes));
  return git;
}

GitBounds BoundsOfLong(const RevisionBounds& bounds, uint64_t output_bytes) {
  GitBounds git = BoundsOf(bounds);
  git.time = kTimeForFiles;
  git.output_bytes = output_bytes;
  return git;
}

uint64_t ShareOf(const RevisionBounds& bounds, uint64_t share, uint64_t most) {
  return bounds.memory_bytes == 0 ? most : std::min(most, bounds.memory_bytes / share);
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

// A file of code, and the object that is its text.
struct Wanted {
  std::string path;
  std::string object;
  uint64_t size = 0;
};

// What git says of one object: "<object> blob <size>\n". Of a clone that has not all of them "<object> missing".
std::optional<uint64_t> SizeOf(std::string_view line) {
  constexpr std::string_view kBlob = " blob ";
  const size_t blob = line.find(kBlob);
  if (blob == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(blob + kBlob.size());
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(size) : std::nullopt;
}

std::string ObjectsOf(std::span<const Wanted> files) {
  std::string objects;
  for (const Wanted& file : files) objects += file.object + "\n";
  return objects;
}

// `git cat-file --batch-check`: such a line for each object, in their order.
bool FillSizes(const std::string& said, std::vector<Wanted>& files) {
  size_t at = 0;
  for (Wanted& file : files) {
    const size_t end = said.find('\n', at);
    if (end == std::string::npos) return false;
    const std::optional<uint64_t> size = SizeOf(std::string_view(said).substr(at, end - at));
    if (!size) return false;
    file.size = *size;
    at = end + 1;
  }
  return true;
}

// `git cat-file --batch`: such a line, the text and "\n" for each object, in their order.
bool TakeTexts(const std::string& said, std::span<const Wanted> files, std::map<std::string, std::string>& texts) {
  size_t at = 0;
  for (const Wanted& file : files) {
    const size_t end = said.find('\n', at);
    if (end == std::string::npos || SizeOf(std::string_view(said).substr(at, end - at)) != file.size) return false;
    if (end + 1 + file.size + 1 > said.size()) return false;
    texts[file.path] = said.substr(end + 1, file.size);
    at = end + 1 + file.size + 1;
  }
  return true;
}

// What to do about a commit that git does not give.
std::string Advice(const std::string& problem, const std::string& repository) {
  if (problem.find("dubious ownership") == std::string::npos) return "in CI, fetch the history that it is in";
  return "the repository belongs to another user: run `git config --global --add safe.directory " + repository + "`";
}

// It answered, and not as hoped; else it did not get to answer.
bool Denied(const base::Result<std::string>& answer, const std::string& command) {
  return !answer && answer.error().message.starts_with("git " + command + " failed");
}

// The commit that the very first commit starts from: `HEAD` of a repository without any. Git knows the empty tree by its name.
base::Result<std::string> BeforeTheFirst(const std::string& repository, const std::string& revision, const GitBounds& bounds) {
  if (revision != "HEAD" || !RunGit(repository, {"symbolic-ref", "-q", "HEAD"}, bounds)) return base::Fail("there are commits");
  return RunGit(repository, {"hash-object", "-t", "tree", "--stdin"}, bounds);
}

// The texts of files that git keeps, but for those that are too large to be code.
class TextReader {
 public:
  TextReader(const std::string& commit, const std::string& repository, const RevisionBounds& bounds)
      : commit_(commit), repository_(repository), bounds_(bounds) {}

  base::Result<bool> Read(std::vector<Wanted> files, std::map<std::string, std::string>& texts) const {
    const base::Result<std::string> sizes =
        RunGit(repository_, {"cat-file", "--batch-check"}, BoundsOfLong(bounds_, files.size() * kLongestLine), ObjectsOf(files));
    if (!sizes) return base::Fail(sizes.error().message);
    if (!FillSizes(*sizes, files)) return LeftOut();
    std::erase_if(files, [&](const Wanted& file) { return file.size > bounds_.largest_file; });
    uint64_t sum = 0;
    for (const Wanted& file : files) sum += file.size;
    if (const uint64_t most = ShareOf(bounds_, kShareOfCode, kMostOfCode); sum > most) {
      return base::Fail("the code of " + commit_ + " has more than " + std::to_string(most >> 20) + " MiB" +
                        (bounds_.memory_bytes > 0 ? ", half of --max-memory" : ""));
    }
    return ReadParts(files, texts);
  }

 private:
  static constexpr uint64_t kLongestLine = 128;

  base::Result<bool> LeftOut() const { return base::Fail("git left out files of " + commit_ + "; in a partial clone, fetch them first"); }

  base::Result<bool> ReadParts(std::span<const Wanted> files, std::map<std::string, std::string>& texts) const {
    while (!files.empty()) {
      uint64_t bytes = 0;
      size_t count = 0;
      while (count < files.size() && (count == 0 || bytes + files[count].size < kPart)) bytes += files[count++].size + kLongestLine;
      const std::span<const Wanted> part = files.first(count);
      files = files.subspan(count);
      const base::Result<std::string> said = RunGit(repository_, {"cat-file", "--batch"}, BoundsOfLong(bounds_, bytes + kLongestLine), ObjectsOf(part));
      if (!said) return base::Fail(said.error().message);
      if (!TakeTexts(*said, part, texts)) return LeftOut();
    }
    return true;
  }

  const std::string& commit_;
  const std::string& repository_;
  const RevisionBounds& bounds_;
};

}  // namespace

base::Result<std::string> BaseCommit(const std::string& repository, const std::string& revision, const RevisionBounds& bounds) {
  const GitBounds of_git = BoundsOf(bounds);
  const base::Result<std::string> commit = RunGit(repository, {"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"}, of_git);
  if (!commit && !Denied(commit, "rev-parse")) return base::Fail("--diff-base: " + commit.error().message);
  if (!commit) {
    if (const base::Result<std::string> empty = BeforeTheFirst(repository, revision, of_git)) return Trimmed(*empty);
    const std::string& problem = commit.error().message;
    return base::Fail("--diff-base: no commit `" + revision + "` (" + problem + "); " + Advice(problem, repository));
  }
  const base::Result<std::string> common = RunGit(repository, {"merge-base", Trimmed(*commit), "HEAD"}, of_git);
  if (!common && !Denied(common, "merge-base")) return base::Fail("--diff-base: " + common.error().message);
  return Trimmed(common ? *common : *commit);
}

base::Result<RevisionFiles> RevisionFiles::At(const std::string& commit, const std::string& repository, const std::string& working_directory,
                                              const RevisionBounds& bounds) {
  const base::Result<std::string> listing =
      RunGit(repository, {"ls-tree", "-r", "-z", "--full-tree", commit}, BoundsOfLong(bounds, ShareOf(bounds, kShareOfNames, kMostOfNames)));
  if (!listing) return base::Fail("--diff-base: " + listing.error().message);
  std::map<std::string, std::string> files;
  std::vector<Wanted> wanted;
  for (Blob& blob : BlobsOf(*listing)) {
    std::string path = (fs::path(repository) / blob.path).string();
    files.emplace(path, "");
    if (IsCode(blob.path)) wanted.push_back({std::move(path), std::move(blob.object)});
  }
  if (const base::Result<bool> read = TextReader(commit, repository, bounds).Read(std::move(wanted), files); !read) {
    return base::Fail("--diff-base: " + read.error().message);
  }
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
