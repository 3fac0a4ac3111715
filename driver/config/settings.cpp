#include "driver/config/settings.h"

#include <filesystem>
#include <string_view>
#include <toml++/toml.h>

#include "driver/config/spelling.h"

namespace allranks::config {
namespace {

constexpr std::string_view kKeys[] = {"select", "ignore", "exclude", "knowledge", "root"};

// Fills `Settings` from a table; the first thing that is wrong ends up in `error`.
class TableReader {
 public:
  TableReader(const toml::table& table, const std::string& shown) : table_(table), shown_(shown) {}

  void RefuseUnknownKeys() {
    for (const auto& [key, value] : table_) {
      const std::string_view name = key.str();
      if (std::find(std::begin(kKeys), std::end(kKeys), name) != std::end(kKeys)) continue;
      return Fail(key.source(), "unknown key `" + std::string(name) + "`" + DidYouMean(name, kKeys));
    }
  }
  std::vector<std::string> Texts(std::string_view key) {
    std::vector<std::string> texts;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return texts;
    const toml::array* array = node->as_array();
    if (array == nullptr) return Fail(node->source(), Wants(key, "a list of texts")), texts;
    for (const toml::node& element : *array) {
      const auto* text = element.as_string();
      if (text == nullptr) return Fail(element.source(), Wants(key, "a list of texts")), texts;
      texts.push_back(text->get());
    }
    return texts;
  }
  std::string OneText(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    if (const auto* text = node->as_string()) return text->get();
    Fail(node->source(), Wants(key, "a text"));
    return {};
  }
  bool has(std::string_view key) const { return table_.contains(key); }
  const std::string& error() const { return error_; }

 private:
  static std::string Wants(std::string_view key, const char* what) {
    return "`" + std::string(key) + "` is to be " + what;
  }
  void Fail(const toml::source_region& region, const std::string& what) {
    if (error_.empty()) error_ = shown_ + ":" + std::to_string(region.begin.line) + ": " + what;
  }

  const toml::table& table_;
  const std::string& shown_;
  std::string error_;
};

const toml::table* AllranksTable(const toml::table& root) {
  const toml::table* tool = root["tool"].as_table();
  return tool == nullptr ? nullptr : (*tool)["allranks"].as_table();
}

// Paths in a configuration file count from its folder.
std::string FromFolderOf(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

base::Result<Settings> FromTable(const toml::table& table, const std::string& path, const std::string& shown) {
  TableReader reader(table, shown);
  reader.RefuseUnknownKeys();
  Settings settings;
  settings.file = path;
  std::vector<std::string> select = reader.Texts("select");
  if (reader.has("select")) settings.select = std::move(select);
  settings.ignore = reader.Texts("ignore");
  settings.exclude = reader.Texts("exclude");
  for (const std::string& file : reader.Texts("knowledge")) settings.knowledge.push_back(FromFolderOf(path, file));
  const std::string root = reader.OneText("root");
  if (!root.empty()) settings.root = FromFolderOf(path, root);
  if (!reader.error().empty()) return base::Fail(reader.error());
  return settings;
}

}  // namespace

base::Result<Settings> ReadSettings(const std::string& path, const std::string& shown,
                                    const source::FileSystem& files) {
  const base::Result<std::string> text = files.Read(path);
  if (!text) return base::Fail(text.error().message + "; name a file that exists after --config");
  try {
    const toml::table root = toml::parse(*text, shown);
    const bool is_packaging = std::filesystem::path(path).filename() == "pyproject.toml";
    const toml::table* table = is_packaging ? AllranksTable(root) : &root;
    if (table == nullptr) return base::Fail(shown + ": has no table [tool.allranks]; add one");
    return FromTable(*table, path, shown);
  } catch (const toml::parse_error& error) {
    return base::Fail(shown + ":" + std::to_string(error.source().begin.line) + ": not valid TOML: " +
                      std::string(error.description()));
  }
}

bool HasAllranksTable(const std::string& path, const source::FileSystem& files) {
  const base::Result<std::string> text = files.Read(path);
  // The cheap test first: most projects have a pyproject.toml that does not mention us.
  if (!text || text->find("allranks") == std::string::npos) return false;
  try {
    return AllranksTable(toml::parse(*text)) != nullptr;
  } catch (const toml::parse_error&) {
    // Reading it will say what is wrong.
    return text->find("[tool.allranks") != std::string::npos;
  }
}

}  // namespace allranks::config
