#include <algorithm>
#include <array>

#include "rules/finding_parts.h"
#include "rules/launch/job_facts.h"
#include "rules/launch/launcher_options.h"
#include "rules/launch/python_config.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::ConfigId;
using launch::ConfigKind;

constexpr std::string_view kAR702 = "AR702";

// "true"; of another setting with its name: "`fp16.enabled` is true".
std::string ShownBeside(const launch::PairEntry& pair, const launch::ConfigNode& node) {
  return pair.excludes ? "`" + pair.key + "` is " + node.text : node.text;
}

// `--max_grad_norm 1.0`, or `max_grad_norm=1.0` in the program, beside a configuration that does not have the key: nobody fills it in.
bool IsMissing(const LaunchFile& json, const launch::PairEntry& pair, const std::string& given) {
  const bool is_on = given.find_first_of("123456789") != std::string::npos;
  return !pair.absent.empty() && is_on && json.tree.Member(json.tree.root(), "zero_optimization");
}
findings::Text Missing(const LaunchFile& json, const launch::PairEntry& pair, std::string_view name, const std::string& given) {
  return {"`{}` is {} here, and `{}` has no `{}`: {}", {std::string(name), given, json.path, pair.key, pair.absent}};
}
findings::Text HelpForMissing(const launch::PairEntry& pair, const char* where) {
  return {"write `\"{}\": \"auto\"` in the configuration: the Trainer fills in what {}", {pair.key, where}};
}

void CompareJob(const LaunchContext& context, const LaunchFile& file, const Job& job, FindingSink& sink) {
  const std::optional<GivenArgument> config = GivenArgumentOf(job, {"--deepspeed"});
  if (!config) return;
  const LaunchFile* json = context.launches.FileNamed(file, config->value);
  if (json == nullptr || json->tree.empty()) return;
  for (const launch::PairEntry& pair : context.launches.tables.pairs()) {
    if (!pair.launcher.empty()) continue;
    const ConfigId key = json->tree.Find(json->tree.root(), pair.key);
    const std::optional<GivenArgument> argument = GivenArgumentOf(job, pair.args);
    if (!key && argument && argument->value.IsKnown() && IsMissing(*json, pair, argument->value.text())) {
      Finding& finding = sink.emplace_back(LaunchFinding(kAR702, Severity::Warning, Confidence::Likely, argument->span,
                                                         Missing(*json, pair, pair.args[0], argument->value.text())));
      finding.help = HelpForMissing(pair, "the command line says");
    }
    if (!key || !argument || !argument->value.IsKnown() || argument->value.sureness() != Sureness::Written) continue;
    const launch::ConfigNode& node = json->tree[key];
    const bool is_value = node.kind == ConfigKind::Number || node.kind == ConfigKind::Bool;
    if (!is_value || Agree(pair, node, argument->value.text())) continue;
    Finding finding = LaunchFinding(kAR702, Severity::Error, Confidence::Likely, argument->span,
                                    {"`{}` is {} here and {} in `{}`: one of them is ignored, or the Trainer refuses to start",
                                     {pair.args[0], argument->value.text(), ShownBeside(pair, node), json->path}});
    AddNote(finding, node.span, {"the other value", {}});
    finding.help = {"write `\"auto\"` in the configuration: the Trainer fills in what the command line says", {}};
    sink.push_back(std::move(finding));
  }
}

// Accelerate refuses keys of its own section beside a file: all of them stand in the file then.
void CompareAccelerate(const LaunchFile& file, FindingSink& sink) {
  if (file.kind != launch::FileKind::Yaml || file.tree.empty()) return;
  const launch::ConfigTree& tree = file.tree;
  const ConfigId section = tree.Member(tree.root(), "deepspeed_config");
  const ConfigId path = tree.Member(section, "deepspeed_config_file");
  if (!path || tree[path].kind != ConfigKind::Text) return;
  for (const char* key : {"gradient_accumulation_steps", "gradient_clipping", "zero_stage", "offload_optimizer_device", "offload_param_device",
                          "zero3_save_16bit_model"}) {
    const ConfigId also = tree.Member(section, key);
    if (!also) continue;
    Finding finding = LaunchFinding(kAR702, Severity::Error, Confidence::Certain, tree[also].key_span,
                                    {"`{}` beside `deepspeed_config_file`: Accelerate takes it from the file "
                                     "and refuses to start with both", {key}});
    AddNote(finding, tree[path].span, {"the file sets it, too", {}});
    sink.push_back(std::move(finding));
    return;
  }
}

// `--gradient_accumulation_steps` as a parameter.
std::string_view ParamOf(std::string_view option) { return option.substr(option.find_first_not_of('-')); }

// A constant of the program; empty: it is none.
std::string ConstantText(const Context& context, variation::ValueId value) {
  if (!value) return "";
  if (context.values.IsTrue(value)) return "True";
  if (context.values.IsFalse(value)) return "False";
  if (const std::optional<int64_t> number = context.values.Int(value)) return std::to_string(*number);
  const std::vector<variation::ValueId> leaves = context.values.Leaves(value);
  const bool is_float = leaves.size() == 1 && context.values[leaves[0]].kind == variation::ValueKind::Float;
  return is_float ? std::string(context.program.text(context.values[leaves[0]].name())) : "";
}

// `TrainingArguments(deepspeed="ds.json", gradient_accumulation_steps=4)`.
void CompareArguments(const Context& context, const objects::KnownCall& call, FindingSink& sink) {
  const ir::ModuleId module = context.program.funcs[call.function].module;
  const variation::ValueId config = context.index.Arg(call, "deepspeed");
  const launch::LaunchFile* file = NamedConfig(context, module, config);
  const std::optional<launch::ConfigTree> dict = file == nullptr ? DictConfig(context, module, config) : std::nullopt;
  if ((file == nullptr || file->tree.empty()) && (!dict || dict->empty())) return;
  const launch::ConfigTree& tree = file != nullptr ? file->tree : *dict;
  for (const launch::PairEntry& pair : context.launches.tables.pairs()) {
    if (!pair.launcher.empty()) continue;
    const ConfigId key = tree.Find(tree.root(), pair.key);
    const std::string_view param = ParamOf(pair.args[0]);
    const ir::ExprId written = context.index.ArgExpr(call, param);
    const std::string text = ConstantText(context, context.index.Arg(call, param));
    if (!key && written && file != nullptr && IsMissing(*file, pair, text)) {
      Finding& finding = sink.emplace_back(FindingAt(context, kAR702, Severity::Warning, Confidence::Likely, objects::Site{call.function, written},
                                                     Missing(*file, pair, param, text)));
      finding.help = HelpForMissing(pair, "its arguments say");
    }
    if (!key || (tree[key].kind != ConfigKind::Number && tree[key].kind != ConfigKind::Bool)) continue;
    if (!written || text.empty() || Agree(pair, tree[key], text)) continue;
    Finding finding = FindingAt(context, kAR702, Severity::Error, Confidence::Likely, objects::Site{call.function, written},
                                {"`{}` is {} here and {} in {}: the Trainer refuses to start",
                                 {std::string(param), text, ShownBeside(pair, tree[key]), file != nullptr ? "`" + file->path + "`" : "the configuration"}});
    AddNote(finding, tree[key].span, {"the other value", {}});
    finding.help = {"write `\"auto\"` in the configuration: the Trainer fills in what its arguments say", {}};
    sink.push_back(std::move(finding));
  }
}

// A key of a configuration of Accelerate, and the argument of `Accelerator` for the same setting.
struct Shared {
  std::string_view key;
  std::string_view param;
  std::string_view ignored;  // which of the two
};
constexpr std::array<Shared, 2> kShared = {{{"mixed_precision", "mixed_precision", "the configuration is ignored"},
                                            {"deepspeed_config.gradient_accumulation_steps", "gradient_accumulation_steps", "the argument is ignored"}}};

// The configuration that the command names; nullptr: it names none of the project.
const LaunchFile* ConfigOfLine(const Context& context, const objects::LaunchLine& line) {
  const LaunchFile* file = context.launches.Find(line.place.file);
  if (file == nullptr) return nullptr;
  for (const Job& job : file->jobs) {
    const Layer& layer = job.innermost();
    const Option* config = layer.Find("config_file");
    if (layer.span == line.place && layer.launcher->name == "accelerate" && config != nullptr) return context.launches.FileNamed(*file, config->value);
  }
  return nullptr;
}

// `Accelerator(mixed_precision="fp16")` in a program that all commands start with a configuration that says another one.
void CheckAccelerator(const Context& context, const objects::KnownCall& call, const Shared& shared, FindingSink& sink) {
  const variation::ValueId value = context.index.Arg(call, shared.param);
  const ir::ExprId written = context.index.ArgExpr(call, shared.param);
  const std::string text = value && !context.values.Str(value).empty() ? std::string(context.values.Str(value)) : ConstantText(context, value);
  if (!written || text.empty()) return;
  const LaunchFile* other = nullptr;
  ConfigId key;
  for (const objects::LaunchLine* line : context.launch.LinesFor(context.program.funcs[call.function].module)) {
    const LaunchFile* config = ConfigOfLine(context, *line);
    if (config == nullptr || config->tree.empty()) return;
    const ConfigId own = config->tree.Find(config->tree.root(), shared.key);
    const bool is_said = own && (config->tree[own].kind == ConfigKind::Number || config->tree[own].kind == ConfigKind::Text);
    // "no" is what the questions of `accelerate config` leave where nobody chooses.
    if (!is_said || config->tree.Text(own) == "auto" || config->tree.Text(own) == "no" || Agree(config->tree[own], text)) return;
    other = config;
    key = own;
  }
  if (other == nullptr) return;
  Finding finding = FindingAt(context, kAR702, Severity::Error, Confidence::Likely, objects::Site{call.function, written},
                              {"`{}` is {} here and {} in `{}`: the program is started with that file; {}",
                               {std::string(shared.param), text, std::string(other->tree.Text(key)), other->path, std::string(shared.ignored)}});
  AddNote(finding, other->tree[key].span, {"the other value", {}});
  finding.help = {"say it in one of the two places", {}};
  sink.push_back(std::move(finding));
}

void CompareProgram(const Context& context, FindingSink& sink) {
  for (const objects::KnownCall& call : context.index.known_calls()) {
    const std::string_view name = context.program.text(call.entry->name);
    if (name == "transformers.TrainingArguments.__init__") CompareArguments(context, call, sink);
    if (name != "accelerate.Accelerator.__init__") continue;
    for (const Shared& shared : kShared) CheckAccelerator(context, call, shared, sink);
  }
}

void CheckConfigConflict(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    CompareAccelerate(file, sink);
    for (const Job& job : file.jobs) {
      CompareJob(context, file, job, sink);
      CompareLauncherOptions(context, file, job, sink);
    }
  }
}

}  // namespace

extern const Rule ConfigConflict = {
    .code = kAR702,
    .name = "config-conflict",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "launch files, Python",
    .summary = "the same setting with different values in a configuration and on the command line",
    .explanation = R"md(
## What it finds

* A job of the Trainer with `--deepspeed FILE` whose arguments and FILE give different values for
  the batch size of a rank, accumulation, learning rate, weight decay, clipping, warm-up or
  precision. Which arguments and keys belong together is in
  `knowledge/launch/deepspeed_config.toml`. The same of `--bf16` beside
  `fp16.enabled`, of which only one may be on, and `--max_grad_norm` beside a FILE without
  `gradient_clipping`: the engine clips, and nobody tells it to.
* `TrainingArguments(deepspeed=...)` with the name of a file or a dict, and other values for the same settings
  beside it.
* `Accelerator(mixed_precision=..., gradient_accumulation_steps=...)` in a program that every command starts
  by `accelerate launch --config_file FILE`, where FILE says otherwise.
* A configuration of Accelerate that names a `deepspeed_config_file` and repeats settings that stand
  in that file.
* Options of `accelerate launch` that say something else than the file of `--deepspeed_config_file`, which
  then counts, or than the precision, accumulation or stage in that of `--config_file`, which then does not.

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
* Numbers of processes and machines: options of `accelerate launch` are there to say others.

## Fix

There is none: which value is right is yours to say.

## Proof

There is nothing to replay.
)md",
    .check = CompareProgram,
    .check_launch = CheckConfigConflict};

}  // namespace allranks::rules
