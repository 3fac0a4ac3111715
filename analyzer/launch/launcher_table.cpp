#include "analyzer/launch/launcher_table.h"

#include <algorithm>

#include "analyzer/toml/parse.h"

namespace allranks::launch {
namespace {

std::vector<std::string> Texts(const toml::table& table, std::string_view key) {
  std::vector<std::string> texts;
  if (const toml::array* array = table[key].as_array()) {
    for (const toml::node& item : *array) texts.push_back(item.value_or(std::string()));
  }
  return texts;
}

std::string TextIn(const toml::table& table, std::string_view key, std::string_view otherwise = {}) {
  return std::string(table[key].value_or(otherwise));
}

bool BoolIn(const toml::table& table, std::string_view key, bool otherwise = false) {
  return table[key].value_or(otherwise);
}

LauncherTable ReadLauncher(const toml::table& table) {
  LauncherTable launcher{.name = TextIn(table, "name"),
                         .commands = Texts(table, "commands"),
                         .source = TextIn(table, "source"),
                         .since = VersionIn(TextIn(table, "since")),
                         .starts = TextIn(table, "starts", "script"),
                         .underscores = BoolIn(table, "underscores"),
                         .abbreviates = BoolIn(table, "abbreviates"),
                         .is_complete = BoolIn(table, "complete"),
                         .is_job = BoolIn(table, "job", true),
                         .is_of_node = BoolIn(table, "of_node"),
                         .ends_others = TextIn(table, "ends_others"),
                         .detaches = BoolIn(table, "detaches"),
                         .options = {}};
  const auto add_plain = [&](std::string_view key, std::string_view takes) {
    for (std::string& name : Texts(table, key)) {
      launcher.options.push_back({.names = {std::move(name)}, .takes = std::string(takes), .means = "", .default_value = "", .is_count = false, .words = {}, .sets = ""});
    }
  };
  if (const toml::array* options = table["options"].as_array()) {
    for (const toml::node& node : *options) {
      const toml::table& one = *node.as_table();
      launcher.options.push_back({.names = Texts(one, "names"), .takes = TextIn(one, "takes", "value"),
                                  .means = TextIn(one, "means"), .default_value = TextIn(one, "default"),
                                  .is_count = TextIn(one, "type") == "integer", .words = Texts(one, "words"), .sets = TextIn(one, "sets")});
    }
  }
  add_plain("values", "value");
  add_plain("flags", "nothing");
  return launcher;
}

// Keys that only some stages of ZeRO read.
void ReadStages(const toml::table& table, ConfigTable& config) {
  const toml::array* groups = table["of_stages"].as_array();
  if (groups == nullptr) return;
  for (const toml::node& node : *groups) {
    const toml::table& group = *node.as_table();
    std::vector<int64_t> stages;
    if (const toml::array* numbers = group["stages"].as_array()) {
      for (const toml::node& stage : *numbers) stages.push_back(stage.value_or(int64_t{0}));
    }
    for (const std::string& key : Texts(group, "keys")) {
      const auto entry = std::ranges::find(config.keys, key, &KeyEntry::path);
      if (entry != config.keys.end()) entry->stages = stages;
    }
    const toml::table* off = group["off"].as_table();
    if (off == nullptr) continue;
    for (const auto& [key, value] : *off) {
      const auto entry = std::ranges::find(config.keys, key.str(), &KeyEntry::path);
      if (entry != config.keys.end()) entry->off = value.value_or(std::string());
    }
  }
}

ConfigTable ReadConfig(const toml::table& table) {
  ConfigTable config{.name = TextIn(table, "name"), .source = TextIn(table, "source"), .marks = Texts(table, "marks"),
                     .closed = Texts(table, "closed"), .closed_since = TextIn(table, "closed_since"), .keys = {}};
  const toml::table* keys = table["keys"].as_table();
  if (keys == nullptr) return config;
  for (const auto& [type, paths] : *keys) {
    if (!paths.is_array()) continue;
    for (const toml::node& path : *paths.as_array()) {
      config.keys.push_back({.path = path.value_or(std::string()), .type = std::string(type.str()), .stages = {}, .off = "", .until = "", .instead = "", .words = {}});
    }
  }
  if (const toml::array* special = table["special"].as_array()) {
    for (const toml::node& node : *special) {
      const toml::table& one = *node.as_table();
      KeyEntry entry{.path = TextIn(one, "path"), .type = TextIn(one, "type"), .stages = {}, .off = "", .until = TextIn(one, "until"),
                     .instead = TextIn(one, "instead"), .words = Texts(one, "words")};
      config.keys.push_back(std::move(entry));
    }
  }
  ReadStages(table, config);
  return config;
}

VariableFamily ReadFamily(const toml::table& table) {
  VariableFamily family{.library = TextIn(table, "library"), .prefix = TextIn(table, "prefix"), .source = TextIn(table, "source"),
                        .shares_names = BoolIn(table, "shares_names"), .since = {}, .unread = {}};
  if (const toml::table* since = table["since"].as_table()) {
    for (const auto& [release, names] : *since) {
      for (const std::string& name : Texts(*since, release.str())) family.since.emplace(family.prefix + name, VersionIn(release.str()).value_or(Version()));
    }
  }
  for (const std::string& name : Texts(table, "others")) family.since.emplace(family.prefix + name, Version());
  for (const std::string_view key : {"gone", "mistaken"}) {
    const toml::array* unread = table[key].as_array();
    if (unread == nullptr) continue;
    for (const toml::node& node : *unread) {
      const toml::table& one = *node.as_table();
      family.unread.push_back({.name = TextIn(one, "name"), .in = TextIn(one, "in"), .instead = TextIn(one, "instead")});
    }
  }
  return family;
}

TorchBound ReadBound(const toml::table& table) {
  constexpr int kAllPatches = 999;
  TorchBound bound{.names = Texts(table, "names"), .steps = {}};
  const toml::array* steps = table["newest"].as_array();
  if (steps == nullptr) return bound;
  for (const toml::node& node : *steps) {
    const toml::array& step = *node.as_array();
    const std::optional<Release> last = ReleaseIn(step.get(0)->value_or(std::string()), kAllPatches);
    const std::optional<Version> torch = VersionIn(step.get(1)->value_or(std::string()));
    if (last && torch) bound.steps.push_back({*last, *torch});
  }
  return bound;
}

// The last name of a path: "/opt/conda/bin/torchrun" is torchrun.
std::string_view NameOfPath(std::string_view word) {
  const size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

constexpr std::string_view kModulePrefix = "python -m ";

std::string WithDashes(std::string_view name) {
  std::string dashed(name);
  std::ranges::replace(dashed, '_', '-');
  return dashed;
}

}  // namespace

const KeyEntry* ConfigTable::Find(std::string_view path) const {
  const auto found = std::ranges::find(keys, path, &KeyEntry::path);
  return found == keys.end() ? nullptr : &*found;
}

std::optional<Version> TorchBound::NewestTorch(const Release& release) const {
  const auto found = std::ranges::find_if(steps, [&](const Step& step) { return release <= step.last; });
  return found == steps.end() ? std::nullopt : std::optional(found->torch);
}

base::Result<bool> LauncherTables::Load(std::string_view name, std::string_view text) {
  toml::table document;
  try {
    document = toml_files::Parse(text, name);
  } catch (const toml::parse_error& error) {
    return base::Fail(std::string(name) + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
  const auto each = [&](std::string_view key, auto add) {
    const toml::array* array = document[key].as_array();
    if (array == nullptr) return;
    for (const toml::node& node : *array) add(*node.as_table());
  };
  each("launcher", [&](const toml::table& table) { launchers_.push_back(ReadLauncher(table)); });
  each("config", [&](const toml::table& table) { configs_.push_back(ReadConfig(table)); });
  each("variable", [&](const toml::table& table) {
    variables_.push_back({.name = TextIn(table, "name"), .debug_values = Texts(table, "debug_values"),
                          .why = TextIn(table, "why"), .only_if = TextIn(table, "only_if"), .unless = Texts(table, "unless")});
  });
  each("about", [&](const toml::table& table) {
    const toml::array* texts = table["texts"].as_array();
    if (texts == nullptr) return;
    for (const toml::node& node : *texts) {
      const toml::table& one = *node.as_table();
      abouts_.push_back({.config = TextIn(table, "config"), .key = TextIn(one, "key"), .text = TextIn(one, "text"), .default_value = TextIn(one, "default"), .since = TextIn(one, "since")});
    }
  });
  each("argument", [&](const toml::table& table) {
    for (std::string& argument : Texts(table, "names")) device_arguments_.push_back(std::move(argument));
  });
  each("torch_bound", [&](const toml::table& table) { torch_bounds_.push_back(ReadBound(table)); });
  each("torch_module", [&](const toml::table& table) {
    torch_modules_.push_back({.name = TextIn(table, "name"), .last = VersionIn(TextIn(table, "last")).value_or(Version())});
  });
  each("family", [&](const toml::table& table) { variable_names_.Add(ReadFamily(table)); });
  each("pair", [&](const toml::table& table) {
    pairs_.push_back({.config = TextIn(table, "config"), .key = TextIn(table, "key"), .args = Texts(table, "args"), .launcher = TextIn(table, "launcher"), .ignored = TextIn(table, "ignored"), .absent = TextIn(table, "absent"), .excludes = BoolIn(table, "excludes")});
  });
  return true;
}

const LauncherTable* LauncherTables::FindCommand(std::string_view word) const {
  const std::string_view name = NameOfPath(word);
  for (const LauncherTable& launcher : launchers_) {
    if (std::ranges::count(launcher.commands, name) > 0) return &launcher;
  }
  return nullptr;
}

const LauncherTable* LauncherTables::FindModule(std::string_view module) const {
  for (const LauncherTable& launcher : launchers_) {
    for (const std::string& command : launcher.commands) {
      if (command.starts_with(kModulePrefix) && std::string_view(command).substr(kModulePrefix.size()) == module) return &launcher;
    }
  }
  return nullptr;
}

const LauncherTable* LauncherTables::Find(std::string_view name) const {
  const auto found = std::ranges::find(launchers_, name, &LauncherTable::name);
  return found == launchers_.end() ? nullptr : &*found;
}

const VariableEntry* LauncherTables::FindVariable(std::string_view name) const {
  const auto found = std::ranges::find(variables_, name, &VariableEntry::name);
  return found == variables_.end() ? nullptr : &*found;
}

const KeyAbout* LauncherTables::FindAbout(std::string_view config, std::string_view key) const {
  const auto found = std::ranges::find_if(abouts_, [&](const KeyAbout& about) { return about.config == config && about.key == key; });
  return found == abouts_.end() ? nullptr : &*found;
}

const ConfigTable* LauncherTables::FindConfig(std::string_view name) const {
  const auto found = std::ranges::find(configs_, name, &ConfigTable::name);
  return found == configs_.end() ? nullptr : &*found;
}

const OptionEntry* FindOption(const LauncherTable& table, std::string_view name) {
  const std::string wanted = table.underscores && name.starts_with("--") ? WithDashes(name) : std::string(name);
  const OptionEntry* beginning = nullptr;
  size_t beginnings = 0;
  for (const OptionEntry& option : table.options) {
    for (const std::string& one : option.names) {
      if (one == wanted) return &option;
      if (!table.abbreviates || wanted.size() < 4 || !wanted.starts_with("--") || !one.starts_with(wanted)) continue;
      beginnings += beginning == &option ? 0 : 1;
      beginning = &option;
    }
  }
  return beginnings == 1 ? beginning : nullptr;
}

const OptionEntry* FindMeaning(const LauncherTable& table, std::string_view means) {
  const auto found = std::ranges::find(table.options, means, &OptionEntry::means);
  return found == table.options.end() ? nullptr : &*found;
}

}  // namespace allranks::launch
