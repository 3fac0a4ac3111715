// Which setting of which file a value is: `cfg.trainer.devices`, `cfg["trainer"]["devices"]`, `cfg.get("devices")`, where `cfg` was
// read from a file whose name the program says, or is handed over by Hydra.
//
// What reads a file of settings, and what hands settings on in another form, is knowledge (the role `settings`). A value stands
// for one place, or for as many as there are callers, arms of a choice, or values of an option that names the file. What
// the command line adds to settings (`OmegaConf.merge(cfg, OmegaConf.from_cli())`) is left to whoever asks for them.
//
// A setting that the program assigns itself is none of the file. Not sound where that is done by other means than an assignment or
// `update`, through a value of which nothing is known, or where settings are chosen by a name on the command line.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/launch/settings_file.h"
#include "analyzer/objects/file_path.h"
#include "analyzer/objects/launched_options.h"

namespace allranks::objects {

// A file as the program names it.
struct SettingsSource {
  std::string folder;  // of the program's own file, as paths of modules are given
  std::string path;    // of the settings; of Hydra: the folder of all of them
  std::string name;    // of Hydra: the first of them; empty: it is one file
  auto operator<=>(const SettingsSource&) const = default;
};

struct SettingsRead {
  SettingsSource source;
  ir::ModuleId reader;
};

struct SettingsPlace {
  SettingsSource source;
  launch::SettingKeys keys;
  auto operator<=>(const SettingsPlace&) const = default;
};

class SettingsPlaces {
 public:
  SettingsPlaces(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                 const ProgramIndex& index, const LaunchedOptions& options);

  // All files that the program reads, sorted.
  const std::vector<SettingsRead>& reads() const { return reads_; }
  // Of a value that is used in a module; empty: it is no setting, or it is not known which.
  std::vector<SettingsPlace> Of(ir::ModuleId module, ValueId value) const;
  // Whether the program, or a line that starts one with this module, says something else than `text` there.
  bool IsSetElse(ir::ModuleId module, const SettingsPlace& place, std::string_view text) const;

 private:
  using Places = std::optional<std::vector<SettingsPlace>>;  // nothing: not known
  struct Named {
    std::string folder;
    std::string path;
  };
  using Names = std::optional<std::vector<Named>>;

  Places Read(ir::ModuleId module, ValueId value, int depth) const;
  Places ReadDerived(ir::ModuleId module, ValueId value, int depth) const;
  Places ReadParam(ValueId value, int depth) const;
  Places ReadEntry(ir::ModuleId module, const knowledge::Entry& entry, ValueId value, int depth) const;
  Places Merged(ir::ModuleId module, std::span<const ValueId> parts, int depth) const;
  Places WithKey(Places places, std::string_view key) const;
  bool IsOfCommandLine(ValueId value) const;
  Names NamesOf(ir::ModuleId module, ValueId value, int depth) const;
  Names NamesOfPaths(ir::ModuleId module, ValueId value) const;
  std::optional<std::string> FolderIn(ir::ModuleId module, ValueId value) const;
  std::vector<std::pair<ir::ModuleId, ValueId>> Passed(FuncId function, uint32_t param) const;
  const knowledge::Entry* EntryOf(ValueId value) const;
  base::NameId OperationNameOf(ValueId value) const;
  std::string_view OperationOf(ValueId value) const;
  std::string_view TextOf(ValueId value) const;
  void AddReaders();
  void AddHydra();
  void AddStores(ir::ModuleId module);
  void AddStore(ir::ModuleId module, ir::ExprId target);
  void AddUpdate(ir::ModuleId module, ir::ExprId call);

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const LaunchedOptions& options_;
  PathReader paths_;
  std::vector<SettingsRead> reads_;
  std::set<SettingsPlace> stored_;  // to which the program assigns
};

}  // namespace allranks::objects
