#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "rules/launch/debug_in_program.h"
#include "rules/launch/job_facts.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;

constexpr std::string_view kAR906 = "AR906";

// How sure it is that the setting costs this job anything; nothing: it does not.
std::optional<Confidence> Costs(const Job& job, const launch::VariableEntry& variable) {
  // Whether the nodes have another way to talk to one another nothing says: of those that were read, most have none.
  if (variable.only_if == "several nodes") return NodesOf(job).value == 1 ? std::nullopt : std::optional(Confidence::Possible);
  if (variable.only_if == "no direct copies") {
    const launch::Setting* direct = job.Env("NCCL_P2P_DISABLE");
    if (direct == nullptr || direct->value.text() != "1") return std::nullopt;
  }
  if (variable.only_if == "each call is traced") {
    const launch::Setting* parts = job.Env("NCCL_DEBUG_SUBSYS");
    const bool has_calls = parts != nullptr && (parts->value.text().find("ALL") != std::string::npos || parts->value.text().find("CALL") != std::string::npos);
    if (!has_calls) return std::nullopt;
  }
  const Said processes = ProcessesPerNode(job);
  const bool is_between_ranks = variable.only_if == "several processes" || variable.only_if == "no direct copies";
  if (is_between_ranks && processes.value == 1) return std::nullopt;
  // One process on one node: somebody looks for an error.
  const bool is_one = processes.value == 1 && NodesOf(job).value == 1;
  return is_one ? std::nullopt : std::optional(Confidence::Likely);
}

// A job that runs tests looks for errors.
bool RunsTests(const Job& job) {
  const auto names_tests = [](const Word& word) {
    const std::string& text = word.text();
    return text == "pytest" || text.ends_with("/pytest") || text.starts_with("tests/") || text.starts_with("test/") || text.find("/tests/") != std::string::npos;
  };
  return names_tests(job.script) || std::ranges::any_of(job.args, names_tests);
}

// Where a block of code stands in a page, with the lines around it.
struct Block {
  size_t begin = 0;
  size_t end = 0;
};

std::vector<Block> BlocksOf(std::string_view page) {
  constexpr std::string_view kFence = "```";
  std::vector<Block> blocks;
  for (size_t at = page.find(kFence); at != std::string_view::npos;) {
    const size_t end = std::min(page.find(kFence, at + kFence.size()), page.size());
    blocks.push_back({at, end});
    at = end == page.size() ? std::string_view::npos : page.find(kFence, end + kFence.size());
  }
  return blocks;
}

// What people read, with the blocks of code in it.
struct Page {
  std::string_view text;
  std::vector<Block> blocks;
};

// None of any other file.
std::optional<Page> PageOf(const LaunchContext& context, const LaunchFile& file) {
  if (file.kind != launch::FileKind::Markdown && file.kind != launch::FileKind::Notebook) return std::nullopt;
  const std::string_view text = context.files[file.file].text;
  return Page{text, BlocksOf(text)};
}

// The page speaks of the variable elsewhere than in what starts jobs, and so says what it is for.
bool IsExplained(const Page& page, const LaunchFile& file, const launch::Setting& setting) {
  for (size_t at = page.text.find(setting.name); at != std::string_view::npos; at = page.text.find(setting.name, at + 1)) {
    const auto block = std::ranges::find_if(page.blocks, [&](const Block& each) { return each.begin < at && at < each.end; });
    if (block == page.blocks.end()) return true;
    const auto holds = [&](source::Span span) { return span.begin >= block->begin && span.begin < block->end; };
    if (!holds(setting.span) && std::ranges::none_of(file.jobs, [&](const Job& job) { return holds(job.span); })) return true;
  }
  return false;
}

// What a file says more than once is one finding, at the first place.
struct Reported {
  std::set<source::Span> places;
  std::map<std::string, Finding> findings;  // by the assignment
};

void NotePlace(const Job& job, const launch::Setting& setting, const launch::VariableEntry& variable,
               Confidence confidence, Reported& reported) {
  const std::string assignment = setting.name + "=" + setting.value.text();
  if (const auto known = reported.findings.find(assignment); known != reported.findings.end()) {
    AddNote(known->second, setting.span, {"and here", {}});
    known->second.confidence = std::max(known->second.confidence, confidence);
    return;
  }
  Finding finding = LaunchFinding(kAR906, Severity::Warning, confidence, setting.span,
                                  {"`{}` is set for this job: {}", {assignment, variable.why}});
  AddNote(finding, job.innermost().word.span(), {"the job that runs with it", {}});
  finding.help = {"set it on the command line while debugging, not in the script", {}};
  reported.findings.emplace(assignment, std::move(finding));
}

// Commands of a page are typed, so what stands before one is set while debugging.
void LookAtJob(const LaunchContext& context, const LaunchFile& file, const std::optional<Page>& page, const Job& job, Reported& reported) {
  if (RunsTests(job) || job.is_passed_over) return;
  for (const launch::Setting& setting : job.environment) {
    const launch::VariableEntry* variable = context.launches.tables.FindVariable(setting.name);
    if (variable == nullptr || std::ranges::count(variable->debug_values, setting.value.text()) == 0) continue;
    if (IsOfNcclUnused(context, job, setting.name) || (page && IsExplained(*page, file, setting))) continue;
    const std::optional<Confidence> confidence = Costs(job, *variable);
    const bool is_idle = std::ranges::any_of(variable->unless, [&](const std::string& name) { return job.Env(name) != nullptr; });
    if (!confidence || is_idle || (page && setting.is_of_command)) continue;
    if (job.Env(setting.name)->span != setting.span || !reported.places.insert(setting.span).second) continue;
    NotePlace(job, setting, *variable, *confidence, reported);
  }
}

void CheckDebugLeftOn(const LaunchContext& context, FindingSink& sink) {
  for (const LaunchFile& file : context.launches.files) {
    // It is there to look for an error.
    if (file.runs_debugger || file.jobs.empty()) continue;
    const std::optional<Page> page = PageOf(context, file);
    Reported reported;
    for (const Job& job : file.jobs) LookAtJob(context, file, page, job, reported);
    for (auto& [assignment, finding] : reported.findings) sink.push_back(std::move(finding));
  }
}

void CheckDebugInProgram(const Context& context, FindingSink& sink) { FindDebugInProgram(context, kAR906, sink); }

}  // namespace

extern const Rule DebugLeftOn = {
    .code = kAR906,
    .name = "debug-left-on",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "of the last 32 findings on public code that were read 19 were right: many of these settings are meant",
    .languages = "launch files, Python",
    .summary = "debugging setting that slows every run down",
    .explanation = R"md(
## What it finds

Variables of the environment that are set for a job and are meant for looking for an error:
`CUDA_LAUNCH_BLOCKING=1`, `TORCH_DISTRIBUTED_DEBUG=DETAIL`, `NCCL_P2P_DISABLE=1`,
`NCCL_SHM_DISABLE=1`, `NCCL_IB_DISABLE=1`, `NCCL_DEBUG=TRACE` of all calls. They are listed, with what each
costs, in `knowledge/launch/variables.toml`. Once for each file, with all places that set it. Also where the
program sets one itself on every rank: `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`.

## Why it hurts

They were put in on the day when something hung, and stayed. `CUDA_LAUNCH_BLOCKING` lets nothing
overlap, `DETAIL` sends a collective before each collective, and the `DISABLE` switches take the
fast path between GPUs or nodes away: jobs run at a half or a tenth of their speed, and nothing in
the log says why.

## Wrong

```sh
export CUDA_LAUNCH_BLOCKING=1
torchrun --nproc_per_node=8 train.py
```

## Right

```sh
torchrun --nproc_per_node=8 train.py
```

## When it is silent

* A job of one process, one that runs tests, and one in an arm that the script's own values pass over.
* A page that says what to type before a command: `CUDA_LAUNCH_BLOCKING=1 python train.py` is how one debugs.
  A page that speaks of the variable elsewhere than in what starts jobs, and so tells what it is for.
* A file that runs something under a debugger (`cuda-gdb`, `compute-sanitizer`).
* `NCCL_IB_DISABLE` in a job of one node, where it changes nothing. In others it is *possible*: nothing says
  whether the nodes have InfiniBand or RoCE.
* `NCCL_SHM_DISABLE` unless `NCCL_P2P_DISABLE` is set as well: GPUs that copy directly need no shared memory.
* `NCCL_IB_DISABLE` beside the variables of another network, such as that of AWS (`FI_PROVIDER`).
* Variables of NCCL for a program whose process groups all use another backend.
* `NCCL_DEBUG=INFO`, which costs nothing after the start, and `TRACE` without
  `NCCL_DEBUG_SUBSYS=ALL` or `CALL`, which says no more than `INFO`.

In a program it is silent under a test, which may ask whether to look for an error, in a notebook, and
where one process runs it or nothing there communicates, wraps a model or asks for ranks.

A machine whose GPUs cannot copy to one another directly needs `NCCL_P2P_DISABLE`: accept the
finding with a comment that says so.

## Fix

There is none: the machine may need the setting.

## Proof

There is nothing to replay.
)md",
    .check = CheckDebugInProgram,
    .check_launch = CheckDebugLeftOn};

}  // namespace allranks::rules
