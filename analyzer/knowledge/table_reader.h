// The keys of a TOML table as Loader wants them. Only loader.cpp includes it: TOML is slow to compile.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/knowledge/spelling.h"
#include "analyzer/toml/parse.h"

namespace allranks::knowledge {

// Where in the file something stands.
struct Place {
  uint32_t line = 1;
  uint32_t column = 1;
};

inline Place PlaceOf(const toml::source_region& region) {
  return {static_cast<uint32_t>(region.begin.line), static_cast<uint32_t>(region.begin.column)};
}
inline Place PlaceOf(const toml::node& node) { return PlaceOf(node.source()); }

// The first error of a file.
class ErrorSlot {
 public:
  explicit ErrorSlot(std::string_view file) : file_(file) {}

  void Fail(Place place, std::string_view what) {
    if (error_.empty()) Replace(place, what);
  }
  // For what explains the error before it.
  void Replace(Place place, std::string_view what) {
    error_ = fmt::format("{}:{}:{}: {}", file_, place.line, place.column, what);
  }
  bool ok() const { return error_.empty(); }
  const std::string& text() const { return error_; }

 private:
  std::string_view file_;
  std::string error_;
};

// The keys of one table, each read at most once; those that nobody asked for are unknown.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string_view section, ErrorSlot& errors)
      : table_(table), section_(section), errors_(errors) {}

  bool Has(std::string_view key) const { return table_.contains(key); }
  Place place() const { return PlaceOf(table_); }
  // Of the key's value, or of the table if the key is not there.
  Place PlaceOfKey(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return node == nullptr ? place() : PlaceOf(*node);
  }
  void Fail(std::string_view key, std::string_view what) { errors_.Fail(PlaceOfKey(key), what); }

  std::string_view Text(std::string_view key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return {};
    if (const toml::value<std::string>* text = node->as_string(); text != nullptr && !text->get().empty()) {
      return text->get();
    }
    errors_.Fail(PlaceOf(*node), fmt::format("`{}` is a text; write {} = \"...\"", key, key));
    return {};
  }

  bool Flag(std::string_view key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return false;
    if (const toml::value<bool>* flag = node->as_boolean()) return flag->get();
    errors_.Fail(PlaceOf(*node), fmt::format("`{}` is true or false, without quotes", key));
    return false;
  }

  std::vector<std::string_view> Texts(std::string_view key) {
    std::vector<std::string_view> texts;
    const toml::node* node = Take(key);
    if (node == nullptr) return texts;
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      errors_.Fail(PlaceOf(*node), fmt::format("`{}` is a list; write {} = [\"...\"]", key, key));
      return texts;
    }
    for (const toml::node& item : *array) {
      const toml::value<std::string>* text = item.as_string();
      if (text == nullptr) {
        errors_.Fail(PlaceOf(item), fmt::format("`{}` is a list of texts; put this item in quotes", key));
      } else if (text->get().empty()) {
        errors_.Fail(PlaceOf(item), fmt::format("an item of `{}` is empty; write its text or remove it", key));
      } else {
        texts.push_back(text->get());
      }
    }
    return texts;
  }

  const toml::table* Table(std::string_view key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return nullptr;
    if (node->is_table()) return node->as_table();
    errors_.Fail(PlaceOf(*node), fmt::format("`{}` is a table; write {} = {{ name = \"...\" }}", key, key));
    return nullptr;
  }

  const toml::array* ArrayOfTables(std::string_view key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return nullptr;
    if (node->is_array_of_tables()) return node->as_array();
    errors_.Fail(PlaceOf(*node),
                 fmt::format("`{}` is a section of its own; write [[{}]] above its keys", key, key));
    return nullptr;
  }

  // A misspelt key is why another one seems to be missing, so this error comes before the others.
  void FailUnknownKeys() {
    for (const auto& [key, value] : table_) {
      if (std::ranges::find(asked_, key.str()) != asked_.end()) continue;
      const std::string near = DidYouMean(key.str(), asked_);
      errors_.Replace(PlaceOf(key.source()), fmt::format("unknown key `{}` in {}{}", key.str(), section_,
                                                         near.empty() ? "; remove it" : near));
      return;
    }
  }

 private:
  const toml::node* Take(std::string_view key) {
    asked_.push_back(key);
    return table_.get(key);
  }

  const toml::table& table_;
  std::string_view section_;
  ErrorSlot& errors_;
  std::vector<std::string_view> asked_;
};

}  // namespace allranks::knowledge
