#include "analyzer/launch/word.h"

#include <algorithm>
#include <charconv>

namespace allranks::launch {

void Word::Add(Piece piece) {
  if (pieces_.size() == 1) text_ = pieces_.front().text;
  if (!pieces_.empty()) text_ += piece.text;
  pieces_.push_back(std::move(piece));
}

void Word::Append(const Word& other) {
  for (const Piece& piece : other.pieces_) Add(piece);
}

Sureness Word::sureness() const {
  Sureness least = Sureness::Written;
  for (const Piece& piece : pieces_) least = std::min(least, piece.sureness);
  return least;
}

source::Span Word::span() const {
  if (pieces_.empty()) return {};
  source::Span span = pieces_.front().origin;
  for (const Piece& piece : pieces_) {
    if (piece.origin.file == span.file && piece.origin.begin == span.end) span.end = piece.origin.end;
  }
  return span;
}

Word Word::Between(size_t begin, size_t end) const {
  Word part;
  size_t at = 0;
  for (const Piece& piece : pieces_) {
    const size_t from = std::max(begin, at);
    const size_t to = std::min(end, at + piece.text.size());
    if (from < to) {
      Piece cut{.text = piece.text.substr(from - at, to - from), .origin = piece.origin, .sureness = piece.sureness,
                .variable = piece.variable, .shell = piece.shell, .is_own_folder = piece.is_own_folder};
      const bool is_verbatim = piece.origin.end - piece.origin.begin == piece.text.size();
      if (is_verbatim) {
        cut.origin.begin = static_cast<uint32_t>(piece.origin.begin + (from - at));
        cut.origin.end = static_cast<uint32_t>(piece.origin.begin + (to - at));
      }
      part.Add(std::move(cut));
    }
    at += piece.text.size();
  }
  return part;
}

std::optional<int64_t> Word::Number() const {
  int64_t number = 0;
  const char* end = text().data() + text().size();
  const auto [stop, error] = std::from_chars(text().data(), end, number);
  if (text().empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string_view Word::Variable() const {
  return pieces_.size() == 1 ? std::string_view(pieces_.front().variable) : std::string_view();
}

std::string Word::Shown() const {
  std::string shown;
  for (const Piece& piece : pieces_) {
    if (piece.sureness != Sureness::Unknown) shown += piece.text;
    else shown += piece.variable.empty() ? "..." : "$" + piece.variable;
  }
  std::erase(shown, kUnknownPart);
  return shown;
}

}  // namespace allranks::launch
