#include "driver/config/settings.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "analyzer/toml/parse.h"
#include "driver/config/caret.h"
#include "driver/config/option_table.h"
#include "driver/config/project.h"
#include "driver/config/spelling.h"

namespace allranks::config {
namespace {

namespace fs = std::filesystem;

// Nobody stacks that many on purpose; names that differ may still lead in a circle, through links.
constexpr size_t kLongestChain = 64;

// Paths in a configuration file count from its folder.
std::string FromFolder(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).lexically_normal().string();
}

// A file on its way to settings.
struct Document {
  std::string shown;   // its name in messages
  std::string folder;  // its paths and patterns count from there
  std::string_view text;
  bool may_quote = true;  // a message may show what it says
};

// What a file of the project extends may be any file of the machine, and messages end up in public logs.
std::string AtPlace(const Document& document, const CaretPlace& place, const std::string& what) {
  if (document.may_quote) return AtCaret(document.shown, document.text, place, what);
  return document.shown + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
         ": this is no configuration of allranks; as it lies outside the project, what it says is not shown";
}

// Fills `Settings` from a table; the first thing that is wrong ends up in `error`.
class TableReader {
 public:
  explicit TableReader(const Document& document) : document_(document) {}

  Settings Read(const toml::table& table) {
    ReadTable(table, "");
    return std::move(settings_);
  }
  const std::string& error() const { return error_; }

 private:
  void ReadTable(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string full = prefix + std::string(key.str());
      if (const Option* option = FindOption(full)) {
        std::visit([&](const auto member) { Take(*option, node, settings_.*member); }, option->member);
        const std::string line = std::to_string(node.source().begin.line);
        settings_.origins.insert_or_assign(full, document_.shown + ":" + line);
      } else if (node.is_table() && IsTableOfOptions(full)) {
        ReadTable(*node.as_table(), full + ".");
      } else {
        Fail(key.source(), UnknownKey(full));
      }
    }
  }
  static bool IsTableOfOptions(const std::string& key) {
    return std::ranges::any_of(AllOptions(), [&](const Option& o) { return o.key.starts_with(key + "."); });
  }

  void Take(const Option& option, const toml::node& node, bool& to) {
    if (const auto* value = node.as_boolean()) to = value->get();
    else Refuse(option, node);
  }
  void Take(const Option& option, const toml::node& node, uint32_t& to) {
    constexpr int64_t kMost = 1 << 20;
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < 0 || value->get() > kMost) return Refuse(option, node);
    to = static_cast<uint32_t>(value->get());
  }
  void Take(const Option& option, const toml::node& node, std::string& to) {
    const auto* value = node.as_string();
    if (value == nullptr) return Refuse(option, node);
    to = option.kind == Kind::Path && !value->get().empty() ? FromFolder(document_.folder, value->get()) : value->get();
    if (option.kind == Kind::Choice) CheckChoice(option.key, node, to, option.choices);
  }
  void Take(const Option& option, const toml::node& node, Texts& to) {
    to = TextsOf(option, node);
    if (option.kind != Kind::Paths) return;
    for (std::string& path : to) path = FromFolder(document_.folder, path);
  }
  void Take(const Option& option, const toml::node& node, Patterns& to) {
    for (std::string& text : TextsOf(option, node)) to.push_back({std::move(text), document_.folder});
  }
  void Take(const Option& option, const toml::node& node, PerFileIgnores& to) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Refuse(option, node);
    for (const auto& [pattern, rules] : *table) {
      to.push_back({{std::string(pattern.str()), document_.folder}, TextsOf(option, rules)});
    }
  }
  void Take(const Option& option, const toml::node& node, SeverityChoices& to) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Refuse(option, node);
    for (const auto& [rules, level] : *table) {
      CheckRule(rules.source(), std::string(rules.str()));
      const auto* value = level.as_string();
      if (value == nullptr) return Refuse(option, level);
      CheckChoice(std::string(option.key) + "." + std::string(rules.str()), level, value->get(), SeverityLevels());
      to.push_back({std::string(rules.str()), value->get()});
    }
  }

  std::vector<std::string> TextsOf(const Option& option, const toml::node& node) {
    std::vector<std::string> texts;
    const toml::array* array = node.as_array();
    if (array == nullptr) return Refuse(option, node), texts;
    for (const toml::node& element : *array) {
      const auto* text = element.as_string();
      if (text == nullptr) return Refuse(option, element), texts;
      if (option.kind == Kind::Rules || option.kind == Kind::RulesByPattern) CheckRule(element.source(), text->get());
      texts.push_back(text->get());
    }
    return texts;
  }
  void CheckRule(const toml::source_region& region, const std::string& selector) {
    // Which rule is meant instead is sought for the first that is unknown; no other is said.
    if (error_.empty() && !IsSelector(selector)) Fail(region, UnknownRule(selector));
  }
  void CheckChoice(std::string_view key, const toml::node& node, const std::string& value,
                   std::span<const std::string_view> choices) {
    if (std::ranges::find(choices, value) != choices.end()) return;
    std::string list;
    for (const std::string_view choice : choices) list += (list.empty() ? "" : ", ") + std::string(choice);
    const std::string near = DidYouMean(value, choices);
    Fail(node.source(), "`" + std::string(key) + "` must be one of " + list + near);
  }
  void Refuse(const Option& option, const toml::node& node) {
    Fail(node.source(), "`" + std::string(option.key) + "` must be " + std::string(KindText(option.kind)));
  }
  void Fail(const toml::source_region& region, const std::string& what) {
    if (!error_.empty()) return;
    error_ = AtPlace(document_,
                     {.line = region.begin.line, .column = region.begin.column,
                      .end_column = region.end.line == region.begin.line ? region.end.column : 0},
                     what);
  }

  const Document& document_;
  Settings settings_;
  std::string error_;
};

const toml::table* AllranksTable(const toml::table& root) {
  const toml::table* tool = root["tool"].as_table();
  return tool == nullptr ? nullptr : (*tool)["allranks"].as_table();
}

base::Result<Settings> FromDocument(const Document& document, bool is_packaging) {
  try {
    const toml::table root = toml_files::Parse(document.text, document.shown);
    const toml::table* table = is_packaging ? AllranksTable(root) : &root;
    if (table == nullptr) return base::Fail(document.shown + ": has no table [tool.allranks]; add one");
    TableReader reader(document);
    Settings settings = reader.Read(*table);
    if (!reader.error().empty()) return base::Fail(reader.error());
    return settings;
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    // The parser has no place for what is wrong before anything was read.
    return base::Fail(AtPlace(document,
                              {.line = std::max(at.line, 1u), .column = std::max(at.column, 1u), .end_column = 0},
                              "not valid TOML: " + std::string(error.description())));
  }
}

// The project around the folder of a file; the file itself may be a link to anywhere.
std::string ProjectAround(const std::string& path, const source::FileSystem& files) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string resolved = files.Canonical(folder.empty() ? "." : folder.string()).value_or("");
  return FindRepository(resolved, resolved, files);
}

bool LiesIn(const std::string& path, const fs::path& folder, const source::FileSystem& files) {
  const fs::path resolved = files.Canonical(path).value_or("");
  return std::mismatch(folder.begin(), folder.end(), resolved.begin(), resolved.end()).first == folder.end();
}

// Files that extend one another, the first of them in `project`.
struct Chain {
  std::string project;
  std::vector<std::string> shown;
};

base::Result<Settings> ReadChain(const std::string& path, const std::string& shown, const source::FileSystem& files, Chain& chain) {
  const base::Result<std::string> text = files.Read(path);
  if (!text) return base::Fail(text.error().message + (chain.shown.empty() ? "; name a file that exists after --config"
                                                                           : "; " + chain.shown.back() + " extends it"));
  const Document document{.shown = shown, .folder = fs::path(path).parent_path().string(), .text = *text,
                          .may_quote = LiesIn(path, chain.project, files)};
  base::Result<Settings> settings = FromDocument(document, fs::path(path).filename() == "pyproject.toml");
  if (!settings) return settings;
  settings->file = path;
  if (settings->extend.empty()) return settings;
  chain.shown.push_back(shown);
  const std::string& next = settings->extend;
  const std::string& origin = settings->origins.at("extend");
  if (std::ranges::find(chain.shown, next) != chain.shown.end()) {
    return base::Fail(origin + ": `extend` leads in a circle; let one of the files extend nothing");
  }
  if (chain.shown.size() >= kLongestChain) {
    return base::Fail(origin + ": `extend` leads through more than " + std::to_string(kLongestChain) + " files; let one of them extend nothing");
  }
  base::Result<Settings> under = ReadChain(next, next, files, chain);
  if (!under) return under;
  return Merge(std::move(*under), *settings);
}

// Whether values of this kind are joined where two files give them.
bool IsJoined(Kind kind) {
  return kind == Kind::Paths || kind == Kind::Rules || kind == Kind::PatternList || kind == Kind::Words || kind == Kind::RulesByPattern ||
         kind == Kind::Severities;
}

void JoinOrReplace(const Option& option, Settings& to, const Settings& from) {
  std::visit(
      [&](const auto member) {
        auto& value = to.*member;
        if constexpr (requires { value.push_back(value.front()); }) {
          if (IsJoined(option.kind)) {
            value.insert(value.end(), (from.*member).begin(), (from.*member).end());
            return;
          }
        }
        value = from.*member;
      },
      option.member);
}

void Forget(Settings& settings, std::string_view key) {
  const Settings fresh;
  std::visit([&](const auto member) { settings.*member = fresh.*member; }, FindOption(key)->member);
  if (const auto origin = settings.origins.find(key); origin != settings.origins.end()) settings.origins.erase(origin);
}

}  // namespace

base::Result<Settings> ReadSettings(const std::string& path, const std::string& shown,
                                    const source::FileSystem& files) {
  Chain chain{.project = ProjectAround(path, files), .shown = {}};
  return ReadChain(path, shown, files, chain);
}

base::Result<Settings> ReadInlineSettings(const std::string& text) {
  base::Result<Settings> settings = FromDocument({.shown = "--config", .folder = "", .text = text}, false);
  if (settings && settings->Has("extend")) return base::Fail("--config: `extend` belongs in a file; name that file instead");
  return settings;
}

Settings Merge(Settings under, const Settings& over) {
  if (over.Has("select")) {
    for (const char* key : {"select", "extend-select", "ignore"}) Forget(under, key);
  }
  for (const Option& option : AllOptions()) {
    const auto origin = over.origins.find(option.key);
    if (origin == over.origins.end()) continue;
    JoinOrReplace(option, under, over);
    std::string& known = under.origins[std::string(option.key)];
    known = known.empty() || !IsJoined(option.kind) ? origin->second : known + ", " + origin->second;
  }
  if (!over.file.empty()) under.file = over.file;
  return under;
}

RuleChoice RulesOf(const Settings& settings) {
  RuleChoice choice{.select = std::nullopt, .extend = settings.extend_select, .ignore = settings.ignore,
                    .origin = settings.file};
  if (settings.Has("select")) choice.select = settings.select;
  return choice;
}

std::string FromRoot(const Pattern& pattern, const std::string& root, const std::string& working_directory) {
  const fs::path from = fs::path(working_directory).lexically_normal();
  const fs::path top = (from / root).lexically_normal() / "";
  const fs::path folder = (from / pattern.folder).lexically_normal() / "";
  const std::string relative = folder.lexically_relative(top).generic_string();
  if (pattern.folder.empty() || relative.empty() || relative == "." || relative.starts_with("..")) return pattern.text;
  const std::string inside = relative.ends_with('/') ? relative.substr(0, relative.size() - 1) : relative;
  const bool negated = pattern.text.starts_with('!');
  std::string text = pattern.text.substr(negated ? 1 : 0);
  // A pattern with a slash before its end is tied to its folder; any other holds at any depth below it.
  const size_t slash = text.find('/');
  const bool tied = slash != std::string::npos && slash + 1 < text.size();
  if (text.starts_with('/')) text.erase(0, 1);
  return (negated ? "!/" : "/") + inside + (tied ? "/" : "/**/") + text;
}

bool HasAllranksTable(const std::string& path, const source::FileSystem& files) {
  const base::Result<std::string> text = files.Read(path);
  // The cheap test first: most projects have a pyproject.toml that does not mention us.
  if (!text || text->find("allranks") == std::string::npos) return false;
  try {
    return AllranksTable(toml_files::Parse(*text)) != nullptr;
  } catch (const toml::parse_error&) {
    // Reading it will say what is wrong.
    return text->find("[tool.allranks") != std::string::npos;
  }
}

}  // namespace allranks::config
