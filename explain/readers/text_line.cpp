#include "explain/readers/text_line.h"

#include <cctype>
#include <charconv>

namespace allranks::explain {
namespace {

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

// "\x1b[36m" and its kin.
std::string_view WithoutEscapes(std::string_view line, std::string& room) {
  if (line.find('\x1b') == std::string_view::npos) return line;
  room.clear();
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      room += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') ++i;
    while (i + 1 < line.size() && !std::isalpha(static_cast<unsigned char>(line[i + 1]))) ++i;
    ++i;
  }
  return room;
}

// "[rank13]:": the rank of the job, as PyTorch logs it.
bool TakeTorchPrefix(TextLine& line) {
  if (!line.words.starts_with("[rank")) return false;
  const std::optional<uint64_t> rank = NumberAt(line.words.substr(5));
  const size_t end = line.words.find("]:");
  if (!rank || end == std::string_view::npos || end > 20) return false;
  line.rank = static_cast<uint32_t>(*rank);
  line.rank_is_of_group = false;
  line.rank_prefix = line.words.substr(0, end);
  // One space belongs to the prefix; what is indented behind it stays so, as lines of source in a traceback are.
  line.words = line.words.substr(end + 2);
  if (line.words.starts_with(' ')) line.words.remove_prefix(1);
  return true;
}

// "[default3]:" (torchrun --tee), "[1,3]<stderr>:" (mpirun --tag-output), "(RayWorker pid=7)", "3: " (srun --label).
bool TakeLauncherPrefix(TextLine& line) {
  const std::string_view words = line.words;
  if (words.starts_with("[default")) {
    const size_t end = words.find("]:");
    if (end == std::string_view::npos || end > 20) return false;
    line.stream = words.substr(0, end);
    if (!line.rank) line.rank = static_cast<uint32_t>(NumberAt(words.substr(8)).value_or(0));
    line.words = words.substr(end + 2);
    return true;
  }
  if (words.starts_with("[1,")) {
    const size_t end = words.find(">:");
    if (end == std::string_view::npos || end > 24) return false;
    line.stream = words.substr(0, end);
    line.rank = static_cast<uint32_t>(NumberAt(words.substr(3)).value_or(0));
    line.words = words.substr(end + 2);
    return true;
  }
  if (words.starts_with("(") && words.substr(0, 120).find("pid=") != std::string_view::npos) {
    const size_t end = words.find(") ");
    if (end == std::string_view::npos || end > 160) return false;
    line.stream = words.substr(0, end);
    line.words = words.substr(end + 2);
    return true;
  }
  size_t digits = 0;
  while (digits < words.size() && digits < 6 && IsDecimal(words[digits])) ++digits;
  if (digits > 0 && words.substr(digits).starts_with(": ")) {
    line.stream = words.substr(0, digits);
    line.rank = static_cast<uint32_t>(NumberAt(words).value_or(0));
    line.words = words.substr(digits + 2);
    return true;
  }
  return false;
}

// "[Rank 3] ..." and "[PG ID 1 PG GUID 4(dp) Rank 3] ..." behind the prefix of the logging library.
void FindRankInWords(TextLine& line) {
  if (line.rank) return;
  for (size_t at = line.words.find("Rank "); at != std::string_view::npos && at < 400; at = line.words.find("Rank ", at + 5)) {
    const std::optional<uint64_t> rank = NumberAt(line.words.substr(at + 5));
    size_t end = at + 5;
    while (end < line.words.size() && IsDecimal(line.words[end])) ++end;
    if (!rank || end >= line.words.size() || line.words[end] != ']') continue;
    line.rank = static_cast<uint32_t>(*rank);
    line.rank_is_of_group = line.words.substr(0, at).find("PG ID") != std::string_view::npos;
    return;
  }
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view After(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

std::optional<uint64_t> NumberAt(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view mark) {
  const std::string_view rest = After(text, mark);
  return rest.data() == nullptr ? std::nullopt : NumberAt(rest);
}

std::string_view WordAt(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  return text.substr(0, end);
}

TextLine TakeApart(std::string_view line, std::string& without_escapes) {
  constexpr size_t kLongestLine = 16384;
  TextLine taken;
  taken.words = WithoutEscapes(line.substr(0, kLongestLine), without_escapes);
  while (!taken.words.empty() && taken.words.back() == '\r') taken.words.remove_suffix(1);
  // At most one of each launcher in front of PyTorch's own.
  for (int i = 0; i < 3 && TakeLauncherPrefix(taken); ++i) {
  }
  // Some collectors put the time in front of everything.
  if (const size_t at = taken.words.find("[rank"); at != std::string_view::npos && at > 0 && at < 80) {
    TextLine inner = taken;
    inner.words = taken.words.substr(at);
    if (TakeTorchPrefix(inner)) return inner;
  }
  TakeTorchPrefix(taken);
  FindRankInWords(taken);
  if (taken.rank && *taken.rank >= (1u << 20)) taken.rank.reset();
  return taken;
}

}  // namespace allranks::explain
