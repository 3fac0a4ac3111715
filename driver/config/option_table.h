// Every setting, once: its key, its kind, where its value is kept, and what is said of it. Reading, `--show-settings`,
// `allranks config`, the JSON schema and docs/options.md all come from here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "driver/config/settings.h"

namespace allranks::config {

enum class Kind : uint8_t {
  Flag,
  Count,
  Choice,    // one of `choices`
  Path,      // counts from the folder of the file
  Paths,
  Rules,     // selectors of rules
  PatternList,  // as in a .gitignore
  Words,     // as they are
  RulesByPattern,
  Severities,
};

using Member = std::variant<bool Settings::*, uint32_t Settings::*, std::string Settings::*, Texts Settings::*,
                            Patterns Settings::*, PerFileIgnores Settings::*, SeverityChoices Settings::*>;

struct Option {
  std::string_view key;            // with a dot if it stands in a table: "world.nodes"
  Kind kind = Kind::Flag;
  Member member;
  std::span<const std::string_view> choices;
  std::string_view default_value;  // TOML; what holds where nothing is given
  std::string_view flag;           // of `allranks check` that says the same; empty: there is none
  std::string_view summary;        // one line, no full stop
  std::string_view text;           // Markdown
  std::string_view example;        // TOML
};

std::span<const Option> AllOptions();
// None: nullptr.
const Option* FindOption(std::string_view key);

// The levels of `severity`, and of `fail-on`.
std::span<const std::string_view> SeverityLevels();
// "texts in a list": what a value of the kind is called in messages and on the page.
std::string_view KindText(Kind kind);

// "`slect`; did you mean `select`?": what to say of a key that is none.
std::string UnknownKey(std::string_view key);

// The value as TOML.
std::string ValueText(const Option& option, const Settings& settings);

// `allranks config KEY`.
std::string OptionText(const Option& option);
// `allranks config`: one line each.
std::string OptionList();
// `allranks config --all`: the page docs/options.md.
std::string OptionPage();
// `allranks config --schema`: a JSON schema of allranks.toml.
std::string OptionSchema();

// `--show-settings`: every value as TOML, and where it comes from.
std::string SettingsText(const Settings& settings);

}  // namespace allranks::config
