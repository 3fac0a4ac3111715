#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/knowledge/spelling.h"
#include "rules/launch/job_facts.h"
#include "rules/launch/python_config.h"
#include "rules/launch/zero_batch.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigNode;

constexpr std::string_view kAR703 = "AR703";

// Where a configuration says what is offloaded, and under which stage.
struct Offload {
  ConfigId stage;
  ConfigId parameters;  // the device for them
  ConfigId optimizer;
};

bool IsOn(std::string_view device) { return device == "cpu" || device == "nvme"; }

// The key that offloads parameters: DeepSpeed's holds the device, Accelerate's is it.
std::string Offloaded(const launch::ConfigTree& tree, const Offload& offload) {
  const std::string key(tree[offload.parameters].key);
  return key == "device" ? "offload_param" : key;
}

void CheckOffload(const launch::ConfigTree& tree, const Offload& offload, FindingSink& sink) {
  const std::optional<int64_t> stage = tree.Integer(offload.stage);
  if (!stage) return;
  const auto report = [&](ConfigId at, findings::Text message, findings::Text help) {
    sink.push_back(LaunchFinding(kAR703, Severity::Error, Confidence::Certain, tree[at].span, std::move(message)));
    sink.back().help = std::move(help);
    if (at != offload.stage) AddNote(sink.back(), tree[offload.stage].span, {"the stage of this configuration", {}});
  };
  const std::string number = std::to_string(*stage);
  if (*stage < 0 || *stage > 3) return report(offload.stage, {"stage {} of ZeRO does not exist: there are 0 to 3", {number}}, {});
  // Stage 0 turns all of it off: it is a setting to start from.
  if (*stage != 3 && *stage != 0 && IsOn(tree.Text(offload.parameters))) {
    report(offload.parameters,
           {"`{}` does nothing under ZeRO-{}: only stage 3 shards parameters, so only it can offload them", {Offloaded(tree, offload), number}},
           {"remove `{}`, or set the stage to 3", {Offloaded(tree, offload)}});
  }
  const std::string_view optimizer = tree.Text(offload.optimizer);
  if (*stage == 0 && IsOn(optimizer)) {
    report(offload.optimizer, {"the optimizer is offloaded without "
                               "ZeRO: stage 0 turns it off", {}}, {"use stage 1, 2 or 3", {}});
  }
  if (*stage != 3 && optimizer == "nvme") report(offload.optimizer, {"stage {} of ZeRO cannot offload to NVMe: only stage 3 can", {number}}, {});
}

// A word that nobody takes for a number, a place to fill in, or what is filled in later ("auto").
bool IsPlainWord(std::string_view text) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && text != "auto" && text != "inf" && text != "nan" && std::ranges::all_of(text, is_plain);
}

class ConfigCheck {
 public:
  // `is_named`: a program or a command hands it to DeepSpeed, so that every key in it is DeepSpeed's. `pinned`: the newest release that the project
  // asks for.
  ConfigCheck(const launch::ConfigTable& table, const launch::ConfigTree& tree, ConfigId root, bool is_named, std::optional<launch::Release> pinned,
              FindingSink& sink)
      : table_(table), tree_(tree), root_(root), is_named_(is_named), sink_(sink) {
    const std::optional<launch::Release> closed_since = launch::ReleaseIn(table.closed_since);
    refuses_ = !pinned || !closed_since || *pinned >= *closed_since;
  }

  void Run() {
    CheckKeys(root_, "");
    const ConfigId zero = tree_.Member(root_, "zero_optimization");
    CheckOffload(tree_, {.stage = tree_.Member(zero, "stage"), .parameters = tree_.Find(zero, "offload_param.device"),
                         .optimizer = tree_.Find(zero, "offload_optimizer.device")}, sink_);
    if (tree_.Integer(tree_.Member(zero, "stage")) == 3) CheckPathOfNvme(zero);
    CheckPrecision();
    CheckBatch();
    CheckStage(zero);
    CheckWarmup();
  }

 private:
  void Report(Severity severity, Confidence confidence, source::Span span, findings::Text message, findings::Text help) {
    sink_.push_back(LaunchFinding(kAR703, severity, confidence, span, std::move(message)));
    sink_.back().help = std::move(help);
  }

  // There is no path that DeepSpeed would take by itself.
  void CheckPathOfNvme(ConfigId zero) {
    for (const char* key : {"offload_param", "offload_optimizer"}) {
      const ConfigId section = tree_.Member(zero, key);
      const ConfigId device = tree_.Member(section, "device");
      if (tree_.Text(device) != "nvme" || tree_.Member(section, "nvme_path")) continue;
      Report(Severity::Error, Confidence::Likely, tree_[device].span, {"`{}` goes to NVMe without an `nvme_path`: DeepSpeed has none of its own", {key}},
             {"say where: `\"nvme_path\": \"/local_nvme\"`", {}});
    }
  }

  // Keys that are nowhere in the table: refused in a closed map, and without effect elsewhere.
  void CheckKeys(ConfigId map, const std::string& path) {
    const bool is_closed = refuses_ && std::ranges::count(table_.closed, path) > 0;
    for (const ConfigId child : tree_[map].children) {
      const ConfigNode& node = tree_[child];
      const std::string whole = path.empty() ? node.key : path + "." + node.key;
      const launch::KeyEntry* entry = table_.Find(whole);
      if (entry == nullptr) {
        if (path.empty() || is_closed) ReportUnknown(child, path, is_closed);
        continue;
      }
      if (!entry->until.empty()) ReportOld(child, *entry);
      else CheckType(child, *entry);
      if (node.kind == ConfigKind::Map && std::ranges::count(table_.closed, whole) > 0) CheckKeys(child, whole);
    }
  }

  void ReportUnknown(ConfigId id, const std::string& path, bool is_closed) {
    const ConfigNode& node = tree_[id];
    std::vector<std::string_view> names;
    for (const launch::KeyEntry& entry : table_.keys) {
      const std::string_view whole = entry.path;
      const size_t dot = whole.rfind('.');
      const std::string_view parent = dot == std::string_view::npos ? std::string_view() : whole.substr(0, dot);
      if (parent == path && entry.until.empty()) names.push_back(dot == std::string_view::npos ? whole : whole.substr(dot + 1));
    }
    const std::string nearest = knowledge::DidYouMean(node.key, names);
    // Outside of closed maps other tools keep keys of their own.
    if (!is_closed && !std::ranges::any_of(names, [&](std::string_view name) { return knowledge::IsSlip(node.key, name); })) return ReportMisplaced(id);
    Report(Severity::Error, is_closed ? Confidence::Certain : Confidence::Likely, node.key_span,
           is_closed ? findings::Text{"`{}` is not a key of `{}`: DeepSpeed refuses to start{}", {node.key, path, nearest}}
                     : findings::Text{"`{}` is ignored by DeepSpeed{}", {node.key, nearest}},
           {});
  }

  // `"session_params": {"zero_optimization": ...}`: nobody reads a section that stands in another one.
  bool ReportInner(ConfigId id) {
    if (tree_[id].kind != ConfigKind::Map) return false;
    for (const ConfigId inner : tree_[id].children) {
      const bool is_section = tree_[inner].kind == ConfigKind::Map && std::ranges::count(table_.marks, tree_[inner].key) > 0;
      if (!is_section || tree_.Member(root_, tree_[inner].key)) continue;
      Report(Severity::Error, Confidence::Likely, tree_[inner].key_span,
             {"`{}` stands in `{}`, which is no section of DeepSpeed: it is not read", {tree_[inner].key, tree_[id].key}}, {"move it to the top", {}});
      return true;
    }
    return false;
  }

  // Whether a section has the key, or an old one in the place of it: another one at the top changes nothing.
  bool SaysItself(ConfigId section, std::string_view key) const {
    return section && std::ranges::any_of(tree_[section].children, [&](ConfigId child) {
             const auto is_old_name = [&](const launch::KeyEntry& entry) { return entry.instead == key && entry.path.ends_with("." + tree_[child].key); };
             return tree_[child].key == key || std::ranges::any_of(table_.keys, is_old_name);
           });
  }

  // `reduce_bucket_size` at the top, which is one of `zero_optimization`.
  void ReportMisplaced(ConfigId id) {
    if (ReportInner(id)) return;
    std::set<std::string> sections;
    for (const launch::KeyEntry& entry : table_.keys) {
      const size_t dot = entry.path.rfind('.');
      // One that is deprecated there is not to be moved.
      if (dot != std::string::npos && entry.until.empty() && entry.path.substr(dot + 1) == tree_[id].key) sections.insert(entry.path.substr(0, dot));
    }
    if (sections.size() != 1 || SaysItself(tree_.Find(root_, *sections.begin()), tree_[id].key)) return;
    Report(Severity::Error, Confidence::Likely, tree_[id].key_span,
           {"`{}` stands at the top, where DeepSpeed does not read it: it is a key of `{}`", {tree_[id].key, *sections.begin()}}, {"move it into `{}`", {*sections.begin()}});
  }

  // What is off is as if it were not there.
  void ReportOld(ConfigId id, const launch::KeyEntry& entry) {
    if (tree_.Boolean(id) != true) return;
    Report(Severity::Warning, Confidence::Certain, tree_[id].key_span,
           {"`{}` is deprecated since DeepSpeed {}", {tree_[id].key, entry.until}}, {"use `{}`", {entry.instead}});
  }

  void CheckType(ConfigId id, const launch::KeyEntry& entry) {
    const ConfigNode& node = tree_[id];
    if (entry.type == "map") return CheckMap(id, entry);
    if (node.kind == ConfigKind::Text && IsPlainWord(node.text)) CheckWord(id, entry);
    // "auto" is filled in by the Trainer; a text may be a placeholder.
    // A list is what autotuning is to try.
    if (node.kind == ConfigKind::List) return;
    if (node.kind == ConfigKind::Text || node.kind == ConfigKind::Null) {
      const bool is_truth_in_quotes = entry.type == "boolean" && (node.text == "True" || node.text == "False" || node.text == "true" || node.text == "false");
      if (is_truth_in_quotes && entry.path.ends_with(".enabled") && (node.text == "False" || node.text == "false")) {
        Report(Severity::Error, Confidence::Likely, node.span, {"`\"{}\"` is a string, not a boolean", {node.text}}, {"write `{}` without quotes", {"false"}});
      }
      return;
    }
    const bool is_number = node.kind == ConfigKind::Number;
    const bool fits = entry.type == "boolean" ? node.kind == ConfigKind::Bool || (is_number && (node.text == "0" || node.text == "1"))
                      : entry.type == "integer" || entry.type == "number" ? is_number
                                                                          : true;
    if (fits) return;
    const char* wanted = entry.type == "boolean" ? "a truth value" : "a number";
    Report(Severity::Error, Confidence::Certain, node.span, {"`{}` is {}, and DeepSpeed wants {}", {node.key, KindText(node.kind), wanted}}, {});
  }
  // Sections that other libraries have as well are DeepSpeed's where it is handed the whole. `true` was once short for stage 1.
  void CheckMap(ConfigId id, const launch::KeyEntry& entry) {
    const ConfigNode& node = tree_[id];
    const bool is_filled_in = node.kind == ConfigKind::Map || node.kind == ConfigKind::Null || node.kind == ConfigKind::List ||
                              (node.kind == ConfigKind::Text && !IsPlainWord(node.text));
    const bool is_of_zero = entry.path.starts_with("zero_optimization");
    if (is_filled_in || (!is_named_ && !is_of_zero) || (entry.path == "zero_optimization" && node.kind == ConfigKind::Bool)) return;
    Report(Severity::Error, Confidence::Certain, node.span, {"`{}` is {}, and DeepSpeed wants a map", {node.key, KindText(node.kind)}}, {});
  }
  void CheckWord(ConfigId id, const launch::KeyEntry& entry) {
    const ConfigNode& node = tree_[id];
    if (!entry.words.empty() && std::ranges::count(entry.words, node.text) == 0) {
      std::string words;
      for (const std::string& word : entry.words) words += (words.empty() ? "`" : word == entry.words.back() ? " or `" : ", `") + word + "`";
      Report(Severity::Error, Confidence::Certain, node.span, {"`{}` is no `{}` of DeepSpeed, which takes {}", {node.text, node.key, words}}, {});
    }
    const bool is_no_number = entry.type == "integer" || entry.type == "number";
    const bool is_no_truth = entry.type == "boolean" && node.text != "true" && node.text != "false";
    if (!is_no_number && !is_no_truth) return;
    Report(Severity::Error, Confidence::Likely, node.span, {"`{}` is the text `{}`, and DeepSpeed wants {}", {node.key, node.text, is_no_number ? "a number" : "a truth value"}}, {});
  }
  static std::string KindText(ConfigKind kind) {
    switch (kind) {
      case ConfigKind::Bool: return "a truth value";
      case ConfigKind::Number: return "a number";
      case ConfigKind::Map: return "a map";
      default: return "a text";
    }
  }

  void CheckPrecision() {
    const ConfigId half = tree_.Find(root_, "fp16.enabled");
    const ConfigId brain = tree_.Member(root_, "bf16") ? tree_.Find(root_, "bf16.enabled") : tree_.Find(root_, "bfloat16.enabled");
    if (tree_.Boolean(half) != true || tree_.Boolean(brain) != true) return;
    Report(Severity::Error, Confidence::Certain, tree_[brain].span, {"`bf16` and `fp16` are both on: DeepSpeed refuses to start", {}}, {"keep one of the two", {}});
    AddNote(sink_.back(), tree_[half].span, {"the other one", {}});
  }

  // train_batch_size = micro batch x accumulation x ranks.
  void CheckBatch() {
    const ConfigId all_id = tree_.Member(root_, "train_batch_size");
    const std::optional<int64_t> all = tree_.Integer(all_id);
    const std::optional<int64_t> micro = tree_.Integer(tree_.Member(root_, "train_micro_batch_size_per_gpu"));
    const std::optional<int64_t> steps = tree_.Integer(tree_.Member(root_, "gradient_accumulation_steps"));
    if (!all || !micro || *all <= 0 || *micro <= 0) return;
    const int64_t of_rank = *micro * std::clamp<int64_t>(steps.value_or(1), 1, 1 << 20);
    if (of_rank <= 0 || *all % of_rank == 0) return;
    Report(Severity::Error, Confidence::Certain, tree_[all_id].span,
           {"no number of ranks gives a `train_batch_size` of {} with {} per "
            "rank and step{}", {std::to_string(*all), std::to_string(of_rank), steps ? ": each takes its micro batch times the accumulation" : ""}},
           {"leave `train_batch_size` out: DeepSpeed computes it", {}});
  }

  // These schedulers set the rate of the optimizer to their own, which is 0.001 where it is not given.
  // https://deepspeed.readthedocs.io/en/latest/schedulers.html
  void CheckWarmup() {
    const ConfigId type = tree_.Find(root_, "scheduler.type");
    const ConfigId params = tree_.Find(root_, "scheduler.params");
    const ConfigId rate = tree_.Find(root_, "optimizer.params.lr");
    const bool sets_rate = tree_.Text(type) == "WarmupLR" || tree_.Text(type) == "WarmupDecayLR";
    if (!sets_rate || !rate || tree_[rate].kind != ConfigKind::Number || tree_[rate].text == "0.001" || tree_[rate].text == "1e-3") return;
    if (params && (tree_[params].kind != ConfigKind::Map || tree_.Member(params, "warmup_max_lr"))) return;
    Report(Severity::Error, Confidence::Likely, tree_[rate].span,
           {"`lr` of {} is replaced: `{}` goes up to its own `warmup_max_lr`, which is 0.001 where it is not given", {tree_[rate].text, std::string(tree_.Text(type))}},
           {"give `warmup_max_lr` of {} to the scheduler", {tree_[rate].text}});
    AddNote(sink_.back(), tree_[type].span, {"the scheduler", {}});
    sink_.back().is_in_preview = true;
  }

  // `stage3_max_live_parameters`: whoever keeps it in a configuration of stage 2 can read that it is for another one.
  static bool NamesItsStage(const launch::KeyEntry& entry) {
    const size_t begin = entry.path.rfind('.') + 1;
    return std::ranges::any_of(entry.stages, [&](int64_t stage) { return entry.path.compare(begin, 7, "stage" + std::to_string(stage) + "_") == 0; });
  }

  // Keys that only another stage reads: one finding for all of them. At stage 0 all of it is off.
  void CheckStage(ConfigId zero) {
    const std::optional<int64_t> stage = tree_.Integer(tree_.Member(zero, "stage"));
    if (!stage || *stage < 1 || *stage > 3) return;
    std::vector<ConfigId> unread;
    for (const ConfigId child : tree_[zero].children) {
      const launch::KeyEntry* entry = table_.Find("zero_optimization." + tree_[child].key);
      const bool is_of_others = entry != nullptr && !entry->stages.empty() && std::ranges::count(entry->stages, *stage) == 0;
      // What is off would change nothing.
      const bool is_off = tree_.Boolean(child) == false || (is_of_others && !entry->off.empty() && tree_[child].text == entry->off);
      if (is_of_others && !is_off && !NamesItsStage(*entry)) unread.push_back(child);
    }
    if (unread.empty()) return;
    const ConfigNode& first = tree_[unread[0]];
    const int64_t other = table_.Find("zero_optimization." + first.key)->stages.front();
    const std::string more = unread.size() == 1 ? "" : " (and " + std::to_string(unread.size() - 1) + " more)";
    Report(Severity::Info, Confidence::Certain, first.key_span,
           {"`{}`{} has no effect at stage {}: only stage {} reads it", {first.key, more, std::to_string(*stage), std::to_string(other)}},
           {"use stage {}, if that is what was meant", {std::to_string(other)}});
    AddNote(sink_.back(), tree_[tree_.Member(zero, "stage")].span, {"the stage", {}});
  }

  const launch::ConfigTable& table_;
  const launch::ConfigTree& tree_;
  ConfigId root_;
  bool is_named_;
  bool refuses_ = true;  // keys that it does not know in closed maps
  FindingSink& sink_;
};

// DeepSpeed refuses a key that a map has twice; the Trainer of transformers reads the file itself, and takes the last one.
void CheckTwice(const launch::ConfigTree& tree, FindingSink& sink) {
  for (uint32_t i = 0; i < tree.size(); ++i) {
    if (tree[ConfigId{i}].kind != ConfigKind::Map) continue;
    std::map<std::string_view, ConfigId> seen;
    for (const ConfigId child : tree[ConfigId{i}].children) {
      const auto [first, is_new] = seen.try_emplace(tree[child].key, child);
      if (is_new) continue;
      sink.push_back(LaunchFinding(kAR703, Severity::Error, Confidence::Likely, tree[child].key_span,
                                   {"`{}` stands here twice: DeepSpeed refuses the file, and other readers take the last one", {tree[child].key}}));
      AddNote(sink.back(), tree[first->second].key_span, {"the first one", {}});
    }
  }
}

// The files that jobs and configurations of Accelerate hand to DeepSpeed.
std::set<source::FileId> NamedFiles(const launch::Launches& launches) {
  std::set<source::FileId> named;
  const auto add = [&](const LaunchFile& from, const Word& path) {
    const LaunchFile* file = launches.FileNamed(from, path);
    if (file != nullptr && !file->tree.empty()) named.insert(file->file);
  };
  for (const LaunchFile& file : launches.files) {
    const ConfigId path = file.tree.Find(file.tree.root(), "deepspeed_config.deepspeed_config_file");
    if (path) add(file, Word(launch::Piece{.text = file.tree[path].text, .origin = file.tree[path].span}));
    for (const Job& job : file.jobs) {
      if (const std::optional<GivenArgument> config = GivenArgumentOf(job, {"--deepspeed", "--deepspeed_config"})) add(file, config->value);
      for (const Layer& layer : job.layers) {
        if (const Option* option = layer.Find("deepspeed_config")) add(file, option->value);
      }
    }
  }
  return named;
}

// Whether a map is a configuration of DeepSpeed: it has a section that nobody else has.
bool IsDeepSpeed(const launch::ConfigTree& tree, ConfigId map, const launch::ConfigTable& table) {
  if (!map || tree[map].kind != ConfigKind::Map) return false;
  const ConfigId zero = tree.Member(map, "zero_optimization");
  if (zero && tree[zero].kind == ConfigKind::Map) return true;
  return std::ranges::any_of(table.marks, [&](const std::string& mark) { return mark != "zero_optimization" && tree.Member(map, mark); }) &&
         (tree.Member(map, "fp16") || tree.Member(map, "bf16") || tree.Member(map, "optimizer"));
}

// Accelerate writes an empty section for other types. An option of the command counts more than the type.
void CheckIsUsed(const LaunchContext& context, const launch::ConfigTree& tree, ConfigId section, ConfigId type, FindingSink& sink) {
  const std::string& text = tree[type].text;
  const bool is_plain = !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
  if (!is_plain || text == "DEEPSPEED" || tree[section].children.empty()) return;
  const bool is_asked_for = std::ranges::any_of(context.launches.files, [](const LaunchFile& file) {
    return std::ranges::any_of(file.jobs, [](const Job& job) { return job.innermost().Find("use_deepspeed") != nullptr; });
  });
  if (is_asked_for) return;
  sink.push_back(LaunchFinding(kAR703, Severity::Error, Confidence::Likely, tree[section].key_span,
                               {"`deepspeed_config` is not read where `distributed_type` is `{}`: Accelerate leaves DeepSpeed off", {text}}));
  AddNote(sink.back(), tree[type].span, {"the type", {}});
  sink.back().help = {"write `distributed_type: DEEPSPEED`", {}};
}

// The section of a configuration of Accelerate, which passes it on.
void CheckSection(const LaunchContext& context, const launch::ConfigTree& tree, FindingSink& sink) {
  const ConfigId section = tree.Member(tree.root(), "deepspeed_config");
  const ConfigId type = tree.Member(tree.root(), "distributed_type");
  if (!section || tree[section].kind != ConfigKind::Map || !type) return;
  CheckIsUsed(context, tree, section, type, sink);
  CheckOffload(tree, {.stage = tree.Member(section, "zero_stage"), .parameters = tree.Member(section, "offload_param_device"),
                      .optimizer = tree.Member(section, "offload_optimizer_device")}, sink);
}

void CheckInvalidZeroConfig(const LaunchContext& context, FindingSink& sink) {
  const launch::ConfigTable* table = context.launches.tables.FindConfig("deepspeed");
  if (table == nullptr) return;
  const std::set<source::FileId> named = NamedFiles(context.launches);
  for (const LaunchFile& file : context.launches.files) {
    if (file.kind != launch::FileKind::Json && file.kind != launch::FileKind::Yaml) continue;
    const bool is_named = named.contains(file.file) && file.tree[file.tree.root()].kind == ConfigKind::Map;
    if (is_named || IsDeepSpeed(file.tree, file.tree.root(), *table)) {
      ConfigCheck(*table, file.tree, file.tree.root(), is_named, context.launches.pins.DeepSpeedFor(file.path), sink).Run();
      if (file.kind == launch::FileKind::Json) CheckTwice(file.tree, sink);
    }
    CheckSection(context, file.tree, sink);
  }
  CheckBatchOfJobs(context, sink);
}

// Where programs hand over a configuration.
struct ConfigArgument {
  std::string_view call;
  std::string_view param;
};
constexpr std::array<ConfigArgument, 3> kArguments = {{{"deepspeed.initialize", "config"},
                                                       {"deepspeed.initialize", "config_params"},
                                                       {"transformers.TrainingArguments.__init__", "deepspeed"}}};

// A file that only the program names: what looks like a configuration of DeepSpeed is looked at as a file.
void CheckNamed(const Context& context, const launch::ConfigTable& table, const LaunchFile* file, FindingSink& sink) {
  if (file == nullptr || file->kind != launch::FileKind::Json || file->tree.empty() || file->tree[file->tree.root()].kind != ConfigKind::Map) return;
  const bool is_seen = IsDeepSpeed(file->tree, file->tree.root(), table) || NamedFiles(context.launches).contains(file->file);
  if (!is_seen) ConfigCheck(table, file->tree, file->tree.root(), true, context.launches.pins.DeepSpeedFor(file->path), sink).Run();
}

void CheckProgram(const Context& context, FindingSink& sink) {
  const launch::ConfigTable* table = context.launches.tables.FindConfig("deepspeed");
  if (table == nullptr) return;
  for (const objects::KnownCall& call : context.index.known_calls()) {
    for (const ConfigArgument& argument : kArguments) {
      if (context.program.text(call.entry->name) != argument.call) continue;
      const ir::ModuleId module = context.program.funcs[call.function].module;
      const std::optional<launch::ConfigTree> tree = DictConfig(context, module, context.index.Arg(call, argument.param));
      const std::string& path = context.program.infos[module].path;
      if (tree && !tree->empty()) ConfigCheck(*table, *tree, tree->root(), true, context.launches.pins.DeepSpeedFor(path), sink).Run();
      CheckNamed(context, *table, NamedConfig(context, module, context.index.Arg(call, argument.param)), sink);
    }
  }
}

}  // namespace

extern const Rule InvalidZeroConfig = {
    .code = kAR703,
    .name = "invalid-zero-config",
    .severity = Severity::Error,
    .preview_in_part = "rates that a schedule of warmup replaces: too few of such findings were read so far",
    .languages = "launch files, Python",
    .summary = "configuration of DeepSpeed that cannot work, or says what nobody reads",
    .explanation = R"md(
## What it finds

In the JSON or YAML of a DeepSpeed configuration (known by its sections, or because a command or a program
names the file), in a dict that a program hands to `deepspeed.initialize` or to `TrainingArguments`, and in
the `deepspeed_config` of a configuration of Accelerate, whose `distributed_type` has to be `DEEPSPEED`:
offloading of parameters below stage 3 and of the optimizer at stage 0. In all but the last also `fp16` and
`bf16` both on, a `train_batch_size` that no number of ranks gives, keys that DeepSpeed does not have,
deprecated keys, values of the wrong type, keys of a section that stand outside of it, `zero_optimization` in
a section that DeepSpeed does not have, devices of offloading that do not exist, NVMe without a path, keys
that a map of JSON has twice, and keys that only another stage of ZeRO reads. And an `lr` of the optimizer
beside `WarmupLR` or `WarmupDecayLR` without a `warmup_max_lr`: they set the rate to theirs, which is 0.001.

Where a command names the file and says how many ranks it starts, also a `train_batch_size` that these ranks
do not give.

## Why it hurts

Some of it ends the job at its start, after the wait in the queue. The rest is worse: a misspelt key
outside of `zero_optimization` is ignored without a word, and a job that was to offload runs out of
memory instead.

## Wrong

```json
{"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}
```

## Right

```json
{"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}
```

## When it is silent

* Values of a dict that are no constants, and a dict that is filled later.
* Unknown keys of `zero_optimization` where the project pins a DeepSpeed before 0.7.0, which ignores them.
* Keys at the top that their section has as well.
* Keys whose name says the stage that reads them, `stage3_...`, under another one.
* `"auto"`, templates, and files that are no configuration of DeepSpeed.
* Commands of which it is not known how many ranks they start, or whose arguments or configuration speak of
  tensor, pipeline or sequence parallelism: then not every rank has a batch of its own.
* Unknown keys at the top that resemble no key of DeepSpeed: other tools keep theirs there.

## Fix

There is none: what was meant is yours to say.

## Proof

There is nothing to replay: DeepSpeed refuses, or ignores.
)md",
    .check = CheckProgram,
    .check_launch = CheckInvalidZeroConfig};

}  // namespace allranks::rules
