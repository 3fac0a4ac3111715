// Idea: what was begun ends only where its request is named again. From the call down to that place each statement is looked
// at that surely runs behind the call: those of its block, and, where the block is an arm of an `if`, those behind the `if`
// and under the same test again. What is sent may be read there and not written; what is received may be neither.
//
// What was put into a stream of a GPU ends at the latest with the next call that is no operation itself: it may wait for the
// stream. Up to there the host may not look into what is worked on.
//
// A place in a buffer is one number: a variable, or an item whose index is written the same way and of variables that stay
// as they are, or is a constant below a constant count. That another index means another item is left to the program.
#include "rules/collectives/buffers_in_use.h"

#include <algorithm>
#include <string>

#include "analyzer/ir/bindings.h"
#include "analyzer/ir/printer.h"

namespace allranks::rules {
namespace {

using findings::Confidence;
using findings::Finding;
using ir::ExprId;
using findings::LabelRole;
using knowledge::OpClass;
using variation::CallFact;
using variation::FuncId;

bool IsNumber(const ir::Expr& expr) { return (expr.flags & ir::kNumber) != 0; }

// The variable that an expression is a part of, `requests` of `&requests[i]`; none of what is no part of a variable.
base::NameId VariableOf(const ir::Module& module, ir::ExprId id) {
  while (id && module[id].kind == ir::ExprKind::Subscript) id = ir::ObjectOf(module[id]);
  const bool is_local = id && module[id].kind == ir::ExprKind::Name && (module[id].flags & ir::kResolvedName) == 0;
  return is_local ? ir::NameOf(module[id]) : base::NameId::None();
}

// One operation that was begun.
class Begun {
 public:
  Begun(const Context& context, FuncId function, ir::ExprId call, const CallFact& fact)
      : context_(context), function_(function), module_(context.program.module_of(function)),
        tree_(context.index.tree(context.program.funcs[function].module)), call_(call), entry_(context.knowledge[fact.entry]) {}

  void Report(FindingSink& sink) {
    const ir::ExprId request = ArgOf(entry_.operation.handle_param);
    request_ = request ? VariableOf(module_, request) : base::NameId::None();
    const ir::StmtId stmt = tree_.StatementOf(call_);
    const bool is_followed = IsQueued() || (request_ && !IsParameter(request_));
    if (!stmt || !is_followed) return;
    const bool is_plain = module_[stmt].kind == ir::StmtKind::Expr || module_[stmt].kind == ir::StmtKind::Assign;
    if (!is_plain || !FindBuffers()) return;
    Follow(stmt);
    if (!touched_) return;
    Add(sink);
  }

 private:
  struct Buffer {
    ir::ExprId expr;
    bool is_output = false;
    int64_t count = 1;   // of the elements that it surely has
  };

  ir::ExprId ArgOf(base::NameId param) const {
    const auto at = static_cast<uint32_t>(std::ranges::find(entry_.params, param) - entry_.params.begin());
    const ir::Expr& call = module_[call_];
    return param && at < entry_.params.size() && at < ir::ArgCount(module_, call) ? ir::ArgAt(module_, call, at).value : ir::ExprId();
  }

  bool IsQueued() const { return !entry_.operation.handle_param; }

  // Who handed it in may wait for it in a function that is called here.
  bool IsParameter(base::NameId name) const {
    return std::ranges::any_of(context_.program.function(function_).params, [&](const ir::Param& param) { return param.name == name; });
  }

  bool FindBuffers() {
    const ir::ExprId count = ArgOf(entry_.operation.count_param);
    const bool is_counted = count && module_[count].kind == ir::ExprKind::Constant &&
                            ir::ConstantKindOf(module_[count]) == ir::ConstantKind::Int;
    for (const base::NameId param : entry_.params) {
      const bool is_tensor = param == entry_.operation.tensor_param;
      const bool is_received = is_tensor && entry_.operation.op_class == OpClass::Recv;
      const bool is_stored = is_received || std::ranges::any_of(entry_.stores, [&](const auto& each) { return each.first == param; }) ||
                             std::ranges::find(entry_.makes_uniform, param) != entry_.makes_uniform.end();
      // The root of a broadcast only sends.
      const bool is_output = is_stored && !(is_tensor && entry_.operation.root_param);
      if ((!is_tensor && !is_output) || param == entry_.operation.handle_param) continue;
      const ir::ExprId expr = ArgOf(param);
      const int64_t elements = is_counted ? ir::IntOf(module_[count]) : 1;
      if (expr && VariableOf(module_, expr) && elements > 0) buffers_.push_back({expr, is_output, elements});
    }
    return !buffers_.empty();
  }

  std::string Text(ir::ExprId expr) const { return ir::PrintExpr(module_, *context_.program.names, expr); }

  // ---- What runs behind the call

  void Follow(ir::StmtId stmt) {
    if (!Behind(stmt, {}, {})) return;
    const ir::StmtId around = tree_.Parent(stmt);
    if (!around || module_[around].kind != ir::StmtKind::If) return;
    const bool is_then = ir::BodyOf(module_[around]) == tree_.BlockOf(stmt);
    Behind(around, ir::ValueOf(module_[around]), is_then);
  }

  // The statements behind one in its block; `test`: it holds, or does not. False where the search is over.
  bool Behind(ir::StmtId stmt, ir::ExprId test, bool holds) {
    const auto block = module_.statements(tree_.BlockOf(stmt));
    for (auto next = std::ranges::find(block, stmt) + 1; next != block.end(); ++next) {
      if (!Visit(*next, test, holds)) return false;
    }
    return true;
  }

  bool Visit(ir::StmtId id, ir::ExprId test, bool holds) {
    const ir::Stmt& stmt = module_[id];
    if (stmt.kind == ir::StmtKind::Return && ir::ValueOf(stmt) && !Ends(stmt)) {
      Read(ir::ValueOf(stmt));
      Inside(ir::ValueOf(stmt));
    }
    const bool leaves = stmt.kind == ir::StmtKind::Return || stmt.kind == ir::StmtKind::Break ||
                        stmt.kind == ir::StmtKind::Continue || stmt.kind == ir::StmtKind::Raise;
    const bool is_declared = stmt.kind == ir::StmtKind::AnnAssign && !ir::AssignedOf(stmt);
    if (leaves) return false;
    if (is_declared) return true;
    if (test && stmt.kind == ir::StmtKind::If) {
      const bool is_same = Text(ir::ValueOf(stmt)) == Text(test);
      if (!is_same) return !Ends(stmt);
      for (const ir::StmtId inner : module_.statements(holds ? ir::BodyOf(stmt) : ir::ElseBlockOf(stmt))) {
        if (!Visit(inner, {}, holds)) return false;
      }
      return true;
    }
    if (Ends(stmt)) return false;
    const bool is_compound = stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While || stmt.kind == ir::StmtKind::If ||
                             stmt.kind == ir::StmtKind::Try;
    if (test && is_compound) return true;
    Search(stmt);
    Bind(stmt, test);
    return !touched_ && !is_over_;
  }

  // Whether the operation may be over behind a statement.
  bool Ends(const ir::Stmt& stmt) const {
    bool found = false;
    ir::ForEachExpr(module_, stmt, [&](ExprId expr) { found = found || (IsQueued() ? MayWait(expr) : ir::Mentions(module_, expr, request_)); });
    ir::ForEachBlock(module_, stmt, [&](ir::BlockId block) {
      // Nothing comes after an arm that hands a failure on.
      if (IsQueued() && LeavesAtItsEnd(block)) return;
      for (const ir::StmtId inner : module_.statements(block)) found = found || Ends(module_[inner]);
    });
    return found;
  }

  bool LeavesAtItsEnd(ir::BlockId block) const {
    const auto statements = module_.statements(block);
    if (statements.empty()) return false;
    const ir::Stmt& last = module_[statements.back()];
    if (last.kind == ir::StmtKind::Return || last.kind == ir::StmtKind::Raise) return true;
    const bool is_call = last.kind == ir::StmtKind::Expr && module_[ir::ValueOf(last)].kind == ir::ExprKind::Call;
    const CallFact* fact = is_call ? context_.facts.call(function_, ir::ValueOf(last)) : nullptr;
    if (fact == nullptr || fact->kind != variation::CallKind::Known) return false;
    return context_.knowledge[fact->entry].exits || context_.knowledge[fact->entry].aborts;
  }

  // Any call but of operations, which are put into streams themselves, and of what only prints.
  bool MayWait(ExprId id) const {
    return ir::AnyPart(module_, id, [&](ExprId part) {
      if (module_[part].kind != ir::ExprKind::Call || IsBuiltin(ir::CalleeOf(module_[part]))) return false;
      const CallFact* fact = context_.facts.call(function_, part);
      return fact == nullptr || fact->kind != variation::CallKind::Known || !context_.knowledge[fact->entry].has_operation;
    });
  }

  // What a statement binds makes another place of the same words; a buffer that is given up is no longer this one.
  void Bind(const ir::Stmt& stmt, ExprId test) {
    ir::ForEachBinding(module_, stmt, [&](const ir::Binding& binding) {
      const base::NameId name = binding.name;
      if (test && ir::Mentions(module_, test, name)) is_over_ = true;
      std::erase_if(buffers_, [&](const Buffer& buffer) { return ir::Mentions(module_, buffer.expr, name); });
    });
    ir::ForEachBlock(module_, stmt, [&](ir::BlockId block) {
      for (const ir::StmtId inner : module_.statements(block)) Bind(module_[inner], test);
    });
  }

  // ---- Whether a buffer is touched

  void Search(const ir::Stmt& stmt) {
    const ExprId value = stmt.kind == ir::StmtKind::Assign || stmt.kind == ir::StmtKind::AugAssign ? ir::AssignedOf(stmt) : ExprId();
    if (stmt.kind == ir::StmtKind::Assign) {
      const ir::ExprList targets = ir::TargetsOf(module_, stmt);
      for (const ExprId target : targets) Written(target);
      // `p = &x` looks like `y = x` but for what it is stored in.
      const bool takes_number = targets.size() == 1 && IsNumber(module_[targets[0]]);
      if (takes_number) Read(value);
    }
    if (stmt.kind == ir::StmtKind::AugAssign) {
      Written(ir::ValueOf(stmt));
      if (IsNumber(module_[ir::ValueOf(stmt)])) Read(value);
    }
    if (stmt.kind == ir::StmtKind::If || stmt.kind == ir::StmtKind::While) Read(ir::ValueOf(stmt));
    ir::ForEachExpr(module_, stmt, [&](ExprId expr) { Inside(expr); });
    if (touched_ || is_over_) return;
    // A loop or an arm in which variables of the place change is about other places.
    if (stmt.kind == ir::StmtKind::For || stmt.kind == ir::StmtKind::While) Bind(stmt, {});
    ir::ForEachBlock(module_, stmt, [&](ir::BlockId block) {
      for (const ir::StmtId inner : module_.statements(block)) {
        if (!touched_) Search(module_[inner]);
        Bind(module_[inner], {});
      }
    });
  }

  // Parts of an expression that are surely read, or written.
  void Inside(ExprId id) {
    const ir::Expr& expr = module_[id];
    switch (expr.kind) {
      case ir::ExprKind::Binary:
      case ir::ExprKind::Unary:
      case ir::ExprKind::Compare:
      case ir::ExprKind::Bool:
        ir::ForEachPart(module_, id, [&](ExprId part) { Read(part); });
        break;
      case ir::ExprKind::Conditional:
        Read(ir::TestOf(expr));
        break;
      case ir::ExprKind::Walrus:
        Written(ir::LeftOf(expr));
        break;
      case ir::ExprKind::Subscript:
        Read(ir::IndexOf(expr));
        break;
      case ir::ExprKind::Call:
        if (IsBuiltin(ir::CalleeOf(expr))) ir::ForEachPart(module_, id, [&](ExprId part) { Read(part); });
        break;
      default:
        break;
    }
    ir::ForEachPart(module_, id, [&](ExprId part) { Inside(part); });
  }

  // `printf`, `abs`: what takes numbers as they are, and no addresses of them.
  bool IsBuiltin(ExprId callee) const {
    const ir::Expr& expr = module_[callee];
    return expr.kind == ir::ExprKind::Name && (expr.flags & ir::kResolvedName) != 0 &&
           context_.program.text(ir::NameOf(expr)).starts_with("builtins.");
  }

  void Read(ExprId use) {
    for (const Buffer& buffer : buffers_) {
      if (buffer.is_output && IsIn(use, buffer)) Note(use, buffer, false);
    }
  }

  void Written(ExprId use) {
    for (const Buffer& buffer : buffers_) {
      if (IsIn(use, buffer)) Note(use, buffer, true);
    }
  }

  bool IsIn(ExprId use, const Buffer& buffer) const {
    const ir::Expr& expr = module_[use];
    if (!IsNumber(expr)) return false;
    const ir::Expr& given = module_[buffer.expr];
    if (expr.kind == given.kind && Text(use) == Text(buffer.expr)) return true;
    // `x[2]` of `MPI_Irecv(x, 4, ...)`.
    if (expr.kind != ir::ExprKind::Subscript || IsNumber(given)) return false;
    const ir::Expr& index = module_[ir::IndexOf(expr)];
    const bool is_constant = index.kind == ir::ExprKind::Constant && ir::ConstantKindOf(index) == ir::ConstantKind::Int;
    if (!is_constant || ir::IntOf(index) < 0 || ir::IntOf(index) >= buffer.count) return false;
    return Text(ir::ObjectOf(expr)) == Text(buffer.expr);
  }

  void Note(ExprId use, const Buffer& buffer, bool is_written) {
    if (touched_) return;
    touched_ = use;
    is_written_ = is_written;
    is_output_ = buffer.is_output;
  }

  // ---- The finding

  void Add(FindingSink& sink) const {
    const std::string name(context_.program.text(entry_.name));
    sink.push_back({.code = "AR112",
                    .severity = Severity::Error,
                    .confidence = Confidence::Certain,
                    .span = module_.span(touched_),
                    .message = {"`{}` is {} here while `{}` may still {} it",
                                {Text(touched_), is_written_ ? "written" : "read", name, is_output_ ? "write" : "read"}},
                    .labels = {{module_.span(call_), LabelRole::Note, {"the operation starts here", {}}}},
                    .help = IsQueued() ? findings::Text{"wait for the stream before the host touches the buffer", {}}
                                       : findings::Text{"wait for the request before the buffer is touched, `MPI_Wait(&request, ...)`", {}},
                    .function = context_.program.FunctionName(function_)});
    Finding& finding = sink.back();
    finding.labels.push_back({module_.span(touched_), LabelRole::Primary, {"too early", {}}});
    findings::Assume(finding, context_.launch.AssumedOf(function_));
  }

  const Context& context_;
  FuncId function_;
  const ir::Module& module_;
  const ir::Tree& tree_;
  ir::ExprId call_;
  const knowledge::Entry& entry_;
  base::NameId request_;
  std::vector<Buffer> buffers_;
  ir::ExprId touched_;
  bool is_written_ = false;
  bool is_output_ = false;
  bool is_over_ = false;
};

}  // namespace

void ReportBuffersInUse(const Context& context, FuncId function, FindingSink& sink) {
  if (context.program.module_of(function).language == ir::Language::Python) return;
  const base::NameId stream = context.program.names->Find("stream");
  for (const auto& [expr, fact] : context.facts.functions[function].calls) {
    if (fact.kind != variation::CallKind::Known) continue;
    const knowledge::Entry& entry = context.knowledge[fact.entry];
    const bool is_queued = stream && std::ranges::find(entry.params, stream) != entry.params.end();
    const bool begins = entry.has_operation && ((entry.operation.always_async && entry.operation.handle_param) || is_queued);
    if (begins) Begun(context, function, expr, fact).Report(sink);
  }
}

}  // namespace allranks::rules
