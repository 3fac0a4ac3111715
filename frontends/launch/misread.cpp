#include "frontends/launch/misread.h"

#include <algorithm>
#include <cctype>

namespace allranks::launch_files {
namespace {

using launch::MisreadAs;
using launch::MisreadLine;

bool BeginsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsOfName(char c) { return BeginsName(c) || (c >= '0' && c <= '9'); }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// The name that a text begins with; empty: none.
std::string_view NameAt(std::string_view text) {
  if (text.empty() || !BeginsName(text[0])) return {};
  const auto end = std::ranges::find_if_not(text, IsOfName);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

// `$NAME=value`, `${NAME}=value`
std::string_view AssignedByDollar(std::string_view text) {
  if (!text.starts_with('$')) return {};
  const bool is_braced = text.substr(1).starts_with('{');
  const std::string_view name = NameAt(text.substr(is_braced ? 2 : 1));
  const std::string_view behind = text.substr(std::min(text.size(), 1 + name.size() + (is_braced ? 2 : 0)));
  const bool is_closed = !is_braced || text.substr(2 + name.size()).starts_with('}');
  return !name.empty() && is_closed && behind.starts_with('=') && !behind.starts_with("==") ? name : std::string_view();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 && text.find_first_not_of("0123456789.,e-") == std::string_view::npos;
}

// Whether a place of a text is in a line of comment.
bool IsInComment(std::string_view text, size_t at) {
  const size_t line = text.rfind('\n', at);
  const size_t first = text.find_first_not_of(" \t", line == std::string_view::npos ? 0 : line + 1);
  return first < at && text[first] == '#';
}

// `${NAME=-"x"}`: the hyphen of `:-` behind the sign of `=`. A value may begin with a hyphen, but not with one before a quote or a path.
std::optional<MisreadLine> HyphenDefault(const Word& word) {
  const std::string_view text = word.text();
  for (size_t at = text.find("=-"); at != std::string_view::npos; at = text.find("=-", at + 1)) {
    size_t begin = at;
    while (begin > 0 && IsOfName(text[begin - 1])) --begin;
    const bool is_expansion = begin >= 2 && begin < at && text.substr(begin - 2, 2) == "${";
    const bool is_mistake = at + 2 < text.size() && std::string_view("\"'/$").find(text[at + 2]) != std::string_view::npos;
    if (!is_expansion || !is_mistake || IsInComment(text, at)) continue;
    return MisreadLine{.as = MisreadAs::HyphenDefault, .span = word.Between(begin - 2, at + 2).span(), .text = std::string(text.substr(begin, at - begin))};
  }
  return std::nullopt;
}

// `python torchrun train.py`, `srun python python train.py`: what was to be a script is a program.
std::optional<Misread> DoubledProgram(std::string_view text, size_t length) {
  const auto word = [&](size_t from) { return text.substr(from, std::min(text.find_first_of(" \t\n\\", from), text.size()) - from); };
  const auto behind = [&](size_t end) { return std::min(text.find_first_not_of(" \t", end), text.size()); };
  size_t at = 0;
  if (text.substr(0, length) == "srun") {
    for (at = behind(length); word(at).starts_with("--") && word(at).find('=') != std::string_view::npos;) at = behind(at + word(at).size());
  }
  const std::string_view first = word(at);
  const std::string_view second = word(behind(at + first.size()));
  const bool reads_script = first == "python" || first == "python3" || first == "torchrun";
  if (!reads_script || (second != "python" && second != "python3" && second != "torchrun")) return std::nullopt;
  return Misread{MisreadAs::DoubledProgram, std::string(second)};
}

// Whether most lines end as on Windows.
bool HasCarriageReturns(std::string_view text) {
  size_t with = 0;
  size_t all = 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    ++all;
    with += at > 0 && text[at - 1] == '\r' ? 1 : 0;
  }
  return with * 2 > all;
}

// `|-----|-------|`: commands that are noted beside their results. No shell reads a line that begins so.
bool HoldsTable(std::string_view text) {
  for (size_t at = text.find("\n|"); at != std::string_view::npos; at = text.find("\n|", at + 1)) {
    const std::string_view line = text.substr(at + 1, std::min(text.find('\n', at + 1), text.size()) - at - 1);
    if (line.find("---") != std::string_view::npos && line.find_first_not_of("|-: \t\r") == std::string_view::npos) return true;
  }
  return false;
}

// What the first line, and the ends of lines, make of the file.
void AddOfFile(const ShellScript& script, const Word& word, std::vector<MisreadLine>& found) {
  const std::string_view text = word.text();
  const std::string_view first = text.substr(0, text.find('\n'));
  const source::Span line = word.Between(0, std::max<size_t>(std::min<size_t>(first.size(), text.size()), 1)).span();
  constexpr std::string_view kEnv = "/env";
  const std::string_view program = first.substr(0, first.find_last_not_of(" \t\r") + 1);
  const bool is_env = program.starts_with("#!") && program.ends_with(kEnv);
  if (is_env) found.push_back({.as = MisreadAs::EnvAlone, .span = line});
  const bool is_batch = !script.directives.empty() && !text.starts_with("#!") && text[0] != launch::kUnknownPart;
  if (is_batch) found.push_back({.as = MisreadAs::NoInterpreter, .span = line, .text = text.find("\n#!") < text.find("\n#SBATCH") ? "later" : ""});
  if (HasCarriageReturns(text)) found.push_back({.as = MisreadAs::CarriageReturn, .span = line, .text = script.directives.empty() ? "" : "sbatch"});
  if (std::optional<MisreadLine> hyphen = HyphenDefault(word)) found.push_back(std::move(*hyphen));
}

// `SBATCH --time=1:00` among lines `#SBATCH`.
void AddBareDirectives(const Word& word, std::vector<MisreadLine>& found) {
  constexpr std::string_view kBare = "\nSBATCH -";
  const std::string_view text = word.text();
  if (text.find("\n#SBATCH -") == std::string_view::npos) return;
  for (size_t at = text.find(kBare); at != std::string_view::npos; at = text.find(kBare, at + 1)) {
    found.push_back({.as = MisreadAs::BareDirective, .span = word.Between(at + 1, at + kBare.size() - 2).span()});
  }
}

}  // namespace

std::optional<Misread> MisreadOf(std::string_view text, size_t length, bool is_behind_empty) {
  const std::string_view first = text.substr(0, length);
  if (const std::string_view name = AssignedByDollar(text); !name.empty()) return Misread{MisreadAs::NamedProgram, std::string(name)};
  const bool is_quoted = first.starts_with('"') || first.starts_with('\'');
  if (is_quoted && first.find('\n') != std::string_view::npos) return Misread{MisreadAs::QuotedLines, {}};
  if (first == "True" || first == "False") return Misread{MisreadAs::PythonWord, first == "True" ? "true" : "false"};
  if (first.size() > 1 && first[0] == '[' && first[1] != '[' && first.find_first_of("=*?") == std::string_view::npos) return Misread{MisreadAs::GluedBracket, {}};
  if (is_behind_empty && IsNumber(first)) return Misread{MisreadAs::EmptyAssignment, std::string(first)};
  if (first == "torch" && text.find(" --nproc") != std::string_view::npos) return Misread{MisreadAs::NoProgram, "torchrun"};
  if (std::optional<Misread> doubled = DoubledProgram(text, length)) return doubled;
  const std::string_view behind = text.substr(std::min(text.find_first_not_of(" \t", length), text.size()));
  const bool is_spaced = behind.size() > 1 && behind[0] == '=' && IsBlank(behind[1]) && text.size() > length && IsBlank(text[length]);
  const bool is_name = NameAt(first).size() == first.size() && first != "test" && first != "expr";
  if (is_spaced && is_name) return Misread{MisreadAs::SpacedAssignment, std::string(first)};
  return std::nullopt;
}

std::string DoublySigned(std::string_view assignment) {
  const std::string_view name = NameAt(assignment);
  const std::string_view behind = assignment.substr(name.size());
  const bool is_small = std::ranges::any_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  const bool is_doubled = behind.size() > 2 && behind.starts_with("==") && (IsOfName(behind[2]) || behind[2] == '$' || behind[2] == '"');
  return is_doubled && !is_small ? std::string(name) : std::string();
}

std::string PlainVariable(std::string_view text) {
  if (!text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  return NameAt(text).size() == text.size() ? std::string(text) : std::string();
}

void AddMisread(ShellScript script, const Word& text, launch::LaunchFile& file) {
  if (text.text().empty() || HoldsTable(text.text())) return;
  std::vector<MisreadLine> found = std::move(script.misread);
  AddOfFile(script, text, found);
  AddBareDirectives(text, found);
  std::ranges::stable_sort(found, {}, &MisreadLine::span);
  for (MisreadLine& line : found) {
    // The body of a function is read wherever it is called.
    const auto known = std::ranges::find(file.misread, line.as, &MisreadLine::as);
    if (known == file.misread.end()) {
      line.last = line.span;
      file.misread.push_back(std::move(line));
    } else if (known->last != line.span) {
      known->last = line.span;
      ++known->more;
    }
  }
}

}  // namespace allranks::launch_files
