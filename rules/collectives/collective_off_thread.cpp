#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/knowledge/words.h"
#include "rules/rule.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using findings::LabelRole;
using variation::FuncId;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR113 = "AR113";
constexpr uint32_t kKeywordOnly = ~0u;

// Finds the functions that run beside the training thread and asks of each what it issues.
class OffThread {
 public:
  OffThread(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) VisitCalls(ir::ModuleId{m});
    for (uint32_t c = 0; c < context_.program.classes.size(); ++c) VisitClass(binding::ClassId{c});
  }

 private:
  struct Loader {
    binding::ClassId dataset;
    std::optional<Confidence> workers;
  };

  void VisitCalls(ir::ModuleId module_id) {
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::Expr& expr : module.exprs) {
      if (expr.kind != ir::ExprKind::Call) continue;
      const std::string_view callee = ExternalName(context_.facts.value(module_id, ir::CalleeOf(expr)));
      if (callee == "torch.utils.data.DataLoader") VisitLoader(module_id, expr);
      if (callee == "signal.signal") {
        ReportValue(Argument(module_id, expr, 1, "handler"), module, expr, "a signal handler",
                    Confidence::Certain);
      }
      if (callee == "threading.Thread") {
        ReportValue(Argument(module_id, expr, 1, "target"), module, expr, "a thread of its own",
                    Confidence::Likely);
      }
      if (callee == "concurrent.futures.ThreadPoolExecutor.submit") {
        ReportValue(Argument(module_id, expr, 0, "fn"), module, expr, "a thread of a pool", Confidence::Likely);
      }
    }
  }

  void VisitLoader(ir::ModuleId module_id, const ir::Expr& call) {
    const std::optional<Confidence> workers = HasWorkers(module_id, call);
    const ValueId dataset = Argument(module_id, call, 0, "dataset");
    if (dataset && context_.facts.values_store[dataset].kind == ValueKind::Instance) {
      loaders_.push_back({context_.facts.values_store[dataset].class_id(), workers});
    }
    if (!workers) return;
    const ir::Module& module = context_.program.modules[module_id];
    ReportValue(Argument(module_id, call, 7, "collate_fn"), module, call,
                "a collate function of loader workers", *workers);
    ReportValue(Argument(module_id, call, kKeywordOnly, "worker_init_fn"), module, call, "a loader worker",
                *workers);
  }

  // Without workers the loader runs in the training thread.
  std::optional<Confidence> HasWorkers(ir::ModuleId module_id, const ir::Expr& call) const {
    const ValueId workers = Argument(module_id, call, 5, "num_workers");
    if (!workers) return std::nullopt;
    const variation::Value& value = context_.facts.values_store[workers];
    if (value.kind != ValueKind::Int) return Confidence::Likely;
    if (*value.integer() == 0) return std::nullopt;
    return Confidence::Certain;
  }

  void VisitClass(binding::ClassId class_id) {
    const binding::ClassInfo& info = context_.program.classes[class_id];
    const auto has_base = [&](auto&& is_it) {
      return std::ranges::any_of(info.external_bases,
                                 [&](base::NameId base) { return is_it(context_.program.text(base)); });
    };
    ReportMethod(info, "__del__", "`__del__` (run by the garbage collector)",
                 Confidence::Likely);
    if (has_base([](std::string_view base) { return base == "threading.Thread"; })) {
      ReportMethod(info, "run", "a thread of its own", Confidence::Likely);
    }
    if (!has_base(
            [](std::string_view b) { return b.starts_with("torch.utils.data.") && b.ends_with("Dataset"); }))
      return;
    const std::optional<Confidence> workers = WorkersOf(class_id);
    if (!workers) return;
    for (const char* method : {"__getitem__", "__getitems__", "__iter__"}) {
      ReportMethod(info, method, "a dataset's `{}`, which loader workers run", *workers);
    }
  }

  // How sure it is that workers read a dataset; none: the loaders seen have no workers. Without a loader in
  // sight it is possible at most.
  std::optional<Confidence> WorkersOf(binding::ClassId class_id) const {
    std::optional<Confidence> best;
    bool seen = false;
    for (const Loader& loader : loaders_) {
      const auto& mro = context_.program.classes[loader.dataset].mro;
      if (std::ranges::find(mro, class_id) == mro.end()) continue;
      seen = true;
      best = std::max(best, loader.workers);
    }
    return seen ? best : Confidence::Possible;
  }

  void ReportMethod(const binding::ClassInfo& info, std::string_view name, std::string_view where,
                    Confidence confidence) {
    for (const auto& [own_name, method] : info.methods) {
      if (context_.program.text(own_name) != name) continue;
      std::string text(where);
      if (const size_t hole = text.find("{}"); hole != std::string::npos) text.replace(hole, 2, name);
      Report(method, std::move(text), confidence, std::nullopt);
    }
  }

  void ReportValue(ValueId value, const ir::Module& module, const ir::Expr& registration,
                   std::string_view where, Confidence confidence) {
    if (!value) return;
    const variation::ValueStore& store = context_.facts.values_store;
    if (store[value].kind == ValueKind::Partial && store[value].kid_count > 0) value = store.Kids(value)[0];
    if (!value || store[value].kind != ValueKind::Function) return;
    Report(store[value].function(), std::string(where), confidence,
           source::Span{module.file, registration.begin, registration.end});
  }

  void Report(FuncId function, std::string where, Confidence confidence,
              std::optional<source::Span> registration) {
    const auto found = context_.analysis.issued.find(function);
    if (found == context_.analysis.issued.end()) return;
    const traces::Issued& issued = found->second;
    const std::string name = knowledge::AsCode(issued.name);
    Finding finding{
        .code = kAR113,
        .severity = Severity::Error,
        .confidence = confidence,
        .span = issued.path[0],
        .message = {"{} is issued from {}: it can run in another order than the training thread's "
                    "collectives, and then the ranks hang", {name, where}},
        .help = {"communicate in the training thread, or give this thread its own process group", {}},
        .function = context_.program.FunctionName(function)};
    findings::Assume(finding, context_.launch.AssumedOf(function));
    if (issued.is_implied) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::ImpliedOperation));
    const Way way = WayOf(function, issued);
    if (way == Way::OfSibling) return;
    if (way == Way::OfSubclass) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::ClassUnknown));
    if (registration) {
      finding.labels.push_back(
          {*registration, LabelRole::Condition, {"`{}` is registered here", {finding.function}}});
    }
    finding.labels.push_back({finding.span, LabelRole::Primary, {"runs in {}", {where}}});
    for (size_t i = 1; i < issued.path.size(); ++i) {
      const bool last = i + 1 == issued.path.size();
      const findings::Text text = last ? findings::Text{"communicates here", {}}
                                       : findings::Text{"leads to {}", {name}};
      finding.labels.push_back({issued.path[i], LabelRole::Call, text});
    }
    sink_.push_back(std::move(finding));
  }

  // Whose methods lead from a method to its operation: a call of `self.load()` may be one of a class that overrides it.
  enum class Way : uint8_t { OfOwnClass, OfSubclass, OfSibling };
  Way WayOf(FuncId function, const traces::Issued& issued) const {
    const binding::ClassId entered = context_.program.funcs[function].owner;
    Way way = Way::OfOwnClass;
    for (size_t i = 1; entered && i < issued.path.size(); ++i) {
      const FuncId on_way = FunctionAt(issued.path[i]);
      const binding::ClassId owner = on_way ? context_.program.funcs[on_way].owner : binding::ClassId::None();
      const auto& bases = context_.program.classes[entered].mro;
      if (!owner || std::ranges::count(bases, owner) > 0) continue;
      const bool is_subclass = std::ranges::count(context_.program.classes[entered].subclasses, owner) > 0;
      const bool is_related = std::ranges::any_of(bases, [&](binding::ClassId base) {
        return std::ranges::count(context_.program.classes[base].subclasses, owner) > 0;
      });
      if (is_subclass) way = Way::OfSubclass;
      else if (is_related) return Way::OfSibling;
    }
    return way;
  }

  // The innermost function around a place.
  FuncId FunctionAt(const source::Span& span) const {
    FuncId innermost;
    uint32_t smallest = ~0u;
    for (uint32_t f = 0; f < context_.program.funcs.size(); ++f) {
      const FuncId id{f};
      const ir::Function& node = context_.program.function(id);
      const bool is_around = context_.program.module_of(id).file == span.file && node.begin <= span.begin && span.end <= node.end;
      if (!is_around || node.end - node.begin >= smallest) continue;
      innermost = id;
      smallest = node.end - node.begin;
    }
    return innermost;
  }

  ValueId Argument(ir::ModuleId module_id, const ir::Expr& call, uint32_t index,
                   std::string_view keyword) const {
    const ir::Module& module = context_.program.modules[module_id];
    uint32_t position = 0;
    for (uint32_t i = 0; i < ir::ArgCount(module, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module, call, i);
      const bool named = arg.kind == ir::ArgKind::Keyword && context_.program.text(arg.keyword) == keyword;
      const bool placed = arg.kind == ir::ArgKind::Positional && position++ == index;
      if (named || placed) return context_.facts.value(module_id, arg.value);
    }
    return ValueId::None();
  }

  // The canonical name of a library's function or class; empty for all else.
  std::string_view ExternalName(ValueId value) const {
    if (!value) return {};
    const variation::Value& called = context_.facts.values_store[value];
    if (called.kind == ValueKind::BoundExternal) return context_.program.text(context_.knowledge[called.entry()].name);
    if (called.kind != ValueKind::External) return {};
    const base::NameId name = context_.facts.values_store[value].name();
    const knowledge::ClassId known = context_.knowledge.FindClass(name);
    return context_.program.text(known ? context_.knowledge[known].name : name);
  }

  const Context& context_;
  FindingSink& sink_;
  std::vector<Loader> loaders_;
};

void CheckCollectiveOffThread(const Context& context, FindingSink& sink) { OffThread(context, sink).Run(); }

}  // namespace

extern const Rule CollectiveOffThread = {
    .code = kAR113,
    .name = "collective-off-thread",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python",
    .summary =
        "collective in a loader worker, signal handler, finaliser or thread beside the training thread",
    .explanation = R"md(
## What it finds

A collective on the default group, directly or through functions of the project, in code that does
not run in the order of the training loop: a dataset's `__getitem__` or `__iter__` that loader
workers run, a collate function, a signal handler, `__del__`, or a thread.

## Why it hurts

Ranks pair collectives by the order in which they are issued. Code that runs "some time" (when a
signal arrives, when an object is collected, when the scheduler lets a thread run) puts its
operation at a different place of that order on each rank. The result is a hang once in a while, or
an `all_reduce` of gradients that meets the `barrier` of the handler. Loader workers are processes
of their own, forked from the rank: the group does not exist there, or exists only as a broken copy,
and the worker fails or waits while the loader waits for the worker. The NCCL watchdog ends a hang
with `Watchdog caught collective operation timeout`; the Flight Recorder reports
`collective type mismatch`.

## Wrong

```python
def on_term(signum, frame):
    dist.barrier()                 # between any two operations of the loop
    save_checkpoint(model)

signal.signal(signal.SIGTERM, on_term)
```

## Right

```python
def on_term(signum, frame):
    flags["stop"] = 1              # only take note

signal.signal(signal.SIGTERM, on_term)
for batch in loader:
    train_step(batch)
    stop = torch.tensor(flags["stop"], device=device)
    dist.all_reduce(stop, op=dist.ReduceOp.MAX)
    if stop.item():
        save_checkpoint(model)
        break
```

## When it is silent

* The thread communicates on a group that was made for it.
* The thread starts the process group itself: it is a rank, as in tests with one thread a rank.
* The loader has no workers, so that the dataset runs in the training thread.
* The code only asks for the rank or the world size, or sends to and receives from single ranks.

## Fix

Let handlers and threads leave a note, and let the training loop act on it at a place that all ranks
pass together. For background work such as saving checkpoints, create a separate group (often Gloo)
and use it in that thread alone.

## Proof

There is nothing to replay: the order differs from run to run.
)md",
    .check = CheckCollectiveOffThread};

}  // namespace allranks::rules
