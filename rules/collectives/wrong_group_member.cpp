#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR109 = "AR109";

void CheckWrongGroupMember(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::NotMember) continue;
    // The group is its own, which the message says.
    const std::string op = OpNameOf(context, difference.culprit);
    findings::Text message = {"{} is called by {} outside its group: there it does nothing or fails",
                              {op, ReachingRanks(difference)}};
    if (difference.detail == traces::Detail::Root) {
      message = {"{} names a root that is not in its group: they fail, or wait for a rank that never comes",
                 {op}};
    }
    findings::Text help = {
        "call it on members only (`if rank in ranks`); source and destination are global ranks",
        {}};
    findings::Finding finding = FindingOf(context, difference, kAR109, std::move(message), std::move(help));
    finding.is_in_preview = IsUncertainInPython(context, FunctionOf(context, difference), finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule WrongGroupMember = {
    .code = kAR109,
    .name = "wrong-group-member",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain: the only one reviewed was wrong: that program relies on such a call doing nothing",
    .languages = "Python, C, C++",
    .summary = "collective called by, or naming, a rank that is not in its group",
    .explanation = R"md(
## What it finds

A rank that calls a collective of a group it does not belong to; a `src` or `dst` that is not in the
group; a rank *within the group* given where the library wants the *global* rank.

In C and C++ the groups are those of `MPI_Group_incl` and `MPI_Group_excl` with ranks that stand in
the source, and communicators made of them or by a split with `MPI_UNDEFINED`.

## Why it hurts

`new_group` gives non-members a placeholder instead of a handle. A collective on it is skipped with
a warning or fails on these ranks, depending on the version, while code after it goes on with a
tensor that was never reduced. A `src=0` that means "the first of my group" is right in the first
group and wrong in all others, so the job works on one node and fails on two: the members wait for a
sender that is not among them. The error is of the kind `Global rank 0 is not part of group`, or a
hang that the NCCL watchdog ends with `Watchdog caught collective operation timeout`. The Flight
Recorder reports `missing ranks`. MPI gives non-members `MPI_COMM_NULL` and ends the job at the
first call on it.

## Wrong

```python
group = dist.new_group([0, 1])
dist.all_reduce(loss, group=group)            # ranks 2 and 3 as well
dist.broadcast(weights, src=0, group=my_node_group)   # 0 is on the first node only
```

## Right

```python
group = dist.new_group([0, 1])
if rank in (0, 1):
    dist.all_reduce(loss, group=group)
dist.broadcast(weights, src=dist.get_global_rank(my_node_group, 0), group=my_node_group)
```

```c
MPI_Group_incl(world, 2, ranks, &pair);
MPI_Comm_create(MPI_COMM_WORLD, pair, &comm);
if (comm != MPI_COMM_NULL) MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm);
```

## When it is silent

* The call stands under the test of membership that the group was made with.
* The group or the root is not known.
* The operation takes ranks within the group by design (`group_src`, mpi4py communicators).

## Fix

Guard the call by membership. Name roots by global rank: `dist.get_global_rank(group, 0)`, or pass
`group_src=0` where the version of PyTorch has it.

## Proof

`allranks verify` replays the call on all ranks and shows who is refused or waits.
)md",
    .check = CheckWrongGroupMember,
    .scenario = Scenario::MismatchedCollective};

}  // namespace allranks::rules
