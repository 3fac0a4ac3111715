#include "driver/server/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace allranks::server {
namespace {

constexpr std::string_view kLength = "content-length:";
// Real headers have two short lines.
constexpr size_t kLongestHeader = 4096;

bool StartsWithIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
           return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
         });
}

std::string_view TrimmedHeader(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// The number that the header gives; none: it gives no sound one.
std::optional<size_t> LengthIn(std::string_view header) {
  std::optional<size_t> length;
  while (!header.empty()) {
    const size_t end = header.find('\n');
    const std::string_view line = TrimmedHeader(header.substr(0, end));
    header = end == std::string_view::npos ? std::string_view() : header.substr(end + 1);
    if (!StartsWithIgnoringCase(line, kLength)) continue;
    const std::string_view digits = TrimmedHeader(line.substr(kLength.size()));
    size_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
    length = value;
  }
  return length;
}

// Where the header's empty line ends; npos: not there yet.
size_t EndOfHeader(std::string_view text) {
  const size_t strict = text.find("\r\n\r\n");
  const size_t loose = text.find("\n\n");
  if (loose < strict) return loose + 2;
  return strict == std::string_view::npos ? strict : strict + 4;
}

}  // namespace

std::optional<Frame> FrameReader::Next() {
  if (to_skip_ > 0) {
    const size_t skipped = std::min(to_skip_, buffer_.size());
    buffer_.erase(0, skipped);
    to_skip_ -= skipped;
    if (to_skip_ > 0) return std::nullopt;
  }
  if (!body_) {
    if (std::optional<Frame> problem = ReadHeader()) return problem;
  }
  if (!body_ || buffer_.size() < *body_) return std::nullopt;
  Frame frame{buffer_.substr(0, *body_), {}};
  buffer_.erase(0, *body_);
  body_.reset();
  return frame;
}

std::optional<Frame> FrameReader::ReadHeader() {
  if (buffer_.empty()) return std::nullopt;
  constexpr std::string_view kField = "content-";
  const bool may_begin = StartsWithIgnoringCase(buffer_, kField.substr(0, buffer_.size()));
  const size_t end = EndOfHeader(std::string_view(buffer_).substr(0, kLongestHeader));
  if (end == std::string::npos && may_begin && buffer_.size() < kLongestHeader) return std::nullopt;
  if (end == std::string::npos || !may_begin) {
    Resynchronise();
    return Frame{{}, "bytes that are no message header"};
  }
  const std::optional<size_t> length = LengthIn(std::string_view(buffer_).substr(0, end));
  buffer_.erase(0, end);
  if (!length) return Frame{{}, "a message header without a sound Content-Length"};
  if (*length > kLargestMessage) {
    to_skip_ = *length;
    return Frame{{}, "a message of " + std::to_string(*length) + " bytes, which is too large"};
  }
  body_ = *length;
  return std::nullopt;
}

void FrameReader::Resynchronise() {
  const auto next = std::search(buffer_.begin() + 1, buffer_.end(), kLength.begin(), kLength.end(), [](char a, char b) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(a))) == b;
  });
  if (next != buffer_.end()) {
    buffer_.erase(buffer_.begin(), next);
    return;
  }
  // The beginning of a header may have come already.
  const size_t kept = std::min(buffer_.size() - 1, kLength.size() - 1);
  size_t from = buffer_.size() - kept;
  while (from < buffer_.size() &&
         !StartsWithIgnoringCase(std::string_view(buffer_).substr(from), kLength.substr(0, buffer_.size() - from))) {
    ++from;
  }
  buffer_.erase(0, from);
}

std::string Framed(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace allranks::server
