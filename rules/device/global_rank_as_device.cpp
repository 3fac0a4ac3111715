#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/objects/one_node.h"
#include "analyzer/objects/several_nodes.h"
#include "rules/device/device_places.h"
#include "rules/device/local_rank_name.h"
#include "rules/finding_parts.h"
#include "rules/scenario_witness.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR201 = "AR201";

class RankDevices {
 public:
  RankDevices(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), world_(objects::SmallJob(context_.facts.job)),
        one_node_(context.program, context.knowledge, context.facts, context.index), local_ranks_(context) {}

  void Run() {
    // On one node the global rank is the local rank.
    if (context_.facts.job.nodes == 1) return;
    places_ = DevicePlaces(context_);
    std::ranges::stable_sort(places_, {}, [&](const DevicePlace& place) { return SpanOf(context_, place.site); });
    for (const DevicePlace& place : places_) Visit(place);
    for (Reported& reported : reported_) AddFix(reported);
  }

 private:
  // A finding, and what would fix all places that it stands for.
  struct Reported {
    size_t finding = 0;                 // in the sink
    std::vector<findings::Edit> edits;
    bool has_fix = true;                // a fix that leaves some of the places as they are is none
  };

  void Visit(const DevicePlace& place) {
    const ir::ModuleId module = context_.program.funcs[place.site.function].module;
    // One finding a number: `torch.device(f"cuda:{rank}")` is met as a call and as a text.
    if (seen_.contains(SpanOf(context_, place.site))) return;
    const std::optional<uint32_t> rank = RankWithoutDevice(place);
    if (!rank || context_.values.HasFlag(place.ordinal, variation::kOneNode) || one_node_.Has(module)) return;
    // The rank in some group, which may be that of a node.
    if (context_.values.Mentions(place.ordinal, knowledge::Coordinate::GroupRank) || IsCountedOnANode(place.ordinal)) return;
    seen_.insert(SpanOf(context_, place.site));
    const auto [known, is_new] = by_source_.emplace(std::pair(SpanOf(context_, place.site).file, SourceOf(place)), reported_.size());
    const LocalRankText local = local_ranks_.At(place.site);
    if (is_new) {
      reported_.push_back({.finding = sink_.size()});
      Report(place, *rank, local);
    } else {
      AddLabel(sink_[reported_[known->second].finding], SpanOf(context_, place.site), LabelRole::Note, {"and here", {}});
    }
    NoteEdits(place, local, reported_[known->second]);
  }

  void NoteEdits(const DevicePlace& place, const LocalRankText& local, Reported& reported) const {
    reported.has_fix = reported.has_fix && !local.text.empty();
    if (!reported.has_fix) return;
    std::ranges::move(EditsOf(place, local), std::back_inserter(reported.edits));
  }

  void AddFix(Reported& reported) const {
    if (!reported.has_fix) return;
    // The import is put in once.
    std::set<std::pair<source::Span, std::string>> known;
    std::erase_if(reported.edits, [&](const findings::Edit& edit) { return !known.emplace(edit.span, edit.replacement).second; });
    sink_[reported.finding].fixes.push_back(MakeFix("select the device by the local rank", Applicability::Safe, std::move(reported.edits)));
  }

  // Where the number comes from: what is selected by it in this file has one cause, and so have all places that ask for the rank themselves.
  source::Span SourceOf(const DevicePlace& place) const {
    constexpr size_t kLongest = 64;
    const bool is_call = context_.program.module_of(place.site.function)[place.site.expr].kind == ir::ExprKind::Call;
    if (is_call && context_.values[place.ordinal].kind == variation::ValueKind::Coordinate) return {};
    const std::vector<variation::WhyStep> steps = variation::ExplainVariation(
        context_.program, context_.knowledge, context_.facts, place.site.function, place.site.expr, kLongest);
    return steps.empty() ? SpanOf(context_, place.site) : steps.back().span;
  }

  // `rank % 8`: whoever divides knows how many devices a node has.
  bool IsCountedOnANode(variation::ValueId ordinal) const {
    return context_.values.AnyPart(ordinal, [&](variation::ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (node.kind != variation::ValueKind::Binary || node.binary_op() != ir::BinaryOp::Mod) return false;
      return context_.values.Int(context_.facts.values_store.OperandsOf(part).right).has_value();
    });
  }

  // The first rank of two nodes that gets here and selects a device which its node does not have; none if each node selects
  // the same devices, or all ranks one.
  std::optional<uint32_t> RankWithoutDevice(const DevicePlace& place) const {
    std::vector<int64_t> ordinals;
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      const std::optional<int64_t> ordinal = context_.values.OnRank(place.ordinal, world_, rank);
      if (!ordinal || (rank > 0 && *ordinal == ordinals.front())) return std::nullopt;
      ordinals.push_back(*ordinal);
    }
    // Who gets here is a long question, and few places lead to it.
    std::optional<traces::RankSet> here;
    for (uint32_t rank = world_.per_node; rank < world_.size(); ++rank) {
      const bool counts_on = ordinals[rank] != ordinals[rank - world_.per_node];
      if (!counts_on || ordinals[rank] < world_.per_node || ordinals[rank] >= world_.size()) continue;
      if (!here) here = context_.ranks.At(place.site, world_);
      if (here->has(rank)) return rank;
    }
    return std::nullopt;
  }

  void Report(const DevicePlace& place, uint32_t rank, const LocalRankText& local) {
    const bool is_python = context_.program.module_of(place.site.function).language == ir::Language::Python;
    // MPI is there for several nodes.
    const ir::ModuleId module = context_.program.funcs[place.site.function].module;
    const bool may_have_several = !is_python || HasSeveralNodes(module);
    const bool by_name = context_.values.HasFlag(place.ordinal, variation::kByNameOnly);
    const std::string number = Quoted(context_, place.site);
    Finding finding = FindingAt(
        context_, kAR201, Severity::Error, by_name || !may_have_several ? Confidence::Possible : Confidence::Likely, place.site,
        {"`{}` counts the ranks of all nodes, but selects a device: in {}, with {} devices per node, rank {} asks for device {}",
         {number, place.sink.starts_with('`') ? place.sink : "`" + place.sink + "`", std::to_string(world_.per_node), std::to_string(rank), std::to_string(rank)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"this must be the local rank", {}});
    AddReasons(context_, place.site, finding);
    finding.help = is_python ? HelpOf(local) : findings::Text{"use the index of the process on its node: its rank in the communicator that "
                                "`MPI_Comm_split_type` makes of a node, or what the launcher says (`LOCAL_RANK`, "
                                "`OMPI_COMM_WORLD_LOCAL_RANK`, `SLURM_LOCALID`)",
                    {}};
    finding.witness = WitnessOf(place);
    finding.is_in_preview = is_python && context_.facts.job.nodes == 0;
    sink_.push_back(std::move(finding));
  }

  static findings::Text HelpOf(const LocalRankText& local) {
    if (local.text.empty()) return {"use the index of the process on its node", {}};
    return {"use the local rank: `{}`", {local.variable.empty() ? local.text : local.variable}};
  }

  // Few programs have a finding for which it has to be known: it takes a look at all expressions.
  bool HasSeveralNodes(ir::ModuleId module) {
    if (!several_nodes_) several_nodes_.emplace(context_.program, context_.knowledge, context_.facts, context_.launch);
    return several_nodes_->Has(module);
  }

  witness::Witness WitnessOf(const DevicePlace& place) const {
    witness::DeviceOrdinal scenario{.devices = world_.per_node, .ordinals = {}};
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      scenario.ordinals.push_back(static_cast<int32_t>(*context_.values.OnRank(place.ordinal, world_, rank)));
    }
    return ScenarioWitness(world_, witness::Effect::Error, std::move(scenario));
  }

  std::vector<findings::Edit> EditsOf(const DevicePlace& place, const LocalRankText& local) const {
    const ir::ModuleId module = context_.program.funcs[place.site.function].module;
    std::vector<findings::Edit> edits = {Replace(SpanOf(context_, place.site), Quotes(place, local.text))};
    if (!local.variable.empty()) {
      for (findings::Edit& edit : EnsureImport(context_, module, "os", "import os")) edits.push_back(std::move(edit));
    }
    return edits;
  }

  // Inside a text in double quotes the key of the variable stands in single ones.
  std::string Quotes(const DevicePlace& place, std::string text) const {
    const ir::Module& module = context_.program.module_of(place.site.function);
    const ir::ExprId parent = context_.index.tree(context_.program.funcs[place.site.function].module).Parent(place.site.expr);
    if (!parent || module[parent].kind != ir::ExprKind::FString) return text;
    const bool is_double = TextOf(context_, module.span(parent)).find('"') != std::string_view::npos;
    if (is_double) std::ranges::replace(text, '"', '\'');
    return text;
  }

  const Context& context_;
  FindingSink& sink_;
  traces::World world_;
  objects::OneNodeJobs one_node_;
  LocalRankNames local_ranks_;
  std::optional<objects::SeveralNodes> several_nodes_;
  std::vector<DevicePlace> places_;
  std::set<source::Span> seen_;
  std::vector<Reported> reported_;
  std::map<std::pair<source::FileId, source::Span>, size_t> by_source_;  // in `reported_`, by the file and where the number comes from
};

void CheckGlobalRankAsDevice(const Context& context, FindingSink& sink) { RankDevices(context, sink).Run(); }

}  // namespace

extern const Rule GlobalRankAsDevice = {
    .code = kAR201,
    .name = "global-rank-as-device",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python programs, unless the settings say that the job has several nodes: of the last ones that were read, 5 of 13 were right, "
                       "and 1 of 4 where a command is seen to start several nodes",
    .languages = "Python, C, C++",
    .summary = "device selected by the global rank, which counts on from node to node",
    .explanation = R"md(
## What it finds

A device that is selected by the global rank, or by arithmetic on it that exceeds the devices of a node: in
`set_device`, `device_ids`, `.to(rank)`, `torch.device("cuda", rank)`, in texts such as `f"cuda:{rank}"`, in
`cudaSetDevice(rank)`, and in every other call that selects a device according to the knowledge base. The
number is computed for each rank of two nodes with two devices. A rank that asks for a device which its node
does not have is a finding.

## Why it hurts

On one node, the global and the local rank are the same, so the program works. On the second node of a job
with eight devices per node, the first process has rank 8 and devices 0 to 7. It stops with
`CUDA error: invalid device ordinal`, and the first node waits in `init_process_group` or in the first
collective until it times out. If devices are hidden with `CUDA_VISIBLE_DEVICES`, several processes may share
device 0 instead and run out of memory.

## Wrong

```python
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
model = DDP(model.cuda(), device_ids=[rank])
```

## Right

```python
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = DDP(model.cuda(), device_ids=[local_rank])
```

## When it is silent

* The number is the index of a process that the program starts itself on one machine: `mp.spawn`,
  `Process(target=...)`.
* It is taken modulo the number of devices: `rank % torch.cuda.device_count()`, `rank % 8`,
  `rank % count` after `cudaGetDeviceCount(&count)`.
* It is a local rank of any launcher: `LOCAL_RANK`, `SLURM_LOCALID`, `OMPI_COMM_WORLD_LOCAL_RANK`,
  `accelerator.local_process_index`, `dist.get_node_local_rank()`, the rank in a communicator of
  `MPI_Comm_split_type`.
* The process group is set up with as many ranks as this machine has devices, or each process uses its index
  on this machine as its rank: then `dist.get_rank()` is the local rank wherever the program asks for it.
* Another place in the file selects a device by the same rank: one finding names them all, with one fix.
* Only a name says that it is a rank, or nothing says that the program is made for several nodes: no command
  starts it on several, it takes no number of nodes, asks for no node rank, reads nothing from Slurm, and
  counts no ranks on a node. `--min-confidence possible` shows these. In C and C++ they are always shown.

## Fix

`--fix` replaces the rank with the local rank: a variable that holds it at this place; the index that
`mp.spawn` gives to each process; `hvd.local_rank()` for `hvd.rank()`; or the variable of the launcher that
gives the rank: `SLURM_LOCALID` for `SLURM_PROCID`, and `LOCAL_RANK` for `RANK` or if the process group finds
the rank by itself. If none of these is known, there is no fix. In C and C++, only a variable of the program
is used.

## Proof

`allranks verify` computes the ordinal of every rank on two nodes and names the first that does not exist.
)md",
    .check = CheckGlobalRankAsDevice,
    .scenario = Scenario::DeviceOrdinal,
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
