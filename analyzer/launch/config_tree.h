// A configuration file (JSON, YAML) as a tree of values, each with its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/id.h"
#include "analyzer/source/span.h"

namespace allranks::launch {

using ConfigId = base::Id<struct ConfigTag>;

enum class ConfigKind : uint8_t { Null, Bool, Number, Text, List, Map };

struct ConfigNode {
  ConfigKind kind = ConfigKind::Null;
  std::string key;          // of a member of a map
  std::string text;         // of a scalar, as written but for quotes and escapes
  bool is_quoted = false;   // a text that no reader takes for a number
  bool is_alias = false;    // `*name` of YAML, which is not followed: null here
  source::Span key_span;
  source::Span span;
  ConfigId parent;
  std::vector<ConfigId> children;  // of lists and maps, in order
};

class ConfigTree {
 public:
  ConfigId Add(ConfigNode node) {
    const ConfigId parent = node.parent;
    const ConfigId id = nodes_.Add(std::move(node));
    if (parent) nodes_[parent].children.push_back(id);
    return id;
  }
  ConfigNode& operator[](ConfigId id) { return nodes_[id]; }
  const ConfigNode& operator[](ConfigId id) const { return nodes_[id]; }
  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  // The first document of the file.
  ConfigId root() const { return nodes_.empty() ? ConfigId::None() : ConfigId{0}; }
  // Of several documents in one file.
  std::vector<ConfigId> Roots() const;
  // The last member of this name: that is the one that readers take.
  ConfigId Member(ConfigId map, std::string_view key) const;
  // "zero_optimization.stage" from a map.
  ConfigId Find(ConfigId from, std::string_view dotted) const;
  std::optional<int64_t> Integer(ConfigId id) const;
  std::optional<bool> Boolean(ConfigId id) const;
  std::string_view Text(ConfigId id) const;
  // "zero_optimization.stage", without the numbers of list entries.
  std::string PathOf(ConfigId id) const;

 private:
  base::IdVector<ConfigId, ConfigNode> nodes_;
};

}  // namespace allranks::launch
