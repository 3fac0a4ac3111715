// The disk as Clang sees it, and a list of what it was told: whoever asks the same again knows whether Clang would read the same.
#pragma once

#include <llvm/Support/VirtualFileSystem.h>

#include <map>
#include <string>
#include <utility>

#include "frontends/cpp/exchange.h"

namespace allranks::cpp {

class SeenFiles : public llvm::vfs::ProxyFileSystem {
 public:
  // Below `unnoted` there is nothing on any disk.
  SeenFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> disk, std::string_view unnoted);

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  bool exists(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& path, std::error_code& error) override;
  std::error_code setCurrentWorkingDirectory(const llvm::Twine& path) override;
  std::error_code getRealPath(const llvm::Twine& path, llvm::SmallVectorImpl<char>& resolved) override;

  // Of a file that was opened.
  void NoteText(const std::string& path, llvm::StringRef text);
  void MoveTo(Reply& reply);

 private:
  std::string Absolute(const llvm::Twine& path) const;
  void Note(std::string path, Told told, Hash hash = {});

  std::string unnoted_;
  // By path and sort of question. A text says that there is a file.
  std::map<std::pair<std::string, Told>, Asked> asked_;
  bool is_complete_ = true;
};

}  // namespace allranks::cpp
