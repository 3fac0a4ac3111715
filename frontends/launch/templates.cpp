#include "frontends/launch/templates.h"

#include <algorithm>
#include <cctype>

namespace allranks::launch_files {
namespace {

using launch::kUnknownPart;
using launch::Piece;
using launch::Sureness;
using launch::Word;

bool IsPlaceholderPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == ':'; }

// `=[number of nodes]`: no pattern has blanks, and a list has no letters right behind its bracket where a value begins.
size_t EndOfBracketed(std::string_view text, size_t at) {
  const bool is_value = at > 0 && (text[at - 1] == '=' || text[at - 1] == ':') && at + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0;
  if (!is_value) return 0;
  size_t end = at + 1;
  while (end < text.size() && IsPlaceholderPart(text[end])) ++end;
  const bool is_closed = end < text.size() && text[end] == ']' && text.substr(at, end - at).find(' ') != std::string_view::npos;
  return is_closed ? end + 1 : 0;
}

// The end of a template that begins at `at`; 0: none does.
size_t EndOfTemplate(std::string_view text, size_t at) {
  const auto closed_by = [&](std::string_view end) {
    const size_t found = text.find(end, at);
    return found == std::string_view::npos ? 0 : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("${{") || rest.starts_with("{{")) return closed_by("}}");
  if (rest.starts_with("{%")) return closed_by("%}");
  if (rest.starts_with("{#")) return closed_by("#}");
  if (rest.starts_with('[')) return EndOfBracketed(text, at);
  // `<YOUR_HOST>` and `<your host>`, but neither `<< EOF` nor `< file`.
  const bool may_be_placeholder = rest.size() > 2 && rest[0] == '<' && std::isalpha(static_cast<unsigned char>(rest[1])) != 0 && (at == 0 || text[at - 1] != '<');
  if (!may_be_placeholder) return 0;
  size_t end = at + 1;
  while (end < text.size() && IsPlaceholderPart(text[end])) ++end;
  return end < text.size() && text[end] == '>' ? end + 1 : 0;
}

}  // namespace

bool IsForReaders(std::string_view text) {
  const bool is_bracketed = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
  if (is_bracketed || text == "..." || text == "…" || text.starts_with('$')) return true;
  return !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_-") == std::string_view::npos;
}

std::vector<std::pair<size_t, size_t>> TemplatesIn(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> places;
  const bool has_none = text.find("{{") == std::string_view::npos && text.find("{%") == std::string_view::npos && text.find_first_of("<[") == std::string_view::npos;
  if (has_none) return places;
  for (size_t at = text.find_first_of("$<{["); at != std::string_view::npos; at = text.find_first_of("$<{[", at)) {
    const size_t end = EndOfTemplate(text, at);
    if (end != 0) places.emplace_back(at, end);
    at = end != 0 ? end : at + 1;
  }
  return places;
}

std::vector<std::pair<size_t, size_t>> TemplatesInJson(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> places = TemplatesIn(text);
  const auto is_capital = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  bool is_quoted = false;
  char before = ' ';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && (at == 0 || text[at - 1] != '\\')) is_quoted = !is_quoted;
    size_t end = at;
    // Neither `NaN` nor `True`.
    const bool may_be_place = !is_quoted && c >= 'A' && c <= 'Z' && at + 1 < text.size() && is_capital(text[at + 1]);
    while (may_be_place && end < text.size() && is_of_word(text[end])) ++end;
    const bool is_value = (before == ':' || before == '[' || before == ',') && end > at + 1;
    if (is_value && (end == text.size() || std::string_view(" \t\r\n,]}").find(text[end]) != std::string_view::npos)) places.emplace_back(at, end);
    at = std::max(at, end == at ? at : end - 1);
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') before = c;
  }
  std::ranges::sort(places);
  return places;
}

Word WithoutTemplates(const Word& text) {
  const std::string& all = text.text();
  const std::vector<std::pair<size_t, size_t>> places = TemplatesIn(all);
  if (places.empty()) return text;
  Word out;
  size_t from = 0;
  for (const auto& [at, end] : places) {
    if (at > from) out.Append(text.Between(from, at));
    out.Add(Piece{.text = std::string(1, kUnknownPart), .origin = text.Between(at, end).span(), .sureness = Sureness::Unknown});
    from = end;
  }
  if (all.size() > from) out.Append(text.Between(from, all.size()));
  return out;
}

}  // namespace allranks::launch_files
