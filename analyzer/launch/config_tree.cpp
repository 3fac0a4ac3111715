#include "analyzer/launch/config_tree.h"

#include <charconv>

namespace allranks::launch {

std::vector<ConfigId> ConfigTree::Roots() const {
  std::vector<ConfigId> roots;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[ConfigId{i}].parent) roots.push_back(ConfigId{i});
  }
  return roots;
}

ConfigId ConfigTree::Member(ConfigId map, std::string_view key) const {
  ConfigId found;
  if (!map || nodes_[map].kind != ConfigKind::Map) return found;
  for (const ConfigId child : nodes_[map].children) {
    if (nodes_[child].key == key) found = child;
  }
  return found;
}

ConfigId ConfigTree::Find(ConfigId from, std::string_view dotted) const {
  while (from && !dotted.empty()) {
    const size_t dot = dotted.find('.');
    from = Member(from, dotted.substr(0, dot));
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return from;
}

std::optional<int64_t> ConfigTree::Integer(ConfigId id) const {
  if (!id || nodes_[id].kind != ConfigKind::Number) return std::nullopt;
  const std::string& text = nodes_[id].text;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<bool> ConfigTree::Boolean(ConfigId id) const {
  if (!id || nodes_[id].kind != ConfigKind::Bool) return std::nullopt;
  return nodes_[id].text == "true";
}

std::string_view ConfigTree::Text(ConfigId id) const {
  return id ? std::string_view(nodes_[id].text) : std::string_view();
}

std::string ConfigTree::PathOf(ConfigId id) const {
  std::string path;
  for (; id; id = nodes_[id].parent) {
    const std::string& key = nodes_[id].key;
    if (key.empty()) continue;
    path = path.empty() ? key : key + "." + path;
  }
  return path;
}

}  // namespace allranks::launch
