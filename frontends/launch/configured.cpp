#include "frontends/launch/configured.h"

#include <algorithm>
#include <array>
#include <string>

#include "frontends/launch/templates.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::Option;

constexpr std::array<std::string_view, 4> kTypesOnGpus = {"MULTI_GPU", "DEEPSPEED", "FSDP", "MEGATRON_LM"};

bool StartsAProcessForEachGpu(const launch::ConfigTree& tree) {
  const std::string_view type = tree.Text(tree.Member(tree.root(), "distributed_type"));
  return std::ranges::count(kTypesOnGpus, type) > 0 && tree.Boolean(tree.Member(tree.root(), "use_cpu")) != true;
}

// `distributed_type: "NO"`, and nothing else starts more than one.
bool StartsOneProcess(const launch::ConfigTree& tree) { return tree.Text(tree.Member(tree.root(), "num_processes")) == "1"; }

std::vector<Option> OptionsIn(const launch::ConfigTree& tree, const launch::LauncherTable& launcher, const Option& named_by) {
  std::vector<Option> options;
  if (tree.empty() || !(StartsAProcessForEachGpu(tree) || StartsOneProcess(tree))) return options;
  for (const ConfigId id : tree[tree.root()].children) {
    const launch::ConfigNode& node = tree[id];
    const launch::OptionEntry* entry = launch::FindOption(launcher, "--" + node.key);
    const bool is_value = node.kind == ConfigKind::Number || node.kind == ConfigKind::Text;
    if (!is_value || entry == nullptr || entry->means.empty() || entry->takes != "value") continue;
    options.push_back({.means = entry->means, .name = node.key, .word = named_by.word,
                       .value = WithoutTemplates(launch::Word(launch::Piece{.text = node.text, .origin = node.span}))});
  }
  return options;
}

// `$ARGS` may say otherwise.
bool HidesOptions(const launch::Layer& layer) {
  return std::ranges::any_of(layer.options, [](const Option& option) { return option.means == "unknown"; });
}

}  // namespace

void AddConfiguredOptions(launch::Launches& launches) {
  for (launch::LaunchFile& file : launches.files) {
    for (launch::Job& job : file.jobs) {
      for (launch::Layer& layer : job.layers) {
        const Option* named_by = layer.launcher->name == "accelerate" && !HidesOptions(layer) ? layer.Find("config_file") : nullptr;
        const launch::LaunchFile* config = named_by == nullptr ? nullptr : launches.FileNamed(file, named_by->value);
        if (config == nullptr) continue;
        std::vector<Option> options = OptionsIn(config->tree, *layer.launcher, *named_by);
        layer.options.insert(layer.options.begin(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
      }
    }
  }
}

}  // namespace allranks::launch_files
