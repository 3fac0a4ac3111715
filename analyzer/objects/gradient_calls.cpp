#include "analyzer/objects/gradient_calls.h"

#include <algorithm>
#include <string_view>

namespace allranks::objects {

using knowledge::Role;
using variation::ValueKind;

namespace {

constexpr std::string_view kMethods[] = {"backward", "manual_backward", "step", "zero_grad", "unscale_"};

// The argument that a role speaks of; none: it speaks of the receiver.
std::optional<base::NameId> ParamOf(const knowledge::Entry& entry, Role role) {
  for (const knowledge::RoleOf& each : entry.roles) {
    if (each.role == role && each.param) return each.param;
  }
  return std::nullopt;
}

std::optional<GradientAction> ActionOf(const knowledge::Entry& entry) {
  if (entry.Has(Role::StepOptimizer)) return GradientAction::Step;
  if (entry.Has(Role::ClearGradients)) return GradientAction::Clear;
  if (entry.Has(Role::ClipGradients)) return GradientAction::Clip;
  if (entry.Has(Role::UnscaleGradients)) return GradientAction::Unscale;
  return std::nullopt;
}

Role RoleOfAction(GradientAction action) {
  switch (action) {
    case GradientAction::Step: return Role::StepOptimizer;
    case GradientAction::Clear: return Role::ClearGradients;
    case GradientAction::Clip: return Role::ClipGradients;
    default: return Role::UnscaleGradients;
  }
}

// The object whose method a call calls; none if it calls something else.
ir::ExprId ReceiverOf(const ir::Module& module, ir::ExprId call) {
  if (module[call].kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  return callee.kind == ir::ExprKind::Attribute ? ir::ObjectOf(callee) : ir::ExprId::None();
}

}  // namespace

bool IsSameChain(const ir::Module& module, ir::ExprId a, ir::ExprId b) {
  while (a && b) {
    if (a == b) return true;
    const ir::Expr& left = module[a];
    const ir::Expr& right = module[b];
    if (left.kind != right.kind) return false;
    if (left.kind == ir::ExprKind::Name) return ir::NameOf(left) == ir::NameOf(right);
    if (left.kind == ir::ExprKind::Subscript) {
      return IsSameChain(module, ir::LeftOf(left), ir::LeftOf(right)) && IsSameChain(module, ir::RightOf(left), ir::RightOf(right));
    }
    if (left.kind != ir::ExprKind::Attribute || ir::AttrOf(left) != ir::AttrOf(right)) return false;
    a = ir::ObjectOf(left);
    b = ir::ObjectOf(right);
  }
  return false;
}

GradientCalls::GradientCalls(const binding::Program& program, const knowledge::Knowledge& knowledge,
                             const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), values_(program, knowledge, facts) {
  FindMethodCalls();
  for (const KnownCall& call : index.known_calls()) AddKnown(call);
  for (const MethodCall& call : methods_) AddByBehaviour(call);
  const auto place = [&](const GradientCall& call) { return std::pair(call.site.function.index, call.site.expr.index); };
  std::ranges::sort(calls_, {}, place);
}

ValueId GradientCalls::ValueAt(const Site& site) const {
  return facts_.value(program_.funcs[site.function].module, site.expr);
}

void GradientCalls::FindMethodCalls() {
  const base::NameId groups = program_.names->Find("param_groups");
  uses_.resize(program_.modules.size());
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program_.modules[module_id];
    for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Attribute)) {
      const base::NameId attr = ir::AttrOf(module[id]);
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
      if (!attr || !stmt) continue;
      const std::string_view* name = std::ranges::find(kMethods, program_.text(attr));
      if (attr != groups && name == std::end(kMethods)) continue;
      const Site object{index_.FunctionOf(module_id, stmt), ir::ObjectOf(module[id])};
      if (attr == groups) NoteUse(object, kReadsGroups);
      const ir::ExprId call = index_.tree(module_id).Parent(id);
      const bool is_called = call && module[call].kind == ir::ExprKind::Call && ir::CalleeOf(module[call]) == id;
      if (!is_called || name == std::end(kMethods)) continue;
      methods_.push_back({.site = {object.function, call}, .object = object.expr, .name = *name});
      const bool has_argument = ir::ArgCount(module, module[call]) > 0 && ir::ArgAt(module, module[call], 0).kind == ir::ArgKind::Positional;
      if (*name == "step") NoteUse(object, kSteps);
      if (*name == "zero_grad") NoteUse(object, kClears);
      if (*name == "backward" && has_argument) NoteUse(object, kGivesLoss);
    }
  }
}

void GradientCalls::NoteUse(const Site& object, uint8_t use) {
  uses_[program_.funcs[object.function].module.index].push_back({object, use});
  for (const ValueId value : Identities(object)) uses_of_values_[value.index] |= use;
}

// The values of an object that tell it from others.
std::vector<ValueId> GradientCalls::Identities(const Site& object) const {
  std::vector<ValueId> leaves = values_.Leaves(ValueAt(object));
  std::erase_if(leaves, [&](ValueId leaf) {
    const ValueKind kind = facts_.values_store[leaf].kind;
    return kind != ValueKind::Object && kind != ValueKind::Instance && kind != ValueKind::Param;
  });
  return leaves;
}

uint8_t GradientCalls::UsesOf(const Site& object) const {
  uint8_t uses = 0;
  for (const ObjectUse& use : uses_[program_.funcs[object.function].module.index]) {
    if ((uses & use.uses) != use.uses && IsSameField(use.object, object)) uses |= use.uses;
  }
  for (const ValueId value : Identities(object)) {
    const auto known = uses_of_values_.find(value.index);
    if (known != uses_of_values_.end()) uses |= known->second;
  }
  return uses;
}

// The same chain of names in one function, or of fields in one class.
bool GradientCalls::IsSameField(const Site& a, const Site& b) const {
  if (program_.funcs[a.function].module != program_.funcs[b.function].module) return false;
  const ir::Module& module = program_.module_of(a.function);
  const binding::ClassId owner = program_.funcs[a.function].owner;
  const bool is_one_class = owner && owner == program_.funcs[b.function].owner && module[a.expr].kind == ir::ExprKind::Attribute;
  return (a.function == b.function || is_one_class) && IsSameChain(module, a.expr, b.expr);
}

bool GradientCalls::IsOptimizer(ValueId value) const {
  constexpr int kMostWrappers = 3;
  std::vector<ValueId> work = values_.Leaves(value);
  for (int round = 0; round < kMostWrappers && !work.empty(); ++round) {
    std::vector<ValueId> inner;
    for (const ValueId leaf : work) {
      if (values_.IsA(leaf, "torch.optim.Optimizer")) return true;
      if (facts_.values_store[leaf].kind != ValueKind::Object || values_.IsA(leaf, "torch.nn.Module")) continue;
      if (values_.IsA(leaf, "torch.optim.lr_scheduler.LRScheduler")) continue;
      const auto kids = facts_.values_store.Kids(leaf);
      if (kids.size() != 1) continue;
      for (const ValueId wrapped : values_.Leaves(kids[0])) inner.push_back(wrapped);
    }
    work = std::move(inner);
  }
  return false;
}

void GradientCalls::AddKnown(const KnownCall& call) {
  const std::optional<GradientAction> action = ActionOf(*call.entry);
  const ir::Module& module = program_.module_of(call.function);
  if (!action || module[call.expr].kind != ir::ExprKind::Call) return;
  const std::optional<base::NameId> param = ParamOf(*call.entry, RoleOfAction(*action));
  const ir::ExprId object = param ? index_.ArgExpr(call, program_.text(*param)) : ReceiverOf(module, call.expr);
  calls_.push_back({.action = *action,
                    .site = {call.function, call.expr},
                    .object = object,
                    .by_engine = call.entry->Has(Role::CountsMicroSteps),
                    .of_optimizer = true});
}

bool GradientCalls::IsKnownAs(const MethodCall& call, Role role) const {
  const variation::CallFact* fact = facts_.call(call.site.function, call.site.expr);
  return fact != nullptr && fact->kind == variation::CallKind::Known && knowledge_[fact->entry].Has(role);
}

// A method of a project's own class is looked into, and is not taken for the library's by its name.
void GradientCalls::AddByBehaviour(const MethodCall& call) {
  const variation::CallFact* fact = facts_.call(call.site.function, call.site.expr);
  if (fact != nullptr && fact->kind == variation::CallKind::Function) return;
  const Site object{call.site.function, call.object};
  if (call.name == "backward" || call.name == "manual_backward") {
    calls_.push_back({.action = GradientAction::Add, .site = call.site, .object = call.object, .by_engine = IsEngine(object)});
  }
  if (call.name == "zero_grad" && !IsKnownAs(call, Role::ClearGradients)) {
    const bool is_module = values_.IsA(ValueAt(object), "torch.nn.Module");
    const bool is_optimizer = !is_module && (IsOptimizer(ValueAt(object)) || (UsesOf(object) & (kSteps | kReadsGroups)) != 0);
    calls_.push_back({.action = GradientAction::Clear, .site = call.site, .object = call.object, .of_optimizer = is_optimizer});
  }
  const ir::Module& module = program_.module_of(call.site.function);
  if (call.name == "unscale_" && !IsKnownAs(call, Role::UnscaleGradients) && ir::ArgCount(module, module[call.site.expr]) == 1) {
    calls_.push_back({.action = GradientAction::Unscale, .site = call.site, .object = ir::ArgAt(module, module[call.site.expr], 0).value});
  }
  if (call.name == "step" && !IsKnownAs(call, Role::StepOptimizer)) AddStep(call);
}

void GradientCalls::AddStep(const MethodCall& call) {
  const ir::Module& module = program_.module_of(call.site.function);
  const Site object{call.site.function, call.object};
  GradientCall step{.action = GradientAction::Step, .site = call.site, .object = call.object};
  // `scaler.step(optimizer)`.
  if (ir::ArgCount(module, module[call.site.expr]) > 0) {
    const Site stepped{call.site.function, ir::ArgAt(module, module[call.site.expr], 0).value};
    if (IsOptimizer(ValueAt(stepped)) || BehavesAsOptimizer(stepped)) {
      step.object = stepped.expr;
      calls_.push_back(step);
      return;
    }
  }
  step.by_engine = IsEngine(object);
  if (step.by_engine || IsOptimizer(ValueAt(object)) || BehavesAsOptimizer(object)) calls_.push_back(step);
}

bool GradientCalls::BehavesAsOptimizer(const Site& object) const {
  const ValueId value = ValueAt(object);
  if (value && (values_.IsA(value, "torch.nn.Module") || values_.IsA(value, "torch.optim.lr_scheduler.LRScheduler"))) return false;
  return (UsesOf(object) & (kClears | kReadsGroups)) != 0;
}

bool GradientCalls::IsEngine(const Site& object) const {
  const std::vector<ValueId> leaves = values_.Leaves(ValueAt(object));
  if (std::ranges::any_of(leaves, [&](ValueId leaf) { return values_.IsA(leaf, "deepspeed.DeepSpeedEngine"); })) return true;
  const ir::ExprKind kind = program_.module_of(object.function)[object.expr].kind;
  if ((kind != ir::ExprKind::Name && kind != ir::ExprKind::Attribute) || IsOptimizer(ValueAt(object))) return false;
  // `engine.backward(loss)` and `engine.step()`.
  return (UsesOf(object) & (kSteps | kGivesLoss)) == (kSteps | kGivesLoss);
}

bool GradientCalls::IsSameObject(const Site& a, const Site& b) const {
  if (!a.expr || !b.expr) return false;
  if (IsSameField(a, b)) return true;
  const std::vector<ValueId> left = Identities(a);
  const std::vector<ValueId> right = Identities(b);
  return std::ranges::any_of(left, [&](ValueId leaf) { return std::ranges::find(right, leaf) != right.end(); });
}

}  // namespace allranks::objects
