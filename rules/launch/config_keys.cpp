#include "rules/launch/config_keys.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/knowledge/spelling.h"
#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigNode;
using launch::ConfigTree;

constexpr std::string_view kAR908 = "AR908";

void CheckKeys(const ConfigTree& tree, ConfigId map, std::span<const std::string> known, findings::Text why, FindingSink& sink) {
  if (!map) return;
  for (const ConfigId child : tree[map].children) {
    const std::string& key = tree[child].key;
    if (std::ranges::count(known, key) > 0) continue;
    const auto meant = std::ranges::find_if(known, [&](const std::string& name) { return knowledge::IsSlip(key, name); });
    if (meant == known.end()) continue;
    findings::Text message = why;
    message.args = {key, *meant};
    sink.push_back(LaunchFinding(kAR908, Severity::Error, Confidence::Certain, tree[child].key_span, std::move(message)));
  }
}

// Keys of a map in a configuration of Accelerate are options of the launcher without their dashes.
std::vector<std::string> KeysThatBegin(const launch::LauncherTables& tables, std::string_view begin) {
  std::vector<std::string> keys;
  const launch::LauncherTable* accelerate = tables.Find("accelerate");
  for (const launch::OptionEntry& option : accelerate->options) {
    for (std::string name : option.names) {
      std::ranges::replace(name, '-', '_');
      if (name.starts_with("__") && name.substr(2).starts_with(begin)) keys.push_back(name.substr(2));
    }
  }
  return keys;
}

bool IsInside(std::string_view path, std::string_view key) {
  return path == key || path.starts_with(std::string(key) + '.') || path.ends_with('.' + std::string(key));
}

// `zero_optimization` under `deepspeed_config`: Accelerate reads its own keys there, and DeepSpeed's in the file that `deepspeed_config_file` names.
void CheckKeysOfDeepSpeed(const LaunchContext& context, const ConfigTree& tree, FindingSink& sink) {
  const launch::ConfigTable* deepspeed = context.launches.tables.FindConfig("deepspeed");
  const ConfigId map = tree.Member(tree.root(), "deepspeed_config");
  if (!map || deepspeed == nullptr) return;
  const std::vector<std::string> known = KeysThatBegin(context.launches.tables, "");
  Finding* told = nullptr;
  for (const ConfigId child : tree[map].children) {
    const std::string& key = tree[child].key;
    const bool is_of_deepspeed = std::ranges::any_of(deepspeed->keys, [&](const launch::KeyEntry& entry) { return IsInside(entry.path, key); });
    if (!is_of_deepspeed || std::ranges::count(known, key) > 0) continue;
    if (told != nullptr) {
      AddNote(*told, tree[child].key_span, {"and here", {}});
      continue;
    }
    Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Certain, tree[child].key_span,
                                    {"`{}` is a key of DeepSpeed's own configuration: Accelerate does not read it here, and ignores it", {key}});
    finding.help = {"move it to a file for DeepSpeed, and point `deepspeed_config_file` to that", {}};
    sink.push_back(std::move(finding));
    told = &sink.back();
  }
}

// A text that no reader takes for a number or a truth value, and that is no place to fill in.
bool IsPlainText(const ConfigNode& node) {
  if (node.kind != ConfigKind::Text || node.is_quoted || node.text.empty()) return false;
  return std::ranges::all_of(node.text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-'; });
}

void CheckTypes(const ConfigTree& tree, const launch::ConfigTable& table, FindingSink& sink) {
  for (const ConfigId child : tree[tree.root()].children) {
    const ConfigNode& node = tree[child];
    const launch::KeyEntry* entry = table.Find(node.key);
    if (entry == nullptr) continue;
    const bool is_broken = node.kind == ConfigKind::Number && !tree.Integer(child);
    const bool is_no_number = entry->type == "integer" && (IsPlainText(node) || is_broken || node.kind == ConfigKind::Bool);
    const bool is_no_truth = entry->type == "boolean" && (IsPlainText(node) || (node.kind == ConfigKind::Number && node.text != "0" && node.text != "1"));
    if (!is_no_number && !is_no_truth) continue;
    sink.push_back(LaunchFinding(kAR908, Severity::Error, Confidence::Likely, node.span,
                                 {"`{}` of Accelerate takes {}, not `{}`", {node.key, is_no_number ? "a whole number" : "a truth value", node.text}}));
  }
}

bool IsOfAccelerate(const LaunchFile& file) {
  const ConfigId root = file.tree.root();
  return file.kind == launch::FileKind::Yaml && file.tree.Member(root, "compute_environment") && file.tree.Member(root, "distributed_type");
}

void CheckAccelerate(const LaunchContext& context, const LaunchFile& file, FindingSink& sink) {
  const launch::ConfigTable* table = context.launches.tables.FindConfig("accelerate");
  const ConfigId root = file.tree.root();
  if (!IsOfAccelerate(file) || table == nullptr) return;
  std::vector<std::string> keys;
  for (const launch::KeyEntry& entry : table->keys) keys.push_back(entry.path);
  // Accelerate ends with `The config file had unknown keys`; what FSDP has not is silently left out.
  CheckKeys(file.tree, root, keys, {"`{}` is not a key of Accelerate, which refuses the file: did you mean `{}`?", {}}, sink);
  CheckKeys(file.tree, file.tree.Member(root, "fsdp_config"), KeysThatBegin(context.launches.tables, "fsdp"),
            {"`{}` is not a key of `fsdp_config`, and is ignored: did you mean `{}`?", {}}, sink);
  CheckTypes(file.tree, *table, sink);
}

// The file that `--fsdp_config FILE` names; nullptr: none of the project.
const LaunchFile* FsdpConfigOf(const LaunchContext& context, const LaunchFile& file, const Job& job) {
  constexpr std::string_view kOption = "--fsdp_config";
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    if (text == kOption && i + 1 < job.args.size()) return context.launches.FileNamed(file, job.args[i + 1]);
    if (text.starts_with(kOption) && text.size() > kOption.size() && text[kOption.size()] == '=') {
      return context.launches.FileNamed(file, job.args[i].From(kOption.size() + 1));
    }
  }
  return nullptr;
}

// Of either spelling: with `fsdp_` before it or without.
ConfigId FsdpMember(const ConfigTree& tree, const std::string& key) {
  const ConfigId plain = tree.Member(tree.root(), key);
  return plain ? plain : tree.Member(tree.root(), "fsdp_" + key);
}

void CheckFsdp(const LaunchFile& config, const launch::ConfigTable& table, FindingSink& sink) {
  const ConfigTree& tree = config.tree;
  if (tree.empty() || config.kind != launch::FileKind::Json) return;
  std::vector<std::string> keys;
  for (const launch::KeyEntry& entry : table.keys) {
    keys.push_back(entry.path);
    keys.push_back("fsdp_" + entry.path);
  }
  CheckKeys(tree, tree.root(), keys, {"`{}` is not a key of the Trainer's FSDP configuration, and is ignored: did you mean `{}`?", {}}, sink);
  const ConfigId size = FsdpMember(tree, "min_num_params");
  const ConfigId layers = FsdpMember(tree, "transformer_layer_cls_to_wrap");
  if (!size) return;
  if (tree[size].kind == ConfigKind::Text) {
    sink.push_back(LaunchFinding(kAR908, Severity::Error, Confidence::Certain, tree[size].span,
                                 {"`{}` is a text, and the Trainer wants a whole number", {tree[size].key}}));
  }
  const bool wraps_layers = layers && tree[layers].kind != ConfigKind::Null;
  if (!wraps_layers || tree.Integer(size).value_or(0) <= 0) return;
  Finding finding = LaunchFinding(kAR908, Severity::Error, Confidence::Certain, tree[size].key_span,
                                  {"`{}` beside `{}`: the Trainer takes only one of them and refuses to start", {tree[size].key, tree[layers].key}});
  AddNote(finding, tree[layers].key_span, {"the other one", {}});
  sink.push_back(std::move(finding));
}

}  // namespace

void CheckConfigKeys(const LaunchContext& context, FindingSink& sink) {
  const launch::ConfigTable* fsdp = context.launches.tables.FindConfig("fsdp");
  std::vector<const LaunchFile*> checked;
  for (const LaunchFile& file : context.launches.files) {
    CheckAccelerate(context, file, sink);
    for (const Job& job : file.jobs) {
      const LaunchFile* config = fsdp == nullptr ? nullptr : FsdpConfigOf(context, file, job);
      if (config == nullptr || std::ranges::count(checked, config) > 0) continue;
      checked.push_back(config);
      CheckFsdp(*config, *fsdp, sink);
    }
  }
}

void CheckDeepSpeedKeys(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    if (IsOfAccelerate(file)) CheckKeysOfDeepSpeed(context, file.tree, sink);
  }
}

}  // namespace allranks::rules
