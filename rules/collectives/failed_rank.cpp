#include "rules/collectives/failed_rank.h"

#include <algorithm>
#include <optional>

#include "analyzer/objects/local_flow.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;

// Where something stands in a file.
struct Stretch {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool Holds(uint32_t from, uint32_t to) const { return begin <= from && to <= end; }
};

class FailedRanks {
 public:
  FailedRanks(const Context& context, std::string_view code, FindingSink& sink) : context_(context), code_(code), sink_(sink) {}

  std::vector<source::Span> Run() {
    for (uint32_t m = 0; m < context_.program.modules.size(); ++m) {
      const ir::Module& module = context_.program.modules[ir::ModuleId{m}];
      for (uint32_t i = 0; i < module.stmts.size(); ++i) {
        if (module[ir::StmtId{i}].kind == ir::StmtKind::Try) Visit(ir::ModuleId{m}, ir::StmtId{i});
      }
    }
    return std::move(handlers_);
  }

 private:
  void Visit(ir::ModuleId module_id, ir::StmtId stmt) {
    const FuncId function = context_.index.FunctionOf(module_id, stmt);
    if (!function || !Trains(module_id, ir::TriedOf(context_.program.modules[module_id][stmt])) || !IsRunByAll(function)) return;
    const ir::Module& module = context_.program.modules[module_id];
    if (const std::optional<ir::StmtId> waits = WaitsIn(module_id, ir::FinallyOf(module[stmt]))) return ReportWait(module_id, *waits);
    if (!IsRunOnce(function, module_id, stmt)) return;
    for (const ir::Handler& handler : ir::HandlersOf(module, module[stmt])) {
      if (CatchesAll(module, handler) && EndsQuietly(function, stmt, handler)) return ReportEnd(function, stmt, handler);
    }
  }

  // Gradients are made there, and reduced or followed by other operations of all ranks.
  bool Trains(ir::ModuleId module_id, ir::BlockId body) const {
    const auto statements = context_.program.modules[module_id].statements(body);
    return std::ranges::any_of(statements, [&](ir::StmtId each) { return context_.training.Trains(module_id, each); }) &&
           std::ranges::any_of(statements, [&](ir::StmtId each) { return context_.training.Communicates(module_id, each); });
  }

  bool IsRunByAll(FuncId function) const {
    const traces::World world = objects::SmallJob(context_.facts.job);
    return context_.launch.Of(function) == objects::RunBy::AllRanks &&
           context_.ranks.ThatCall(function, world) == traces::RankSet::All(world.size());
  }

  bool IsRunOnce(FuncId function, ir::ModuleId module_id, ir::StmtId stmt) const {
    if (!context_.index.LoopsAround(module_id, stmt).empty()) return false;
    return std::ranges::none_of(context_.index.CallersOf(function), [&](const Site& caller) {
      return std::ranges::any_of(context_.index.WaysTo(caller), [&](const Site& way) { return !context_.index.LoopsAround(way).empty(); });
    });
  }

  bool CatchesAll(const ir::Module& module, const ir::Handler& handler) const {
    if (!handler.type) return true;
    const ir::Expr& type = module[handler.type];
    const std::string_view name = type.kind == ir::ExprKind::Name ? context_.program.text(ir::NameOf(type)) : std::string_view();
    return name == "Exception" || name == "BaseException";
  }

  // Neither the handler nor what stands behind it in the function raises, ends the process or hands back what happened.
  bool EndsQuietly(FuncId function, ir::StmtId stmt, const ir::Handler& handler) const {
    const ir::Module& module = context_.program.module_of(function);
    const auto statements = module.statements(handler.body);
    if (statements.empty()) return true;
    const Stretch body{handler.begin, module[statements.back()].end};
    if (Tells(function, body, true)) return false;
    const bool keeps = AnyStatement(function, body, [&](ir::StmtId each) { return IsReadBehind(function, each, module[stmt].end); });
    return !keeps && !Tells(function, {module[stmt].end, UINT32_MAX}, false);
  }

  // `failed = error`, and behind the `try` somebody looks at it, here or, of a field, wherever.
  bool IsReadBehind(FuncId function, ir::StmtId stmt, uint32_t end) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    if (module[stmt].kind != ir::StmtKind::Assign) return false;
    for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
      if (module[target].kind != ir::ExprKind::Name) return true;
      const auto names = context_.index.ExprsOf(module_id, ir::ExprKind::Name);
      if (std::ranges::any_of(names, [&](ir::ExprId name) {
            return ir::NameOf(module[name]) == ir::NameOf(module[target]) && module[name].begin >= end && FunctionAround(context_, module_id, name) == function;
          })) {
        return true;
      }
    }
    return false;
  }

  bool Tells(FuncId function, const Stretch& stretch, bool by_result) const {
    const ir::Module& module = context_.program.module_of(function);
    if (AnyStatement(function, stretch, [&](ir::StmtId each) {
          return module[each].kind == ir::StmtKind::Raise || (by_result && module[each].kind == ir::StmtKind::Return && ir::ValueOf(module[each]));
        })) {
      return true;
    }
    return std::ranges::any_of(CallsIn(context_, function), [&](const Site& call) {
      return stretch.Holds(module[call.expr].begin, module[call.expr].end) && MayEnd(call);
    });
  }

  template <class Wanted>
  bool AnyStatement(FuncId function, const Stretch& stretch, Wanted wanted) const {
    const ir::ModuleId module_id = context_.program.funcs[function].module;
    const ir::Module& module = context_.program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId stmt{i};
      if (stretch.Holds(module[stmt].begin, module[stmt].end) && context_.index.FunctionOf(module_id, stmt) == function && wanted(stmt)) return true;
    }
    return false;
  }

  // `sys.exit(1)`, `os.kill(pid, SIGTERM)`, a helper of the project that raises or does so.
  bool MayEnd(const Site& site) const {
    const KnownCall* known = context_.index.KnownCallAt(site);
    if (known != nullptr) return known->entry->exits || known->entry->raises;
    const FuncId called = CalledFunction(context_, context_.program.funcs[site.function].module, site.expr);
    if (called) return std::ranges::any_of(context_.index.RunBy({called}), [&](FuncId each) { return MayEnd(each); });
    return IsHandedOver(site) || HoldsWord(CalleeOf(site), {"exit", "abort", "kill", "terminate", "fail"});
  }

  // `error_queue.put((rank, traceback.format_exc()))`: the process that has the other end of the queue or pipe may end the others.
  bool IsHandedOver(const Site& site) const {
    const ir::Module& module = context_.program.module_of(site.function);
    const bool is_method = module[ir::CalleeOf(module[site.expr])].kind == ir::ExprKind::Attribute;
    const std::string_view name = CalleeOf(site);
    return is_method && (name == "put" || name == "put_nowait" || name == "send") && SaysWhatHappened(site);
  }

  // `traceback.format_exc()` or the exception itself among the arguments.
  bool SaysWhatHappened(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const objects::FlowInto flow(context_.program, context_.index, site.function, site.expr);
    const auto holds = [&](ir::ExprKind kind, auto wanted) {
      return std::ranges::any_of(context_.index.ExprsOf(module_id, kind), [&](ir::ExprId id) { return wanted(id) && flow.Holds(id); });
    };
    const auto is_told = [&](base::NameId name) { return context_.program.text(name) == "format_exc" || context_.program.text(name) == "exc_info"; };
    const auto is_caught = [&](ir::ExprId id) {
      return std::ranges::any_of(module.handlers, [&](const ir::Handler& handler) { return handler.name && handler.name == ir::NameOf(module[id]); });
    };
    return holds(ir::ExprKind::Attribute, [&](ir::ExprId id) { return is_told(ir::AttrOf(module[id])); }) ||
           holds(ir::ExprKind::Name, [&](ir::ExprId id) { return is_told(ir::NameOf(module[id])) || is_caught(id); });
  }

  bool MayEnd(FuncId function) const {
    const ir::Module& module = context_.program.module_of(function);
    if (AnyStatement(function, {0, UINT32_MAX}, [&](ir::StmtId stmt) { return module[stmt].kind == ir::StmtKind::Raise; })) return true;
    return std::ranges::any_of(CallsIn(context_, function), [&](const Site& call) {
      return !CalledFunction(context_, context_.program.funcs[function].module, call.expr) && MayEnd(call);
    });
  }

  std::string_view CalleeOf(const Site& site) const {
    const ir::Module& module = context_.program.module_of(site.function);
    const ir::Expr& callee = module[ir::CalleeOf(module[site.expr])];
    if (callee.kind == ir::ExprKind::Name) return context_.program.text(ir::NameOf(callee));
    return callee.kind == ir::ExprKind::Attribute ? context_.program.text(ir::AttrOf(callee)) : std::string_view();
  }

  // The first statement of a `finally` at which a rank waits for the others, whatever has happened.
  std::optional<ir::StmtId> WaitsIn(ir::ModuleId module_id, ir::BlockId block) const {
    if (!block) return std::nullopt;
    const ir::Module& module = context_.program.modules[module_id];
    for (const ir::StmtId stmt : module.statements(block)) {
      if (module[stmt].kind == ir::StmtKind::Expr && context_.training.Communicates(module_id, stmt)) return stmt;
    }
    return std::nullopt;
  }

  void ReportWait(ir::ModuleId module_id, ir::StmtId stmt) {
    const FuncId function = context_.index.FunctionOf(module_id, stmt);
    Finding finding = FindingAt(context_, code_, Severity::Error, Confidence::Likely, function, stmt,
                                {"a rank that fails waits here for the others, which wait for that rank in the `try`: it does not end, and the "
                                 "launcher does not stop them",
                                 {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"reached by a rank that failed, too", {}});
    finding.help = {"wait for the others at the end of the `try`, and leave `finally` to what a rank can do alone", {}};
    sink_.push_back(std::move(finding));
  }

  void ReportEnd(FuncId function, ir::StmtId stmt, const ir::Handler& handler) {
    Finding finding = FindingAt(context_, code_, Severity::Error, Confidence::Likely, function, stmt,
                                {"a rank that fails in training exits with status 0: the launcher does not stop the others, and they wait "
                                 "for that rank in their next collective",
                                 {}});
    finding.span = {finding.span.file, handler.begin, handler.end};
    handlers_.push_back(finding.span);
    AddLabel(finding, finding.span, LabelRole::Primary, {"the error ends here, and the program goes on to its end", {}});
    finding.help = {"raise the error again after logging it", {}};
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  std::string_view code_;
  FindingSink& sink_;
  std::vector<source::Span> handlers_;
};

}  // namespace

std::vector<source::Span> ReportFailedRanks(const Context& context, std::string_view code, FindingSink& sink) {
  return FailedRanks(context, code, sink).Run();
}

}  // namespace allranks::rules
