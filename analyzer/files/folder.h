// Folders that are held open: what is read and written in one lies in it, whatever its path leads to meanwhile.
#pragma once

#include <string>
#include <string_view>

namespace allranks::files {

class Folder {
 public:
  static Folder NotOpen(int error) { return {-1, error}; }
  // Follows links, as `open` does.
  explicit Folder(const std::string& path);
  ~Folder();
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&& other) noexcept;

  // A folder below this one. A link or `..` on the way is an error.
  Folder Below(std::string_view path) const;

  // 0, or the errno of why it is not open; then no other call makes sense.
  int error() const { return error_; }
  // For calls as `openat`.
  int descriptor() const { return descriptor_; }

 private:
  Folder(int descriptor, int error) : descriptor_(descriptor), error_(error) {}

  int descriptor_ = -1;
  int error_ = 0;
};

// A name in an open folder.
struct Place {
  Folder folder;
  std::string name;
};

// Where `path` leads to, below the folder `top`. Links are followed now, once: where one is laid on the way later, or was laid
// while this looked, is an error, and so is a place that is not below `top` (EXDEV). The file itself need not be there.
Place PlaceBelow(const std::string& top, const std::string& path);

// Whether the path, as it is written, goes through this folder, wherever links lead to from there. `..` leaves a folder.
bool LiesBelow(const std::string& top, const std::string& path);

}  // namespace allranks::files
