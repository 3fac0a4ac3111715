#include "rules/frameworks/bypassed_backward.h"

#include <algorithm>

#include "analyzer/objects/claims.h"
#include "analyzer/objects/local_flow.h"

namespace allranks::rules {
namespace {

constexpr std::string_view kBackward = "@gradient_synced.backward";
constexpr std::string_view kOtherWrapper = "torch.nn.parallel.DistributedDataParallel";

// `loss` of `loss.backward()`; none where the call has arguments.
ir::ExprId LossOf(const ir::Module& module, ir::ExprId call) {
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  const bool is_plain = callee.kind == ir::ExprKind::Attribute && ir::ArgCount(module, module[call]) == 0;
  return is_plain ? ir::ObjectOf(callee) : ir::ExprId::None();
}

// Whether a wrapper other than DDP computed the loss whatever is chosen on the way.
bool IsSurelyTakenOver(const Context& context, variation::ValueId loss, int depth = 0) {
  constexpr int kDeepest = 12;
  const variation::ValueStore& values = context.facts.values_store;
  if (!loss || depth == kDeepest || !values[loss].mark) return false;
  const auto kids = values.Kids(loss);
  const auto is_sure = [&](variation::ValueId kid) { return IsSurelyTakenOver(context, kid, depth + 1); };
  if (values[loss].kind == variation::ValueKind::Select) return is_sure(kids[1]) && is_sure(kids[2]);
  if (std::ranges::any_of(kids, [&](variation::ValueId kid) { return kid && values[kid].mark; })) {
    return std::ranges::any_of(kids, is_sure);
  }
  const bool is_called = !kids.empty() && kids[0] && values[kids[0]].kind == variation::ValueKind::Object;
  return is_called && context.program.text(values[kids[0]].name()) != kOtherWrapper;
}

// `if use_engine: model = initialize(model)`, and later `if use_engine: model.backward(loss)`, `else: loss.backward()`
bool AreNeverTogether(const Context& context, const objects::Site& a, const objects::Site& b) {
  if (a.function != b.function) return false;
  const auto claims_at = [&](const objects::Site& site) {
    return objects::ClaimsBefore(context.program, context.facts, context.guards, site.function, context.index.StatementOf(site));
  };
  const std::vector<objects::Claim> of_a = claims_at(a), of_b = claims_at(b);
  return std::ranges::any_of(of_a, [&](const objects::Claim& one) {
    return std::ranges::any_of(of_b, [&](const objects::Claim& other) { return objects::AreOpposite(one, other); });
  });
}

// `probe(output.detach()).mean()`: the loss is computed from what the wrapped model put out, and its gradients end there.
bool EndsAtDetached(const Context& context, const objects::Site& loss) {
  const objects::FlowInto parts(context.program, context.index, loss.function, loss.expr);
  const ir::Module& module = context.program.module_of(loss.function);
  bool is_detached = false;
  for (const auto& [expr, fact] : context.facts.functions[loss.function].calls) {
    if (module[expr].kind != ir::ExprKind::Call || !parts.Holds(expr)) continue;
    const ir::Expr& callee = module[ir::CalleeOf(module[expr])];
    const bool is_end = callee.kind == ir::ExprKind::Attribute && context.program.text(ir::AttrOf(callee)) == "detach";
    is_detached = is_detached || is_end;
    const bool is_helper = fact.kind == variation::CallKind::Function && !context.program.funcs[fact.function].owner;
    const bool runs_wrapped = fact.kind == variation::CallKind::Known && context.knowledge[fact.entry].yield.mark;
    if (!is_end && (is_helper || runs_wrapped)) return false;
  }
  return is_detached;
}

}  // namespace

std::vector<BypassedBackward> BypassedBackwards(const Context& context,
                                                const std::function<bool(std::string_view entry)>& takes_over) {
  std::vector<BypassedBackward> found;
  const auto calls = context.index.known_calls();
  for (const objects::KnownCall& backward : calls) {
    if (context.program.text(backward.entry->name) != kBackward) continue;
    const ir::ModuleId module = context.program.funcs[backward.function].module;
    const auto is_here = [&](const objects::KnownCall& call, auto&& wanted) {
      return context.program.funcs[call.function].module == module && wanted(context.program.text(call.entry->name));
    };
    const auto taken_over = std::ranges::find_if(calls, [&](const auto& call) { return is_here(call, takes_over); });
    const auto makes_other = [](std::string_view name) { return name == std::string(kOtherWrapper) + ".__init__"; };
    const bool has_other_wrapper = !IsSurelyTakenOver(context, backward.receiver) ||
                                   std::ranges::any_of(calls, [&](const auto& call) { return is_here(call, makes_other); });
    const ir::ExprId loss = LossOf(context.program.modules[module], backward.expr);
    if (taken_over == calls.end() || has_other_wrapper || !loss) continue;
    const objects::Site site{backward.function, backward.expr};
    if (AreNeverTogether(context, {taken_over->function, taken_over->expr}, site)) continue;
    if (EndsAtDetached(context, {backward.function, loss})) continue;
    found.push_back({.backward = site, .loss = loss, .taken_over = &*taken_over});
  }
  return found;
}

Finding FindingAt(const Context& context, std::string_view code, const BypassedBackward& found, std::string_view message,
                  std::string_view why) {
  Finding finding = FindingAt(context, code, Severity::Error, Confidence::Likely, found.backward,
                              {message, {Quoted(context, {found.backward.function, found.loss})}});
  AddLabel(finding, finding.span, LabelRole::Primary, {"PyTorch's own backward", {}});
  AddLabel(finding, SpanOf(context, {found.taken_over->function, found.taken_over->expr}), LabelRole::Why, {why, {}});
  return finding;
}

}  // namespace allranks::rules
