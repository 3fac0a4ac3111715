#include "rules/launch/launcher_options.h"

#include <algorithm>

namespace allranks::rules {
namespace {

using findings::Confidence;
using launch::ConfigId;
using launch::ConfigKind;

constexpr std::string_view kAR702OfOptions = "AR702";

std::optional<double> NumberIn(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  return !copy.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

// Of the command itself: what a configuration adds to its options stands in another file.
const Option* OptionNamed(const Job& job, const Layer& layer, const std::vector<std::string>& names) {
  const Option* found = nullptr;
  for (const Option& option : layer.options) {
    const launch::OptionEntry* entry = launch::FindOption(*layer.launcher, option.name);
    const bool is_named = entry != nullptr && std::ranges::any_of(names, [&](const std::string& name) { return launch::FindOption(*layer.launcher, name) == entry; });
    if (is_named && option.value.span().file == job.file) found = &option;
  }
  return found;
}

void ComparePair(const LaunchContext& context, const LaunchFile& file, const Job& job, const Layer& layer, const launch::PairEntry& pair, FindingSink& sink) {
  const Option* names = layer.Find(pair.config == "deepspeed" ? "deepspeed_config" : "config_file");
  const LaunchFile* config = names == nullptr ? nullptr : context.launches.FileNamed(file, names->value);
  if (config == nullptr || config->tree.empty()) return;
  const ConfigId key = config->tree.Find(config->tree.root(), pair.key);
  const Option* option = OptionNamed(job, layer, pair.args);
  if (!key || option == nullptr || !option->value.IsKnown() || option->value.sureness() != Sureness::Written) return;
  const launch::ConfigNode& node = config->tree[key];
  const bool is_value = node.kind == ConfigKind::Number || node.kind == ConfigKind::Bool || node.kind == ConfigKind::Text;
  // What `auto` becomes, the option says; a text may be a template.
  if (!is_value || node.text.empty() || node.text == "auto" || node.text.find_first_of("{$<") != std::string::npos) return;
  if (Agree(node, option->value.text())) return;
  const bool counts_option = pair.ignored == "key";
  findings::Finding finding = LaunchFinding(kAR702OfOptions, counts_option ? Severity::Warning : Severity::Error, Confidence::Likely, option->word.span(),
                                            {"`{}` is {} here and {} in `{}`: {}",
                                             {option->name, option->value.text(), node.text, config->path,
                                              counts_option ? "the configuration is ignored" : "the option is ignored"}});
  AddNote(finding, node.span, {"the other value", {}});
  finding.help = {"say it in one of the two places", {}};
  sink.push_back(std::move(finding));
}

}  // namespace

bool Agree(const launch::ConfigNode& node, const std::string& argument) {
  if (node.kind == ConfigKind::Bool) {
    const bool is_on = argument == "True" || argument == "true" || argument == "1";
    return (node.text == "true") == is_on;
  }
  const std::optional<double> a = NumberIn(node.text);
  const std::optional<double> b = NumberIn(argument);
  return a && b ? *a == *b : node.text == argument;
}

bool Agree(const launch::PairEntry& pair, const launch::ConfigNode& node, const std::string& argument) {
  return pair.excludes ? node.text != "true" || !Agree(node, argument) : Agree(node, argument);
}

void CompareLauncherOptions(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  for (const Layer& layer : job.layers) {
    for (const launch::PairEntry& pair : context.launches.tables.pairs()) {
      if (pair.launcher == layer.launcher->name) ComparePair(context, file, job, layer, pair, sink);
    }
  }
}

}  // namespace allranks::rules
