#include "analyzer/knowledge/words.h"
#include "rules/collectives/difference_finding.h"
#include "rules/collectives/hoist.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR102 = "AR102";

// PyTorch takes its groups down without waiting for others, in most releases.
bool MayNotWait(const Context& context, const knowledge::Operation& operation) {
  return operation.op_class == knowledge::OpClass::Destroy && context.program.text(operation.kind) == "destroy_process_group";
}

// What to write instead, by what the call does.
findings::Text HelpFor(std::string_view kind) {
  if (kind == "save_checkpoint") return {"call it on every rank: it picks the rank that writes by itself", {}};
  if (kind == "gradient_reduction") return {"run this backward on every rank: it averages the gradients of all", {}};
  if (kind == "buffer_broadcast" || kind == "module_forward") {
    return {"run the wrapped model on every rank, or on one rank the model inside the wrapper (`model.module`)", {}};
  }
  if (kind == "state_dict" || kind == "optimizer_state_dict" || kind == "collect_results") return {"call it on every rank, and use the result on one", {}};
  return {"call it on every rank", {}};
}

void CheckRankGuardedImplicitCollective(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    const traces::OpPlace& culprit = difference.culprit;
    const knowledge::Operation& operation = OperationAt(context, culprit);
    const bool starts_job = operation.op_class == knowledge::OpClass::Init;
    const bool is_guard = difference.kind == traces::DifferenceKind::Guard;
    if (!(is_guard && IsImplied(operation.op_class)) &&
        !(difference.kind == traces::DifferenceKind::GroupCreation && starts_job)) {
      continue;
    }
    const std::string under = operation.strategies.empty() ? "" : " under " + knowledge::WordsOfAlternatives(operation.strategies, *context.program.names);
    findings::Text message = {"{} {}: it communicates{}, so {}",
                              {OpText(context, difference, culprit), ReachText(difference), under,
                               WaitText(context, difference)}};
    findings::Finding finding = FindingOf(context, difference, kAR102, std::move(message), HelpFor(context.program.text(operation.kind)));
    AddHoist(context, difference, finding);
    finding.is_in_preview = IsUncertainInPython(context, FunctionOf(context, difference), finding) || MayNotWait(context, operation);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule RankGuardedImplicitCollective = {
    .code = kAR102,
    .name = "rank-guarded-implicit-collective",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain: of those on code that was met for the first time too many were wrong; and process groups that are "
                       "only taken down on some ranks: 2 of 6 were right, as PyTorch waits for the others in some releases only",
    .languages = "Python, C, C++",
    .summary = "framework call with a collective inside that only some ranks reach",
    .explanation = R"md(
## What it finds

The same as AR101 for calls that do not look like communication: saving or collecting the state of a sharded
model (`state_dict` under FSDP, DeepSpeed `save_checkpoint`, Accelerate `save_state` and `get_state_dict`,
Lightning `save_checkpoint`, distributed checkpoint `save` and `load`), gathering (`accelerator.gather`, a
DTensor's `full_tensor()`), metrics (`compute()` of torchmetrics, `log(..., sync_dist=True)`), the forward of
a DDP or FSDP module, and starting or ending the process group.

In C and C++ these are the calls that open, close and describe a file of MPI (`MPI_File_open`,
`MPI_File_close`, `MPI_File_set_view`, `MPI_File_set_size`) and `MPI_Finalize`. libtorch's C++ interface
has no wrapper that communicates by itself: its collectives are calls of a process group, of which AR101
speaks.

## Why it hurts

"Only rank 0 saves" is right for `torch.save` and wrong for these calls: each rank holds a part of the state
and sends it. Rank 0 waits for parts that never come, and the job stands still at the checkpoint, often hours
after it was started. Such code frequently works in the small, because under plain DDP the same call is local,
and hangs on the day FSDP or ZeRO-3 is switched on. The NCCL watchdog ends it with `Watchdog caught collective
operation timeout` in an all-gather that nobody wrote. The Flight Recorder reports `missing ranks`, or
`collective type mismatch`.

## Wrong

```python
if accelerator.is_main_process:
    accelerator.save_state(output_dir)
```

## Right

```python
accelerator.save_state(output_dir)      # every rank calls it, the library decides who writes what
if accelerator.is_main_process:
    write_model_card(output_dir)
```

```c
MPI_File_open(MPI_COMM_WORLD, "out.bin", mode, MPI_INFO_NULL, &file);  // every rank
if (rank == 0) MPI_File_write(file, values, n, MPI_DOUBLE, &status);   // this one is local
MPI_File_close(&file);
```

## When it is silent

* The object is known not to be wrapped or sharded, or the call goes through `.module` to the inner model.
* The model inside DDP has no buffers (no batch norm, nothing registered): its forward sends nothing. Where
  that cannot be told, as of a model of an unknown library, the finding is *possible*.
* The forward makes no gradients, and the loop around it trains: DDP sends buffers only in the first forward
  after one that was made to train, so what rank 0 sends while it evaluates is what the others wait for in
  their next step. The finding is *possible*: another operation may come in between, or no step follow. Right
  behind the first step, as in `if step % 100 == 0 and rank == 0:`, it is *likely*: in their second step the
  others agree on the order of DDP's buckets before they receive anything.
* All ranks reach the call after all, as in AR101.
* The condition asks for the strategy as well, and admits all ranks where the strategy shards: `if
  is_main_process or distributed_type == DistributedType.DEEPSPEED`.
* The process has left the job by then: `accelerator.end_training()`, `destroy_process_group()`.
* The call communicates under some strategies only (the message names them), and the job cannot be run under
  these: all lines that start the script choose another one, or it does what they do not allow.

Where nothing in the program asks for such a strategy (an option, an argument, a line that starts it, a
configuration of a launcher), the finding is `possible`, and else `likely` rather than `certain`.

## Fix

Move the call out of the condition. Where its result is needed on one rank, let all ranks call it and test the
rank before using the result: `state = accelerator.get_state_dict(model)`, then `if is_main_process:
save(state)`.

`--unsafe-fixes` moves the call before or behind the `if`, where it is the first or last line of it and there
is no `else`. It is not safe: whether the others can make the call is not known.

## Proof

`allranks verify` replays the operations that the call stands for: the ranks that called it wait in the first
of them.
)md",
    .check = CheckRankGuardedImplicitCollective,
    .scenario = Scenario::SkippedCollective,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
