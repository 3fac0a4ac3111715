// What goes to the helper program `allranks-clang` on its standard input, and what comes back on its standard output: a request
// of one translation unit and its reply, the next request and its reply, until the input ends. Each goes as a frame, its length
// and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/result.h"

namespace allranks::cpp {

// Grows with every change of these structs; a helper of another version answers with nothing.
constexpr uint32_t kExchangeVersion = 3;

// Of a frame: how many bytes say its length, and how many bytes it may have at most.
constexpr size_t kFrameHead = sizeof(uint32_t);
constexpr size_t kLongestFrame = size_t{1} << 30;

struct Request {
  std::string path;                 // of the main file: absolute
  std::string text;                 // its text, which may be newer than the disk's
  std::string directory;            // absolute: where the compile command runs
  std::vector<std::string> args;    // of the compiler, without its name and without the file (compile_commands.h)
  std::vector<std::string> roots;   // absolute folders; what lies below them is the project's own
};

// Bytes [begin, end) of a file's text, a byte order mark left out.
struct Stretch {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// The main file or a header of the project: its definitions.
struct FilePart {
  std::string path;     // absolute
  uint32_t bytes = 0;   // of its text, a byte order mark left out
  std::string module;   // ir::Serialize
  std::vector<Stretch> skipped;  // what the preprocessor left out, by `#if` and its like
};

// A place that Clang could not read.
struct ReadError {
  std::string path;     // absolute; empty: no place
  uint32_t offset = 0;  // into its text
  uint32_t length = 0;
  std::string text;     // "'mpi.h' file not found"
};

struct Hash {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Hash&, const Hash&) = default;
};

Hash HashOf(std::string_view bytes);
// Of what lies in a folder, in whatever order it is listed.
Hash HashOfNames(std::vector<std::string> names);

// What Clang was told of a place on disk: what kind of thing is there, links followed; the text of a file, the names in a folder
// or the path without links, each by its hash.
enum class Told : uint8_t { Nothing, File, Folder, Other, Text, Names, RealPath };
constexpr uint32_t kToldCount = 7;

struct Asked {
  std::string path;  // absolute, as Clang wrote it: `..` behind a link is not what the text says
  Told told{};
  Hash hash;
};

struct Reply {
  std::vector<FilePart> parts;
  uint32_t error_count = 0;
  std::vector<ReadError> errors;  // the first few
  std::vector<Asked> asked;       // of the disk, but for the main file
  bool is_complete = false;       // whether the same request gets the same reply wherever these are the answers
};

std::string Framed(std::string_view bytes);
// As the head of a frame says it.
size_t FrameLength(std::string_view head);

std::string Write(const Request& request);
std::string Write(const Reply& reply);
[[nodiscard]] base::Result<Request> ReadRequest(std::string_view bytes);
[[nodiscard]] base::Result<Reply> ReadReply(std::string_view bytes);

}  // namespace allranks::cpp
