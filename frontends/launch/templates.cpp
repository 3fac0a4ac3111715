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
  // `<YOUR_HOST>` and `<your host>`, but neither `<< EOF` nor `< file`.
  const bool may_be_placeholder = rest.size() > 2 && rest[0] == '<' && std::isalpha(static_cast<unsigned char>(rest[1])) != 0 && (at == 0 || text[at - 1] != '<');
  if (!may_be_placeholder) return 0;
  size_t end = at + 1;
  while (end < text.size() && IsPlaceholderPart(text[end])) ++end;
  return end < text.size() && text[end] == '>' ? end + 1 : 0;
}

}  // namespace

Word WithoutTemplates(const Word& text) {
  const std::string& all = text.text();
  if (all.find("{{") == std::string::npos && all.find("{%") == std::string::npos && all.find('<') == std::string::npos) return text;
  Word out;
  size_t from = 0;
  for (size_t at = all.find_first_of("$<{"); at != std::string::npos; at = all.find_first_of("$<{", at)) {
    const size_t end = EndOfTemplate(all, at);
    if (end == 0) {
      ++at;
      continue;
    }
    if (at > from) out.Append(text.Between(from, at));
    out.Add(Piece{.text = std::string(1, kUnknownPart), .origin = text.Between(at, end).span(), .sureness = Sureness::Unknown});
    from = at = end;
  }
  if (all.size() > from) out.Append(text.Between(from, all.size()));
  return out;
}

}  // namespace allranks::launch_files
