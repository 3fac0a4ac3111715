// One line of a log taken apart: who wrote it, and the words behind the prefixes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allranks::explain {

struct TextLine {
  std::string_view words;       // without the prefixes
  std::string_view stream;      // the prefix of the launcher: tells interleaved writers apart
  std::string_view rank_prefix; // "[rank13": PyTorch's own, which only the first line of a message has
  std::optional<uint32_t> rank; // of the job, as a prefix or `[Rank 3]` says
  bool rank_is_of_group = false; // it may be the rank within a group
};

// `without_escapes` is room for the line without the escapes of terminals.
TextLine TakeApart(std::string_view line, std::string& without_escapes);

// What follows `mark` in `text`; empty where it does not stand there.
std::string_view After(std::string_view text, std::string_view mark);
std::optional<uint64_t> NumberAt(std::string_view text);
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view mark);
// The numbers of "1, 2, 3 failed".
std::string_view WordAt(std::string_view text);
std::string_view Trimmed(std::string_view text);

}  // namespace allranks::explain
