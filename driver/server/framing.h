// The base protocol of LSP: messages with a header that says how many bytes follow.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace allranks::server {

// A message as it came, or what is wrong with the bytes that should have been one.
struct Frame {
  std::string text;
  std::string problem;  // empty: `text` is the body of a message
};

// Larger ones are skipped: a document of that size is nothing that people edit.
constexpr size_t kLargestMessage = size_t{256} << 20;

// Bytes in, messages out. After bytes that are no header it goes on at the next one that looks like a header.
class FrameReader {
 public:
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  std::optional<Frame> Next();

 private:
  std::optional<Frame> ReadHeader();
  void Resynchronise();

  std::string buffer_;
  std::optional<size_t> body_;  // length of the message whose header was read
  size_t to_skip_ = 0;          // bytes of a message that is too large
};

std::string Framed(std::string_view body);

}  // namespace allranks::server
