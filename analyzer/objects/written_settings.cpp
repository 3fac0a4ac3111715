#include "analyzer/objects/written_settings.h"

#include <algorithm>

namespace allranks::objects {

bool WrittenSettings::IsAlways(ir::ModuleId module, ValueId value, int64_t number) const {
  return options_.IsAlways(module, value, number, [&](ValueId leaf) {
    const std::optional<launch::WrittenSetting> written = Of(module, leaf);
    return written && written->Integer() == number;
  });
}

bool WrittenSettings::IsAbsent(ir::ModuleId module, ValueId map, std::string_view key) const {
  std::vector<SettingsPlace> places = map ? places_.Of(module, map) : std::vector<SettingsPlace>();
  return !places.empty() && std::ranges::all_of(places, [&](SettingsPlace& place) {
    place.keys.emplace_back(key);
    const auto file = files_.find(place.source);
    const bool is_absent = file != files_.end() && file->second.StateOf(place.keys) == launch::SettingState::Absent;
    return is_absent && !IsComposedElse(module, place) && !places_.IsSetElse(module, place, "");
  });
}

bool WrittenSettings::IsComposedElse(ir::ModuleId module, const SettingsPlace& place) const {
  const auto file = files_.find(place.source);
  if (place.source.name.empty() || file == files_.end()) return false;
  return options_.ComposesElse(module, [&](std::string_view name) {
    const std::string key(name);
    return file->second.StateOf({&key, 1}) != launch::SettingState::Absent;
  });
}

std::optional<launch::WrittenSetting> WrittenSettings::Find(ir::ModuleId module, ValueId value, std::string_view key) const {
  if (files_.empty() || !value) return std::nullopt;
  std::optional<launch::WrittenSetting> found;
  for (SettingsPlace& place : places_.Of(module, value)) {
    if (!key.empty()) place.keys.emplace_back(key);
    const auto file = files_.find(place.source);
    const std::optional<launch::WrittenSetting> written = file == files_.end() ? std::nullopt : file->second.Find(place.keys);
    if (IsComposedElse(module, place)) return std::nullopt;
    if (!written || (found && *found != *written) || places_.IsSetElse(module, place, written->text)) return std::nullopt;
    found = written;
  }
  return found;
}

}  // namespace allranks::objects
