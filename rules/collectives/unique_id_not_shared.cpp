#include <algorithm>

#include "rules/rule.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::LabelRole;
using variation::FuncId;
using variation::ValueId;

constexpr std::string_view kAR115 = "AR115";

// One call that joins a communicator by an id.
class JoiningCall {
 public:
  JoiningCall(const Context& context, FuncId function, ir::ExprId call, const variation::CallFact& fact)
      : context_(context), function_(function), module_(context.program.module_of(function)), call_(call), fact_(fact),
        entry_(context.knowledge[fact.entry]) {}

  void Check(FindingSink& sink) const {
    const ValueId token = Arg(entry_.operation.token_param);
    const ValueId rank = Arg(entry_.operation.own_rank_param);
    const variation::ValueStore& values = context_.facts.values_store;
    if (!token || values.axes(token).empty()) return;
    // A process that takes the part of every rank, one after the other, makes one id for all of them.
    if (!rank || values.axes(rank).empty()) return;
    const ir::ExprId name = ArgExpr(entry_.operation.token_param);
    if (!name || module_[name].kind != ir::ExprKind::Name || IsHandedOn(name)) return;
    sink.push_back({.code = kAR115,
                    .severity = Severity::Error,
                    .confidence = Confidence::Certain,
                    .span = module_.span(call_),
                    .message = {"`{}` with an id that each rank created for itself: the ranks never find each other",
                                {std::string(context_.program.text(entry_.name))}},
                    .labels = Labels(name),
                    .help = {"create the id on one rank, send it to all others (`MPI_Bcast`), and join with it", {}},
                    .function = context_.program.FunctionName(function_)});
  }

 private:
  size_t IndexOf(base::NameId param) const {
    return static_cast<size_t>(std::ranges::find(entry_.params, param) - entry_.params.begin());
  }
  ValueId Arg(base::NameId param) const {
    const auto args = context_.facts.args(fact_);
    return IndexOf(param) < args.size() ? args[IndexOf(param)] : ValueId::None();
  }
  ir::ExprId ArgExpr(base::NameId param) const {
    const auto index = static_cast<uint32_t>(IndexOf(param));
    return index < ir::ArgCount(module_, module_[call_]) ? ir::ArgAt(module_, module_[call_], index).value : ir::ExprId();
  }

  bool IsArgument(ir::ExprId call, base::NameId name) const {
    for (uint32_t i = 0; i < ir::ArgCount(module_, module_[call]); ++i) {
      const ir::Expr& arg = module_[ir::ArgAt(module_, module_[call], i).value];
      if (arg.kind == ir::ExprKind::Name && ir::NameOf(arg) == name) return true;
    }
    return false;
  }

  // Whether a function that nobody knows gets the id: it may bring the one of another rank.
  bool IsHandedOn(ir::ExprId token) const {
    const auto& calls = context_.facts.functions[function_].calls;
    return std::ranges::any_of(calls, [&](const auto& item) {
      return item.second.kind != variation::CallKind::Known && module_[item.first].kind == ir::ExprKind::Call &&
             IsArgument(item.first, ir::NameOf(module_[token]));
    });
  }

  std::vector<findings::Label> Labels(ir::ExprId token) const {
    std::vector<findings::Label> labels = {{module_.span(call_), LabelRole::Primary, {"each rank waits here alone", {}}}};
    for (const auto& [expr, fact] : context_.facts.functions[function_].calls) {
      const bool makes = fact.kind == variation::CallKind::Known && expr != call_ && !context_.knowledge[fact.entry].has_operation;
      if (makes && module_[expr].kind == ir::ExprKind::Call && IsArgument(expr, ir::NameOf(module_[token]))) {
        labels.push_back({module_.span(expr), LabelRole::Note, {"created here, by every rank that gets here", {}}});
      }
    }
    return labels;
  }

  const Context& context_;
  FuncId function_;
  const ir::Module& module_;
  ir::ExprId call_;
  const variation::CallFact& fact_;
  const knowledge::Entry& entry_;
};

void CheckUniqueIdNotShared(const Context& context, FindingSink& sink) {
  for (uint32_t i = 0; i < context.facts.functions.size(); ++i) {
    const FuncId function{i};
    for (const auto& [expr, fact] : context.facts.functions[function].calls) {
      if (fact.kind != variation::CallKind::Known || !context.knowledge[fact.entry].operation.token_param) continue;
      JoiningCall(context, function, expr, fact).Check(sink);
    }
  }
}

}  // namespace

extern const Rule UniqueIdNotShared = {
    .code = kAR115,
    .name = "unique-id-not-shared",
    .severity = Severity::Error,
    .languages = "C, C++",
    .summary = "communicator of NCCL joined with a unique id that was not shared between ranks",
    .explanation = R"md(
## What it finds

`ncclCommInitRank` with an id from `ncclGetUniqueId` that every rank called for itself, or that one
rank made and nobody sent to the others.

## Why it hurts

The id holds the address of the rank that made it. Ranks with different ids wait for partners at
different addresses: each waits alone until a timeout, and NCCL's log shows only its bootstrap.

## Wrong

```cpp
ncclUniqueId id;
ncclGetUniqueId(&id);                      // every rank has one of its own
ncclCommInitRank(&comm, size, id, rank);
```

## Right

```cpp
ncclUniqueId id;
if (rank == 0) ncclGetUniqueId(&id);
MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
ncclCommInitRank(&comm, size, id, rank);
```

## When it is silent

* The id went through a broadcast.
* It is handed to a function that is not known: a socket, a file, a store may share it.
* One process takes the part of all ranks in a loop.

## Fix

Make the id on one rank and share it by whatever the launcher gives: MPI, a TCP store, a file.

## Proof

Ranks of one box that join with ids of their own wait for one another; there is no schedule to replay.
)md",
    .check = CheckUniqueIdNotShared};

}  // namespace allranks::rules
