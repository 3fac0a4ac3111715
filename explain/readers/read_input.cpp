#include "explain/readers/read_input.h"

#include <charconv>

#include "explain/readers/flight_recorder.h"
#include "explain/readers/json.h"
#include "explain/readers/pickle.h"
#include "explain/readers/ras.h"
#include "explain/readers/text_log.h"

namespace allranks::explain {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> LastNumber(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  uint32_t rank = 0;
  if (begin == end || std::from_chars(name.data() + begin, name.data() + end, rank).ec != std::errc()) return std::nullopt;
  return rank < kMostRank ? std::optional(rank) : std::nullopt;
}

std::optional<uint32_t> WholeNumber(std::string_view name) {
  if (name.empty() || name.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return LastNumber(name);
}

// `torchrun`'s error file: {"message": {"message": "...", "extraInfo": {"py_callstack": "Traceback ..."}}}.
bool AddErrorFile(const Document& document, ValueIndex root, std::optional<uint32_t> rank, Recording& recording) {
  const ValueIndex message = document.Member(root, "message");
  const ValueIndex extra = document.Member(message, "extraInfo");
  const std::string_view what = document.Text(document.Member(message, "message"), document.Text(message));
  if (message == kNoValue || (extra == kNoValue && what.empty()) || !rank) return false;
  std::string text(document.Text(document.Member(extra, "py_callstack")));
  if (text.find("Traceback (most recent call last)") == std::string::npos) text += "Traceback (most recent call last):\n" + std::string(what) + "\n";
  return AddText(text, rank, recording);
}

std::string ReadJsonInput(std::string_view path, std::string_view bytes, Recording& recording) {
  const std::optional<uint32_t> rank = RankOfName(path);
  std::string repaired;
  ReadDocument read = ReadJson(bytes);
  if (!read.error.empty() && bytes.find("\"missing_ranks\"") != std::string_view::npos) {
    repaired = WithMissingCommas(bytes);
    read = ReadJson(repaired);
  }
  if (!read.error.empty()) return AddText(bytes, rank, recording) ? "" : read.error;
  if (IsFlightRecorder(read.document, read.root)) return AddFlightRecorder(read.document, read.root, rank, recording);
  if (IsRas(read.document, read.root)) return AddRas(read.document, read.root, recording), "";
  if (AddErrorFile(read.document, read.root, rank, recording)) return {};
  return "JSON, but neither a Flight Recorder dump nor a report of NCCL's monitor nor an error file of torchrun (whose folder says the rank)";
}

}  // namespace

std::optional<uint32_t> RankOfName(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.find_last_of('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  // Endings such as ".json.1" would be taken for ranks otherwise.
  for (const std::string_view ending : {".gz", ".txt", ".log", ".json", ".pkl", ".pickle", ".out", ".err", ".stderr", ".stdout"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  if (const size_t at = name.rfind("rank"); at != std::string_view::npos) {
    std::string_view rest = name.substr(at + 4);
    while (!rest.empty() && !IsDigit(rest.front())) rest.remove_prefix(1);
    size_t digits = 0;
    while (digits < rest.size() && IsDigit(rest[digits])) ++digits;
    if (const std::optional<uint32_t> rank = WholeNumber(rest.substr(0, digits))) return rank;
  }
  if (!name.empty() && IsDigit(name.back())) return LastNumber(name);
  std::string_view folders = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  while (!folders.empty()) {
    const size_t at = folders.find_last_of('/');
    const std::string_view folder = at == std::string_view::npos ? folders : folders.substr(at + 1);
    if (const std::optional<uint32_t> rank = WholeNumber(folder)) return rank;
    folders = at == std::string_view::npos ? std::string_view() : folders.substr(0, at);
  }
  return std::nullopt;
}

std::string ReadInput(std::string_view path, std::string_view bytes, Recording& recording) {
  ++recording.files;
  if (bytes.empty()) return "it is empty";
  if (bytes[0] == '\x80') {
    const ReadDocument read = ReadPickle(bytes);
    if (!read.error.empty()) return read.error;
    if (!IsFlightRecorder(read.document, read.root)) return "a pickle, but no Flight Recorder dump";
    return AddFlightRecorder(read.document, read.root, RankOfName(path), recording);
  }
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') return ReadJsonInput(path, bytes, recording);
  if (AddText(bytes, RankOfName(path), recording)) return {};
  return "nothing in it tells of a hang: neither a watchdog's message nor a stack nor an error of a rank";
}

bool IsReport(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] != '{') return false;
  if (bytes.substr(0, 100000).find("\"sarif") != std::string_view::npos || bytes.substr(0, 4096).find("\"runs\"") != std::string_view::npos) return true;
  return bytes.substr(0, 4096).find("\"tool\"") != std::string_view::npos && bytes.substr(0, 4096).find("allranks") != std::string_view::npos;
}

}  // namespace allranks::explain
