#include "analyzer/objects/training.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/objects/passed_tests.h"

namespace allranks::objects {
namespace {

std::pair<ir::ModuleId, ir::ExprId> KeyOf(const binding::Program& program, const Site& site) { return {program.funcs[site.function].module, site.expr}; }

}  // namespace

Training::Training(const binding::Program& program, const knowledge::Knowledge& knowledge,
                   const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), knowledge_(knowledge), facts_(facts), index_(index), values_(program, knowledge, facts), guards_(program, index) {
  FindCalls();
  made_ = backwards_;
  made_.insert(made_.end(), reductions_.begin(), reductions_.end());
  // As backwards and steps are found.
  for (std::vector<Site>* sites : {&made_, &reductions_, &operations_}) {
    std::ranges::sort(*sites, {}, [&](const Site& site) { return KeyOf(program_, site); });
  }
  trains_ = Closure(made_);
  steps_in_ = Closure(steps_);
  reduces_ = Closure(reductions_);
  communicates_ = Closure(operations_);
  FindWhatTrainingRuns();
}

void Training::FindWhatTrainingRuns() {
  std::vector<Site> places = made_;
  places.insert(places.end(), fits_.begin(), fits_.end());
  for_training_ = Closure(places);
  std::vector<FuncId> training;
  for (uint32_t f = 0; f < for_training_.size(); ++f) {
    if (for_training_[f]) training.push_back(FuncId{f});
  }
  for (const FuncId run : index_.RunBy(std::move(training))) for_training_[run.index] = true;
}

void Training::FindCalls() {
  for (uint32_t m = 0; m < program_.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    for (const ir::ExprId id : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
      const ir::StmtId stmt = index_.tree(module_id).StatementOf(id);
      if (stmt) AddCall(index_.FunctionOf(module_id, stmt), id);
    }
  }
  for (const KnownCall& call : index_.known_calls()) {
    const knowledge::Operation& operation = call.entry->operation;
    if (!call.entry->has_operation) continue;
    if (operation.op_class == knowledge::OpClass::Collective || operation.op_class == knowledge::OpClass::Implicit) {
      operations_.push_back({call.function, call.expr});
    }
    const std::string_view kind = program_.text(operation.kind);
    if (kind == "gradient_reduction") reductions_.push_back({call.function, call.expr});
    if (kind == "fit") fits_.push_back({call.function, call.expr});
  }
}

void Training::AddCall(FuncId function, ir::ExprId call) {
  const ir::Module& module = program_.module_of(function);
  const ir::Expr& callee = module[ir::CalleeOf(module[call])];
  if (callee.kind != ir::ExprKind::Attribute) return;
  const std::string_view name = program_.text(ir::AttrOf(callee));
  if (name == "backward" || name == "manual_backward") backwards_.push_back({function, call});
  if (name != "step") return;
  const ValueId object = facts_.value(program_.funcs[function].module, ir::ObjectOf(callee));
  const std::vector<ValueId> leaves = values_.Leaves(object);
  const bool is_optimizer = std::ranges::any_of(leaves, [&](ValueId leaf) {
    return values_.IsA(leaf, "torch.optim.Optimizer") || values_.IsA(leaf, "torch.amp.GradScaler");
  });
  if (is_optimizer) steps_.push_back({function, call});
}

// The functions that hold one of the places, or call such a function.
std::vector<bool> Training::Closure(const std::vector<Site>& sites) const {
  std::vector<bool> in(program_.funcs.size());
  std::vector<FuncId> work;
  const auto add = [&](FuncId function) {
    if (in[function.index]) return;
    in[function.index] = true;
    work.push_back(function);
  };
  for (const Site& site : sites) add(site.function);
  while (!work.empty()) {
    const FuncId function = work.back();
    work.pop_back();
    for (const Site& caller : index_.CallersOf(function)) add(caller.function);
  }
  return in;
}

bool Training::AnyUser(const LoaderLoop& loop, const std::vector<bool>& functions) const {
  const std::span<const Site> callers = loop.caller.function ? std::span(&loop.caller, 1) : index_.CallersOf(loop.iterable.function);
  return std::ranges::any_of(callers, [&](const Site& caller) {
    if (functions[caller.function.index]) return true;
    const binding::ClassId owner = program_.funcs[caller.function].owner;
    if (!owner) return false;
    return std::ranges::any_of(program_.classes[owner].methods, [&](const auto& method) { return functions[method.second.index]; });
  });
}

bool Training::HoldsCall(ir::ModuleId module_id, ir::StmtId stmt, const std::vector<bool>& functions,
                         const std::vector<Site>& sites) const {
  const ir::Stmt& outer = program_.modules[module_id][stmt];
  const FuncId function = index_.FunctionOf(module_id, stmt);
  const ir::Module& module = program_.modules[module_id];
  const auto inside = [&](ir::ExprId expr) { return module[expr].begin >= outer.begin && module[expr].end <= outer.end; };
  const variation::FunctionFacts& facts = facts_.functions[function];
  for (const ir::ExprId expr : index_.ExprsBeginningIn(module_id, outer.begin, outer.end)) {
    if (!inside(expr)) continue;
    if (IsOneOf(sites, {function, expr})) return true;
    for (const auto* list : {&facts.calls, &facts.enters, &facts.iterations}) {
      const auto fact = std::ranges::lower_bound(*list, expr, {}, &std::pair<ir::ExprId, variation::CallFact>::first);
      const bool is_of_expr = fact != list->end() && fact->first == expr && fact->second.function;
      if (is_of_expr && functions[fact->second.function.index] && MayComeTo(fact->second, functions, sites)) return true;
    }
  }
  return std::ranges::any_of(index_.ChoicesIn(function), [&](const auto& choice) { return functions[choice.second.index] && inside(choice.first); });
}

bool Training::IsOneOf(const std::vector<Site>& sites, const Site& site) const {
  const auto here = std::ranges::equal_range(sites, KeyOf(program_, site), {}, [&](const Site& other) { return KeyOf(program_, other); });
  return std::ranges::find(here, site.function, &Site::function) != here.end();
}

// Whether what is passed lets the function come to one of the places, or to a call of a function with one.
bool Training::MayComeTo(const variation::CallFact& call, const std::vector<bool>& functions, const std::vector<Site>& sites) const {
  const std::span<const ValueId> args = facts_.args(call);
  if (args.empty()) return true;
  const ir::Function& function = program_.function(call.function);
  const ir::ModuleId module = program_.funcs[call.function].module;
  const PassedArgs passed{call.function, args};
  const PassedTests tests(facts_.values_store, {&passed, 1});
  const auto is_shut = [&](const Guard& guard) {
    const ValueId test = facts_.value(module, guard.test);
    const std::optional<bool> truth = test ? tests.Truth(test) : std::nullopt;
    return truth && *truth != guard.holds;
  };
  bool has_place = false;
  for (const ir::ExprId expr : index_.ExprsBeginningIn(module, function.begin, function.end)) {
    const Site site{call.function, expr};
    const variation::CallFact* inner = facts_.call(site.function, site.expr);
    const bool leads_on = inner != nullptr && inner->function && functions[inner->function.index];
    if (!leads_on && !IsOneOf(sites, site)) continue;
    has_place = true;
    if (std::ranges::none_of(guards_.Of(site), is_shut)) return true;
  }
  // It comes there in another way than by a call: by iterating, or in a function inside.
  return !has_place;
}

}  // namespace allranks::objects
