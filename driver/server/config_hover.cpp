// Hovers in allranks.toml and in the table of pyproject.toml. Line by line: a file that is being written is seldom whole.
#include <algorithm>
#include <array>

#include "driver/config/option_table.h"
#include "driver/server/requests.h"

namespace allranks::server {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"allranks.toml", ".allranks.toml", "pyproject.toml"};
constexpr std::string_view kTableOfPyproject = "tool.allranks";

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// "world" of `[world]`; empty: the line opens no table.
std::string_view TableOf(std::string_view line) {
  const size_t end = line.find(']');
  // A list that goes on over lines has quotes in it.
  if (!line.starts_with('[') || end == std::string_view::npos || line.find('"') < end) return {};
  return Trimmed(line.substr(1, end - 1));
}

bool IsIdle(std::string_view line) { return Trimmed(line).empty() || Trimmed(line).starts_with('#'); }

std::string_view KeyOf(std::string_view line) {
  const size_t equals = line.find('=');
  return equals == std::string_view::npos || IsIdle(line) ? std::string_view() : Trimmed(line.substr(0, equals));
}

// The table that a line stands in or opens, and the key that it gives or goes on with.
struct Where {
  std::string_view table;
  std::string_view key;
};

Where At(std::string_view text, uint32_t offset) {
  Where where;
  for (size_t begin = 0; begin <= offset && begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (const std::string_view table = TableOf(line); !table.empty()) where = {table, {}};
    else if (const std::string_view key = KeyOf(line); !key.empty() || IsIdle(line)) where.key = key;
    begin = end + 1;
  }
  return where;
}

const config::Option* OptionAt(std::string_view path, std::string_view text, uint32_t offset) {
  Where where = At(text, offset);
  if (FileName(path) == kNames.back()) {
    if (!where.table.starts_with(kTableOfPyproject)) return nullptr;
    where.table.remove_prefix(kTableOfPyproject.size());
    if (where.table.starts_with('.')) where.table.remove_prefix(1);
  }
  const std::string table(where.table);
  const std::string key = table.empty() ? std::string(where.key) : table + "." + std::string(where.key);
  const config::Option* option = config::FindOption(key);
  // Keys of `[severity]` are the user's own.
  return option != nullptr || table.empty() ? option : config::FindOption(table);
}

}  // namespace

bool IsConfigurationFile(std::string_view path) {
  return std::ranges::find(kNames, FileName(path)) != kNames.end();
}

Json ConfigHover(const Document& document, source::LineColumn place, const Client& client) {
  const std::string_view text = document.file.text;
  const uint32_t offset = source::OffsetOf(document.file, place, client.encoding);
  const rules::Rule* rule = RuleAt(text, offset);
  const config::Option* option = rule == nullptr ? OptionAt(document.path, text, offset) : nullptr;
  if (rule == nullptr && option == nullptr) return nullptr;
  return {{"contents", {{"kind", client.hovers_markdown ? "markdown" : "plaintext"},
                        {"value", rule != nullptr ? rules::RulePage(*rule) : config::OptionText(*option)}}}};
}

}  // namespace allranks::server
