#include "driver/pipeline/git_index.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "driver/pipeline/paths.h"

namespace allranks::pipeline {
namespace {

constexpr size_t kHeader = 12;
constexpr size_t kStat = 40;  // times, device, inode, mode, owner, size
constexpr size_t kModeAt = 24;
constexpr size_t kSha1 = 20, kSha256 = 32;
constexpr uint32_t kExtended = 0x4000;
constexpr uint32_t kNameLength = 0xfff;  // longer ones say just this
constexpr uint32_t kTypeMask = 0170000, kGitlink = 0160000;

// Version 4 writes of a name only what the one before does not have: few bytes stand for names of any length.
constexpr size_t kLongestName = 4096;  // no system opens a longer path
constexpr size_t kMostOfNames = size_t{64} << 20;
constexpr uint32_t kMostNames = 2'000'000;

uint32_t Number(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Reads all entries, for one size of object names; a file of the other size makes no sense.
class IndexReader {
 public:
  IndexReader(std::string_view bytes, size_t object_size) : bytes_(bytes), object_size_(object_size) {}

  std::optional<GitIndex> Read() {
    version_ = Number(bytes_, 4, 4);
    const uint32_t count = Number(bytes_, 8, 4);
    if (count > kMostNames) return TooLarge("an index of git of more than 2,000,000 files");
    for (uint32_t i = 0; i < count; ++i) {
      if (!ReadEntry()) return std::nullopt;
    }
    if (at_ + object_size_ > bytes_.size() || IsSplit()) return std::nullopt;
    return std::move(index_);
  }
  // Why it was not read, if not for damage.
  const std::string& too_large() const { return too_large_; }

 private:
  std::nullopt_t TooLarge(const char* what) {
    too_large_ = what;
    return std::nullopt;
  }

  bool ReadEntry() {
    const size_t begin = at_;
    const size_t flags_at = begin + kStat + object_size_;
    if (flags_at + 4 > bytes_.size()) return false;
    const bool is_extended = (Number(bytes_, flags_at, 2) & kExtended) != 0;
    if (is_extended && version_ < 3) return false;
    at_ = flags_at + (is_extended ? 4 : 2);
    if (version_ == 4 && !CutName()) return false;
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return false;
    if (version_ != 4) name_.clear();
    name_.append(bytes_.substr(at_, end - at_));
    // Entries are sorted, and say how long their names are: anything else was read with the wrong size.
    const uint32_t length = Number(bytes_, flags_at, 2) & kNameLength;
    if (name_.empty() || name_ < last_ || length != std::min<size_t>(name_.size(), kNameLength) || !IsBounded()) return false;
    at_ = end + 1;
    // Padded with up to eight zero bytes to a multiple of eight.
    if (version_ != 4) at_ = begin + ((end - begin) / 8 + 1) * 8;
    Keep((Number(bytes_, begin + kModeAt, 4) & kTypeMask) == kGitlink);
    last_ = name_;
    return at_ <= bytes_.size();
  }

  bool IsBounded() {
    names_size_ += name_.size();
    if (name_.size() > kLongestName) TooLarge("an index of git with a name longer than any system opens");
    else if (names_size_ > kMostOfNames) TooLarge("an index of git with names of more than 64 MiB together");
    return too_large_.empty();
  }

  // Version 4 stores how many bytes of the previous name do not go on.
  bool CutName() {
    size_t cut = 0;
    for (bool more = true, first = true; more; first = false) {
      if (at_ >= bytes_.size()) return false;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      more = (byte & 0x80) != 0;
      cut = ((first ? 0 : cut + 1) << 7) | (byte & 0x7f);
      if (cut > last_.size()) return false;
    }
    name_ = last_.substr(0, last_.size() - cut);
    return true;
  }

  void Keep(bool is_submodule) {
    std::vector<std::string>& list = is_submodule ? index_.submodules : index_.files;
    // The stages of a merge are entries of one name.
    if (list.empty() || list.back() != name_) list.push_back(name_);
  }

  // Extensions follow, each with its name and its size, then the checksum.
  bool IsSplit() const {
    for (size_t at = at_; at + 8 + object_size_ <= bytes_.size(); at += size_t{8} + Number(bytes_, at + 4, 4)) {
      if (bytes_.substr(at, 4) == "link") return true;
    }
    return false;
  }

  std::string_view bytes_;
  size_t object_size_;
  uint32_t version_ = 0;
  size_t at_ = kHeader;
  std::string name_, last_;
  size_t names_size_ = 0;
  std::string too_large_;
  GitIndex index_;
};

// The folder of git's own files: `.git`, or where a file of that name leads (worktrees, submodules).
std::optional<std::string> GitFolder(const std::string& checkout, const source::FileSystem& files) {
  const std::string git = Join(checkout, ".git");
  const base::Result<source::EntryKind> kind = files.Kind(git);
  if (!kind) return std::nullopt;
  if (*kind == source::EntryKind::Directory) return git;
  const base::Result<std::string> text = files.Read(git);
  constexpr std::string_view kLeads = "gitdir:";
  if (!text || !text->starts_with(kLeads)) return std::nullopt;
  std::string target = text->substr(kLeads.size());
  target.erase(0, target.find_first_not_of(" \t"));
  target.erase(target.find_last_not_of(" \t\r\n") + 1);
  return target.starts_with('/') ? target : Join(checkout, target);
}

GitIndex Below(const GitIndex& index, const std::string& prefix) {
  if (prefix.empty()) return index;
  GitIndex below;
  const auto add = [&](const std::vector<std::string>& from, std::vector<std::string>& to) {
    for (const std::string& path : from) {
      if (path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '/') to.push_back(path.substr(prefix.size() + 1));
    }
  };
  add(index.files, below.files);
  add(index.submodules, below.submodules);
  return below;
}

}  // namespace

bool GitIndex::Tracks(std::string_view path) const { return std::binary_search(files.begin(), files.end(), path); }

bool GitIndex::TracksBelow(std::string_view directory) const {
  const std::string prefix = std::string(directory) + "/";
  const auto first = std::ranges::lower_bound(files, prefix);
  return first != files.end() && first->starts_with(prefix);
}

bool GitIndex::IsSubmodule(std::string_view directory) const {
  return std::binary_search(submodules.begin(), submodules.end(), directory);
}

base::Result<GitIndex> ReadGitIndex(std::string_view bytes) {
  if (bytes.size() < kHeader || !bytes.starts_with("DIRC")) return base::Fail("not an index of git");
  const uint32_t version = Number(bytes, 4, 4);
  if (version < 2 || version > 4) return base::Fail("an index of git of version " + std::to_string(version));
  std::string problem = "a damaged or split index of git";
  for (const size_t object_size : {kSha1, kSha256}) {
    IndexReader reader(bytes, object_size);
    if (std::optional<GitIndex> index = reader.Read()) return std::move(*index);
    if (!reader.too_large().empty()) problem = reader.too_large();
  }
  return base::Fail(problem);
}

base::Result<GitIndex> FindGitIndex(const std::string& folder, const source::FileSystem& files) {
  const base::Result<std::string> canonical = files.Canonical(folder.empty() ? "." : folder);
  std::string checkout = canonical ? *canonical : folder;
  std::string prefix;
  for (;;) {
    if (const std::optional<std::string> git = GitFolder(checkout, files)) {
      if (!files.Kind(*git)) return base::Fail("`.git` names a folder that is not there");
      const base::Result<std::string> bytes = files.Read(Join(*git, "index"));
      // A repository to which nothing was added has none.
      if (!bytes) return GitIndex{.files = {}, .submodules = {}, .is_of_checkout = true};
      const base::Result<GitIndex> index = ReadGitIndex(*bytes);
      if (!index) return base::Fail(index.error().message);
      GitIndex below = Below(*index, prefix);
      below.is_of_checkout = true;
      return below;
    }
    const std::string above(DirectoryOf(checkout));
    if (!checkout.starts_with('/') || above.empty() || above == checkout) return GitIndex{};
    prefix = prefix.empty() ? std::string(NameOf(checkout)) : Join(NameOf(checkout), prefix);
    checkout = above;
  }
}

}  // namespace allranks::pipeline
