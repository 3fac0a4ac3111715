// TOML as a tree of values with their places. Keys of a table are in the order of their names, as the parser keeps them; dates and
// times are texts. What the parser refuses is one problem at its place, and the tree is empty then.
#include <sstream>

#include "analyzer/toml/parse.h"
#include "frontends/launch/yaml.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;

class TomlBuilder {
 public:
  TomlBuilder(const source::SourceFile& file, source::FileId id, launch::ConfigTree& tree) : file_(file), id_(id), tree_(tree) {}

  void Add(const toml::node& node, std::string_view key, source::Span key_span, ConfigId parent) {
    const ConfigId id = tree_.Add({.kind = KindOf(node), .key = std::string(key), .text = TextOf(node), .is_quoted = node.is_string(), .key_span = key_span,
                                   .span = SpanOf(node.source()), .parent = parent, .children = {}});
    if (const toml::table* table = node.as_table()) {
      for (const auto& [name, value] : *table) Add(value, name.str(), SpanOf(name.source()), id);
    } else if (const toml::array* array = node.as_array()) {
      for (const toml::node& item : *array) Add(item, "", {}, id);
    }
  }

  source::Span SpanOf(const toml::source_region& region) const {
    const uint32_t begin = OffsetOf(region.begin);
    return {id_, begin, std::max(begin, OffsetOf(region.end))};
  }

 private:
  static ConfigKind KindOf(const toml::node& node) {
    if (node.is_table()) return ConfigKind::Map;
    if (node.is_array()) return ConfigKind::List;
    if (node.is_boolean()) return ConfigKind::Bool;
    return node.is_number() ? ConfigKind::Number : ConfigKind::Text;
  }
  static std::string TextOf(const toml::node& node) {
    if (node.is_table() || node.is_array()) return "";
    if (const auto text = node.value_exact<std::string>()) return *text;
    std::ostringstream text;
    node.visit([&](const auto& value) {
      if constexpr (!toml::is_table<decltype(value)> && !toml::is_array<decltype(value)>) text << value;
    });
    return text.str();
  }
  // Lines and columns of the parser count from one, and columns in code points.
  uint32_t OffsetOf(const toml::source_position& place) const {
    if (place.line == 0) return 0;
    return source::OffsetOf(file_, {place.line - 1, place.column > 0 ? place.column - 1 : 0});
  }

  const source::SourceFile& file_;
  source::FileId id_;
  launch::ConfigTree& tree_;
};

}  // namespace

ConfigText ReadToml(const source::SourceFile& file, source::FileId id) {
  ConfigText out;
  TomlBuilder builder(file, id, out.tree);
  try {
    builder.Add(toml_files::Parse(file.text), "", {}, {});
  } catch (const toml::parse_error& error) {
    const source::Span span = builder.SpanOf(error.source());
    out.problems.push_back({std::string(error.description()), {id, span.begin, span.begin}});
  }
  return out;
}

}  // namespace allranks::launch_files
