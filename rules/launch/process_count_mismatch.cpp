#include <algorithm>

#include "rules/launch/host_counts.h"
#include "rules/launch/launch_witness.h"
#include "rules/launch/trainer_devices.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR907 = "AR907";

std::string Processes(int64_t count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }
std::string Gpus(int64_t count) { return std::to_string(count) + (count == 1 ? " GPU" : " GPUs"); }

// They fill the slots of one host after the other.
Said TasksOfFirstHost(const Layer& mpi) {
  Said said = SaidBy(mpi, "processes");
  const std::optional<int64_t> slots = mpi.hosts->Slots() ? mpi.hosts->hosts.front().slots : std::nullopt;
  if (!said.value || !slots || mpi.Find("mapping") != nullptr) return {};
  said.value = std::min(*said.value, *slots);
  said.text += " with " + std::to_string(*slots) + (*slots == 1 ? " slot" : " slots") + " on `" + mpi.hosts->hosts.front().name + "`";
  return said;
}

// That MPI or Horovod starts on a node; all are on this one where no other is named.
Said TasksOfMpi(const Job& job, int64_t nodes = 1) {
  const Layer* mpi = job.Find("mpirun") != nullptr ? job.Find("mpirun") : job.Find("horovodrun");
  if (mpi == nullptr || mpi->HidesOptions()) return {};
  if (mpi->Find("processes_per_node") != nullptr) return SaidBy(*mpi, "processes_per_node");
  if (mpi->hosts) return TasksOfFirstHost(*mpi);
  const bool may_be_elsewhere = mpi->Find("hosts") != nullptr || mpi->Find("hostfile") != nullptr || mpi->Find("mapping") != nullptr ||
                                job.allocation || job.has_cluster || nodes != 1;
  return may_be_elsewhere ? Said() : SaidBy(*mpi, "processes");
}

class JobCheck {
 public:
  JobCheck(const LaunchContext& context, const LaunchFile& file, const Job& job, const Layer& agent, FindingSink& sink)
      : context_(context), file_(file), job_(job), script_(context.ScriptOf(job)), agent_(agent), sink_(sink), processes_(ProcessesPerNode(job)) {}

  void Run() {
    if (agent_.Find("cpu") != nullptr) return;
    CheckTasks();
    CheckNodes();
    CheckRounds();
    if (agent_.launcher->name == "deepspeed") return CheckIgnored();
    // Ranks that do not use NCCL may share a GPU, or need none.
    const bool may_share = script_ != nullptr && script_->has_no_nccl;
    if (!may_share) CheckVisible();
    if (!may_share) CheckAllocation();
    if (!may_share) CheckAllDevices();
    CheckMachines();
    CheckReplicas();
  }

 private:
  int64_t Nodes() const { return std::max<int64_t>(NodesOf(job_).value.value_or(1), 1); }
  std::optional<witness::Witness> OfDevices(int64_t devices) const { return DeviceWitness(Nodes(), *processes_.value, devices); }
  std::optional<witness::Witness> OfNodes(int64_t nodes, int64_t on_each, int64_t awaited, witness::Effect effect) const {
    const Option* backend = agent_.Find("rendezvous_backend");
    const bool agree = backend != nullptr && backend->value.text() != "static";
    return LaunchWitness(job_, {.nodes = nodes, .on_each = on_each, .awaited = awaited, .numbered = agree ? Launchers::Numbered::ByAgreement : Launchers::Numbered::AsTold}, effect);
  }
  static witness::Effect EffectOf(int64_t started, int64_t awaited) { return started < awaited ? witness::Effect::Deadlock : witness::Effect::Error; }

  void Report(Severity severity, Confidence confidence, source::Span span, source::Span other, findings::Text note, findings::Text message) {
    Finding finding = LaunchFinding(kAR907, severity, confidence, span, std::move(message));
    AddNote(finding, other, std::move(note));
    sink_.push_back(std::move(finding));
  }

  void CheckVisible() {
    const std::optional<Devices> visible = DevicesOf(job_);
    if (!visible || visible->numbers.empty() || !processes_.value || *processes_.value <= 0) return;
    const Said& devices = visible->said;
    const int64_t count = *devices.value;
    if (*processes_.value > count) {
      Report(Severity::Error, ConfidenceOf(processes_, devices), processes_.span, devices.span, {"leaves fewer GPUs", {}},
             {"{} on {}: `{}` leaves {}, and the other processes end with `invalid device ordinal` or share one",
              {Processes(*processes_.value), Gpus(count), devices.text, Gpus(count)}});
      sink_.back().witness = OfDevices(count);
    } else if (*processes_.value < count && *processes_.value > 1 && LeavesIdle()) {
      Report(Severity::Warning, HowSureOfIdle(count), processes_.span, devices.span, {"leaves more GPUs", {}},
             {"{} for {}: `{}` leaves GPUs that nothing uses", {Processes(*processes_.value), Gpus(count), devices.text}});
    }
  }

  void CheckAllocation() {
    const Said devices = DevicesOfNode(job_);
    if (!devices.value || *devices.value <= 0 || !processes_.value || job_.Env("CUDA_VISIBLE_DEVICES") != nullptr || agent_.Find("devices") != nullptr) return;
    if (*processes_.value > *devices.value) {
      Report(Severity::Error, ConfidenceOf(processes_, devices), processes_.span, devices.span, {"all that a node of the job gets", {}},
             {"{} a node, and {} asks for {}", {Processes(*processes_.value), devices.text, Gpus(*devices.value)}});
      sink_.back().witness = OfDevices(*devices.value);
    } else if (*processes_.value < *devices.value && LeavesIdle()) {
      Report(Severity::Warning, HowSureOfIdle(*devices.value), processes_.span, devices.span, {"what a node of the job gets", {}},
             {"{} a node, and {} asks for {}: the others stay idle", {Processes(*processes_.value), devices.text, Gpus(*devices.value)}});
    }
  }

  // `#SBATCH --gpus=4` are those of all nodes, however many there are.
  void CheckAllDevices() {
    const Said all = DevicesOfAllNodes(job_);
    if (!all.value || *all.value <= 0 || DevicesOfNode(job_).value || !processes_.value || job_.Env("CUDA_VISIBLE_DEVICES") != nullptr || agent_.Find("devices") != nullptr) return;
    const int64_t nodes = Nodes();
    if (*processes_.value <= *all.value / nodes) return;
    const std::string on_nodes = nodes == 1 ? "" : " on each of " + std::to_string(nodes) + " nodes";
    Report(Severity::Error, ConfidenceOf(processes_, all), processes_.span, all.span, {"all that the job gets", {}},
           {"{}{}, and {} asks for {} in all", {Processes(*processes_.value), on_nodes, all.text, Gpus(*all.value)}});
    sink_.back().witness = OfDevices(*all.value / nodes);
  }

  // An agent starts all processes of a node: one task a node is enough.
  void CheckTasks() {
    const Said of_step = TasksPerNodeOfStep(job_);
    const int64_t nodes = agent_.Find("nodes") == nullptr ? 1 : agent_.Number("nodes").value_or(0);
    const Said& tasks = of_step.value ? of_step : TasksOfMpi(job_, nodes);
    if (!tasks.IsMoreThan(1) || processes_.value == 1) return;
    const std::string outer = of_step.value ? "srun" : job_.Find("mpirun") != nullptr ? "mpirun" : "horovodrun";
    Report(Severity::Error, ConfidenceOf(tasks.sureness), agent_.word.span(), tasks.span, {"tasks that `{}` starts on a node", {outer}},
           {"`{}` starts `{}` {} times on each node ({}): each starts all processes "
            "of the node", {outer, agent_.launcher->name, std::to_string(*tasks.value), tasks.text}});
    sink_.back().witness = OfNodes(Nodes(), *tasks.value, Nodes(), witness::Effect::Error);
  }

  // `srun -N4 torchrun --nnodes=2`
  void CheckNodes() {
    const Said nodes = SaidBy(agent_, "nodes");
    const Said step = NodesOfStep(job_);
    if (!nodes.IsMoreThan(1) || !step.value || step.value == nodes.value || job_.Find("srun")->Find("het_group") != nullptr) return;
    // Steps side by side make up one job.
    const bool is_part = job_.in_background || job_.is_repeated || agent_.Find("node_rank") != nullptr;
    if (is_part || nodes.sureness != Sureness::Written || step.sureness != Sureness::Written) return;
    Report(Severity::Error, Confidence::Likely, nodes.span, step.span, {"nodes that `srun` starts it on", {}},
           {"{} nodes are to meet, and `srun` starts {} ({})", {std::to_string(*nodes.value), std::to_string(*step.value), step.text}});
    sink_.back().witness = OfNodes(*step.value, 1, *nodes.value, EffectOf(*step.value, *nodes.value));
  }

  // `for i in 0 1; do ssh node$i torchrun --nnodes=3 --node_rank=$i ... &`, and no other command starts a node.
  void CheckRounds() {
    const Said nodes = SaidBy(agent_, "nodes");
    const Option* rank = agent_.Find("node_rank");
    if (job_.rounds == 0 || !IsOnOneHostOfLoop(job_) || !job_.arms.empty() || rank == nullptr || rank->value.Variable() != job_.loop_variable) return;
    if (!nodes.IsMoreThan(1) || nodes.sureness != Sureness::Written || nodes.value == job_.rounds) return;
    const auto agents = std::ranges::count_if(file_.jobs, [](const Job& other) { return AgentOf(other) != nullptr; });
    if (agents != 1) return;
    const std::string rounds = std::to_string(job_.rounds);
    Report(Severity::Error, Confidence::Likely, nodes.span, rank->word.span(), {"one of {} rounds", {rounds}},
           {"{} nodes are to meet, and the loop starts {}", {std::to_string(*nodes.value), rounds}});
    sink_.back().witness = OfNodes(job_.rounds, 1, *nodes.value, EffectOf(job_.rounds, *nodes.value));
  }

  // DeepSpeed's launcher counts GPUs itself: `--num_gpus` and `--include` make it forget CUDA_VISIBLE_DEVICES.
  void CheckIgnored() {
    const std::optional<Devices> visible = VisibleDevices(job_);
    if (!visible || visible->numbers.empty() || visible->said.sureness != Sureness::Written) return;
    if (agent_.Find("hostfile") != nullptr) return;
    std::set<std::string> used;
    const Option* include = agent_.Find("include");
    if (include != nullptr) {
      const std::optional<Devices> included = DevicesOf(job_);
      if (!included) return;
      used = included->numbers;
    } else {
      if (!processes_.value || *processes_.value <= 0 || *processes_.value > 64) return;
      for (int64_t i = 0; i < *processes_.value; ++i) used.insert(std::to_string(i));
    }
    if (used == visible->numbers) return;
    const Option& option = include != nullptr ? *include : *agent_.Find("processes_per_node");
    Report(Severity::Error, Confidence::Likely, visible->said.span, option.word.span(), {"makes DeepSpeed choose the GPUs itself", {}},
           {"`CUDA_VISIBLE_DEVICES` is not read by DeepSpeed beside `{}`: the job runs on GPU {}", {option.name, List(used)}});
    sink_.back().help = {"name the GPUs to DeepSpeed: `--include=localhost:{}`", {List(visible->numbers)}};
  }
  static std::string List(const std::set<std::string>& devices) {
    std::string list;
    for (const std::string& device : devices) list += (list.empty() ? "" : ",") + device;
    return list;
  }

  // Accelerate's `--num_processes` is that of all machines.
  void CheckMachines() {
    if (agent_.launcher->name != "accelerate") return;
    const Said machines = SaidBy(agent_, "nodes");
    const Said all = SaidBy(agent_, "processes");
    // One against the other in a configuration: that is said there.
    if (!machines.IsMoreThan(1) || !all.value || *all.value <= 0 || all.span == machines.span) return;
    if (*all.value % *machines.value == 0 && *all.value >= *machines.value) return;
    Report(Severity::Error, ConfidenceOf(all, machines), all.span, machines.span, {"machines that they are for", {}},
           {"{} for {} machines: `--num_processes` counts those of all machines, and each "
            "takes as many", {Processes(*all.value), std::to_string(*machines.value)}});
  }

  // An operator that starts another number of nodes than the launcher waits for.
  void CheckReplicas() {
    const Said nodes = SaidBy(agent_, "nodes");
    if (!job_.replicas || !nodes.value || job_.replicas->value.Number() == nodes.value || agent_.Find("standalone") != nullptr) return;
    const Option& replicas = *job_.replicas;
    Report(Severity::Error, Confidence::Likely, nodes.span, replicas.value.span(), {"all that are started", {}},
           {"{} nodes are to meet, and `{}` starts {}", {std::to_string(*nodes.value), replicas.name, replicas.value.text()}});
    const std::optional<int64_t> started = replicas.value.Number();
    if (started) sink_.back().witness = OfNodes(*started, 1, *nodes.value, EffectOf(*started, *nodes.value));
  }

  // Whether fewer processes than devices leave some that nothing uses.
  bool LeavesIdle() const { return processes_.sureness == Sureness::Written && !MayUseMore(context_, file_, job_, *processes_.value); }

  // A model that is cut into parts gives each process several GPUs, and all of them as many.
  Confidence HowSureOfIdle(int64_t devices) const { return *processes_.value > 1 && devices % *processes_.value == 0 ? Confidence::Possible : Confidence::Likely; }

  const LaunchContext& context_;
  const LaunchFile& file_;
  const Job& job_;
  const objects::ScriptOptions* script_;
  const Layer& agent_;
  FindingSink& sink_;
  Said processes_;
};

// `CUDA_VISIBLE_DEVICES=0,1 mpirun -np 4 python train.py`. Slurm sets the variable of its tasks itself.
void CheckVisibleToTasks(const Job& job, FindingSink& sink) {
  const Said tasks = TasksOfMpi(job);
  const std::optional<Devices> visible = VisibleDevices(job);
  if (!tasks.value || !visible || visible->numbers.empty() || *tasks.value <= *visible->said.value) return;
  const Said& devices = visible->said;
  Finding finding = LaunchFinding(kAR907, Severity::Error, std::min(ConfidenceOf(tasks, devices), Confidence::Likely), tasks.span,
                                  {"{} on {}: `{}` leaves {}, and the other processes end with `invalid device ordinal` or share one",
                                   {Processes(*tasks.value), Gpus(*devices.value), devices.text, Gpus(*devices.value)}});
  AddNote(finding, devices.span, {"leaves fewer GPUs", {}});
  finding.witness = DeviceWitness(1, *tasks.value, *devices.value);
  sink.push_back(std::move(finding));
}

// `srun python train.py`: each task is a rank with a GPU of its own, as the program says by the backend of its group.
void CheckTasksOfProgram(const LaunchContext& context, const Job& job, FindingSink& sink) {
  const objects::ScriptOptions* script = context.ScriptOf(job);
  if (script != nullptr && script->communicates_on_gpus) CheckVisibleToTasks(job, sink);
  if (job.Find("srun") == nullptr || script == nullptr || !script->communicates_on_gpus) return;
  const Said tasks = TasksPerNodeOfStep(job);
  const Said devices = DevicesOfNode(job);
  if (!tasks.value || !devices.value || *devices.value <= 0 || *tasks.value <= *devices.value || job.Env("CUDA_VISIBLE_DEVICES") != nullptr) return;
  Finding finding = LaunchFinding(kAR907, Severity::Error, std::min(ConfidenceOf(tasks, devices), Confidence::Likely), tasks.span,
                                  {"{} a node, and {} asks for {}", {Processes(*tasks.value), devices.text, Gpus(*devices.value)}});
  AddNote(finding, devices.span, {"all that a node of the job gets", {}});
  finding.witness = DeviceWitness(std::max<int64_t>(NodesOf(job).value.value_or(1), 1), *tasks.value, *devices.value);
  sink.push_back(std::move(finding));
}

// A configuration of Accelerate against itself.
void CheckAccelerateConfig(const LaunchFile& file, FindingSink& sink) {
  if (file.kind != launch::FileKind::Yaml) return;
  const launch::ConfigTree& tree = file.tree;
  const launch::ConfigId root = tree.root();
  const launch::ConfigId type = tree.Member(root, "distributed_type");
  const launch::ConfigId processes_id = tree.Member(root, "num_processes");
  const std::optional<int64_t> processes = tree.Integer(processes_id);
  if (!type || !processes) return;
  const launch::ConfigId machines_id = tree.Member(root, "num_machines");
  const int64_t machines = tree.Integer(machines_id).value_or(1);
  if (machines > 1 && (*processes < machines || *processes % machines != 0)) {
    Finding finding = LaunchFinding(kAR907, Severity::Error, Confidence::Certain, tree[processes_id].span,
                                    {"{} for {} machines: `num_processes` counts those of "
                                     "all machines", {Processes(*processes), std::to_string(machines)}});
    AddNote(finding, tree[machines_id].span, {"machines that they are for", {}});
    sink.push_back(std::move(finding));
  }
  const launch::ConfigId ids = tree.Member(root, "gpu_ids");
  const std::string_view text = tree.Text(ids);
  if (!ids || text.empty() || text == "all" || machines > 1 || text.find_first_not_of("0123456789, ") != std::string_view::npos) return;
  const auto devices = static_cast<int64_t>(std::ranges::count(text, ',')) + 1;
  if (*processes <= devices) return;
  Finding finding = LaunchFinding(kAR907, Severity::Error, Confidence::Certain, tree[processes_id].span,
                                  {"{} on {}: `gpu_ids` names fewer GPUs than there "
                                   "are processes", {Processes(*processes), Gpus(devices)}});
  AddNote(finding, tree[ids].span, {"the GPUs that are used", {}});
  sink.push_back(std::move(finding));
}

void CheckProcessCountMismatch(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    CheckAccelerateConfig(file, sink);
    for (const Job& job : file.jobs) {
      if (job.is_passed_over) continue;
      CheckHosts(context, job, sink);
      if (const Layer* agent = AgentOf(job)) JobCheck(context, file, job, *agent, sink).Run();
      else CheckTasksOfProgram(context, job, sink);
    }
  }
}

}  // namespace

extern const Rule ProcessCountMismatch = {
    .code = kAR907,
    .name = "process-count-mismatch",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "launch files, Python",
    .summary = "numbers of processes, GPUs, tasks and machines that contradict one another",
    .explanation = R"md(
## What it finds

* More processes on a node than `CUDA_VISIBLE_DEVICES`, `--gpu_ids`, `--gres`, `--gpus`, `--gpus-per-node` or
  `--gpus-per-task` leave GPUs; and, as a warning, fewer. Numbers of a configuration that
  `accelerate launch --config_file` names count as well.
* More processes than `--gpus` asks for on all nodes together.
* `srun` that starts more tasks on a node than it has GPUs, and `mpirun` or `horovodrun` that start more on
  this machine than `CUDA_VISIBLE_DEVICES` leaves, of a program whose process group uses NCCL.
* A loop over hosts that starts another number of nodes than `--nnodes` waits for.
* `srun` or `mpirun` that starts a launcher several times on each node, because of `--ntasks-per-node`,
  `-npernode` or `-np`; and `srun` on another number of nodes than `--nnodes` waits for.
* `CUDA_VISIBLE_DEVICES` beside `deepspeed --num_gpus` or `--include`, which makes DeepSpeed ignore it.
* `num_processes` of Accelerate, which counts all machines, below or no multiple of `num_machines`.
* `mpirun` and `horovodrun` with fewer slots than processes, by `-H` or by the file that `--hostfile`
  names, if the project has it; and with fewer than the workers of an MPIJob have (`slotsPerWorker`).
* `deepspeed` with more nodes (`--num_nodes`), more GPUs (`--num_gpus`) or other hosts (`--include`) than
  its file of hosts says; and a file that it refuses: without a host, with one twice, or with a line
  without `slots=`.
* `--nnodes` of another number than the replicas of a PyTorchJob or of a job of Volcano, the
  `parallelism` of a JobSet or the `num_nodes` of SkyPilot.

* `Trainer(devices=..., num_nodes=...)` of Lightning with another product than the number of ranks that every
  `torchrun` or `srun` command for the program starts.

## Why it hurts

Two processes on one GPU end with `Duplicate GPU detected` or run at half the speed; a process
without a GPU ends with `invalid device ordinal`; a launcher started eight times on a node collides
on its port. With too few processes nothing ends: the other GPUs are paid for and idle.

## Wrong

```sh
#SBATCH --gres=gpu:4
srun torchrun --nproc_per_node=8 train.py
```

## Right

```sh
#SBATCH --gres=gpu:4
srun torchrun --nproc_per_node=4 train.py
```

## When it is silent

* One of the numbers is not known, or comes from the caller.
* `--nproc_per_node=gpu` and `auto`.
* Fewer processes than GPUs, where the program takes one more (`--use_vllm`, `--vllm_device cuda:4`,
  `--judge_gpu 7`, also a computed one), or a command in the background has one of them by a
  `CUDA_VISIBLE_DEVICES` of its own.
* Jobs in an arm that the script's own values pass over: `N=4`, and further down `if [ $N -eq 2 ]`.
* GPUs of programs whose process groups use another backend than NCCL: ranks may share one.
* `mpirun --oversubscribe`, unless the file of hosts says `max-slots=`; files of hosts that are no part of
  the project, or are written as MPICH has them, `host:8`.

## Fix

There is none: which number is right is yours to say.

## Proof

`allranks verify` computes which ranks the launchers of each node start, or which device each process of a
node takes. Nothing is launched. Where the number of processes is not known, it takes two.
)md",
    .check = CheckTrainerDevices,
    .check_launch = CheckProcessCountMismatch,
    .scenario = Scenario::LaunchedRanks};

}  // namespace allranks::rules
