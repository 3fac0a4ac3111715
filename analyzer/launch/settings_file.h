// What a file of settings says, once it is put together: Hydra makes one configuration of several files.
//
// A configuration is a list of layers, the later of which count more. A layer puts the tree of one file below a package
// ("trainer"), or says that what stands there is not known: a file that is missing, a name that is computed.
//
// Unknown as well: interpolations (`${x}`), templates, what is left to be given (`???`), aliases, merged keys (`<<`).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/launch/config_tree.h"

namespace allranks::launch {

using SettingKeys = std::vector<std::string>;

struct WrittenSetting {
  ConfigKind kind = ConfigKind::Null;
  std::string text;     // of a scalar
  source::Span span;

  std::optional<int64_t> Integer() const;
  bool IsFalse() const { return kind == ConfigKind::Bool && text == "false"; }
  friend bool operator==(const WrittenSetting& a, const WrittenSetting& b) { return a.kind == b.kind && a.text == b.text; }
};

struct SettingsLayer {
  SettingKeys package;        // below which the tree stands; none: at the root
  ConfigTree tree;
  bool is_unknown = false;
  bool has_no_order = false;  // whether it counts more than the layers before it depends on the version of the library
};

enum class SettingState : uint8_t { Absent, Unknown, Known };

class SettingsFile {
 public:
  void Add(SettingsLayer layer) { layers_.push_back(std::move(layer)); }
  // Nothing: it is not there, or not known. Of maps and lists only the place is told.
  std::optional<WrittenSetting> Find(std::span<const std::string> keys) const;
  // Whether it is there, and known.
  SettingState StateOf(std::span<const std::string> keys) const;

 private:
  SettingState Look(std::span<const std::string> keys, std::optional<WrittenSetting>& found) const;

  std::vector<SettingsLayer> layers_;
};

}  // namespace allranks::launch
