#include "rules/collectives/beside_operation.h"

#include <algorithm>
#include <iterator>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using traces::Difference;
using traces::DifferenceKind;

class Beside {
 public:
  Beside(const Context& context, const Difference& difference)
      : context_(context), difference_(difference), function_(difference.culprit.function), module_id_(context.program.funcs[function_].module),
        module_(context.program.modules[module_id_]), tree_(context.index.tree(module_id_)) {}

  std::vector<source::Span> Run() const {
    const bool is_guard = difference_.kind == DifferenceKind::Guard || difference_.kind == DifferenceKind::DataBranch;
    if (difference_.exit.span.file) return BehindExit();
    return is_guard && difference_.condition_function == function_ ? UnderTest() : std::vector<source::Span>();
  }

 private:
  std::vector<source::Span> UnderTest() const {
    const ir::StmtId branch = difference_.condition_expr ? tree_.StatementOf(difference_.condition_expr) : ir::StmtId::None();
    if (!branch || module_[branch].kind != ir::StmtKind::If) return {};
    const ir::BlockId arm = ArmOf(branch, tree_.StatementOf(difference_.culprit.expr));
    std::vector<source::Span> found;
    for (const objects::KnownCall& call : Collectives()) {
      const ir::BlockId own = ArmOf(branch, tree_.StatementOf(call.expr));
      if (own && own != arm) return {};
      if (own) Add(call, found);
    }
    return found;
  }

  // The arm of a branch that a statement stands in; none: it stands elsewhere.
  ir::BlockId ArmOf(ir::StmtId branch, ir::StmtId stmt) const {
    for (ir::StmtId at = stmt; at; at = tree_.Parent(at)) {
      if (tree_.Parent(at) == branch) return tree_.BlockOf(at);
    }
    return ir::BlockId::None();
  }

  std::vector<source::Span> BehindExit() const {
    if (difference_.exit.word == traces::ExitWord::Return || difference_.exit.span.file != module_.file) return {};
    const ir::StmtId exit = context_.index.StatementAt(module_id_, difference_.exit.span.begin);
    ir::StmtId loop = exit;
    while (loop && module_[loop].kind != ir::StmtKind::For && module_[loop].kind != ir::StmtKind::While) loop = tree_.Parent(loop);
    std::vector<source::Span> found;
    for (const objects::KnownCall& call : loop ? Collectives() : std::vector<objects::KnownCall>()) {
      const ir::StmtId stmt = tree_.StatementOf(call.expr);
      if (stmt && tree_.Holds(loop, stmt) && module_[call.expr].begin > difference_.exit.span.end) Add(call, found);
    }
    return found;
  }

  std::vector<objects::KnownCall> Collectives() const {
    std::vector<objects::KnownCall> found;
    std::ranges::copy_if(context_.index.KnownCallsIn(function_), std::back_inserter(found), [](const objects::KnownCall& call) {
      return call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Collective;
    });
    std::ranges::sort(found, {}, [&](const objects::KnownCall& call) { return module_[call.expr].begin; });
    return found;
  }

  void Add(const objects::KnownCall& call, std::vector<source::Span>& found) const {
    const source::Span span = SpanOf(context_, {call.function, call.expr});
    if (span != difference_.culprit.span && span != difference_.place) found.push_back(span);
  }

  const Context& context_;
  const Difference& difference_;
  const variation::FuncId function_;
  const ir::ModuleId module_id_;
  const ir::Module& module_;
  const ir::Tree& tree_;
};

}  // namespace

std::vector<source::Span> OperationsBeside(const Context& context, const Difference& difference) {
  if (!difference.culprit.function || !difference.culprit.expr) return {};
  return Beside(context, difference).Run();
}

}  // namespace allranks::rules
