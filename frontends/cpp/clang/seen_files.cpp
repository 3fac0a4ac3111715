#include "frontends/cpp/clang/seen_files.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <vector>

namespace allranks::cpp {
namespace {

Told KindOf(const llvm::ErrorOr<llvm::vfs::Status>& about) {
  if (!about) return Told::Nothing;
  if (about->isRegularFile()) return Told::File;
  return about->isDirectory() ? Told::Folder : Told::Other;
}

class SeenFile : public llvm::vfs::File {
 public:
  SeenFile(std::unique_ptr<llvm::vfs::File> file, std::string path, SeenFiles& files) : file_(std::move(file)), path_(std::move(path)), files_(files) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return file_->status(); }
  llvm::ErrorOr<std::string> getName() override { return file_->getName(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t size, bool with_zero, bool is_volatile) override {
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = file_->getBuffer(name, size, with_zero, is_volatile);
    files_.NoteText(path_, buffer ? (*buffer)->getBuffer() : llvm::StringRef());
    return buffer;
  }
  std::error_code close() override { return file_->close(); }

 private:
  std::unique_ptr<llvm::vfs::File> file_;
  std::string path_;
  SeenFiles& files_;
};

}  // namespace

SeenFiles::SeenFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> disk, std::string_view unnoted)
    : ProxyFileSystem(std::move(disk)), unnoted_(unnoted) {}

llvm::ErrorOr<llvm::vfs::Status> SeenFiles::status(const llvm::Twine& path) {
  llvm::ErrorOr<llvm::vfs::Status> about = ProxyFileSystem::status(path);
  Note(Absolute(path), KindOf(about));
  return about;
}

bool SeenFiles::exists(const llvm::Twine& path) { return static_cast<bool>(status(path)); }

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> SeenFiles::openFileForRead(const llvm::Twine& path) {
  const llvm::ErrorOr<llvm::vfs::Status> about = status(path);
  if (!about) return about.getError();
  // To open a named pipe is to wait for who writes to it.
  if (about->getType() == llvm::sys::fs::file_type::fifo_file) return std::make_error_code(std::errc::no_such_file_or_directory);
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> file = ProxyFileSystem::openFileForRead(path);
  if (!file) {
    is_complete_ = false;
    return file;
  }
  return std::make_unique<SeenFile>(std::move(*file), Absolute(path), *this);
}

llvm::vfs::directory_iterator SeenFiles::dir_begin(const llvm::Twine& path, std::error_code& error) {
  std::vector<std::string> names;
  for (llvm::vfs::directory_iterator at = ProxyFileSystem::dir_begin(path, error), end; !error && at != end; at.increment(error)) {
    names.emplace_back(llvm::sys::path::filename(at->path()));
  }
  if (!error) Note(Absolute(path), Told::Names, HashOfNames(std::move(names)));
  else if (status(path)) is_complete_ = false;
  return ProxyFileSystem::dir_begin(path, error);
}

std::error_code SeenFiles::setCurrentWorkingDirectory(const llvm::Twine& path) {
  const std::error_code error = ProxyFileSystem::setCurrentWorkingDirectory(path);
  // Relative paths begin nobody knows where.
  if (error) is_complete_ = false;
  return error;
}

std::error_code SeenFiles::getRealPath(const llvm::Twine& path, llvm::SmallVectorImpl<char>& resolved) {
  const std::error_code error = ProxyFileSystem::getRealPath(path, resolved);
  if (error && status(path)) is_complete_ = false;
  if (!error) Note(Absolute(path), Told::RealPath, HashOf({resolved.data(), resolved.size()}));
  return error;
}

void SeenFiles::NoteText(const std::string& path, llvm::StringRef text) {
  // What a device says may be something else each time.
  const auto kind = asked_.find({path, Told::File});
  if (kind == asked_.end() || kind->second.told != Told::File) is_complete_ = false;
  else Note(path, Told::Text, HashOf({text.data(), text.size()}));
}

void SeenFiles::MoveTo(Reply& reply) {
  for (auto& [key, asked] : asked_) {
    const bool is_said_by_text = asked.told == Told::File && asked_.contains({asked.path, Told::Text});
    if (!is_said_by_text) reply.asked.push_back(asked);
  }
  reply.is_complete = is_complete_;
  asked_.clear();
}

std::string SeenFiles::Absolute(const llvm::Twine& path) const {
  llvm::SmallString<256> absolute;
  path.toVector(absolute);
  if (makeAbsolute(absolute)) return {};
  return std::string(absolute);
}

void SeenFiles::Note(std::string path, Told told, Hash hash) {
  if (llvm::StringRef(path).starts_with(unnoted_)) return;
  const bool is_kind = told == Told::Nothing || told == Told::File || told == Told::Folder || told == Told::Other;
  std::pair<std::string, Told> key(path, is_kind ? Told::File : told);
  const Asked asked{.path = std::move(path), .told = told, .hash = hash};
  const auto [known, is_new] = asked_.try_emplace(std::move(key), asked);
  if (known->second.told != told || !(known->second.hash == hash)) is_complete_ = false;
}

}  // namespace allranks::cpp
