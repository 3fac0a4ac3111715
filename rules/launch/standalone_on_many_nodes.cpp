#include "rules/launch/launch_witness.h"

namespace allranks::rules {
namespace {

using findings::Finding;

constexpr std::string_view kAR901 = "AR901";

void ReportStandalone(const Job& job, const Layer& agent, const Said& nodes, bool is_awaited, findings::Text message, FindingSink& sink) {
  const Option& standalone = *agent.Find("standalone");
  Finding finding = LaunchFinding(kAR901, Severity::Error, ConfidenceOf(nodes.sureness), standalone.word.span(), std::move(message));
  AddNote(finding, finding.span, {"makes a separate rendezvous on each node", {}});
  AddNote(finding, nodes.span, {"several nodes", {}});
  finding.help = {"give all nodes the same rendezvous: `--rdzv_backend=c10d --rdzv_endpoint=HOST:PORT --rdzv_id=JOB`", {}};
  finding.witness = LaunchWitness(job, {.nodes = *nodes.value, .awaited = is_awaited ? *nodes.value : 1, .meet = Launchers::Meet::EachForItself},
                                  is_awaited ? witness::Effect::Deadlock : witness::Effect::Semantic);
  sink.push_back(std::move(finding));
}

void CheckStandaloneOnManyNodes(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    for (const Job& job : file.jobs) {
      const Layer* agent = AgentOf(job);
      if (agent == nullptr || agent->Find("standalone") == nullptr) continue;
      const Said own = SaidBy(*agent, "nodes");
      const Said step = NodesOfStep(job);
      Said pods = job.replicas && job.arms.empty() ? SaidOf(*job.replicas) : Said();
      // They may be given different work by what the operator tells them.
      pods.sureness = std::min(pods.sureness, launch::Sureness::Default);
      if (own.IsMoreThan(1)) {
        ReportStandalone(job, *agent, own, true, {"`--standalone` beside {}: each node meets only itself and waits for the others "
                             "until it times out", {own.text}}, sink);
      } else if (step.IsMoreThan(1)) {
        ReportStandalone(job, *agent, step, false, {"`--standalone` on {} nodes ({}): each node trains its own model, "
                              "without a warning", {std::to_string(*step.value), step.text}}, sink);
      } else if (pods.IsMoreThan(1)) {
        ReportStandalone(job, *agent, pods, false, {"`--standalone` on each of {} nodes that `{}` starts: each trains its own model, "
                              "without a warning", {std::to_string(*pods.value), job.replicas->name}}, sink);
      }
    }
  }
}

}  // namespace

extern const Rule StandaloneOnManyNodes = {
    .code = kAR901,
    .name = "standalone-on-many-nodes",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooFewFindings,
    .languages = "launch files",
    .summary = "`--standalone` in a job of several nodes",
    .explanation = R"md(
## What it finds

`torchrun --standalone` with `--nnodes` above one, started by `srun` on several nodes, or in each pod or node
that a manifest of Kubernetes or a task of SkyPilot starts.

## Why it hurts

`--standalone` means: meet at a free port of this machine, whatever else was said. With `--nnodes=2`
each node waits for a second one that never comes, until the rendezvous times out. Under `srun` on
four nodes there are four jobs: each trains on its own, the loss looks plausible, the checkpoints
overwrite one another, and three quarters of the hardware do nothing for the result.

## Wrong

```sh
#SBATCH --nodes=4
srun torchrun --standalone --nproc_per_node=8 train.py
```

## Right

```sh
#SBATCH --nodes=4
srun torchrun --nnodes=4 --nproc_per_node=8 \
    --rdzv_backend=c10d --rdzv_endpoint=$HEAD:29500 --rdzv_id=$SLURM_JOB_ID train.py
```

## When it is silent

* One node, or a number of nodes that the script does not show.
* `srun` on one node of a larger allocation.

## Fix

There is none: where the nodes meet is yours to say.

## Proof

`allranks verify` computes which ranks the launcher of each node starts, and which are missing or exist twice.
Nothing is launched. Where the number of processes is not known, it takes two.
)md",
    .check_launch = CheckStandaloneOnManyNodes,
    .scenario = Scenario::LaunchedRanks};

}  // namespace allranks::rules
