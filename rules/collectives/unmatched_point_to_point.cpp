#include "rules/collectives/difference_finding.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR111 = "AR111";

// In a store, where what is left has no receiver.
bool AwaitsKey(const Context& context, const traces::Difference& difference) {
  const knowledge::Operation& operation = OperationAt(context, difference.culprit);
  return operation.op_class == knowledge::OpClass::Probe && !operation.peer_param;
}

findings::Text UnmatchedMessage(const Context& context, const traces::Difference& difference) {
  const std::string op = OpText(context, difference, difference.culprit);
  if (AwaitsKey(context, difference)) {
    if (difference.detail == traces::Detail::Unmatched) return {"{} on {} waits for a key that no rank sets", {op, traces::NameOfReached(difference)}};
    return {"{} on {} waits for a key that another rank sets only after it waited itself", {op, traces::NameOfReached(difference)}};
  }
  if (difference.detail == traces::Detail::Unmatched) return {"{} on {} has no partner: no rank issues the "
                                                              "matching send or receive", {op, traces::NameOfReached(difference)}};
  const std::string other = difference.has_victim ? OpText(context, difference, difference.victim)
                                                  : std::string("the same operation");
  const bool is_of_types = difference.detail == traces::Detail::Dtype;
  if (is_of_types || difference.detail == traces::Detail::ElementCount) {
    return {"{} on {} meets {} on {}: the {} differ", {op, traces::NameOfReached(difference), other, traces::NameOfNotReached(difference),
            is_of_types ? "data types" : "element counts"}};
  }
  if (difference.detail == traces::Detail::Buffered) {
    return {"{} on {} waits for {} on {}: that comes only after it, unless the message is small enough to be buffered",
            {op, traces::NameOfReached(difference), other, traces::NameOfNotReached(difference)}};
  }
  return {"{} on {} waits for its partner: that one waits in {} itself", {op, traces::NameOfReached(difference), other}};
}

void CheckUnmatchedPointToPoint(const Context& context, FindingSink& sink) {
  for (const traces::Difference& difference : context.differences.each) {
    if (difference.kind != traces::DifferenceKind::PointToPoint) continue;
    findings::Text help = {
        "let one side receive first, or issue both halves together: `MPI_Sendrecv`, `batch_isend_irecv`, an NCCL group",
        {}};
    if (difference.detail == traces::Detail::Unmatched) help = {"issue the matching call on the rank that is named as the peer", {}};
    if (AwaitsKey(context, difference)) help = {"set the key on some rank before any rank waits for it", {}};
    const bool is_of_halves = difference.detail == traces::Detail::Dtype || difference.detail == traces::Detail::ElementCount;
    if (is_of_halves) help = {"send what the other rank receives: as many elements of the same type", {}};
    findings::Finding finding = FindingOf(context, difference, kAR111, UnmatchedMessage(context, difference), std::move(help));
    finding.is_in_preview = IsUncertainInPython(context, FunctionOf(context, difference), finding);
    sink.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule UnmatchedPointToPoint = {
    .code = kAR111,
    .name = "unmatched-point-to-point",
    .severity = Severity::Error,
    .preview_in_part = "findings in Python code that are not certain: of the 4 that were read none was right",
    .languages = "Python, C, C++",
    .summary = "blocking sends and receives that wait for each other in a circle, or for a partner that never comes",
    .explanation = R"md(
## What it finds

Blocking sends and receives whose ranks wait for each other: all ranks send first and receive second,
both sides of a pair receive first, a barrier stands between a send and its receive, or a receive that
was begun is waited for before the other rank can send. And sends or receives of a whole program that no
rank answers, because the tag, the communicator or the rank is another one, or that are answered with
another type or with more elements than there is room for. The operations of all ranks of a small job are
run step by step; what cannot go on is reported. Loops over ranks, `for (source = 1; source < size;
++source) MPI_Recv(...)`, are run round by round. A partner beyond the last rank answers nobody, if there
is one in jobs of every size.

Stores as well: `store.wait(["ready"])` and `store.get("ready")` wait for a key that some rank must set.

## Why it hurts

A blocking receive waits for its message, and a blocking send may wait for its receiver. When every
rank of a ring sends to its right neighbour first, nobody is left to receive. With MPI small messages
are buffered, so the program works in tests and hangs the day the message grows beyond the eager limit
of the network. NCCL does not buffer at all: `ncclSend` and `ncclRecv` outside of a group run one
after the other on the stream.

## Wrong

```c
MPI_Send(out, n, MPI_DOUBLE, right, 0, comm);   // all ranks send first
MPI_Recv(in, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
```

## Right

```c
MPI_Sendrecv(out, n, MPI_DOUBLE, right, 0, in, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
```

```c
ncclGroupStart();
ncclSend(out, n, ncclFloat, right, comm, stream);
ncclRecv(in, n, ncclFloat, left, comm, stream);
ncclGroupEnd();
```

## When it is silent

* The halves are issued together: `batch_isend_irecv`, an NCCL group, `MPI_Sendrecv`, `MPI_Isend` and
  `MPI_Irecv`.
* Some peer, or whether an operation is reached, is not known.
* Only one half is in a function that others call, or in a program beside another one that has the
  other half: it may be anywhere.
* A key of a store is not a text that stands there, or some other code sets keys.
* One side sends bytes (`MPI_BYTE`, `MPI_PACKED`), or a receive has room for more than comes.

## Fix

Issue both halves together, or let even ranks send first and odd ranks receive first.

## Proof

The witness holds the sends and receives of every rank up to where they wait.
)md",
    .check = CheckUnmatchedPointToPoint,
    .scenario = Scenario::MismatchedCollective};

}  // namespace allranks::rules
