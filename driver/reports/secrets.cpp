#include "driver/reports/secrets.h"

#include <algorithm>
#include <array>

#include "analyzer/base/lowered.h"

namespace allranks::reports {
namespace {

bool IsOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

// The last word says what a name is: `hf_token`, but not `max_tokens` or `tokenizer`.
bool NamesSecret(std::string_view name) {
  constexpr std::array<std::string_view, 11> kEnds = {"token",      "secret",      "password",   "passwd",    "passphrase", "api_key",
                                                      "apikey",     "access_key",  "secret_key", "auth_key",  "credentials"};
  std::string lowered = base::Lowered(name);
  std::ranges::replace(lowered, '-', '_');
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return lowered.ends_with(end); });
}

// Behind the name at `at`: where its value begins, or the end of the text if it has none.
size_t BeginOfValue(std::string_view text, size_t at, bool is_option) {
  const bool ends_quoted_key = at < text.size() && (text[at] == '"' || text[at] == '\'');
  if (ends_quoted_key) ++at;
  const size_t behind_spaces = std::min(text.find_first_not_of(" \t", at), text.size());
  if (behind_spaces < text.size() && (text[behind_spaces] == '=' || text[behind_spaces] == ':')) {
    return std::min(text.find_first_not_of(" \t", behind_spaces + 1), text.size());
  }
  return is_option && behind_spaces > at ? behind_spaces : text.size();
}

size_t EndOfValue(std::string_view text, size_t begin) {
  const char first = text[begin];
  if (first == '"' || first == '\'') return std::min(text.find(first, begin + 1), text.size());
  return std::min(text.find_first_of(" \t\r\n;|&)\"'`,}", begin), text.size());
}

}  // namespace

std::string WithoutSecrets(std::string_view text) {
  std::string shown(text);
  for (size_t at = 0; at < text.size();) {
    if (!IsOfName(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && IsOfName(text[at])) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    if (!NamesSecret(name)) continue;
    size_t value = BeginOfValue(text, at, name.starts_with('-'));
    if (value >= text.size() || text[value] == '\n' || text[value] == '\r') continue;
    const size_t end = EndOfValue(text, value);
    if (text[value] == '"' || text[value] == '\'') ++value;
    if (value < end && text[value] != '$') std::fill(shown.begin() + static_cast<std::ptrdiff_t>(value), shown.begin() + static_cast<std::ptrdiff_t>(end), '*');
    at = std::max(at, end);
  }
  return shown;
}

}  // namespace allranks::reports
