// What the settings of a program are in the files that it reads: where a value has one place, or several that agree, no line that
// starts the program gives it another value and the program assigns none. A job can still be started with another file or other
// settings, so that a finding which rests on one assumes that this is not done.
#pragma once

#include <map>

#include "analyzer/objects/settings_places.h"

namespace allranks::objects {

using SettingsFiles = std::map<SettingsSource, launch::SettingsFile>;

class WrittenSettings {
 public:
  WrittenSettings(SettingsPlaces places, SettingsFiles files, const LaunchedOptions& options)
      : places_(std::move(places)), files_(std::move(files)), options_(options) {}

  bool empty() const { return files_.empty(); }
  // Of a value that is used in a module; nothing: it is none, or not known.
  std::optional<launch::WrittenSetting> Of(ir::ModuleId module, ValueId value) const { return Find(module, value, {}); }
  // What stands below a value that is a map.
  std::optional<launch::WrittenSetting> Member(ir::ModuleId module, ValueId map, std::string_view key) const { return Find(module, map, key); }
  // Whether nothing says what stands below a value that is a map: no file, no line, no assignment.
  bool IsAbsent(ir::ModuleId module, ValueId map, std::string_view key) const;
  // Whether a value is `number`: in a file, or as options are (launched_options.h).
  bool IsAlways(ir::ModuleId module, ValueId value, int64_t number) const;

 private:
  // Whether a job is started with other files than those that the program names.
  bool IsComposedElse(ir::ModuleId module, const SettingsPlace& place) const;
  std::optional<launch::WrittenSetting> Find(ir::ModuleId module, ValueId value, std::string_view key) const;

  SettingsPlaces places_;
  SettingsFiles files_;
  const LaunchedOptions& options_;
};

}  // namespace allranks::objects
