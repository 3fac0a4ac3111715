#include "frontends/launch/settings.h"

#include <algorithm>

#include "analyzer/base/lowered.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigTree;
using launch::SettingKeys;

constexpr int kMostFilesOfSettings = 200;
constexpr int kDeepestDefaults = 16;
// Of all files together, those that are named twice counted twice.
constexpr size_t kMostValuesOfSettings = 100000;
constexpr std::string_view kSelf = "_self_";

SettingKeys KeysOf(std::string_view text, char between) {
  SettingKeys keys;
  while (!text.empty()) {
    const size_t end = std::min(text.find(between), text.size());
    if (end > 0) keys.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return keys;
}

SettingKeys Below(SettingKeys keys, const SettingKeys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

std::string WithYaml(std::string name) { return name.ends_with(".yaml") || name.ends_with(".yml") ? name : name + ".yaml"; }

// `override /model@net`: what an entry of a list of defaults says of a group.
struct Group {
  bool is_override = false;
  bool is_optional = false;
  bool is_absolute = false;
  std::string path;                     // "model"
  std::optional<std::string> package;   // "net"
};

Group GroupOf(std::string_view text) {
  Group group;
  for (const auto& [word, flag] : {std::pair{std::string_view("override "), &Group::is_override}, std::pair{std::string_view("optional "), &Group::is_optional}}) {
    if (!text.starts_with(word)) continue;
    group.*flag = true;
    text.remove_prefix(word.size());
  }
  group.is_absolute = text.starts_with('/');
  if (group.is_absolute) text.remove_prefix(1);
  const size_t at = text.find('@');
  group.path = text.substr(0, at);
  if (at != std::string_view::npos) group.package = text.substr(at + 1);
  return group;
}

class Composer {
 public:
  Composer(std::string folder, const OpenSettings& open) : folder_(std::move(folder)), open_(open) {}

  launch::SettingsFile Run(const std::string& name) {
    AddFile(name, {}, {}, 0);
    for (const SettingKeys& package : overridden_) AddUnknown(package);
    return std::move(out_);
  }

 private:
  struct Wanted {
    bool is_optional = false;
    bool is_placed = false;   // whoever names the file says where it stands
  };

  // `package`: of the group that the file is an option of, which the file itself may change.
  void AddFile(const std::string& path, SettingKeys package, Wanted wanted, int depth) {
    if (depth > kDeepestDefaults || ++files_ > kMostFilesOfSettings) return AddUnknown({});
    std::optional<SettingsText> read = path.find("${") == std::string::npos ? open_(folder_.empty() ? WithYaml(path) : folder_ + "/" + WithYaml(path)) : std::nullopt;
    if (!read) {
      // Wherever it would put itself.
      if (!wanted.is_optional) AddUnknown({});
      return;
    }
    values_ += read->tree.size();
    if (values_ > kMostValuesOfSettings) return AddUnknown({});
    if (read->package && !wanted.is_placed) package = *read->package;
    const size_t slash = path.rfind('/');
    const std::string group = slash == std::string::npos ? "" : path.substr(0, slash);
    const ConfigTree& tree = read->tree;
    const ConfigId defaults = tree.empty() ? ConfigId() : tree.Member(tree.root(), "defaults");
    bool has_self = !defaults;
    if (defaults) {
      for (const ConfigId entry : tree[defaults].children) {
        const bool is_self = tree.Text(entry) == kSelf;
        has_self = has_self || is_self;
        if (is_self) out_.Add({.package = package, .tree = tree});
        else AddDefault(tree, entry, group, package, depth);
      }
    }
    // Versions of Hydra differ in whether the file counts more than what it is made from.
    const bool is_behind = defaults && !has_self;
    if (!defaults || is_behind) out_.Add({.package = package, .tree = tree, .has_no_order = is_behind});
  }

  void AddDefault(const ConfigTree& tree, ConfigId entry, const std::string& beside, const SettingKeys& package, int depth) {
    if (tree[entry].kind == ConfigKind::Text) return AddNamed(GroupOf(tree[entry].text), beside, package, depth);
    if (tree[entry].kind != ConfigKind::Map || tree[entry].children.size() != 1) return AddUnknown({});
    const ConfigId choice = tree[entry].children[0];
    const Group group = GroupOf(tree[choice].key);
    const std::string path = group.is_absolute || beside.empty() ? group.path : beside + "/" + group.path;
    const SettingKeys own = group.package ? PackageNamed(*group.package, package) : Below(package, KeysOf(group.path, '/'));
    const Wanted wanted{.is_optional = group.is_optional, .is_placed = group.package.has_value()};
    if (tree[choice].is_alias) return AddUnknown({});
    if (group.is_override) return overridden_.push_back(own);
    if (tree[choice].kind == ConfigKind::Text || tree[choice].kind == ConfigKind::Number || tree[choice].kind == ConfigKind::Bool) {
      return AddFile(path + "/" + tree[choice].text, own, wanted, depth + 1);
    }
    if (tree[choice].kind == ConfigKind::Map) return AddUnknown(own);
    for (const ConfigId each : tree[choice].children) AddFile(path + "/" + tree[each].text, own, wanted, depth + 1);
  }

  // A file by its name, which stands below the package of the file that names it, in folders as in groups.
  void AddNamed(const Group& named, const std::string& beside, const SettingKeys& package, int depth) {
    const bool is_beside = !named.is_absolute && !beside.empty();
    SettingKeys folders = KeysOf(named.path, '/');
    if (!folders.empty()) folders.pop_back();
    SettingKeys own = named.package ? PackageNamed(*named.package, package) : Below(package, folders);
    const Wanted wanted{.is_optional = named.is_optional, .is_placed = named.package.has_value()};
    AddFile(is_beside ? beside + "/" + named.path : named.path, std::move(own), wanted, depth + 1);
  }

  static SettingKeys PackageNamed(std::string_view name, const SettingKeys& around) {
    if (name == "_here_") return around;
    constexpr std::string_view kGlobal = "_global_";
    if (name.starts_with(kGlobal)) return KeysOf(name.substr(kGlobal.size()), '.');
    return Below(around, KeysOf(name, '.'));
  }

  void AddUnknown(SettingKeys package) { out_.Add({.package = std::move(package), .tree = {}, .is_unknown = true}); }

  std::string folder_;
  const OpenSettings& open_;
  launch::SettingsFile out_;
  std::vector<SettingKeys> overridden_;
  int files_ = 0;
  size_t values_ = 0;
};

}  // namespace

std::optional<launch::FileKind> KindOfSettings(std::string_view path) {
  const size_t dot = path.rfind('.');
  const std::string ending = base::Lowered(dot == std::string_view::npos ? std::string_view() : path.substr(dot));
  if (ending == ".yaml" || ending == ".yml") return launch::FileKind::Yaml;
  if (ending == ".json") return launch::FileKind::Json;
  return ending == ".toml" ? std::optional(launch::FileKind::Toml) : std::nullopt;
}

// Only the first lines of a file may say it.
std::optional<SettingKeys> PackageIn(std::string_view text) {
  constexpr std::string_view kMark = "@package ";
  while (text.starts_with('#') || text.starts_with('\n')) {
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    if (const size_t at = line.find(kMark); at != std::string_view::npos) {
      std::string_view name = line.substr(at + kMark.size());
      name = name.substr(0, name.find(' '));
      constexpr std::string_view kGlobal = "_global_";
      if (name.starts_with(kGlobal)) return KeysOf(name.substr(kGlobal.size()), '.');
      return name == "_group_" ? std::optional<SettingKeys>() : KeysOf(name, '.');
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

launch::SettingsFile ReadSettings(const std::string& path, const OpenSettings& open) {
  launch::SettingsFile out;
  std::optional<SettingsText> read = open(path);
  out.Add({.package = {}, .tree = read ? std::move(read->tree) : ConfigTree(), .is_unknown = !read});
  return out;
}

launch::SettingsFile ComposeSettings(const std::string& folder, const std::string& name, const OpenSettings& open) { return Composer(folder, open).Run(name); }

}  // namespace allranks::launch_files
