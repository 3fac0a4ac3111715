#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/ir/bindings.h"
#include "rules/collectives/buffers_in_use.h"
#include "rules/rule.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using findings::LabelRole;
using variation::CallFact;
using variation::FuncId;
using variation::ValueKind;

constexpr std::string_view kAR112 = "AR112";

// Reading these of a tensor says nothing of its contents, or makes a view of them.
constexpr std::string_view kHarmlessMembers[] = {
    "chunk",           "data_ptr", "detach",    "device",     "dim",       "dtype",
    "element_size",    "expand",   "flatten",   "get_device", "is_cuda",   "layout",
    "narrow",          "ndim",     "nelement",  "new_empty",  "new_full",  "new_ones",
    "new_tensor",      "new_zeros", "numel",    "permute",    "record_stream",
    "requires_grad",   "reshape",  "shape",     "size",       "split",     "squeeze",
    "stride",          "t",        "transpose", "unbind",     "unflatten", "unsqueeze",
    "untyped_storage", "view",     "view_as"};

// A call that waits for the device, and so for all that runs on it.
constexpr std::string_view kDeviceWaits[] = {"synchronize", "wait_stream", "barrier", "monitored_barrier"};

template <class Range>
bool Contains(const Range& range, std::string_view text) {
  return std::ranges::find(range, text) != std::end(range);
}

// A stretch of bytes.
struct Stretch {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool holds(uint32_t at) const { return at >= begin && at < end; }
};

// What an operation does to one of its buffers while it runs.
struct Buffer {
  ir::ExprId expr;
  bool is_output = false;  // reading it early is wrong, too
};

// One call that returns a handle, in the function that makes it.
class AsyncCall {
 public:
  AsyncCall(const Context& context, FuncId function, ir::ExprId call, const CallFact& fact)
      : context_(context),
        function_(function),
        module_(context.program.module_of(function)),
        tree_(context.index.tree(context.program.funcs[function].module)),
        call_(call),
        entry_(context.knowledge[fact.entry]),
        fact_(fact) {}

  bool IsAsync() const {
    if (!entry_.has_operation) return false;
    if (entry_.operation.always_async) return true;
    const variation::ValueId value = ArgValue(entry_.operation.async_param);
    const variation::ValueStore& store = context_.facts.values_store;
    return value && store[value].kind == ValueKind::Bool && *store[value].integer() != 0;
  }

  void Report(FindingSink& sink) {
    if (!FindStatement() || ReportStep(sink) || ReportSecond(sink)) return;
    const ir::Stmt& stmt = module_[stmt_];
    if (entry_.operation.handle_param) {
      const ir::ExprId handle = ArgExpr(entry_.operation.handle_param);
      if (handle && module_[handle].kind == ir::ExprKind::Name && !ReportOverwritten(handle, sink)) ReportHandle(handle, sink);
      return;
    }
    if (stmt.kind == ir::StmtKind::Expr && ir::ValueOf(stmt) == call_) return ReportDropped(sink);
    if (stmt.kind != ir::StmtKind::Assign || ir::AssignedOf(stmt) != call_) return;
    const ir::ExprList targets = ir::TargetsOf(module_, stmt);
    // An attribute, item or tuple: somebody else may wait.
    if (targets.size() != 1 || module_[targets[0]].kind != ir::ExprKind::Name) return;
    ReportHandle(targets[0], sink);
  }

 private:
  variation::ValueId ArgValue(base::NameId param) const {
    const auto at = std::ranges::find(entry_.params, param);
    const auto args = context_.facts.args(fact_);
    const auto index = static_cast<size_t>(at - entry_.params.begin());
    return at == entry_.params.end() || index >= args.size() ? variation::ValueId::None() : args[index];
  }

  ir::ExprId ArgExpr(base::NameId param) const {
    const ir::Expr& call = module_[call_];
    uint32_t position = 0;
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (arg.kind == ir::ArgKind::Keyword && arg.keyword == param) return arg.value;
      if (arg.kind != ir::ArgKind::Positional) continue;
      if (position < entry_.params.size() && entry_.params[position] == param) return arg.value;
      ++position;
    }
    return ir::ExprId::None();
  }

  // The statement of the call, and what runs after it in this function.
  bool FindStatement() {
    stmt_ = tree_.StatementOf(call_);
    if (!stmt_) return false;
    const ir::Function& definition = context_.program.function(function_);
    const bool is_top = context_.program.funcs[function_].function == ir::kTopLevel;
    extent_ = is_top ? Stretch{0, ~0u} : Stretch{definition.begin, definition.end};
    CollectWhatFollows();
    return true;
  }

  // Later statements of the same block and of the blocks around it; the other arm of an `if` is not among
  // them.
  void CollectWhatFollows() {
    for (ir::StmtId inner = stmt_; inner; inner = tree_.Parent(inner)) {
      const auto stmts = module_.statements(tree_.BlockOf(inner));
      const auto next = std::ranges::find(stmts, inner) + 1;
      // Not in the order of their places: the step of a `for (...)` comes last.
      for (auto stmt = next; stmt != stmts.end(); ++stmt) follows_.push_back({module_[*stmt].begin, module_[*stmt].end});
    }
  }

  bool Follows(uint32_t at) const {
    return std::ranges::any_of(follows_, [&](const Stretch& stretch) { return stretch.holds(at); });
  }

  std::string_view TextOf(ir::ExprId expr) const {
    const ir::Expr& node = module_[expr];
    return std::string_view(context_.files[module_.file].text).substr(node.begin, node.end - node.begin);
  }

  // ---- How a use is used
  // -------------------------------------------------------------------------------------------

  std::string_view MemberRead(ir::ExprId expr) const {
    const ir::ExprId parent = tree_.Parent(expr);
    if (!parent || module_[parent].kind != ir::ExprKind::Attribute || ir::ObjectOf(module_[parent]) != expr)
      return {};
    return context_.program.text(ir::AttrOf(module_[parent]));
  }

  bool IsTarget(ir::ExprId expr) const {
    return std::ranges::any_of(module_.stmts, [&](const ir::Stmt& stmt) {
      // A declaration alone: `MPI_Request request;`.
      if (stmt.kind == ir::StmtKind::AnnAssign) return ir::ValueOf(stmt) == expr;
      if (stmt.kind != ir::StmtKind::Assign && stmt.kind != ir::StmtKind::Delete) return false;
      const ir::ExprList targets = ir::TargetsOf(module_, stmt);
      return std::any_of(targets.words.begin(), targets.words.end(),
                         [&](uint32_t w) { return w == expr.index; });
    });
  }

  bool IsTest(ir::ExprId expr) const {
    const ir::ExprId parent = tree_.Parent(expr);
    if (parent && module_[parent].kind == ir::ExprKind::Compare) return true;
    return std::ranges::any_of(module_.stmts, [&](const ir::Stmt& stmt) {
      return (stmt.kind == ir::StmtKind::If || stmt.kind == ir::StmtKind::While) &&
             ir::ExprId{stmt.a} == expr;
    });
  }

  // ---- The handle
  // --------------------------------------------------------------------------------------------------

  // Another operation stores its handle in the same place before anything was done with this one.
  bool ReportOverwritten(ir::ExprId handle, FindingSink& sink) {
    const base::NameId name = ir::NameOf(module_[handle]);
    uint32_t next_store = kNever;
    for (const auto& [expr, fact] : context_.facts.functions[function_].calls) {
      if (expr == call_ || fact.kind != variation::CallKind::Known || !Follows(module_[expr].begin)) continue;
      const AsyncCall other(context_, function_, expr, fact);
      if (other.entry_.operation.op_class == knowledge::OpClass::Wait) continue;
      const ir::ExprId stored = other.ArgExpr(other.entry_.operation.handle_param);
      const bool is_same = stored && module_[stored].kind == ir::ExprKind::Name && ir::NameOf(module_[stored]) == name;
      if (is_same) next_store = std::min(next_store, module_[stored].begin);
    }
    if (next_store == kNever) return false;
    const bool is_used = std::ranges::any_of(module_.exprs, [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::Name && ir::NameOf(expr) == name && expr.begin > module_[call_].end &&
             expr.begin < next_store;
    });
    if (is_used) return false;
    Add(sink, module_.span(call_), Confidence::Likely,
        {"`{}` runs on in the background: `{}`, its handle, is overwritten before anything waits for it",
         {Name(), std::string(context_.program.text(name))}},
        {{{module_.file, next_store, next_store + 1}, LabelRole::Note, {"overwritten here", {}}}});
    return true;
  }

  // The first place behind the call where a handle is waited for, whatever holds it.
  uint32_t FirstWait() const {
    uint32_t first = FirstDeviceWait();
    for (const ir::Expr& expr : module_.exprs) {
      if (expr.kind != ir::ExprKind::Attribute || !Follows(expr.begin)) continue;
      const std::string_view member = context_.program.text(ir::AttrOf(expr));
      if (member == "wait" || member == "synchronize") first = std::min(first, expr.begin);
    }
    return first;
  }

  // `works.append(all_reduce(p.grad, async_op=True))`, then `optimizer.step()`, and `wait()` only after it.
  bool ReportStep(FindingSink& sink) {
    const ir::ExprId tensor = ArgExpr(entry_.operation.tensor_param);
    const bool is_gradient = tensor && module_[tensor].kind == ir::ExprKind::Attribute &&
                             context_.program.text(ir::AttrOf(module_[tensor])) == "grad";
    const uint32_t wait = is_gradient ? FirstWait() : kNever;
    if (wait == kNever) return false;
    for (const objects::Site& step : context_.training.steps()) {
      if (step.function != function_) continue;
      const uint32_t begin = module_[step.expr].begin;
      if (!Follows(begin) || begin > wait) continue;
      Finding& finding = Add(sink, module_.span(step.expr), Confidence::Likely,
                             {"the optimizer steps before the `wait()` of `{}`: it may still be reducing the gradients", {Name()}},
                             {{module_.span(call_), LabelRole::Note, {"the operation starts here", {}}}});
      finding.labels.push_back({module_.span(step.expr), LabelRole::Primary, {"with gradients that may not be reduced yet", {}}});
      finding.labels.push_back({CallAt(wait), LabelRole::Note, {"it is waited for only here", {}}});
      return true;
    }
    return false;
  }

  // Another operation begins on the same buffer while this one runs. Within one group they queue; those of two groups
  // do not know of each other.
  bool ReportSecond(FindingSink& sink) {
    const ir::ExprId tensor = ArgExpr(entry_.operation.tensor_param);
    if (!tensor || module_[tensor].kind != ir::ExprKind::Name) return false;
    const uint32_t wait = FirstWait();
    for (const auto& [expr, fact] : context_.facts.functions[function_].calls) {
      if (expr == call_ || fact.kind != variation::CallKind::Known || !Follows(module_[expr].begin) || module_[expr].begin > wait) continue;
      const AsyncCall other(context_, function_, expr, fact);
      const ir::ExprId same = other.entry_.has_operation ? other.ArgExpr(other.entry_.operation.tensor_param) : ir::ExprId();
      const bool is_same = same && module_[same].kind == ir::ExprKind::Name && ir::NameOf(module_[same]) == ir::NameOf(module_[tensor]) &&
                           !IsReboundBetween(tensor, module_[expr].begin);
      const bool reads_only = entry_.operation.op_class == knowledge::OpClass::Send && other.MayReadOnly();
      const auto group = ArgValue(entry_.operation.group_param);
      const auto other_group = other.ArgValue(other.entry_.operation.group_param);
      if (!is_same || reads_only || group == other_group) continue;
      Finding& finding = Add(sink, module_.span(expr), Confidence::Likely,
                             {"`{}` begins on `{}` too early: `{}` of another group still works on it",
                              {other.Name(), std::string(TextOf(tensor)), Name()}},
                             {{module_.span(call_), LabelRole::Note, {"the first operation starts here", {}}}});
      finding.labels.push_back({module_.span(expr), LabelRole::Primary, {"too early", {}}});
      return true;
    }
    return false;
  }

  // What sends, or what a root sends that is not known: it may be who runs this.
  bool MayReadOnly() const {
    if (entry_.operation.op_class == knowledge::OpClass::Send) return true;
    const variation::ValueId root = ArgValue(entry_.operation.root_param);
    return root && !variation::IsConstant(context_.facts.values_store[root]);
  }

  // Whether the variable is bound to another tensor between the call and a later place, by a loop as well.
  bool IsReboundBetween(ir::ExprId variable, uint32_t end) const {
    const base::NameId name = ir::NameOf(module_[variable]);
    return std::ranges::any_of(module_.stmts, [&](const ir::Stmt& stmt) {
      if (stmt.begin <= module_[call_].end || stmt.begin >= end) return false;
      bool binds = false;
      ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) { binds = binds || binding.name == name; });
      return binds;
    });
  }

  void ReportDropped(FindingSink& sink) {
    // A sent buffer may be forgotten, as long as nobody writes to it.
    if (entry_.operation.op_class == knowledge::OpClass::Send || Buffers().empty()) return;
    if (FirstDeviceWait() != kNever) return;
    if (const uint32_t wait = LaterWait(); wait != kNever) return ReportEarlyUse(wait, sink);
    Add(sink, module_.span(call_), Confidence::Likely,
        {"the handle of `{}` is dropped, so nothing waits for the result", {Name()}}, {});
  }

  void ReportHandle(ir::ExprId target, FindingSink& sink) {
    const base::NameId handle = ir::NameOf(module_[target]);
    uint32_t first_wait = kNever;
    bool waits = false;
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      const ir::ExprId id{i};
      const ir::Expr& expr = module_[id];
      if (expr.kind != ir::ExprKind::Name || ir::NameOf(expr) != handle || !extent_.holds(expr.begin))
        continue;
      if (id == target || IsTarget(id) || IsTest(id)) continue;
      const std::string_view member = MemberRead(id);
      if (member == "is_completed" || member == "is_success") continue;
      // Returned, stored, passed on, captured, made a future of: somebody else may wait.
      if (member != "wait" && member != "synchronize") return;
      waits = true;
      if (Follows(expr.begin)) first_wait = std::min(first_wait, expr.begin);
    }
    if (!waits) {
      if (entry_.operation.op_class == knowledge::OpClass::Send || Buffers().empty()) return;
      if (FirstDeviceWait() != kNever) return;
      if (const uint32_t wait = LaterWait(); wait != kNever) return ReportEarlyUse(wait, sink);
      Add(sink, module_.span(call_), Confidence::Likely,
          {"`{}` runs on in the background: `{}`, its handle, is never waited for",
           {Name(), std::string(context_.program.text(handle))}},
          {});
      return;
    }
    if (first_wait != kNever) ReportEarlyUse(std::min(first_wait, FirstDeviceWait()), sink);
  }

  static constexpr uint32_t kNever = ~0u;

  uint32_t FirstDeviceWait() const {
    uint32_t first = kNever;
    for (const ir::Expr& expr : module_.exprs) {
      if (expr.kind != ir::ExprKind::Attribute || !Follows(expr.begin)) continue;
      if (Contains(kDeviceWaits, context_.program.text(ir::AttrOf(expr))))
        first = std::min(first, expr.begin);
    }
    return first;
  }

  // Operations of one group run in the order in which they begin: who waits for a later one waits for this one as well.
  uint32_t LaterWait() const {
    uint32_t first = kNever;
    for (const auto& [expr, fact] : context_.facts.functions[function_].calls) {
      if (expr == call_ || fact.kind != variation::CallKind::Known || !Follows(module_[expr].begin)) continue;
      const AsyncCall later(context_, function_, expr, fact);
      const bool is_of_group = ArgValue(entry_.operation.group_param) == later.ArgValue(later.entry_.operation.group_param);
      if (!later.IsAsync() || !is_of_group || later.entry_.operation.op_class != entry_.operation.op_class) continue;
      first = std::min(first, WaitFor(expr));
    }
    return first;
  }

  // Where the handle that a call returns is waited for, by the name that it is stored under; kNever if nowhere.
  uint32_t WaitFor(ir::ExprId call) const {
    const ir::StmtId id = tree_.StatementOf(call);
    const bool is_stored = id && module_[id].kind == ir::StmtKind::Assign && ir::AssignedOf(module_[id]) == call;
    if (!is_stored || ir::TargetsOf(module_, module_[id]).size() != 1) return kNever;
    const ir::Expr& target = module_[ir::TargetsOf(module_, module_[id])[0]];
    if (target.kind != ir::ExprKind::Name) return kNever;
    uint32_t first = kNever;
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      const ir::Expr& expr = module_[ir::ExprId{i}];
      const bool is_handle = expr.kind == ir::ExprKind::Name && ir::NameOf(expr) == ir::NameOf(target);
      if (is_handle && expr.begin > module_[call].end && Follows(expr.begin) && MemberRead(ir::ExprId{i}) == "wait") {
        first = std::min(first, expr.begin);
      }
    }
    return first;
  }

  // ---- The buffers
  // -------------------------------------------------------------------------------------------------

  std::vector<Buffer> Buffers() const {
    std::vector<Buffer> buffers;
    for (const base::NameId param : entry_.params) {
      const std::string_view name = context_.program.text(param);
      const bool is_output =
          std::ranges::find(entry_.makes_uniform, param) != entry_.makes_uniform.end() ||
          name.starts_with("output") || name == "tensor_list" || name == "gather_list" ||
          (param == entry_.operation.tensor_param && entry_.operation.op_class == knowledge::OpClass::Recv);
      if (!is_output && param != entry_.operation.tensor_param) continue;
      const ir::ExprId expr = ArgExpr(param);
      if (expr) buffers.push_back({expr, is_output});
    }
    return buffers;
  }

  // The call that starts at a place.
  source::Span CallAt(uint32_t begin) const {
    source::Span span = {module_.file, begin, begin + 1};
    for (const ir::Expr& expr : module_.exprs) {
      if (expr.kind == ir::ExprKind::Call && expr.begin == begin) span.end = std::max(span.end, expr.end);
    }
    return span;
  }

  void ReportEarlyUse(uint32_t wait, FindingSink& sink) {
    for (const Buffer& buffer : Buffers()) {
      const ir::ExprKind kind = module_[buffer.expr].kind;
      if (kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) continue;
      const ir::ExprId use = FirstUse(buffer, wait);
      if (!use) continue;
      const std::string text(TextOf(buffer.expr));
      Finding& finding =
          Add(sink, module_.span(use), Confidence::Certain,
              {"`{}` is used here before the `wait()` of `{}`: the operation may still be reading or writing it", {text, Name()}},
              {{module_.span(call_), LabelRole::Note, {"the operation starts here", {}}}});
      finding.labels.push_back({module_.span(use), LabelRole::Primary, {"too early", {}}});
      finding.labels.push_back({CallAt(wait), LabelRole::Note, {"it is waited for only here", {}}});
      return;
    }
  }

  ir::ExprId FirstUse(const Buffer& buffer, uint32_t wait) const {
    const std::string_view text = TextOf(buffer.expr);
    ir::ExprId first;
    uint32_t rebound = kNever;
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      const ir::ExprId id{i};
      const ir::Expr& expr = module_[id];
      if (expr.kind != module_[buffer.expr].kind || expr.begin >= wait || !Follows(expr.begin)) continue;
      if (TextOf(id) != text) continue;
      if (IsTarget(id))
        rebound = std::min(rebound, expr.begin);
      else if (Touches(id, buffer.is_output) && (!first || expr.begin < module_[first].begin))
        first = id;
    }
    return first && module_[first].begin < rebound ? first : ir::ExprId::None();
  }

  // True if the contents are read or written: only what plainly does so counts.
  bool Touches(ir::ExprId use, bool reads_count) const {
    const std::string_view member = MemberRead(use);
    if (!member.empty()) {
      const bool in_place = member.size() > 1 && member.ends_with('_') && !member.ends_with("__");
      return in_place || (reads_count && !Contains(kHarmlessMembers, member));
    }
    if (IsChangedInPlace(use)) return true;
    const ir::ExprId parent = tree_.Parent(use);
    if (!parent || !reads_count) return false;
    const ir::Expr& node = module_[parent];
    switch (node.kind) {
      case ir::ExprKind::Binary:
      case ir::ExprKind::Unary:
        return true;
      case ir::ExprKind::Call:
        return ir::CalleeOf(node) != use && ReadsArguments(parent, node);
      default:
        return false;
    }
  }

  // `t += x`, `t[i] = x`.
  bool IsChangedInPlace(ir::ExprId use) const {
    const ir::ExprId parent = tree_.Parent(use);
    const bool is_item =
        parent && module_[parent].kind == ir::ExprKind::Subscript && ir::ObjectOf(module_[parent]) == use;
    if (is_item && IsTarget(parent)) return true;
    return std::ranges::any_of(module_.stmts, [&](const ir::Stmt& stmt) {
      return stmt.kind == ir::StmtKind::AugAssign &&
             (ir::ExprId{stmt.a} == use || (is_item && ir::ExprId{stmt.a} == parent));
    });
  }

  // A library function other than an operation, which would queue behind this one.
  bool ReadsArguments(ir::ExprId call, const ir::Expr& node) const {
    const CallFact* fact = context_.facts.call(function_, call);
    if (fact != nullptr && fact->kind != variation::CallKind::External) return false;
    const variation::ValueId callee =
        context_.facts.value(context_.program.funcs[function_].module, ir::CalleeOf(node));
    if (!callee || context_.facts.values_store[callee].kind != ValueKind::External) return false;
    const base::NameId name = context_.facts.values_store[callee].name();
    const std::string_view text = context_.program.text(name);
    return text == "builtins.print" || text == "builtins.float" || text == "builtins.int" ||
           (text.starts_with("torch.") && !context_.knowledge.FindEntry(name) &&
            text.find("empty_like") == text.npos && text.find("zeros_like") == text.npos &&
            text.find("ones_like") == text.npos);
  }

  std::string Name() const { return std::string(context_.program.text(entry_.name)); }

  Finding& Add(FindingSink& sink, source::Span span, Confidence confidence, findings::Text message,
               std::vector<findings::Label> labels) const {
    sink.push_back({.code = kAR112,
                    .severity = Severity::Error,
                    .confidence = confidence,
                    .span = span,
                    .message = std::move(message),
                    .labels = std::move(labels),
                    .help = {"keep the handle and call `wait()` on it before the tensor is used", {}},
                    .function = context_.program.FunctionName(function_)});
    findings::Assume(sink.back(), context_.launch.AssumedOf(function_));
    return sink.back();
  }

  const Context& context_;
  FuncId function_;
  const ir::Module& module_;
  const ir::Tree& tree_;
  ir::ExprId call_;
  const knowledge::Entry& entry_;
  const CallFact& fact_;
  ir::StmtId stmt_;
  Stretch extent_;
  std::vector<Stretch> follows_;
};

void CheckAsyncWorkNotWaited(const Context& context, FindingSink& sink) {
  for (uint32_t i = 0; i < context.facts.functions.size(); ++i) {
    const FuncId function{i};
    for (const auto& [expr, fact] : context.facts.functions[function].calls) {
      if (fact.kind != variation::CallKind::Known) continue;
      AsyncCall call(context, function, expr, fact);
      if (call.IsAsync()) call.Report(sink);
    }
    ReportBuffersInUse(context, function, sink);
  }
}

}  // namespace

extern const Rule AsyncWorkNotWaited = {
    .code = kAR112,
    .name = "async-work-not-waited",
    .severity = Severity::Error,
    .on_by_default = false,
    .preview = kTooOftenWrong,
    .languages = "Python, C, C++",
    .summary = "asynchronous collective whose tensor is used, or whose handle is lost, before `wait()`",
    .explanation = R"md(
## What it finds

A collective started with `async_op=True`, or an `isend` / `irecv`, whose handle nobody keeps or
waits for, or whose tensor is read or written in the same function before `wait()`.

Also an optimizer that steps while gradients are still being reduced, wherever their handles are
kept, and a second operation that begins on the buffer of one that runs, on another group.

In C and C++: a buffer of `MPI_Irecv`, `MPI_Isend` or a non-blocking collective that is touched before
the function names its request again. What is sent may be read there, and not written; what is received
may be neither.

## Why it hurts

The call returns at once and the network works on in the background. Reading the result too early
gives the values from before the operation, or half of each: no error, no hang, and not the same
every time. Writing to the buffer too early changes what is being sent. With NCCL the effect depends
on streams and load, so it shows up as a loss curve that is slightly worse on a fast machine. A
dropped handle hides errors of the operation, too. The Flight Recorder sees nothing wrong, because
all ranks did take part.

## Wrong

```python
work = dist.all_reduce(grad, async_op=True)
grad /= world_size          # the sum is not there yet
work.wait()
```

## Right

```python
work = dist.all_reduce(grad, async_op=True)
norm = other.norm()         # useful work that does not touch `grad`
work.wait()
grad /= world_size
```

## When it is silent

* The handle is returned, stored in an attribute or container, passed on or captured: somebody else may
  wait.
* Only shape, type or device of the tensor is read, or a view of it is made.
* A later operation of the same group is waited for: they run in the order in which they begin.
* The device is waited for instead: `torch.cuda.synchronize()`, `wait_stream`, a barrier.
* A sent tensor is only read, or its handle dropped and the tensor left alone.
* In C and C++, another item of the buffer is touched, one whose index is not written as in the call, or
  the request came in as a parameter.
* `async_op` is a variable whose value is not known.

## Fix

Keep the handle and call `wait()` before the first use of the tensor; with several operations,
collect the handles in a list and wait for all. Where nothing is done in between, leave `async_op`
out.

## Proof

There is nothing to replay: the ranks agree, the order on one rank is wrong.
)md",
    .check = CheckAsyncWorkNotWaited};

}  // namespace allranks::rules
