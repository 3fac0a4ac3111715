#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using findings::Finding;

constexpr std::string_view kAR106 = "AR106";

std::string_view DetailText(traces::Detail detail) {
  switch (detail) {
    case traces::Detail::Kind: return "they are different operations";
    case traces::Detail::Order: return "the order differs";
    case traces::Detail::Root: return "the roots differ";
    case traces::Detail::Group: return "the groups differ";
    case traces::Detail::Count: return "some ranks issue more of them than others";
    case traces::Detail::ReduceOperation: return "the reduce operations differ";
    case traces::Detail::Dtype: return "the data types differ";
    case traces::Detail::ElementCount: return "the element counts differ";
    case traces::Detail::OtherDtype: return "what is sent and what is received are of different types";
    default: return "the operations do not match";
  }
}

// The other operation. Both names whole would not fit into a headline; the labels have the groups.
std::string MetText(const Context& context, const traces::Difference& difference) {
  const traces::OpPlace& met = difference.victim;
  const auto name_of = [&](const traces::OpPlace& op) { return context.program.text(context.knowledge[op.entry].name); };
  const std::string_view name = name_of(met), own = name_of(difference.culprit);
  const size_t module = own.rfind('.');
  const bool is_of_one_module = module != std::string_view::npos && name.starts_with(own.substr(0, module + 1));
  const std::string text = is_of_one_module ? "`" + std::string(name.substr(module + 1)) + "`" : OpNameOf(context, met);
  return text + PlaceText(context, difference, met);
}

findings::Text MismatchMessage(const Context& context, const traces::Difference& difference) {
  const std::string op = OpText(context, difference, difference.culprit);
  const std::string detail(DetailText(difference.detail));
  if (difference.axes.has(knowledge::Axis::HashOrder)) {
    return {"{} gets another tensor on each rank: a set of texts has an order of its own in each process", {op}};
  }
  if (!difference.has_victim) {
    return {"{} does not match between ranks: {}", {op, detail}};
  }
  constexpr size_t kLongest = 88;
  const std::string own = OpNameOf(context, difference.culprit), met = MetText(context, difference);
  const std::string ranks = traces::NameOfReached(difference), others = traces::NameOfNotReached(difference);
  // The labels say which ranks these are.
  const bool is_long = own.size() + met.size() + ranks.size() + others.size() > kLongest;
  return {"{} on {} meets {} on {}: {}", {own, ranks, met, is_long ? "the others" : others, detail}};
}

void CheckMismatchedCollectives(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::Mismatch) continue;
    findings::Text help = difference.axes.has(knowledge::Axis::HashOrder) ? findings::Text{"go over `sorted(...)` of the set, or over a list", {}} : findings::Text{
        "issue the same operations on every rank of the group, in the same order, with the same root, type and size",
        {}};
    Finding finding = FindingOf(context, difference, kAR106, MismatchMessage(context, difference), std::move(help));
    const bool is_of_set = difference.axes.has(knowledge::Axis::HashOrder);
    finding.is_in_preview = !is_of_set && IsUncertainInPython(context, FunctionOf(context, difference), finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule MismatchedCollectives = {
    .code = kAR106,
    .name = "mismatched-collectives",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain, unless the order of a set differs: 3 of the 17 reviewed were right",
    .languages = "Python, C, C++",
    .summary = "collectives of different ranks that meet and do not match",
    .explanation = R"md(
## What it finds

All ranks do issue collectives, but not the same ones: another kind, another order, another root,
another reduce operation, another data type or element count, one operation more, or two groups that
are used in opposite orders. Or the same operations on tensors that a loop over a set of texts picks:
Python hashes texts differently in each process, so sets have another order in each.

## Why it hurts

Ranks pair operations by their order on a group and by nothing else. An `all_reduce` that meets a
`broadcast` may hang, crash with an unrelated error, or *finish with garbage*: with NCCL, operations
of the same size can complete and leave wrong numbers on some ranks. Two groups used in opposite
orders deadlock when the second operation needs what the first one holds. A root that differs
(`broadcast(x, src=rank)`) makes every rank wait for another sender. PyTorch's Flight Recorder
reports `collective type mismatch`, `size or syntax mismatch` or `dtype mismatch`; roots and reduce
operations it does not keep, so there a hang ends with the NCCL watchdog's
`Watchdog caught collective operation timeout` and no further word.

## Wrong

```python
if rank == 0:
    dist.broadcast(weights, src=0)
    dist.barrier()
else:
    dist.barrier()
    dist.broadcast(weights, src=0)
```

## Right

```python
dist.broadcast(weights, src=0)
dist.barrier()
```

## When it is silent

* Both arms issue the same sequence with the same roots, however they are written.
* Sends and receives that match each other.
* Differences in a group that the ranks in question do not share.
* Roots, types and sizes of which nothing is known: only known values are compared.

## Fix

Write the sequence once, outside the condition, and let the condition choose only the values. Take
the root from a constant or from a value that all ranks share; never from the rank itself.

## Proof

`allranks verify` replays both sequences and says whether they hang, fail or end with wrong
contents.
)md",
    .check = CheckMismatchedCollectives,
    .scenario = Scenario::MismatchedCollective};

}  // namespace allranks::rules
