// What `allranks config` and `--show-settings` print, from the option table.
#include <algorithm>

#include "driver/config/option_table.h"

namespace allranks::config {
namespace {

// Whether it stands for itself: no control character ends the line, and no `##[` is a command to a runner that reads the line in a log. What
// may stand unseen between two `#` is none of ASCII.
bool IsPlain(char c, char before) {
  const auto byte = static_cast<unsigned char>(c), last = static_cast<unsigned char>(before);
  return byte >= 0x20 && byte != 0x7f && (c != '#' || (before != '#' && last < 0x80));
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  char before = ' ';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (IsPlain(c, before)) out += c;
    else out += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    before = c;
  }
  return out + "\"";
}

std::string Toml(bool value) { return value ? "true" : "false"; }
std::string Toml(uint32_t value) { return std::to_string(value); }
std::string Toml(const std::string& value) { return Quoted(value); }
std::string Toml(const Texts& value) {
  std::string out = "[";
  for (const std::string& text : value) out += (out.size() > 1 ? ", " : "") + Quoted(text);
  return out + "]";
}
std::string Toml(const Patterns& value) {
  Texts texts;
  for (const Pattern& pattern : value) texts.push_back(pattern.text);
  return Toml(texts);
}
std::string Toml(const PerFileIgnores& value) {
  std::string out;
  for (const PerFileIgnore& one : value) out += (out.empty() ? " " : ", ") + Quoted(one.pattern.text) + " = " + Toml(one.rules);
  return out.empty() ? "{}" : "{" + out + " }";
}
std::string Toml(const SeverityChoices& value) {
  std::string out;
  for (const SeverityChoice& one : value) out += (out.empty() ? " " : ", ") + one.rules + " = " + Quoted(one.level);
  return out.empty() ? "{}" : "{" + out + " }";
}

std::string ChoicesText(const Option& option) {
  std::string out;
  for (const std::string_view choice : option.choices) out += (out.empty() ? "`\"" : ", `\"") + std::string(choice) + "\"`";
  return out;
}

constexpr std::string_view kPageHead =
    "# Settings\n\n"
    "Made by `allranks config --all` from the table that the tool itself reads: change `driver/config/option_table.cpp`, not\n"
    "this page. [configuration.md](configuration.md) says where settings are kept and which of them apply.\n";

}  // namespace

std::string ValueText(const Option& option, const Settings& settings) {
  return std::visit([&](const auto member) { return Toml(settings.*member); }, option.member);
}

std::string OptionText(const Option& option) {
  std::string out = "## " + std::string(option.key) + "\n\n" + std::string(option.summary) + "\n\n";
  out += "* type: " + std::string(KindText(option.kind));
  if (!option.choices.empty()) out += ", one of " + ChoicesText(option);
  out += "\n* default: `" + std::string(option.default_value) + "`\n";
  if (!option.flag.empty()) out += "* command line: `" + std::string(option.flag) + "`\n";
  return out + "\n" + std::string(option.text) + "\n\n```toml\n" + std::string(option.example) + "\n```\n";
}

std::string OptionList() {
  size_t widest = 0;
  for (const Option& option : AllOptions()) widest = std::max(widest, option.key.size());
  std::string out;
  for (const Option& option : AllOptions()) {
    out += std::string(option.key) + std::string(widest - option.key.size() + 2, ' ') + std::string(option.summary) + "\n";
  }
  return out;
}

std::string OptionPage() {
  std::string out(kPageHead);
  for (const Option& option : AllOptions()) out += "\n" + OptionText(option);
  return out;
}

std::string SettingsText(const Settings& settings) {
  std::vector<std::string> lines;
  size_t widest = 0;
  for (const Option& option : AllOptions()) {
    // A default is shown but not set: an empty `select`, once given, would mean no rule at all.
    lines.push_back((settings.Has(option.key) ? "" : "# ") + std::string(option.key) + " = " + ValueText(option, settings));
    widest = std::max(widest, lines.back().size());
  }
  constexpr size_t kWidest = 60;
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto origin = settings.origins.find(AllOptions()[i].key);
    const size_t width = std::max(std::min(widest, kWidest), lines[i].size());
    out += lines[i] + std::string(width - lines[i].size() + 2, ' ') + "# " +
           (origin == settings.origins.end() ? "default" : origin->second) + "\n";
  }
  return out;
}

}  // namespace allranks::config
