#include "driver/reports/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/base/lowered.h"

namespace allranks::reports {
namespace {

struct Stretch {
  size_t begin = 0;
  size_t end = 0;
};

bool IsLetterOrDigit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsOfName(char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; }
bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsEndOfLine(char c) { return c == '\n' || c == '\r'; }

// `tokn` for `token`: one letter is missing, or two have changed places.
bool IsMisspelled(std::string_view word, std::string_view right) {
  const auto differs = std::ranges::mismatch(word, right);
  const std::string_view a(differs.in1, word.end());
  const std::string_view b(differs.in2, right.end());
  if (word.size() + 1 == right.size()) return a == b.substr(1);
  return word.size() == right.size() && a.size() > 1 && a[0] == b[1] && a[1] == b[0] && a.substr(2) == b.substr(2);
}

bool IsInCapitals(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }) && name.find('_') != std::string_view::npos;
}

// The last word says what a name is: `hf_token`, but not `max_tokens` or `tokenizer`.
bool NamesSecret(std::string_view name) {
  constexpr std::array<std::string_view, 9> kWords = {"token", "secret", "password", "passwd", "passphrase", "apikey", "credential", "credentials", "auth"};
  // Each stands for much else where it is no variable of the environment: a key to sort by, a pass over the data.
  constexpr std::array<std::string_view, 3> kOfEnvironment = {"key", "pat", "pass"};
  constexpr std::array<std::string_view, 7> kWithKey = {"api", "access", "secret", "auth", "private", "account", "license"};
  // Shorter words are misspellings of too many others.
  constexpr size_t kShortestTold = 5;
  std::string lowered = base::Lowered(name);
  std::ranges::replace(lowered, '-', '_');
  const size_t before = lowered.rfind('_');
  const std::string_view last = std::string_view(lowered).substr(before == std::string::npos ? 0 : before + 1);
  // `HFTOKEN`, `mypassword`.
  const bool is_told = std::ranges::any_of(kWords, [&](std::string_view word) {
    return last == word || (word.size() >= kShortestTold && (last.ends_with(word) || IsMisspelled(last, word)));
  });
  // PWD and OLDPWD are folders of the shell.
  if (is_told || (last == "pwd" && name != "PWD")) return true;
  if (before == std::string::npos) return false;
  if (IsInCapitals(name) && std::ranges::count(kOfEnvironment, last) > 0) return true;
  const std::string_view rest = std::string_view(lowered).substr(0, before);
  return last == "key" && std::ranges::any_of(kWithKey, [&](std::string_view word) { return rest.ends_with(word); });
}

// A key may be for much (`--sort_key`, `wandb login`): then the value tells, which is no word.
bool MayNameKey(std::string_view name) { return base::Lowered(name).ends_with("key") || name == "login"; }

bool LooksLikeKey(std::string_view value) {
  constexpr size_t kShortest = 8;
  const bool has_digit = std::ranges::any_of(value, [](char c) { return c >= '0' && c <= '9'; });
  const bool has_letter = std::ranges::any_of(value, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  return value.size() >= kShortest && has_digit && has_letter && std::ranges::all_of(value, IsLetterOrDigit);
}

// `true`, `none`, a mark such as `[PAD]` and a placeholder such as `<TOKEN>` keep nothing.
bool IsNoSecret(std::string_view value) {
  constexpr std::array<std::string_view, 8> kWords = {"true", "false", "none", "null", "yes", "no", "on", "off"};
  const bool is_mark = value.empty() || value[0] == '$' || value[0] == '<' || value[0] == '[' || value[0] == '*';
  return is_mark || std::ranges::count(kWords, base::Lowered(value)) > 0;
}

// Where the text of a value ends that is not in quotes.
size_t EndOfWord(std::string_view text, size_t begin) { return std::min(text.find_first_of(" \t\r\n;|&)\"'`,]}", begin), text.size()); }

class Finder {
 public:
  Finder(std::string_view text, TextOf kind) : text_(text), kind_(kind) {}

  std::vector<Stretch> Run() {
    for (size_t at = 0; at < text_.size();) {
      if (text_[at] == ':') LookForPassword(at);
      if (!IsOfName(text_[at])) {
        ++at;
        continue;
      }
      const size_t begin = at;
      while (at < text_.size() && IsOfName(text_[at])) ++at;
      at = BehindName(begin, at);
    }
    return std::move(found_);
  }

 private:
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  size_t SkipBlanks(size_t at) const { return std::min(text_.find_first_not_of(" \t", at), text_.size()); }

  // What a name shows; the place from which to go on.
  size_t BehindName(size_t begin, size_t end) {
    const std::string_view name = text_.substr(begin, end - begin);
    if (HasFormOfKey(name)) return Hide(begin, end);
    if (name == "Bearer" && At(end) == ' ') return Hide(end + 1, EndOfWord(text_, end + 1));
    if (At(end) == '(' && base::Lowered(name).ends_with("login")) return HideArguments(end + 1);
    const bool is_secret = NamesSecret(name);
    if (!is_secret && !MayNameKey(name)) return end;
    const std::optional<size_t> value = BeginOfValue(name, end);
    if (!value || *value >= text_.size() || IsEndOfLine(text_[*value])) return end;
    return is_secret || LooksLikeKey(ValueAt(*value)) ? HideValue(*value, end) : end;
  }
  std::string_view ValueAt(size_t begin) const {
    const size_t first = IsQuote(At(begin)) ? begin + 1 : begin;
    return text_.substr(first, EndOfWord(text_, first) - first);
  }
  // Whether a place in code is inside of a text, as far as its line shows.
  bool IsInText(size_t at) const {
    const size_t line = text_.rfind('\n', at);
    char quote = '\0';
    for (size_t i = line == std::string_view::npos ? 0 : line + 1; i < at; ++i) {
      if (text_[i] == '\\') ++i;
      else if (quote == '\0' && IsQuote(text_[i])) quote = text_[i];
      else if (text_[i] == quote) quote = '\0';
    }
    return quote != '\0';
  }

  // Behind a name: `=`, `:`, `"]=`; of an option also a blank; of a name in quotes also the next text of a list of arguments.
  std::optional<size_t> BeginOfValue(std::string_view name, size_t at) const {
    const bool is_quoted = IsQuote(At(at));
    size_t next = SkipBlanks(is_quoted ? at + 1 : at);
    const bool is_index = is_quoted && At(next) == ']';
    if (is_index) next = SkipBlanks(next + 1);
    const bool is_compared = At(next) == '=' && At(next + 1) == '=';
    if ((At(next) == '=' || (At(next) == ':' && !is_index)) && !is_compared) return SkipBlanks(next + 1);
    const bool is_option = name.starts_with('-') || (name == "login" && !is_quoted);
    if (is_option && !is_quoted && (At(next) == ',' || IsEndOfLine(At(next)))) return NextOfList(next);
    if (is_quoted && At(next) == ',' && (is_option || IsInCapitals(name))) {
      const size_t argument = SkipBlanks(next + 1);
      return IsQuote(At(argument)) ? std::optional(argument) : std::nullopt;
    }
    // `--token --lr 1`: another option is no value.
    return is_option && !is_quoted && next > at && At(next) != '-' ? std::optional(next) : std::nullopt;
  }

  // Lists of YAML: `[--token, abc]`, or each on a line of its own.
  std::optional<size_t> NextOfList(size_t at) const {
    const bool is_in_line = At(at) == ',';
    const size_t next = is_in_line ? at + 1 : std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
    const bool is_item = is_in_line ? At(next) == ' ' : At(next) == '-' && At(next + 1) == ' ';
    const size_t value = SkipBlanks(is_in_line ? next : next + 1);
    return is_item && value < text_.size() && At(value) != '-' ? std::optional(value) : std::nullopt;
  }

  size_t HideValue(size_t begin, size_t behind_name) {
    const bool has_prefix = std::isalpha(static_cast<unsigned char>(At(begin))) != 0 && IsQuote(At(begin + 1));
    const size_t quote = has_prefix ? begin + 1 : begin;
    if (IsQuote(At(quote))) return Hide(quote + 1, std::min(text_.find(text_[quote], quote + 1), text_.size()));
    return kind_ == TextOf::Code && !IsInText(begin) ? behind_name : Hide(begin, EndOfWord(text_, begin));
  }

  size_t Hide(size_t begin, size_t end) {
    if (begin < end && !IsNoSecret(text_.substr(begin, end - begin))) found_.push_back({begin, end});
    return std::max(begin, end);
  }

  // `wandb.login(key="...")`: the texts in quotes up to the bracket.
  size_t HideArguments(size_t at) {
    while (at < text_.size() && text_[at] != ')' && text_[at] != '(') {
      if (!IsQuote(text_[at])) {
        ++at;
        continue;
      }
      const size_t close = text_.find(text_[at], at + 1);
      if (close == std::string_view::npos) return at + 1;
      at = Hide(at + 1, close) + 1;
    }
    return at;
  }

  // `://user:password@host`
  void LookForPassword(size_t colon) {
    if (text_.substr(colon, 3) != "://") return;
    const size_t end = std::min(text_.find_first_of(" \t\r\n\"'`/<>", colon + 3), text_.size());
    const std::string_view place = text_.substr(colon + 3, end - colon - 3);
    const size_t at = place.rfind('@');
    const size_t user = place.find(':');
    if (at != std::string_view::npos && user < at) Hide(colon + 3 + user + 1, colon + 3 + at);
  }

  // As services make keys: what they begin with, and a stretch of letters and digits that is no word.
  static bool HasFormOfKey(std::string_view word) {
    constexpr std::array<std::string_view, 12> kBegins = {"hf_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "AKIA", "ASIA", "glpat-", "xoxb-", "xoxp-", "AIza"};
    constexpr size_t kShortest = 8;
    const auto begin = std::ranges::find_if(kBegins, [&](std::string_view each) { return word.starts_with(each); });
    if (begin == kBegins.end() || word.size() < begin->size() + kShortest) return false;
    const std::string_view rest = word.substr(begin->size());
    return std::ranges::any_of(rest, [](char c) { return c >= '0' && c <= '9'; }) && std::ranges::count(rest, '_') == 0;
  }

  std::string_view text_;
  TextOf kind_;
  std::vector<Stretch> found_;
};

std::string Starred(std::string_view text, std::span<const Stretch> stretches) {
  std::string shown(text);
  for (const Stretch& each : stretches) std::fill(shown.begin() + static_cast<std::ptrdiff_t>(each.begin), shown.begin() + static_cast<std::ptrdiff_t>(each.end), '*');
  return shown;
}

}  // namespace

std::string WithoutSecrets(std::string_view text, TextOf kind) { return Starred(text, Finder(text, kind).Run()); }

void Secrets::AddFrom(std::string_view text, TextOf kind) {
  // A shorter one would be found everywhere.
  constexpr size_t kShortest = 3;
  for (const Stretch& each : Finder(text, kind).Run()) {
    if (each.end - each.begin >= kShortest) values_.emplace(text.substr(each.begin, each.end - each.begin));
  }
}

std::string Secrets::Hidden(std::string_view text, TextOf kind) const {
  std::string shown = WithoutSecrets(text, kind);
  for (const std::string& value : values_) {
    for (size_t at = shown.find(value); at != std::string::npos; at = shown.find(value, at + value.size())) {
      const size_t end = at + value.size();
      const bool is_part = (at > 0 && IsOfName(shown[at - 1])) || (end < shown.size() && IsOfName(shown[end]));
      if (!is_part) std::fill(shown.begin() + static_cast<std::ptrdiff_t>(at), shown.begin() + static_cast<std::ptrdiff_t>(end), '*');
    }
  }
  return shown;
}

}  // namespace allranks::reports
