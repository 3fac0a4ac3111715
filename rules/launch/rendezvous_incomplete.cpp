#include <algorithm>
#include <array>

#include "rules/launch/launch_witness.h"
#include "rules/launch/ranks_of_slurm.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR902 = "AR902";

// What only a task of a step knows of itself: in the batch script these are those of its first node.
constexpr std::array<std::string_view, 3> kOfTask = {"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID"};

// An option of torchrun by its variable in the environment.
bool IsInEnvironment(const Job& job, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return job.Env(name) != nullptr; });
}

bool IsLoopback(const Word& word) {
  const std::string host = word.text().substr(0, word.text().find(':'));
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

class RendezvousCheck {
 public:
  RendezvousCheck(const LaunchFile& file, const Job& job, const Layer& agent, FindingSink& sink)
      : file_(file), job_(job), agent_(agent), sink_(sink), nodes_(NodesOf(job)) {}

  // Accelerate has a default configuration on the machine, which may say it where no file is named.
  void RunAccelerate() {
    CheckRankOfFirstNode();
    const Option* machines = agent_.Find("nodes");
    if (machines == nullptr || !nodes_.IsMoreThan(1) || job_.has_cluster || agent_.HidesOptions() || agent_.Find("hostfile") != nullptr) return;
    const Option* address = agent_.Find("master_address");
    if (address != nullptr) return IsLoopback(address->value) ? ReportLoopback(*address) : void();
    const bool is_configured = std::ranges::any_of(agent_.options, [](const Option& option) { return !option.name.starts_with('-'); });
    if (nodes_.sureness != Sureness::Written || job_.script.empty() || (agent_.Find("config_file") != nullptr && !is_configured)) return;
    Finding finding = Make(machines->word.span(), is_configured ? Confidence::Likely : Confidence::Possible,
                           {"{} machines ({}) have no address to meet at", {std::to_string(*nodes_.value), nodes_.text}});
    finding.help = {"give `--main_process_ip=HOST`, the same on all machines", {}};
    finding.witness = Witness(Launchers::Meet::EachForItself);
    sink_.push_back(std::move(finding));
  }

  // It starts the nodes of its list itself, and tells all of them one address.
  void RunWithHosts() {
    const Option* hosts = agent_.Find("hosts");
    const Option* address = agent_.Find("master_address");
    if (agent_.HidesOptions() || job_.script.empty()) return;
    if (hosts == nullptr && agent_.Find("hostfile") == nullptr) return nodes_.IsMoreThan(1) ? ReportNoHosts() : void();
    if (hosts != nullptr) nodes_ = HostsIn(*hosts);
    if (!nodes_.IsMoreThan(1)) return;
    if (address == nullptr) return ReportNoAddress();
    if (IsLoopback(address->value)) ReportLoopback(*address);
  }

  void Run() {
    CheckRankOfFirstNode();
    CheckRankInLoop();
    if (!nodes_.IsMoreThan(1) || job_.has_cluster) return;
    const Option* endpoint = agent_.Find("rendezvous_endpoint");
    const Option* address = agent_.Find("master_address");
    const Option* backend = agent_.Find("rendezvous_backend");
    if (endpoint != nullptr && IsLoopback(endpoint->value)) return ReportLoopback(*endpoint);
    if (endpoint == nullptr && address != nullptr && IsLoopback(address->value)) return ReportLoopback(*address);
    CheckRandomId();
    CheckRandomPort();
    if (agent_.HidesOptions() || agent_.Find("standalone") != nullptr || job_.script.empty()) return;
    if (backend != nullptr && !backend->value.IsKnown()) return;
    const bool is_static = backend == nullptr ? !IsInEnvironment(job_, {"PET_RDZV_BACKEND"}) : backend->value.text() == "static";
    if (endpoint != nullptr && address != nullptr) CheckTwoAddresses(*endpoint, *address);
    if (endpoint != nullptr) return is_static && !HasRank() ? ReportNoRank() : void();
    if (!is_static && address != nullptr) return ReportMixed(*backend, *address);
    const bool has_address = address != nullptr || IsInEnvironment(job_, {"PET_MASTER_ADDR", "PET_RDZV_ENDPOINT"});
    if (!has_address) return ReportNoAddress();
    if (is_static && !HasRank()) ReportNoRank();
  }

 private:
  bool HasRank() const { return agent_.Find("node_rank") != nullptr || IsInEnvironment(job_, {"PET_NODE_RANK"}); }

  // All nodes are there, and look for one another: each at home, or in one place.
  std::optional<witness::Witness> Witness(Launchers::Meet meet) const {
    if (!nodes_.IsMoreThan(1)) return std::nullopt;
    const Launchers::Numbered told = HasRank() ? Launchers::Numbered::AsTold : Launchers::Numbered::AllTheSame;
    return LaunchWitness(job_, {.nodes = *nodes_.value, .awaited = *nodes_.value, .meet = meet, .numbered = Agree() ? Launchers::Numbered::ByAgreement : told},
                         witness::Effect::Deadlock);
  }
  std::optional<witness::Witness> WitnessOfOneNumber(int64_t number) const {
    if (!nodes_.IsMoreThan(1)) return std::nullopt;
    return LaunchWitness(job_, {.nodes = *nodes_.value, .awaited = *nodes_.value, .numbered = Launchers::Numbered::AllTheSame, .number = number},
                         witness::Effect::Deadlock);
  }
  // Nodes agree on their numbers in every rendezvous of torchrun but the static one.
  bool Agree() const {
    const Option* backend = agent_.Find("rendezvous_backend");
    return backend != nullptr && backend->value.text() != "static";
  }

  Finding Make(source::Span span, Confidence confidence, findings::Text message) const {
    Finding finding = LaunchFinding(kAR902, Severity::Error, confidence, span, std::move(message));
    if (nodes_.IsMoreThan(1)) AddNote(finding, nodes_.span, {"several nodes", {}});
    return finding;
  }
  std::string Name() const { return "`" + agent_.launcher->name + "`"; }

  void ReportLoopback(const Option& option) {
    const Confidence confidence = std::min(ConfidenceOf(option.value.sureness()), ConfidenceOf(nodes_.sureness));
    // Both are defaults that whoever starts a job of several nodes gives anew.
    if (option.value.sureness() != Sureness::Written || nodes_.sureness != Sureness::Written || HasNeighbour() || IsFirstNode()) return;
    Finding finding = Make(option.word.span(), confidence,
                           {"all {} nodes are told to meet at `{}`, which on each of them is the "
                            "node itself", {std::to_string(*nodes_.value), option.value.text()}});
    finding.help = {"name the first node: its host name or address", {}};
    finding.witness = Witness(Launchers::Meet::EachForItself);
    sink_.push_back(std::move(finding));
  }

  // `--node_rank=0`: the command of the node that the others have to find, which may call itself so.
  bool IsFirstNode() const {
    const Option* rank = agent_.Find("node_rank");
    return rank != nullptr && rank->value.Number() == 0 && job_.Find("srun") == nullptr;
  }

  // The file starts another node of this job on other GPUs: both are on one machine.
  bool HasNeighbour() const {
    const std::optional<Devices> own = VisibleDevices(job_);
    const Option* rank = agent_.Find("node_rank");
    if (!own || rank == nullptr) return false;
    return std::ranges::any_of(file_.jobs, [&](const Job& other) {
      const Layer* agent = AgentOf(other);
      const Option* other_rank = agent == nullptr ? nullptr : agent->Find("node_rank");
      const std::optional<Devices> devices = VisibleDevices(other);
      return other_rank != nullptr && other_rank->value.text() != rank->value.text() && devices && devices->numbers != own->numbers;
    });
  }

  // What it is told last for a way to meet that all its options have a name for: "give `--main-address=HOST`".
  findings::Text HelpOfAddress() const {
    if (launch::FindMeaning(*agent_.launcher, "rendezvous_endpoint") != nullptr) {
      return {"give `--rdzv_backend=c10d --rdzv_endpoint=HOST:PORT --rdzv_id=JOB`, the same on all nodes", {}};
    }
    const launch::OptionEntry* address = launch::FindMeaning(*agent_.launcher, "master_address");
    return {"give `{}=HOST`, the same on all nodes", {address == nullptr ? std::string() : address->names[0]}};
  }

  static Said HostsIn(const Option& hosts) {
    Said said = SaidOf(hosts);
    said.value = hosts.value.IsKnown() && !hosts.value.empty() ? std::optional<int64_t>(std::ranges::count(hosts.value.text(), ',') + 1) : std::nullopt;
    return said;
  }

  // `colossalai run --num_nodes 2` counts the hosts of a list.
  void ReportNoHosts() {
    if (nodes_.sureness != Sureness::Written) return;
    Finding finding = LaunchFinding(kAR902, Severity::Error, Confidence::Likely, nodes_.span,
                                    {"{} counts the hosts of a list, and none is given: only this machine starts ranks", {nodes_.text}});
    finding.help = {"name them: `--hostfile`, or `--host=A,B`", {}};
    sink_.push_back(std::move(finding));
  }

  // The endpoint counts, whatever the other says.
  void CheckTwoAddresses(const Option& endpoint, const Option& address) {
    const std::string host = endpoint.value.text().substr(0, endpoint.value.text().rfind(':'));
    if (!endpoint.value.IsKnown() || !address.value.IsKnown() || host == address.value.text() || host.empty()) return;
    Finding finding = LaunchFinding(kAR902, Severity::Warning, Confidence::Likely, address.word.span(),
                                    {"`{}` names `{}`, and the nodes meet at `{}`: it is not used beside `{}`",
                                     {address.name, address.value.text(), host, endpoint.name}});
    AddNote(finding, endpoint.word.span(), {"where they meet", {}});
    finding.help = {"name the first node in one place", {}};
    sink_.push_back(std::move(finding));
  }

  void ReportMixed(const Option& backend, const Option& address) {
    Finding finding = Make(address.word.span(), Confidence::Certain,
                           {"`{}` is not used with `{}`: without `--rdzv_endpoint` each node meets "
                            "only itself", {address.name, backend.name + "=" + backend.value.text()}});
    AddNote(finding, backend.word.span(), {"this rendezvous needs an endpoint", {}});
    finding.help = {"give `--rdzv_endpoint=HOST:PORT` instead of `--master_addr` and `--master_port`", {}};
    finding.witness = Witness(Launchers::Meet::EachForItself);
    sink_.push_back(std::move(finding));
  }

  void ReportNoAddress() {
    if (nodes_.sureness != Sureness::Written) return;
    Finding finding = Make(agent_.word.span(), Confidence::Likely,
                           {"{} nodes ({}) have no address to meet at: each {} waits at `127.0.0.1` "
                            "for the others", {std::to_string(*nodes_.value), nodes_.text, Name()}});
    finding.help = HelpOfAddress();
    finding.witness = Witness(Launchers::Meet::EachForItself);
    sink_.push_back(std::move(finding));
  }

  void ReportNoRank() {
    if (nodes_.sureness != Sureness::Written) return;
    const bool may_agree = launch::FindMeaning(*agent_.launcher, "rendezvous_backend") != nullptr;
    Finding finding = Make(agent_.word.span(), Confidence::Likely,
                           {"no `{}` for {} nodes ({}): each node says that it is the first one, and "
                            "the ranks of the others never come",
                            {agent_.launcher->underscores && may_agree ? "--node_rank" : "--node-rank", std::to_string(*nodes_.value), nodes_.text}});
    finding.help = {"give each node its number{}", {may_agree ? ", or let them agree on it: `--rdzv_backend=c10d --rdzv_endpoint=HOST:PORT`" : ""}};
    finding.witness = Witness(Launchers::Meet::InOnePlace);
    sink_.push_back(std::move(finding));
  }

  // `sbatch <<EOF`: what stands in the text is put in by the shell that hands it over, before there is a job.
  bool IsEmptyBeforeTheJob() {
    for (const Option& option : agent_.options) {
      for (const launch::Piece& piece : option.value.pieces()) {
        if (piece.shell >= job_.first_shell || !piece.variable.starts_with("SLURM_")) continue;
        Finding finding = LaunchFinding(kAR902, Severity::Error, Confidence::Likely, option.word.span(),
                                        {"`${}` is expanded by the shell that submits the job, where it is not set: `{}` gets no value",
                                         {piece.variable, option.name}});
        finding.help = {"leave it to the job: quote the word behind `<<`, or write `\\${}`", {piece.variable}};
        sink_.push_back(std::move(finding));
        return true;
      }
    }
    return false;
  }

  // `srun torchrun --node_rank=$SLURM_NODEID`: the shell puts the value in before srun starts anything.
  void CheckRankOfFirstNode() {
    if (IsEmptyBeforeTheJob()) return;
    const Layer* step = job_.Find("srun");
    const Option* rank = agent_.Find("node_rank");
    if (step == nullptr || rank == nullptr || nodes_.value == 1 || Agree()) return;
    for (const launch::Piece& piece : rank->value.pieces()) {
      const bool is_early = std::ranges::count(kOfTask, piece.variable) > 0 && piece.shell <= step->shell;
      if (!is_early) continue;
      Finding finding = LaunchFinding(kAR902, Severity::Error, nodes_.IsMoreThan(1) ? Confidence::Certain : Confidence::Likely, rank->word.span(),
                                      {"`${}` is expanded by the shell before `srun` starts the nodes: all of "
                                       "them get the number of the first one",
                                       {piece.variable}});
      AddNote(finding, step->word.span(), {"expands before the nodes start", {}});
      finding.help = {"let each task read it: `srun bash -c '{} {}=$SLURM_NODEID ...'`, in single quotes",
                      {agent_.launcher->commands.front(), rank->name}};
      finding.witness = WitnessOfOneNumber(0);
      sink_.push_back(std::move(finding));
      return;
    }
    const bool is_fixed = rank->value.Number() && rank->value.sureness() == Sureness::Written && nodes_.IsMoreThan(1) && NodesAreOfStep();
    if (!is_fixed) return;
    Finding finding = LaunchFinding(kAR902, Severity::Error, Confidence::Likely, rank->word.span(),
                                    {"`srun` starts this on {} nodes, and all say that they "
                                     "are node {}", {std::to_string(*nodes_.value), rank->value.text()}});
    AddNote(finding, step->word.span(), {"runs the same command on each node", {}});
    finding.witness = WitnessOfOneNumber(*rank->value.Number());
    sink_.push_back(std::move(finding));
  }
  bool NodesAreOfStep() const { return job_.Find("srun")->Find("hosts") == nullptr && job_.Find("srun")->Find("nodes") == nullptr; }

  // `for host in $HOSTS; do ssh $host torchrun --node_rank 0`, or `srun -w $host`: one number for all of them.
  void CheckRankInLoop() {
    const Option* rank = agent_.Find("node_rank");
    const bool is_of_all = IsOnOneHostOfLoop(job_) && job_.is_repeated && job_.arms.empty() && rank != nullptr && rank->value.Number();
    if (!is_of_all || rank->value.sureness() != Sureness::Written || nodes_.value == 1 || Agree()) return;
    sink_.push_back(LaunchFinding(kAR902, Severity::Error, Confidence::Likely, rank->word.span(),
                                  {"the loop starts this on one host after the other, and all say that they are node {}", {rank->value.text()}}));
    sink_.back().help = {"count the hosts, and give each its number", {}};
    sink_.back().witness = WitnessOfOneNumber(*rank->value.Number());
  }

  // Each node runs the script, and each makes up a name of its own.
  void CheckRandomId() {
    const Option* id = agent_.Find("rendezvous_id");
    if (id == nullptr || id->value.Variable() != "RANDOM" || job_.Find("srun") != nullptr || job_.allocation || job_.is_remote) return;
    Finding finding = Make(id->word.span(), Confidence::Likely,
                           {"each node that runs this makes up its own id: nodes with different ids never meet", {}});
    finding.help = {"use an id that is the same on all nodes", {}};
    finding.witness = Witness(Launchers::Meet::EachForItself);
    sink_.push_back(std::move(finding));
  }

  // The same of the port at which they meet; under `srun` if each task expands it.
  void CheckRandomPort() {
    for (const std::string_view means : {"master_port", "rendezvous_endpoint"}) {
      const Option* option = agent_.Find(means);
      if (option == nullptr || !IsRandomOnEachNode(option->value)) continue;
      Finding finding = Make(option->word.span(), Confidence::Likely,
                             {"each node that runs this makes up a port of its own: nodes with different ports never meet", {}});
      finding.help = {"use a port that is the same on all nodes, such as one made of `$SLURM_JOB_ID` before the nodes start", {}};
      finding.witness = Witness(Launchers::Meet::EachForItself);
      sink_.push_back(std::move(finding));
    }
  }
  bool IsRandomOnEachNode(const Word& value) const {
    const Layer* step = job_.Find("srun");
    if (step == nullptr && (job_.allocation || job_.is_remote)) return false;
    return std::ranges::any_of(value.pieces(), [&](const launch::Piece& piece) {
      return piece.variable == "RANDOM" && (step == nullptr || piece.shell > step->shell);
    });
  }

  const LaunchFile& file_;
  const Job& job_;
  const Layer& agent_;
  FindingSink& sink_;
  Said nodes_;
};

// `export MASTER_ADDR=localhost` for tasks on several nodes.
void CheckEnvironment(const Job& job, FindingSink& sink) {
  const Said nodes = NodesOfStep(job);
  const launch::Setting* address = job.Env("MASTER_ADDR");
  if (AgentOf(job) != nullptr || address == nullptr || !nodes.IsMoreThan(1) || !IsLoopback(address->value)) return;
  if (address->value.sureness() != Sureness::Written) return;
  Finding finding = LaunchFinding(kAR902, Severity::Error, ConfidenceOf(nodes.sureness), address->span,
                                  {"`MASTER_ADDR={}` on {} nodes: on each of them that is the "
                                   "node itself", {address->value.text(), std::to_string(*nodes.value)}});
  AddNote(finding, nodes.span, {"several nodes", {}});
  finding.witness = LaunchWitness(job, {.nodes = *nodes.value, .awaited = *nodes.value, .meet = Launchers::Meet::EachForItself, .numbered = Launchers::Numbered::AsTold},
                                  witness::Effect::Deadlock);
  finding.help = {"name the first node: `MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)`", {}};
  sink.push_back(std::move(finding));
}

void CheckRendezvousIncomplete(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) {
      const Layer* agent = AgentOf(job);
      if (agent != nullptr && agent->launcher->is_of_node) RendezvousCheck(file, job, *agent, sink).Run();
      if (agent != nullptr && agent->launcher->name == "colossalai") RendezvousCheck(file, job, *agent, sink).RunWithHosts();
      if (agent != nullptr && agent->launcher->name == "accelerate") RendezvousCheck(file, job, *agent, sink).RunAccelerate();
      CheckEnvironment(job, sink);
    }
  }
}

void CheckRanksOfSlurm(const Context& context, FindingSink& sink) { FindRanksOfSlurm(context, kAR902, sink); }

}  // namespace

extern const Rule RendezvousIncomplete = {
    .code = kAR902,
    .name = "rendezvous-incomplete",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "of 11 findings on repositories that it met for the first time 9 were right, less than the 85 of 100 of a rule that is on",
    .languages = "launch files, Python",
    .summary = "several nodes without an address to meet at, or without their ranks",
    .explanation = R"md(
## What it finds

A job of several nodes whose launcher lacks what the nodes need to find one another: an address, a
node's number, one id for all; an address that is `localhost`; `--master_addr` beside a rendezvous
that does not read it; `--rdzv_endpoint` without `--rdzv_backend=c10d`, so that each node says that it is
the first one; a number of the node that the shell puts in before `srun` starts the nodes, or that the shell
which submits the job puts into its text (`sbatch <<EOF`), where no number is set; and the same number for all
hosts of a loop (`for host in ...; do ssh $host torchrun ...`, or `srun -w $host`).
`colossalai run` with several hosts and no `--master_addr`, or with `--num_nodes` and no hosts. As a warning,
a `--master_addr` that names another host than `--rdzv_endpoint`.

In a program: an arm that takes the rank from `SLURM_PROCID` and leaves the number of ranks at the default
of its option, though the arms for other launchers set it, and the process group is made with both.

## Why it hurts

Each node waits for the others at a place where they never come, and after some minutes ends with a
time-out that names a store or a socket. `srun torchrun --node_rank=$SLURM_NODEID` is the trap of
the kind: the batch script runs on the first node only, so `$SLURM_NODEID` is 0 for all.

## Wrong

```sh
#SBATCH --nodes=4
srun torchrun --nnodes=4 --nproc_per_node=8 --node_rank=$SLURM_NODEID --master_addr=$HEAD train.py
```

## Right

```sh
#SBATCH --nodes=4
srun torchrun --nnodes=4 --nproc_per_node=8 \
    --rdzv_backend=c10d --rdzv_endpoint=$HEAD:29500 --rdzv_id=$SLURM_JOB_ID train.py
```

## When it is silent

* Machines of Accelerate where the configuration that the command names is not in the project.
* An address of `localhost` in the command of node 0, which may call itself so.
* A number of the node beside another rendezvous than the static one (`--rdzv_backend=c10d`), which deals out
  the numbers by itself.
* No `--rdzv_id`: it is `none` on all nodes then, and they meet.
* One node, or a number of nodes that the script does not show or leaves to its caller.
* Two nodes of one job that the file starts on different GPUs: they are on one machine.
* Programs of which another function sets the number of ranks, or a command gives it.
* Options in a variable whose value is not known, `PET_*` variables, Kubernetes operators, SkyPilot.
* `srun bash -c '...'` in single quotes, where each task puts its own number in.

## Fix

There is none: the address is yours to say.

## Proof

`allranks verify` computes which ranks the launcher of each node starts, and which are missing or exist twice.
Nothing is launched. Where the number of processes is not known, it takes two.
)md",
    .check = CheckRanksOfSlurm,
    .check_launch = CheckRendezvousIncomplete,
    .scenario = Scenario::LaunchedRanks};

}  // namespace allranks::rules
