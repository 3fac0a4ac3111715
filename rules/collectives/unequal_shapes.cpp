#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR110 = "AR110";

void CheckUnequalShapes(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::Shape) continue;
    findings::Text message = {"{} needs the same shape on every rank: this tensor's size {}",
                              {OpText(context, difference, difference.culprit), VariesText(difference.axes)}};
    findings::Text help = {
        "reduce to a fixed size first, or gather the sizes, pad to the largest, and cut the result", {}};
    if (difference.condition.file) {
      message = {"{} needs the same number of elements on every rank: {} {}",
                 {OpText(context, difference, difference.culprit), ConditionText(context, difference),
                  VariesText(difference.axes)}};
      help = {"exchange the counts first, then use the variant with one count a rank (`MPI_Allgatherv`), or pad to "
              "the largest", {}};
    }
    findings::Finding finding = FindingOf(context, difference, kAR110, std::move(message), std::move(help));
    finding.is_in_preview = IsInPython(context, FunctionOf(context, difference));
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule UnequalShapes = {
    .code = kAR110,
    .name = "unequal-shapes",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code: of the 12 that were read none was right",
    .languages = "Python, C, C++",
    .summary = "collective of fixed shape on a tensor whose size differs between ranks",
    .explanation = R"md(
## What it finds

`all_gather`, `all_gather_into_tensor`, `reduce_scatter`, `all_reduce` and other operations that
need the same shape on every rank, on a tensor whose size comes from the rank's own data: a
selection by a mask, `nonzero()`, a concatenation over a loop of per-rank length, the last and
smaller batch, sequences padded to the longest of the *local* batch.

In C and C++, where the count is an argument, a count that came about differently on each rank: the
`size()` of a container that items were added to or erased from under a test of the rank's own data,
or in a loop whose rounds differ, and a number counted up in such a way.

## Why it hurts

The library sends as many bytes as *this* rank's tensor has. With NCCL a rank that expects more
waits forever or reads memory that does not belong to the result; gathered rows are shifted against
their labels and metrics come out wrong without any error. It works in tests, because there every
batch is full. The NCCL watchdog ends a hang with `Watchdog caught collective operation timeout`;
`TORCH_DISTRIBUTED_DEBUG=DETAIL` and the Flight Recorder report `size or syntax mismatch`.

## Wrong

```python
hits = scores[scores > threshold]                 # a different number on each rank
out = [torch.empty_like(hits) for _ in range(world_size)]
dist.all_gather(out, hits)
```

```cpp
for (int row = rank; row < rows; row += size) own.push_back(Compute(row));
const int n = own.size();
MPI_Allgather(own.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
```

## Right

```python
size = torch.tensor([hits.numel()], device=device)
sizes = [torch.zeros_like(size) for _ in range(world_size)]
dist.all_gather(sizes, size)
longest = int(max(sizes))
padded = F.pad(hits, (0, longest - hits.numel()))
out = [torch.empty_like(padded) for _ in range(world_size)]
dist.all_gather(out, padded)
```

```cpp
MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
MPI_Allgatherv(own.data(), count, MPI_DOUBLE, all.data(), counts.data(), starts.data(),
               MPI_DOUBLE, MPI_COMM_WORLD);
```

## When it is silent

* The tensor was padded to a size that was reduced or gathered before.
* It is a scalar or has a constant shape, or was reduced over the dimension that varies (`mean`,
  `sum`).
* The operation takes any size: `all_gather_object`, `gather_for_metrics` after
  `pad_across_processes`.
* Nothing is known of the shape, and of a count no more than its value: it was received, or read
  from a file. One that is counted up by the contents of a file of one name on all ranks, by a
  clock or by random numbers is *possible* only.

## Fix

Communicate what has a fixed size: sums and counts instead of lists. Where the items themselves are
needed, exchange the sizes, pad to the largest, gather, and cut. Small results may go through
`all_gather_object`.

## Proof

The witness gives the ranks different element counts. `allranks verify` replays it and reports a
wait, an error of the library, or wrong contents.
)md",
    .check = CheckUnequalShapes,
    .scenario = Scenario::Shape};

}  // namespace allranks::rules
