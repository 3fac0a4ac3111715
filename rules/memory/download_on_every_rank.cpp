#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/first_process.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/one_process_modes.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

constexpr std::string_view kAR810 = "AR810";

// Commands that fetch or unpack files, whatever their arguments.
constexpr std::string_view kFetches[] = {"wget ",   "curl -O", "curl -o ", "git clone ", "gdown ", "huggingface-cli download ",
                                         "unzip ", "tar x",   "tar -x"};

class Downloads {
 public:
  Downloads(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options),
        first_(context.program, context.knowledge, context.facts, context.index), neighbourhood_(context.program) {}

  void Run() {
    std::vector<const KnownCall*> shared;
    for (const KnownCall& call : context_.index.known_calls()) {
      const Site site{call.function, call.expr};
      if (!call.entry->Has(knowledge::Role::Download) || (!IsAskedFor(call) && !IsOfCell(site))) continue;
      const traces::RankSet ranks = context_.ranks.At(site, world_);
      const bool is_first = first_.IsLeftToIt(call.function) || first_.IsThroughWith({&site, 1}) || IsOfCell(site);
      if (ranks == traces::RankSet::All(world_.size()) && !is_first && !IsInTurn(site)) shared.push_back(&call);
      else fetched_first_.push_back(&call);
    }
    std::ranges::sort(shared, {}, [&](const KnownCall* call) { return context_.program.module_of(call->function)[call->expr].begin; });
    for (const KnownCall* call : shared) Visit(*call);
  }

 private:
  bool IsAskedFor(const KnownCall& call) const {
    const bool is_option = std::ranges::any_of(call.entry->params, [&](base::NameId param) { return context_.program.text(param) == "download"; });
    if (IsOwnFolder(call)) return false;
    if (const variation::ValueId command = CommandOf(call)) return Fetches(command);
    if (is_option) return MayBeTrue(call);
    // `clip.load("/models/ViT-B-32.pt")` of a file that is there.
    const std::string_view name = context_.values.Str(context_.index.Arg(call, "name"));
    if (name.starts_with('/') || name.starts_with("./") || name.starts_with('~')) return false;
    return context_.values.Str(context_.index.Arg(call, "source")) != "local";
  }

  // `os.system(command)`, `subprocess.run(args)`.
  variation::ValueId CommandOf(const KnownCall& call) const {
    const variation::ValueId command = context_.index.Arg(call, "command");
    return command ? command : context_.index.Arg(call, "args");
  }

  // Whatever the program is handed: what it begins with says what it does.
  bool Fetches(variation::ValueId command) const {
    const variation::Value& node = context_.values[command];
    std::string text;
    if (node.kind == variation::ValueKind::Tuple) {
      for (const variation::ValueId word : context_.facts.values_store.Kids(command)) text += std::string(context_.values.Str(word)) + " ";
    } else if (const auto texts = context_.file_uses.paths().PathsOf(command, nullptr); !texts.empty() && !texts[0].pieces.empty() && !texts[0].pieces[0].hole) {
      text = texts[0].pieces[0].text + " ";
    }
    return std::ranges::any_of(kFetches, [&](std::string_view begin) { return text.starts_with(begin); });
  }

  // Also where some caller says so, or the user may.
  bool MayBeTrue(const KnownCall& call) const {
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.index.Arg(call, "download"));
    return std::ranges::any_of(leaves, [&](variation::ValueId leaf) { return context_.values.IsTrue(leaf); }) || IsLeftToUser(call);
  }

  // `download=args.download`
  bool IsLeftToUser(const KnownCall& call) const {
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(context_.index.Arg(call, "download"));
    return std::ranges::none_of(leaves, [&](variation::ValueId leaf) { return context_.values.IsTrue(leaf); }) &&
           std::ranges::any_of(leaves, [&](variation::ValueId leaf) { return context_.options.IsOption(context_.program.funcs[call.function].module, leaf); });
  }

  // Each rank has a folder of its own: one of its number, of chance or of its process.
  bool IsOwnFolder(const KnownCall& call) const {
    return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
      const variation::ValueId folder = role.param ? context_.index.Arg(call, context_.program.text(role.param)) : variation::ValueId::None();
      return folder && IsOwn(folder, 0);
    });
  }

  // Also where each caller hands over such a one.
  bool IsOwn(variation::ValueId folder, int depth) const {
    constexpr int kMostCalls = 4;
    return folder && depth < kMostCalls && context_.values.AnyPart(folder, [&](variation::ValueId part) {
      const variation::Value& node = context_.facts.values_store[part];
      if (node.kind != variation::ValueKind::Param) return !node.axes.empty();
      const auto callers = context_.index.CallersOf(node.function());
      return !callers.empty() && std::ranges::all_of(callers, [&](const Site& caller) {
        return IsOwn(context_.index.PassedBy(caller, node.function(), node.param_index()), depth + 1);
      });
    });
  }

  // A cell of a notebook runs in one process, and those that a function of the notebook starts come later: what it fetched, or read, is there.
  bool IsOfCell(const Site& site) const {
    const binding::Func& func = context_.program.funcs[site.function];
    return func.function == ir::kTopLevel && context_.program.infos[func.module].path.ends_with(".ipynb");
  }

  void Visit(const KnownCall& call) {
    const Site site{call.function, call.expr};
    if (!runs_.IsRunByRanks(site) || IsFetchedBefore(call) || IsPackageOfProject(call)) return;
    const source::Span span = SpanOf(context_, site);
    if (!reported_.insert({span.file.index, span.begin}).second || !IsFirstOf(call)) return;
    const bool is_sure = runs_.IsSharedWork({&site, 1}) && runs_.IsStartedOnRanks(site);
    const auto [told, is_first] = told_.emplace(std::pair(call.function.index, is_sure), sink_.size());
    if (!is_first) return AddLabel(sink_[told->second], span, LabelRole::Note, {"and here", {}});
    Finding finding = FindingAt(context_, kAR810, Severity::Info, is_sure ? Confidence::Likely : Confidence::Possible, site, {"every rank downloads into the same folder, or unpacks there: on the first run, a rank "
                                       "may read what another is still writing", {}});
    if (IsLeftToUser(call)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingUnknown));
    findings::Assume(finding, modes_.AssumedAt({&site, 1}));
    AddLabel(finding, finding.span, LabelRole::Primary, {"all ranks write the same files here", {}});
    finding.help = {"download on rank 0 (or on local rank 0 of each node, if they share no disk), then "
                    "`dist.barrier()` on all ranks, then read", {}};
    finding.is_in_preview = IsWithoutCommand(context_, site.function, finding);
    sink_.push_back(std::move(finding));
  }

  // `torch.hub.list(repository)`, and `torch.hub.load(repository, model)` behind it in the file: what the first one fetched is there.
  bool IsFirstOf(const KnownCall& call) {
    const variation::ValueId repository = context_.index.Arg(call, "repo_or_dir");
    if (!repository || context_.values.Str(repository).empty()) return true;
    return fetched_.insert({context_.program.funcs[call.function].module.index, repository.index}).second;
  }

  // Here, or where it is called from, one rank goes first.
  bool IsInTurn(const Site& site) const {
    return std::ranges::any_of(context_.index.WaysTo(site), [&](const Site& way) {
      const traces::RankSet ranks = context_.ranks.At(way, world_);
      return runs_.IsInTurn({&way, 1}) || (ranks.count() > 0 && ranks != traces::RankSet::All(world_.size()));
    });
  }

  // `clip.load` where the project has a package `clip` of its own: which is meant depends on where the script is started.
  bool IsPackageOfProject(const KnownCall& call) const {
    const std::string_view name = context_.program.text(call.entry->name);
    const std::string package(name.substr(0, name.find('.')));
    return std::ranges::any_of(context_.program.infos, [&](const binding::ModuleInfo& info) {
      const std::string dotted = "." + info.dotted + ".";
      return dotted.find("." + package + ".") != std::string::npos;
    });
  }

  // One rank, or the process that starts them, fetches this data set already, somewhere in the program.
  bool IsFetchedBefore(const KnownCall& call) const {
    const std::vector<ir::ModuleId> files = neighbourhood_.Of(context_.program.funcs[call.function].module);
    return std::ranges::any_of(fetched_first_, [&](const KnownCall* other) {
      const ir::ModuleId module = context_.program.funcs[other->function].module;
      const bool is_far_cell = IsOfCell({other->function, other->expr}) && module != context_.program.funcs[call.function].module;
      return other->entry == call.entry && !is_far_cell && std::ranges::count(files, module) > 0;
    });
  }

  const Context& context_;
  FindingSink& sink_;
  objects::JobRuns runs_;
  objects::OneProcessModes modes_;
  objects::FirstProcess first_;
  binding::Neighbourhood neighbourhood_;
  traces::World world_ = objects::SmallJob(context_.facts.job);
  std::vector<const KnownCall*> fetched_first_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
  std::map<std::pair<uint32_t, bool>, size_t> told_;  // by function and whether it is likely: its finding, which names all calls
  std::set<std::pair<uint32_t, uint32_t>> fetched_;  // by file: repositories, as values
};

void CheckDownloadOnEveryRank(const Context& context, FindingSink& sink) { Downloads(context, sink).Run(); }

}  // namespace

extern const Rule DownloadOnEveryRank = {
    .code = kAR810,
    .name = "download-on-every-rank",
    .severity = Severity::Info,
    .preview_in_part = "findings in programs that no command here starts on several ranks: 6 of the 7 that were read were right, and 9 of 10 of the others",
    .languages = "Python",
    .summary = "data that every rank downloads or unpacks into one folder",
    .explanation = R"md(
## What it finds

A data set that fetches itself (`CIFAR10(root, download=True)`), `torch.hub.load` of a repository, an archive
that is unpacked and what else the knowledge base gives the role `download`, where all ranks of a job come by;
also programs that fetch or unpack (`os.system("wget ...")`, `subprocess.run(["git", "clone", url])`), and
what the user may ask for (`download=args.download`). The calls of one function are one finding.

## Why it hurts

Each rank asks whether the files are there, and in the first run on a machine all of them find nothing: they
write one archive over one another and unpack it at the same time. Some ranks then read half a file, or fail
with `File not found or corrupted`, and the others wait for them. The second run works, so nobody finds out
why.

## Wrong

```python
dist.init_process_group("nccl")
data = CIFAR10("data", download=True)
```

## Right

```python
dist.init_process_group("nccl")
if local_rank == 0:
    CIFAR10("data", download=True)
dist.barrier()
data = CIFAR10("data")
```

## When it is silent

* A rank, or the process that starts the ranks, fetches the same data set somewhere in the program: also
  `prepare_data` of Lightning, and what stands before `trainer.fit` in a script that starts the others there.
* A `with` around it lets one rank go first (`main_process_first`) or holds a lock, here or where it is
  called; or it stands behind a branch of a barrier in which the others wait until one is done.
* Some place that calls it is reached by one rank only.
* `download` is false, or not known; or the name is the path of a file that is there
  (`clip.load("/models/ViT-B-32.pt")`).
* The folder differs by rank, or is a temporary one, also where each caller hands over such a one.
* A cell of the notebook has fetched the same data set, or read it.
* The project has a package of that name (`clip`): which is meant depends on where the script is started.
* One process runs the script, as all lines of scripts and pages start it, or the callers are not seen.
* A switch that the program sets itself (`distributed = False`) keeps the job from being made.

It is *possible*, and hidden by default, where the commands of the project that lead there by their options
start one process, or all that start ranks leave out an option that it takes.

## Fix

None: which rank has the disk is not known.

## Proof

There is nothing to replay: nothing communicates.
)md",
    .check = CheckDownloadOnEveryRank};

}  // namespace allranks::rules
