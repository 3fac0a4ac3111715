#include "analyzer/objects/written_settings.h"

namespace allranks::objects {

bool WrittenSettings::IsAlways(ir::ModuleId module, ValueId value, int64_t number) const {
  return options_.IsAlways(module, value, number, [&](ValueId leaf) {
    const std::optional<launch::WrittenSetting> written = Of(module, leaf);
    return written && written->Integer() == number;
  });
}

std::optional<launch::WrittenSetting> WrittenSettings::Find(ir::ModuleId module, ValueId value, std::string_view key) const {
  if (files_.empty() || !value) return std::nullopt;
  std::optional<launch::WrittenSetting> found;
  for (SettingsPlace& place : places_.Of(module, value)) {
    if (!key.empty()) place.keys.emplace_back(key);
    const auto file = files_.find(place.source);
    const std::optional<launch::WrittenSetting> written = file == files_.end() ? std::nullopt : file->second.Find(place.keys);
    if (!written || (found && *found != *written) || places_.IsSetElse(module, place, written->text)) return std::nullopt;
    found = written;
  }
  return found;
}

}  // namespace allranks::objects
