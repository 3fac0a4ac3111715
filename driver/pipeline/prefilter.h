// Does a text mention any of many names? One pass over the bytes, whatever the number of names. Most places of most texts begin none of them:
// the first bytes of each place are looked up by their hash, which no other place waits for, and the automaton runs only where they may be
// those of a name.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::pipeline {

// An Aho-Corasick automaton with its failure links worked into the table: one look-up a byte. Bytes that occur in
// no name share one column, which keeps the table small enough for the second-level cache.
class Prefilter {
 public:
  explicit Prefilter(std::span<const std::string> names);
  bool Mentions(std::string_view text) const;

 private:
  // The first place from `at` on that may begin a name; behind the last one whose first bytes are all there.
  size_t NextBegin(std::string_view text, size_t at) const;

  std::array<uint8_t, 256> column_{};
  std::vector<uint64_t> begins_;  // a bit for each hash of the first bytes of a name; empty: a name is too short to have so many
  std::vector<uint32_t> table_;  // row offset + column -> row offset; kFound where a name ends
  uint32_t columns_ = 1;
  bool always_ = false;  // an empty name, or none at all: every text matters
};

}  // namespace allranks::pipeline
