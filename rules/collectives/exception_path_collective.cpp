#include <algorithm>

#include "analyzer/objects/process_starts.h"
#include "rules/collectives/difference_finding.h"
#include "rules/collectives/failed_rank.h"
#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kAR107 = "AR107";

// A decorator that ends every error of a function quietly: the rank that failed leaves with status 0.
class QuietEnds {
 public:
  QuietEnds(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), starts_(context.program, context.facts, context.index) {}

  void Run() {
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      const FuncId function{f};
      if (context_.program.funcs[function].function == ir::kTopLevel) continue;
      for (const ir::ExprId decorator : context_.program.function(function).decorators) {
        if (SwallowsErrors(function, decorator) && IsRunByRanks(function)) Report(function, decorator);
      }
    }
  }

 private:
  bool SwallowsErrors(FuncId function, ir::ExprId decorator) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[decorator].kind == ir::ExprKind::Call) {
      for (const objects::KnownCall& call : context_.index.known_calls()) {
        if (call.expr != decorator || context_.program.funcs[call.function].module != module_id) continue;
        const variation::ValueId raises = context_.index.Arg(call, "reraise");
        // What the program does on an error may be to leave with a status that says so: `onerror=lambda _: sys.exit(1)`.
        const bool is_handled = context_.index.Arg(call, "onerror").has_value();
        return call.entry->Has(knowledge::Role::SwallowErrors) && !is_handled && !(raises && context_.values.IsTrue(raises));
      }
      return false;
    }
    const std::string_view name = context_.values.External(context_.facts.value(module_id, decorator));
    const base::NameId known = name.empty() ? base::NameId::None() : context_.program.names->Find(name);
    const knowledge::EntryId entry = known ? context_.knowledge.FindEntry(known) : knowledge::EntryId::None();
    return entry && context_.knowledge[entry].Has(knowledge::Role::SwallowErrors);
  }

  // It communicates, or is handed to what starts the processes of a job.
  bool IsRunByRanks(FuncId function) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto body = module.statements(context_.program.function(function).body);
    if (std::ranges::any_of(body, [&](ir::StmtId stmt) { return context_.training.Communicates(module_id, stmt); })) return true;
    return starts_.IsStarted(function) || IsHandedToStarter(function);
  }

  bool IsHandedToStarter(FuncId function) const {
    for (const variation::FunctionFacts& facts : context_.facts.functions.all()) {
      for (const auto& [expr, fact] : facts.calls) {
        if (!fact.function || !starts_.IsParent(fact.function)) continue;
        const auto args = context_.facts.args(fact);
        const bool is_passed = std::ranges::any_of(args, [&](variation::ValueId arg) {
          return arg && context_.facts.values_store[arg].kind == variation::ValueKind::Function &&
                 context_.facts.values_store[arg].function() == function;
        });
        if (is_passed) return true;
      }
    }
    return false;
  }

  void Report(FuncId function, ir::ExprId decorator) {
    Finding finding = FindingAt(context_, kAR107, Severity::Error, Confidence::Likely, {function, decorator},
                                {"a rank that fails in `{}` exits with status 0: the launcher does not stop the "
                                 "others, and they wait for that rank in their next collective",
                                 {context_.program.FunctionName(function)}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"catches every error and returns as if nothing had happened", {}});
    finding.help = {"let the error leave the function after it is logged: with loguru, `@logger.catch(reraise=True)`", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  FindingSink& sink_;
  objects::ProcessStarts starts_;
};

// A handler that ends the process with status 0 where one rank could not read its file: the others are not stopped.
class QuietExits {
 public:
  QuietExits(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const objects::KnownCall& call : context_.index.known_calls()) {
      if (call.entry->exits && IsStatusZero(call)) Visit(call);
    }
  }

 private:
  bool IsStatusZero(const objects::KnownCall& call) const {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[call.expr].kind != ir::ExprKind::Call || ir::ArgCount(module, module[call.expr]) > 1) return false;
    if (ir::ArgCount(module, module[call.expr]) == 0) return true;
    const variation::ValueId status = context_.facts.value(module_id, ir::ArgAt(module, module[call.expr], 0).value);
    return status && (context_.values.IsNone(status) || context_.values.Int(status) == 0);
  }

  void Visit(const objects::KnownCall& call) {
    const ir::ModuleId module_id = context_.program.funcs[call.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    const ir::StmtId exits = context_.index.StatementOf({call.function, call.expr});
    const ir::StmtId stmt = exits ? tree.Parent(exits) : ir::StmtId();
    if (!stmt || module[stmt].kind != ir::StmtKind::Try) return;
    const auto handlers = ir::HandlersOf(module, module[stmt]);
    const auto handler = std::ranges::find(handlers, tree.BlockOf(exits), &ir::Handler::body);
    if (handler == handlers.end() || !ReadsOwnFile(call.function, ir::TriedOf(module[stmt]))) return;
    if (!CommunicatesBehind(module_id, stmt)) return;
    Finding finding = FindingAt(context_, kAR107, Severity::Error, Confidence::Likely, {call.function, call.expr},
                                {"a rank that cannot read its file exits with status 0: the launcher does not stop the "
                                 "others, and they wait for that rank in their next collective",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"leaves quietly", {}});
    finding.help = {"exit with a status that says so, or raise the error again", {}};
    sink_.push_back(std::move(finding));
  }

  // Of a path that differs between ranks.
  bool ReadsOwnFile(FuncId function, ir::BlockId body) const {
    const ir::Module& module = context_.program.module_of(function);
    const auto statements = module.statements(body);
    return !statements.empty() && std::ranges::any_of(context_.file_uses.uses(), [&](const objects::FileUse& use) {
      if (use.act != objects::FileAct::Read || use.way.front().function != function) return false;
      const ir::Expr& read = module[use.way.front().expr];
      const bool is_inside = read.begin >= module[statements.front()].begin && read.end <= module[statements.back()].end;
      return is_inside && std::ranges::any_of(use.path.pieces, [&](const objects::PathPiece& piece) {
        const variation::ValueId hole = piece.hole ? context_.file_uses.paths().Resolved(piece.hole, use.frame) : variation::ValueId::None();
        return hole && context_.facts.values_store.axes(hole).has(knowledge::Axis::Global);
      });
    });
  }

  bool CommunicatesBehind(ir::ModuleId module_id, ir::StmtId stmt) const {
    const ir::Module& module = context_.program.modules[module_id];
    const auto around = module.statements(context_.index.tree(module_id).BlockOf(stmt));
    return std::ranges::any_of(around, [&](ir::StmtId next) {
      return module[next].begin >= module[stmt].end && context_.training.Communicates(module_id, next);
    });
  }

  const Context& context_;
  FindingSink& sink_;
};

void CheckExceptionPathCollective(const Context& context, FindingSink& sink) {
  QuietEnds(context, sink).Run();
  QuietExits(context, sink).Run();
  const std::vector<source::Span> handlers = ReportFailedRanks(context, kAR107, sink);
  for (const traces::Difference& difference : context.differences.each) {
    const bool is_reported = std::ranges::any_of(handlers, [&](const source::Span& each) { return each.file == difference.place.file && each.begin == difference.place.begin; });
    if (difference.kind != traces::DifferenceKind::Handler || is_reported) continue;
    // An error strikes one rank: either it goes on without the operation of the `try`, or it alone issues the
    // one in the handler.
    findings::Text message = {
        "if a rank fails, only some issue {}: this handler lets it continue, and these will wait forever{}",
        {OpText(context, difference, difference.culprit), VictimText(context, difference)}};
    findings::Text help = {
        "re-raise; or set a flag, all-reduce it, and let all ranks act on the result",
        {}};
    sink.push_back(FindingOf(context, difference, kAR107, std::move(message), std::move(help)));
  }
}

}  // namespace

extern const Rule ExceptionPathCollective = {
    .code = kAR107,
    .name = "exception-path-collective",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = "of 31 findings on repositories that it met for the first time 23 were right, less than the 85 of 100 of a rule that is on",
    .languages = "Python, C, C++",
    .summary = "handler that keeps one rank going while the others stand in a collective",
    .explanation = R"md(
## What it finds

A handler that swallows an error and goes on, around work that can fail on one rank alone (forward,
data loading, memory, files), where the `try` body, the handler, or what the handler skips contains
a collective. `with contextlib.suppress(RuntimeError)` is such a handler.

Also a handler of any error around the whole training that only logs it, so that the process ends with
status 0; and a `finally` there in which a rank waits for the others (`dist.barrier()`).

Also a handler that exits with status 0 (`sys.exit(0)`) where a rank could not read a file of its own, and
the others communicate afterwards. And a decorator that logs errors and swallows them (`@logger.catch` of
loguru), around what the ranks of a job run.

In C++ an error that can strike one rank is a `throw` under a test of the rank's own data, files or
clock, in the `try` body or in what it calls, and the handler is one for all errors or for those of memory,
files and the system (`...`, `std::exception`, `std::runtime_error`, `std::bad_alloc`, `c10::Error`).

## Why it hurts

An exception strikes one rank. That rank jumps to the handler and continues with the next batch; the
others are inside the collective of the body and wait for it. The robust-looking
`except RuntimeError: skip the batch` thus turns an out-of-memory error, which would have ended the
job with a clear message, into a hang without one. The NCCL watchdog ends it with
`Watchdog caught collective operation timeout`, on the ranks where nothing was wrong. The Flight
Recorder reports `missing ranks`, or `collective type mismatch`.

## Wrong

```python
for batch in loader:
    try:
        loss = model(batch)
        loss.backward()                 # reduces gradients over all ranks
    except torch.cuda.OutOfMemoryError:
        optimizer.zero_grad()
        continue                        # this rank only
    optimizer.step()
```

## Right

```python
for batch in loader:
    failed = torch.zeros(1, device=device)
    try:
        with model.no_sync():
            model(batch).backward()     # local
    except torch.cuda.OutOfMemoryError:
        failed += 1
    dist.all_reduce(failed)             # all ranks know
    if failed.item():
        optimizer.zero_grad()
        continue
    average_gradients(model)
    optimizer.step()
```

## When it is silent

* The handler raises again, ends the process, or aborts the group: the launcher then stops all
  ranks. Or it puts what happened into a queue or a pipe, whose other end may stop them.
* The outcome is agreed on by a collective that every rank reaches, failed or not.
* Neither body, handler nor what is skipped holds a collective.
* The handler is for something that befalls all ranks alike, such as an import that fails.

That the work fails on one rank alone is an assumption, and on unknown code two of eight such findings
were right: they are *possible*. Decorators, handlers around the whole training, waits in `finally`, and exits
where a rank cannot read its own file, are reported at default settings.

## Fix

Let the error end the job, or let the ranks agree: catch, note a flag, reduce the flag, act
together. A retry needs the same agreement.

## Proof

The witness has one rank fail before the operation. `allranks verify` replays it: the others wait.
)md",
    .check = CheckExceptionPathCollective,
    .scenario = Scenario::SkippedCollective};

}  // namespace allranks::rules
