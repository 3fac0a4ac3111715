// A word of a command, or a value of a configuration, as far as it is known, with the places where its parts were written.
//
// A shell makes words of literals and variables: `--nproc_per_node=$GPUS` is the literal here and the `8` of `GPUS=8`
// further up. A word therefore is a sequence of pieces, each with its own place. What is not known (`$1`, `$(hostname)`,
// `{{ gpus }}`, `<YOUR_PORT>`) is one character that no file contains, so that the known rest can still be read: the
// option's name of `--nproc_per_node=$1` is certain although its value is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/span.h"

namespace allranks::launch {

// Stands in texts for a part that is not known.
inline constexpr char kUnknownPart = '\x1a';

// How sure a value is. A default (`${GPUS:-8}`) holds unless whoever starts the script says otherwise.
enum class Sureness : uint8_t { Unknown, Default, Written };

struct Piece {
  std::string text;
  source::Span origin;    // where it is written; of the same length as `text` where it is written as it is
  Sureness sureness = Sureness::Written;
  std::string variable;   // of an unknown piece: the variable that would tell
  uint8_t shell = 0;      // of a variable: which shell put its value in; `bash -c` starts the next one
  bool is_own_folder = false;  // what `$(dirname "$0")` prints, wherever the script is started from
};

class Word {
 public:
  Word() = default;
  explicit Word(Piece piece) { Add(std::move(piece)); }

  void Add(Piece piece);
  void Append(const Word& other);

  const std::string& text() const { return pieces_.size() == 1 ? pieces_.front().text : text_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  bool IsKnown() const { return text().find(kUnknownPart) == std::string::npos; }
  // The least sure of its pieces.
  Sureness sureness() const;
  // Where it begins, as far as it is written in one stretch.
  source::Span span() const;
  // From an offset of `text` on.
  Word From(size_t offset) const { return Between(offset, text().size()); }
  Word Between(size_t begin, size_t end) const;
  // A path below the folder in which the script lies that is started.
  bool IsBelowOwnFolder() const { return !pieces_.empty() && pieces_.front().is_own_folder; }
  // The whole number that it is, without a doubt.
  std::optional<int64_t> Number() const;
  // Of a word that is one unknown variable: its name.
  std::string_view Variable() const;
  // As people are shown it: unknown parts as "...".
  std::string Shown() const;

 private:
  std::string text_;  // of several pieces; of one it is the text of that
  std::vector<Piece> pieces_;
};

}  // namespace allranks::launch
