#include "analyzer/launch/hosts.h"

#include <algorithm>
#include <charconv>

namespace allranks::launch {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// More than any machine has; sums of them stay numbers.
constexpr int64_t kMostSlots = 1 << 20;

std::optional<int64_t> CountIn(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_count = error == std::errc() && end == text.data() + text.size() && count >= 0 && count <= kMostSlots;
  return is_count ? std::optional(count) : std::nullopt;
}

void ReadWord(std::string_view word, Host& host) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view key = word.substr(0, equals);
  if (key == "slots") host.slots = CountIn(word.substr(equals + 1));
  if (key == "max-slots" || key == "max_slots") host.most_slots = CountIn(word.substr(equals + 1));
}

Host ReadLine(std::string_view line, source::Span span) {
  Host host{.name = {}, .slots = {}, .most_slots = {}, .span = span};
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(kBlanks, at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(kBlanks, begin), line.size());
    const std::string_view word = line.substr(begin, at - begin);
    if (host.name.empty()) host.name = word;
    else ReadWord(word, host);
  }
  return host;
}

bool IsOfText(char c) { return static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 0x7f; }

}  // namespace

std::optional<int64_t> HostFile::SlotsOfEach() const {
  const bool are_same = std::ranges::all_of(hosts, [this](const Host& host) { return host.slots == hosts.front().slots; });
  return are_same && !hosts.empty() ? hosts.front().slots : std::nullopt;
}

const Host* HostFile::Find(std::string_view name) const {
  const auto found = std::ranges::find(hosts, name, &Host::name);
  return found == hosts.end() ? nullptr : &*found;
}

const Host* HostFile::FindRepeated() const {
  const auto repeated = std::ranges::find_if(hosts, [this](const Host& host) { return Find(host.name) != &host; });
  return repeated == hosts.end() ? nullptr : &*repeated;
}

std::optional<int64_t> HostFile::SumOf(std::optional<int64_t> Host::*count) const {
  if (FindRepeated() != nullptr) return std::nullopt;
  int64_t sum = 0;
  for (const Host& host : hosts) {
    if (!(host.*count)) return std::nullopt;
    sum += *(host.*count);
  }
  return sum;
}

std::optional<HostFile> ReadHosts(std::string path, std::string_view text, source::FileId file) {
  HostFile read{.path = std::move(path), .hosts = {}};
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    const size_t last = line.find_last_not_of(kBlanks);
    line = line.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const auto begin = static_cast<uint32_t>(at);
    at = end + 1;
    if (line.empty()) continue;
    const bool is_text = std::ranges::all_of(line, [](char c) { return IsOfText(c) || c == '\t' || c == '\r'; });
    if (!is_text || line.find_first_of("<>{}$%") != std::string_view::npos) return std::nullopt;
    read.hosts.push_back(ReadLine(line, {file, begin, begin + static_cast<uint32_t>(line.size())}));
  }
  return read;
}

}  // namespace allranks::launch
