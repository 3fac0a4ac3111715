#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR108 = "AR108";

void CheckGroupCreatedOnSomeRanks(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::GroupCreation) continue;
    // The default group itself: AR102.
    if (OperationAt(context, difference.culprit).op_class == knowledge::OpClass::Init) continue;
    findings::Text message = {"{} {}: every rank of the job must create a group, member or not, so {}",
                              {OpText(context, difference, difference.culprit), ReachText(difference),
                               WaitText(context, difference)}};
    findings::Text help = {
        "create the group on every rank, in the same order; use the handle only on its members", {}};
    if (difference.detail == traces::Detail::Member) {
      message = {"{} gets a list of members that {}: all ranks must create the same groups in the same order",
                 {OpText(context, difference, difference.culprit), VariesText(difference.axes)}};
      help = {"on every rank, create all the groups in a loop and keep the one this rank is in", {}};
    }
    findings::Finding finding = FindingOf(context, difference, kAR108, std::move(message), std::move(help));
    finding.is_in_preview = IsUncertainInPython(context, FunctionOf(context, difference), finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule GroupCreatedOnSomeRanks = {
    .code = kAR108,
    .name = "group-created-on-some-ranks",
    .severity = Severity::Error,
    .preview_in_part = kUncertainInPython,
    .languages = "Python, C, C++",
    .summary = "process group created by some ranks only, or in another order",
    .explanation = R"md(
## What it finds

`new_group`, `new_subgroups`, `init_device_mesh` or `split` reached by some ranks only, or by all
ranks in different orders. The usual form: a loop over lists of ranks that creates a group only
`if rank in ranks`.

## Why it hurts

Creating a group is itself a collective of the *whole job*: the ranks agree on a name and a key,
members or not. A rank that creates only the groups it belongs to leaves the others waiting in the
store for a key, or, worse, gives the same name to different groups, so that later collectives pair
ranks that do not belong together. The job stands still at start-up, or at the first use of the
group, with a store timeout or the NCCL watchdog's `Watchdog caught collective operation timeout`.
The Flight Recorder reports `missing ranks` for the new group.

## Wrong

```python
for ranks in all_ranks:
    if rank in ranks:
        group = dist.new_group(ranks)
```

## Right

```python
for ranks in all_ranks:
    candidate = dist.new_group(ranks)      # every rank, every group, same order
    if rank in ranks:
        group = candidate
```

## When it is silent

* The call is documented as local to its members: `new_group(..., use_local_synchronization=True)`.
* Every rank creates every group and only keeps those it is in.
* The condition is the same on all ranks.

## Fix

Take the creation out of the condition; keep the assignment in it. With many groups,
`new_subgroups_by_enumeration` or a device mesh does this for you. Where creating each group
everywhere is too slow, pass `use_local_synchronization=True` and create it on its members only.

## Proof

`allranks verify` replays the creation: the ranks that entered it wait for the rest.
)md",
    .check = CheckGroupCreatedOnSomeRanks,
    .scenario = Scenario::GroupCreation};

}  // namespace allranks::rules
