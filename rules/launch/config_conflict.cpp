#include <algorithm>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::ConfigId;
using launch::ConfigKind;

constexpr std::string_view kCode = "AR702";

// The value behind `--name` or in `--name=value`; nullptr: it is not there.
struct Argument {
  Word value;
  source::Span span;
};
std::optional<Argument> ArgumentOf(const Job& job, const std::vector<std::string>& names) {
  std::optional<Argument> found;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    const size_t equals = text.find('=');
    if (std::ranges::count(names, text.substr(0, equals)) == 0) continue;
    if (equals != std::string::npos) found = Argument{job.args[i].From(equals + 1), job.args[i].span()};
    else if (i + 1 < job.args.size() && !job.args[i + 1].text().starts_with("--")) found = Argument{job.args[i + 1], job.args[i].span()};
    else found = Argument{Word(launch::Piece{.text = "True", .origin = job.args[i].span()}), job.args[i].span()};
  }
  return found;
}

std::optional<double> NumberIn(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  return !copy.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

bool Agree(const launch::ConfigNode& node, const std::string& argument) {
  if (node.kind == ConfigKind::Bool) {
    const bool is_on = argument == "True" || argument == "true" || argument == "1";
    return (node.text == "true") == is_on;
  }
  const std::optional<double> a = NumberIn(node.text);
  const std::optional<double> b = NumberIn(argument);
  return a && b ? *a == *b : node.text == argument;
}

void CheckJob(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  const std::optional<Argument> config = ArgumentOf(job, {"--deepspeed"});
  if (!config) return;
  const LaunchFile* json = context.launches.FileNamed(file, config->value);
  if (json == nullptr || json->tree.empty()) return;
  for (const launch::PairEntry& pair : context.launches.tables.pairs()) {
    const ConfigId key = json->tree.Find(json->tree.root(), pair.key);
    const std::optional<Argument> argument = ArgumentOf(job, pair.args);
    if (!key || !argument || !argument->value.IsKnown() || argument->value.sureness() != Sureness::Written) continue;
    const launch::ConfigNode& node = json->tree[key];
    const bool is_value = node.kind == ConfigKind::Number || node.kind == ConfigKind::Bool;
    if (!is_value || Agree(node, argument->value.text())) continue;
    Finding finding = LaunchFinding(kCode, Severity::Error, Confidence::Likely, argument->span,
                                    {"`{}` is {} here and {} in `{}`: one of them is ignored, or the Trainer refuses to start",
                                     {pair.args[0], argument->value.text(), node.text, json->path}});
    AddNote(finding, node.span, {"the other value", {}});
    finding.help = {"write `\"auto\"` in the configuration: the Trainer fills in what the command line says", {}};
    sink.push_back(std::move(finding));
  }
}

// Accelerate refuses keys of its own section beside a file: all of them stand in the file then.
void CheckAccelerate(const LaunchFile& file, FindingSink& sink) {
  if (file.kind != launch::FileKind::Yaml || file.tree.empty()) return;
  const launch::ConfigTree& tree = file.tree;
  const ConfigId section = tree.Member(tree.root(), "deepspeed_config");
  const ConfigId path = tree.Member(section, "deepspeed_config_file");
  if (!path || tree[path].kind != ConfigKind::Text) return;
  for (const char* key : {"gradient_accumulation_steps", "gradient_clipping", "zero_stage", "offload_optimizer_device", "offload_param_device",
                          "zero3_save_16bit_model"}) {
    const ConfigId also = tree.Member(section, key);
    if (!also) continue;
    Finding finding = LaunchFinding(kCode, Severity::Error, Confidence::Certain, tree[also].key_span,
                                    {"`{}` beside `deepspeed_config_file`: Accelerate takes it from the file "
                                     "and refuses to start with both", {key}});
    AddNote(finding, tree[path].span, {"the file sets it, too", {}});
    sink.push_back(std::move(finding));
    return;
  }
}

void Check(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    CheckAccelerate(file, sink);
    for (const Job& job : file.jobs) CheckJob(context, file, job, sink);
  }
}

}  // namespace

extern const Rule ConfigConflict = {
    .code = kCode,
    .name = "config-conflict",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "launch files",
    .summary = "the same setting with different values in a configuration and on the command line",
    .explanation = R"md(
## What it finds

* A job of the Trainer with `--deepspeed FILE` whose arguments and FILE give different values for
  the batch size of a rank, accumulation, learning rate, weight decay, clipping, warm-up or
  precision. Which arguments and keys belong together is in
  `knowledge/launch/deepspeed_config.toml`.
* A configuration of Accelerate that names a `deepspeed_config_file` and repeats settings that stand
  in that file.

## Why it hurts

The Trainer of transformers compares some of them and ends with
`Please correct the following DeepSpeed config values that mismatch`. Where nobody compares, the
effective batch or learning rate is another one than the command line says, and runs that look alike
are not.

## Wrong

```sh
# zero2.json: "gradient_accumulation_steps": 1
deepspeed train.py --deepspeed zero2.json --gradient_accumulation_steps 4
```

## Right

```sh
# zero2.json: "gradient_accumulation_steps": "auto"
deepspeed train.py --deepspeed zero2.json --gradient_accumulation_steps 4
```

## When it is silent

* `"auto"` in the configuration; values that are equal; values that are not known, or that the
  caller may give anew.
* A configuration that is not in the project.

## Fix

There is none: which value is right is yours to say.

## Proof

There is nothing to replay.
)md",
    .check_launch = Check};

}  // namespace allranks::rules
