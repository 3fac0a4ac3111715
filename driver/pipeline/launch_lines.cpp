#include "driver/pipeline/launch_lines.h"

#include <algorithm>
#include <cctype>

#include "analyzer/base/folder.h"
#include "analyzer/base/lowered.h"
#include "analyzer/knowledge/spelling.h"
#include "rules/launch/job_facts.h"

namespace allranks::pipeline {
namespace {

bool StartsRanks(const launch::Job& job) {
  return job.has_cluster || std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; });
}

// `CUDA_VISIBLE_DEVICES=0 torchrun --nproc_per_node 1`: told twice that it is one.
bool SeesOneDevice(const launch::Job& job) {
  const auto devices = rules::DevicesOf(job);
  return devices && devices->numbers.size() == 1;
}

// `srun python train.py` below `#SBATCH --ntasks=1`: a step starts as many tasks as the script that it stands in asks for, and that is one
// where neither says a number.
bool IsStepOfOne(const launch::Job& job, const launch::Layer& step) {
  if (!job.allocation || step.HidesOptions() || job.allocation->HidesOptions()) return false;
  const auto said = [&](std::string_view means) { return step.Find(means) != nullptr ? step.Find(means) : job.allocation->Find(means); };
  const auto is_one = [&](std::string_view means) { return said(means) == nullptr || said(means)->value.Number() == 1; };
  if (!is_one("nodes")) return false;
  if (said("processes") != nullptr) return is_one("processes");
  // `--gpus=8 --gpus-per-task=1`
  return is_one("processes_per_node") && is_one("processes_per_device") && said("devices_per_process") == nullptr;
}

// The only layer that starts processes is told to start one.
bool IsJobOfOne(const launch::Job& job) {
  if (job.has_cluster || std::ranges::count_if(job.layers, [](const launch::Layer& layer) { return layer.launcher->is_job; }) != 1) return false;
  const auto layer = std::ranges::find_if(job.layers, [](const launch::Layer& each) { return each.launcher->is_job; });
  // `deepspeed --include=localhost:0`: a process for each of the devices that it names.
  if (layer->Find("include") != nullptr) return SeesOneDevice(job);
  if (layer->launcher->name == "srun" && IsStepOfOne(job, *layer)) return true;
  const std::optional<int64_t> processes = layer->Find("processes") != nullptr ? layer->Number("processes") : layer->Number("processes_per_node");
  const bool is_one_node = layer->Find("nodes") == nullptr || layer->Number("nodes") == 1;
  return processes == 1 && is_one_node;
}

// `#SBATCH --gres=gpu:1`: a program that starts a rank a device starts one of them. What a command chooses by CUDA_VISIBLE_DEVICES is an
// example as a rule, and says nothing of how many there may be.
bool HasOneDevice(const launch::Job& job) {
  if (rules::DevicesOfNode(job).value != 1) return false;
  const auto asks_for_one = [&](std::string_view what) {
    const launch::Option* option = job.allocation ? job.allocation->Find(what) : nullptr;
    return option == nullptr || option->value.Number() == 1;
  };
  return asks_for_one("nodes") && asks_for_one("processes") && asks_for_one("processes_per_node");
}

// The innermost layer that starts the processes of a job; nullptr: none does.
const launch::Layer* LauncherOf(const launch::Job& job) {
  const auto launcher = std::ranges::find_if(job.layers.rbegin(), job.layers.rend(), [](const launch::Layer& layer) { return layer.launcher->is_job; });
  return launcher == job.layers.rend() ? nullptr : &*launcher;
}

// `srun --gpus-per-task=1`, `mpirun bash -c 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK python train.py'`.
bool HaveOwnDevices(const launch::Job& job) {
  const launch::Layer* step = job.Find("srun");
  const launch::Option* of_script = step != nullptr && job.allocation ? job.allocation->Find("devices_per_process") : nullptr;
  if (step != nullptr && (step->Number("devices_per_process") == 1 || (of_script != nullptr && of_script->value.Number() == 1))) return true;
  const launch::Layer* launcher = LauncherOf(job);
  const launch::Setting* visible = job.Env("CUDA_VISIBLE_DEVICES");
  const bool is_of_process = visible != nullptr && launcher != nullptr && visible->span.begin >= launcher->word.span().end;
  return is_of_process && !visible->value.IsKnown() && visible->value.text().find(',') == std::string::npos;
}

constexpr int64_t kSeveral = 2;

// Of a step of the scheduler: what it says itself, or else the script that it stands in. 0: neither says it.
int64_t NodesOfStep(const launch::Job& job) {
  const launch::Layer* step = job.Find("srun");
  if (step == nullptr) return 0;
  if (step->Find("nodes") != nullptr) return step->Number("nodes").value_or(kSeveral);
  const bool may_be_fewer = step->Find("processes") != nullptr || step->Find("hosts") != nullptr;
  if (may_be_fewer || !job.allocation || job.allocation->Find("nodes") == nullptr) return 0;
  return job.allocation->Number("nodes").value_or(kSeveral);
}

// By a file of hosts that has several, and of which more than the first is needed. One host is what somebody tried it on. 0: not known.
int64_t NodesOfHosts(const launch::Layer& agent) {
  if (!agent.hosts || agent.hosts->hosts.size() < 2 || agent.Find("include") != nullptr || agent.Find("exclude") != nullptr) return 0;
  const std::optional<int64_t> processes = agent.Number("processes");
  const std::optional<int64_t> slots = agent.hosts->hosts.front().slots;
  const bool is_first_enough = processes && slots && *processes <= *slots;
  return is_first_enough ? 0 : static_cast<int64_t>(agent.hosts->hosts.size());
}

// `-H a:8,b:8`: as many as are needed, the first ones first. 0: not known, or the first is enough.
int64_t NodesOfList(const launch::Layer& agent) {
  const launch::Option* hosts = agent.Find("hosts");
  if (hosts == nullptr || !hosts->value.IsKnown()) return 0;
  const std::optional<int64_t> processes = agent.Number("processes");
  const std::string& text = hosts->value.text();
  int64_t nodes = 0, slots = 0;
  for (size_t at = 0; at < text.size() && (!processes || nodes == 0 || slots < *processes); ++nodes) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const size_t colon = text.find(':', at);
    // A host of which no slots are told has one.
    slots += colon < comma ? hosts->value.Between(colon + 1, comma).Number().value_or(1) : 1;
    at = comma + 1;
  }
  return nodes > 1 ? nodes : 0;
}

// `-np 16 -N 8`: more processes than a node gets.
int64_t NodesOfShares(const launch::Layer& agent) {
  const std::optional<int64_t> processes = agent.Number("processes"), of_node = agent.Number("processes_per_node");
  if (!processes || !of_node || *of_node <= 0 || *processes <= *of_node) return 0;
  return (*processes + *of_node - 1) / *of_node;
}

// Of a launcher that starts the processes of all nodes. 0: it says nothing.
int64_t NodesOfLauncher(const launch::Job& job) {
  const launch::Layer* launcher = LauncherOf(job);
  if (launcher == nullptr) return 0;
  const int64_t listed = NodesOfList(*launcher);
  return listed > 0 ? listed : NodesOfShares(*launcher);
}

// torchrun starts one node unless it is told of more; others ask a configuration, or are one of several themselves. A number that stands
// in a variable is meant to be another one some day.
int64_t NodesOf(const launch::Job& job) {
  const launch::Layer& agent = job.innermost();
  const bool is_alone = job.layers.size() == 1 && !job.is_remote && !job.has_cluster && !job.allocation;
  const bool is_hidden = std::ranges::any_of(agent.options, [](const launch::Option& option) { return option.means == "unknown" || (!option.is_known && !option.word.IsKnown()); });
  if (agent.Find("nodes") != nullptr) return agent.Number("nodes").value_or(kSeveral);
  if (const int64_t hosts = NodesOfHosts(agent); hosts > 0) return hosts;
  if (const int64_t said = NodesOfLauncher(job); said > 0) return said;
  const bool is_torch = agent.launcher->name == "torchrun" || agent.launcher->name == "torch.distributed.launch";
  if (is_alone && is_torch && !is_hidden) return 1;
  // Each task is a rank where no other launcher stands between.
  return agent.launcher->is_job && agent.launcher->name != "srun" ? 0 : NodesOfStep(job);
}

// `--kill-on-bad-exit`, `-K 1`, `--kill-on-bad-exit=0`.
bool IsToldToEndOthers(const launch::Layer& layer) {
  const launch::Option* option = layer.Find("ends_others");
  return option != nullptr && option->value.Number() != 0;
}

// When a rank ends with an error: each node has a launcher that ends its own, or the scheduler starts the ranks and goes on with the others.
bool LeavesOthers(const launch::Job& job) {
  const bool ends_job = std::ranges::any_of(job.layers, [](const launch::Layer& layer) { return layer.launcher->ends_others == "job" || IsToldToEndOthers(layer); });
  const launch::Setting* setting = job.Env("SLURM_KILL_BAD_EXIT");
  if (ends_job || (setting != nullptr && setting->value.Number() != 0)) return false;
  const launch::Layer* agent = LauncherOf(job);
  if (agent == nullptr) return false;
  return agent->launcher->ends_others == "node" ? NodesOf(job) > 1 : agent->launcher->name == "srun";
}

constexpr int64_t kMostRanks = 1 << 20;

// A number that is written in the file; 0: none is, or whoever starts the job may choose another one.
int64_t WrittenIn(const launch::Layer& layer, std::string_view means) {
  const launch::Option* option = layer.Find(means);
  if (option == nullptr || option->value.sureness() != launch::Sureness::Written) return 0;
  return std::max<int64_t>(option->value.Number().value_or(0), 0);
}

// The ranks of all nodes. A launcher that counts those of a node starts one node unless it, or the scheduler, says of more.
int64_t RanksOf(const launch::Job& job) {
  const launch::Layer* inner = LauncherOf(job);
  if (inner == nullptr || job.is_remote || job.has_cluster) return 0;
  if (inner->HidesOptions()) return 0;
  // `deepspeed --include=localhost:0,1`: a rank for each of the devices that it names.
  if (inner->Find("include") != nullptr) {
    const std::optional<rules::Devices> devices = rules::DevicesOf(job);
    return devices && devices->said.sureness == launch::Sureness::Written ? static_cast<int64_t>(devices->numbers.size()) : 0;
  }
  if (const int64_t all = WrittenIn(*inner, "processes"); all > 0) return all < kMostRanks ? all : 0;
  const bool is_alone = &job.layers.front() == inner && !job.allocation && inner->Find("hostfile") == nullptr;
  const int64_t nodes = inner->Find("nodes") != nullptr ? WrittenIn(*inner, "nodes") : is_alone ? 1 : 0;
  const int64_t of_node = WrittenIn(*inner, "processes_per_node");
  return nodes < kMostRanks && of_node < kMostRanks && nodes * of_node < kMostRanks ? nodes * of_node : 0;
}

// What options of the launcher say; empty: nothing.
std::string StrategyOf(const launch::Job& job) {
  constexpr std::pair<std::string_view, const char*> kMeanings[] = {
      {"use_deepspeed", "DEEPSPEED"}, {"deepspeed_config", "DEEPSPEED"}, {"zero_stage", "DEEPSPEED"}, {"use_fsdp", "FSDP"}, {"multi_gpu", "MULTI_GPU"}};
  for (const auto& [meaning, strategy] : kMeanings) {
    if (job.innermost().Find(meaning) != nullptr) return strategy;
  }
  return "";
}

std::vector<objects::GivenOption> OptionsOf(const launch::Job& job) {
  std::vector<objects::GivenOption> options;
  for (size_t i = 0; i < job.args.size(); ++i) {
    const std::string& text = job.args[i].text();
    const size_t equals = text.find('=');
    // `trainer.devices=4` and `~trainer.devices`, as Hydra and OmegaConf take settings.
    const bool is_setting = (equals != std::string::npos && equals > 0 && !text.starts_with('-')) || (text.starts_with('~') && !text.starts_with("~/"));
    if (!launch::IsArgumentName(text) && !is_setting) continue;
    objects::GivenOption& option = options.emplace_back();
    option.name = text.substr(0, equals);
    const launch::Word value = launch::ValueOf(job.args, i);
    if (!value.empty() && value.IsKnown()) option.value = value.text();
  }
  return options;
}

// `export` of `python run.py export --out model.pt`.
objects::GivenOption FirstWordOf(const launch::Job& job) {
  if (job.args.empty() || !job.args[0].IsKnown() || job.args[0].text().starts_with('-')) return {};
  return {.name = "", .value = job.args[0].text()};
}

std::optional<int64_t> StageIn(const launch::LaunchFile& file) {
  if (file.tree.empty()) return std::nullopt;
  return file.tree.Integer(file.tree.Find(file.tree.root(), "zero_optimization.stage"));
}

// The stage that a configuration of Accelerate says, or the one of DeepSpeed that it names.
std::optional<int64_t> StageOf(const launch::Launches& launches, const launch::LaunchFile& file) {
  const launch::ConfigId root = file.tree.root();
  if (const std::optional<int64_t> stage = file.tree.Integer(file.tree.Find(root, "deepspeed_config.zero_stage"))) return stage;
  const launch::ConfigId named = file.tree.Find(root, "deepspeed_config.deepspeed_config_file");
  if (!named) return std::nullopt;
  const launch::LaunchFile* config = launches.FileNamed(file.path, file.tree.Text(named));
  return config == nullptr ? std::nullopt : StageIn(*config);
}

// A configuration of Accelerate, or of DeepSpeed itself.
std::string StrategyIn(const launch::Launches& launches, const launch::LaunchFile& file) {
  if (file.tree.empty()) return "";
  const launch::ConfigId root = file.tree.root();
  if (StageIn(file) == 3) return "DEEPSPEED ZERO-3";
  const launch::ConfigId type = file.tree.Member(root, "distributed_type");
  const std::string strategy = type ? std::string(file.tree.Text(type)) : "";
  const std::optional<int64_t> stage = StageOf(launches, file);
  if (strategy != "DEEPSPEED" || !stage) return strategy;
  return *stage == 3 ? "DEEPSPEED ZERO-3" : "DEEPSPEED ZERO-2";
}

// "pkg.eval" of `python -m pkg.eval` as a path.
std::string PathOf(const launch::Job& job) {
  std::string path = job.script.text();
  if (!job.is_module) return Normalized(path);
  std::ranges::replace(path, '.', '/');
  return path + ".py";
}

// "train.py" of `$ROOT/train.py`; empty: that is not known.
std::string KnownNameOf(const launch::Job& job) {
  const std::string path = PathOf(job);
  const std::string_view name = NameOf(path);
  return name.find(launch::kUnknownPart) == std::string_view::npos ? std::string(name) : std::string();
}

// `train.py`, `tools/train.py`: a path from the folder in which the command is run.
bool IsPlainPath(const launch::Job& job) {
  const std::string& path = job.script.text();
  const bool is_of_here = !job.is_module && !job.is_remote && job.script.IsKnown() && !job.script.IsBelowOwnFolder();
  return is_of_here && path.ends_with(".py") && !path.starts_with('/') && !path.starts_with('~') && !path.starts_with("..");
}

// A script whose paths all go on from the folder in which it is started, where nothing is brought.
bool KeepsFolder(const launch::LaunchFile& file) { return file.kind == launch::FileKind::Shell && !file.brings_files && !file.changes_folder; }

// The one path that is wanted; none if there are several.
template <class IsWanted>
std::string_view OnlyOne(const std::vector<std::string_view>& paths, IsWanted is_wanted) {
  std::string_view only;
  for (const std::string_view path : paths) {
    if (!is_wanted(path)) continue;
    if (!only.empty()) return {};
    only = path;
  }
  return only;
}

}  // namespace

LaunchLineReader::LaunchLineReader(const std::vector<std::string>& code, std::string root) : root_(std::move(root)) {
  for (const std::string& path : code) {
    by_name_[NameOf(path)].push_back(path);
    if (path.ends_with(".py")) by_folder_[DirectoryOf(path)].push_back(NameOf(path));
  }
}

void LaunchLineReader::Resolve(launch::LaunchFile& file) const {
  const std::string folder(DirectoryOf(file.path));
  for (launch::Job& job : file.jobs) {
    if (job.script.empty() || !job.script.IsKnown() || IsElsewhere(job.cloned)) continue;
    job.script_path = FileOf(job, folder);
    if (file.kind == launch::FileKind::Markdown && MayBeBelow(job, folder)) job.script_path.clear();
    if (file.brings_files) continue;
    // Of the scripts of a folder without code nothing is known.
    // Of several files of the name none is known to be meant.
    job.is_script_nowhere = !by_folder_.empty() && !job.is_module && job.script.text().ends_with(".py") && job.script_path.empty();
    // `cd ../other; torchrun train.py`: of a folder that is not followed.
    if (file.changes_folder && job.script_path.empty() && job.script.text().find('/') == std::string_view::npos) continue;
    job.nearest_script = job.script_path.empty() ? NearestTo(job, folder) : std::string();
    if (job.nearest_script.empty()) job.nearest_script = MovedTo(job, folder);
    // A page may tell of what is still to be written.
    const bool is_page = file.kind == launch::FileKind::Markdown;
    if (!is_page && job.script_path.empty() && job.nearest_script.empty()) job.missing_in = MissingIn(job, folder);
  }
  if (file.kind == launch::FileKind::Shell && !file.brings_files && !file.changes_folder) NoteSiblings(file);
}

// By the name of its folder, as `git clone` makes it, also where the owner stands before it (`owner+name`); or by a folder in it: a fork, or
// a copy that it holds.
bool LaunchLineReader::IsThis(std::string_view repository) const {
  const std::string name = base::Lowered(repository);
  const std::string root = base::Lowered(root_);
  const bool is_separate = root.size() <= name.size() || std::isalnum(static_cast<unsigned char>(root[root.size() - name.size() - 1])) == 0;
  if (root.ends_with(name) && is_separate) return true;
  return std::ranges::any_of(by_folder_, [&](const auto& folder) { return ("/" + base::Lowered(folder.first) + "/").find("/" + name + "/") != std::string::npos; });
}

// A script that names another one which lies beside it is started in its own folder: what it names without a folder lies there, too.
void LaunchLineReader::NoteSiblings(launch::LaunchFile& file) const {
  const std::string folder(DirectoryOf(file.path));
  if (folder.empty()) return;
  const auto beside = by_folder_.find(folder);
  if (beside == by_folder_.end()) return;
  const auto is_plain = [](const launch::Job& job) {
    return !job.is_module && !job.is_remote && job.script.IsKnown() && job.script.text().ends_with(".py") && job.script.text().find('/') == std::string::npos;
  };
  const auto lies_beside = [&](const launch::Job& job) { return std::ranges::count(beside->second, std::string_view(job.script.text())) > 0; };
  const auto sibling = std::ranges::find_if(file.jobs, [&](const launch::Job& job) { return is_plain(job) && lies_beside(job); });
  if (sibling == file.jobs.end()) return;
  for (launch::Job& job : file.jobs) {
    if (is_plain(job) && !lies_beside(job) && job.nearest_script.empty()) job.sibling_script = sibling->script.text();
  }
}

// The path goes on from the folder of the file, or from one above it but for the root.
bool LaunchLineReader::LiesBelowRoot(const launch::Job& job, std::string_view folder) const {
  for (std::string_view above = folder; !above.empty(); above = base::FolderOf(above)) {
    if (!FileAt(Normalized(Join(std::string(above), job.script.text()))).empty()) return true;
  }
  return false;
}

bool LaunchLineReader::StartsFromRoot(const launch::LaunchFile& file) const {
  const std::string_view folder = DirectoryOf(file.path);
  bool is_in_root = false;
  if (!KeepsFolder(file) || folder.empty()) return false;
  for (const launch::Job& job : file.jobs) {
    if (!IsPlainPath(job) || IsElsewhere(job.cloned)) continue;
    if (LiesBelowRoot(job, folder)) return false;
    is_in_root = is_in_root || !FileAt(PathOf(job)).empty();
  }
  return is_in_root;
}

// The scripts of a folder are started from one place. Where they start files of the root and none that lie beside them, that is the root.
void LaunchLineReader::NoteStartedFromRoot(std::vector<launch::LaunchFile>& files) const {
  struct Shown {
    // One that they start.
    std::string_view in_root;
    bool is_elsewhere = false;
  };
  std::unordered_map<std::string_view, Shown> shown;
  const auto each_job = [&](auto take) {
    for (launch::LaunchFile& file : files) {
      const std::string_view folder = DirectoryOf(file.path);
      if (!KeepsFolder(file) || folder.empty()) continue;
      for (launch::Job& job : file.jobs) {
        if (IsPlainPath(job) && !IsElsewhere(job.cloned)) take(job, folder);
      }
    }
  };
  each_job([&](const launch::Job& job, std::string_view folder) {
    if (LiesBelowRoot(job, folder)) shown[folder].is_elsewhere = true;
    else if (const std::string_view in_root = FileAt(PathOf(job)); !in_root.empty()) shown[folder].in_root = in_root;
  });
  each_job([&](launch::Job& job, std::string_view folder) {
    const Shown& of_folder = shown[folder];
    const std::string path = PathOf(job);
    const bool is_known = !of_folder.in_root.empty() && !of_folder.is_elsewhere && by_folder_.contains(DirectoryOf(path));
    if (is_known && FileAt(path).empty()) job.root_script = of_folder.in_root;
  });
}

void LaunchLineReader::Add(const launch::LaunchFile& file, objects::LaunchLines& lines) {
  for (const launch::Job& job : file.jobs) {
    if (job.script.empty()) continue;
    const bool is_job_of_one = IsJobOfOne(job);
    const bool starts_ranks = StartsRanks(job) && !is_job_of_one;
    // Somebody else may start one of these on each machine.
    if (!starts_ranks && job.is_remote) continue;
    const std::string folder(DirectoryOf(file.path));
    const std::string& path = job.script_path;
    NoteConfig(job, folder, path.empty() ? std::nullopt : std::optional(lines.size()));
    if (path.empty()) {
      if (starts_ranks && MayBeOfProject(job)) {
        lines.push_back({.path = "", .starts_ranks = true, .strategy = "", .leaves_others = LeavesOthers(job), .options = OptionsOf(job), .first_word = FirstWordOf(job),
                         .unknown_below = ReachOf(folder), .unknown_name = KnownNameOf(job)});
      }
      continue;
    }
    const bool has_one_device = is_job_of_one ? SeesOneDevice(job) : !StartsRanks(job) && HasOneDevice(job);
    lines.push_back({.path = path, .starts_ranks = starts_ranks, .is_job_of_one = is_job_of_one, .has_one_device = has_one_device, .has_own_devices = HaveOwnDevices(job),
                     .strategy = StrategyOf(job), .leaves_others = LeavesOthers(job), .nodes = NodesOf(job), .ranks = RanksOf(job), .place = job.innermost().span, .options = OptionsOf(job), .first_word = FirstWordOf(job), .unknown_below = {}, .unknown_name = {}});
  }
}

void LaunchLineReader::NoteConfig(const launch::Job& job, const std::string& folder, std::optional<size_t> line) {
  const launch::Option* config = job.innermost().Find("config_file");
  if (config == nullptr || !config->value.IsKnown()) return;
  const std::string name = config->value.text();
  const bool takes_ranks = !job.is_remote && !job.has_cluster && !job.innermost().HidesOptions() && job.innermost().Find("processes") == nullptr;
  configured_.push_back({line, {Normalized(Join(folder, name)), Normalized(name)}, takes_ranks});
}

void LaunchLineReader::Finish(const launch::Launches& launches, objects::LaunchLines& lines) const {
  for (const launch::LaunchFile& file : launches.files) {
    const std::string strategy = StrategyIn(launches, file);
    if (strategy.empty()) continue;
    const auto names_it = [&](const Configured& line) { return std::ranges::count(line.paths, file.path) > 0; };
    lines.push_back({.path = "", .starts_ranks = true, .is_of_lines = std::ranges::any_of(configured_, names_it), .configuration = file.path, .strategy = strategy,
                     .options = {}, .unknown_below = {}, .unknown_name = {}});
    const auto number_of = [&](std::string_view key) { return file.tree.Integer(file.tree.Member(file.tree.root(), key)); };
    const int64_t processes = number_of("num_processes").value_or(0);
    const bool is_of_one = processes == 1 && number_of("num_machines").value_or(1) == 1;
    for (const Configured& line : configured_) {
      if (!line.line || !names_it(line)) continue;
      objects::LaunchLine& configured = lines[*line.line];
      if (configured.strategy.empty()) configured.strategy = strategy;
      if (line.takes_ranks && processes > 0 && processes <= kMostRanks) configured.ranks = processes;
      if (strategy != "NO" && !(line.takes_ranks && is_of_one)) continue;
      configured.starts_ranks = false;
      configured.is_job_of_one = true;
    }
  }
}

bool LaunchLineReader::MayBeOfProject(const launch::Job& job) const { return !job.script.IsKnown() || by_name_.contains(NameOf(PathOf(job))); }

// A folder of scripts starts what lies beside it, too.
std::string LaunchLineReader::ReachOf(const std::string& folder) const {
  const std::string reach(by_folder_.contains(folder) ? std::string_view(folder) : DirectoryOf(folder));
  return reach.empty() ? objects::kRootFolder : reach;
}

std::string_view LaunchLineReader::FileOf(const launch::Job& job, std::string_view folder) const {
  const std::string script = PathOf(job);
  if (job.script.IsBelowOwnFolder()) return FileAt(Normalized(Join(std::string(folder), script)));
  std::string_view file = FileOf(script, folder);
  // `python -m package` runs the file that makes a package a program.
  if (file.empty() && job.is_module) file = FileOf(script.substr(0, script.size() - 3) + "/__main__.py", folder);
  const bool is_of_project = !job.is_module && !script.starts_with('/') && !script.starts_with('~');
  return file.empty() && is_of_project ? OnlyBelow(folder, NameOf(script)) : file;
}

// `main.py` on the page of a folder that has none itself, where the root has one and a folder below the page has another.
bool LaunchLineReader::MayBeBelow(const launch::Job& job, std::string_view folder) const {
  if (folder.empty() || job.script_path.empty() || job.script_path != job.script.text() || base::IsBelow(job.script_path, folder)) return false;
  return std::ranges::any_of(by_name_.find(NameOf(job.script_path))->second, [&](std::string_view path) { return base::IsBelow(path, folder); });
}

// A page that was not kept up with folders that were renamed, or that has the reader change into another one first.
std::string_view LaunchLineReader::OnlyBelow(std::string_view folder, std::string_view name) const {
  const auto named = by_name_.find(name);
  if (named == by_name_.end()) return {};
  return OnlyOne(named->second, [&](std::string_view path) { return base::IsBelow(path, folder); });
}

std::string_view LaunchLineReader::FileOf(const std::string& script, std::string_view folder) const {
  for (const std::string& path : {Normalized(Join(std::string(folder), script)), script}) {
    if (const std::string_view found = FileAt(path); !found.empty()) return found;
  }
  const auto named = by_name_.find(NameOf(script));
  return named == by_name_.end() ? std::string_view() : OnlyOne(named->second, [&](std::string_view path) { return path.ends_with("/" + script); });
}

std::string_view LaunchLineReader::FileAt(const std::string& path) const {
  const auto named = by_name_.find(NameOf(path));
  if (named == by_name_.end()) return {};
  const auto found = std::ranges::find(named->second, path);
  return found == named->second.end() ? std::string_view() : *found;
}

// A script in a folder of the project that has other scripts, one of which has nearly its name, while no file of the project has it.
std::string LaunchLineReader::NearestTo(const launch::Job& job, std::string_view folder) const {
  const std::string script = PathOf(job);
  const std::string_view name = NameOf(script);
  if (!name.ends_with(".py") || script.starts_with("/") || script.starts_with("~") || by_name_.contains(name)) return {};
  for (const std::string& path : {Normalized(Join(std::string(folder), script)), script}) {
    const auto beside = by_folder_.find(DirectoryOf(path));
    if (beside == by_folder_.end()) continue;
    const std::string_view nearest = knowledge::Nearest(name, beside->second);
    if (!nearest.empty()) return Join(std::string(DirectoryOf(script)), std::string(nearest));
  }
  return {};
}

// A path into a folder of the project that has other scripts, while no file of the project has the script's name.
std::string LaunchLineReader::MissingIn(const launch::Job& job, std::string_view folder) const {
  const std::string script = PathOf(job);
  const bool is_path = !job.is_module && !job.is_remote && script.find('/') != std::string::npos && !script.starts_with('/') && !script.starts_with('~');
  if (!is_path || !script.ends_with(".py") || by_name_.contains(NameOf(script))) return {};
  for (const std::string& path : {Normalized(Join(std::string(folder), script)), script}) {
    if (path.starts_with("..") || !by_folder_.contains(DirectoryOf(path))) continue;
    return std::string(DirectoryOf(path));
  }
  return {};
}

// The only file of the project that has the script's name, where it lies in another folder below the one that the path begins with.
std::string LaunchLineReader::MovedTo(const launch::Job& job, std::string_view folder) const {
  const std::string script = PathOf(job);
  const size_t slash = script.find('/');
  const auto named = by_name_.find(NameOf(script));
  const bool is_path = !job.is_module && slash != std::string::npos && slash > 0 && !script.starts_with('.') && !script.starts_with('~');
  if (!is_path || named == by_name_.end() || named->second.size() != 1) return {};
  const std::string_view path = named->second.front();
  const std::string top = script.substr(0, slash + 1);
  const bool is_there = path == script || path.ends_with("/" + script) || path == Normalized(Join(std::string(folder), script));
  const size_t at = path.starts_with(top) ? 0 : path.find("/" + top);
  if (is_there || at == std::string_view::npos) return {};
  return std::string(path.substr(at == 0 ? 0 : at + 1));
}

}  // namespace allranks::pipeline
