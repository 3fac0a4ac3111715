#include <algorithm>

#include "analyzer/ir/walk.h"
#include "rules/rule.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::LabelRole;
using knowledge::OpClass;
using variation::FuncId;

constexpr std::string_view kAR114 = "AR114";

// Which numbers of open groups a path may have, a bit each.
struct Depths {
  uint8_t bits = 0;
  bool may_be_open() const { return (bits & ~1u) != 0; }
  bool may_be_closed() const { return (bits & 1u) != 0; }
  Depths Opened() const { return {static_cast<uint8_t>(bits << 1)}; }
  Depths Closed() const { return {static_cast<uint8_t>((bits >> 1) | (bits & 1u))}; }
  friend Depths operator|(Depths a, Depths b) { return {static_cast<uint8_t>(a.bits | b.bits)}; }
};
constexpr Depths kNoneOpen = {1};

// Follows the group calls of one function along its paths.
class GroupWalk {
 public:
  GroupWalk(const Context& context, FuncId function, FindingSink& sink)
      : context_(context), function_(function), module_(context.program.module_of(function)), sink_(sink) {}

  void Run() {
    bool opens = false;
    for (const auto& [expr, fact] : context_.facts.functions[function_].calls) {
      const knowledge::Operation* operation = OperationOf(expr);
      const bool is_batch = operation != nullptr && operation->op_class == OpClass::Batch;
      opens = opens || (is_batch && operation->opens_batch);
      closes_ = closes_ || (is_batch && !operation->opens_batch);
    }
    // Opened here and closed elsewhere, or the other way round: a pair of functions.
    const bool is_half = opens != closes_;
    if (is_half) return;
    Block(context_.program.function(function_).body, kNoneOpen);
  }

 private:
  const knowledge::Operation* OperationOf(ir::ExprId expr) const {
    const variation::CallFact* fact = context_.facts.call(function_, expr);
    if (fact == nullptr || fact->kind != variation::CallKind::Known) return nullptr;
    const knowledge::Entry& entry = context_.knowledge[fact->entry];
    return entry.has_operation ? &entry.operation : nullptr;
  }

  Depths Block(ir::BlockId block, Depths depths) {
    for (const ir::StmtId id : module_.statements(block)) {
      if (depths.bits == 0) break;
      depths = Stmt(module_[id], depths);
    }
    return depths;
  }

  Depths Stmt(const ir::Stmt& stmt, Depths depths) {
    switch (stmt.kind) {
      case ir::StmtKind::Expr:
        return Expr(ir::ValueOf(stmt), depths);
      case ir::StmtKind::Assign:
      case ir::StmtKind::AugAssign:
      case ir::StmtKind::AnnAssign:
        return Expr(ir::AssignedOf(stmt), depths);
      case ir::StmtKind::If: {
        depths = Expr(ir::ValueOf(stmt), depths);
        const Depths then_depths = Block(ir::BodyOf(stmt), depths);
        return then_depths | Block(ir::ElseBlockOf(stmt), depths);
      }
      case ir::StmtKind::For:
      case ir::StmtKind::While: {
        const ir::StmtId outer = loop_;
        loop_ = ir::StmtId{static_cast<uint32_t>(&stmt - module_.stmts.all().data())};
        const Depths around = Expr(stmt.kind == ir::StmtKind::For ? ir::AssignedOf(stmt) : ir::ValueOf(stmt), depths);
        const Depths once = Block(ir::BodyOf(stmt), around);
        loop_ = outer;
        return once | around;
      }
      case ir::StmtKind::Try: {
        const Depths body = Block(ir::TriedOf(stmt), depths);
        Depths after = body;
        for (const ir::Handler& handler : ir::HandlersOf(module_, stmt)) after = after | Block(handler.body, body | depths);
        return Block(ir::FinallyOf(stmt), after);
      }
      case ir::StmtKind::Return:
        depths = Expr(ir::ValueOf(stmt), depths);
        // Where it depends on a setting, the same setting mostly decides about the end.
        if (depths.may_be_open() && !depths.may_be_closed() && opened_by_ && IsWritten(stmt)) ReportExit(stmt);
        return {};
      case ir::StmtKind::Raise:
      case ir::StmtKind::Break:
      case ir::StmtKind::Continue:
        return stmt.kind == ir::StmtKind::Raise ? Depths{} : depths;
      default:
        return depths;
    }
  }

  Depths Expr(ir::ExprId id, Depths depths) {
    if (!id) return depths;
    ir::ForEachPart(module_, id, [&](ir::ExprId child) { depths = Expr(child, depths); });
    const knowledge::Operation* operation = OperationOf(id);
    if (operation == nullptr) return Ends(id) ? Depths{} : depths;
    if (operation->op_class == OpClass::Batch) {
      if (operation->opens_batch) opened_by_ = id;
      return operation->opens_batch ? depths.Opened() : depths.Closed();
    }
    if (loop_ && closes_ == false && depths.may_be_closed()) CheckDriven(id, *operation);
    return depths;
  }

  // Not within a macro: those that check results leave because an operation failed, and the job is lost anyway.
  bool IsWritten(const ir::Stmt& stmt) const {
    return std::string_view(context_.files[module_.file].text).substr(stmt.begin).starts_with("return");
  }

  bool Ends(ir::ExprId id) const {
    const variation::CallFact* fact = context_.facts.call(function_, id);
    if (fact == nullptr || fact->kind != variation::CallKind::Known) return false;
    const knowledge::Entry& entry = context_.knowledge[fact->entry];
    return entry.exits || entry.raises || entry.aborts;
  }

  // `for (int i = 0; i < n; i++) ncclAllReduce(..., comms[i], ...)`: the first call waits for GPUs that the next
  // rounds would start.
  void CheckDriven(ir::ExprId id, const knowledge::Operation& operation) {
    const bool communicates = operation.op_class == OpClass::Collective || operation.op_class == OpClass::GroupCreate;
    const ir::Stmt& loop = module_[loop_];
    if (!communicates || !HasBatches(id) || loop.kind != ir::StmtKind::For) return;
    const variation::CallFact& fact = *context_.facts.call(function_, id);
    const knowledge::Entry& entry = context_.knowledge[fact.entry];
    const base::NameId param = operation.op_class == OpClass::GroupCreate ? entry.stores.empty() ? base::NameId() : entry.stores[0].first
                                                                           : operation.group_param;
    const auto at = static_cast<uint32_t>(std::ranges::find(entry.params, param) - entry.params.begin());
    if (at >= entry.params.size() || at >= ir::ArgCount(module_, module_[id])) return;
    const ir::Expr& communicator = module_[ir::ArgAt(module_, module_[id], at).value];
    const ir::ExprId index_name = ir::ExprId{loop.a};
    if (communicator.kind != ir::ExprKind::Subscript || module_[index_name].kind != ir::ExprKind::Name) return;
    if (!ir::Mentions(module_, ir::IndexOf(communicator), ir::NameOf(module_[index_name]))) return;
    sink_.push_back({.code = kAR114,
                     .severity = Severity::Error,
                     .confidence = context_.program.function(function_).params.empty() || IsMain() ? Confidence::Certain
                                                                                                    : Confidence::Likely,
                     .span = module_.span(id),
                     .message = {"`{}` on several communicators in a loop, outside a group: the first call "
                                 "waits for those that later rounds would start", {Text(entry.name)}},
                     .labels = {{module_.span(id), LabelRole::Primary, {"waits here in the first round", {}}}},
                     .help = {"put `ncclGroupStart()` before the loop and `ncclGroupEnd()` after it", {}},
                     .function = context_.program.FunctionName(function_)});
  }

  bool IsMain() const { return Text(context_.program.function(function_).name) == "main"; }

  // Whether the library of this call has group calls at all.
  bool HasBatches(ir::ExprId id) const {
    const knowledge::Entry& entry = context_.knowledge[context_.facts.call(function_, id)->entry];
    return std::ranges::any_of(context_.knowledge.entries(), [&](const knowledge::Entry& other) {
      return other.library == entry.library && other.has_operation && other.operation.op_class == OpClass::Batch;
    });
  }

  void ReportExit(const ir::Stmt& stmt) {
    const source::Span span = {module_.file, stmt.begin, stmt.end};
    const bool is_known = std::ranges::any_of(sink_, [&](const findings::Finding& f) { return f.code == kAR114 && f.span == span; });
    if (is_known) return;
    const knowledge::Entry& entry = context_.knowledge[context_.facts.call(function_, opened_by_)->entry];
    sink_.push_back({.code = kAR114,
                     .severity = Severity::Error,
                     .confidence = Confidence::Likely,
                     .span = span,
                     .message = {"returns with a group open: the calls after `{}` are never issued, and later "
                                 "calls of this thread join the group", {Text(entry.name)}},
                     .labels = {{span, LabelRole::Primary, {"the group is still open here", {}}},
                                {module_.span(opened_by_), LabelRole::Note, {"opened here", {}}}},
                     .help = {"close the group on this path too, for instance in the destructor of a guard object", {}},
                     .function = context_.program.FunctionName(function_)});
  }

  std::string Text(base::NameId name) const { return std::string(context_.program.text(name)); }

  const Context& context_;
  FuncId function_;
  const ir::Module& module_;
  FindingSink& sink_;
  ir::StmtId loop_;
  ir::ExprId opened_by_;
  bool closes_ = false;
};

void CheckGroupCallUnbalanced(const Context& context, FindingSink& sink) {
  for (uint32_t i = 0; i < context.facts.functions.size(); ++i) {
    const FuncId function{i};
    if (context.program.module_of(function).language == ir::Language::Python) continue;
    GroupWalk(context, function, sink).Run();
  }
}

}  // namespace

extern const Rule GroupCallUnbalanced = {
    .code = kAR114,
    .name = "group-call-unbalanced",
    .severity = Severity::Error,
    .languages = "C, C++",
    .summary = "group of NCCL calls left open by some path, or several communicators of one process driven outside of one",
    .explanation = R"md(
## What it finds

A `return` between `ncclGroupStart` and `ncclGroupEnd`, mostly on an error path. And a loop of one
process over its GPUs that calls a collective, or `ncclCommInitRank`, on a communicator a round
without a group around the loop.

## Why it hurts

Within a group NCCL only notes calls down; `ncclGroupEnd` issues them. A group that stays open issues
nothing: this rank's part never starts and the others wait for it. Worse, the open group belongs to
the thread, so later and unrelated calls join it.

Without a group, `ncclAllReduce` on the first GPU may wait until the other GPUs have started theirs.
The same thread would start them, in the next round that never comes.

## Wrong

```cpp
ncclGroupStart();
ncclResult_t result = ncclAllReduce(send, recv, n, ncclFloat, ncclSum, comm, stream);
if (result != ncclSuccess) return result;
ncclGroupEnd();
```

```cpp
for (int i = 0; i < gpus; ++i) {
  ncclAllReduce(send[i], recv[i], n, ncclFloat, ncclSum, comms[i], streams[i]);
}
```

## Right

```cpp
ncclGroupStart();
ncclResult_t result = ncclAllReduce(send, recv, n, ncclFloat, ncclSum, comm, stream);
ncclResult_t ended = ncclGroupEnd();
if (result != ncclSuccess) return result;
```

```cpp
ncclGroupStart();
for (int i = 0; i < gpus; ++i) {
  ncclAllReduce(send[i], recv[i], n, ncclFloat, ncclSum, comms[i], streams[i]);
}
ncclGroupEnd();
```

## When it is silent

* The way out ends the process (`exit`, `abort`), throws, or is part of a macro that checks results.
* Whether the group was opened depends on a condition.
* A function only opens, or only closes, a group: the other half is its partner's.
* The loop runs over something else than communicators.

## Fix

Close the group on every way out: by a guard object, or by checking results behind `ncclGroupEnd`. Put
a group around loops over GPUs.

## Proof

There is nothing to replay: one process alone shows it.
)md",
    .check = CheckGroupCallUnbalanced};

}  // namespace allranks::rules
