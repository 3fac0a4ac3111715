#include <algorithm>

#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR903 = "AR903";

struct Port {
  std::string number;
  source::Span span;
  bool is_default = false;
  Sureness sureness = Sureness::Written;
};

// Of `--rdzv_endpoint=localhost:29400`; nothing: on another machine, a free one, or not known.
std::optional<Port> PortOfEndpoint(const Option& endpoint) {
  const std::string& text = endpoint.value.text();
  const size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  const bool is_here = host == "localhost" || host == "127.0.0.1";
  const Word port = colon == std::string::npos ? Word() : endpoint.value.From(colon + 1);
  if (!is_here || !port.Number() || port.text() == "0") return std::nullopt;
  return Port{port.text(), endpoint.word.span(), false, endpoint.value.sureness()};
}

// The port at which a launcher opens its store on this machine; nothing: a free one, or not known.
std::optional<Port> PortOf(const Job& job) {
  const Layer* agent = AgentOf(job);
  if (agent == nullptr || agent->Find("standalone") != nullptr || agent->HidesOptions()) return std::nullopt;
  // Jobs with ids of their own may share a store, and nodes of one job have to.
  const Option* endpoint = agent->Find("rendezvous_endpoint");
  const bool is_shared = agent->Find("rendezvous_id") != nullptr || (agent->Find("nodes") != nullptr && agent->Number("nodes") != 1);
  if (endpoint != nullptr) return is_shared ? std::nullopt : PortOfEndpoint(*endpoint);
  const Option* backend = agent->Find("rendezvous_backend");
  if (backend != nullptr && backend->value.text() != "static") return std::nullopt;
  if (const Option* port = agent->Find("master_port")) {
    if (!port->value.Number() || port->value.text() == "0") return std::nullopt;
    return Port{port->value.text(), port->word.span(), false, port->value.sureness()};
  }
  const bool is_elsewhere = agent->Find("config_file") != nullptr || job.Env("PET_MASTER_PORT") != nullptr || job.Env("MASTER_PORT") != nullptr;
  // Accelerate and its default configuration may choose another one.
  if (is_elsewhere || agent->launcher->name == "accelerate" || agent->launcher->name == "colossalai") return std::nullopt;
  return Port{"29500", agent->word.span(), true, Sureness::Written};
}

bool AreExclusive(const Job& a, const Job& b) {
  for (const auto& [choice, arm] : a.arms) {
    for (const auto& [other_choice, other_arm] : b.arms) {
      if (choice == other_choice && arm != other_arm) return true;
    }
  }
  return false;
}

// Parts of one job, one a node, are started one by one.
bool AreNodesOfOneJob(const Job& a, const Job& b) {
  const Option* first = AgentOf(a)->Find("node_rank");
  const Option* second = AgentOf(b)->Find("node_rank");
  return first != nullptr && second != nullptr && first->value.text() != second->value.text();
}

bool IsHere(const Job& job) { return !job.is_remote && job.Find("srun") == nullptr && job.Find("mpirun") == nullptr; }

bool RunTogether(const Job& a, const Job& b) {
  return a.in_background && a.section == b.section && IsHere(a) && IsHere(b) && !AreExclusive(a, b) && !AreNodesOfOneJob(a, b);
}

void ReportPair(const Job& first, const Port& first_port, const Job&, const Port& port, FindingSink& sink) {
  Finding finding = LaunchFinding(kAR903, Severity::Error, std::min(ConfidenceOf(first_port.sureness), ConfidenceOf(port.sureness)), port.span,
                                  {"this job and the one {} run at the same time, and both use port {}{}",
                                   {first.in_background ? "started before it" : "beside it", port.number, port.is_default && first_port.is_default ? ", the default" : ""}});
  AddNote(finding, first_port.span, {"the other job, in the background", {}});
  finding.help = {"give each job its own port: `--master_port`, or `--standalone`, which takes a free one", {}};
  sink.push_back(std::move(finding));
}

// Whether they do.
bool CheckDevices(const Job& first, const Job& second, FindingSink& sink) {
  const std::optional<Devices> first_devices = DevicesOf(first);
  const std::optional<Devices> devices = DevicesOf(second);
  if (!first_devices || !devices || devices->said.span == first_devices->said.span) return false;
  const auto shared = std::ranges::find_if(devices->numbers, [&](const std::string& device) { return first_devices->numbers.contains(device); });
  if (shared == devices->numbers.end()) return false;
  Finding finding = LaunchFinding(kAR903, Severity::Warning, Confidence::Likely, devices->said.span,
                                  {"this job and the one started before it run at the same time, and both use GPU {}", {*shared}});
  AddNote(finding, first_devices->said.span, {"the other job, in the background", {}});
  sink.push_back(std::move(finding));
  return true;
}

void CheckLoop(const Job& job, FindingSink& sink) {
  if (!job.is_repeated || !job.in_background || !IsHere(job)) return;
  const std::optional<Port> port = PortOf(job);
  if (!port) return;
  const Option* rank = AgentOf(job)->Find("node_rank");
  if (rank != nullptr && !rank->value.IsKnown()) return;
  Finding finding = LaunchFinding(kAR903, Severity::Error, Confidence::Likely, port->span,
                                  {"each round of the loop starts a job in the background, and all of them use port {}", {port->number}});
  finding.help = {"give each job its own port: `--master_port=$((29500 + i))`, or `--standalone`, which takes a free one", {}};
  sink.push_back(std::move(finding));
}

// Whether two jobs get into each other's way.
bool CheckPair(const Job& first, const Job& second, const std::optional<Port>& port, FindingSink& sink) {
  if (AgentOf(first) == nullptr || first.is_passed_over || first.order == second.order || !RunTogether(first, second)) return false;
  const std::optional<Port> first_port = PortOf(first);
  if (!port || !first_port || port->number != first_port->number) return CheckDevices(first, second, sink);
  ReportPair(first, *first_port, second, *port, sink);
  return true;
}

void CheckFile(const LaunchFile& file, FindingSink& sink) {
  for (size_t i = 0; i < file.jobs.size(); ++i) {
    const Job& second = file.jobs[i];
    if (AgentOf(second) == nullptr || second.is_passed_over) continue;
    CheckLoop(second, sink);
    const std::optional<Port> port = PortOf(second);
    // The nearest one that it collides with is enough.
    for (size_t k = i; k-- > 0;) {
      if (CheckPair(file.jobs[k], second, port, sink)) break;
    }
  }
}

void CheckPortCollision(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    // The blocks of a document are alternatives.
    if (file.kind != launch::FileKind::Markdown) CheckFile(file, sink);
  }
}

}  // namespace

extern const Rule PortCollision = {
    .code = kAR903,
    .name = "port-collision",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "launch files",
    .summary = "two jobs on one machine at the same time with one port or one GPU",
    .explanation = R"md(
## What it finds

Two jobs of a script or program of which one runs in the background (`&`, `tmux new -d`, `screen -dm`,
`subprocess.Popen`) while the other starts, and which meet at the same port: one that is written, also in
`--rdzv_endpoint=localhost:29400`, or the default 29500; the same in a loop. And two such jobs that share
a GPU, by `CUDA_VISIBLE_DEVICES`, `--gpu_ids` or `--include=localhost:0,1`.

## Why it hurts

The second job ends with `EADDRINUSE` or `The server socket has failed to listen`; if the timing is
bad, its ranks join the store of the first one and both hang.

## Wrong

```sh
CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py --seed 1 &
CUDA_VISIBLE_DEVICES=2,3 torchrun --nproc_per_node=2 train.py --seed 2 &
wait
```

## Right

```sh
CUDA_VISIBLE_DEVICES=0,1 torchrun --standalone --nproc_per_node=2 train.py --seed 1 &
CUDA_VISIBLE_DEVICES=2,3 torchrun --standalone --nproc_per_node=2 train.py --seed 2 &
wait
```

## When it is silent

* A `wait` (of Python: `wait`, `communicate`) stands between them, or they are in different arms of an `if`,
  or one is in an arm that the script's own values pass over (`N=4`, `if [ $N -eq 2 ]`).
* They run on other machines: `ssh`, `srun`; or they are nodes of one job, with `--node_rank`.
* `--standalone`, a port that is not known, a port of 0, an endpoint beside `--rdzv_id`.

## Fix

There is none: which port is free is not known.

## Proof

There is nothing to replay.
)md",
    .check_launch = CheckPortCollision};

}  // namespace allranks::rules
