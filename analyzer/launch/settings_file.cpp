#include "analyzer/launch/settings_file.h"

#include <algorithm>
#include <charconv>

namespace allranks::launch {
namespace {

// Whether one of two lists of keys begins with the other.
bool AreOnOneWay(std::span<const std::string> a, std::span<const std::string> b) {
  const size_t common = std::min(a.size(), b.size());
  return std::ranges::equal(a.first(common), b.first(common));
}

bool IsFilledIn(std::string_view text) {
  return text == "???" || text.find("${") != std::string_view::npos || text.find("{{") != std::string_view::npos || text.find("{%") != std::string_view::npos;
}

SettingState FindIn(const ConfigTree& tree, std::span<const std::string> keys, WrittenSetting& setting) {
  ConfigId at = tree.root();
  for (const std::string& key : keys) {
    // A layer that has something else in the place of the map hides those before it.
    if (!at || tree[at].kind != ConfigKind::Map) return SettingState::Unknown;
    const ConfigId next = tree.Member(at, key);
    if (!next) return tree.Member(at, "<<") ? SettingState::Unknown : SettingState::Absent;
    at = next;
  }
  if (!at || tree[at].is_alias || IsFilledIn(tree[at].text)) return SettingState::Unknown;
  setting = {tree[at].kind, tree[at].text, tree[at].span};
  return SettingState::Known;
}

}  // namespace

std::optional<int64_t> WrittenSetting::Integer() const {
  if (kind != ConfigKind::Number) return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<WrittenSetting> SettingsFile::Find(std::span<const std::string> keys) const {
  std::optional<WrittenSetting> found;
  return Look(keys, found) == SettingState::Known ? found : std::nullopt;
}

SettingState SettingsFile::StateOf(std::span<const std::string> keys) const {
  std::optional<WrittenSetting> found;
  return Look(keys, found);
}

SettingState SettingsFile::Look(std::span<const std::string> keys, std::optional<WrittenSetting>& found) const {
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    if (!AreOnOneWay(layer->package, keys)) continue;
    if (layer->is_unknown) return SettingState::Unknown;
    // A map above: that it is one is no answer.
    if (layer->package.size() > keys.size() || layer->tree.empty()) continue;
    WrittenSetting setting;
    const SettingState state = FindIn(layer->tree, keys.subspan(layer->package.size()), setting);
    if (state == SettingState::Absent) continue;
    if (state == SettingState::Unknown || (found && *found != setting)) return SettingState::Unknown;
    if (!found) found = setting;
    if (!layer->has_no_order) break;
  }
  return found ? SettingState::Known : SettingState::Absent;
}

}  // namespace allranks::launch
