#include "rules/collectives/gradients_left_out.h"

#include <algorithm>
#include <optional>

#include "analyzer/objects/module_use.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"
#include "rules/reductions.h"

namespace allranks::rules {
namespace {

using objects::Guard;
using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

// A part of a model that some batches leave out, and the test that decides it.
struct LeftOut {
  binding::ClassId model;
  base::NameId part;
  Guard test;
};

class GradientsLeftOut {
 public:
  GradientsLeftOut(const Context& context, std::string_view code, FindingSink& sink)
      : context_(context), calls_(context), uses_(context.program, context.knowledge, context.facts, context.index, context.guards), code_(code),
        sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!ReducesAttribute(context_, call, "grad")) continue;
      const std::optional<Site> test = TestOfGradient(call);
      const std::optional<LeftOut> left_out = test ? LeftOutIn(context_.program.funcs[call.function].module) : std::nullopt;
      if (left_out) Report(call, *test, *left_out);
    }
  }

 private:
  // `p.grad is None`, which decides whether the reduction is reached.
  std::optional<Site> TestOfGradient(const KnownCall& call) const {
    for (const Guard& guard : context_.guards.Of({call.function, call.expr})) {
      const ir::Module& module = context_.program.module_of(guard.function);
      const ir::Expr& test = module[guard.test];
      if (test.kind != ir::ExprKind::Compare || ir::ComparisonCount(module, test) != 1) continue;
      const ir::Comparison compared = ir::ComparisonAt(module, test, 0);
      const bool is_identity = compared.op == ir::CompareOp::Is || compared.op == ir::CompareOp::IsNot;
      const ir::Expr& asked = module[ir::LeftOf(test)];
      if (is_identity && asked.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(asked)) == "grad") return Site{guard.function, guard.test};
    }
    return std::nullopt;
  }

  std::optional<LeftOut> LeftOutIn(ir::ModuleId module) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(module);
    for (uint32_t c = 0; c < context_.program.classes.size(); ++c) {
      const binding::ClassId class_id{c};
      if (std::ranges::count(files, context_.program.classes[class_id].module) == 0) continue;
      for (const objects::PartUse& part : uses_.Of(class_id).parts) {
        const std::optional<Guard>& test = part.use == objects::Use::Sometimes ? part.condition : part.choice;
        if (part.field && test && ReadsBatch(*test)) return LeftOut{class_id, part.field, *test};
      }
    }
    return std::nullopt;
  }

  // What is in a rank's own batch decides, or a random number, and not whether the batch has something at all.
  bool ReadsBatch(const Guard& guard) const {
    const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    if (!test) return false;
    const variation::Value& value = context_.values[test];
    const bool asks_for_presence = value.kind == ValueKind::Compare &&
                                   (value.is_membership() || context_.values[context_.facts.values_store.Kids(test)[1]].kind == ValueKind::None);
    return !asks_for_presence && context_.values.AnyPart(test, [&](ValueId part) { return IsOwn(part); });
  }

  bool IsOwn(ValueId part) const {
    const variation::Value& value = context_.values[part];
    const ValueId passed = value.kind == ValueKind::Param ? context_.facts.param(value.function(), value.param_index()) : part;
    const knowledge::Axes own = knowledge::Axes::Of(knowledge::Axis::Data) | knowledge::Axes::Of(knowledge::Axis::Chance);
    return passed && !(context_.facts.values_store.axes(passed) & own).empty();
  }

  void Report(const KnownCall& call, const Site& test, const LeftOut& left_out) {
    const std::string part(context_.program.text(left_out.part));
    const std::string model(context_.program.text(context_.program.ir_class(left_out.model).name));
    Finding finding = FindingAt(context_, code_, Severity::Error, Confidence::Likely, test,
                                {"`{}` depends on each rank's own batches, which may leave `{}` of `{}` out: ranks reduce different gradients", {Quoted(context_, test), part, model}});
    findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::BatchDiffers));
    AddLabel(finding, finding.span, LabelRole::Primary, {"true on the ranks whose batches left it out", {}});
    AddLabel(finding, SpanOf(context_, {call.function, call.expr}), LabelRole::Victim, {"the other ranks wait here", {}});
    AddLabel(finding, SpanOf(context_, {left_out.test.function, left_out.test.test}), LabelRole::Why, {"decides whether `{}` is used", {part}});
    finding.help = {"reduce zeros where a rank has no gradient: every rank has to make the same reductions in the same order", {}};
    finding.is_in_preview = true;
    sink_.push_back(std::move(finding));
  }

  const Context& context_;
  ProgramCalls calls_;
  objects::ModuleUses uses_;
  const std::string_view code_;
  FindingSink& sink_;
};

}  // namespace

void CheckGradientsLeftOut(const Context& context, std::string_view code, FindingSink& sink) { GradientsLeftOut(context, code, sink).Run(); }

}  // namespace allranks::rules
