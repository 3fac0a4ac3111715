// Stores of variables of files and classes that are replaced before any code runs that could read them
// (analyzer/ir/overwritten.h). Of those only the walk itself knows what they hold.
#include "analyzer/ir/overwritten.h"
#include "analyzer/variation/evaluator.h"

namespace allranks::variation {

// `target`: of the statement at hand.
bool FunctionEvaluator::IsUnread(ir::ExprId target) const {
  if (func_.function != ir::kTopLevel || module_.language != ir::Language::Python || places_.empty()) return false;
  const ir::Position& at = places_.back();
  const ir::StmtKind kind = module_[module_.statements(at.block)[at.index]].kind;
  if (kind != ir::StmtKind::Assign && kind != ir::StmtKind::AnnAssign) return false;
  const ir::Readers readers{.runs = [&](ir::ExprId call) { return RunsOthers(call); },
                            .imports = [&](ir::ImportId import) { return ImportRunsOthers(import); }};
  return ir::IsSurelyReplacedUnread(module_, places_, target, readers);
}

// Whether a call, or applying a decorator, may run code of the program: all but what leads out of it by its name, and is handed none.
bool FunctionEvaluator::RunsOthers(ir::ExprId call) const {
  const ir::Expr& expr = module_[call];
  const auto target_of = [&](ir::ExprId name) { return tables_.program.Lookup(func_.module, ir::NameOf(module_[name])).kind; };
  if (expr.kind == ir::ExprKind::Call) {
    for (uint32_t i = 0; i < ir::ArgCount(module_, expr); ++i) {
      const ir::ExprId arg = ir::ArgAt(module_, expr, i).value;
      if (module_[arg].kind == ir::ExprKind::Lambda) return true;
      if (module_[arg].kind != ir::ExprKind::Name) continue;
      const binding::TargetKind kind = target_of(arg);
      if (kind == binding::TargetKind::Function || kind == binding::TargetKind::Class) return true;
    }
  }
  ir::ExprId root = expr.kind == ir::ExprKind::Call ? ir::CalleeOf(expr) : call;
  while (module_[root].kind == ir::ExprKind::Attribute) root = ir::ObjectOf(module_[root]);
  // `torch.zeros(1).cuda()`: what a library gives runs code of the library.
  if (module_[root].kind == ir::ExprKind::Call) return RunsOthers(root);
  if (module_[root].kind == ir::ExprKind::Constant) return false;
  if (module_[root].kind != ir::ExprKind::Name) return true;
  const std::string_view name = Text(ir::NameOf(module_[root]));
  const binding::TargetKind kind = target_of(root);
  const bool is_built_in = kind == binding::TargetKind::None && name != "exec" && name != "eval";
  return !is_built_in && kind != binding::TargetKind::External;
}

bool FunctionEvaluator::ImportRunsOthers(ir::ImportId import) const {
  return module_.imports[import].star || tables_.program.ImportTarget(func_.module, import).kind != binding::TargetKind::External;
}

}  // namespace allranks::variation
